/* SPDX-License-Identifier: GPL-2.0 */
/* Names of virtual hosts. Pure: see pure.h. */
#ifndef _KHTTPD_NAMES_H
#define _KHTTPD_NAMES_H

#include "pure.h"

/* Longest text of a site's names, its NUL included. */
#define KHTTPD_NAMES_SIZE	1024
/* Longest of them, "*" included: RFC 1035 2.3.4. */
#define KHTTPD_HOST_MAX		255

bool khttpd_names_valid(const char *names);
size_t khttpd_names_next(const char **names, const char **name);
size_t khttpd_names_bare(const u8 *host, size_t len);
bool khttpd_names_same(const char *name, const u8 *host, size_t len);
int khttpd_names_match(const char *names, const u8 *host, size_t len);

#endif /* _KHTTPD_NAMES_H */
