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
				 * slot VALUE there, if that is above the present one
				 */
#define MARK_DUMP	4	/* write what was counted under label VALUE, and forget it */

#define MARK_DISP(op, value) \
	((unsigned int)MARK_MAGIC << 24 | (op) << 16 | ((value) & 0xffff))

#endif
