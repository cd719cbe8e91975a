/* SPDX-License-Identifier: GPL-2.0 */
/* What the table of socket types tells others. */
#ifndef _NET6_PROTOSW_H
#define _NET6_PROTOSW_H

#include <linux/net.h>
#include <net/net_namespace.h>

int net6_protosw_inuse(struct net *net, int type, int protocol);
const struct proto_ops *net6_protosw_ops(int type, int protocol);

#endif /* _NET6_PROTOSW_H */
