/* SPDX-License-Identifier: GPL-2.0 */
/* Links whose packets have no header of their own. */
#ifndef _NET6_RAWIP_H
#define _NET6_RAWIP_H

#include <net6/link.h>

extern const struct net6_link_ops net6_rawip_ppp_ops;
extern const struct net6_link_ops net6_rawip_wireguard_ops;
extern const struct net6_link_ops net6_rawip_peer_ops;
extern const struct net6_link_ops net6_rawip_ops;

bool net6_rawip_match_ppp(const struct net_device *dev);
bool net6_rawip_match_wireguard(const struct net_device *dev);
bool net6_rawip_match_peer(const struct net_device *dev);
bool net6_rawip_match(const struct net_device *dev);

#endif /* _NET6_RAWIP_H */
