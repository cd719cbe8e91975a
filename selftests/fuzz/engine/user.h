/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's headers for a program: what patches code at run time or checks with
 * compile-time knowledge is off.
 */
#undef CONFIG_JUMP_LABEL
#undef CONFIG_FORTIFY_SOURCE
#undef CONFIG_DEBUG_LIST
#undef CONFIG_PARAVIRT
#undef CONFIG_PARAVIRT_XXL
#undef CONFIG_PARAVIRT_SPINLOCKS
#undef CONFIG_PREEMPT_DYNAMIC
#undef CONFIG_HAVE_PREEMPT_DYNAMIC
