// SPDX-License-Identifier: GPL-2.0
/* Configuration of listeners: family, address, port. */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/net6.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "config.h"

#define KHTTPD_BACKLOG		1024

static struct khttpd_listener_item *to_listener(struct config_item *item)
{
	return container_of(item, struct khttpd_listener_item, item);
}

/**
 * khttpd_listener_item_stop() - close its listener
 * @item: the directory
 *
 * Context: process, khttpd_config_lock held.
 */
void khttpd_listener_item_stop(struct khttpd_listener_item *item)
{
	lockdep_assert_held(&khttpd_config_lock);
	if (!item->listener)
		return;
	khttpd_listener_stop(item->listener);
	khttpd_listener_put(item->listener);
	item->listener = NULL;
}

/**
 * khttpd_listener_item_start() - open its listener
 * @item: the directory
 * @site: what it serves
 *
 * Context: process, khttpd_config_lock held.
 * Return: 0 or a negative errno.
 */
int khttpd_listener_item_start(struct khttpd_listener_item *item,
			       struct khttpd_site *site)
{
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_storage addr = {};
	struct khttpd_listener *listener;
	char port[8];
	int err, len;

	snprintf(port, sizeof(port), "%u", item->port);
	err = inet_pton_with_scope(net, item->family == AF_INET ? AF_INET :
				   AF_INET6, item->address, port, &addr);
	if (err)
		return err;
	len = item->family == AF_INET ? sizeof(struct sockaddr_in) :
					sizeof(struct sockaddr_in6);
	listener = khttpd_listener_create(site, net, item->family, &addr, len,
					  KHTTPD_BACKLOG);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	item->listener = listener;
	return 0;
}

static const struct {
	const char *name;
	int family;
} khttpd_families[] = {
	{ "inet", AF_INET }, { "inet6", AF_INET6 }, { "net6", AF_NET6 },
};

static ssize_t khttpd_listener_family_show(struct config_item *item, char *page)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(khttpd_families); i++) {
		if (khttpd_families[i].family == to_listener(item)->family)
			return sprintf(page, "%s\n", khttpd_families[i].name);
	}
	return 0;
}

static ssize_t khttpd_listener_family_store(struct config_item *item,
					    const char *page, size_t len)
{
	struct khttpd_listener_item *listener = to_listener(item);
	ssize_t err = -EINVAL;
	int i;

	mutex_lock(&khttpd_config_lock);
	for (i = 0; i < ARRAY_SIZE(khttpd_families); i++) {
		if (!sysfs_streq(page, khttpd_families[i].name))
			continue;
		err = listener->listener ? -EBUSY : len;
		if (err > 0)
			listener->family = khttpd_families[i].family;
	}
	mutex_unlock(&khttpd_config_lock);
	return err;
}
CONFIGFS_ATTR(khttpd_listener_, family);

static ssize_t khttpd_listener_address_show(struct config_item *item,
					    char *page)
{
	return sprintf(page, "%s\n", to_listener(item)->address);
}

static ssize_t khttpd_listener_address_store(struct config_item *item,
					     const char *page, size_t len)
{
	struct khttpd_listener_item *listener = to_listener(item);
	ssize_t err = len;

	if (len >= sizeof(listener->address))
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	if (listener->listener) {
		err = -EBUSY;
	} else {
		memcpy(listener->address, page, len);
		listener->address[len] = '\0';
		strim(listener->address);
	}
	mutex_unlock(&khttpd_config_lock);
	return err;
}
CONFIGFS_ATTR(khttpd_listener_, address);

static ssize_t khttpd_listener_port_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", to_listener(item)->port);
}

static ssize_t khttpd_listener_port_store(struct config_item *item,
					  const char *page, size_t len)
{
	struct khttpd_listener_item *listener = to_listener(item);
	ssize_t err;
	u16 port;

	err = kstrtou16(page, 10, &port);
	if (err)
		return err;
	mutex_lock(&khttpd_config_lock);
	if (listener->listener) {
		err = -EBUSY;
	} else {
		listener->port = port;
		err = len;
	}
	mutex_unlock(&khttpd_config_lock);
	return err;
}
CONFIGFS_ATTR(khttpd_listener_, port);

static struct configfs_attribute *khttpd_listener_attrs[] = {
	&khttpd_listener_attr_family,
	&khttpd_listener_attr_address,
	&khttpd_listener_attr_port,
	NULL
};

static void khttpd_listener_item_release(struct config_item *item)
{
	kfree(to_listener(item));
}

static struct configfs_item_operations khttpd_listener_item_ops = {
	.release = khttpd_listener_item_release,
};

static const struct config_item_type khttpd_listener_type = {
	.ct_item_ops = &khttpd_listener_item_ops,
	.ct_attrs = khttpd_listener_attrs,
	.ct_owner = THIS_MODULE,
};

/**
 * khttpd_listener_item_make() - a listener's directory
 * @owner: the site
 * @name: its name
 *
 * Return: the item or an error.
 */
struct config_item *khttpd_listener_item_make(struct khttpd_site_item *owner,
					      const char *name)
{
	struct khttpd_listener_item *listener;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	config_item_init_type_name(&listener->item, name,
				   &khttpd_listener_type);
	listener->owner = owner;
	listener->family = AF_INET6;
	listener->port = 80;
	strscpy(listener->address, "::", sizeof(listener->address));
	mutex_lock(&khttpd_config_lock);
	list_add_tail(&listener->node, &owner->listeners);
	mutex_unlock(&khttpd_config_lock);
	return &listener->item;
}

/**
 * khttpd_listener_item_drop() - the directory is removed
 * @item: the listener's
 */
void khttpd_listener_item_drop(struct config_item *item)
{
	struct khttpd_listener_item *listener = to_listener(item);

	mutex_lock(&khttpd_config_lock);
	khttpd_listener_item_stop(listener);
	list_del(&listener->node);
	mutex_unlock(&khttpd_config_lock);
	config_item_put(item);
}
