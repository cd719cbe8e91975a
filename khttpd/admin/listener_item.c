// SPDX-License-Identifier: GPL-2.0
/* Configuration of listeners: family, address, port, options of their sockets. */
#include <linux/cpumask.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/net6.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "../listen/listener.h"
#include "config.h"

#define KHTTPD_BACKLOG		1024

static struct khttpd_listener_item *to_listener(struct config_item *item)
{
	return container_of(item, struct khttpd_listener_item, item);
}

/**
 * khttpd_listener_item_shut() - accept nothing any more
 * @item: the directory
 *
 * Context: process, khttpd_config_lock held.
 */
void khttpd_listener_item_shut(struct khttpd_listener_item *item)
	__must_hold(&khttpd_config_lock)
{
	unsigned int i;

	lockdep_assert_held(&khttpd_config_lock);
	for (i = 0; i < item->count; i++)
		khttpd_listener_shut(item->listeners[i]);
}

/**
 * khttpd_listener_item_stop() - close its listeners
 * @item: the directory
 * @deadline: jiffies until when replies under way may go on
 *
 * Context: process, khttpd_config_lock held.
 */
void khttpd_listener_item_stop(struct khttpd_listener_item *item,
			       unsigned long deadline)
	__must_hold(&khttpd_config_lock)
{
	unsigned int i;

	lockdep_assert_held(&khttpd_config_lock);
	khttpd_listener_item_shut(item);
	for (i = 0; i < item->count; i++) {
		khttpd_listener_stop(item->listeners[i], deadline);
		khttpd_listener_put(item->listeners[i]);
	}
	kfree(item->listeners);
	item->listeners = NULL;
	item->count = 0;
	item->shut = false;
}

/**
 * khttpd_listener_item_set_site() - its site takes another form
 * @item: the directory
 * @site: from now on
 *
 * Context: process, khttpd_config_lock held.
 */
void khttpd_listener_item_set_site(struct khttpd_listener_item *item,
				   struct khttpd_site *site)
	__must_hold(&khttpd_config_lock)
{
	unsigned int i;

	for (i = 0; i < item->count; i++)
		khttpd_listener_set_site(item->listeners[i], site);
}

/* One listener, or with reuseport the one of @cpu. */
static int khttpd_listener_item_open(struct khttpd_listener_item *item,
				     struct khttpd_site *site, int cpu)
{
	struct net *net = current->nsproxy->net_ns;
	struct khttpd_sockopts options = item->options;
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
	options.cpu = cpu;
	listener = khttpd_listener_create(site, net, item->family, &addr, len,
					  &options);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	item->listeners[item->count++] = listener;
	return 0;
}

/**
 * khttpd_listener_item_start() - open its listeners, if they are not
 * @item: the directory
 * @site: what they serve
 *
 * Context: process, khttpd_config_lock held.
 * Return: 0 or a negative errno.
 */
int khttpd_listener_item_start(struct khttpd_listener_item *item,
			       struct khttpd_site *site)
	__must_hold(&khttpd_config_lock)
{
	int cpu, err = 0;

	lockdep_assert_held(&khttpd_config_lock);
	if (item->count)
		return 0;
	item->listeners = kcalloc(item->reuseport ? nr_cpu_ids : 1,
				  sizeof(*item->listeners), GFP_KERNEL);
	if (!item->listeners)
		return -ENOMEM;
	if (!item->reuseport) {
		err = khttpd_listener_item_open(item, site, -1);
	} else {
		for_each_online_cpu(cpu) {
			err = khttpd_listener_item_open(item, site, cpu);
			if (err)
				break;
		}
	}
	if (err)
		khttpd_listener_item_stop(item, jiffies);
	return err;
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
		err = listener->count ? -EBUSY : len;
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
	if (listener->count) {
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

/* @owner: the struct of @item that it is in. */
#define KHTTPD_LISTENER_NUMBER(name, owner, least, most)		\
static u32 *khttpd_listener_number_##name(struct config_item *item)	\
{									\
	return &(owner).name;						\
}									\
									\
static ssize_t khttpd_listener_##name##_show(struct config_item *item,	\
					     char *page)		\
{									\
	return sprintf(page, "%u\n",					\
		       *khttpd_listener_number_##name(item));		\
}									\
									\
static ssize_t khttpd_listener_##name##_store(struct config_item *item,	\
					      const char *page,		\
					      size_t len)		\
{									\
	return khttpd_config_number(khttpd_listener_number_##name(item), \
				    least, most,			\
				    &to_listener(item)->count, page,	\
				    len);				\
}

KHTTPD_LISTENER_NUMBER(port, *to_listener(item), 0, U16_MAX)
CONFIGFS_ATTR(khttpd_listener_, port);
/* net.core.somaxconn bounds the first one, too. */
KHTTPD_LISTENER_NUMBER(backlog, to_listener(item)->options, 1, 1 << 20)
CONFIGFS_ATTR(khttpd_listener_, backlog);
KHTTPD_LISTENER_NUMBER(defer_accept, to_listener(item)->options, 0, 3600)
CONFIGFS_ATTR(khttpd_listener_, defer_accept);
KHTTPD_LISTENER_NUMBER(fastopen, to_listener(item)->options, 0, 1 << 20)
CONFIGFS_ATTR(khttpd_listener_, fastopen);
KHTTPD_LISTENER_NUMBER(redirect, to_listener(item)->options, 0, U16_MAX)
CONFIGFS_ATTR(khttpd_listener_, redirect);

static ssize_t khttpd_listener_reuseport_show(struct config_item *item,
					      char *page)
{
	return sprintf(page, "%d\n", to_listener(item)->reuseport);
}

static ssize_t khttpd_listener_reuseport_store(struct config_item *item,
					       const char *page, size_t len)
{
	struct khttpd_listener_item *listener = to_listener(item);

	return khttpd_config_switch(&listener->reuseport, &listener->count,
				    page, len);
}
CONFIGFS_ATTR(khttpd_listener_, reuseport);

static ssize_t khttpd_listener_tls_show(struct config_item *item, char *page)
{
	return sprintf(page, "%d\n", to_listener(item)->options.tls);
}

static ssize_t khttpd_listener_tls_store(struct config_item *item, const char *page, size_t len)
{
	struct khttpd_listener_item *listener = to_listener(item);

	return khttpd_config_switch(&listener->options.tls, &listener->count, page, len);
}
CONFIGFS_ATTR(khttpd_listener_, tls);

static ssize_t khttpd_listener_open_show(struct config_item *item, char *page)
{
	struct khttpd_listener_item *listener = to_listener(item);
	bool open;

	mutex_lock(&khttpd_config_lock);
	open = listener->count && !listener->shut;
	mutex_unlock(&khttpd_config_lock);
	return sprintf(page, "%d\n", open);
}

/* Opened again, if it was closed: when no reply is under way at the old sockets. */
static int khttpd_listener_item_reopen(struct khttpd_listener_item *item)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_site *site = item->owner->site;

	if (!site)
		return -ENOENT;
	if (item->shut)
		khttpd_listener_item_stop(item, khttpd_stop_deadline());
	return khttpd_listener_item_start(item, site);
}

static ssize_t khttpd_listener_open_store(struct config_item *item,
					  const char *page, size_t len)
{
	struct khttpd_listener_item *listener = to_listener(item);
	bool open;
	int err;

	err = kstrtobool(page, &open);
	if (err)
		return err;
	mutex_lock(&khttpd_config_lock);
	if (open) {
		err = khttpd_listener_item_reopen(listener);
	} else if (listener->count) {
		khttpd_listener_item_shut(listener);
		listener->shut = true;
	}
	mutex_unlock(&khttpd_config_lock);
	return err ?: len;
}
CONFIGFS_ATTR(khttpd_listener_, open);

static struct configfs_attribute *khttpd_listener_attrs[] = {
	&khttpd_listener_attr_family,
	&khttpd_listener_attr_address,
	&khttpd_listener_attr_port,
	&khttpd_listener_attr_backlog,
	&khttpd_listener_attr_defer_accept,
	&khttpd_listener_attr_fastopen,
	&khttpd_listener_attr_reuseport,
	&khttpd_listener_attr_tls,
	&khttpd_listener_attr_redirect,
	&khttpd_listener_attr_open,
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
	listener->options.backlog = KHTTPD_BACKLOG;
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
	khttpd_listener_item_stop(listener, khttpd_stop_deadline());
	list_del(&listener->node);
	mutex_unlock(&khttpd_config_lock);
	config_item_put(item);
}
