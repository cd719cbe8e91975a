// SPDX-License-Identifier: GPL-2.0
/* The chains of raw sockets. The worst: the root of a user namespace has thousands of them, of all
 * protocols, in a network namespace whose number hashes as our own's.
 */
#include "../unit.h"
#include "../../../net6/transport/raw.c"
#include "kernel.h"

#define MANY	4000

static struct net nets[2];
static struct prot_inuse inuse[2];
static struct net6_raw_net parts[2];
static struct sock *sks[MANY];

void net6_proto_tap_want(bool want)
{
}

static struct sock *raw(struct net *net, u16 protocol)
{
	struct sock *sk = calloc(1, sizeof(struct net6_raw_sock));

	sk->sk_prot = &net6_raw_prot;
	refcount_set(&sk->sk_refcnt, 1);
	sock_net_set(sk, net);
	inet_sk(sk)->inet_num = protocol;
	EXPECT_EQ(net6_raw_hash(sk), 0);
	return sk;
}

static void close(struct sock *sk)
{
	net6_raw_unhash(sk);
	free(sk);
}

static unsigned int length(struct net *net, u16 protocol)
{
	unsigned int n = 0;
	struct sock *sk;

	hlist_for_each_entry(sk, net6_raw_chain(net, protocol), sk_node)
		n++;
	return n;
}

TEST(thousands_of_another_namespace)
{
	struct sock *ours;
	unsigned int i;

	net6_raw_net_id = net6_net_id;
	for (i = 0; i < ARRAY_SIZE(nets); i++)
		unit_net_init(&nets[i], &inuse[i], &parts[i], 7);
	for (i = 0; i < MANY; i++)
		sks[i] = raw(&nets[1], i % 256);
	for (i = 0; i < 256; i++)
		EXPECT_EQ(length(&nets[0], i), 0);
	ours = raw(&nets[0], IPPROTO_ICMPV6);
	EXPECT_EQ(length(&nets[0], IPPROTO_ICMPV6), 1);
	/* Beyond what packets have; of their own protocols most are not in the way. */
	EXPECT_EQ(length(&nets[0], IPPROTO_MPTCP + 1), 0);
	EXPECT_LE(length(&nets[1], IPPROTO_ICMPV6), MANY / 60);
	close(ours);
	for (i = 0; i < MANY; i++)
		close(sks[i]);
	for (i = 0; i < 256; i++)
		EXPECT_EQ(length(&nets[1], i), 0);
}
