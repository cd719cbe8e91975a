/* SPDX-License-Identifier: GPL-2.0 */
/* Heads that have just been parsed and come again. Pure: see pure.h. */
#ifndef _KHTTPD_AGAIN_H
#define _KHTTPD_AGAIN_H

#include "parse.h"

/* Longest head that is kept for comparison. */
#define KHTTPD_AGAIN_MAX	1024

/**
 * struct khttpd_again - a head and what it was parsed to
 * @len: length of the head, 0 if there is none
 * @line: offset behind its request line; 0 if only the whole head is of use
 * @same: the request parsed last was this one, byte for byte, when it came
 * @req: what the parser says of it
 * @head: its bytes
 */
struct khttpd_again {
	u16 len;
	u16 line;
	bool same;
	struct khttpd_request req;
	u8 head[KHTTPD_AGAIN_MAX];
};

bool khttpd_again_is(const struct khttpd_again *again, const u8 *buf, size_t len);
void khttpd_again_take(struct khttpd_request *req, struct khttpd_again *again);
enum khttpd_parse_result khttpd_again_parse(struct khttpd_request *req,
					    struct khttpd_again *again,
					    const u8 *buf, size_t len);
enum khttpd_parse_result khttpd_again_parse_beside(struct khttpd_request *req,
						   struct khttpd_again *again,
						   const struct khttpd_again *other,
						   const u8 *buf, size_t len);

#endif /* _KHTTPD_AGAIN_H */
