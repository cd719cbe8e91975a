// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a packet to be fragmented and as a routing header. The unfragmentable part
 * is inside, whole octets of 8 long, and its last Next Header field is in it.
 */
#include <linux/types.h>
#include <stdlib.h>

#include "../../net6/core/exthdr_chain.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct net6_unfragmentable part;

	if (net6_chain_route_valid(data, size) && size < 24)
		abort();
	if (size < 40)
		return 0;
	part = net6_chain_unfragmentable(data, size);
	if (part.len > size || part.len % 8 || part.nexthdr >= part.len)
		abort();
	if (part.len == 40 ? part.nexthdr != 6 : part.nexthdr < 40)
		abort();
	return 0;
}
