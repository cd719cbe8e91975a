/* SPDX-License-Identifier: GPL-2.0 */
/* Paths at which there is nothing. */
#ifndef _KHTTPD_NEGATIVE_H
#define _KHTTPD_NEGATIVE_H

#include "../http/path.h"
#include "site.h"

bool khttpd_negative_find(const struct khttpd_site *site,
			  const struct khttpd_path *path);
void khttpd_negative_add(struct khttpd_site *site,
			 const struct khttpd_path *path, bool wait);
void khttpd_negative_prune(const struct khttpd_site *site);
void khttpd_negative_init(void);
void khttpd_negative_exit(void);

#endif /* _KHTTPD_NEGATIVE_H */
