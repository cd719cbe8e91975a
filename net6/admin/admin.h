/* SPDX-License-Identifier: GPL-2.0 */
/* The face to operators: generic netlink, and what it tells others. */
#ifndef _NET6_ADMIN_H
#define _NET6_ADMIN_H

int net6_genl_init(void);
void net6_genl_exit(void);

/* What it tells those that listen. */
int net6_notify_init(void);
void net6_notify_exit(void);

/* net.net6.*, and net.ipv6.* where native IPv6 is switched off. */
int net6_sysctl_init(void);
void net6_sysctl_exit(void);
int net6_sysctl_own_init(void);
void net6_sysctl_own_exit(void);

/* What native IPv6 shows where it is switched off: rtnetlink, sock_diag, /proc/net. */
int net6_rtnetlink_init(void);
void net6_rtnetlink_exit(void);
int net6_diag_init(void);
void net6_diag_exit(void);
int net6_proc_init(void);
void net6_proc_exit(void);

struct seq_file;
int net6_proc_snmp6(struct seq_file *seq, void *v);
int net6_proc_dev_snmp6(struct seq_file *seq, void *v);

#endif /* _NET6_ADMIN_H */
