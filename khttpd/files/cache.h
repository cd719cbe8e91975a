/* SPDX-License-Identifier: GPL-2.0 */
/* Open files by site and path (cache.c). */
#ifndef _KHTTPD_CACHE_H
#define _KHTTPD_CACHE_H

#include "entry.h"

int khttpd_cache_init(void);
void khttpd_cache_exit(void);
struct khttpd_entry *khttpd_cache_find(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding);
struct khttpd_entry *khttpd_cache_peek(struct khttpd_site *site,
				       const struct khttpd_path *path,
				       enum khttpd_coding coding);
unsigned long khttpd_cache_departures(void);
struct khttpd_entry *khttpd_cache_repeat(const struct khttpd_site *site,
					 struct khttpd_entry *entry,
					 unsigned long departures);
struct khttpd_entry *khttpd_cache_insert(struct khttpd_entry *entry);
void khttpd_cache_purge(struct khttpd_site *site);
void khttpd_cache_stats(u32 *entries);

#endif /* _KHTTPD_CACHE_H */
