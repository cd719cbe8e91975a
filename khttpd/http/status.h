/* SPDX-License-Identifier: GPL-2.0 */
/* Statuses and their words. Pure: see pure.h. */
#ifndef _KHTTPD_STATUS_H
#define _KHTTPD_STATUS_H

#include "pure.h"

const char *khttpd_status_reason(u16 code);
u16 khttpd_status_of(int err);

#endif /* _KHTTPD_STATUS_H */
