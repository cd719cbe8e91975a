/* SPDX-License-Identifier: GPL-2.0 */
/* What attaching (attach.c), the table (attached.c) and the operations (interpose.c) share. */
#ifndef _KHTTPD_ATTACH_H
#define _KHTTPD_ATTACH_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/net.h>

struct khttpd_listener;
struct khttpd_site;

/**
 * struct khttpd_ops - a family's operations and our copy
 * @orig: the original
 * @ops: the copy
 */
struct khttpd_ops {
	const struct proto_ops *orig;
	struct proto_ops ops;
};

extern struct mutex khttpd_interpose_lock;	/* table, copies, attaching */
extern DECLARE_HASHTABLE(khttpd_interposed, 6);	/* listeners by socket */
extern struct list_head khttpd_attachments;	/* listeners in the table, RCU */

/* interpose.c */
struct khttpd_ops *khttpd_interpose_copy(const struct proto_ops *orig)
	__must_hold(&khttpd_interpose_lock);

/* attach.c */
void khttpd_attach_remove(struct khttpd_listener *listener) __must_hold(&khttpd_interpose_lock);

/* attached.c */
bool khttpd_attached_is_of(const struct khttpd_listener *listener, const struct khttpd_site *site);

#endif /* _KHTTPD_ATTACH_H */
