/* SPDX-License-Identifier: GPL-2.0 */
/* A line of a site's rules. Pure: see pure.h. */
#ifndef _KHTTPD_RULELINE_H
#define _KHTTPD_RULELINE_H

#include "rules.h"

bool khttpd_ruleline_same_field(const char *text, const struct khttpd_rule *a,
				const struct khttpd_rule *b);
bool khttpd_ruleline_take(struct khttpd_rule *rule, const char *text, size_t end, size_t at,
			  bool *empty);

#endif /* _KHTTPD_RULELINE_H */
