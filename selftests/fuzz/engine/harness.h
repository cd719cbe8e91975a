/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzz target turns: the clock, and whether memory is to be had. */
#ifndef _ENGINE_HARNESS_H
#define _ENGINE_HARNESS_H

extern volatile unsigned long jiffies;
extern u64 fuzz_ns;
extern bool fuzz_no_memory;
extern struct net init_net;

#endif
