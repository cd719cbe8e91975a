/* SPDX-License-Identifier: GPL-2.0 */
/* struct folio_batch has a header of its own in 7.2, and linux/pagevec.h is gone there. Ends with
 * the last kernel below 7.2.
 */
#ifndef _KHTTPD_COMPAT_FOLIO_BATCH_H
#define _KHTTPD_COMPAT_FOLIO_BATCH_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#include <linux/pagevec.h>
#else
#include <linux/folio_batch.h>
#endif

#endif /* _KHTTPD_COMPAT_FOLIO_BATCH_H */
