// SPDX-License-Identifier: GPL-2.0
/* Metrics of a route. Those of the packets are the core's, those of connections TCP's. */
#include <linux/slab.h>
#include <net/netlink.h>

#include "../compat/ip.h"
#include "metrics.h"
#include "netns.h"

static const struct net6_metrics_congctl *net6_congctl;

/**
 * net6_metrics_set_congctl() - TCP comes or goes
 * @ops: TCP's, or NULL; no route has metrics then
 *
 * Context: process.
 */
void net6_metrics_set_congctl(const struct net6_metrics_congctl *ops)
{
	WRITE_ONCE(net6_congctl, ops);
}

void net6_metrics_free(struct net6_metrics *m)
{
	if (m->congctl)
		READ_ONCE(net6_congctl)->put(m->congctl);
	kfree_rcu(m, rcu);
}

static bool net6_metrics_say(const struct dst_metrics *from)
{
	return memchr_inv(from->metrics, 0, sizeof(from->metrics));
}

/* Connections find it without sleeping. */
static int net6_metrics_find_congctl(struct net6_metrics *m, const struct nlattr *nest,
				     struct netlink_ext_ack *extack)
{
	const struct net6_metrics_congctl *ops = READ_ONCE(net6_congctl);
	const struct nlattr *name = nla_find_nested(nest, RTAX_CC_ALGO);
	void *congctl;

	if (!name || !ops)
		return 0;
	nla_strscpy(m->congctl_name, name, sizeof(m->congctl_name));
	congctl = ops->get(m->congctl_name);
	if (IS_ERR(congctl)) {
		NL_SET_ERR_MSG_ATTR(extack, name, "Unknown tcp congestion algorithm");
		return PTR_ERR(congctl);
	}
	m->congctl = congctl;
	return 0;
}

/**
 * net6_metrics_read() - metrics of a request
 * @nn: namespace
 * @nest: attributes RTAX_*, or NULL
 * @extack: where to say what is wrong
 *
 * Context: process, sleeps: a module of congestion control may be loaded.
 * Return: a reference; NULL if nothing is said; ERR_PTR: -EINVAL, -ENOMEM, or why there is no such
 * congestion control.
 */
struct net6_metrics *net6_metrics_read(struct net6_net *nn, struct nlattr *nest,
				       struct netlink_ext_ack *extack)
{
	struct dst_metrics *read;
	struct net6_metrics *m;
	int err = 0;

	if (!nest)
		return NULL;
	read = net6_compat_fib_metrics_init(nn->net, nla_data(nest), nla_len(nest), extack);
	if (IS_ERR(read))
		return ERR_CAST(read);
	m = net6_metrics_say(read) ? kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT) : NULL;
	if (m) {
		refcount_set(&m->ref, 1);
		memcpy(m->val, read->metrics, sizeof(m->val));
		err = net6_metrics_find_congctl(m, nest, extack);
	} else if (net6_metrics_say(read)) {
		err = -ENOMEM;
	}
	ip_fib_metrics_put(read);
	if (!err)
		return m;
	kfree(m);
	return ERR_PTR(err);
}

/* One of them. Flags that only the kernel sets are not told. */
static int net6_metrics_write_one(struct sk_buff *skb, int type, const struct net6_metrics *m)
{
	u32 val = m->val[type - 1];

	if (type == RTAX_CC_ALGO)
		return m->congctl_name[0] ? nla_put_string(skb, type, m->congctl_name) : 0;
	if (type == RTAX_FEATURES)
		val &= RTAX_FEATURE_MASK;
	return val ? nla_put_u32(skb, type, val) : 0;
}

/**
 * net6_metrics_write() - metrics as an attribute
 * @skb: message
 * @type: of the attribute
 * @m: metrics, or NULL
 *
 * Context: any. Return: 0, -EMSGSIZE: the caller cancels the whole message.
 */
int net6_metrics_write(struct sk_buff *skb, int type, const struct net6_metrics *m)
{
	struct nlattr *nest;
	int i;

	if (!m)
		return 0;
	nest = nla_nest_start_noflag(skb, type);
	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= RTAX_MAX; i++)
		if (net6_metrics_write_one(skb, i, m))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * net6_metrics_equal() - is the same said?
 * @a: metrics, or NULL
 * @b: alike
 *
 * Context: both are kept by the caller.
 */
bool net6_metrics_equal(const struct net6_metrics *a, const struct net6_metrics *b)
{
	if (likely(a == b))
		return true;
	return a && b && !memcmp(a->val, b->val, sizeof(a->val)) &&
	       !strcmp(a->congctl_name, b->congctl_name);
}
