/* SPDX-License-Identifier: GPL-2.0 */
/* Walks beneath the root of a site (walk.c). */
#ifndef _KHTTPD_WALK_H
#define _KHTTPD_WALK_H

#include <linux/namei.h>
#include "../http/path.h"
#include "site.h"

int khttpd_walk(struct khttpd_site *site, const char *name, unsigned int flags,
		struct path *result);
const struct super_block *khttpd_walk_sb(struct khttpd_site *site,
					 struct khttpd_path *path);
bool khttpd_walk_named(const char *path, struct dentry *dentry, u32 *left);

#endif /* _KHTTPD_WALK_H */
