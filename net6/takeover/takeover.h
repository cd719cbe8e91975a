/* SPDX-License-Identifier: GPL-2.0 */
/* This exists only where native IPv6 is switched off. It is faces to programs (rtnetlink,
 * sock_diag, /proc), and what other parts of the kernel find in native's place.
 */
#ifndef _NET6_TAKEOVER_H
#define _NET6_TAKEOVER_H

#include <linux/types.h>

struct net;
struct net6_net;
struct seq_file;

int net6_rtnetlink_init(void);
void net6_rtnetlink_exit(void);
int net6_diag_request_init(void);
void net6_diag_request_exit(void);
int net6_proc_init(void);
void net6_proc_exit(void);
int net6_proc_route_net_init(struct net *net);
int net6_proc_snmp6(struct seq_file *seq, void *v);
int net6_proc_dev_snmp6(struct seq_file *seq, void *v);

/* What the kernel calls native IPv6 by. */
int net6_stub_init(void);
void net6_stub_exit(void);
int net6_divert_init(void);
void net6_divert_exit(void);
int net6_nfredirect_init(void);
void net6_nfredirect_exit(void);
void net6_nfbridge_init(void);
void net6_nfbridge_exit(void);

/* What netfilter's modules use of native IPv6. */
int net6_nf_init(void);
void net6_nf_exit(void);
int net6_nf_net_init(struct net6_net *nn);
void net6_nf_net_drain(struct net6_net *nn);
void net6_nf_net_exit(struct net6_net *nn);

#endif /* _NET6_TAKEOVER_H */
