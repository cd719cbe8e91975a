// SPDX-License-Identifier: GPL-2.0
/* Configuration of sites: where the files are, who reads them, what else a site
 * does, and starting and stopping it.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include "../files/cache.h"
#include "../files/vhost.h"
#include "../http/mime.h"
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../observe/stats.h"
#include "config.h"
#include "docroot.h"

/* Files of a site that names no other user are read as nobody:nogroup. */
#define KHTTPD_ID_NOBODY	65534
/* Longest table of media types. */
#define KHTTPD_TYPES_MAX	(128 * 1024)

static LIST_HEAD(khttpd_site_items);	/* khttpd_config_lock */

static struct khttpd_site_item *to_site(struct config_item *item)
{
	return container_of(to_config_group(item), struct khttpd_site_item,
			    group);
}

/* Another site in front of it, or none. */
static int khttpd_site_item_set_front(struct khttpd_site_item *item,
				      struct khttpd_site_item *front)
{
	int err = front ? khttpd_vhost_add(front->site, item->site) : 0;

	if (err)
		return err;
	if (item->front && item->front->site)
		khttpd_vhost_del(item->front->site, item->site);
	item->front = front;
	return 0;
}

/* Sites behind it serve nobody until they are started again. */
static void khttpd_site_item_leave(struct khttpd_site_item *item)
{
	struct list_head *node;

	list_for_each(node, &khttpd_site_items) {
		struct khttpd_site_item *behind;

		behind = list_entry(node, struct khttpd_site_item, node);
		if (behind->front != item)
			continue;
		behind->front = NULL;
		behind->pending = true;
	}
	khttpd_vhost_clear(item->site);
}

static void khttpd_site_item_stop(struct khttpd_site_item *item)
	__must_hold(&khttpd_config_lock)
{
	unsigned long deadline = khttpd_stop_deadline();
	struct khttpd_listener_item *listener;
	struct khttpd_site *site = item->site;

	lockdep_assert_held(&khttpd_config_lock);
	if (!site)
		return;
	khttpd_site_item_set_front(item, NULL);
	khttpd_attached_set_site(site, NULL);
	/* All at once: each has the same time. */
	list_for_each_entry(listener, &item->listeners, node)
		khttpd_listener_item_shut(listener);
	list_for_each_entry(listener, &item->listeners, node)
		khttpd_listener_item_stop(listener, deadline);
	khttpd_detach(site);
	khttpd_site_item_leave(item);
	khttpd_docroot_end(item->follow);
	item->follow = NULL;
	item->site = NULL;
	khttpd_cache_purge(site);
	khttpd_site_put(site);
}

/* A server has closed a listener: sites of which it was the last one end, if they are to. */
static void khttpd_site_items_leave(struct work_struct *work)
{
	struct khttpd_site_item *item;

	mutex_lock(&khttpd_config_lock);
	list_for_each_entry(item, &khttpd_site_items, node) {
		if (item->site && item->site->options.until_closed &&
		    list_empty(&item->listeners) && khttpd_attached_over(item->site))
			khttpd_site_item_stop(item);
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
	khttpd_attached_watch(khttpd_site_items_closed);
}

/**
 * khttpd_site_items_exit() - there are none any more
 */
void khttpd_site_items_exit(void)
{
	cancel_work_sync(&khttpd_site_leaver);
}

/* The site that it is to stand behind: NULL for none, an error if it cannot. One
 * that is behind another serves nobody.
 */
static struct khttpd_site_item *
khttpd_site_item_front(const struct khttpd_site_item *item)
{
	struct khttpd_site_item *front;
	struct list_head *node;

	lockdep_assert_held(&khttpd_config_lock);
	if (!*item->behind)
		return NULL;
	list_for_each(node, &khttpd_site_items) {
		front = list_entry(node, struct khttpd_site_item, node);
		if (strcmp(config_item_name(&front->group.cg_item),
			   item->behind))
			continue;
		if (!front->site || front == item || *front->behind)
			break;
		return front;
	}
	return ERR_PTR(-ENOENT);
}

static struct khttpd_site *khttpd_site_item_create(struct khttpd_site_item *item)
{
	return khttpd_site_create(item, config_item_name(&item->group.cg_item),
				  item->docroot, &item->options,
				  KUIDT_INIT(READ_ONCE(item->uid)),
				  KGIDT_INIT(READ_ONCE(item->gid)));
}

/* Listeners that were made since the site was started. Return: 0, or an error with
 * all as before.
 */
static int khttpd_site_item_start_new(struct khttpd_site_item *item,
				      struct khttpd_site *site)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_listener_item *listener, *other;
	int err;

	list_for_each_entry(listener, &item->listeners, node) {
		listener->fresh = !listener->count;
		err = khttpd_listener_item_start(listener, site);
		if (!err)
			continue;
		list_for_each_entry(other, &item->listeners, node) {
			if (other == listener)
				break;
			if (other->fresh)
				khttpd_listener_item_stop(other, jiffies);
		}
		return err;
	}
	return 0;
}

/* Those who know the running site are told of the one that takes its place. */
static int khttpd_site_item_swap(struct khttpd_site_item *item,
				 struct khttpd_site_item *front,
				 struct khttpd_site *site)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_site *old = item->site;
	struct khttpd_listener_item *listener;
	int err;

	if (front && front == item->front)
		err = khttpd_vhost_replace(front->site, old, site);
	else
		err = front ? khttpd_vhost_add(front->site, site) : 0;
	if (err)
		return err;
	if (item->front && front != item->front && item->front->site)
		khttpd_vhost_del(item->front->site, old);
	item->front = front;
	list_for_each_entry(listener, &item->listeners, node)
		khttpd_listener_item_set_site(listener, site);
	khttpd_attached_set_site(old, site);
	item->site = site;
	return 0;
}

/* All is ready for a site to take the place of the one that runs. */
static int khttpd_site_item_take(struct khttpd_site_item *item,
				 struct khttpd_site_item *front,
				 struct khttpd_site *site)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_site *old = item->site;
	int err;

	err = khttpd_site_item_swap(item, front, site);
	if (err)
		return err;
	/* Nobody finds the old one any more when this returns. */
	synchronize_rcu();
	khttpd_vhost_clear(old);
	khttpd_cache_purge(old);
	khttpd_site_put(old);
	return 0;
}

/* A site that was to take another's place does not. */
static void khttpd_site_item_give_up(struct khttpd_site *site)
{
	khttpd_vhost_clear(site);
	khttpd_cache_purge(site);
	khttpd_site_put(site);
}

/* The path of the document root may name another directory: go there. Without memory the site
 * stays where it was. Context: a worker.
 */
static void khttpd_site_item_moved(struct config_item *config, const struct khttpd_docroot *docroot,
				   const struct path *root)
{
	struct khttpd_site_item *item = to_site(config);
	struct khttpd_site *site;

	mutex_lock(&khttpd_config_lock);
	if (!item->site || item->follow != docroot || path_equal(&item->site->root, root))
		goto out;
	site = khttpd_site_move(item->site, root);
	if (!site)
		goto out;
	if (khttpd_vhost_copy(site, item->site) ||
	    khttpd_site_item_take(item, item->front, site))
		khttpd_site_item_give_up(site);
	else
		khttpd_count(docroot_moves);
out:
	mutex_unlock(&khttpd_config_lock);
}

static int khttpd_site_item_start(struct khttpd_site_item *item)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_listener_item *listener;
	struct khttpd_site_item *front;
	int err;

	lockdep_assert_held(&khttpd_config_lock);
	if (!item->docroot)
		return -ENOENT;
	front = khttpd_site_item_front(item);
	if (IS_ERR(front))
		return PTR_ERR(front);
	/* First, so that changes after the site has its root are noticed. */
	item->follow = khttpd_docroot_begin(item->docroot, &item->group.cg_item,
					    khttpd_site_item_moved);
	item->site = khttpd_site_item_create(item);
	if (IS_ERR(item->site)) {
		err = PTR_ERR(item->site);
		item->site = NULL;
		khttpd_docroot_end(item->follow);
		item->follow = NULL;
		return err;
	}
	list_for_each_entry(listener, &item->listeners, node) {
		err = khttpd_listener_item_start(listener, item->site);
		if (err) {
			khttpd_site_item_stop(item);
			return err;
		}
	}
	err = khttpd_site_item_set_front(item, front);
	if (err)
		khttpd_site_item_stop(item);
	return err;
}

/* The site runs: take what was written since, without losing a connection.
 * Return: 0, or an error with the site as it was.
 */
static int khttpd_site_item_reload(struct khttpd_site_item *item)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_site *site, *old = item->site;
	struct khttpd_listener_item *listener;
	struct khttpd_site_item *front;
	struct khttpd_docroot *follow;
	int err;

	lockdep_assert_held(&khttpd_config_lock);
	front = khttpd_site_item_front(item);
	if (IS_ERR(front))
		return PTR_ERR(front);
	follow = khttpd_docroot_begin(item->docroot, &item->group.cg_item,
				      khttpd_site_item_moved);
	site = khttpd_site_item_create(item);
	if (IS_ERR(site)) {
		khttpd_docroot_end(follow);
		return PTR_ERR(site);
	}
	err = khttpd_vhost_copy(site, old);
	if (!err)
		err = khttpd_site_item_start_new(item, site);
	if (err)
		goto fail;
	err = khttpd_site_item_take(item, front, site);
	if (err)
		goto fail_listeners;
	khttpd_docroot_end(item->follow);
	item->follow = follow;
	return 0;

fail_listeners:
	list_for_each_entry(listener, &item->listeners, node) {
		if (listener->fresh)
			khttpd_listener_item_stop(listener, jiffies);
	}
fail:
	khttpd_docroot_end(follow);
	khttpd_site_item_give_up(site);
	return err;
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
	if (enable && site->site)
		err = khttpd_site_item_reload(site);
	else if (enable)
		err = khttpd_site_item_start(site);
	else
		khttpd_site_item_stop(site);
	if (!err)
		site->pending = false;
	mutex_unlock(&khttpd_config_lock);
	if (!err)
		khttpd_tlsdev_changed();
	return err ? err : len;
}
CONFIGFS_ATTR(khttpd_site_, enabled);

static ssize_t khttpd_site_pending_show(struct config_item *item, char *page)
{
	struct khttpd_site_item *site = to_site(item);
	bool pending;

	mutex_lock(&khttpd_config_lock);
	pending = site->site && site->pending;
	mutex_unlock(&khttpd_config_lock);
	return sprintf(page, "%d\n", pending);
}
CONFIGFS_ATTR_RO(khttpd_site_, pending);

/* An attribute was written, or, if @result is negative, was not. */
static ssize_t khttpd_site_item_written(struct config_item *item,
					ssize_t result)
{
	if (result < 0)
		return result;
	/* Afterwards: a site that is changed meanwhile may have taken the old one. */
	mutex_lock(&khttpd_config_lock);
	to_site(item)->pending = true;
	mutex_unlock(&khttpd_config_lock);
	return result;
}

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
	char *docroot;

	if (used == 0 || page[0] != '/' || memchr(page, '\0', used) ||
	    used > PAGE_SIZE - 2)
		return -EINVAL;
	docroot = kstrndup(page, used, GFP_KERNEL);
	if (!docroot)
		return -ENOMEM;
	mutex_lock(&khttpd_config_lock);
	swap(site->docroot, docroot);
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	kfree(docroot);
	return len;
}
CONFIGFS_ATTR(khttpd_site_, docroot);

static ssize_t khttpd_site_index_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->options.index);
}

static ssize_t khttpd_site_index_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	char name[KHTTPD_INDEX_NAME];

	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, page, len);
	name[len] = '\0';
	if (strchr(name, '/') || !strcmp(strim(name), "..") ||
	    !strcmp(strim(name), "."))
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	strscpy(site->options.index, strim(name), sizeof(site->options.index));
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	return len;
}
CONFIGFS_ATTR(khttpd_site_, index);

#define KHTTPD_SITE_FLAG(name)						\
static bool *khttpd_site_flag_##name(struct config_item *item)		\
{									\
	return &to_site(item)->options.name;				\
}									\
									\
static ssize_t khttpd_site_##name##_show(struct config_item *item,	\
					 char *page)			\
{									\
	return sprintf(page, "%d\n", *khttpd_site_flag_##name(item));	\
}									\
									\
static ssize_t khttpd_site_##name##_store(struct config_item *item,	\
					  const char *page, size_t len)	\
{									\
	bool *flag = khttpd_site_flag_##name(item);			\
									\
	return khttpd_site_item_written(item,				\
			khttpd_config_switch(flag, NULL, page, len));	\
}

KHTTPD_SITE_FLAG(listing)
CONFIGFS_ATTR(khttpd_site_, listing);
KHTTPD_SITE_FLAG(etag_version)
CONFIGFS_ATTR(khttpd_site_, etag_version);
KHTTPD_SITE_FLAG(precompressed)
CONFIGFS_ATTR(khttpd_site_, precompressed);
KHTTPD_SITE_FLAG(until_closed)
CONFIGFS_ATTR(khttpd_site_, until_closed);
KHTTPD_SITE_FLAG(send_proxy)
CONFIGFS_ATTR(khttpd_site_, send_proxy);

static ssize_t khttpd_site_rules_show(struct config_item *item, char *page)
{
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = sprintf(page, "%s", to_site(item)->rules ?: "");
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_rules_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	struct khttpd_rules *rules;
	ssize_t err = -EINVAL;
	char *text;

	rules = kzalloc(sizeof(*rules), GFP_KERNEL);
	text = kstrndup(page, len, GFP_KERNEL);
	if (!rules || !text) {
		err = -ENOMEM;
		goto out;
	}
	if (strlen(text) != len || !khttpd_rules_parse(rules, text, len))
		goto out;
	mutex_lock(&khttpd_config_lock);
	swap(site->options.rules, rules);
	swap(site->rules, text);
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	err = len;
out:
	kfree(rules);
	kfree(text);
	return err;
}
CONFIGFS_ATTR(khttpd_site_, rules);

/* Take a word or words of less than @size bytes. */
static ssize_t khttpd_site_text_store(struct khttpd_site_item *site, char *text,
				      size_t size, const char *page, size_t len)
{
	if (len >= size || memchr(page, '\0', len))
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	memcpy(text, page, len);
	text[len] = '\0';
	/* One newline comes from echo. */
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_names_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->options.names);
}

static ssize_t khttpd_site_names_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	if (!khttpd_names_valid(page))
		return -EINVAL;
	return khttpd_site_text_store(site, site->options.names,
				      sizeof(site->options.names), page, len);
}
CONFIGFS_ATTR(khttpd_site_, names);

static ssize_t khttpd_site_hsts_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->options.hsts);
}

static ssize_t khttpd_site_hsts_store(struct config_item *item, const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	if (!khttpd_https_hsts_valid(page))
		return -EINVAL;
	return khttpd_site_text_store(site, site->options.hsts, sizeof(site->options.hsts), page,
				      len);
}
CONFIGFS_ATTR(khttpd_site_, hsts);

static ssize_t khttpd_site_proxy_protocol_show(struct config_item *item, char *page)
{
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = sprintf(page, "%s\n", to_site(item)->proxies);
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_proxy_protocol_store(struct config_item *item, const char *page,
						size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	struct khttpd_prefixes *list;
	ssize_t err = -EINVAL;

	list = kmalloc(sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	if (strlen(page) == len && khttpd_prefixes_parse(list, page)) {
		err = khttpd_site_text_store(site, site->proxies, sizeof(site->proxies), page,
					     len);
		mutex_lock(&khttpd_config_lock);
		if (err >= 0)
			site->options.proxies = *list;
		mutex_unlock(&khttpd_config_lock);
	}
	kfree(list);
	return err;
}
CONFIGFS_ATTR(khttpd_site_, proxy_protocol);

static ssize_t khttpd_site_behind_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->behind);
}

static ssize_t khttpd_site_behind_store(struct config_item *item,
					const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	return khttpd_site_text_store(site, site->behind, sizeof(site->behind),
				      page, len);
}
CONFIGFS_ATTR(khttpd_site_, behind);

/* Paths for khttpd-tlsd: the kernel opens neither file. */
static ssize_t khttpd_site_pem_store(struct khttpd_site_item *site, char *path,
				     const char *page, size_t len)
{
	if (len && *page != '/' && *page != '\n')
		return -EINVAL;
	return khttpd_site_text_store(site, path, KHTTPD_PEM_PATH, page, len);
}

static ssize_t khttpd_site_certificate_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->certificate);
}

static ssize_t khttpd_site_certificate_store(struct config_item *item, const char *page,
					     size_t len)
{
	return khttpd_site_pem_store(to_site(item), to_site(item)->certificate, page, len);
}
CONFIGFS_ATTR(khttpd_site_, certificate);

static ssize_t khttpd_site_key_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->key);
}

static ssize_t khttpd_site_key_store(struct config_item *item, const char *page, size_t len)
{
	return khttpd_site_pem_store(to_site(item), to_site(item)->key, page, len);
}
CONFIGFS_ATTR(khttpd_site_, key);

static ssize_t khttpd_site_types_read(struct config_item *item, void *buf,
				      size_t size)
{
	const struct khttpd_options *options = &to_site(item)->options;
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = options->types_len;
	if (buf && len)
		memcpy(buf, options->types, min_t(size_t, len, size));
	/* All of @buf is what is read, also if the table has become shorter. */
	if (buf && len < size)
		memset(buf + len, '\n', size - len);
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_types_write(struct config_item *item,
				       const void *buf, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	char *types;

	if (!khttpd_mime_valid(buf, len, KHTTPD_TYPE_MAX))
		return -EINVAL;
	types = kvmalloc(len, GFP_KERNEL);
	if (!types)
		return -ENOMEM;
	memcpy(types, buf, len);
	mutex_lock(&khttpd_config_lock);
	swap(site->options.types, types);
	site->options.types_len = len;
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	kvfree(types);
	return len;
}
CONFIGFS_BIN_ATTR(khttpd_site_, types, NULL, KHTTPD_TYPES_MAX);

static struct configfs_bin_attribute *khttpd_site_bin_attrs[] = {
	&khttpd_site_attr_types,
	NULL
};

/* Ids of the initial user namespace; the last number is none. Root owns files that nobody else
 * may read, and root's group files that only it may. Capabilities are not all that root has.
 */
#define KHTTPD_ID_MIN		1
#define KHTTPD_ID_MAX		(U32_MAX - 1)

static ssize_t khttpd_site_uid_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", READ_ONCE(to_site(item)->uid));
}

static ssize_t khttpd_site_uid_store(struct config_item *item,
				     const char *page, size_t len)
{
	return khttpd_site_item_written(item,
			khttpd_config_number(&to_site(item)->uid, KHTTPD_ID_MIN,
					     KHTTPD_ID_MAX, NULL, page, len));
}
CONFIGFS_ATTR(khttpd_site_, uid);

static ssize_t khttpd_site_gid_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", READ_ONCE(to_site(item)->gid));
}

static ssize_t khttpd_site_gid_store(struct config_item *item,
				     const char *page, size_t len)
{
	return khttpd_site_item_written(item,
			khttpd_config_number(&to_site(item)->gid, KHTTPD_ID_MIN,
					     KHTTPD_ID_MAX, NULL, page, len));
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
	&khttpd_site_attr_listing,
	&khttpd_site_attr_etag_version,
	&khttpd_site_attr_precompressed,
	&khttpd_site_attr_until_closed,
	&khttpd_site_attr_rules,
	&khttpd_site_attr_names,
	&khttpd_site_attr_behind,
	&khttpd_site_attr_certificate,
	&khttpd_site_attr_key,
	&khttpd_site_attr_hsts,
	&khttpd_site_attr_proxy_protocol,
	&khttpd_site_attr_send_proxy,
	&khttpd_site_attr_uid,
	&khttpd_site_attr_gid,
	&khttpd_site_attr_attached,
	&khttpd_site_attr_enabled,
	&khttpd_site_attr_pending,
	NULL
};

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
	khttpd_site_item_stop(to_site(item));
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
