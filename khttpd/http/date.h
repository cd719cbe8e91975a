/* SPDX-License-Identifier: GPL-2.0 */
/* Dates as HTTP writes them, RFC 9110 section 5.6.7. Pure: see pure.h. */
#ifndef _KHTTPD_DATE_H
#define _KHTTPD_DATE_H

#include "pure.h"

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
#define KHTTPD_DATE_LEN		29

void khttpd_date_format(char out[static KHTTPD_DATE_LEN], s64 time);
bool khttpd_date_parse(const u8 *s, size_t len, s64 now, s64 *time);

#endif /* _KHTTPD_DATE_H */
