// SPDX-License-Identifier: GPL-2.0
/* Queries of any shape and any order of joins, filter changes and queries: what is
 * written is well-formed, fits, and ends.
 */
#include <stdlib.h>
#include <string.h>
#include "../../net6/core/mld_msg.c"
#include "../../net6/core/mld_group.c"

#define MEMBERS	4

static void check(const u8 *buf, unsigned int len, unsigned int records)
{
	while (len) {
		unsigned int size;

		if (len < NET6_MLD_RECORD_LEN || !records--)
			abort();
		size = NET6_MLD_RECORD_LEN + 16 * (buf[2] << 8 | buf[3]);
		if (size > len || buf[0] < NET6_MLD_IS_IN || buf[0] > NET6_MLD_BLOCK)
			abort();
		buf += size;
		len -= size;
	}
	if (records)
		abort();
}

static void write(struct net6_mld_group *g, unsigned int room, bool current)
{
	unsigned int records = 0, len;
	bool full = false;
	u8 *buf = malloc(room ? room : 1);

	len = current ? net6_mld_put_current(g, buf, room, &records, &full) :
			net6_mld_put_change(g, buf, room, &records, &full);
	if (len > room || (full && len))
		abort();
	check(buf, len, records);
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct in6_addr sources[MEMBERS][NET6_MLD_SOURCES_MAX];
	struct net6_mld_filter filters[MEMBERS] = {};
	bool member[MEMBERS] = {};
	struct net6_mld_group *g = calloc(1, sizeof(*g));
	struct net6_mld_query query;
	unsigned int i, n, rounds = 0;

	if (!net6_mld_query_parse(data, size, &query) && query.n_sources)
		net6_mld_group_ask(g, query.sources, query.n_sources);
	while (size >= 3) {
		u8 op = data[0] % 4, who = data[1] % MEMBERS, arg = data[2];
		struct in6_addr list[NET6_MLD_SOURCES_MAX] = {};
		struct net6_mld_filter new = {
			data[1] >> 7, arg % (NET6_MLD_SOURCES_MAX + 1), list
		};

		data += 3;
		size -= 3;
		for (i = 0; i < new.n; i++)
			list[i].s6_addr[15] = (u8)(i + arg);
		n = new.n;
		switch (op) {
		case 0:
			if (net6_mld_group_change(g, member[who] ? &filters[who] : NULL, &new, 2))
				break;
			member[who] = true;
			memcpy(sources[who], list, sizeof(list));
			filters[who] = (struct net6_mld_filter){ new.mode, n, sources[who] };
			break;
		case 1:
			if (member[who] && net6_mld_group_change(g, &filters[who], NULL, 2))
				abort();
			member[who] = false;
			break;
		case 2:
			net6_mld_group_ask(g, (u8 *)list, n);
			break;
		case 3:
			write(g, arg * 8, data[-2] & 1);
			break;
		}
	}
	for (; net6_mld_group_pending(g); rounds++) {
		if (rounds > 8)
			abort();
		write(g, 1280 - 48 - 8, false);
	}
	net6_mld_group_destroy(g);
	return 0;
}
