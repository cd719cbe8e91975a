// SPDX-License-Identifier: GPL-2.0
/* Ends of headers: when a file expires, the date, and whether the connection goes on. */
#include "tails.h"

/**
 * khttpd_tails_rewrite() - write a date
 * @tails: ends of headers; nobody reads them now
 * @now: the date
 *
 * Context: any.
 */
void khttpd_tails_rewrite(struct khttpd_tails *tails, time64_t now)
{
	static const char * const ends[KHTTPD_TAILS] = {
		[KHTTPD_TAIL_PLAIN] = "\r\n\r\n",
		[KHTTPD_TAIL_CLOSE] = "\r\nConnection: close\r\n\r\n",
		[KHTTPD_TAIL_KEEPALIVE] = "\r\nConnection: keep-alive\r\n\r\n",
	};
	int i;

	tails->second = now;
	for (i = 0; i < KHTTPD_TAILS; i++) {
		size_t len = strlen(ends[i]);

		BUILD_BUG_ON(KHTTPD_DATE_LEN + 32 > KHTTPD_TAIL_MAX);
		khttpd_date_format(tails->text[i], now);
		memcpy(tails->text[i] + KHTTPD_DATE_LEN, ends[i], len);
		tails->len[i] = KHTTPD_DATE_LEN + len;
	}
}

/**
 * khttpd_tails_expires_write() - the same, for a file that has such a time
 * @entry: the file
 * @now: the time of the reply
 * @to: KHTTPD_EXPIRES_SIZE bytes; terminated
 *
 * Context: any.
 * Return: its length.
 */
u32 khttpd_tails_expires_write(const struct khttpd_entry *entry, time64_t now, char *to)
{
	char date[KHTTPD_DATE_LEN];

	khttpd_date_format(date, now + entry->seconds);
	return scnprintf(to, KHTTPD_EXPIRES_SIZE, "Expires: %.*s\r\nDate: ",
			 KHTTPD_DATE_LEN, date);
}

/**
 * khttpd_tails_hsts() - the field by which a site is asked for by HTTPS only
 * @hsts: its value, not empty
 * @to: KHTTPD_HSTS_FIELD bytes; terminated
 *
 * Context: any.
 * Return: its length.
 */
u32 khttpd_tails_hsts(const char *hsts, char *to)
{
	return scnprintf(to, KHTTPD_HSTS_FIELD, "Strict-Transport-Security: %s\r\n", hsts);
}

/**
 * khttpd_tails_fields() - the same with khttpd_tails_expires() behind it
 * @hsts: its value, not empty
 * @entry: the file
 * @now: the time of the reply
 * @to: KHTTPD_HSTS_FIELD + KHTTPD_EXPIRES_SIZE bytes; terminated
 *
 * The text takes the place of the "Date: " that ends the file's header.
 *
 * Context: any.
 * Return: its length.
 */
u32 khttpd_tails_fields(const char *hsts, const struct khttpd_entry *entry, time64_t now, char *to)
{
	u32 len = khttpd_tails_hsts(hsts, to);
	u32 expires = khttpd_tails_expires(entry, now, to + len);

	if (!expires)
		expires = scnprintf(to + len, KHTTPD_EXPIRES_SIZE, "Date: ");
	return len + expires;
}
