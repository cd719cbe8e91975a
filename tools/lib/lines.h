/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of a site that have a path a line. */
#ifndef LINES_H
#define LINES_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The @n-th line of @text. Return: false if there is none. */
static inline bool get_line(const char *text, unsigned int n, char line[PATH_MAX])
{
	for (; n; n--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return snprintf(line, PATH_MAX, "%.*s", (int)strcspn(text, "\n"), text) > 0;
}

#endif /* LINES_H */
