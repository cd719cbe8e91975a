/* SPDX-License-Identifier: GPL-2.0 */
/* Clients by address and their limits (peer.c). */
#ifndef _KHTTPD_PEER_H
#define _KHTTPD_PEER_H

#include <linux/types.h>

struct khttpd_endpoint;
struct khttpd_peer;
struct khttpd_rules;
struct sock;

int khttpd_peers_init(void);
void khttpd_peers_exit(void);
struct khttpd_peer *khttpd_peer_get(const struct sock *sk, bool tls);
struct khttpd_peer *khttpd_peer_get_for(const struct sock *sk, const u8 *address, bool tls);
void khttpd_peer_put(struct khttpd_peer *peer);
bool khttpd_peer_shake(struct khttpd_peer *peer);
void khttpd_peer_shaken(struct khttpd_peer *peer);
bool khttpd_peer_blocked(const struct khttpd_rules *rules, const struct sock *sk,
			 const struct khttpd_endpoint *client);
bool khttpd_peer_rate(struct khttpd_peer *peer);
void khttpd_peer_rate_undo(struct khttpd_peer *peer);

/* As khttpd_peer_rate(); NULL, who has no limits, may always. */
static inline bool khttpd_peer_request(struct khttpd_peer *peer)
{
	return likely(!peer) || khttpd_peer_rate(peer);
}

/* As khttpd_peer_rate_undo(), for whoever may have limits. */
static inline void khttpd_peer_request_undo(struct khttpd_peer *peer)
{
	if (unlikely(peer))
		khttpd_peer_rate_undo(peer);
}

#endif /* _KHTTPD_PEER_H */
