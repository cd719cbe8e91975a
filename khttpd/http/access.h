/* SPDX-License-Identifier: GPL-2.0 */
/* Which clients a site serves, by their addresses. Pure: see pure.h. */
#ifndef _KHTTPD_ACCESS_H
#define _KHTTPD_ACCESS_H

#include "rules.h"

bool khttpd_access_parse(const char *text, size_t len, u8 *address, u8 *bits);
bool khttpd_access_refuses(const struct khttpd_rules *rules, const u8 *address);

/* May a site refuse clients by their addresses? */
static inline bool khttpd_access_judges(const struct khttpd_rules *rules)
{
	return unlikely(rules) && rules->kinds & BIT(KHTTPD_RULE_BLOCK);
}

#endif /* _KHTTPD_ACCESS_H */
