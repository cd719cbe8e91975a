/* SPDX-License-Identifier: GPL-2.0 */
/* Ends of headers: the date, and whether the connection goes on (tails.c). */
#ifndef _KHTTPD_TAILS_H
#define _KHTTPD_TAILS_H

#include <linux/ktime.h>
#include "../files/entry.h"
#include "../http/date.h"
#include "../http/https.h"
#include "../http/parse.h"

/* Ends of a header, after "Date: ". */
enum khttpd_tail {
	KHTTPD_TAIL_PLAIN,
	KHTTPD_TAIL_CLOSE,
	KHTTPD_TAIL_KEEPALIVE,
	KHTTPD_TAILS
};

#define KHTTPD_TAIL_MAX		64
/* "Expires: ", a date, CRLF, "Date: ", NUL */
#define KHTTPD_EXPIRES_SIZE	(9 + KHTTPD_DATE_LEN + 2 + 6 + 1)
/* Longest field of HSTS, with CRLF. */
#define KHTTPD_HSTS_FIELD	(27 + KHTTPD_HSTS_SIZE + 2)

/**
 * struct khttpd_tails - ends of headers, date included, for this second
 * @second: for which second they were written
 * @text: the ends, by enum khttpd_tail
 * @len: their lengths
 */
struct khttpd_tails {
	time64_t second;
	char text[KHTTPD_TAILS][KHTTPD_TAIL_MAX];
	u8 len[KHTTPD_TAILS];
};

void khttpd_tails_rewrite(struct khttpd_tails *tails, time64_t now);

/**
 * khttpd_tails_write() - write the date for this second
 * @tails: ends of headers; nobody reads them now
 *
 * Context: any.
 */
static inline void khttpd_tails_write(struct khttpd_tails *tails)
{
	time64_t now = ktime_get_real_seconds();

	if (unlikely(now != tails->second))
		khttpd_tails_rewrite(tails, now);
}

/* How the header of a reply ends. @close: the connection ends, too. */
static inline enum khttpd_tail khttpd_tails_choose(const struct khttpd_request *req,
						   bool close)
{
	if (close)
		return KHTTPD_TAIL_CLOSE;
	return req->minor ? KHTTPD_TAIL_PLAIN : KHTTPD_TAIL_KEEPALIVE;
}

u32 khttpd_tails_expires_write(const struct khttpd_entry *entry, time64_t now, char *to);
u32 khttpd_tails_hsts(const char *hsts, char *to);
u32 khttpd_tails_fields(const char *hsts, const struct khttpd_entry *entry, time64_t now, char *to);

/**
 * khttpd_tails_expires() - write when a file expires, and begin the date
 * @entry: the file
 * @now: the time of the reply
 * @to: KHTTPD_EXPIRES_SIZE bytes; terminated
 *
 * The text takes the place of the "Date: " that ends the file's header.
 *
 * Context: any.
 * Return: its length, 0 if the file has no such time.
 */
static inline u32 khttpd_tails_expires(const struct khttpd_entry *entry, time64_t now,
				       char *to)
{
	to[0] = '\0';
	return likely(!entry->expires) ? 0 : khttpd_tails_expires_write(entry, now, to);
}

#endif /* _KHTTPD_TAILS_H */
