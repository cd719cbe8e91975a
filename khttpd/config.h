/* SPDX-License-Identifier: GPL-2.0 */
/* The directories of /sys/kernel/config/khttpd/, as their files see each other:
 * root, sites, listeners. What is written takes effect when "enabled" is set,
 * and cannot be changed while it is.
 */
#ifndef _KHTTPD_CONFIG_H
#define _KHTTPD_CONFIG_H

#include <linux/configfs.h>
#include "khttpd.h"

/**
 * struct khttpd_site_item - a site's directory
 * @group: configfs's part
 * @node: in the list of all
 * @listeners: its listeners' directories
 * @docroot: path of the document root, or NULL
 * @options: what else it does; owned
 * @rules: text of @options.rules
 * @behind: name of the site whose requests it gets, or empty
 * @uid: user as whom files are read
 * @gid: group
 * @site: the running site while enabled, or NULL
 */
struct khttpd_site_item {
	struct config_group group;
	struct list_head node;
	struct list_head listeners;
	char *docroot;
	struct khttpd_options options;
	char *rules;
	char behind[KHTTPD_SITE_NAME];
	u32 uid;
	u32 gid;
	struct khttpd_site *site;
};

/**
 * struct khttpd_listener_item - a listener's directory
 * @item: configfs's part
 * @node: in its site's @listeners
 * @owner: the site
 * @family: AF_INET, AF_INET6 or AF_NET6
 * @address: as text
 * @port: in host byte order
 * @listener: the open listener while the site is enabled, or NULL
 */
struct khttpd_listener_item {
	struct config_item item;
	struct list_head node;
	struct khttpd_site_item *owner;
	int family;
	char address[64];
	u16 port;
	struct khttpd_listener *listener;
};

extern struct mutex khttpd_config_lock;	/* all items */

/* config_listener.c */
struct config_item *khttpd_listener_item_make(struct khttpd_site_item *owner,
					      const char *name);
void khttpd_listener_item_drop(struct config_item *item);
int khttpd_listener_item_start(struct khttpd_listener_item *item,
			       struct khttpd_site *site);
void khttpd_listener_item_stop(struct khttpd_listener_item *item);

/* config_site.c */
struct config_group *khttpd_site_item_make(const char *name);
void khttpd_site_item_drop(struct config_item *item);
struct khttpd_site *khttpd_site_item_running(struct config_item *item);

#endif /* _KHTTPD_CONFIG_H */
