// SPDX-License-Identifier: GPL-2.0
/* The page about the web server itself, for paths that a site's rules name: HTML
 * for people, JSON, or the text format 0.0.4 of Prometheus, as Accept wants it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "../conn/conn.h"

/* Room for the page in the longest form. */
#define KHTTPD_STATUS_SIZE	(32 * 1024)

static const char khttpd_page_top[] =
	"<!DOCTYPE html><meta charset=\"utf-8\"><title>khttpd</title>\n"
	"<style>td:nth-child(2){text-align:right}</style>\n"
	"<h1>khttpd</h1>\n<table>\n";

/**
 * struct khttpd_page - the page while it is written
 * @text: where
 * @len: how far; never beyond KHTTPD_STATUS_SIZE
 * @form: enum khttpd_form
 * @lines: how many counters are there
 */
struct khttpd_page {
	char *text;
	size_t len;
	enum khttpd_form form;
	unsigned int lines;
};

__printf(2, 3)
static void khttpd_page_print(struct khttpd_page *page, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	page->len += vscnprintf(page->text + page->len,
				KHTTPD_STATUS_SIZE - page->len, format, args);
	va_end(args);
}

/* One number. @total: it only grows. */
static void khttpd_page_value(struct khttpd_page *page, const char *name,
			      const char *text, u64 value, bool total)
{
	const char *suffix = total ? "_total" : "";

	switch (page->form) {
	case KHTTPD_FORM_HTML:
		khttpd_page_print(page, "<tr><td>%s<td>%llu<td>%s\n", name,
				  value, text);
		break;
	case KHTTPD_FORM_JSON:
		khttpd_page_print(page, "%s\n\"%s\":%llu",
				  page->lines ? "," : "{", name, value);
		break;
	case KHTTPD_FORM_TEXT:
		khttpd_page_print(page, "# HELP khttpd_%s%s %s\n"
				  "# TYPE khttpd_%s%s %s\nkhttpd_%s%s %llu\n",
				  name, suffix, text, name, suffix,
				  total ? "counter" : "gauge", name, suffix,
				  value);
		break;
	}
	page->lines++;
}

static void khttpd_page_write(struct khttpd_page *page)
{
	u32 entries;
	int i;

	if (page->form == KHTTPD_FORM_HTML)
		khttpd_page_print(page, "%s", khttpd_page_top);
	khttpd_cache_stats(&entries);
	khttpd_page_value(page, "connections", "connections now",
			  khttpd_conns_count(), false);
	khttpd_page_value(page, "cache_entries", "files kept open now",
			  entries, false);
	for (i = 0; i < KHTTPD_STAT_COUNT; i++)
		khttpd_page_value(page, khttpd_stat_names[i],
				  khttpd_stat_texts[i], khttpd_stat_sum(i),
				  true);
	if (page->form == KHTTPD_FORM_HTML)
		khttpd_page_print(page, "</table>\n");
	else if (page->form == KHTTPD_FORM_JSON)
		khttpd_page_print(page, "\n}\n");
}

/**
 * khttpd_reply_about() - answer with the page about the web server
 * @ask: a GET or HEAD
 *
 * Return: enum khttpd_verdict
 */
enum khttpd_verdict khttpd_reply_about(const struct khttpd_ask *ask)
{
	static const char * const types[] = {
		[KHTTPD_FORM_HTML] = "text/html; charset=utf-8",
		[KHTTPD_FORM_JSON] = "application/json",
		[KHTTPD_FORM_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	};
	struct khttpd_page page = {};

	if (!khttpd_batch_has_room(&ask->conn->thread->batch))
		return KHTTPD_VERDICT_FLUSH;
	page.form = khttpd_accept_form(&ask->conn->req, ask->head);
	page.text = kvmalloc(KHTTPD_STATUS_SIZE, GFP_KERNEL);
	if (!page.text)
		return khttpd_reply_status(ask, 503);
	khttpd_page_write(&page);
	return khttpd_reply_made(ask, page.text, page.len, types[page.form]);
}
