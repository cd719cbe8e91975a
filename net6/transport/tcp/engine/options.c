// SPDX-License-Identifier: GPL-2.0
/* Bytes of TCP options to their meaning and, for SYNs, back. Pure logic: no socket, no clock;
 * also compiled in user space. transmit.c writes the options of an established connection's
 * segments: it knows the layout by heart.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "../../../compat/unaligned.h"
#include "options.h"

static void net6_tcp_parse_sack(const u8 *body, unsigned int len, struct net6_tcp_opts *o)
{
	unsigned int i, n = len / NET6_TCPOLEN_SACK_BLOCK;

	/* RFC 2018 3: n blocks make 8 * n + 2 bytes. Anything else is no SACK. */
	if (!n || len % NET6_TCPOLEN_SACK_BLOCK || n > NET6_TCP_MAX_SACKS)
		return;
	for (i = 0; i < n; i++) {
		o->sack[i].start = get_unaligned_be32(body + 8 * i);
		o->sack[i].end = get_unaligned_be32(body + 8 * i + 4);
	}
	o->n_sacks = n;
}

/* RFC 7413 4.1.1: 4 to 16 bytes, even; none asks for a cookie. */
static void net6_tcp_parse_fastopen(const u8 *body, unsigned int len, struct net6_tcp_opts *o)
{
	if (len && (len < NET6_TCP_FASTOPEN_MIN || len > NET6_TCP_FASTOPEN_MAX || len % 2))
		return;
	o->fastopen_ok = true;
	o->fastopen_len = len;
	memcpy(o->fastopen, body, len);
}

/* One option with a body of @len bytes. Wrong lengths make the option unknown. */
static void net6_tcp_parse_option(u8 kind, const u8 *body, unsigned int len, bool syn,
				  struct net6_tcp_opts *o)
{
	switch (kind) {
	case NET6_TCPOPT_MSS:
		/* RFC 9293 MUST-65: only in SYNs; 0 means nothing. */
		if (syn && len == NET6_TCPOLEN_MSS - 2)
			o->mss = get_unaligned_be16(body);
		break;
	case NET6_TCPOPT_WSCALE:
		if (syn && len == NET6_TCPOLEN_WSCALE - 2) {
			o->wscale_ok = true;
			/* RFC 7323 2.3: a larger shift MUST be used as 14. */
			o->wscale = body[0] > NET6_TCP_MAX_WSCALE ?
				    NET6_TCP_MAX_WSCALE : body[0];
		}
		break;
	case NET6_TCPOPT_SACK_PERMITTED:
		/* RFC 2018 2: MUST NOT be sent on non-SYN segments. */
		if (syn && len == NET6_TCPOLEN_SACK_PERMITTED - 2)
			o->sack_ok = true;
		break;
	case NET6_TCPOPT_SACK:
		if (!syn)
			net6_tcp_parse_sack(body, len, o);
		break;
	case NET6_TCPOPT_TIMESTAMPS:
		if (len == NET6_TCPOLEN_TIMESTAMPS - 2) {
			o->tstamp_ok = true;
			o->tsval = get_unaligned_be32(body);
			o->tsecr = get_unaligned_be32(body + 4);
		}
		break;
	case NET6_TCPOPT_FASTOPEN:
		if (syn)
			net6_tcp_parse_fastopen(body, len, o);
		break;
	}
}

/**
 * net6_tcp_parse_options() - read the options of a segment
 * @opt: first byte behind the fixed header
 * @len: bytes of options (data offset times 4, minus 20)
 * @syn: the segment has SYN set
 * @o: filled in completely
 *
 * Unknown options are skipped by their length (RFC 9293 MUST-6).
 * Context: any.
 * Return: 0, or -EINVAL when an option's length is below 2 or beyond the end. Then @o has what
 * was read before it (RFC 9293 MUST-7: no crash, no loop).
 */
int net6_tcp_parse_options(const u8 *opt, unsigned int len, bool syn, struct net6_tcp_opts *o)
{
	unsigned int size;

	memset(o, 0, sizeof(*o));
	if (len == NET6_TCPOLEN_TIMESTAMPS_ALIGNED &&
	    get_unaligned_be32(opt) == NET6_TCPOPT_TIMESTAMPS_ALIGNED) {
		o->tstamp_ok = true;
		o->tsval = get_unaligned_be32(opt + 4);
		o->tsecr = get_unaligned_be32(opt + 8);
		return 0;
	}
	while (len) {
		if (opt[0] == NET6_TCPOPT_EOL)
			return 0;
		if (opt[0] == NET6_TCPOPT_NOP) {
			opt++;
			len--;
			continue;
		}
		if (len < 2)
			return -EINVAL;
		size = opt[1];
		if (size < 2 || size > len)
			return -EINVAL;
		net6_tcp_parse_option(opt[0], opt + 2, size - 2, syn, o);
		opt += size;
		len -= size;
	}
	return 0;
}

/**
 * net6_tcp_find_md5() - where a segment's signature is (RFC 2385)
 * @opt: first byte behind the fixed header
 * @len: bytes of options
 *
 * Context: any.
 * Return: the hash, or NULL: there is none, or it stands behind an impossible option.
 */
const u8 *net6_tcp_find_md5(const u8 *opt, unsigned int len)
{
	/* Behind a SYN's usual options there is no room for one. */
	while (len >= NET6_TCPOLEN_MD5 && opt[0] != NET6_TCPOPT_EOL) {
		unsigned int size = 1;

		if (opt[0] != NET6_TCPOPT_NOP) {
			size = opt[1];
			if (size < 2 || size > len)
				return NULL;
			if (opt[0] == NET6_TCPOPT_MD5 && size == NET6_TCPOLEN_MD5)
				return opt + 2;
		}
		opt += size;
		len -= size;
	}
	return NULL;
}

/**
 * net6_tcp_write_syn_options() - options of a SYN or SYN-ACK
 * @buf: room for NET6_TCP_SYN_OPTIONS_MAX bytes
 * @o: what to offer; @o->mss always goes out
 *
 * Order and padding are native's: nop, nop, signature, mss, sackOK, timestamp, nop, wscale, Fast
 * Open, nops; without timestamps nop, nop, sackOK. A host is known by them. The signature's hash
 * is left 0, at NET6_TCP_MD5_AT. Not all of them fit at once: without a signature they do, with
 * one there is no Fast Open.
 * Context: any.
 * Return: bytes written, a multiple of 4.
 */
unsigned int net6_tcp_write_syn_options(u8 *buf, const struct net6_tcp_opts *o)
{
	u8 *p = buf;

	if (o->md5) {
		*p++ = NET6_TCPOPT_NOP;
		*p++ = NET6_TCPOPT_NOP;
		*p++ = NET6_TCPOPT_MD5;
		*p++ = NET6_TCPOLEN_MD5;
		memset(p, 0, NET6_TCP_MD5_SIZE);
		p += NET6_TCP_MD5_SIZE;
	}
	*p++ = NET6_TCPOPT_MSS;
	*p++ = NET6_TCPOLEN_MSS;
	put_unaligned_be16(o->mss, p);
	p += 2;
	if (o->sack_ok && !o->tstamp_ok) {
		*p++ = NET6_TCPOPT_NOP;
		*p++ = NET6_TCPOPT_NOP;
	}
	if (o->sack_ok || o->tstamp_ok) {
		*p++ = o->sack_ok ? NET6_TCPOPT_SACK_PERMITTED : NET6_TCPOPT_NOP;
		*p++ = o->sack_ok ? NET6_TCPOLEN_SACK_PERMITTED : NET6_TCPOPT_NOP;
	}
	if (o->tstamp_ok) {
		*p++ = NET6_TCPOPT_TIMESTAMPS;
		*p++ = NET6_TCPOLEN_TIMESTAMPS;
		put_unaligned_be32(o->tsval, p);
		put_unaligned_be32(o->tsecr, p + 4);
		p += 8;
	}
	if (o->wscale_ok) {
		*p++ = NET6_TCPOPT_NOP;
		*p++ = NET6_TCPOPT_WSCALE;
		*p++ = NET6_TCPOLEN_WSCALE;
		*p++ = o->wscale;
	}
	if (o->fastopen_ok && !o->md5) {
		*p++ = NET6_TCPOPT_FASTOPEN;
		*p++ = NET6_TCPOLEN_FASTOPEN_BASE + o->fastopen_len;
		memcpy(p, o->fastopen, o->fastopen_len);
		p += o->fastopen_len;
		while ((p - buf) % 4)
			*p++ = NET6_TCPOPT_NOP;
	}
	return p - buf;
}
