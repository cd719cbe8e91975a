/* SPDX-License-Identifier: GPL-2.0 */
/* What a request looks for, and what there is. */
#ifndef _KHTTPD_RESOLVE_H
#define _KHTTPD_RESOLVE_H

#include "entry.h"

/**
 * struct khttpd_found - what there is for a path
 * @entry: the file (reference held), or NULL
 * @error: why there is none, a negative errno, or 0
 * @page: @entry is the page that explains @error
 * @text: instead: the listing of a directory (kvmalloc)
 * @len: its length
 */
struct khttpd_found {
	struct khttpd_entry *entry;
	int error;
	bool page;
	char *text;
	size_t len;
};

/**
 * struct khttpd_wish - what is looked for
 * @dir_len: length of the directory's path if an index file is looked for; -1
 *	if a file was asked for
 * @status: only the page for this error, whose path the rules have; or 0
 * @size: then: as in struct khttpd_ask
 * @server: what is missing is a server's: nobody wants to know more about it
 * @json: a listing is to be JSON
 * @fallback: @path is that of a file that stands in for nothing
 * @codings: which codings the client takes
 * @path: what, index file's name included; still a directory if the site has
 *	no index files
 */
struct khttpd_wish {
	s16 dir_len;
	u16 status;
	u64 size;
	bool server;
	bool json;
	bool fallback;
	struct khttpd_codings codings;
	struct khttpd_path path;
};

/* lookup.c */
bool khttpd_lookup_hidden(const struct khttpd_site *site, const char *name, size_t len);
int khttpd_lookup_try(struct khttpd_site *site, struct khttpd_path *path);
struct khttpd_entry *khttpd_lookup_open(struct khttpd_site *site,
					const struct khttpd_path *path,
					enum khttpd_coding coding);

/* listing.c */
int khttpd_listing(struct khttpd_site *site, const struct khttpd_wish *wish,
		   char **text, size_t *len);

/* resolve.c */
bool khttpd_resolve_now(struct khttpd_site *site, struct khttpd_wish *wish,
			struct khttpd_found *found);
void khttpd_resolve(struct khttpd_site *site, struct khttpd_wish *wish,
		    struct khttpd_found *found);

#endif /* _KHTTPD_RESOLVE_H */
