/* SPDX-License-Identifier: GPL-2.0 */
/* A document root's path may come to name another directory (docroot.c). */
#ifndef _KHTTPD_DOCROOT_H
#define _KHTTPD_DOCROOT_H

#include <linux/path.h>

struct config_item;
struct khttpd_docroot;

/**
 * typedef khttpd_docroot_moved - the path names another directory, or may
 * @item: the site's directory in configfs
 * @docroot: who says so; may have been ended meanwhile
 * @root: what the path names now
 *
 * Context: process, without locks.
 */
typedef void (*khttpd_docroot_moved)(struct config_item *item,
				     const struct khttpd_docroot *docroot,
				     const struct path *root);

struct khttpd_docroot *khttpd_docroot_begin(const char *name, struct config_item *item,
					    khttpd_docroot_moved moved);
void khttpd_docroot_end(struct khttpd_docroot *docroot);
int khttpd_docroot_init(void);
void khttpd_docroot_exit(void);

#endif /* _KHTTPD_DOCROOT_H */
