/* SPDX-License-Identifier: GPL-2.0 */
/* The files of this folder may include nothing of the kernel but this. So they compile in user
 * space, too, against selftests/unit/shim. That is checked by scripts/floors.
 */
#ifndef _KHTTPD_PURE_H
#define _KHTTPD_PURE_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler_attributes.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

#endif /* _KHTTPD_PURE_H */
