// SPDX-License-Identifier: GPL-2.0
/* Virtual hosts: sites without listeners of their own that stand behind another
 * one, which asks them for requests to their names. A list, read under RCU;
 * made for tens of sites, not for thousands.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include "khttpd.h"

/**
 * khttpd_vhost_add() - put a site behind another
 * @front: the site with listeners
 * @site: the one that gets the requests to its names; may stand behind one
 *	site only
 *
 * Context: process; changes to a site's list are serialised by the caller.
 */
void khttpd_vhost_add(struct khttpd_site *front, struct khttpd_site *site)
{
	site->front = khttpd_site_get(front);
	khttpd_site_get(site);
	list_add_tail_rcu(&site->vhost, &front->vhosts);
}

/**
 * khttpd_vhost_del() - take it away
 * @site: the site; nothing happens if it stands behind none
 *
 * Context: process, serialised like khttpd_vhost_add().
 */
void khttpd_vhost_del(struct khttpd_site *site)
{
	struct khttpd_site *front = site->front;

	if (!front)
		return;
	list_del_rcu(&site->vhost);
	synchronize_rcu();
	site->front = NULL;
	khttpd_site_put(front);
	khttpd_site_put(site);
}

/**
 * khttpd_vhost_clear() - take all away
 * @front: the site they are behind
 *
 * Context: process, serialised like khttpd_vhost_add().
 */
void khttpd_vhost_clear(struct khttpd_site *front)
{
	struct khttpd_site *site, *next;

	list_for_each_entry_safe(site, next, &front->vhosts, vhost)
		khttpd_vhost_del(site);
}

/**
 * khttpd_vhost_find() - the site for a host
 * @front: the site whose listener the request came from
 * @host: as the request has it; nothing in it is valid if @len is 0
 * @len: its length
 *
 * Context: RCU read lock held.
 * Return: the site, without a reference: the one that names the host, else the
 * first with a "*" for it, else @front.
 */
struct khttpd_site *khttpd_vhost_find(struct khttpd_site *front, const u8 *host,
				      size_t len)
{
	struct khttpd_site *site, *found = front;
	int best = 0, match;

	if (likely(list_empty(&front->vhosts)))
		return front;
	list_for_each_entry_rcu(site, &front->vhosts, vhost) {
		match = len ? khttpd_names_match(site->options.names, host,
						 len) : 0;
		if (match > best) {
			best = match;
			found = site;
		}
	}
	return found;
}

/**
 * khttpd_vhost_get() - khttpd_vhost_find() with a reference
 * @front: as there
 * @host: as there
 * @len: as there
 *
 * Context: any.
 */
struct khttpd_site *khttpd_vhost_get(struct khttpd_site *front, const u8 *host,
				     size_t len)
{
	struct khttpd_site *site;

	rcu_read_lock();
	/* A site in the list has a reference for being there. */
	site = khttpd_site_get(khttpd_vhost_find(front, host, len));
	rcu_read_unlock();
	return site;
}
