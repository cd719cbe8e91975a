// SPDX-License-Identifier: GPL-2.0
/* Counters: storage, and the text that administrators read. */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include "stats.h"

DEFINE_PER_CPU(struct khttpd_stats, khttpd_stats);

const char * const khttpd_stat_names[KHTTPD_STAT_COUNT] = {
#define KHTTPD_STAT_NAME(name, text) #name,
	KHTTPD_STATS(KHTTPD_STAT_NAME)
#undef KHTTPD_STAT_NAME
};

const char * const khttpd_stat_texts[KHTTPD_STAT_COUNT] = {
#define KHTTPD_STAT_TEXT(name, text) text,
	KHTTPD_STATS(KHTTPD_STAT_TEXT)
#undef KHTTPD_STAT_TEXT
};

/**
 * khttpd_stat_sum() - a counter, of all CPUs
 * @stat: enum khttpd_stat
 *
 * Context: any; not a snapshot of one moment.
 */
u64 khttpd_stat_sum(unsigned int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(khttpd_stats, cpu).count[stat]);
	return sum;
}

/**
 * khttpd_stats_show() - write all counters as lines of "name value"
 * @page: where to
 * @size: bytes there
 *
 * Context: any; the sums are not a snapshot of one moment.
 * Return: bytes written.
 */
ssize_t khttpd_stats_show(char *page, size_t size)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < KHTTPD_STAT_COUNT; i++)
		len += scnprintf(page + len, size - len, "%s %llu\n",
				 khttpd_stat_names[i], khttpd_stat_sum(i));
	return len;
}
