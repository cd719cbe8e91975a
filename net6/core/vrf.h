/* SPDX-License-Identifier: GPL-2.0 */
/* The link of a VRF's device. */
#ifndef _NET6_VRF_H
#define _NET6_VRF_H

#include <net6/link.h>

extern const struct net6_link_ops net6_vrf_ops;

#endif /* _NET6_VRF_H */
