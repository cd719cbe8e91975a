// SPDX-License-Identifier: GPL-2.0
/* Which code of net6 has run: only in builds for the fuzzer (NET6_KCOV=y). The compiler calls
 * __sanitizer_cov_trace_pc() in every basic block, as for KCOV. The kernel's own function of that
 * name notes what a task does in its system calls. Most of a network stack runs in softirqs,
 * timers and work. So this one takes its place and notes all of them.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "cover.h"

/* Code this far on either side of the function below is noted, in units of 16 bytes. */
#define NET6_COVER_REACH	(4UL << 20)
#define NET6_COVER_SHIFT	4
#define NET6_COVER_SIZE		(2 * NET6_COVER_REACH >> NET6_COVER_SHIFT)

static u8 net6_cover_seen[NET6_COVER_SIZE];
static struct dentry *net6_cover_file;

static unsigned long net6_cover_base(void)
{
	return (unsigned long)__sanitizer_cov_trace_pc - NET6_COVER_REACH;
}

/* Called in any context. */
void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long at = (_RET_IP_ - net6_cover_base()) >> NET6_COVER_SHIFT;

	if (at < NET6_COVER_SIZE && !net6_cover_seen[at])
		net6_cover_seen[at] = 1;
}

/* An address a line, each in a place that was seen. */
static int net6_cover_show(struct seq_file *s, void *v)
{
	unsigned long at;

	for (at = 0; at < NET6_COVER_SIZE; at++)
		if (net6_cover_seen[at])
			seq_printf(s, "%lx\n", net6_cover_base() + (at << NET6_COVER_SHIFT));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(net6_cover);

int net6_cover_init(void)
{
	net6_cover_file = debugfs_create_file("net6_cover", 0400, NULL, NULL, &net6_cover_fops);
	return 0;
}

void net6_cover_exit(void)
{
	debugfs_remove(net6_cover_file);
}
