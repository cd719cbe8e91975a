/* SPDX-License-Identifier: GPL-2.0 */
/* What a measured program in the guest says to the counting plugin (count.c): a
 * seven-byte no-operation whose displacement is MAGIC, operation, 16-bit value. The
 * values are chosen at run time, so the instruction is written when it is needed.
 */
#ifndef MARK_H
#define MARK_H

#define MARK_MAGIC	0x6e

#define MARK_SLOT	1	/* count for slot VALUE from here; 0: for none */
#define MARK_WORD	2	/* shift VALUE into the 64-bit word */
#define MARK_HOOK	3	/* note when the kernel function at word is entered; go to
				 * slot VALUE there, if that is above the present one; or
				 * one of these, which are not noted
				 */
#define MARK_DUMP	4	/* write what was counted under label VALUE, and forget it */
#define MARK_FROM	5	/* the word is where a range begins */
#define MARK_RANGE	6	/* blocks from there to the word do VALUE when a slot is set */
#define MARK_FORGET	7	/* no ranges, no slots of tasks */

/* What else a hook can do. */
#define MARK_ASIDE	0x100	/* +1 << slot for each slot: in it, count nothing from here */
#define MARK_BACK	0x200	/* go on with the slot */

/* What a range can do. */
#define MARK_PACKET	0x00	/* +slot: go to that slot */
#define MARK_TASK	0x10	/* +slot: the same, and it is the running task's from now on */
#define MARK_RETURN	0x20	/* go to the running task's slot */
#define MARK_SWITCH	0x40	/* another task runs: a stack is pushed to here */

#define MARK_DISP(op, value) \
	((unsigned int)MARK_MAGIC << 24 | (op) << 16 | ((value) & 0xffff))

#endif
