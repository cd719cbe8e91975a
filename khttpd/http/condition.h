/* SPDX-License-Identifier: GPL-2.0 */
/* Conditional requests: entity tags, dates, the precedence of RFC 9110 section
 * 13.2.2. Pure: see pure.h.
 */
#ifndef _KHTTPD_CONDITION_H
#define _KHTTPD_CONDITION_H

#include "parse.h"

/* Fields that make a request other than a plain one, for a quick look. */
#define KHTTPD_CONDITIONS						\
	(BIT(KHTTPD_FIELD_IF_MATCH) | BIT(KHTTPD_FIELD_IF_NONE_MATCH) |	\
	 BIT(KHTTPD_FIELD_IF_MODIFIED_SINCE) |				\
	 BIT(KHTTPD_FIELD_IF_UNMODIFIED_SINCE))

enum khttpd_condition {
	KHTTPD_CONDITION_TRUE,		/* answer as if there were none */
	KHTTPD_CONDITION_UNCHANGED,	/* 304 */
	KHTTPD_CONDITION_FAILED,	/* 412 */
};

/**
 * struct khttpd_validators - what identifies the state of a file
 * @tag: entity tag, quotes included, without "W/"
 * @tag_len: its length
 * @weak: it is a weak one
 * @mtime: Last-Modified, seconds since 1970
 * @now: the time, to complete two-digit years
 */
struct khttpd_validators {
	const char *tag;
	u16 tag_len;
	bool weak;
	s64 mtime;
	s64 now;
};

enum khttpd_condition khttpd_condition(const struct khttpd_request *req,
				       const u8 *head,
				       const struct khttpd_validators *is);
bool khttpd_condition_range(const struct khttpd_request *req, const u8 *head,
			    const struct khttpd_validators *is);

#endif /* _KHTTPD_CONDITION_H */
