/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers at any address: asm/unaligned.h became linux/unaligned.h in 6.12. Ends with the
 * last kernel below 6.12. Pure files include it: in user space both are there.
 */
#ifndef _NET6_COMPAT_UNALIGNED_H
#define _NET6_COMPAT_UNALIGNED_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

#endif /* _NET6_COMPAT_UNALIGNED_H */
