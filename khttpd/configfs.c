// SPDX-License-Identifier: GPL-2.0
/* Configuration: /sys/kernel/config/khttpd/ has the limits and counters, a
 * directory a site, and in it a directory a listener. What is written takes
 * effect when "enabled" is set, and cannot be changed while it is.
 */
#include <linux/configfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/net6.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <net/net_namespace.h>
#include "khttpd.h"

/* Files of a site that names no other user are read as nobody:nogroup. */
#define KHTTPD_ID_NOBODY	65534
#define KHTTPD_BACKLOG		1024

/**
 * struct khttpd_site_item - a site's directory
 * @group: configfs's part
 * @listeners: its listeners' directories
 * @docroot: path of the document root, or NULL
 * @index: name of index files; empty for none
 * @uid: user as whom files are read
 * @gid: group
 * @site: the running site while enabled, or NULL
 */
struct khttpd_site_item {
	struct config_group group;
	struct list_head listeners;
	char *docroot;
	char index[KHTTPD_INDEX_NAME];
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

static DEFINE_MUTEX(khttpd_config_lock);	/* all items */

static struct khttpd_site_item *to_site(struct config_item *item)
{
	return container_of(to_config_group(item), struct khttpd_site_item,
			    group);
}

static struct khttpd_listener_item *to_listener(struct config_item *item)
{
	return container_of(item, struct khttpd_listener_item, item);
}

/* ---- listeners ---- */

static void khttpd_listener_item_stop(struct khttpd_listener_item *item)
{
	lockdep_assert_held(&khttpd_config_lock);
	if (!item->listener)
		return;
	khttpd_listener_stop(item->listener);
	khttpd_listener_put(item->listener);
	item->listener = NULL;
}

static int khttpd_listener_item_start(struct khttpd_listener_item *item,
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

/* ---- sites ---- */

static void khttpd_site_item_stop(struct khttpd_site_item *item)
{
	struct khttpd_listener_item *listener;
	struct khttpd_site *site = item->site;

	lockdep_assert_held(&khttpd_config_lock);
	if (!site)
		return;
	item->site = NULL;
	list_for_each_entry(listener, &item->listeners, node)
		khttpd_listener_item_stop(listener);
	khttpd_detach(site);
	khttpd_cache_purge(site);
	khttpd_site_put(site);
}

static int khttpd_site_item_start(struct khttpd_site_item *item)
{
	struct khttpd_listener_item *listener;
	int err;

	lockdep_assert_held(&khttpd_config_lock);
	if (item->site)
		return 0;
	if (!item->docroot)
		return -ENOENT;
	item->site = khttpd_site_create(config_item_name(&item->group.cg_item),
					item->docroot, item->index,
					KUIDT_INIT(item->uid),
					KGIDT_INIT(item->gid));
	if (IS_ERR(item->site)) {
		err = PTR_ERR(item->site);
		item->site = NULL;
		return err;
	}
	list_for_each_entry(listener, &item->listeners, node) {
		err = khttpd_listener_item_start(listener, item->site);
		if (err) {
			khttpd_site_item_stop(item);
			return err;
		}
	}
	return 0;
}

static ssize_t khttpd_site_enabled_show(struct config_item *item, char *page)
{
	return sprintf(page, "%d\n", !!READ_ONCE(to_site(item)->site));
}

static ssize_t khttpd_site_enabled_store(struct config_item *item,
					 const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	bool enable;
	int err;

	err = kstrtobool(page, &enable);
	if (err)
		return err;
	mutex_lock(&khttpd_config_lock);
	if (enable)
		err = khttpd_site_item_start(site);
	else
		khttpd_site_item_stop(site);
	mutex_unlock(&khttpd_config_lock);
	return err ? err : len;
}
CONFIGFS_ATTR(khttpd_site_, enabled);

static ssize_t khttpd_site_docroot_show(struct config_item *item, char *page)
{
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = sprintf(page, "%s\n", to_site(item)->docroot ?: "");
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_docroot_store(struct config_item *item,
					 const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	size_t used = len && page[len - 1] == '\n' ? len - 1 : len;
	ssize_t err = len;
	char *docroot;

	if (used == 0 || page[0] != '/' || memchr(page, '\0', used) ||
	    used > PAGE_SIZE - 2)
		return -EINVAL;
	docroot = kstrndup(page, used, GFP_KERNEL);
	if (!docroot)
		return -ENOMEM;
	mutex_lock(&khttpd_config_lock);
	if (site->site)
		err = -EBUSY;
	else
		swap(site->docroot, docroot);
	mutex_unlock(&khttpd_config_lock);
	kfree(docroot);
	return err;
}
CONFIGFS_ATTR(khttpd_site_, docroot);

static ssize_t khttpd_site_index_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->index);
}

static ssize_t khttpd_site_index_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	char name[KHTTPD_INDEX_NAME];
	ssize_t err = len;

	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, page, len);
	name[len] = '\0';
	if (strchr(name, '/') || !strcmp(strim(name), "..") ||
	    !strcmp(strim(name), "."))
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	if (site->site)
		err = -EBUSY;
	else
		strscpy(site->index, strim(name), sizeof(site->index));
	mutex_unlock(&khttpd_config_lock);
	return err;
}
CONFIGFS_ATTR(khttpd_site_, index);

/* The ids are those of the initial user namespace. */
static ssize_t khttpd_site_id_store(struct khttpd_site_item *site, u32 *id,
				    const char *page, size_t len)
{
	ssize_t err;
	u32 value;

	err = kstrtou32(page, 10, &value);
	if (err)
		return err;
	if (value == U32_MAX)
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	if (site->site) {
		err = -EBUSY;
	} else {
		*id = value;
		err = len;
	}
	mutex_unlock(&khttpd_config_lock);
	return err;
}

static ssize_t khttpd_site_uid_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", to_site(item)->uid);
}

static ssize_t khttpd_site_uid_store(struct config_item *item,
				     const char *page, size_t len)
{
	return khttpd_site_id_store(to_site(item), &to_site(item)->uid, page,
				    len);
}
CONFIGFS_ATTR(khttpd_site_, uid);

static ssize_t khttpd_site_gid_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", to_site(item)->gid);
}

static ssize_t khttpd_site_gid_store(struct config_item *item,
				     const char *page, size_t len)
{
	return khttpd_site_id_store(to_site(item), &to_site(item)->gid, page,
				    len);
}
CONFIGFS_ATTR(khttpd_site_, gid);

static ssize_t khttpd_site_attached_show(struct config_item *item, char *page)
{
	struct khttpd_site_item *site = to_site(item);
	unsigned int n = 0;

	mutex_lock(&khttpd_config_lock);
	if (site->site)
		n = khttpd_attached(site->site);
	mutex_unlock(&khttpd_config_lock);
	return sprintf(page, "%u\n", n);
}
CONFIGFS_ATTR_RO(khttpd_site_, attached);

static struct configfs_attribute *khttpd_site_attrs[] = {
	&khttpd_site_attr_docroot,
	&khttpd_site_attr_index,
	&khttpd_site_attr_uid,
	&khttpd_site_attr_gid,
	&khttpd_site_attr_attached,
	&khttpd_site_attr_enabled,
	NULL
};

static struct config_item *khttpd_site_make_listener(struct config_group *group,
						     const char *name)
{
	struct khttpd_site_item *site = to_site(&group->cg_item);
	struct khttpd_listener_item *listener;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	config_item_init_type_name(&listener->item, name,
				   &khttpd_listener_type);
	listener->owner = site;
	listener->family = AF_INET6;
	listener->port = 80;
	strscpy(listener->address, "::", sizeof(listener->address));
	mutex_lock(&khttpd_config_lock);
	list_add_tail(&listener->node, &site->listeners);
	mutex_unlock(&khttpd_config_lock);
	return &listener->item;
}

static void khttpd_site_drop_listener(struct config_group *group,
				      struct config_item *item)
{
	struct khttpd_listener_item *listener = to_listener(item);

	mutex_lock(&khttpd_config_lock);
	khttpd_listener_item_stop(listener);
	list_del(&listener->node);
	mutex_unlock(&khttpd_config_lock);
	config_item_put(item);
}

static void khttpd_site_item_release(struct config_item *item)
{
	struct khttpd_site_item *site = to_site(item);

	kfree(site->docroot);
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
	.ct_owner = THIS_MODULE,
};

/* ---- the whole ---- */

static ssize_t khttpd_root_stats_show(struct config_item *item, char *page)
{
	ssize_t len = khttpd_stats_show(page, PAGE_SIZE);
	u32 entries;

	khttpd_cache_stats(&entries);
	return len + scnprintf(page + len, PAGE_SIZE - len,
			       "connections %u\ncache_entries %u\n",
			       khttpd_conns_count(), entries);
}
CONFIGFS_ATTR_RO(khttpd_root_, stats);

static ssize_t khttpd_limit_store(u32 *limit, u32 least, const char *page,
				  size_t len)
{
	u32 value;
	int err;

	err = kstrtou32(page, 10, &value);
	if (err)
		return err;
	/* Times are in ms, and none of the limits makes sense above this. */
	if (value < least || value > INT_MAX / 2)
		return -ERANGE;
	WRITE_ONCE(*limit, value);
	return len;
}

#define KHTTPD_LIMIT(name, least)					\
static u32 *khttpd_limit_##name(void)					\
{									\
	return &khttpd_limits.name;					\
}									\
									\
static ssize_t khttpd_root_##name##_show(struct config_item *item,	\
					 char *page)			\
{									\
	return sprintf(page, "%u\n", READ_ONCE(*khttpd_limit_##name()));	\
}									\
									\
static ssize_t khttpd_root_##name##_store(struct config_item *item,	\
					  const char *page, size_t len)	\
{									\
	return khttpd_limit_store(khttpd_limit_##name(), least, page,	\
				  len);					\
}

KHTTPD_LIMIT(max_connections, 0)
CONFIGFS_ATTR(khttpd_root_, max_connections);
KHTTPD_LIMIT(head_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, head_timeout);
KHTTPD_LIMIT(idle_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, idle_timeout);
KHTTPD_LIMIT(send_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, send_timeout);
KHTTPD_LIMIT(linger_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, linger_timeout);
KHTTPD_LIMIT(cache_entries, 1)
CONFIGFS_ATTR(khttpd_root_, cache_entries);
KHTTPD_LIMIT(cache_idle, 1)
CONFIGFS_ATTR(khttpd_root_, cache_idle);
KHTTPD_LIMIT(handover_queue, 0)
CONFIGFS_ATTR(khttpd_root_, handover_queue);

static struct configfs_attribute *khttpd_root_attrs[] = {
	&khttpd_root_attr_stats,
	&khttpd_root_attr_max_connections,
	&khttpd_root_attr_head_timeout,
	&khttpd_root_attr_idle_timeout,
	&khttpd_root_attr_send_timeout,
	&khttpd_root_attr_linger_timeout,
	&khttpd_root_attr_cache_entries,
	&khttpd_root_attr_cache_idle,
	&khttpd_root_attr_handover_queue,
	NULL
};

static struct config_group *khttpd_root_make_site(struct config_group *group,
						  const char *name)
{
	struct khttpd_site_item *site;

	if (strlen(name) >= KHTTPD_SITE_NAME)
		return ERR_PTR(-ENAMETOOLONG);
	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return ERR_PTR(-ENOMEM);
	config_group_init_type_name(&site->group, name, &khttpd_site_type);
	INIT_LIST_HEAD(&site->listeners);
	strscpy(site->index, "index.html", sizeof(site->index));
	site->uid = KHTTPD_ID_NOBODY;
	site->gid = KHTTPD_ID_NOBODY;
	return &site->group;
}

static void khttpd_root_drop_site(struct config_group *group,
				  struct config_item *item)
{
	mutex_lock(&khttpd_config_lock);
	khttpd_site_item_stop(to_site(item));
	mutex_unlock(&khttpd_config_lock);
	config_item_put(item);
}

static struct configfs_group_operations khttpd_root_group_ops = {
	.make_group = khttpd_root_make_site,
	.drop_item = khttpd_root_drop_site,
};

static const struct config_item_type khttpd_root_type = {
	.ct_group_ops = &khttpd_root_group_ops,
	.ct_attrs = khttpd_root_attrs,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem khttpd_subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "khttpd",
			.ci_type = &khttpd_root_type,
		},
	},
	.su_mutex = __MUTEX_INITIALIZER(khttpd_subsystem.su_mutex),
};

/**
 * khttpd_configfs_find() - the running site of that name
 * @name: its name
 *
 * Return: the site with a reference, or NULL.
 */
struct khttpd_site *khttpd_configfs_find(const char *name)
{
	struct khttpd_site *site = NULL;
	struct config_item *item;

	mutex_lock(&khttpd_subsystem.su_mutex);
	item = config_group_find_item(&khttpd_subsystem.su_group, name);
	mutex_unlock(&khttpd_subsystem.su_mutex);
	if (!item)
		return NULL;
	mutex_lock(&khttpd_config_lock);
	if (to_site(item)->site)
		site = khttpd_site_get(to_site(item)->site);
	mutex_unlock(&khttpd_config_lock);
	config_item_put(item);
	return site;
}

/**
 * khttpd_configfs_init() - show up in configfs
 *
 * Return: 0 or a negative errno.
 */
int khttpd_configfs_init(void)
{
	config_group_init(&khttpd_subsystem.su_group);
	return configfs_register_subsystem(&khttpd_subsystem);
}

/**
 * khttpd_configfs_exit() - leave it; no site is left, sites hold the module
 */
void khttpd_configfs_exit(void)
{
	configfs_unregister_subsystem(&khttpd_subsystem);
}
