// SPDX-License-Identifier: GPL-2.0
/* Neighbor Discovery options from random bytes: what the parser accepts, the
 * iterator must take again in the same steps, within the bytes there are.
 */
#include <stdlib.h>
#include <linux/types.h>
#include <linux/errno.h>
#include "../../net6/core/nd_opts.c"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct net6_nd_prefix prefix;
	struct net6_nd_route route;
	struct net6_nd_dns dns;
	struct net6_nd_pref64 pref64;
	struct net6_nd_opts opts;
	struct net6_nd_opt opt;
	unsigned int left = size;
	unsigned int sum = 0;
	const u8 *pos = data;
	int rc, parsed;

	parsed = net6_nd_opts_parse(data, size, &opts);
	while ((rc = net6_nd_opt_next(&pos, &left, &opt)) > 0) {
		unsigned int i;

		if (opt.body < data || opt.body + opt.len > data + size || opt.len % 8 != 6)
			abort();
		for (i = 0; i < opt.len; i++)
			sum += opt.body[i];
		if (!net6_nd_prefix_parse(&opt, &prefix)) {
			if (prefix.plen > 128 || prefix.prefix + 16 > data + size)
				abort();
			sum += prefix.prefix[15];
		}
		if (!net6_nd_route_parse(&opt, &route)) {
			if (route.plen > 128 || route.plen > 8 * route.len || route.len > 16)
				abort();
			for (i = 0; i < route.len; i++)
				sum += route.prefix[i];
		}
		if (!net6_nd_dns_parse(&opt, &dns)) {
			if (dns.data + dns.len > data + size)
				abort();
			sum += dns.data[dns.len - 1];
		}
		if (!net6_nd_pref64_parse(&opt, &pref64)) {
			if (pref64.plen > 96 || pref64.prefix + 12 > data + size)
				abort();
			sum += pref64.prefix[11];
		}
	}
	if (rc != parsed)
		abort();
	if (!rc && (left || pos != data + size))
		abort();
	__asm__ volatile("" : : "r"(sum));	/* keeps the reads */
	return 0;
}
