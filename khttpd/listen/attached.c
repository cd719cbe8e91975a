// SPDX-License-Identifier: GPL-2.0
/* The listeners of servers that khttpd is attached to: by socket, by site, and as the server behind
 * a listener of our own.
 */
#include <linux/hashtable.h>
#include <linux/rcupdate.h>
#include "../conn/conn.h"
#include "attach.h"
#include "handover.h"
#include "listener.h"

DEFINE_HASHTABLE(khttpd_interposed, 6);
LIST_HEAD(khttpd_attachments);

/**
 * khttpd_attached_find() - the listener that is attached to a socket
 * @sock: the socket
 *
 * Context: any.
 * Return: that one with a reference, or NULL.
 */
struct khttpd_listener *khttpd_attached_find(const struct socket *sock)
{
	struct khttpd_listener *listener;

	rcu_read_lock();
	hash_for_each_possible_rcu(khttpd_interposed, listener, hash,
				   (unsigned long)sock) {
		if (listener->sock != sock ||
		    !refcount_inc_not_zero(&listener->refs))
			continue;
		rcu_read_unlock();
		return listener;
	}
	rcu_read_unlock();
	return NULL;
}

/**
 * khttpd_attached_is_of() - is a listener attached to this site, in whatever form?
 * @listener: the listener
 * @site: the site
 *
 * Context: interpose lock or RCU.
 */
bool khttpd_attached_is_of(const struct khttpd_listener *listener, const struct khttpd_site *site)
{
	return rcu_dereference_check(listener->site,
				     lockdep_is_held(&khttpd_interpose_lock))->id ==
	       site->id;
}

/**
 * khttpd_attached() - how many listeners is a site attached to?
 * @site: the site
 */
unsigned int khttpd_attached(const struct khttpd_site *site)
{
	struct khttpd_listener *listener;
	unsigned int n = 0;
	int bucket;

	mutex_lock(&khttpd_interpose_lock);
	hash_for_each(khttpd_interposed, bucket, listener, hash)
		n += khttpd_attached_is_of(listener, site);
	mutex_unlock(&khttpd_interpose_lock);
	return n;
}

/**
 * khttpd_attached_set_site() - listeners of servers get the new form of their site
 * @old: the old one; nothing is attached to it any more
 * @site: the new one; NULL if there is none
 *
 * Context: process, configuration locked. The old one is seen until the next grace
 * period ends.
 */
void khttpd_attached_set_site(struct khttpd_site *old, struct khttpd_site *site)
{
	struct khttpd_listener *listener;
	int bucket;

	mutex_lock(&khttpd_interpose_lock);
	WRITE_ONCE(old->closed, true);
	if (site)
		site->served = old->served;
	hash_for_each(khttpd_interposed, bucket, listener, hash) {
		if (site && khttpd_attached_is_of(listener, site))
			khttpd_listener_set_site(listener, site);
	}
	mutex_unlock(&khttpd_interpose_lock);
}

/**
 * khttpd_attached_over() - has the last server of a site gone?
 * @site: the site
 *
 * Context: process, configuration locked.
 * Return: true if there was one and is none any more; nothing can be attached to it then.
 */
bool khttpd_attached_over(struct khttpd_site *site)
{
	struct khttpd_listener *listener;
	int bucket;
	bool over;

	mutex_lock(&khttpd_interpose_lock);
	over = site->served;
	hash_for_each(khttpd_interposed, bucket, listener, hash)
		over &= !khttpd_attached_is_of(listener, site);
	if (over)
		WRITE_ONCE(site->closed, true);
	mutex_unlock(&khttpd_interpose_lock);
	return over;
}

/* Can a server take what comes from @listener at @backend? */
static bool khttpd_backend_fits(const struct khttpd_listener *backend,
				const struct khttpd_listener *listener)
{
	return khttpd_attached_is_of(backend, rcu_dereference(listener->site)) &&
	       backend->conn_ops == listener->conn_ops &&
	       backend->net == listener->net &&
	       !READ_ONCE(backend->stopped) && !READ_ONCE(backend->gone);
}

/* The server behind an own listener; of several the one with the shortest queue. RCU. */
static struct khttpd_listener *
khttpd_backend_find(const struct khttpd_listener *listener)
{
	struct khttpd_listener *found = NULL, *backend;

	/* Asked for each connection, where the table would be mostly empty chains. */
	list_for_each_entry_rcu(backend, &khttpd_attachments, beside) {
		if (!khttpd_backend_fits(backend, listener))
			continue;
		if (!found || READ_ONCE(backend->queue_len) <
			      READ_ONCE(found->queue_len))
			found = backend;
	}
	return found;
}

/**
 * khttpd_backend_exists() - is there a server behind an own listener now?
 * @listener: the listener
 *
 * Context: any.
 */
bool khttpd_backend_exists(const struct khttpd_listener *listener)
{
	bool found;

	rcu_read_lock();
	found = khttpd_backend_find(listener);
	rcu_read_unlock();
	return found;
}

/**
 * khttpd_backend_get() - the server behind an own listener
 * @listener: the listener
 *
 * That is a listener to which the same site is attached, of the same family and network
 * namespace. Of several it is the one with the shortest queue.
 *
 * Context: process.
 * Return: that one with a reference, or NULL.
 */
struct khttpd_listener *
khttpd_backend_get(const struct khttpd_listener *listener)
{
	struct khttpd_listener *found;

	rcu_read_lock();
	found = khttpd_backend_find(listener);
	if (found && !refcount_inc_not_zero(&found->refs))
		found = NULL;
	rcu_read_unlock();
	return found;
}
