/* SPDX-License-Identifier: GPL-2.0 */
/* Names that are not served by default. Pure: see pure.h. */
#ifndef _KHTTPD_HIDDEN_H
#define _KHTTPD_HIDDEN_H

#include "pure.h"

bool khttpd_hidden(const char *name, size_t len);
bool khttpd_hidden_dir(const char *name, size_t len);

#endif /* _KHTTPD_HIDDEN_H */
