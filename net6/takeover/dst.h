/* SPDX-License-Identifier: GPL-2.0 */
/* Routes for the kernel's tunnels over UDP: see dst.c. */
#ifndef _NET6_DST_H
#define _NET6_DST_H

#include <linux/in6.h>

struct dst_entry;
struct flowi6;
struct net;
struct net6_dest;
struct net6_iface;
struct sk_buff;
struct sock;

int net6_dst_init(void);
void net6_dst_exit(void);
struct dst_entry *net6_dst_lookup(struct net *net, const struct sock *sk, struct flowi6 *fl6,
				  const struct in6_addr *final_dst);
void net6_dst_attach(struct sk_buff *skb, struct net6_dest *dest);
void net6_dst_iface_exit(struct net6_iface *iface);

#endif /* _NET6_DST_H */
