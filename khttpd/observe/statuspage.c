// SPDX-License-Identifier: GPL-2.0
/* The page about the web server itself, for paths that a site's rules name. It is HTML for
 * people, JSON, or the text format 0.0.4 of Prometheus, as Accept wants it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "stats.h"
#include "statuspage.h"

/* Room for the page in the longest form. */
#define KHTTPD_STATUS_SIZE	(32 * 1024)

static const char khttpd_statuspage_top[] =
	"<!DOCTYPE html><meta charset=\"utf-8\"><title>khttpd</title>\n"
	"<style>td:nth-child(2){text-align:right}</style>\n"
	"<h1>khttpd</h1>\n<table>\n";

/**
 * struct khttpd_statuspage - the page while it is written
 * @text: where
 * @len: how far; never beyond KHTTPD_STATUS_SIZE
 * @form: enum khttpd_form
 * @lines: how many counters are there
 */
struct khttpd_statuspage {
	char *text;
	size_t len;
	enum khttpd_form form;
	unsigned int lines;
};

__printf(2, 3)
static void khttpd_statuspage_print(struct khttpd_statuspage *page, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	page->len += vscnprintf(page->text + page->len,
				KHTTPD_STATUS_SIZE - page->len, format, args);
	va_end(args);
}

/* One number. @total: it only grows. */
static void khttpd_statuspage_value(struct khttpd_statuspage *page, const char *name,
				    const char *text, u64 value, bool total)
{
	const char *suffix = total ? "_total" : "";

	switch (page->form) {
	case KHTTPD_FORM_HTML:
		khttpd_statuspage_print(page, "<tr><td>%s<td>%llu<td>%s\n", name,
					value, text);
		break;
	case KHTTPD_FORM_JSON:
		khttpd_statuspage_print(page, "%s\n\"%s\":%llu",
					page->lines ? "," : "{", name, value);
		break;
	case KHTTPD_FORM_TEXT:
		khttpd_statuspage_print(page, "# HELP khttpd_%s%s %s\n"
					"# TYPE khttpd_%s%s %s\nkhttpd_%s%s %llu\n",
					name, suffix, text, name, suffix,
					total ? "counter" : "gauge", name, suffix,
					value);
		break;
	}
	page->lines++;
}

static void khttpd_statuspage_write(struct khttpd_statuspage *page,
				    const struct khttpd_gauges *now)
{
	int i;

	if (page->form == KHTTPD_FORM_HTML)
		khttpd_statuspage_print(page, "%s", khttpd_statuspage_top);
	khttpd_statuspage_value(page, "connections", "connections now",
				now->connections, false);
	khttpd_statuspage_value(page, "cache_entries", "files kept open now",
				now->cache_entries, false);
	khttpd_statuspage_value(page, "tls_pending", "handshakes under way now",
				now->tls_pending, false);
	khttpd_statuspage_value(page, "tls_daemons", "processes that do handshakes now",
				now->tls_daemons, false);
	for (i = 0; i < KHTTPD_STAT_COUNT; i++)
		khttpd_statuspage_value(page, khttpd_stat_names[i],
					khttpd_stat_texts[i], khttpd_stat_sum(i),
					true);
	if (page->form == KHTTPD_FORM_HTML)
		khttpd_statuspage_print(page, "</table>\n");
	else if (page->form == KHTTPD_FORM_JSON)
		khttpd_statuspage_print(page, "\n}\n");
}

/**
 * khttpd_statuspage_make() - write the page
 * @form: how
 * @now: what is counted elsewhere
 * @len: its length
 * @type: its media type
 *
 * Context: process.
 * Return: the page (kvmalloc), or NULL without memory.
 */
char *khttpd_statuspage_make(enum khttpd_form form, const struct khttpd_gauges *now,
			     size_t *len, const char **type)
{
	static const char * const types[] = {
		[KHTTPD_FORM_HTML] = "text/html; charset=utf-8",
		[KHTTPD_FORM_JSON] = "application/json",
		[KHTTPD_FORM_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	};
	struct khttpd_statuspage page = { .form = form };

	page.text = kvmalloc(KHTTPD_STATUS_SIZE, GFP_KERNEL);
	if (!page.text)
		return NULL;
	khttpd_statuspage_write(&page, now);
	*len = page.len;
	*type = types[form];
	return page.text;
}
