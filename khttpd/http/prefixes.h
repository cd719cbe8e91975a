/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of addresses. Pure: see pure.h. */
#ifndef _KHTTPD_PREFIXES_H
#define _KHTTPD_PREFIXES_H

#include "pure.h"

#define KHTTPD_PREFIXES_MAX	32
/* Longest text of a list, a newline and NUL included. */
#define KHTTPD_PREFIXES_SIZE	1024

/**
 * struct khttpd_prefixes - addresses of IPv6 and, mapped into it, of IPv4
 * @count: how many prefixes
 * @prefix: each: its address and how many bits of it count
 */
struct khttpd_prefixes {
	u8 count;
	struct khttpd_prefix {
		u8 address[16];
		u8 bits;
	} prefix[KHTTPD_PREFIXES_MAX];
};

bool khttpd_prefixes_parse(struct khttpd_prefixes *list, const char *text);
bool khttpd_prefixes_has(const struct khttpd_prefixes *list, const u8 *address);
bool khttpd_prefixes_net(const char *text, size_t len, u8 *address, u8 *bits);
bool khttpd_prefixes_in(const u8 *prefix, u8 bits, const u8 *address);
bool khttpd_prefixes_address(const char *text, size_t len, u8 *address);

#endif /* _KHTTPD_PREFIXES_H */
