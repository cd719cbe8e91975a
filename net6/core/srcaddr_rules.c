// SPDX-License-Identifier: GPL-2.0
/* Source address selection, RFC 6724 section 5, as a comparison of two candidates.
 * Rule 4 (home addresses) has nothing to compare here.
 */
#include <linux/kernel.h>

#include "srcaddr_rules.h"

/* RFC 6724 section 2.1 */
const struct net6_policy net6_policy_default = {
	.n = 9,
	.entries = {
		{ { [15] = 1 },				128, 0, 50 },	/* ::1 */
		{ { [10] = 0xff, [11] = 0xff },		96, 4, 35 },	/* ::ffff:0:0/96 */
		{ { 0 },				96, 3, 1 },	/* ::/96 */
		{ { 0x20, 0x01 },			32, 5, 5 },	/* 2001::/32 */
		{ { 0x20, 0x02 },			16, 2, 30 },	/* 2002::/16 */
		{ { 0x3f, 0xfe },			16, 12, 1 },	/* 3ffe::/16 */
		{ { 0xfe, 0xc0 },			10, 11, 1 },	/* fec0::/10 */
		{ { 0xfc },				7, 13, 3 },	/* fc00::/7 */
		{ { 0 },				0, 1, 40 },	/* ::/0 */
	},
};

static unsigned int net6_srcaddr_common_bytes(const u8 *a, const u8 *b)
{
	unsigned int i, bit;

	for (i = 0; i < 16; i++) {
		u8 differ = a[i] ^ b[i];

		if (!differ)
			continue;
		for (bit = 0; !(differ & (0x80 >> bit)); bit++)
			;
		return i * 8 + bit;
	}
	return 128;
}

unsigned int net6_srcaddr_common(const struct in6_addr *a, const struct in6_addr *b)
{
	return net6_srcaddr_common_bytes(a->s6_addr, b->s6_addr);
}

const struct net6_policy_entry *net6_policy_match(const struct net6_policy *policy,
						  const struct in6_addr *addr)
{
	u32 i;

	for (i = 0; i < policy->n; i++)
		if (net6_srcaddr_common_bytes(addr->s6_addr, policy->entries[i].prefix) >=
		    policy->entries[i].plen)
			return &policy->entries[i];
	return NULL;
}

u32 net6_policy_label(const struct net6_policy *policy, const struct in6_addr *addr)
{
	const struct net6_policy_entry *entry = net6_policy_match(policy, addr);

	return entry ? entry->label : NET6_POLICY_NO_LABEL;
}

int net6_srcaddr_scope(const struct in6_addr *addr)
{
	static const u8 loopback[16] = { [15] = 1 };
	const u8 *a = addr->s6_addr;

	if (a[0] == 0xff)
		return a[1] & 0x0f;
	if (a[0] == 0xfe && (a[1] & 0xc0) == 0x80)
		return 0x2;			/* link-local */
	if (a[0] == 0xfe && (a[1] & 0xc0) == 0xc0)
		return 0x5;			/* site-local, deprecated */
	/* RFC 6724 3.4: "the loopback address MUST be treated as having link-local scope" */
	if (net6_srcaddr_common_bytes(a, loopback) == 128)
		return 0x2;
	return 0xe;
}

int net6_srcaddr_cmp(const struct net6_srcaddr *a, const struct net6_srcaddr *b,
		     const struct in6_addr *daddr, const struct net6_policy *policy)
{
	int scope_a = net6_srcaddr_scope(&a->addr), scope_b = net6_srcaddr_scope(&b->addr);
	unsigned int len_a = net6_srcaddr_common(&a->addr, daddr);
	unsigned int len_b = net6_srcaddr_common(&b->addr, daddr);
	int scope = net6_srcaddr_scope(daddr);
	bool match_a, match_b;
	u32 label;
	int by;

	/* Rule 1: prefer same address */
	match_a = len_a == 128;
	match_b = len_b == 128;
	if (match_a != match_b)
		return match_a ? 1 : -1;
	/* Rule 2: prefer appropriate scope */
	if (scope_a < scope_b)
		return scope_a < scope ? -1 : 1;
	if (scope_b < scope_a)
		return scope_b < scope ? 1 : -1;
	/* Rule 3: avoid deprecated addresses */
	if (a->deprecated != b->deprecated)
		return a->deprecated ? -1 : 1;
	/* Rule 5: prefer outgoing interface */
	if (a->outgoing != b->outgoing)
		return a->outgoing ? 1 : -1;
	/* Rule 5.5: prefer addresses in a prefix advertised by the next-hop */
	if (a->told + b->told == 0 && a->told != b->told)
		return a->told;
	/* Rule 6: prefer matching label */
	label = net6_policy_label(policy, daddr);
	match_a = net6_policy_label(policy, &a->addr) == label;
	match_b = net6_policy_label(policy, &b->addr) == label;
	if (match_a != match_b)
		return match_a ? 1 : -1;
	/* Rule 7: prefer temporary addresses, or public ones, as is configured */
	if (a->privacy != b->privacy)
		return a->privacy ? 1 : -1;
	/* Rule 8: longest matching prefix; section 2.2: "limited to the portion [...]
	 * not including the interface ID", that is to the source's prefix
	 */
	by = (int)min_t(unsigned int, len_a, a->plen) - (int)min_t(unsigned int, len_b, b->plen);
	/* At last one that is not optimistic, should that not have counted in rule 3 */
	return by ?: b->optimistic - a->optimistic;
}
