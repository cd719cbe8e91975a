/* SPDX-License-Identifier: GPL-2.0 */
/* netfilter's IPv6 hooks in takeover mode. Beside native IPv6 there are none: native's rules are
 * about native's packets.
 */
#ifndef _NET6_NFHOOK_H
#define _NET6_NFHOOK_H

#include <linux/jump_label.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>

#include "iface.h"

struct net6_dest;
struct rt6_info;

/* On in takeover mode if nothing forbids the hooks. */
DECLARE_STATIC_KEY_FALSE(net6_nf_key);

/* Is there a rule somewhere? @hook must be a constant; two branches that are not there
 * otherwise.
 */
static __always_inline bool net6_nf_on(const unsigned int hook)
{
#if defined(CONFIG_NETFILTER) && defined(CONFIG_JUMP_LABEL)
	if (!static_key_false(&nf_hooks_needed[NFPROTO_IPV6][hook]))
		return false;
#endif
	return static_branch_unlikely(&net6_nf_key);
}

static __always_inline bool net6_nf_out_on(void)
{
	return net6_nf_on(NF_INET_LOCAL_OUT) || net6_nf_on(NF_INET_POST_ROUTING);
}

/* A packet keeps what a connection's tracker has found out only between hooks. */
static inline void net6_nf_reset(struct sk_buff *skb)
{
	if (!static_branch_unlikely(&net6_nf_key))
		nf_reset_ct(skb);
}

void net6_nf_rcv(struct net6_iface *iface, struct sk_buff *skb);
bool net6_nf_local_in(struct net6_iface *iface, struct sk_buff *skb, bool reassembled);
bool net6_nf_forward(struct net6_iface *iface, struct sk_buff *skb, struct net6_iface *out,
		     bool reassembled);
bool net6_nf_output(struct net6_iface *iface, struct sk_buff *skb, int *err);
bool net6_nf_post(struct net6_iface *iface, struct sk_buff *skb, struct net_device *in, int *err);
bool net6_nf_post_again(struct net6_iface *iface, struct sk_buff *skb, int *err);
int net6_nf_dst_output(struct net *net, struct sock *sk, struct sk_buff *skb);

/**
 * struct net6_nf_route_ops - who makes the routes that packets have in hooks
 * @init: make the one of an interface, which is being attached, in its rt. Context: process.
 *	Return: 0 or -ENOMEM
 * @exit: take it away again; a queued packet may still have it. Context: process
 * @attach: give a packet a route that its device can tell the path MTU of a destination. Context:
 *	BH disabled, RCU read lock held
 */
struct net6_nf_route_ops {
	int (*init)(struct net6_iface *iface);
	void (*exit)(struct net6_iface *iface);
	void (*attach)(struct sk_buff *skb, struct net6_dest *dest);
};

void net6_nf_enable(const struct net6_nf_route_ops *ops);
void net6_nf_disable(void);
int net6_nf_iface_init(struct net6_iface *iface);
void net6_nf_iface_exit(struct net6_iface *iface);
void net6_nf_attach(struct sk_buff *skb, struct net6_dest *dest);

#endif /* _NET6_NFHOOK_H */
