/* SPDX-License-Identifier: GPL-2.0 */
/* Who hears of IPv6 addresses: only native can tell them from 7.1 on, when IPv6 became no module.
 * Ends with the last kernel below 7.1.
 */
#ifndef _NET6_COMPAT_ADDR_CHAIN_H
#define _NET6_COMPAT_ADDR_CHAIN_H

#include <linux/notifier.h>
#include <linux/version.h>
#include <net/addrconf.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define NET6_COMPAT_HAS_ADDR_CHAIN	true
#define net6_compat_addr_tell		inet6addr_notifier_call_chain
#define net6_compat_addr_ask		inet6addr_validator_notifier_call_chain
#else
#define NET6_COMPAT_HAS_ADDR_CHAIN	false

static inline int net6_compat_addr_tell(unsigned long val, void *v)
{
	return NOTIFY_DONE;
}

static inline int net6_compat_addr_ask(unsigned long val, void *v)
{
	return NOTIFY_DONE;
}
#endif

#endif /* _NET6_COMPAT_ADDR_CHAIN_H */
