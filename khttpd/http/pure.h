/* SPDX-License-Identifier: GPL-2.0 */
/* All that the pure files (parse, path, mime) may include, so that they also
 * compile in user space, against selftests/unit/shim.
 */
#ifndef _KHTTPD_PURE_H
#define _KHTTPD_PURE_H

#include <linux/bits.h>
#include <linux/compiler_attributes.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

#endif /* _KHTTPD_PURE_H */
