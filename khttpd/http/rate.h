/* SPDX-License-Identifier: GPL-2.0 */
/* How often something may happen: so many a second, and so many at once after a
 * pause. One number is remembered, the time at which all that has happened would
 * have been due. Compiles in user space.
 */
#ifndef _KHTTPD_RATE_H
#define _KHTTPD_RATE_H

#include "pure.h"

#define KHTTPD_RATE_SECOND	1000000000ULL

/**
 * khttpd_rate_take() - may it happen now?
 * @due: what is remembered, in ns; 0 at first
 * @now: in ns of the same clock
 * @rate: how often in a second, not 0
 * @burst: how often at once, not 0
 *
 * Return: true, and it has happened.
 */
static inline bool khttpd_rate_take(u64 *due, u64 now, u32 rate, u32 burst)
{
	u64 step = div_u64(KHTTPD_RATE_SECOND, rate) + 1;

	if (*due < now)
		*due = now;
	/* A higher burst that was allowed is not held against it for longer. */
	if (*due - now > step * burst)
		*due = now + step * burst;
	if (*due - now > step * (burst - 1))
		return false;
	*due += step;
	return true;
}

/**
 * khttpd_rate_undo() - it has not happened after all
 * @due: what is remembered; it was taken
 * @rate: how often in a second, not 0
 */
static inline void khttpd_rate_undo(u64 *due, u32 rate)
{
	*due -= min_t(u64, *due, div_u64(KHTTPD_RATE_SECOND, rate) + 1);
}

/**
 * khttpd_rate_rested() - has the pause been long enough to forget it?
 * @due: what is remembered
 * @now: in ns
 */
static inline bool khttpd_rate_rested(u64 due, u64 now)
{
	return due <= now;
}

#endif /* _KHTTPD_RATE_H */
