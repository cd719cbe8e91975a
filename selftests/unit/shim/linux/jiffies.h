/* SPDX-License-Identifier: GPL-2.0 */
/* A clock that the test sets: jiffies is a plain variable, HZ is 250. */
#pragma once

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/types.h>

#ifndef HZ
#define HZ	250
#endif
#define NSEC_PER_SEC	1000000000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_USEC	1000L
#define USEC_PER_SEC	1000000L
#define USEC_PER_MSEC	1000L
#define MSEC_PER_SEC	1000L
#define MAX_JIFFY_OFFSET ((LONG_MAX >> 1) - 1)

static unsigned long jiffies __maybe_unused;

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_after64(a, b)	((s64)((b) - (a)) < 0)
#define time_before64(a, b)	time_after64(b, a)

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	if ((int)ms < 0)
		return MAX_JIFFY_OFFSET;
	return ((u64)ms * HZ + MSEC_PER_SEC - 1) / MSEC_PER_SEC;
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return ((u64)us * HZ + USEC_PER_SEC - 1) / USEC_PER_SEC;
}

static inline unsigned int jiffies_to_msecs(unsigned long j)
{
	return j * MSEC_PER_SEC / HZ;
}

static inline unsigned int jiffies_to_usecs(unsigned long j)
{
	return j * USEC_PER_SEC / HZ;
}
