// SPDX-License-Identifier: GPL-2.0
/* Metrics of a route. Those of the packets are the core's, those of connections TCP's. */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <net/dst.h>
#include <net/netlink.h>

#include "metrics.h"

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

/* Connections find it without sleeping. An unknown one is native's EINVAL, not TCP's ENOENT. */
static int net6_metrics_find_congctl(struct net6_metrics *m, struct netlink_ext_ack *extack)
{
	const struct net6_metrics_congctl *ops = READ_ONCE(net6_congctl);
	bool wants_ecn = false;
	void *congctl;

	congctl = ops ? ops->get(m->congctl_name, &wants_ecn) : ERR_PTR(-ENOENT);
	if (IS_ERR(congctl)) {
		NL_SET_ERR_MSG(extack, "Unknown tcp congestion algorithm");
		return PTR_ERR(congctl) == -ENOENT ? -EINVAL : PTR_ERR(congctl);
	}
	m->congctl = congctl;
	if (wants_ecn)
		m->val[RTAX_FEATURES - 1] |= DST_FEATURE_ECN_CA;
	return 0;
}

/* What is more than a packet can have is the most that it can, as on native. */
static u32 net6_metrics_limit(int type, u32 val)
{
	switch (type) {
	case RTAX_ADVMSS:
		return min_t(u32, val, 65535 - 40);
	case RTAX_MTU:
		return min_t(u32, val, 65535 - 15);
	case RTAX_HOPLIMIT:
		return min_t(u32, val, 255);
	default:
		return val;
	}
}

static int net6_metrics_read_one(struct net6_metrics *m, const struct nlattr *nla,
				 struct netlink_ext_ack *extack)
{
	int type = nla_type(nla);

	if (!type)
		return 0;
	if (type > RTAX_MAX) {
		NL_SET_ERR_MSG(extack, "Invalid metric type");
		return -EINVAL;
	}
	type = array_index_nospec(type, RTAX_MAX + 1);
	if (type == RTAX_CC_ALGO) {
		nla_strscpy(m->congctl_name, nla, sizeof(m->congctl_name));
		return 0;
	}
	if (nla_len(nla) != sizeof(u32)) {
		NL_SET_ERR_MSG_ATTR(extack, nla, "Invalid attribute in metrics");
		return -EINVAL;
	}
	m->val[type - 1] = net6_metrics_limit(type, nla_get_u32(nla));
	if (type == RTAX_FEATURES && m->val[type - 1] & ~RTAX_FEATURE_MASK) {
		NL_SET_ERR_MSG(extack,
			       "Unknown flag set in feature mask in metrics attribute");
		return -EINVAL;
	}
	return 0;
}

static int net6_metrics_read_all(struct net6_metrics *m, const struct nlattr *nest,
				 struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	bool congctl = false;
	int left, err;

	nla_for_each_nested(nla, nest, left) {
		err = net6_metrics_read_one(m, nla, extack);
		if (err)
			return err;
		congctl |= nla_type(nla) == RTAX_CC_ALGO;
	}
	return congctl ? net6_metrics_find_congctl(m, extack) : 0;
}

/**
 * net6_metrics_read() - metrics of a request
 * @nest: attributes RTAX_*, or NULL
 * @extack: where to say what is wrong
 *
 * Context: process, sleeps: a module of congestion control may be loaded.
 * Return: a reference; NULL if nothing is said; ERR_PTR: -EINVAL, -ENOMEM, or why there is no such
 * congestion control.
 */
struct net6_metrics *net6_metrics_read(const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct net6_metrics *m;
	int err;

	if (!nest)
		return NULL;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return ERR_PTR(-ENOMEM);
	refcount_set(&m->ref, 1);
	err = net6_metrics_read_all(m, nest, extack);
	if (!err && (m->congctl || memchr_inv(m->val, 0, sizeof(m->val))))
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
