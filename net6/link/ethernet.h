/* SPDX-License-Identifier: GPL-2.0 */
/* The link layer that is built in. */
#ifndef _NET6_ETHERNET_H
#define _NET6_ETHERNET_H

#include <net6/link.h>

extern const struct net6_link_ops net6_ethernet_ops;

#endif /* _NET6_ETHERNET_H */
