// SPDX-License-Identifier: GPL-2.0
/* TCP's tables of listeners and of connections. The worst: thousands of listeners of one port on
 * other addresses, thousands of connections whose names are much alike, a large group of
 * SO_REUSEPORT, and names that shared a chain under another key.
 */
#include "../unit.h"
#include "kernel.h"

/* How many entries a look-up has visited. */
static unsigned int visits;
#include <net/sock.h>
#undef sk_nulls_for_each_rcu
#define sk_nulls_for_each_rcu(sk, node, list) \
	for (node = (list)->first; !is_a_nulls(node) && ++visits && \
	     (sk = hlist_nulls_entry(node, struct sock, sk_nulls_node)); node = node->next)
#include "../../../net6/transport/tcp/conn/hash.c"

#define MANY	4000
#define PORT	7000
/* Of 4,000 listeners in 2,048 chains, or connections in 1,024. */
#define LONGEST	20

static struct net nets[2];
static struct prot_inuse inuse[2];
static struct net6_net parts[2];
static struct proto tcp;
static struct sock *sks[MANY];
static unsigned int n_sks;

void net6_tcp_request_put(struct net6_tcp_request *req) {}
void net6_tcp_tw_put(struct net6_tcp_tw *tw) {}
bool net6_tcp_user_joined(const struct sock *listener, struct sock *sk)
{
	return false;
}

bool net6_tcp_tw_reusable(const struct net6_tcp_tw *tw)
{
	return true;
}

static void setup(u64 seed)
{
	unsigned int i;

	unit_random_state = seed;
	for (i = 0; i < ARRAY_SIZE(nets) && !nets[i].gen; i++)
		unit_net_init(&nets[i], &inuse[i], &parts[i], i);
	EXPECT_EQ(net6_tcp_hash_init(), 0);
}

static void teardown(void)
{
	unsigned int i;

	while (n_sks) {
		net6_tcp_unhash(sks[--n_sks]);
		free(sks[n_sks]);
	}
	for (i = 0; i < NET6_TCP_LISTEN_BUCKETS; i++)
		EXPECT_TRUE(hlist_nulls_empty(&listeners[i].head));
	for (i = 0; i <= table.mask; i++)
		EXPECT_TRUE(hlist_nulls_empty(&table.head[i]));
	net6_tcp_hash_exit();
	EXPECT_EQ(unit_objects, 0);
}

static struct sock *socket(u32 addr, u16 port)
{
	struct sock *sk = calloc(1, sizeof(struct net6_tcp_sock));

	sk->sk_prot = &tcp;
	sk->sk_incoming_cpu = -1;
	sk->sk_v6_rcv_saddr = unit_addr(addr);
	inet_sk(sk)->inet_num = port;
	refcount_set(&sk->sk_refcnt, 1);
	sock_net_set(sk, &nets[0]);
	sks[n_sks++] = sk;
	return sk;
}

static struct sock *listener(u32 addr, u16 port, bool group, int dev)
{
	struct sock *sk = socket(addr, port);

	sk->sk_state = TCP_LISTEN;
	sk->sk_reuseport = group;
	sk->sk_bound_dev_if = dev;
	EXPECT_EQ(net6_tcp_hash_listener(sk), 0);
	return sk;
}

/* The listener that a SYN to the address and port finds. */
static struct sock *syn(struct net *net, u32 laddr, u16 port, int dev)
{
	struct in6_addr local = unit_addr(laddr), foreign = unit_addr(77);
	struct net6_tcp_key key = { .laddr = &local, .faddr = &foreign, .dif = dev };
	struct tcphdr th = { .source = htons(9), .dest = htons(port) };
	struct sk_buff skb = { .head = (void *)&th };

	key.ports = INET_COMBINED_PORTS(th.source, port);
	visits = 0;
	return net6_tcp_lookup_listener(net, &key, &skb, sizeof(th));
}

TEST(listeners_of_one_port_on_other_addresses)
{
	struct sock *any;
	unsigned int i, most = 0;

	setup(1);
	while (n_sks < MANY - 1)
		listener(n_sks + 1, PORT, false, 0);
	any = listener(0, PORT, false, 0);
	for (i = 0; i < MANY - 1; i++) {
		EXPECT_TRUE(syn(&nets[0], i + 1, PORT, 1) == sks[i]);
		most = max(most, visits);
	}
	EXPECT_TRUE(syn(&nets[0], MANY, PORT, 1) == any);
	most = max(most, visits);
	EXPECT_LE(most, LONGEST);
	EXPECT_TRUE(!syn(&nets[1], 1, PORT, 1));
	EXPECT_TRUE(!syn(&nets[0], 1, PORT + 1, 1));
	EXPECT_LE(visits, LONGEST);
	teardown();
}

TEST(a_group__its_first_is_enough)
{
	struct sock *on_device;

	setup(2);
	while (n_sks < MANY - 4)
		listener(1, PORT, true, 0);
	EXPECT_TRUE(syn(&nets[0], 1, PORT, 1)->sk_reuseport);
	EXPECT_LE(visits, 2);
	/* One with the SYN's device is better, and is met before the group. */
	on_device = listener(1, PORT, false, 3);
	EXPECT_TRUE(syn(&nets[0], 1, PORT, 3) == on_device);
	EXPECT_LE(visits, 2);
	listener(1, PORT, true, 0);
	EXPECT_TRUE(syn(&nets[0], 1, PORT, 3) == on_device);
	EXPECT_TRUE(syn(&nets[0], 1, PORT, 1)->sk_reuseport);
	EXPECT_LE(visits, 3);
	/* It is better than one without a device that is met before it, too. */
	on_device = listener(2, PORT, false, 3);
	listener(2, PORT, false, 0);
	EXPECT_TRUE(syn(&nets[0], 2, PORT, 3) == on_device);
	teardown();
}

static struct sock *connection(u32 laddr, u16 lport, u32 faddr, u16 fport)
{
	struct sock *sk = socket(laddr, lport);

	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_v6_daddr = unit_addr(faddr);
	inet_sk(sk)->inet_dport = htons(fport);
	return sk;
}

static bool enter(struct sock *sk)
{
	struct net6_tcp_tw *tw;

	return net6_tcp_hash_unique(sk, &tw);
}

static struct sock *segment(u32 laddr, u16 lport, u32 faddr, u16 fport)
{
	struct in6_addr local = unit_addr(laddr), foreign = unit_addr(faddr);
	struct net6_tcp_key key = { .laddr = &local, .faddr = &foreign, .dif = 1 };
	struct sock *sk;

	key.ports = INET_COMBINED_PORTS(htons(fport), lport);
	visits = 0;
	sk = net6_tcp_lookup(&nets[0], &key);
	if (sk)
		refcount_dec(&sk->sk_refcnt);
	return sk;
}

/* All names but one of four parts are alike. */
TEST(connections_much_alike)
{
	unsigned int i, part, most;

	for (part = 0; part < 4; part++) {
		u32 a = part == 0, b = part == 1, c = part == 2, d = part == 3;

		setup(3 + part);
		for (i = 0; i < MANY; i++)
			EXPECT_TRUE(enter(connection(1 + a * i, PORT + b * i, 1 + c * i,
						     PORT + d * i)));
		most = 0;
		for (i = 0; i < MANY; i++) {
			EXPECT_TRUE(segment(1 + a * i, PORT + b * i, 1 + c * i, PORT + d * i) ==
				    sks[i]);
			most = max(most, visits);
		}
		EXPECT_LE(most, LONGEST);
		teardown();
	}
}

TEST(a_name_is_there_once)
{
	struct net6_tcp_tw *tw;
	struct sock *one, *two, *three;

	setup(7);
	one = connection(1, PORT, 2, 9);
	EXPECT_TRUE(enter(one));
	two = connection(1, PORT, 2, 9);
	EXPECT_FALSE(enter(two));
	EXPECT_TRUE(segment(1, PORT, 2, 9) == one);
	/* Another device does not make it another name, another namespace does. */
	two->sk_bound_dev_if = 5;
	EXPECT_FALSE(enter(two));
	two->sk_bound_dev_if = 0;
	one->sk_bound_dev_if = 5;
	EXPECT_FALSE(enter(two));
	/* Unless both have one. */
	two->sk_bound_dev_if = 6;
	EXPECT_TRUE(enter(two));
	net6_tcp_unhash(two);
	one->sk_bound_dev_if = 0;
	sock_net_set(two, &nets[1]);
	EXPECT_TRUE(enter(two));
	EXPECT_TRUE(segment(1, PORT, 2, 9) == one);
	/* TIME-WAIT gives its place up. */
	one->sk_state = TCP_TIME_WAIT;
	three = connection(1, PORT, 2, 9);
	EXPECT_TRUE(net6_tcp_hash_unique(three, &tw));
	EXPECT_TRUE((struct sock *)tw == one);
	EXPECT_TRUE(sk_unhashed(one));
	EXPECT_TRUE(segment(1, PORT, 2, 9) == three);
	teardown();
}

/* Who chooses names without the key gets chains as by chance. */
TEST(names_that_shared_a_chain_under_another_key)
{
	static u32 names[50];
	struct in6_addr one = unit_addr(1), addr;
	unsigned int what, n, most;
	u32 chain, first, i;

	/* Addresses of listeners; local and foreign ones of connections. */
	for (what = 0; what < 3; what++) {
		setup(8);
		for (i = 1, n = 0, first = 0; n < ARRAY_SIZE(names); i++) {
			addr = unit_addr(i);
			if (what)
				chain = net6_tcp_hashfn(&nets[0], what == 1 ? &addr : &one,
							what == 1 ? &one : &addr,
							INET_COMBINED_PORTS(htons(9), PORT)) &
					table.mask;
			else
				chain = net6_tcp_listen_bucket(&nets[0], &addr, PORT) - listeners;
			first = n ? first : chain;
			if (chain == first)
				names[n++] = i;
		}
		teardown();
		setup(9);
		for (i = 0; i < n; i++) {
			if (!what)
				listener(names[i], PORT, false, 0);
			else
				EXPECT_TRUE(enter(connection(what == 1 ? names[i] : 1, PORT,
							     what == 1 ? 1 : names[i], 9)));
		}
		for (most = 0, i = 0; i < n; i++) {
			if (!what)
				EXPECT_TRUE(syn(&nets[0], names[i], PORT, 1) == sks[i]);
			else
				EXPECT_TRUE(segment(what == 1 ? names[i] : 1, PORT,
						    what == 1 ? 1 : names[i], 9) == sks[i]);
			most = max(most, visits);
		}
		EXPECT_LE(most, 5);
		teardown();
	}
}

TEST(no_memory__nothing_is_left)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		unit_no_memory_in = n;
		EXPECT_EQ(net6_tcp_hash_init(), -ENOMEM);
		EXPECT_EQ(unit_objects, 0);
	}
	unit_no_memory_in = -1;
}
