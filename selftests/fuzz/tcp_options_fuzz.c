// SPDX-License-Identifier: GPL-2.0
/* Any bytes as TCP options, as in a SYN and not; what was read is in its bounds, and a
 * SYN's options written from it read the same again.
 */
#include <stdlib.h>
#include <string.h>

#include "../../net6/transport/tcp/engine/options.c"

static void check(const struct net6_tcp_opts *o)
{
	if (o->n_sacks > NET6_TCP_MAX_SACKS || o->wscale > NET6_TCP_MAX_WSCALE)
		abort();
	if (!o->tstamp_ok && (o->tsval || o->tsecr))
		abort();
	if (o->fastopen_len > NET6_TCP_FASTOPEN_MAX || o->fastopen_len % 2 ||
	    (o->fastopen_len && (!o->fastopen_ok || o->fastopen_len < NET6_TCP_FASTOPEN_MIN)))
		abort();
}

static void write_back(struct net6_tcp_opts *o)
{
	u8 *buf = malloc(NET6_TCP_SYN_OPTIONS_MAX);
	struct net6_tcp_opts back;
	unsigned int len;

	len = net6_tcp_write_syn_options(buf, o);
	if (len > NET6_TCP_SYN_OPTIONS_MAX || len % 4)
		abort();
	if (net6_tcp_parse_options(buf, len, true, &back))
		abort();
	if (back.mss != o->mss || back.sack_ok != o->sack_ok ||
	    back.tstamp_ok != o->tstamp_ok || back.wscale_ok != o->wscale_ok ||
	    (o->wscale_ok && back.wscale != o->wscale) ||
	    back.tsval != o->tsval || back.tsecr != o->tsecr ||
	    back.fastopen_ok != o->fastopen_ok || back.fastopen_len != o->fastopen_len ||
	    memcmp(back.fastopen, o->fastopen, o->fastopen_len))
		abort();
	free(buf);
}

/* What is taken for a signature is all there, and of its kind. */
static void check_md5(const u8 *data, size_t size)
{
	const u8 *md5 = net6_tcp_find_md5(data, size);

	if (md5 && (md5 < data + 2 || md5 + NET6_TCP_MD5_SIZE > data + size ||
		    md5[-2] != NET6_TCPOPT_MD5))
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct net6_tcp_opts o;

	if (size > 255)
		return 0;
	check_md5(data, size);
	net6_tcp_parse_options(data, size, false, &o);
	check(&o);
	if (o.mss || o.sack_ok || o.wscale_ok || o.fastopen_ok)
		abort();
	net6_tcp_parse_options(data, size, true, &o);
	check(&o);
	if (o.n_sacks)
		abort();
	write_back(&o);
	return 0;
}
