/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet, and what looks like it. */
#ifndef _NET6_ETHERNET_H
#define _NET6_ETHERNET_H

#include <net6/link.h>

extern const struct net6_link_ops net6_ethernet_ops;

bool net6_ethernet_match(const struct net_device *dev);

#endif /* _NET6_ETHERNET_H */
