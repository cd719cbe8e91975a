// SPDX-License-Identifier: GPL-2.0
/* What time it is, and how long the processor has slept. */
#include <stdio.h>
#include <time.h>

#include "netbench.h"

/* Nanoseconds that the first CPU was idle; -1 when the kernel does not tell. */
long long idle_time(void)
{
	long long ns = -1;
	char line[256];
	FILE *f;

	if (!opt.cpu)
		return 0;
	f = fopen("/proc/timer_list", "r");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, " .idle_sleeptime : %lld", &ns) != 1)
		;
	if (f)
		fclose(f);
	return ns;
}

long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* With a label all of them are counted and written as one. */
long long count_from_here(void)
{
	if (opt.label)
		mark_call();
	return now();
}

long long counted_since(long long start)
{
	long long ns = now() - start;

	if (opt.label)
		mark(MARK_DUMP, opt.label);
	return ns;
}
