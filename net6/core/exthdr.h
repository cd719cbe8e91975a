/* SPDX-License-Identifier: GPL-2.0 */
/* Extension headers on their way up and down, RFC 8200 section 4. */
#ifndef _NET6_EXTHDR_H
#define _NET6_EXTHDR_H

#include <net/ipv6.h>

#include "ip.h"

/* RFC 4443 section 3.4 and RFC 8883 section 2: codes of Parameter Problem */
#define NET6_PARAM_HEADER_FIELD		0
#define NET6_PARAM_NEXT_HEADER		1
#define NET6_PARAM_OPTION		2
#define NET6_PARAM_FIRST_FRAGMENT	3	/* RFC 7112 section 5 */
#define NET6_PARAM_HEADER_TOO_BIG	6
#define NET6_PARAM_TOO_MANY_HEADERS	8
#define NET6_PARAM_TOO_MANY_OPTIONS	9

/* net6_exthdr_fn - process one kind of extension header
 *
 * @skb: data at the header, nothing of it pulled yet, net6_rx_cb() valid
 *
 * Context: softirq, RCU read lock held.
 * Return: the packet with data behind the header and the control block naming the
 * next one; NULL if it was consumed.
 */
typedef struct sk_buff *(*net6_exthdr_fn)(struct sk_buff *skb);

net6_exthdr_fn net6_exthdr_find(u8 nexthdr);
struct sk_buff *net6_exthdr_problem(struct sk_buff *skb, enum net6_drop_reason reason, u8 code,
				    unsigned int offset);
struct sk_buff *net6_exthdr_pull(struct sk_buff *skb, unsigned int len);

/* core/exthdr_send.c: what programs want sent (RFC 3542) */
void net6_exthdr_measure(struct ipv6_txoptions *opt);
const struct in6_addr *net6_exthdr_first_hop(const struct ipv6_txoptions *opt,
					     const struct in6_addr *daddr);
int net6_exthdr_push(struct sk_buff *skb, const struct ipv6_txoptions *opt, u8 *proto,
		     const struct in6_addr *daddr);

static inline unsigned int net6_exthdr_room(const struct ipv6_txoptions *opt)
{
	return opt ? opt->opt_nflen + opt->opt_flen : 0;
}

/* core/reasm.c: the Fragment header */
struct sk_buff *net6_reasm_rcv(struct sk_buff *skb);
int net6_reasm_net_init(struct net6_net *nn);
void net6_reasm_set_limits(struct net6_net *nn);
void net6_reasm_net_pre_exit(struct net6_net *nn);
void net6_reasm_net_exit(struct net6_net *nn);
int net6_reasm_init(void);
void net6_reasm_exit(void);

#endif /* _NET6_EXTHDR_H */
