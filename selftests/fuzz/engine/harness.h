/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzz target turns: the clock, and whether memory is to be had. */
#ifndef _ENGINE_HARNESS_H
#define _ENGINE_HARNESS_H

extern u64 fuzz_ns;
extern bool fuzz_no_memory;
extern struct net init_net;

int printf(const char *fmt, ...);
int fflush(void *file);
void abort(void);

#define MUST(x) do {								\
	if (!(x)) {								\
		printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #x);	\
		fflush(NULL);							\
		abort();							\
	}									\
} while (0)

#endif
