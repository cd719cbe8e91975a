/* SPDX-License-Identifier: GPL-2.0 */
/* The Fast Open cookies that a client remembers (RFC 7413 4.1.3), of one namespace. The
 * caller locks. Pure, also compiled in user space.
 */
#ifndef _NET6_TCP_FOCACHE_H
#define _NET6_TCP_FOCACHE_H

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "../engine/options.h"

#define NET6_TCP_FO_SETS	64	/* power of 2 */
#define NET6_TCP_FO_WAYS	4

/* A destination gets no SYN with data for so long if it, or the way to it, seems to drop them.
 * That is an hour, twice as long each time it happens again, 32 hours at most.
 */
#define NET6_TCP_FO_OFF		3600
#define NET6_TCP_FO_OFF_SHIFT	5

/**
 * struct net6_tcp_fo_peer - what is known about a server
 * @saddr, @daddr: our address, on which the cookie depends, and the server's
 * @used: when it was used last, seconds
 * @off: until when it gets no Fast Open, seconds; meaningful if @failures is not 0
 * @mss: what it announced last (RFC 7413 4.1.3), bytes
 * @failures: SYNs with the option that were lost since one was answered
 * @len: bytes of @cookie, 0 for none
 * @cookie: as the server gave it
 * @valid: the entry is in use
 */
struct net6_tcp_fo_peer {
	struct in6_addr	saddr;
	struct in6_addr	daddr;
	u32		used;
	u32		off;
	u16		mss;
	u8		failures;
	u8		len;
	bool		valid;
	u8		cookie[NET6_TCP_FASTOPEN_MAX];
};

/**
 * struct net6_tcp_fo_cache - a namespace's cookies
 * @key: random, so that nobody can choose addresses of one set
 * @peer: a server's are in the set that its address names
 */
struct net6_tcp_fo_cache {
	siphash_key_t		key;
	struct net6_tcp_fo_peer	peer[NET6_TCP_FO_SETS][NET6_TCP_FO_WAYS];
};

struct net6_tcp_fo_peer *net6_tcp_fo_find(struct net6_tcp_fo_cache *cache,
					  const struct in6_addr *saddr,
					  const struct in6_addr *daddr);
struct net6_tcp_fo_peer *net6_tcp_fo_enter(struct net6_tcp_fo_cache *cache,
					   const struct in6_addr *saddr,
					   const struct in6_addr *daddr, u32 now);
void net6_tcp_fo_learn(struct net6_tcp_fo_peer *peer, const struct net6_tcp_opts *o, u16 mss);
void net6_tcp_fo_lost(struct net6_tcp_fo_peer *peer, u32 now);
bool net6_tcp_fo_is_off(const struct net6_tcp_fo_peer *peer, u32 now);

#endif /* _NET6_TCP_FOCACHE_H */
