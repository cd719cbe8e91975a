/* SPDX-License-Identifier: GPL-2.0 */
/* A sock_diag handler names its module from 6.9 on, and in stable 6.1.120: the core holds the
 * module while it calls, instead of a lock. Ends with the last kernel before them.
 */
#ifndef _NET6_COMPAT_SOCK_DIAG_H
#define _NET6_COMPAT_SOCK_DIAG_H

#include <linux/module.h>
#include <linux/sock_diag.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 120) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
#define NET6_COMPAT_DIAG_OWNER	.owner = THIS_MODULE,
#else
#define NET6_COMPAT_DIAG_OWNER
#endif

/* From then on sock_diag_unregister() looks at the family only, and not at whose handler it is. It
 * was read in 6.1.192 and 6.9. Before that it is a bug to name another's.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 192) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
#define NET6_COMPAT_DIAG_TAKES	true
#else
#define NET6_COMPAT_DIAG_TAKES	false
#endif

#endif /* _NET6_COMPAT_SOCK_DIAG_H */
