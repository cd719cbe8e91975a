/* SPDX-License-Identifier: GPL-2.0 */
/* What a doctor finds, a line each, or as JSON: net6ctl's and khttpdctl's. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <stdbool.h>

/* No clock that was ever set shows a time before this was written. */
#define FINDINGS_YOUNGEST	1764201600	/* 2025-11-27 */

/* @json prints a string in quotes; NULL: for people */
void findings_begin(void (*json)(const char *text));
/* It does not work as long as this is so. */
void fault(const char *about, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* It works, but perhaps not as somebody expects. */
void note(const char *about, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Return: is something in the way? */
bool findings_end(void);

#endif /* FINDINGS_H */
