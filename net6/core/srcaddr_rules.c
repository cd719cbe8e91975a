// SPDX-License-Identifier: GPL-2.0
/* Source address selection, RFC 6724 section 5, as a comparison of two candidates.
 * Rule 4 (home addresses) has nothing to compare here.
 */
#include <linux/kernel.h>
#include <net/ipv6.h>

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

const struct net6_policy_entry *net6_policy_match(const struct net6_policy *policy,
						  const struct in6_addr *addr)
{
	u32 i;

	for (i = 0; i < policy->n; i++)
		if (ipv6_prefix_equal(addr, (const struct in6_addr *)policy->entries[i].prefix,
				      policy->entries[i].plen))
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
	const u8 *a = addr->s6_addr;

	if (a[0] == 0xff)
		return a[1] & 0x0f;
	if (a[0] == 0xfe && (a[1] & 0xc0) == 0x80)
		return 0x2;			/* link-local */
	if (a[0] == 0xfe && (a[1] & 0xc0) == 0xc0)
		return 0x5;			/* site-local, deprecated */
	/* RFC 6724 3.4: "the loopback address MUST be treated as having link-local scope" */
	if (ipv6_addr_loopback(addr))
		return 0x2;
	return 0xe;
}

void net6_srcaddr_want(struct net6_srcaddr_want *want, const struct in6_addr *daddr,
		       const struct net6_policy *policy)
{
	want->daddr = daddr;
	want->policy = policy;
	want->scope = net6_srcaddr_scope(daddr);
	want->label = net6_policy_label(policy, daddr);
}

void net6_srcaddr_judge(struct net6_srcaddr *candidate, const struct net6_srcaddr_want *want)
{
	candidate->scope = net6_srcaddr_scope(&candidate->addr);
	candidate->common = ipv6_addr_diff(&candidate->addr, want->daddr);
	candidate->labelled = net6_policy_label(want->policy, &candidate->addr) == want->label;
}

int net6_srcaddr_cmp(const struct net6_srcaddr *a, const struct net6_srcaddr *b,
		     const struct net6_srcaddr_want *want)
{
	bool match_a = a->common == 128, match_b = b->common == 128;
	int by;

	/* Rule 1: prefer same address */
	if (match_a != match_b)
		return match_a ? 1 : -1;
	/* Rule 2: prefer appropriate scope */
	if (a->scope < b->scope)
		return a->scope < want->scope ? -1 : 1;
	if (b->scope < a->scope)
		return b->scope < want->scope ? 1 : -1;
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
	if (a->labelled != b->labelled)
		return a->labelled ? 1 : -1;
	/* Rule 7: prefer temporary addresses, or public ones, as is configured */
	if (a->privacy != b->privacy)
		return a->privacy ? 1 : -1;
	/* Rule 8: longest matching prefix; section 2.2: "limited to the portion [...]
	 * not including the interface ID", that is to the source's prefix
	 */
	by = min(a->common, a->plen) - min(b->common, b->plen);
	/* At last one that is not optimistic, should that not have counted in rule 3 */
	return by ?: b->optimistic - a->optimistic;
}
