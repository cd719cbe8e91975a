// SPDX-License-Identifier: GPL-2.0
/* A namespace's policy table, RFC 6724 section 2.1. Its labels serve the selection of source
 * addresses. net6 only keeps the precedences: programs' libraries sort destination addresses.
 * Without changes it is the RFC's own table, which costs no memory.
 */
#include <linux/overflow.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "policy.h"

static struct net6_policy *net6_policy_alloc(u32 n)
{
	struct net6_policy *policy;

	policy = kzalloc(struct_size(policy, entries, n), GFP_KERNEL_ACCOUNT);
	if (policy)
		policy->n = n;
	return policy;
}

/* Takes over @policy; NULL is the default table. */
static void net6_policy_install(struct net6_net *nn, struct net6_policy *policy)
{
	struct net6_policy *old = rtnl_dereference(nn->policy);

	rcu_assign_pointer(nn->policy, policy);
	if (old)
		kfree_rcu(old, rcu);
	/* Source addresses in the destination cache were chosen by the old one. */
	net6_dest_flush(nn);
}

/* The place of a prefix, or where it would be inserted. */
static u32 net6_policy_place(const struct net6_policy *policy, const struct in6_addr *prefix,
			     u8 plen, bool *found)
{
	u32 i;

	for (i = 0; i < policy->n; i++) {
		const struct net6_policy_entry *entry = &policy->entries[i];

		*found = entry->plen == plen &&
			 !memcmp(entry->prefix, prefix, sizeof(entry->prefix));
		if (*found || entry->plen < plen)
			return i;
	}
	*found = false;
	return i;
}

/**
 * net6_policy_set() - add an entry, or change one
 * @nn: namespace
 * @prefix: prefix, bits beyond @plen zero
 * @plen: its length, 0..128
 * @label: the label, NULL: as it is without this change
 * @precedence: the precedence, NULL alike
 * @replace: if it is there already, it is changed
 *
 * Context: process, RTNL held, sleeps.
 * Return: 0, -EEXIST, -ENOSPC (NET6_POLICY_ENTRIES_MAX) or -ENOMEM.
 */
int net6_policy_set(struct net6_net *nn, const struct in6_addr *prefix, u8 plen,
		    const u32 *label, const u32 *precedence, bool replace)
{
	const struct net6_policy *old = net6_policy(nn);
	const struct net6_policy_entry *match;
	struct net6_policy_entry *entry;
	struct net6_policy *policy;
	bool found;
	u32 place;

	ASSERT_RTNL();
	place = net6_policy_place(old, prefix, plen, &found);
	if (found && !replace)
		return -EEXIST;
	if (!found && old->n >= NET6_POLICY_ENTRIES_MAX)
		return -ENOSPC;
	policy = net6_policy_alloc(old->n + !found);
	if (!policy)
		return -ENOMEM;
	memcpy(policy->entries, old->entries, place * sizeof(*entry));
	memcpy(policy->entries + place + !found, old->entries + place,
	       (old->n - place) * sizeof(*entry));
	entry = &policy->entries[place];
	match = net6_policy_match(old, prefix);
	memcpy(entry->prefix, prefix, sizeof(entry->prefix));
	entry->plen = plen;
	if (!found) {
		entry->label = match ? match->label : NET6_POLICY_NO_LABEL;
		entry->precedence = match ? match->precedence : 0;
	}
	if (label)
		entry->label = *label;
	if (precedence)
		entry->precedence = *precedence;
	net6_policy_install(nn, policy);
	return 0;
}

/**
 * net6_policy_del() - remove an entry
 * @nn: namespace
 * @prefix: prefix, bits beyond @plen zero
 * @plen: its length, 0..128
 *
 * Context: process, RTNL held, sleeps. Return: 0, -ESRCH or -ENOMEM.
 */
int net6_policy_del(struct net6_net *nn, const struct in6_addr *prefix, u8 plen)
{
	const struct net6_policy *old = net6_policy(nn);
	struct net6_policy *policy;
	bool found;
	u32 place;

	ASSERT_RTNL();
	place = net6_policy_place(old, prefix, plen, &found);
	if (!found)
		return -ESRCH;
	policy = net6_policy_alloc(old->n - 1);
	if (!policy)
		return -ENOMEM;
	memcpy(policy->entries, old->entries, place * sizeof(*policy->entries));
	memcpy(policy->entries + place, old->entries + place + 1,
	       (policy->n - place) * sizeof(*policy->entries));
	net6_policy_install(nn, policy);
	return 0;
}

/**
 * net6_policy_reset() - the RFC's table again
 * @nn: namespace
 *
 * Context: process, RTNL held.
 */
void net6_policy_reset(struct net6_net *nn)
{
	ASSERT_RTNL();
	net6_policy_install(nn, NULL);
}

/**
 * net6_policy_net_exit() - end of a namespace's table
 * @nn: namespace whose addresses nobody compares any more
 *
 * Context: process.
 */
void net6_policy_net_exit(struct net6_net *nn)
{
	kfree(rcu_dereference_protected(nn->policy, true));
}
