/* SPDX-License-Identifier: GPL-2.0 */
/* Media types by file name. Pure: see pure.h. */
#ifndef _KHTTPD_MIME_H
#define _KHTTPD_MIME_H

#include "pure.h"

bool khttpd_mime_valid(const char *text, size_t len, size_t max);
const char *khttpd_mime_find(const char *text, size_t len, const char *name,
			     size_t name_len, size_t *type_len);

#endif /* _KHTTPD_MIME_H */
