/* SPDX-License-Identifier: GPL-2.0 */
/* A group whose lock reclaim may want. Until 6.11 that is a flag of the group. From 6.12 on it is
 * so with all groups, and in stable kernels that have taken this over. Ends with the last kernel
 * that has the flag.
 */
#ifndef _KHTTPD_COMPAT_FSNOTIFY_H
#define _KHTTPD_COMPAT_FSNOTIFY_H

#include <linux/fsnotify_backend.h>

#ifndef FSNOTIFY_GROUP_NOFS
#define FSNOTIFY_GROUP_NOFS	0
#endif

#endif /* _KHTTPD_COMPAT_FSNOTIFY_H */
