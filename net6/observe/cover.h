/* SPDX-License-Identifier: GPL-2.0 */
/* Which code has run, in builds for the fuzzer (cover.c). */
#ifndef _NET6_COVER_H
#define _NET6_COVER_H

/* The compiler calls it. */
void __sanitizer_cov_trace_pc(void);

int net6_cover_init(void);
void net6_cover_exit(void);

#endif /* _NET6_COVER_H */
