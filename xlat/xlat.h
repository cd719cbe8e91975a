/* SPDX-License-Identifier: GPL-2.0 */
/* A translator between IPv6 and IPv4 as a device: what either IP sends to it comes back up as the
 * other's. Documentation/translator.rst has the walk of a packet.
 */
#ifndef _NET6_XLAT_H
#define _NET6_XLAT_H

#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "header.h"

/* What is counted beside drops; the text is for operators. */
#define NET6_XLAT_COUNTERS_LIST(X)						\
	X(To6)			/* packets, as they came */			\
	X(To4)									\
	X(To6IcmpErrors)	/* of these, ICMP errors */			\
	X(To4IcmpErrors)							\
	X(To6FragCreates)	/* fragments that were made */			\
	X(To6UdpChecksums)	/* that were missing, and computed */		\
	X(GsoSegmented)		/* large packets cut before their time */

enum net6_xlat_counter {
#define X(name) NET6_XLAT_COUNT_##name,
	NET6_XLAT_COUNTERS_LIST(X)
#undef X
	NET6_XLAT_COUNTERS
};

/**
 * struct net6_xlat_stats - one CPU's counters of a translator
 * @value: packets, by enum net6_xlat_counter
 * @drop: packets, by enum net6_xlat_verdict
 */
struct net6_xlat_stats {
	u64	value[NET6_XLAT_COUNTERS];
	u64	drop[NET6_XLAT_VERDICTS];
};

/**
 * struct net6_xlat - a translator, the private part of its device
 * @dev: device; it stays in its namespace
 * @map: addresses; goes with the device
 * @stats: counters
 */
struct net6_xlat {
	struct net_device	*dev;
	struct net6_xlat_map	*map;
	struct net6_xlat_stats __percpu *stats;
};

/* Any context. */
#define NET6_XLAT_ADD(x, name, n) \
	this_cpu_add((x)->stats->value[NET6_XLAT_COUNT_##name], n)
#define NET6_XLAT_INC(x, name)	NET6_XLAT_ADD(x, name, 1)

/* dev.c. Process, RTNL held; the first takes the map if it succeeds. */
int net6_xlat_add(struct net *net, const char *name, struct net6_xlat_map *map,
		  struct netlink_ext_ack *extack);
void net6_xlat_del(struct net6_xlat *x);
struct net6_xlat *net6_xlat_of(struct net_device *dev);
u64 net6_xlat_read(const struct net6_xlat *x, enum net6_xlat_counter counter);
u64 net6_xlat_read_drop(const struct net6_xlat *x, enum net6_xlat_verdict verdict);
const char *net6_xlat_counter_name(enum net6_xlat_counter counter);
const char *net6_xlat_drop_name(enum net6_xlat_verdict verdict);
const char *net6_xlat_drop_text(enum net6_xlat_verdict verdict);
struct net6_xlat_map *net6_xlat_map_alloc(unsigned int n);
void net6_xlat_map_free(struct net6_xlat_map *map);
void net6_xlat_drop(struct net6_xlat *x, struct sk_buff *skb, enum net6_xlat_verdict verdict);
int net6_xlat_dev_init(void);
void net6_xlat_dev_exit(void);

/* packet.c */
netdev_tx_t net6_xlat_xmit(struct sk_buff *skb, struct net_device *dev);

/* up.c. BH disabled; they consume the packet. */
void net6_xlat_up(struct net6_xlat *x, struct sk_buff *skb);
void net6_xlat_up_pieces(struct net6_xlat *x, struct sk_buff *skb,
			 const struct net6_xlat_plan *plan, unsigned int room);

/* nl.c */
int net6_xlat_nl_init(void);
void net6_xlat_nl_exit(void);

#endif /* _NET6_XLAT_H */
