/* SPDX-License-Identifier: GPL-2.0 */
/* The directories of /sys/kernel/config/khttpd/, as their files see each other: root, sites,
 * listeners. Attributes take effect when "enabled" is written. If it was set already, the running
 * site takes another form. An open listener cannot be changed; it can be removed, and another one
 * made.
 */
#ifndef _KHTTPD_CONFIG_H
#define _KHTTPD_CONFIG_H

#include <linux/configfs.h>
#include <linux/poll.h>
#include "../files/site.h"
#include "../limits.h"
#include "../listen/listener.h"

/* Longest paths of a site's certificates, their NUL included. */
#define KHTTPD_PEM_PATHS	512

/**
 * struct khttpd_site_item - a site's directory
 * @group: configfs's part
 * @node: in the list of all
 * @listeners: its listeners' directories
 * @docroot: path of the document root, or NULL
 * @options: what else it does; owned
 * @rules: text of @options.rules
 * @behind: name of the site whose requests it gets, or empty
 * @proxies: text of @options.proxies, or NULL
 * @pem: paths of files that khttpd-tlsd reads, one a line; each may be NULL
 * @pem.certificate: the site's certificates
 * @pem.key: and their keys
 * @pem.client_ca: the authorities of its clients' certificates
 * @front: that site's directory as long as it is behind it, or NULL
 * @uid: user as whom files are read
 * @gid: group
 * @site: the running site while enabled, or NULL
 * @follow: its document root's path, or NULL if it is not followed
 * @pending: it differs from what the directory says: something was written since, or
 *	the site in front of it has gone
 */
struct khttpd_site_item {
	struct config_group group;
	struct list_head node;
	struct list_head listeners;
	char *docroot;
	struct khttpd_options options;
	char *rules;
	char behind[KHTTPD_SITE_NAME];
	char *proxies;
	struct {
		char *certificate;
		char *key;
		char *client_ca;
	} pem;
	struct khttpd_site_item *front;
	u32 uid;
	u32 gid;
	struct khttpd_site *site;
	struct khttpd_docroot *follow;
	bool pending;
};

/**
 * struct khttpd_listener_item - a listener's directory
 * @item: configfs's part
 * @node: in its site's @listeners
 * @owner: the site
 * @family: AF_INET, AF_INET6 or AF_NET6
 * @address: as text
 * @port: in host byte order
 * @options: of its socket; @options.cpu is not used
 * @reuseport: there is a socket for each CPU
 * @listeners: the open ones while the site is enabled, or NULL
 * @count: how many
 * @fresh: they were opened for the change that is being made
 * @shut: they were closed by writing to "open"; replies under way go on
 */
struct khttpd_listener_item {
	struct config_item item;
	struct list_head node;
	struct khttpd_site_item *owner;
	int family;
	char address[64];
	u32 port;
	struct khttpd_sockopts options;
	bool reuseport;
	struct khttpd_listener **listeners;
	unsigned int count;
	bool fresh;
	bool shut;
};

extern struct mutex khttpd_config_lock;	/* all items */
extern struct list_head khttpd_site_items;	/* all sites' directories; khttpd_config_lock */

static inline struct khttpd_site_item *to_site(struct config_item *item)
{
	return container_of(to_config_group(item), struct khttpd_site_item,
			    group);
}

/* dev.c */
int khttpd_dev_init(void);
void khttpd_dev_exit(void);

/* backdev.c */
int khttpd_backdev_init(void);
void khttpd_backdev_exit(void);

/* tlsdev.c */
int khttpd_tlsdev_open(struct inode *inode, struct file *file);
int khttpd_tlsdev_release(struct inode *inode, struct file *file);
__poll_t khttpd_tlsdev_poll(struct file *file, poll_table *wait);
long khttpd_tlsdev_ioctl(struct file *file, unsigned int cmd, void __user *user);
void khttpd_tlsdev_changed(void);

/* configfs.c */
int khttpd_configfs_init(void);
void khttpd_configfs_exit(void);
struct khttpd_site *khttpd_configfs_find(const char *name);

/* config.c */
ssize_t khttpd_config_number(u32 *number, u32 least, u32 most,
			     const unsigned int *open, const char *page,
			     size_t len);
ssize_t khttpd_config_switch(bool *on, const unsigned int *open,
			     const char *page, size_t len);

/* listener_item.c */
struct config_item *khttpd_listener_item_make(struct khttpd_site_item *owner,
					      const char *name);
void khttpd_listener_item_drop(struct config_item *item);
int khttpd_listener_item_start(struct khttpd_listener_item *item,
			       struct khttpd_site *site);
void khttpd_listener_item_set_site(struct khttpd_listener_item *item,
				   struct khttpd_site *site);
void khttpd_listener_item_shut(struct khttpd_listener_item *item);
void khttpd_listener_item_stop(struct khttpd_listener_item *item,
			       unsigned long deadline);

/* When replies under way at a listener that stops now must be sent. */
static inline unsigned long khttpd_stop_deadline(void)
{
	return jiffies + msecs_to_jiffies(READ_ONCE(khttpd_limits.stop_timeout));
}

/* site_life.c */
void khttpd_site_life_stop(struct khttpd_site_item *item) __must_hold(&khttpd_config_lock);
int khttpd_site_life_start(struct khttpd_site_item *item) __must_hold(&khttpd_config_lock);
int khttpd_site_life_reload(struct khttpd_site_item *item) __must_hold(&khttpd_config_lock);

/* site_attr.c */
extern struct configfs_attribute *khttpd_site_attrs[];
extern struct configfs_bin_attribute *khttpd_site_bin_attrs[];

/* site_item.c */
void khttpd_site_items_init(void);
void khttpd_site_items_exit(void);
struct config_group *khttpd_site_item_make(const char *name);
void khttpd_site_item_drop(struct config_item *item);
struct khttpd_site *khttpd_site_item_running(struct config_item *item);

#endif /* _KHTTPD_CONFIG_H */
