/* SPDX-License-Identifier: GPL-2.0 */
/* Connections that a server gives back (giveback.c). */
#ifndef _KHTTPD_GIVEBACK_H
#define _KHTTPD_GIVEBACK_H

#include <linux/types.h>

struct socket;

int khttpd_giveback(const struct socket *listening, int fd, u8 *head, u32 len);

#endif /* _KHTTPD_GIVEBACK_H */
