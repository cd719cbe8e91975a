// SPDX-License-Identifier: GPL-2.0
/* Names, sums and the one verb for drops. Tracepoints and packet printer live in
 * files of their own.
 */
#include <linux/bug.h>
#include <linux/cpumask.h>

#include "../core/iface.h"
#include "drop.h"
#include "mib.h"

static const struct {
	const char *name;
	const char *text;
	enum skb_drop_reason core;
} net6_drops[NET6_DROP_MAX] = {
#define X(n, c, t) { #n, t, SKB_DROP_REASON_##c },
	NET6_DROP_REASONS(X)
#undef X
};

static const char * const net6_mib_names[NET6_MIB_MAX] = {
#define X(n) #n,
	NET6_MIB_NAMES(X)
#undef X
};

DEFINE_STATIC_KEY_FALSE(net6_iface_mib_on);

/**
 * net6_drop() - free a packet that goes no further, and say why
 * @nn: namespace whose counter is bumped
 * @skb: consumed
 * @reason: our reason; the kernel's nearest one goes to drop monitors
 *
 * Context: any.
 */
void net6_drop(struct net6_net *nn, struct sk_buff *skb, enum net6_drop_reason reason)
{
	if (WARN_ON_ONCE(reason >= NET6_DROP_MAX))
		reason = NET6_DROP_HEADER_SHORT;
	this_cpu_inc(nn->mib->drop[reason]);
	kfree_skb_reason(skb, net6_drops[reason].core);
}

/**
 * net6_drop_name() - a reason's name as in the list
 * @reason: below NET6_DROP_MAX
 *
 * Return: a string constant.
 */
const char *net6_drop_name(enum net6_drop_reason reason)
{
	return net6_drops[reason].name;
}

/**
 * net6_drop_text() - the sentence that explains a reason to an operator
 * @reason: below NET6_DROP_MAX
 *
 * Return: a string constant.
 */
const char *net6_drop_text(enum net6_drop_reason reason)
{
	return net6_drops[reason].text;
}

/**
 * net6_mib_name() - a counter's name as in the list
 * @item: below NET6_MIB_MAX
 *
 * Return: a string constant.
 */
const char *net6_mib_name(enum net6_mib_item item)
{
	return net6_mib_names[item];
}

/**
 * net6_mib_read() - a counter's sum over all CPUs
 * @nn: namespace
 * @item: which one
 *
 * Return: the sum; other CPUs may be counting meanwhile.
 */
u64 net6_mib_read(const struct net6_net *nn, enum net6_mib_item item)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(nn->mib, cpu)->item[item]);
	return sum;
}

/**
 * net6_mib_read_iface() - an interface's counter, summed over all CPUs
 * @iface: interface
 * @item: below NET6_MIB_IFACE_MAX
 *
 * Return: the sum, 0 if interfaces have no counters.
 */
u64 net6_mib_read_iface(const struct net6_iface *iface, enum net6_mib_item item)
{
	u64 sum = 0;
	int cpu;

	if (!iface->mib)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(iface->mib, cpu)->item[item]);
	return sum;
}

/**
 * net6_mib_read_drop() - how many packets were dropped for a reason
 * @nn: namespace
 * @reason: which one
 *
 * Return: the sum over all CPUs.
 */
u64 net6_mib_read_drop(const struct net6_net *nn, enum net6_drop_reason reason)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(nn->mib, cpu)->drop[reason]);
	return sum;
}
