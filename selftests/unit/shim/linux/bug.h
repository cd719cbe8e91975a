/* SPDX-License-Identifier: GPL-2.0 */
/* Warnings end the test program. */
#pragma once

#include <stdlib.h>
#include <linux/compiler.h>

#define BUG_ON(cond)		do { if (cond) abort(); } while (0)
#define WARN_ON(cond)		({ bool __c = (cond); if (__c) abort(); __c; })
#define WARN_ON_ONCE(cond)	WARN_ON(cond)
#define DEBUG_NET_WARN_ON_ONCE(cond) ((void)WARN_ON(cond))
