/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Made by scripts/netlink-gen from Documentation/netlink/specs/net6-xlat.yaml. */
#ifndef _XLAT_NETLINK_GEN_H
#define _XLAT_NETLINK_GEN_H

#include <net/genetlink.h>
#include <linux/net6_xlat.h>

int net6_xlat_nl_dump(struct sk_buff *skb, struct netlink_callback *cb);
int net6_xlat_nl_dump_done(struct netlink_callback *cb);
int net6_xlat_nl_get_start(struct netlink_callback *cb);
int net6_xlat_nl_add(struct sk_buff *skb, struct genl_info *info);
int net6_xlat_nl_del(struct sk_buff *skb, struct genl_info *info);
int net6_xlat_nl_counter_get_start(struct netlink_callback *cb);
int net6_xlat_nl_host_get_start(struct netlink_callback *cb);

#define NET6_XLAT_NL_OPS	5

extern const struct genl_ops net6_xlat_nl_ops[NET6_XLAT_NL_OPS];

#endif /* _XLAT_NETLINK_GEN_H */
