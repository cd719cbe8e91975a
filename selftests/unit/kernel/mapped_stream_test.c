// SPDX-License-Identifier: GPL-2.0
/* The table of socks in whose place an IPv4 one is used. The worst: a user has thousands of such
 * sockets, whose places in memory are alike.
 */
#include "../unit.h"
#include "kernel.h"
#include <linux/hashtable.h>
#include <linux/net6.h>
#include <linux/rculist.h>
#include <net/inet_connection_sock.h>

/* How many socks were looked at. */
static unsigned int visits;
#undef hlist_for_each_entry
#define hlist_for_each_entry(pos, head, member) \
	for (pos = hlist_entry_safe((head)->first, typeof(*(pos)), member); pos && ++visits; \
	     pos = hlist_entry_safe((pos)->member.next, typeof(*(pos)), member))
#include "../../../net6/socket/mapped_stream.c"

#define MANY	4000
/* Of 4,000 in 4,096 chains. */
#define LONGEST	10

static unsigned int released;

void sock_release(struct socket *sock)
{
	free(sock->sk);
	free(sock);
	released++;
}

/* At a distance from each other as in a slab, or in pages. */
static void play(size_t distance)
{
	char *memory = calloc(MANY + 1, distance);
	struct socket *sock, *shadow;
	unsigned int i, most = 0;

	EXPECT_EQ(net6_mapped_stream_init(), 0);
	for (i = 0; i < MANY; i++) {
		shadow = calloc(1, sizeof(*shadow));
		shadow->sk = calloc(1, sizeof(struct net6_tcp_sock));
		net6_shadow_add((struct socket *)(memory + i * distance), shadow);
	}
	for (i = 0; i < MANY; i++) {
		sock = (struct socket *)(memory + i * distance);
		visits = 0;
		shadow = net6_shadow_get(sock);
		EXPECT_TRUE(shadow && net6_tcp_sk(shadow->sk)->shadow_of == sock);
		most = max(most, visits);
	}
	EXPECT_LE(most, LONGEST);
	EXPECT_TRUE(!net6_shadow_get((struct socket *)(memory + MANY * distance)));
	released = 0;
	for (i = 0; i < MANY; i++) {
		sock = (struct socket *)(memory + i * distance);
		net6_mapped_stream_release(sock);
		EXPECT_EQ(released, i + 1);
		EXPECT_TRUE(!net6_shadow_get(sock));
		net6_mapped_stream_release(sock);
		EXPECT_EQ(released, i + 1);
	}
	net6_mapped_stream_exit();
	EXPECT_EQ(unit_objects, 0);
	free(memory);
}

TEST(thousands_of_sockets)
{
	unit_random_state = 1;
	play(sizeof(struct socket));
	play(4096);
}

TEST(no_memory__nothing_is_left)
{
	unit_no_memory_in = 0;
	EXPECT_EQ(net6_mapped_stream_init(), -ENOMEM);
	unit_no_memory_in = -1;
	EXPECT_EQ(unit_objects, 0);
}
