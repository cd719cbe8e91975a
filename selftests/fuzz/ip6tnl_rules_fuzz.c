// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a packet that enters a tunnel over IPv6: its encapsulation limit is inside, behind
 * an option's type and length.
 */
#include <linux/types.h>
#include <stdlib.h>

#include "../../net6/ip6tnl/ip6tnl_rules.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int at;

	if (size < 40)
		return 0;
	at = net6_ip6tnl_find_limit(data, size);
	if (at && (at >= size || at < 44 || data[at - 1] != 1 || data[at - 2] != 4))
		abort();
	return 0;
}
