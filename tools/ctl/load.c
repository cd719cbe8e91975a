// SPDX-License-Identifier: GPL-2.0
/* net6ctl load: a file of commands, one a line. All lines are judged before the first one is
 * done, and doing them twice is as doing them once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define WORDS_MAX	4200	/* of a line; a translator has 1024 mappings of four */

struct line {
	char		*text;
	unsigned int	number;
	int		argc;
	char		**argv;
	bool		left_out;
};

enum loading loading;
static const char *file_name;
static struct line *lines, *current;
static size_t n_lines;
static bool may_be_missing;
static jmp_buf next_line;

/* Addresses that are there, set by hand for ever; read when the first one is asked for. */
struct held {
	uint32_t	index;
	uint32_t	length;
	struct in6_addr	address;
};

static struct held *held;
static size_t n_held;

void load_place(FILE *to)
{
	if (current)
		fprintf(to, "%s:%u: ", file_name, current->number);
}

void load_wrong(void)
{
	if (loading == LOADING_JUDGE)
		longjmp(next_line, 1);
}

void load_missing(const char *dev)
{
	if (loading != LOADING_JUDGE || !may_be_missing)
		return;
	complain("no device %s, this line is left out", dev);
	current->left_out = true;
	longjmp(next_line, 2);
}

static void on_held(uint8_t cmd, const struct nlattr **attrs)
{
	struct held *h;

	if (cmd != NET6_CMD_ADDR_GET ||
	    ctl_u32(attrs[NET6_A_ADDR_ORIGIN]) != NET6_ADDR_ORIGIN_MANUAL ||
	    ctl_u32(attrs[NET6_A_ADDR_PREFERRED]) != UINT32_MAX)
		return;
	held = realloc(held, (n_held + 1) * sizeof(*held));
	if (!held)
		die("out of memory");
	h = &held[n_held++];
	h->index = ctl_u32(attrs[NET6_A_ADDR_IFINDEX]);
	h->length = ctl_u32(attrs[NET6_A_ADDR_PREFIX_LEN]);
	h->address = ctl_address(attrs[NET6_A_ADDR_ADDRESS]);
}

bool load_has(uint32_t index, const struct in6_addr *address, int length, uint32_t valid,
	      uint32_t preferred)
{
	size_t i;

	if (valid != UINT32_MAX || preferred != UINT32_MAX)
		return false;
	if (!held)
		ctl_dump(NET6_CMD_ADDR_GET, on_held);
	for (i = 0; i < n_held; i++)
		if (held[i].index == index && held[i].length == (uint32_t)length &&
		    !memcmp(&held[i].address, address, sizeof(*address)))
			return true;
	return false;
}

static void add_line(char *text, unsigned int number)
{
	char *words[WORDS_MAX], *rest = text, *word;
	struct line *line;
	int n = 0;

	while ((word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		if (!n && *word == '#')
			break;
		if (n == WORDS_MAX)
			die("%s:%u: more than %d words", file_name, number, WORDS_MAX);
		words[n++] = word;
	}
	if (!n) {
		free(text);
		return;
	}
	lines = realloc(lines, (n_lines + 1) * sizeof(*lines));
	if (!lines)
		die("out of memory");
	line = &lines[n_lines++];
	*line = (struct line){ .text = text, .number = number, .argc = n };
	line->argv = calloc(n + 1, sizeof(*line->argv));
	if (!line->argv)
		die("out of memory");
	memcpy(line->argv, words, n * sizeof(*words));
}

static void read_lines(FILE *file)
{
	unsigned int number = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&text, &size, file)) >= 0) {
		number++;
		if (memchr(text, 0, length))
			die("%s:%u: this is no text", file_name, number);
		add_line(text, number);
		text = NULL;
		size = 0;
	}
	free(text);
	if (ferror(file))
		die("cannot read %s: %s", file_name, strerror(errno));
}

/* Returns how many lines are wrong; each has been named. */
static unsigned int judge(void)
{
	static volatile unsigned int wrong;
	static volatile size_t i;

	judge_start();
	loading = LOADING_JUDGE;
	for (i = 0; i < n_lines; i++) {
		current = &lines[i];
		switch (setjmp(next_line)) {
		case 0:
			run(current->argv[0], current->argc - 1, current->argv + 1, false);
			break;
		case 1:
			wrong++;
			break;
		}
	}
	current = NULL;
	loading = LOADING_NOT;
	return wrong;
}

/* load [-m] FILE */
void load(int argc, char **argv)
{
	unsigned int wrong;
	FILE *file;
	size_t i;

	if (argc && !strcmp(*argv, "-m")) {
		may_be_missing = true;
		argc--;
		argv++;
	}
	if (argc != 1)
		die("load which file? (- is standard input)");
	file_name = *argv;
	file = strcmp(file_name, "-") ? fopen(file_name, "re") : stdin;
	if (!file)
		die("cannot open %s: %s", file_name, strerror(errno));
	read_lines(file);
	wrong = judge();
	if (wrong)
		die("%s: %u line%s wrong, nothing was changed", file_name, wrong,
		    wrong > 1 ? "s are" : " is");
	loading = LOADING_APPLY;
	for (i = 0; i < n_lines; i++) {
		current = &lines[i];
		if (!current->left_out)
			run(current->argv[0], current->argc - 1, current->argv + 1, false);
	}
	current = NULL;
	loading = LOADING_NOT;
}
