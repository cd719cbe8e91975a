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

#endif /* _NET6_ADMIN_H */
