// SPDX-License-Identifier: GPL-2.0
/* Virtual hosts: sites that stand behind another one, which asks them for requests to their names.
 * A list, read under RCU, and an index of all names if they are not few (vhost_index.c). Both are
 * the front site's own, so that a new form of that site can have its own before it is seen.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include "vhost.h"
#include "vhost_index.h"

/* So many names are looked through one by one. */
#define KHTTPD_VHOST_FEW	4

/**
 * struct khttpd_vhost - a site behind another
 * @node: link in the list of the one in front
 * @site: the site; reference held
 */
struct khttpd_vhost {
	struct list_head node;
	struct khttpd_site *site;
};

static struct khttpd_vhost *khttpd_vhost_alloc(struct khttpd_site *site)
{
	struct khttpd_vhost *vhost = kzalloc(sizeof(*vhost), GFP_KERNEL);

	if (vhost)
		vhost->site = khttpd_site_get(site);
	return vhost;
}

static void khttpd_vhost_put(struct khttpd_vhost *vhost)
{
	khttpd_site_put(vhost->site);
	kfree(vhost);
}

/* Nobody finds it in a list or an index any more. */
static void khttpd_vhost_free(struct khttpd_vhost *vhost)
{
	synchronize_rcu();
	khttpd_vhost_put(vhost);
}

static u32 khttpd_vhost_count(const struct khttpd_site *front)
{
	const struct khttpd_vhost *vhost;
	const char *names, *name;
	u32 count = 0;

	list_for_each_entry(vhost, &front->vhosts, node) {
		names = vhost->site->options.names;
		while (khttpd_names_next(&names, &name))
			count++;
	}
	return count;
}

/* One that may refuse clients is known as such before it is seen. */
static void khttpd_vhost_foretell(struct khttpd_site *front, const struct khttpd_site *site)
{
	if (khttpd_access_judges(site->options.rules))
		WRITE_ONCE(front->judges, true);
}

static bool khttpd_vhost_judges(const struct khttpd_site *front)
{
	const struct khttpd_vhost *vhost;

	list_for_each_entry(vhost, &front->vhosts, node) {
		if (khttpd_access_judges(vhost->site->options.rules))
			return true;
	}
	return false;
}

/* Without memory each request goes through the list. */
static void khttpd_vhost_reindex(struct khttpd_site *front)
{
	u32 count = khttpd_vhost_count(front);
	struct khttpd_vhost_index *index = NULL;
	const struct khttpd_vhost *vhost;

	if (count > KHTTPD_VHOST_FEW)
		index = khttpd_vhost_index_alloc(count);
	if (index) {
		list_for_each_entry(vhost, &front->vhosts, node)
			khttpd_vhost_index_add(index, vhost->site);
	}
	index = rcu_replace_pointer(front->index, index, true);
	if (index)
		kvfree_rcu(index, rcu);
	WRITE_ONCE(front->judges, khttpd_vhost_judges(front));
}

static struct khttpd_vhost *khttpd_vhost_of(const struct khttpd_site *front,
					    const struct khttpd_site *site)
{
	struct khttpd_vhost *vhost;

	list_for_each_entry(vhost, &front->vhosts, node) {
		if (vhost->site == site)
			return vhost;
	}
	return NULL;
}

/* In no index yet. */
static int khttpd_vhost_list(struct khttpd_site *front, struct khttpd_site *site)
{
	struct khttpd_vhost *vhost = khttpd_vhost_alloc(site);

	if (!vhost)
		return -ENOMEM;
	khttpd_vhost_foretell(front, site);
	list_add_tail_rcu(&vhost->node, &front->vhosts);
	return 0;
}

/**
 * khttpd_vhost_add() - put a site behind another
 * @front: the site with listeners
 * @site: the one that gets the requests to its names
 *
 * Context: process; changes to a site's list are serialised by the caller.
 * Return: 0 or -ENOMEM.
 */
int khttpd_vhost_add(struct khttpd_site *front, struct khttpd_site *site)
{
	int err = khttpd_vhost_list(front, site);

	if (!err)
		khttpd_vhost_reindex(front);
	return err;
}

/**
 * khttpd_vhost_copy() - put what is behind one site behind another one, too
 * @front: the other one, not yet seen by anybody
 * @from: the one
 *
 * Context: process, serialised like khttpd_vhost_add().
 * Return: 0 or -ENOMEM; @front's list is to be cleared in any case.
 */
int khttpd_vhost_copy(struct khttpd_site *front, const struct khttpd_site *from)
{
	const struct khttpd_vhost *vhost;
	int err;

	list_for_each_entry(vhost, &from->vhosts, node) {
		err = khttpd_vhost_list(front, vhost->site);
		if (err)
			return err;
	}
	khttpd_vhost_reindex(front);
	return 0;
}

/**
 * khttpd_vhost_replace() - a site behind another takes a new form
 * @front: the site in front
 * @old: what was behind it, or not
 * @site: what is from now on
 *
 * Context: process, serialised like khttpd_vhost_add().
 * Return: 0 or -ENOMEM, with nothing changed.
 */
int khttpd_vhost_replace(struct khttpd_site *front, struct khttpd_site *old,
			 struct khttpd_site *site)
{
	struct khttpd_vhost *is = khttpd_vhost_of(front, old), *vhost;

	if (!is)
		return khttpd_vhost_add(front, site);
	vhost = khttpd_vhost_alloc(site);
	if (!vhost)
		return -ENOMEM;
	khttpd_vhost_foretell(front, site);
	list_replace_rcu(&is->node, &vhost->node);
	khttpd_vhost_reindex(front);
	khttpd_vhost_free(is);
	return 0;
}

/**
 * khttpd_vhost_del() - take a site away from behind another
 * @front: the site in front
 * @site: the site; nothing happens if it is not there
 *
 * Context: process, serialised like khttpd_vhost_add().
 */
void khttpd_vhost_del(struct khttpd_site *front, struct khttpd_site *site)
{
	struct khttpd_vhost *vhost = khttpd_vhost_of(front, site);

	if (!vhost)
		return;
	list_del_rcu(&vhost->node);
	khttpd_vhost_reindex(front);
	khttpd_vhost_free(vhost);
}

/**
 * khttpd_vhost_clear() - take all away
 * @front: the site they are behind
 *
 * Context: process, serialised like khttpd_vhost_add().
 */
void khttpd_vhost_clear(struct khttpd_site *front)
{
	struct khttpd_vhost *vhost, *next;
	LIST_HEAD(gone);

	if (list_empty(&front->vhosts))
		return;
	list_splice_init_rcu(&front->vhosts, &gone, synchronize_rcu);
	khttpd_vhost_reindex(front);
	synchronize_rcu();
	list_for_each_entry_safe(vhost, next, &gone, node)
		khttpd_vhost_put(vhost);
}

/**
 * khttpd_vhost_search() - the site for a host, among several
 * @front: the site whose listener the request came from
 * @host: as the request has it; nothing in it is valid if @len is 0
 * @len: its length
 *
 * Context: RCU read side, for which bottom halves off will do.
 * Return: the site, without a reference: the one that names the host, else the
 * first with a "*" for it, else @front.
 */
struct khttpd_site *khttpd_vhost_search(struct khttpd_site *front, const u8 *host,
					size_t len)
{
	const struct khttpd_vhost_index *index;
	struct khttpd_site *found = front;
	const struct khttpd_vhost *vhost;
	int best = 0, match;

	rcu_read_lock();
	index = rcu_dereference(front->index);
	if (index) {
		found = khttpd_vhost_index_find(index, host, len) ?: front;
		goto out;
	}
	list_for_each_entry_rcu(vhost, &front->vhosts, node) {
		match = len ? khttpd_names_match(vhost->site->options.names,
						 host, len) : 0;
		if (match > best) {
			best = match;
			found = vhost->site;
		}
	}
out:
	rcu_read_unlock();
	return found;
}

/**
 * khttpd_vhosts_any() - does something hold for a site, or for one behind it?
 * @front: the site in front
 * @test: what; it may not sleep
 * @path: its second argument
 *
 * Context: RCU read side.
 * Return: true if it does for one of them.
 */
bool khttpd_vhosts_any(const struct khttpd_site *front,
		       bool (*test)(const struct khttpd_site *site, struct khttpd_path *path),
		       struct khttpd_path *path)
{
	const struct khttpd_vhost *vhost;

	if (test(front, path))
		return true;
	list_for_each_entry_rcu(vhost, &front->vhosts, node) {
		if (test(vhost->site, path))
			return true;
	}
	return false;
}
