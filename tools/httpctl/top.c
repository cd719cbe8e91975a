// SPDX-License-Identifier: GPL-2.0
/* khttpdctl top: what goes on now, as rates, drawn again and again. */
#include <signal.h>
#include <time.h>
#include "httpctl.h"

#define COUNTERS_MAX	128
#define NAME_MAX_TOP	32

struct counters {
	struct timespec when;
	int count;
	char name[COUNTERS_MAX][NAME_MAX_TOP];
	unsigned long long value[COUNTERS_MAX];
};

static volatile sig_atomic_t finish;

static void on_end(int sig)
{
	(void)sig;
	finish = 1;
}

static int take(struct counters *counters)
{
	static char stats[8192];
	char *line, *value;

	if (get(ROOT, "stats", stats, sizeof(stats)) < 0) {
		say(ROOT "/stats: %s", strerror(errno));
		return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &counters->when);
	counters->count = 0;
	for (line = strtok(stats, "\n"); line; line = strtok(NULL, "\n")) {
		value = strchr(line, ' ');
		if (!value || counters->count == COUNTERS_MAX)
			continue;
		*value++ = '\0';
		snprintf(counters->name[counters->count], NAME_MAX_TOP, "%s",
			 line);
		counters->value[counters->count++] = strtoull(value, NULL, 10);
	}
	return 0;
}

static unsigned long long value(const struct counters *counters,
				const char *name)
{
	int i;

	for (i = 0; i < counters->count; i++) {
		if (!strcmp(counters->name[i], name))
			return counters->value[i];
	}
	return 0;
}

/* Two moments, and the seconds between them. */
struct span {
	const struct counters *then, *now;
	double seconds;
};

static double rate(const struct span *span, const char *name)
{
	return (value(span->now, name) - value(span->then, name)) /
	       span->seconds;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Counters that have moved and should not have, or seldom. */
static void draw_trouble(const struct span *span)
{
	static const char *const names[] = {
		"bad_heads", "head_bytes_over", "head_fields_over", "bad_paths",
		"connections_full", "address_full", "mptcp_refused",
		"requests_refused",
		"peers_unknown", "jobs_refused", "handover_full", "handover_gone",
		"timeout_head", "timeout_idle", "timeout_send",
		"timeout_linger", "truncated", "read_errors", "aborted",
		"lost", "no_memory", "log_lost",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (rate(span, names[i]) > 0)
			printf("  %-18s %10.1f/s %14llu in all\n", names[i],
			       rate(span, names[i]),
			       value(span->now, names[i]));
	}
}

static void draw(const struct span *span)
{
	double requests = rate(span, "requests");
	double hits = rate(span, "cache_hits");
	double replies = rate(span, "replies_file") +
			 rate(span, "replies_part") +
			 rate(span, "replies_unchanged");
	time_t now = time(NULL);
	char clock[32];

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	printf("khttpd - %s, over %.1f s\n", clock, span->seconds);
	printf("connections %llu now, %.1f/s new, %.1f/s handed over, %.0f %% of it in softirq\n",
	       value(span->now, "connections"), rate(span, "accepted"),
	       rate(span, "handed_over"),
	       percent(rate(span, "soft_handed"), rate(span, "handed_over")));
	printf("requests    %.1f/s, %.0f %% in softirq, %.1f KB/s sent\n",
	       requests, percent(rate(span, "soft_hits"), requests),
	       rate(span, "bytes_sent") / 1024);
	printf("replies     %.1f/s file, %.1f/s part, %.1f/s not modified,\n",
	       rate(span, "replies_file"), rate(span, "replies_part"),
	       rate(span, "replies_unchanged"));
	printf("            %.1f/s redirect, %.1f/s error, %.1f/s other\n",
	       rate(span, "replies_redirect"), rate(span, "replies_error"),
	       rate(span, "replies_other"));
	printf("cache       %llu files, %.0f %% hits, %.1f/s looked up, %.1f/s read cold\n",
	       value(span->now, "cache_entries"), percent(hits, replies),
	       rate(span, "lookups"), rate(span, "cold_reads"));
	draw_trouble(span);
}

int top(const struct options *opt)
{
	struct sigaction end = { .sa_handler = on_end };
	static struct counters counters[2];
	bool screen = isatty(STDOUT_FILENO);
	struct span span;
	int turn;

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (take(&counters[0]))
		return -1;
	for (turn = 1; !finish && (!opt->count || turn <= opt->count); turn++) {
		span.then = &counters[(turn - 1) % 2];
		span.now = &counters[turn % 2];
		sleep(opt->interval ? opt->interval : 1);
		if (finish || take(&counters[turn % 2]))
			break;
		span.seconds = span.now->when.tv_sec - span.then->when.tv_sec +
			(span.now->when.tv_nsec - span.then->when.tv_nsec) / 1e9;
		/* From the top left corner, on an empty screen. */
		if (screen)
			printf("\033[H\033[2J");
		draw(&span);
		if (!screen)
			putchar('\n');
		fflush(stdout);
	}
	return 0;
}
