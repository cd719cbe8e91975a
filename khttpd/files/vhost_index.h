/* SPDX-License-Identifier: GPL-2.0 */
/* Names of virtual hosts, hashed (vhost_index.c). */
#ifndef _KHTTPD_VHOST_INDEX_H
#define _KHTTPD_VHOST_INDEX_H

#include <linux/rcupdate.h>
#include "site.h"

/**
 * struct khttpd_vhost_name - a name of a site
 * @site: whose it is; the list of the site in front has a reference
 * @text: in the site's options, as it was written; without the "*" of a wildcard
 * @next: index of the next one of the same hash value and 1, 0 at the end
 * @len: its length
 * @wild: it is what follows a "*"
 */
struct khttpd_vhost_name {
	struct khttpd_site *site;
	const char *text;
	u32 next;
	u8 len;
	bool wild;
};

/**
 * struct khttpd_vhost_index - all names of the sites behind one; does not change once it is seen
 * @rcu: for its end
 * @heads: first of each hash value's names, as their @next
 * @mask: number of @heads, a power of 2, less 1
 * @used: how many there are; the order of their sites
 * @room: how many there can be
 * @depths: bit N: there is a wildcard with N dots; the last bit for those with more
 * @names: the names
 */
struct khttpd_vhost_index {
	struct rcu_head rcu;
	u32 *heads;
	u32 mask;
	u32 used;
	u32 room;
	u64 depths;
	struct khttpd_vhost_name names[];
};

struct khttpd_vhost_index *khttpd_vhost_index_alloc(u32 room);
void khttpd_vhost_index_add(struct khttpd_vhost_index *index, struct khttpd_site *site);
struct khttpd_site *khttpd_vhost_index_find(const struct khttpd_vhost_index *index,
					    const u8 *host, size_t len);

#endif /* _KHTTPD_VHOST_INDEX_H */
