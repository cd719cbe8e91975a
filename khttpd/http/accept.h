/* SPDX-License-Identifier: GPL-2.0 */
/* What a client takes: Accept-Encoding, and a few types in Accept. Pure: see pure.h. */
#ifndef _KHTTPD_ACCEPT_H
#define _KHTTPD_ACCEPT_H

#include "parse.h"

/* Content codings, the best first. */
enum khttpd_coding {
	KHTTPD_CODING_BR,
	KHTTPD_CODING_ZSTD,
	KHTTPD_CODING_GZIP,
	KHTTPD_CODING_IDENTITY,
	KHTTPD_CODINGS
};

/* Forms in which something can be told, by types of Accept. */
enum khttpd_form {
	KHTTPD_FORM_HTML,	/* text/html, and whatever is not below */
	KHTTPD_FORM_JSON,	/* application/json */
	KHTTPD_FORM_TEXT,	/* text/plain */
};

extern const char * const khttpd_coding_name[KHTTPD_CODINGS];
extern const char * const khttpd_coding_suffix[KHTTPD_CODINGS];

/**
 * struct khttpd_codings - weights of the codings
 * @weight: 0 (never) to 1000, by enum khttpd_coding
 */
struct khttpd_codings {
	u16 weight[KHTTPD_CODINGS];
};

void khttpd_accept_codings(const struct khttpd_request *req, const u8 *head,
			   struct khttpd_codings *codings);
enum khttpd_coding khttpd_accept_choose(const struct khttpd_codings *codings,
					unsigned int available);
bool khttpd_accept_json(const struct khttpd_request *req, const u8 *head);
enum khttpd_form khttpd_accept_form(const struct khttpd_request *req,
				    const u8 *head);

#endif /* _KHTTPD_ACCEPT_H */
