/* SPDX-License-Identifier: GPL-2.0 */
/* Where rules send a request: to another place, or to another file. Pure: see pure.h. */
#ifndef _KHTTPD_TARGET_H
#define _KHTTPD_TARGET_H

#include "path.h"
#include "rules.h"

/* Longest TARGET of a rule. */
#define KHTTPD_TARGET_MAX	1000

bool khttpd_target_valid(const struct khttpd_rule *rule, const char *text);
size_t khttpd_target_location(const struct khttpd_rules *rules, const struct khttpd_rule *rule,
			      const char *name, size_t len, char *out, size_t size, bool *query);
enum khttpd_path_result khttpd_target_path(const struct khttpd_rules *rules,
					   const struct khttpd_rule *rule,
					   struct khttpd_path *path);

#endif /* _KHTTPD_TARGET_H */
