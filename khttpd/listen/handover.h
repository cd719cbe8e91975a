/* SPDX-License-Identifier: GPL-2.0 */
/* Connections that are given to a server, and how khttpd gets in front of it. */
#ifndef _KHTTPD_HANDOVER_H
#define _KHTTPD_HANDOVER_H

#include "../conn/conn.h"

/* handover.c */
bool khttpd_handover(struct khttpd_conn *conn);
bool khttpd_handover_sock(struct khttpd_listener *listener,
			  struct khttpd_handed *handed);
bool khttpd_handover_to_backend(struct khttpd_conn *conn);
void khttpd_handover_wake(struct wait_queue_head *head);
bool khttpd_handover_pending(const struct khttpd_listener *listener);
struct khttpd_handed *khttpd_handover_take(struct khttpd_listener *listener);
void khttpd_handover_graft(struct khttpd_listener *listener,
			   struct khttpd_handed *handed,
			   struct socket *newsock);
void khttpd_handover_thread(struct khttpd_listener *listener,
			    struct khttpd_handed *handed,
			    enum khttpd_conn_state state);
void khttpd_handover_stop(struct khttpd_listener *listener);

/* interpose.c */
int khttpd_interpose_init(void);
void khttpd_interpose_exit(void);
const struct proto_ops *khttpd_interpose_orig(const struct socket *sock);
void khttpd_interpose_watch(void (*closed)(void));

/* attach.c */
bool khttpd_attach_bore(const struct khttpd_listener *listener, const struct socket *sock);
int khttpd_attach(struct khttpd_site *site, struct socket *sock);
int khttpd_detach(struct khttpd_site *site);

/* attached.c */
struct khttpd_listener *khttpd_attached_find(const struct socket *sock);
unsigned int khttpd_attached(const struct khttpd_site *site);
bool khttpd_attached_over(struct khttpd_site *site);
void khttpd_attached_set_site(struct khttpd_site *old, struct khttpd_site *site);
struct khttpd_listener *
khttpd_backend_get(const struct khttpd_listener *listener);
bool khttpd_backend_exists(const struct khttpd_listener *listener);

#endif /* _KHTTPD_HANDOVER_H */
