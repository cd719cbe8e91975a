/* SPDX-License-Identifier: GPL-2.0 */
/* The face to operators: generic netlink, and what it tells others. */
#ifndef _NET6_ADMIN_H
#define _NET6_ADMIN_H

int net6_genl_init(void);
void net6_genl_exit(void);

#endif /* _NET6_ADMIN_H */
