/* SPDX-License-Identifier: GPL-2.0 */
/* What the table of socket types tells operators. */
#ifndef _NET6_PROTOSW_H
#define _NET6_PROTOSW_H

#include <net/net_namespace.h>

int net6_protosw_inuse(struct net *net, int type, int protocol);

#endif /* _NET6_PROTOSW_H */
