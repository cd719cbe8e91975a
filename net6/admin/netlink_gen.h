/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Made by scripts/netlink-gen from Documentation/netlink/specs/net6.yaml. */
#ifndef _NET6_ADMIN_NETLINK_GEN_H
#define _NET6_ADMIN_NETLINK_GEN_H

#include <net/genetlink.h>
#include <linux/net6_netlink.h>

int net6_nl_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_nl_dump_done(struct netlink_callback *cb);
int net6_nl_iface_get_start(struct netlink_callback *cb);
int net6_nl_iface_set(struct sk_buff *skb, struct genl_info *info);
int net6_nl_iface_attach(struct sk_buff *skb, struct genl_info *info);
int net6_nl_iface_detach(struct sk_buff *skb, struct genl_info *info);
int net6_nl_addr_get_start(struct netlink_callback *cb);
int net6_nl_addr_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_addr_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_accept_get_start(struct netlink_callback *cb);
int net6_nl_neigh_get_start(struct netlink_callback *cb);
int net6_nl_neigh_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_neigh_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_router_get_start(struct netlink_callback *cb);
int net6_nl_router_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_router_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_prefix_get_start(struct netlink_callback *cb);
int net6_nl_prefix_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_prefix_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_dest_get_start(struct netlink_callback *cb);
int net6_nl_sock_get_start(struct netlink_callback *cb);
int net6_nl_counter_get_start(struct netlink_callback *cb);
int net6_nl_drop_get_start(struct netlink_callback *cb);
int net6_nl_limits_get(struct sk_buff *skb, struct genl_info *info);
int net6_nl_limits_set(struct sk_buff *skb, struct genl_info *info);
int net6_nl_flush(struct sk_buff *skb, struct genl_info *info);
int net6_nl_tunnel_get_start(struct netlink_callback *cb);
int net6_nl_tunnel_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_tunnel_set(struct sk_buff *skb, struct genl_info *info);
int net6_nl_tunnel_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_route_get_start(struct netlink_callback *cb);
int net6_nl_route_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_route_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_secret_set(struct sk_buff *skb, struct genl_info *info);
int net6_nl_policy_get_start(struct netlink_callback *cb);
int net6_nl_policy_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_policy_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_proxy_get_start(struct netlink_callback *cb);
int net6_nl_proxy_add(struct sk_buff *skb, struct genl_info *info);
int net6_nl_proxy_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_sock_del(struct sk_buff *skb, struct genl_info *info);
int net6_nl_pref64_get_start(struct netlink_callback *cb);

enum {
	NET6_NL_GROUP_MONITOR,
	NET6_NL_GROUPS
};

#define NET6_NL_OPS	40

extern const struct genl_ops net6_nl_ops[NET6_NL_OPS];
extern const struct genl_multicast_group net6_nl_groups[NET6_NL_GROUPS];

#endif /* _NET6_ADMIN_NETLINK_GEN_H */
