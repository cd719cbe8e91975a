/* SPDX-License-Identifier: GPL-2.0 */
/* Media types by file name, and dates as HTTP writes them. Pure: see pure.h. */
#ifndef _KHTTPD_MIME_H
#define _KHTTPD_MIME_H

#include "pure.h"

/* "Sun, 06 Nov 1994 08:49:37 GMT", RFC 9110 section 5.6.7 */
#define KHTTPD_DATE_LEN		29

const char *khttpd_mime_type(const char *name, size_t len);
void khttpd_date_format(char out[static KHTTPD_DATE_LEN], s64 time);

#endif /* _KHTTPD_MIME_H */
