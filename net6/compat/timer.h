/* SPDX-License-Identifier: GPL-2.0 */
/* Timers: from_timer() became timer_container_of() in 6.16, hrtimer_init() became
 * hrtimer_setup() in 6.13.
 */
#ifndef _NET6_COMPAT_TIMER_H
#define _NET6_COMPAT_TIMER_H

#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <linux/version.h>

#ifndef timer_container_of
#define timer_container_of	from_timer
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void net6_compat_hrtimer_setup(struct hrtimer *timer,
					     enum hrtimer_restart (*fn)(struct hrtimer *),
					     enum hrtimer_mode mode)
{
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = fn;
}
#else
#define net6_compat_hrtimer_setup(timer, fn, mode) \
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, mode)
#endif

#endif /* _NET6_COMPAT_TIMER_H */
