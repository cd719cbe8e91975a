/* SPDX-License-Identifier: GPL-2.0 */
/* The last head, and what answered it. A head that equals it needs no parsing, no normalised path
 * and no search for a file.
 */
#ifndef _KHTTPD_MEMO_H
#define _KHTTPD_MEMO_H

#include "../http/again.h"
#include "../http/path.h"
#include "cache.h"

/**
 * struct khttpd_memo - what is known of the last head, a thread's or a processor's
 * @again: the head
 * @kept: the path that goes with this is that of the head in @again
 * @last: the file that answered the head in @again, if the next such head can be
 *	answered with it; without a reference, for khttpd_cache_repeat(); or NULL
 * @departures: khttpd_cache_departures() before @last was found
 */
struct khttpd_memo {
	struct khttpd_again again;
	bool kept;
	struct khttpd_entry *last;
	unsigned long departures;
};

/* Set @path to that of a request, where it is not that of the same head still. */
static inline enum khttpd_path_result khttpd_memo_path(struct khttpd_memo *memo,
						       struct khttpd_path *path,
						       const struct khttpd_request *req,
						       const u8 *head)
{
	enum khttpd_path_result result;

	if (memo->kept)
		return KHTTPD_PATH_OK;
	result = khttpd_path_normalise(path, head + req->path, req->path_len);
	memo->kept = result == KHTTPD_PATH_OK && memo->again.same;
	return result;
}

/* Will the same head get that file, too, whatever else is in it? */
static inline bool khttpd_memo_lasts(const struct khttpd_memo *memo,
				     const struct khttpd_entry *entry)
{
	return memo->again.same && !entry->variants &&
	       entry->coding == KHTTPD_CODING_IDENTITY;
}

/* What khttpd_cache_repeat() says of @last, which there is. */
static inline struct khttpd_entry *khttpd_memo_repeat(const struct khttpd_memo *memo,
						      const struct khttpd_site *site)
{
	return khttpd_cache_repeat(site, memo->last, memo->departures);
}

#endif /* _KHTTPD_MEMO_H */
