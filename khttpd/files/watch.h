/* SPDX-License-Identifier: GPL-2.0 */
/* Cached files are let go when they change (watch.c). */
#ifndef _KHTTPD_WATCH_H
#define _KHTTPD_WATCH_H

struct khttpd_entry;

int khttpd_watch_init(void (*changed)(struct khttpd_entry *entry));
void khttpd_watch_exit(void);
void khttpd_watch_add(struct khttpd_entry *entry);
void khttpd_watch_del(struct khttpd_entry *entry);
void khttpd_watch_wait(void);

#endif /* _KHTTPD_WATCH_H */
