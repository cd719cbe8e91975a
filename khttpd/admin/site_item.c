// SPDX-License-Identifier: GPL-2.0
/* Directories of sites: made, removed, and left by the last server. */
#include <linux/module.h>
#include <linux/slab.h>
#include "../listen/handover.h"
#include "config.h"

/* Files of a site that names no other user are read as nobody:nogroup. */
#define KHTTPD_ID_NOBODY	65534

LIST_HEAD(khttpd_site_items);	/* khttpd_config_lock */

/* A server has closed a listener: sites of which it was the last one end, if they are to. */
static void khttpd_site_items_leave(struct work_struct *work)
{
	struct khttpd_site_item *item;

	mutex_lock(&khttpd_config_lock);
	list_for_each_entry(item, &khttpd_site_items, node) {
		if (item->site && item->site->options.until_closed &&
		    list_empty(&item->listeners) && khttpd_attached_over(item->site))
			khttpd_site_life_stop(item);
	}
	mutex_unlock(&khttpd_config_lock);
}

static DECLARE_WORK(khttpd_site_leaver, khttpd_site_items_leave);

/* Context: the server's process, which need not wait for a site that is being stopped. */
static void khttpd_site_items_closed(void)
{
	queue_work(system_unbound_wq, &khttpd_site_leaver);
}

/**
 * khttpd_site_items_init() - there are no sites yet
 */
void khttpd_site_items_init(void)
{
	khttpd_interpose_watch(khttpd_site_items_closed);
}

/**
 * khttpd_site_items_exit() - there are none any more
 */
void khttpd_site_items_exit(void)
{
	cancel_work_sync(&khttpd_site_leaver);
}

static struct config_item *khttpd_site_make_listener(struct config_group *group,
						     const char *name)
{
	return khttpd_listener_item_make(to_site(&group->cg_item), name);
}

static void khttpd_site_drop_listener(struct config_group *group,
				      struct config_item *item)
{
	khttpd_listener_item_drop(item);
}

static void khttpd_site_item_release(struct config_item *item)
{
	struct khttpd_site_item *site = to_site(item);

	kfree(site->docroot);
	kfree(site->proxies);
	kfree(site->pem.certificate);
	kfree(site->pem.key);
	kfree(site->pem.client_ca);
	kfree(site->rules);
	kfree(site->options.rules);
	kvfree(site->options.types);
	kfree(site);
}

static struct configfs_item_operations khttpd_site_item_ops = {
	.release = khttpd_site_item_release,
};

static struct configfs_group_operations khttpd_site_group_ops = {
	.make_item = khttpd_site_make_listener,
	.drop_item = khttpd_site_drop_listener,
};

static const struct config_item_type khttpd_site_type = {
	.ct_item_ops = &khttpd_site_item_ops,
	.ct_group_ops = &khttpd_site_group_ops,
	.ct_attrs = khttpd_site_attrs,
	.ct_bin_attrs = khttpd_site_bin_attrs,
	.ct_owner = THIS_MODULE,
};

/**
 * khttpd_site_item_make() - a site's directory
 * @name: its name
 *
 * Return: the group or an error.
 */
struct config_group *khttpd_site_item_make(const char *name)
{
	struct khttpd_site_item *site;

	if (strlen(name) >= KHTTPD_SITE_NAME)
		return ERR_PTR(-ENAMETOOLONG);
	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return ERR_PTR(-ENOMEM);
	config_group_init_type_name(&site->group, name, &khttpd_site_type);
	INIT_LIST_HEAD(&site->listeners);
	mutex_lock(&khttpd_config_lock);
	list_add_tail(&site->node, &khttpd_site_items);
	mutex_unlock(&khttpd_config_lock);
	strscpy(site->options.index, "index.html",
		sizeof(site->options.index));
	site->uid = KHTTPD_ID_NOBODY;
	site->gid = KHTTPD_ID_NOBODY;
	return &site->group;
}

/**
 * khttpd_site_item_drop() - the directory is removed
 * @item: the site's
 */
void khttpd_site_item_drop(struct config_item *item)
{
	mutex_lock(&khttpd_config_lock);
	khttpd_site_life_stop(to_site(item));
	list_del(&to_site(item)->node);
	mutex_unlock(&khttpd_config_lock);
	khttpd_tlsdev_changed();
	config_item_put(item);
}

/**
 * khttpd_site_item_running() - the site of a directory
 * @item: the site's
 *
 * Return: the running site with a reference, or NULL.
 */
struct khttpd_site *khttpd_site_item_running(struct config_item *item)
{
	struct khttpd_site *site = NULL;

	mutex_lock(&khttpd_config_lock);
	if (to_site(item)->site)
		site = khttpd_site_get(to_site(item)->site);
	mutex_unlock(&khttpd_config_lock);
	return site;
}
