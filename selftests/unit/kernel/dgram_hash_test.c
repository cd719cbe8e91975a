// SPDX-License-Identifier: GPL-2.0
/* The tables of datagram sockets against a look at each socket in turn. The worst that a user can
 * do with them: thousands of sockets of one port on other addresses, or with other peers, and
 * names that shared a chain under another key.
 */
#include "../unit.h"
#include "../../../net6/transport/dgram_hash.c"
#include "../../../net6/transport/dgram_lookup.c"
#include "../../../net6/transport/dgram_port.c"
#include "../../../net6/transport/dgram_walk.c"
#include "kernel.h"

#define MANY	4000
/* Of 4,000 sockets in 4,096 chains. One in 10^9 keys has a longer one. */
#define LONGEST	14
#define PORT	7000

static struct net nets[2];
static struct prot_inuse inuse[2];
static struct net6_net parts[2];
static struct proto udp = { .rehash = net6_dgram_rehash };
static struct sock *sks[MANY];
static unsigned int n_sks;

static void setup(u64 seed)
{
	unsigned int i;

	unit_random_state = seed;
	for (i = 0; i < ARRAY_SIZE(nets) && !nets[i].gen; i++)
		unit_net_init(&nets[i], &inuse[i], &parts[i], i);
	EXPECT_EQ(net6_dgram_hash_init(), 0);
}

static struct sock *socket(struct net *net, u8 protocol, u32 addr)
{
	struct sock *sk = calloc(1, sizeof(struct inet_sock));

	sk->sk_protocol = protocol;
	sk->sk_prot = &udp;
	sk->sk_state = TCP_CLOSE;
	sk->sk_incoming_cpu = -1;
	sk->sk_v6_rcv_saddr = unit_addr(addr);
	refcount_set(&sk->sk_refcnt, 1);
	sock_net_set(sk, net);
	return sk;
}

static struct sock *bound(struct net *net, u32 addr, u16 port)
{
	struct sock *sk = socket(net, IPPROTO_UDP, addr);

	sk->sk_reuse = SK_CAN_REUSE;
	EXPECT_EQ(net6_dgram_get_port(sk, port), 0);
	return sk;
}

static void connect(struct sock *sk, u32 peer, u16 port)
{
	sk->sk_v6_daddr = unit_addr(peer);
	inet_sk(sk)->inet_dport = htons(port);
	sk->sk_state = peer ? TCP_ESTABLISHED : TCP_CLOSE;
	net6_dgram_rehash(sk);
}

static void close(struct sock *sk)
{
	net6_dgram_unhash(sk);
	EXPECT_EQ(inet_sk(sk)->inet_num, 0);
	free(sk);
}

static void close_all(void)
{
	while (n_sks)
		close(sks[--n_sks]);
}

static struct net6_dgram_key key_of(const struct in6_addr *laddr, u16 lport,
				    const struct in6_addr *faddr, u16 fport)
{
	return (struct net6_dgram_key){
		.laddr = laddr, .faddr = faddr, .lport = lport, .fport = htons(fport),
		.dif = 1, .protocol = IPPROTO_UDP,
	};
}

static struct sock *find(struct net *net, u32 laddr, u16 lport, u32 faddr, u16 fport)
{
	struct in6_addr local = unit_addr(laddr), foreign = unit_addr(faddr);
	struct net6_dgram_key key = key_of(&local, lport, &foreign, fport);

	return net6_dgram_lookup(net, &key, NULL);
}

static unsigned int length(const struct hlist_head *head)
{
	const struct hlist_node *node;
	unsigned int n = 0;

	hlist_for_each(node, head)
		n++;
	return n;
}

static unsigned int longest(void)
{
	unsigned int i, most = 0;

	for (i = 0; i < NET6_DGRAM_ADDR_CHAINS; i++)
		most = max(most, length(&net6_dgram_addr_table[i].head));
	return most;
}

/* Nothing is left where nobody is bound. */
static void teardown(void)
{
	unsigned int i;

	close_all();
	EXPECT_EQ(longest(), 0);
	for (i = 0; i < NET6_DGRAM_BUCKETS; i++) {
		EXPECT_EQ(length(&net6_dgram_table[i].head), 0);
		EXPECT_EQ(net6_dgram_table[i].count, 0);
		EXPECT_EQ(net6_dgram_table[i].flows, 0);
		EXPECT_FALSE(net6_dgram_table[i].filed);
	}
	net6_dgram_hash_exit();
	EXPECT_EQ(unit_objects, 0);
}

TEST(few__only_in_the_chain_of_their_port)
{
	setup(1);
	while (n_sks < NET6_DGRAM_SHORT) {
		sks[n_sks] = bound(&nets[0], n_sks + 1, PORT);
		n_sks++;
	}
	EXPECT_FALSE(net6_dgram_filed(net6_dgram_bucket(&nets[0], IPPROTO_UDP, PORT)));
	EXPECT_EQ(longest(), 0);
	sks[n_sks] = bound(&nets[0], n_sks + 1, PORT);
	n_sks++;
	EXPECT_TRUE(net6_dgram_filed(net6_dgram_bucket(&nets[0], IPPROTO_UDP, PORT)));
	EXPECT_LE(1, longest());
	teardown();
}

TEST(thousands_of_one_port_on_other_addresses)
{
	struct sock *any;
	unsigned int i;

	setup(2);
	any = bound(&nets[0], 0, PORT);
	for (; n_sks < MANY; n_sks++)
		sks[n_sks] = bound(&nets[0], n_sks + 1, PORT);
	EXPECT_LE(longest(), LONGEST);
	for (i = 0; i < MANY; i++)
		EXPECT_TRUE(find(&nets[0], i + 1, PORT, 77, 7) == sks[i]);
	EXPECT_TRUE(find(&nets[0], MANY + 1, PORT, 77, 7) == any);
	EXPECT_TRUE(!find(&nets[1], 1, PORT, 77, 7));
	EXPECT_TRUE(!find(&nets[0], 1, PORT + 1, 77, 7));
	EXPECT_TRUE(!find(&nets[0], 1, PORT + NET6_DGRAM_BUCKETS, 77, 7));
	close(any);
	EXPECT_TRUE(!find(&nets[0], MANY + 1, PORT, 77, 7));
	teardown();
}

TEST(thousands_of_one_address_and_port_with_other_peers)
{
	struct sock *listening;
	unsigned int i;

	setup(3);
	for (; n_sks < MANY; n_sks++) {
		sks[n_sks] = bound(&nets[0], 1, PORT);
		connect(sks[n_sks], n_sks / 100 + 1, 1000 + n_sks % 100);
	}
	listening = bound(&nets[0], 1, PORT);
	EXPECT_LE(longest(), LONGEST);
	for (i = 0; i < MANY; i++)
		EXPECT_TRUE(find(&nets[0], 1, PORT, i / 100 + 1, 1000 + i % 100) == sks[i]);
	EXPECT_TRUE(find(&nets[0], 1, PORT, 1, 999) == listening);
	EXPECT_TRUE(find(&nets[0], 1, PORT, 99, 1000) == listening);
	/* One goes to another peer, one has none again. */
	connect(sks[0], 500, 5);
	connect(sks[1], 0, 0);
	EXPECT_TRUE(find(&nets[0], 1, PORT, 500, 5) == sks[0]);
	EXPECT_TRUE(find(&nets[0], 1, PORT, 1, 1000) != sks[0]);
	EXPECT_TRUE(find(&nets[0], 1, PORT, 1, 1001) == sks[1]);
	EXPECT_EQ(net6_dgram_bucket(&nets[0], IPPROTO_UDP, PORT)->flows, MANY - 1);
	close(listening);
	teardown();
}

TEST(ports_in_a_row__each_in_a_chain_of_its_own)
{
	static bool used[NET6_DGRAM_BUCKETS];
	unsigned int i, chain;

	setup(11);
	for (i = 0; i < NET6_DGRAM_BUCKETS; i++) {
		chain = net6_dgram_bucket(&nets[1], IPPROTO_UDP, PORT + i) - net6_dgram_table;
		EXPECT_FALSE(used[chain]);
		used[chain] = true;
	}
	teardown();
}

/* Addresses, or peers' ports and addresses, that all have one chain under a key. */
static unsigned int alike(bool flows, u32 *names, unsigned int most)
{
	const struct in6_addr local = unit_addr(1);
	struct hlist_head *head, *first = NULL;
	struct net6_dgram_key key;
	struct in6_addr addr;
	unsigned int n = 0;
	u32 i;

	for (i = 1; n < most; i++) {
		addr = unit_addr(i);
		key = key_of(&local, PORT, &addr, 7);
		head = flows ? net6_dgram_flow_head(&nets[0], &key) :
			       net6_dgram_addr_head(&nets[0], IPPROTO_UDP, &addr, PORT);
		first = first ?: head;
		if (head == first)
			names[n++] = i;
	}
	return n;
}

/* Who chooses names without the key gets chains as by chance. */
TEST(names_that_shared_a_chain_under_another_key)
{
	static u32 names[100];
	unsigned int flows, i;

	for (flows = 0; flows < 2; flows++) {
		setup(4 + flows);
		EXPECT_EQ(alike(flows, names, ARRAY_SIZE(names)), ARRAY_SIZE(names));
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			sks[n_sks++] = bound(&nets[0], flows ? 1 : names[i], PORT);
			if (flows)
				connect(sks[i], names[i], 7);
		}
		EXPECT_EQ(longest(), ARRAY_SIZE(names));
		teardown();
		setup(6 + flows);
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			sks[n_sks++] = bound(&nets[0], flows ? 1 : names[i], PORT);
			if (flows)
				connect(sks[i], names[i], 7);
		}
		EXPECT_LE(longest(), 5);
		teardown();
	}
}

/* What a look at all sockets finds, by the rules alone: which match is worth how much. */
static int best_score(struct net *net, const struct net6_dgram_key *key)
{
	int best = 0, score;
	unsigned int i;

	for (i = 0; i < n_sks; i++)
		if (sk_hashed(sks[i]) && net6_dgram_match(sks[i], net, key, &score))
			best = max(best, score);
	return best;
}

static void compare(u32 laddr, u16 port, u32 faddr, u16 fport)
{
	struct in6_addr local = unit_addr(laddr), foreign = unit_addr(faddr);
	struct net6_dgram_key key = key_of(&local, port, &foreign, fport);
	struct sock *sk = net6_dgram_lookup(&nets[0], &key, NULL);
	int score = 0;

	if (sk)
		EXPECT_TRUE(net6_dgram_match(sk, &nets[0], &key, &score));
	EXPECT_EQ(score, best_score(&nets[0], &key));
}

/* One step of somebody who binds, connects, disconnects and closes at random. */
static void step(struct sock **slot)
{
	u32 r = get_random_u32();

	if (!*slot) {
		*slot = socket(&nets[0], IPPROTO_UDP, r % 4);
		(*slot)->sk_reuse = SK_CAN_REUSE;
		(*slot)->sk_bound_dev_if = (r >> 4) % 4 == 1;
		EXPECT_EQ(net6_dgram_get_port(*slot, PORT + (r >> 8) % 2 * NET6_DGRAM_BUCKETS), 0);
	} else if (r % 4 == 0) {
		close(*slot);
		*slot = NULL;
	} else if (!ipv6_addr_any(&(*slot)->sk_v6_rcv_saddr)) {
		connect(*slot, (r >> 4) % 3, 1000 + (r >> 8) % 3);
	}
}

TEST(any_order_of_calls__as_a_look_at_each)
{
	static struct sock *slots[40];
	unsigned int i, n, round;

	setup(9);
	for (round = 0; round < 3000; round++) {
		/* Now more, now fewer than are looked through. */
		n = round / 100 % 2 ? 8 : ARRAY_SIZE(slots);
		for (i = n; i < ARRAY_SIZE(slots) && round % 100 == 0; i++) {
			if (slots[i])
				close(slots[i]);
			slots[i] = NULL;
		}
		step(&slots[get_random_u32() % n]);
		for (n_sks = 0, i = 0; i < ARRAY_SIZE(slots); i++)
			if (slots[i])
				sks[n_sks++] = slots[i];
		for (i = 0; i < 8; i++) {
			u32 r = get_random_u32();

			compare(r % 5, PORT + (r >> 4) % 2 * NET6_DGRAM_BUCKETS, (r >> 8) % 4,
				1000 + (r >> 12) % 4);
		}
	}
	teardown();
	memset(slots, 0, sizeof(slots));
}

/* May @sk have the port beside @other? By the rules of bind(), the addresses being as given. */
TEST(bind__who_stands_in_the_way)
{
	struct sock *one, *other;
	unsigned int more;

	/* Beside few sockets, and beside many that are filed. */
	for (more = 0; more <= 20; more += 20) {
		setup(10);
		while (n_sks < more) {
			sks[n_sks] = bound(&nets[0], 100 + n_sks, PORT);
			n_sks++;
		}
		one = bound(&nets[0], 1, PORT);
		other = socket(&nets[0], IPPROTO_UDP, 1);
		EXPECT_EQ(net6_dgram_get_port(other, PORT), -EADDRINUSE);
		other->sk_v6_rcv_saddr = unit_addr(0);
		EXPECT_EQ(net6_dgram_get_port(other, PORT), -EADDRINUSE);
		other->sk_v6_rcv_saddr = unit_addr(2);
		EXPECT_EQ(net6_dgram_get_port(other, PORT), 0);
		net6_dgram_unhash(other);
		/* One that is connected does, too. */
		connect(one, 7, 7);
		other->sk_v6_rcv_saddr = unit_addr(1);
		EXPECT_EQ(net6_dgram_get_port(other, PORT), -EADDRINUSE);
		connect(one, 0, 0);
		/* A device of its own beside another's. */
		one->sk_bound_dev_if = 1;
		other->sk_v6_rcv_saddr = unit_addr(1);
		other->sk_bound_dev_if = 2;
		EXPECT_EQ(net6_dgram_get_port(other, PORT), 0);
		net6_dgram_unhash(other);
		other->sk_bound_dev_if = 1;
		EXPECT_EQ(net6_dgram_get_port(other, PORT), -EADDRINUSE);
		/* A group of one user, not of two. */
		one->sk_reuseport = true;
		other->sk_reuseport = true;
		other->sk_uid = KUIDT_INIT(1);
		EXPECT_EQ(net6_dgram_get_port(other, PORT), -EADDRINUSE);
		other->sk_uid = one->sk_uid;
		EXPECT_EQ(net6_dgram_get_port(other, PORT), 0);
		close(other);
		close(one);
		teardown();
	}
}

TEST(no_memory__nothing_is_left)
{
	unsigned int n;

	for (n = 0; n < 2; n++) {
		unit_no_memory_in = n;
		EXPECT_EQ(net6_dgram_hash_init(), -ENOMEM);
		EXPECT_EQ(unit_objects, 0);
	}
	unit_no_memory_in = -1;
}
