// SPDX-License-Identifier: GPL-2.0
/* A small associative memory of Fast Open cookies: bounded, the entry used least lately
 * gives way. Pure logic: no lock, no clock; also compiled in user space.
 */
#include <linux/siphash.h>
#include <linux/string.h>

#include "focache.h"

static struct net6_tcp_fo_peer *net6_tcp_fo_set(struct net6_tcp_fo_cache *cache,
						const struct in6_addr *daddr)
{
	u64 hash = siphash(daddr, sizeof(*daddr), &cache->key);

	return cache->peer[hash & (NET6_TCP_FO_SETS - 1)];
}

static bool net6_tcp_fo_same(const struct net6_tcp_fo_peer *peer, const struct in6_addr *saddr,
			     const struct in6_addr *daddr)
{
	return peer->valid && !memcmp(&peer->daddr, daddr, sizeof(*daddr)) &&
	       !memcmp(&peer->saddr, saddr, sizeof(*saddr));
}

/**
 * net6_tcp_fo_find() - what is known about a server
 * @cache: cookies of a namespace
 * @saddr: our address
 * @daddr: the server's
 *
 * Return: the entry, or NULL.
 */
struct net6_tcp_fo_peer *net6_tcp_fo_find(struct net6_tcp_fo_cache *cache,
					  const struct in6_addr *saddr,
					  const struct in6_addr *daddr)
{
	struct net6_tcp_fo_peer *set = net6_tcp_fo_set(cache, daddr);
	int i;

	for (i = 0; i < NET6_TCP_FO_WAYS; i++)
		if (net6_tcp_fo_same(&set[i], saddr, daddr))
			return &set[i];
	return NULL;
}

/**
 * net6_tcp_fo_enter() - the entry of a server, made if there is none
 * @cache: cookies of a namespace
 * @saddr: our address
 * @daddr: the server's
 * @now: seconds; the entry counts as used
 *
 * Return: the entry; a new one has no cookie, no MSS and no failures.
 */
struct net6_tcp_fo_peer *net6_tcp_fo_enter(struct net6_tcp_fo_cache *cache,
					   const struct in6_addr *saddr,
					   const struct in6_addr *daddr, u32 now)
{
	struct net6_tcp_fo_peer *peer = net6_tcp_fo_find(cache, saddr, daddr), *set;
	int i;

	if (!peer) {
		set = net6_tcp_fo_set(cache, daddr);
		peer = set;
		for (i = 0; i < NET6_TCP_FO_WAYS; i++) {
			if (!set[i].valid) {
				peer = &set[i];
				break;
			}
			if ((s32)(set[i].used - peer->used) < 0)
				peer = &set[i];
		}
		memset(peer, 0, sizeof(*peer));
		peer->saddr = *saddr;
		peer->daddr = *daddr;
		peer->valid = true;
	}
	peer->used = now;
	return peer;
}

/**
 * net6_tcp_fo_learn() - the server answered a SYN with the option
 * @peer: its entry
 * @o: options of its SYN-ACK; a cookie takes the old one's place
 * @mss: what it announced, bytes
 */
void net6_tcp_fo_learn(struct net6_tcp_fo_peer *peer, const struct net6_tcp_opts *o, u16 mss)
{
	if (o->fastopen_len) {
		peer->len = o->fastopen_len;
		memcpy(peer->cookie, o->fastopen, o->fastopen_len);
	}
	peer->mss = mss;
	peer->failures = 0;
}

/**
 * net6_tcp_fo_lost() - only a SYN without the option got through
 * @peer: the server's entry
 * @now: seconds
 *
 * RFC 7413 4.1.3.1: Fast Open is off for it for a while; the cookie is kept.
 */
void net6_tcp_fo_lost(struct net6_tcp_fo_peer *peer, u32 now)
{
	if (peer->failures <= NET6_TCP_FO_OFF_SHIFT)
		peer->failures++;
	peer->off = now + (NET6_TCP_FO_OFF << (peer->failures - 1));
}

/**
 * net6_tcp_fo_is_off() - is Fast Open off for a server now?
 * @peer: its entry
 * @now: seconds
 *
 * Return: true if its next SYN is an ordinary one.
 */
bool net6_tcp_fo_is_off(const struct net6_tcp_fo_peer *peer, u32 now)
{
	return peer->failures && (s32)(now - peer->off) < 0;
}
