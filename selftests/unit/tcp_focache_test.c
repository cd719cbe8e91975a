// SPDX-License-Identifier: GPL-2.0
/* The memory of Fast Open cookies: what is found, what gives way, when Fast Open is off. */
#include <linux/kernel.h>
#include <arpa/inet.h>

#include "unit.h"
#include "../../net6/transport/tcp/conn/focache.c"

static struct net6_tcp_fo_cache cache;

static struct in6_addr addr(const char *text)
{
	struct in6_addr a;

	inet_pton(AF_INET6, text, &a);
	return a;
}

/* Servers whose addresses fall into one set. */
static struct in6_addr server(unsigned int n)
{
	struct in6_addr a = addr("2001:db8::");
	const struct net6_tcp_fo_peer *set = net6_tcp_fo_set(&cache, &a);
	unsigned int i, found = 0;

	for (i = 0; i < 65536; i++) {
		a.s6_addr[14] = i >> 8;
		a.s6_addr[15] = i;
		if (net6_tcp_fo_set(&cache, &a) == set && found++ == n)
			break;
	}
	return a;
}

TEST(fo__a_cookie_belongs_to_both_addresses)
{
	struct in6_addr us = addr("2001:db8::1"), other = addr("2001:db8::2"), to = server(0);
	struct net6_tcp_opts o = { .fastopen_ok = true, .fastopen_len = 8, .fastopen = "zbcdefgh" };
	struct net6_tcp_fo_peer *peer;

	memset(&cache, 0, sizeof(cache));
	EXPECT_TRUE(!net6_tcp_fo_find(&cache, &us, &to));
	peer = net6_tcp_fo_enter(&cache, &us, &to, 5);
	EXPECT_EQ(peer->len, 0);
	net6_tcp_fo_learn(peer, &o, 1440);
	EXPECT_TRUE(net6_tcp_fo_find(&cache, &us, &to) == peer);
	EXPECT_TRUE(!net6_tcp_fo_find(&cache, &other, &to));
	EXPECT_TRUE(!net6_tcp_fo_find(&cache, &to, &us));
	EXPECT_EQ(peer->len, 8);
	EXPECT_EQ(peer->mss, 1440);
	EXPECT_MEM(peer->cookie, "zbcdefgh", 8);
	/* A SYN-ACK without a cookie leaves the one there is. */
	o.fastopen_len = 0;
	net6_tcp_fo_learn(peer, &o, 1220);
	EXPECT_EQ(peer->len, 8);
	EXPECT_EQ(peer->mss, 1220);
}

TEST(fo__the_one_used_least_lately_gives_way)
{
	struct in6_addr us = addr("2001:db8::1"), to;
	u32 now = -2;
	int i;

	memset(&cache, 0, sizeof(cache));
	for (i = 0; i < NET6_TCP_FO_WAYS; i++) {
		to = server(i);
		net6_tcp_fo_enter(&cache, &us, &to, now + i);
	}
	to = server(0);
	net6_tcp_fo_enter(&cache, &us, &to, now + i);
	to = server(NET6_TCP_FO_WAYS);
	net6_tcp_fo_enter(&cache, &us, &to, now + i + 1);
	for (i = 0; i <= NET6_TCP_FO_WAYS; i++) {
		to = server(i);
		EXPECT_EQ(!net6_tcp_fo_find(&cache, &us, &to), i == 1);
	}
}

/* The worst: somebody knows the sets of addresses under one key, and has the client ask servers of
 * one set. Under another key they are spread, so each set keeps what it had.
 */
TEST(fo__addresses_of_one_set_are_spread_under_another_key)
{
	struct in6_addr us = addr("2001:db8::1"), own = addr("2001:db8:1::1"), to[64];
	unsigned int kept = 0, key;
	int i;

	memset(&cache, 0, sizeof(cache));
	for (i = 0; i < ARRAY_SIZE(to); i++)
		to[i] = server(i);
	for (key = 1; key <= 100; key++) {
		memset(&cache, 0, sizeof(cache));
		cache.key.key[0] = key;
		net6_tcp_fo_enter(&cache, &us, &own, 1);
		for (i = 0; i < ARRAY_SIZE(to); i++)
			net6_tcp_fo_enter(&cache, &us, &to[i], 2);
		kept += !!net6_tcp_fo_find(&cache, &us, &own);
	}
	/* One server is expected in its set; with four it is lost, in 2 of 100. */
	EXPECT_TRUE(kept > 90);
	printf("# kept under %u of 100 keys\n", kept);
	/* Under the key that they were chosen for it is lost if it shares the set. */
	memset(&cache, 0, sizeof(cache));
	net6_tcp_fo_enter(&cache, &us, &to[0], 1);
	for (i = 1; i <= NET6_TCP_FO_WAYS; i++)
		net6_tcp_fo_enter(&cache, &us, &to[i], 2);
	EXPECT_TRUE(!net6_tcp_fo_find(&cache, &us, &to[0]));
}

TEST(fo__off_for_an_hour_then_longer)
{
	struct net6_tcp_opts o = {};
	struct net6_tcp_fo_peer peer = {};
	u32 now = -100;
	int i;

	EXPECT_FALSE(net6_tcp_fo_is_off(&peer, now));
	for (i = 0; i < 8; i++) {
		u32 hours = 1 << (i < 5 ? i : 5);

		net6_tcp_fo_lost(&peer, now);
		EXPECT_TRUE(net6_tcp_fo_is_off(&peer, now));
		EXPECT_TRUE(net6_tcp_fo_is_off(&peer, now + 3600 * hours - 1));
		EXPECT_FALSE(net6_tcp_fo_is_off(&peer, now + 3600 * hours));
	}
	net6_tcp_fo_learn(&peer, &o, 1440);
	EXPECT_FALSE(net6_tcp_fo_is_off(&peer, now));
}
