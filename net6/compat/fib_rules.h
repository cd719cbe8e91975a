/* SPDX-License-Identifier: GPL-2.0 */
/* Rules: fib_default_rule_add() lost its flags in 6.8. */
#ifndef _NET6_COMPAT_FIB_RULES_H
#define _NET6_COMPAT_FIB_RULES_H

#include <linux/version.h>
#include <net/fib_rules.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define net6_compat_default_rule_add(ops, pref, table) fib_default_rule_add(ops, pref, table, 0)
#else
#define net6_compat_default_rule_add fib_default_rule_add
#endif

#endif /* _NET6_COMPAT_FIB_RULES_H */
