/* SPDX-License-Identifier: GPL-2.0 */
/* What sends clients from HTTP to HTTPS. Pure: see pure.h. */
#ifndef _KHTTPD_HTTPS_H
#define _KHTTPD_HTTPS_H

#include "pure.h"

/* Longest value of Strict-Transport-Security, a newline and NUL included. */
#define KHTTPD_HSTS_SIZE	64

bool khttpd_https_hsts_valid(const char *value);
size_t khttpd_https_host(const u8 *host, size_t len);

#endif /* _KHTTPD_HTTPS_H */
