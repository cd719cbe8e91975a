/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* What programs need to open net6 sockets: the family number, nothing else.
 * Addresses are ordinary struct sockaddr_in6 with sin6_family = AF_INET6.
 */
#ifndef _UAPI_LINUX_NET6_H
#define _UAPI_LINUX_NET6_H

/* 19 was AF_ECONET, removed from Linux in 3.5: no module, alias or libc meaning
 * is left. It is only socket()'s first argument; the address family stays IPv6.
 */
#define AF_NET6		19
#define PF_NET6		AF_NET6

#endif /* _UAPI_LINUX_NET6_H */
