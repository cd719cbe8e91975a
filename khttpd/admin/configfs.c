// SPDX-License-Identifier: GPL-2.0
/* The root of the configuration: limits and counters, and in it a directory a
 * site, see config.h.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "../conn/conn.h"
#include "../files/cache.h"
#include "../listen/tls.h"
#include "config.h"

static ssize_t khttpd_root_stats_show(struct config_item *item, char *page)
{
	ssize_t len = khttpd_stats_show(page, PAGE_SIZE);
	u32 entries;

	khttpd_cache_stats(&entries);
	return len + scnprintf(page + len, PAGE_SIZE - len,
			       "connections %u\ncache_entries %u\n"
			       "tls_pending %u\ntls_daemons %u\n",
			       khttpd_conns_count(), entries, khttpd_tls_pending(),
			       khttpd_tls_daemons());
}
CONFIGFS_ATTR_RO(khttpd_root_, stats);

#define KHTTPD_NUMBER(name, owner, least, most)			\
static u32 *khttpd_limit_##name(void)					\
{									\
	return &(owner).name;						\
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
	return khttpd_config_number(khttpd_limit_##name(), least, most,	\
				    NULL, page, len);			\
}

/* Times are in ms, and none of the limits makes sense above this. */
#define KHTTPD_LIMIT(name, least) \
	KHTTPD_NUMBER(name, khttpd_limits, least, INT_MAX / 2)

KHTTPD_LIMIT(max_connections, 0)
CONFIGFS_ATTR(khttpd_root_, max_connections);
KHTTPD_NUMBER(head_bytes, khttpd_head_limits, 64, KHTTPD_HEAD_MAX)
CONFIGFS_ATTR(khttpd_root_, head_bytes);
KHTTPD_NUMBER(head_fields, khttpd_head_limits, 1, KHTTPD_HEADERS_MAX)
CONFIGFS_ATTR(khttpd_root_, head_fields);
KHTTPD_LIMIT(head_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, head_timeout);
KHTTPD_LIMIT(idle_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, idle_timeout);
KHTTPD_LIMIT(send_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, send_timeout);
KHTTPD_LIMIT(send_rate, 0)
CONFIGFS_ATTR(khttpd_root_, send_rate);
KHTTPD_LIMIT(linger_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, linger_timeout);
KHTTPD_LIMIT(linger_time, 1)
CONFIGFS_ATTR(khttpd_root_, linger_time);
KHTTPD_LIMIT(stop_timeout, 0)
CONFIGFS_ATTR(khttpd_root_, stop_timeout);
KHTTPD_LIMIT(cache_entries, 1)
CONFIGFS_ATTR(khttpd_root_, cache_entries);
KHTTPD_LIMIT(cache_idle, 1)
CONFIGFS_ATTR(khttpd_root_, cache_idle);
KHTTPD_LIMIT(handover_queue, 0)
CONFIGFS_ATTR(khttpd_root_, handover_queue);
KHTTPD_LIMIT(max_per_address, 0)
CONFIGFS_ATTR(khttpd_root_, max_per_address);
KHTTPD_LIMIT(request_rate, 0)
CONFIGFS_ATTR(khttpd_root_, request_rate);
KHTTPD_LIMIT(request_burst, 1)
CONFIGFS_ATTR(khttpd_root_, request_burst);
KHTTPD_LIMIT(tls_timeout, 1)
CONFIGFS_ATTR(khttpd_root_, tls_timeout);
KHTTPD_LIMIT(tls_handshakes, 0)
CONFIGFS_ATTR(khttpd_root_, tls_handshakes);
KHTTPD_LIMIT(tls_per_address, 0)
CONFIGFS_ATTR(khttpd_root_, tls_per_address);

static struct configfs_attribute *khttpd_root_attrs[] = {
	&khttpd_root_attr_stats,
	&khttpd_root_attr_max_connections,
	&khttpd_root_attr_head_bytes,
	&khttpd_root_attr_head_fields,
	&khttpd_root_attr_head_timeout,
	&khttpd_root_attr_idle_timeout,
	&khttpd_root_attr_send_timeout,
	&khttpd_root_attr_send_rate,
	&khttpd_root_attr_linger_timeout,
	&khttpd_root_attr_linger_time,
	&khttpd_root_attr_stop_timeout,
	&khttpd_root_attr_cache_entries,
	&khttpd_root_attr_cache_idle,
	&khttpd_root_attr_handover_queue,
	&khttpd_root_attr_max_per_address,
	&khttpd_root_attr_request_rate,
	&khttpd_root_attr_request_burst,
	&khttpd_root_attr_tls_timeout,
	&khttpd_root_attr_tls_handshakes,
	&khttpd_root_attr_tls_per_address,
	NULL
};

static struct config_group *khttpd_root_make_site(struct config_group *group,
						  const char *name)
{
	return khttpd_site_item_make(name);
}

static void khttpd_root_drop_site(struct config_group *group,
				  struct config_item *item)
{
	khttpd_site_item_drop(item);
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
	struct config_item *item;
	struct khttpd_site *site;

	mutex_lock(&khttpd_subsystem.su_mutex);
	item = config_group_find_item(&khttpd_subsystem.su_group, name);
	mutex_unlock(&khttpd_subsystem.su_mutex);
	if (!item)
		return NULL;
	site = khttpd_site_item_running(item);
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
	khttpd_site_items_init();
	config_group_init(&khttpd_subsystem.su_group);
	return configfs_register_subsystem(&khttpd_subsystem);
}

/**
 * khttpd_configfs_exit() - leave it; no site is left, sites hold the module
 */
void khttpd_configfs_exit(void)
{
	configfs_unregister_subsystem(&khttpd_subsystem);
	khttpd_site_items_exit();
}
