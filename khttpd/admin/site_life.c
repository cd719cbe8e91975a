// SPDX-License-Identifier: GPL-2.0
/* A site's life: started from what its directory says, changed while it runs, stopped. */
#include <linux/uidgid.h>
#include "../files/cache.h"
#include "../files/vhost.h"
#include "../listen/handover.h"
#include "../listen/listener.h"
#include "../observe/stats.h"
#include "config.h"
#include "docroot.h"

/* Another site in front of it, or none. */
static int khttpd_site_life_set_front(struct khttpd_site_item *item,
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
static void khttpd_site_life_leave(struct khttpd_site_item *item)
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

/**
 * khttpd_site_life_stop() - a site ends, with its listeners and what it is attached to
 * @item: its directory; it need not run
 *
 * Context: process; may wait for replies that are under way.
 */
void khttpd_site_life_stop(struct khttpd_site_item *item)
	__must_hold(&khttpd_config_lock)
{
	unsigned long deadline = khttpd_stop_deadline();
	struct khttpd_listener_item *listener;
	struct khttpd_site *site = item->site;

	lockdep_assert_held(&khttpd_config_lock);
	if (!site)
		return;
	khttpd_site_life_set_front(item, NULL);
	khttpd_attached_set_site(site, NULL);
	/* All at once: each has the same time. */
	list_for_each_entry(listener, &item->listeners, node)
		khttpd_listener_item_shut(listener);
	list_for_each_entry(listener, &item->listeners, node)
		khttpd_listener_item_stop(listener, deadline);
	khttpd_detach(site);
	khttpd_site_life_leave(item);
	khttpd_docroot_end(item->follow);
	item->follow = NULL;
	item->site = NULL;
	khttpd_cache_purge(site);
	khttpd_site_put(site);
}

/* The site that it is to stand behind: NULL for none, an error if it cannot. One
 * that is behind another serves nobody, and lets nobody in.
 */
static struct khttpd_site_item *
khttpd_site_life_front(const struct khttpd_site_item *item)
{
	struct khttpd_site_item *front;
	struct list_head *node;

	lockdep_assert_held(&khttpd_config_lock);
	if (!*item->behind)
		return NULL;
	/* Whom a listener lets in is a matter of its own site. */
	if (item->pem.client_ca)
		return ERR_PTR(-EINVAL);
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

static struct khttpd_site *khttpd_site_life_create(struct khttpd_site_item *item)
{
	return khttpd_site_create(item, config_item_name(&item->group.cg_item),
				  item->docroot, &item->options,
				  KUIDT_INIT(READ_ONCE(item->uid)),
				  KGIDT_INIT(READ_ONCE(item->gid)));
}

/* Listeners that were made since the site was started. Return: 0, or an error with
 * all as before.
 */
static int khttpd_site_life_start_new(struct khttpd_site_item *item,
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
static int khttpd_site_life_swap(struct khttpd_site_item *item,
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
static int khttpd_site_life_take(struct khttpd_site_item *item,
				 struct khttpd_site_item *front,
				 struct khttpd_site *site)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_site *old = item->site;
	int err;

	err = khttpd_site_life_swap(item, front, site);
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
static void khttpd_site_life_give_up(struct khttpd_site *site)
{
	khttpd_vhost_clear(site);
	khttpd_cache_purge(site);
	khttpd_site_put(site);
}

/* The path of the document root may name another directory: go there. Without memory the site
 * stays where it was. Context: a worker.
 */
static void khttpd_site_life_moved(struct config_item *config, const struct khttpd_docroot *docroot,
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
	    khttpd_site_life_take(item, item->front, site))
		khttpd_site_life_give_up(site);
	else
		khttpd_count(docroot_moves);
out:
	mutex_unlock(&khttpd_config_lock);
}

/**
 * khttpd_site_life_start() - begin to serve what the directory says
 * @item: a site's directory; it does not run
 *
 * Context: process.
 * Return: 0, or an error with nothing started.
 */
int khttpd_site_life_start(struct khttpd_site_item *item)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_listener_item *listener;
	struct khttpd_site_item *front;
	int err;

	lockdep_assert_held(&khttpd_config_lock);
	if (!item->docroot)
		return -ENOENT;
	front = khttpd_site_life_front(item);
	if (IS_ERR(front))
		return PTR_ERR(front);
	/* First, so that changes after the site has its root are noticed. */
	item->follow = khttpd_docroot_begin(item->docroot, &item->group.cg_item,
					    khttpd_site_life_moved);
	item->site = khttpd_site_life_create(item);
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
			khttpd_site_life_stop(item);
			return err;
		}
	}
	err = khttpd_site_life_set_front(item, front);
	if (err)
		khttpd_site_life_stop(item);
	return err;
}

/**
 * khttpd_site_life_reload() - take what was written since, without losing a connection
 * @item: the directory of a site that runs
 *
 * Context: process.
 * Return: 0, or an error with the site as it was.
 */
int khttpd_site_life_reload(struct khttpd_site_item *item)
	__must_hold(&khttpd_config_lock)
{
	struct khttpd_site *site, *old = item->site;
	struct khttpd_listener_item *listener;
	struct khttpd_site_item *front;
	struct khttpd_docroot *follow;
	int err;

	lockdep_assert_held(&khttpd_config_lock);
	front = khttpd_site_life_front(item);
	if (IS_ERR(front))
		return PTR_ERR(front);
	follow = khttpd_docroot_begin(item->docroot, &item->group.cg_item,
				      khttpd_site_life_moved);
	site = khttpd_site_life_create(item);
	if (IS_ERR(site)) {
		khttpd_docroot_end(follow);
		return PTR_ERR(site);
	}
	err = khttpd_vhost_copy(site, old);
	if (!err)
		err = khttpd_site_life_start_new(item, site);
	if (err)
		goto fail;
	err = khttpd_site_life_take(item, front, site);
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
	khttpd_site_life_give_up(site);
	return err;
}
