// SPDX-License-Identifier: GPL-2.0
/* See findings.h. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include "findings.h"

static void (*as_json)(const char *text);
static unsigned int errors, notes;

static void tell(bool error, const char *about, const char *format, va_list args)
{
	char text[PATH_MAX + 512];

	vsnprintf(text, sizeof(text), format, args);
	if (as_json) {
		printf("%s{\"level\":\"%s\",\"about\":", errors + notes ? "," : "",
		       error ? "error" : "note");
		as_json(about);
		printf(",\"text\":");
		as_json(text);
		putchar('}');
	} else {
		printf("%s: %s: %s\n", error ? "error" : "note", about, text);
	}
	if (error)
		errors++;
	else
		notes++;
}

void findings_begin(void (*json)(const char *text))
{
	as_json = json;
	if (as_json)
		putchar('[');
}

void fault(const char *about, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(true, about, format, args);
	va_end(args);
}

void note(const char *about, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(false, about, format, args);
	va_end(args);
}

bool findings_end(void)
{
	if (as_json)
		puts("]");
	else if (!errors)
		puts("nothing is in the way");
	return errors;
}
