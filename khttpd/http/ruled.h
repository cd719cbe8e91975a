/* SPDX-License-Identifier: GPL-2.0 */
/* Whose is a request, by a site's rules? Pure: see pure.h. */
#ifndef _KHTTPD_RULED_H
#define _KHTTPD_RULED_H

#include "parse.h"
#include "path.h"
#include "rules.h"

enum khttpd_rule_kind khttpd_ruled_path(const struct khttpd_rules *rules,
					struct khttpd_path *path);
bool khttpd_ruled_rewrite(const struct khttpd_rules *rules, struct khttpd_path *path,
			  enum khttpd_path_result *result);
bool khttpd_ruled_fallback(const struct khttpd_rules *rules, struct khttpd_path *path, int dir_len);
size_t khttpd_ruled_location(const struct khttpd_rules *rules, struct khttpd_path *path, char *out,
			     size_t size, bool *query, u16 *status);
bool khttpd_ruled_request(const struct khttpd_rules *rules,
			  const struct khttpd_request *req, const u8 *head);

#endif /* _KHTTPD_RULED_H */
