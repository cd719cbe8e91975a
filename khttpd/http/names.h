/* SPDX-License-Identifier: GPL-2.0 */
/* Names of virtual hosts. Pure: see pure.h. */
#ifndef _KHTTPD_NAMES_H
#define _KHTTPD_NAMES_H

#include "pure.h"

/* Longest text of a site's names, its NUL included. */
#define KHTTPD_NAMES_SIZE	1024

bool khttpd_names_valid(const char *names);
int khttpd_names_match(const char *names, const u8 *host, size_t len);

#endif /* _KHTTPD_NAMES_H */
