/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses whose length is told beside them have a type of their own from 6.19 on. Ends with the
 * last kernel below 6.19.
 */
#ifndef _NET6_COMPAT_SOCKADDR_H
#define _NET6_COMPAT_SOCKADDR_H

#include <linux/socket.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define sockaddr_unsized	sockaddr
#endif

#endif /* _NET6_COMPAT_SOCKADDR_H */
