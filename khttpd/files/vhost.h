/* SPDX-License-Identifier: GPL-2.0 */
/* Which of several sites behind one is meant (vhost.c). */
#ifndef _KHTTPD_VHOST_H
#define _KHTTPD_VHOST_H

#include <linux/rculist.h>
#include "../http/access.h"
#include "../http/path.h"
#include "site.h"

int khttpd_vhost_add(struct khttpd_site *front, struct khttpd_site *site);
int khttpd_vhost_copy(struct khttpd_site *front, const struct khttpd_site *from);
int khttpd_vhost_replace(struct khttpd_site *front, struct khttpd_site *old,
			 struct khttpd_site *site);
void khttpd_vhost_del(struct khttpd_site *front, struct khttpd_site *site);
void khttpd_vhost_clear(struct khttpd_site *front);
struct khttpd_site *khttpd_vhost_search(struct khttpd_site *front, const u8 *host,
					size_t len);

bool khttpd_vhosts_any(const struct khttpd_site *front,
		       bool (*test)(const struct khttpd_site *site, struct khttpd_path *path),
		       struct khttpd_path *path);

/* As khttpd_vhost_search(); mostly there are none. */
static inline struct khttpd_site *khttpd_vhost_find(struct khttpd_site *front,
						    const u8 *host, size_t len)
{
	return likely(list_empty(&front->vhosts)) ? front :
	       khttpd_vhost_search(front, host, len);
}

/* May a site, or one behind it, refuse clients by their addresses? */
static inline bool khttpd_vhosts_judge(const struct khttpd_site *front)
{
	return unlikely(READ_ONCE(front->judges)) || khttpd_access_judges(front->options.rules);
}

#endif /* _KHTTPD_VHOST_H */
