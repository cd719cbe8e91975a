// SPDX-License-Identifier: GPL-2.0
/* Counters: storage, and the text that administrators read. */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include "stats.h"

DEFINE_PER_CPU(struct khttpd_stats, khttpd_stats);

static const char * const khttpd_stat_names[] = {
#define KHTTPD_STAT_NAME(name) #name,
	KHTTPD_STATS(KHTTPD_STAT_NAME)
#undef KHTTPD_STAT_NAME
};

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
	int cpu, i;

	for (i = 0; i < KHTTPD_STAT_COUNT; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu(khttpd_stats, cpu).count[i]);
		len += scnprintf(page + len, size - len, "%s %llu\n",
				 khttpd_stat_names[i], sum);
	}
	return len;
}
