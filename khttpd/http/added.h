/* SPDX-License-Identifier: GPL-2.0 */
/* Header fields that a site's rules add. Pure: see pure.h. */
#ifndef _KHTTPD_ADDED_H
#define _KHTTPD_ADDED_H

#include "rules.h"

const char *khttpd_added_next(const struct khttpd_rules *rules, const char *name, size_t len,
			      unsigned int *from, size_t *field_len);

#endif /* _KHTTPD_ADDED_H */
