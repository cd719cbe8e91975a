/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners, our own and servers'. */
#ifndef _KHTTPD_LISTENER_H
#define _KHTTPD_LISTENER_H

#include "../conn/conn.h"

/**
 * struct khttpd_sockopts - options of a listening socket of our own
 * @backlog: of listen(2)
 * @defer_accept: TCP_DEFER_ACCEPT in seconds, or 0
 * @fastopen: TCP_FASTOPEN, requests at once, or 0
 * @tls: its connections begin with a TLS handshake
 * @redirect: port of HTTPS to which all its clients are sent, or 0
 * @cpu: one of several with SO_REUSEPORT: the one for this CPU; or -1
 */
struct khttpd_sockopts {
	u32 backlog;
	u32 defer_accept;
	u32 fastopen;
	bool tls;
	u32 redirect;
	int cpu;
};

/* listener.c */
int khttpd_listeners_init(void);
void khttpd_listeners_exit(void);
struct khttpd_listener *khttpd_listener_alloc(struct khttpd_site *site,
					      struct socket *sock);
void khttpd_listener_watch(struct khttpd_listener *listener);
bool khttpd_listener_unwatch(struct khttpd_listener *listener);
void khttpd_listener_kick(struct khttpd_listener *listener);
bool khttpd_listener_wait(struct khttpd_listener *listener, long timeout);
struct khttpd_listener *khttpd_listener_create(struct khttpd_site *site,
					       struct net *net, int family,
					       struct sockaddr_storage *addr,
					       int addr_len,
					       const struct khttpd_sockopts *opt);
void khttpd_listener_set_site(struct khttpd_listener *listener,
			      struct khttpd_site *site);
struct khttpd_site *khttpd_listener_site(const struct khttpd_listener *listener,
					 const u8 *host, size_t len);
void khttpd_listener_shut(struct khttpd_listener *listener);
void khttpd_listener_stop(struct khttpd_listener *listener,
			  unsigned long deadline);
void khttpd_listener_put(struct khttpd_listener *listener);
void khttpd_listener_accept(struct khttpd_listener *listener);
void khttpd_listener_unlock(struct khttpd_listener *listener);
void khttpd_listener_conn_done(struct khttpd_listener *listener);

/* A connection has left the accept queue. Return: was one in it counted as accepted before,
 * in softirq? Which of them it was does not matter.
 */
static inline bool khttpd_listener_given_one(struct khttpd_listener *listener)
{
	return atomic_dec_if_positive(&listener->given) >= 0;
}

static inline void khttpd_listener_count(struct khttpd_listener *listener)
{
	if (!khttpd_listener_given_one(listener))
		khttpd_count(accepted);
}

/* Nothing is accepted any more. Return: how many wait in the accept queue that were counted. */
static inline int khttpd_listener_given_take(struct khttpd_listener *listener)
{
	return atomic_xchg(&listener->given, 0);
}

#endif /* _KHTTPD_LISTENER_H */
