/* SPDX-License-Identifier: GPL-2.0 */
/* What a test turns and reads in user.c. */
#ifndef UNIT_KERNEL_USER_H
#define UNIT_KERNEL_USER_H

extern u64 unit_random_state;		/* a seed: which keys are drawn next */
extern long unit_no_memory_in;		/* so many allocations succeed; -1: all */
extern unsigned long unit_objects;	/* that are allocated */

#endif
