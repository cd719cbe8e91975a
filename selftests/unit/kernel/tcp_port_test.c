// SPDX-License-Identifier: GPL-2.0
/* The table of TCP's ports and the addresses of one, against a look at each owner in turn. The
 * worst: thousands of addresses of one port, taken in order, and thousands of connections and
 * TIME-WAIT entries of one address beside which somebody binds.
 */
#include "../unit.h"
#include "kernel.h"

/* How many owners were looked at. */
static unsigned int visits;
#undef sk_for_each_bound
#define sk_for_each_bound(sk, list) \
	for (sk = hlist_entry_safe((list)->first, struct sock, sk_bind_node); sk && ++visits; \
	     sk = hlist_entry_safe((sk)->sk_bind_node.next, struct sock, sk_bind_node))
#include "../../../net6/transport/tcp/conn/port.c"

#define MANY	4000
#define PORT	7000
#define FEW	3		/* looked at, in place of thousands */

static struct net nets[2];
static struct prot_inuse inuse[2];
static struct net6_net parts[2];
static bool name_taken;		/* as the table of connections says */

bool net6_tcp_hash_unique(struct sock *sk, struct net6_tcp_tw **twp)
{
	return !name_taken;
}

void net6_tcp_tw_taken(struct net6_tcp_tw *tw)
{
}

static void setup(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nets) && !nets[i].gen; i++)
		unit_net_init(&nets[i], &inuse[i], &parts[i], i);
	unit_random_state = 1;
	EXPECT_EQ(net6_tcp_port_init(), 0);
}

static void teardown(void)
{
	unsigned int i;

	for (i = 0; i < NET6_TCP_PORT_BUCKETS; i++)
		EXPECT_TRUE(hlist_empty(&ports[i].head));
	net6_tcp_port_exit();
	EXPECT_EQ(unit_objects, 0);
}

static struct sock *socket(u32 addr, bool reuse)
{
	struct sock *sk = calloc(1, sizeof(struct net6_tcp_sock));

	sk->sk_state = TCP_CLOSE;
	sk->sk_reuse = reuse;
	sk->sk_v6_rcv_saddr = unit_addr(addr);
	sock_net_set(sk, &nets[0]);
	return sk;
}

static int listen(struct sock *sk)
{
	int err;

	sk->sk_state = TCP_LISTEN;
	err = net6_tcp_get_port(sk, sk->sk_num);
	if (err)
		sk->sk_state = TCP_CLOSE;
	return err;
}

static void close(struct sock *sk)
{
	net6_tcp_put_port(sk);
	EXPECT_EQ(sk->sk_num, 0);
	free(sk);
}

static struct sock *bound(u32 addr, bool reuse, u16 port)
{
	struct sock *sk = socket(addr, reuse);

	EXPECT_EQ(net6_tcp_get_port(sk, port), 0);
	return sk;
}

/* What a connection to @listener becomes. */
static struct sock *child_of(struct sock *listener, u32 addr)
{
	struct sock *sk = socket(addr, listener->sk_reuse);

	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_bound_dev_if = listener->sk_bound_dev_if;
	sk->sk_reuseport = listener->sk_reuseport;
	inet_sk(sk)->inet_num = listener->sk_num;
	EXPECT_EQ(net6_tcp_inherit_port(sk, listener), 0);
	return sk;
}

static struct net6_tcp_tw *time_wait_of(struct sock *sk)
{
	struct net6_tcp_tw *tw = calloc(1, sizeof(struct net6_tcp_tw));

	tw->common = sk->__sk_common;
	tw->common.skc_state = TCP_TIME_WAIT;
	net6_tcp_port_to_tw(sk, tw);
	close(sk);
	return tw;
}

static void end(struct net6_tcp_tw *tw)
{
	net6_tcp_port_put_tw(tw);
	free(tw);
}

static unsigned int depth(const struct rb_node *node)
{
	return node ? 1 + max(depth(node->rb_left), depth(node->rb_right)) : 0;
}

/* Visits of a bind() that ends with @err. */
static unsigned int bind_visits(u32 addr, bool reuse, int err)
{
	struct sock *sk = socket(addr, reuse);

	visits = 0;
	EXPECT_EQ(net6_tcp_get_port(sk, PORT), err);
	if (!err)
		net6_tcp_put_port(sk);
	free(sk);
	return visits;
}

TEST(thousands_of_addresses_in_order)
{
	static struct sock *sks[MANY];
	struct net6_tcp_port *tb;
	unsigned int i;

	setup();
	for (i = 0; i < MANY; i++)
		sks[i] = bound(i + 1, false, PORT);
	tb = net6_tcp_sk(sks[0])->port->port;
	/* 2 log2(4,000 + 1) */
	EXPECT_LE(depth(tb->others.rb_root.rb_node), 24);
	for (i = 0; i < MANY; i += 100)
		EXPECT_LE(bind_visits(i + 1, false, -EADDRINUSE), 1);
	EXPECT_EQ(bind_visits(MANY + 1, false, 0), 0);
	EXPECT_LE(bind_visits(0, false, -EADDRINUSE), 1);
	/* The first one's place is free for another, in any order. */
	for (i = 0; i < MANY; i++) {
		close(sks[i * 7 % MANY]);
		sks[i * 7 % MANY] = NULL;
	}
	teardown();
}

TEST(thousands_of_connections_of_a_server_that_ended)
{
	static struct net6_tcp_tw *tws[MANY / 2];
	static struct sock *sks[MANY / 2];
	struct sock *listener;
	unsigned int i, addr;

	/* The server had an address, or none. */
	for (addr = 0; addr < 2; addr++) {
		setup();
		listener = bound(addr, true, PORT);
		EXPECT_EQ(listen(listener), 0);
		for (i = 0; i < MANY / 2; i++) {
			sks[i] = child_of(listener, 1);
			tws[i] = time_wait_of(child_of(listener, 1));
		}
		/* It is met before its connections. */
		EXPECT_LE(bind_visits(1, true, -EADDRINUSE), FEW);
		EXPECT_LE(bind_visits(1, false, -EADDRINUSE), FEW);
		EXPECT_LE(bind_visits(0, true, -EADDRINUSE), FEW);
		close(listener);
		EXPECT_LE(bind_visits(1, true, 0), FEW);
		EXPECT_LE(bind_visits(0, true, 0), FEW);
		EXPECT_LE(bind_visits(1, false, -EADDRINUSE), FEW);
		/* The next server, and listen(). */
		listener = bound(addr, true, PORT);
		visits = 0;
		EXPECT_EQ(listen(listener), 0);
		EXPECT_LE(visits, FEW);
		close(listener);
		for (i = 0; i < MANY / 2; i++) {
			close(sks[i]);
			end(tws[i]);
		}
		teardown();
	}
}

/* Sockets of a user that all bind with SO_REUSEADDR, which is allowed while none listens. */
TEST(thousands_that_share_an_address)
{
	static struct sock *sks[MANY];
	unsigned int i;

	setup();
	visits = 0;
	for (i = 0; i < MANY; i++)
		sks[i] = bound(1, true, PORT);
	EXPECT_LE(visits, FEW * MANY);
	visits = 0;
	EXPECT_EQ(listen(sks[0]), 0);
	EXPECT_EQ(listen(sks[MANY - 1]), -EADDRINUSE);
	EXPECT_LE(visits, FEW);
	EXPECT_LE(bind_visits(1, true, -EADDRINUSE), FEW);
	for (i = 0; i < MANY; i++)
		close(sks[i]);
	teardown();
}

/* ---- against the rules, read for each owner ---- */

static bool rules_share(const struct sock *sk, const struct sock *other)
{
	bool same = ipv6_addr_any(&sk->sk_v6_rcv_saddr) ||
		    ipv6_addr_any(&other->sk_v6_rcv_saddr) ||
		    ipv6_addr_equal(&sk->sk_v6_rcv_saddr, &other->sk_v6_rcv_saddr);
	bool apart = sk->sk_bound_dev_if && other->sk_bound_dev_if &&
		     sk->sk_bound_dev_if != other->sk_bound_dev_if;

	if (!same || apart)
		return true;
	if (sk->sk_reuse && other->sk_reuse && other->sk_state != TCP_LISTEN)
		return true;
	return sk->sk_reuseport && other->sk_reuseport && uid_eq(sk->sk_uid, other->sk_uid);
}

#define SLOTS	30
static struct sock *slots[SLOTS];

static int rules_bind(const struct sock *sk, u16 port)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i] && slots[i] != sk && slots[i]->sk_num == port &&
		    !rules_share(sk, slots[i]))
			return -EADDRINUSE;
	return 0;
}

static void new_slot(struct sock **slot, u32 r)
{
	struct sock *sk = socket(r % 3, r & 8);
	u16 port = PORT + (r >> 4) % 2 * NET6_TCP_PORT_BUCKETS;
	int err;

	sk->sk_bound_dev_if = (r >> 8) % 8 < 3 ? (r >> 8) % 8 : 0;
	sk->sk_reuseport = (r >> 12) % 4 == 0;
	sk->sk_uid = KUIDT_INIT((r >> 16) % 2);
	err = rules_bind(sk, port);
	EXPECT_EQ(net6_tcp_get_port(sk, port), err);
	if (err)
		free(sk);
	else
		*slot = sk;
}

static void step(u32 r)
{
	struct sock **slot = &slots[r % SLOTS], *sk = *slot;

	r = get_random_u32();
	if (!sk) {
		struct sock *parent = slots[r % SLOTS];

		if (parent && parent->sk_state == TCP_LISTEN)
			*slot = child_of(parent, ipv6_addr_any(&parent->sk_v6_rcv_saddr) ?
					 1 + (r >> 8) % 2 :
					 ntohl(parent->sk_v6_rcv_saddr.s6_addr32[3]));
		else
			new_slot(slot, r);
	} else if (r % 3 == 0) {
		close(sk);
		*slot = NULL;
	} else if (r % 3 == 1 && sk->sk_state == TCP_CLOSE) {
		int err = rules_bind(sk, sk->sk_num);

		EXPECT_EQ(listen(sk), err);
	} else if (sk->sk_state == TCP_LISTEN) {
		sk->sk_state = TCP_CLOSE;	/* shutdown() */
	}
}

TEST(any_order_of_calls__as_a_look_at_each)
{
	unsigned int i;

	setup();
	for (i = 0; i < 100000; i++)
		step(get_random_u32());
	for (i = 0; i < SLOTS; i++)
		if (slots[i])
			close(slots[i]);
	teardown();
}

TEST(ports_in_a_row__each_in_a_chain_of_its_own)
{
	static bool used[NET6_TCP_PORT_BUCKETS];
	struct sock *ours, *theirs = socket(1, false);
	unsigned int i, chain;

	setup();
	for (i = 0; i < NET6_TCP_PORT_BUCKETS; i++) {
		chain = net6_tcp_port_bucket(&nets[1], i) - ports;
		EXPECT_FALSE(used[chain]);
		used[chain] = true;
	}
	/* Of two namespaces whose numbers are alike each has its ports. */
	ours = bound(1, false, PORT);
	nets[1].hash_mix = nets[0].hash_mix;
	sock_net_set(theirs, &nets[1]);
	EXPECT_EQ(net6_tcp_get_port(theirs, PORT), 0);
	close(theirs);
	close(ours);
	nets[1].hash_mix = 1;
	teardown();
}

TEST(connect__takes_ports_that_only_connections_have)
{
	struct sock *one = socket(1, false), *two = socket(2, false), *server, *sks[8];
	unsigned long objects;
	unsigned int i;

	setup();
	/* Eight ports. */
	EXPECT_EQ(net6_tcp_connect_port(one), 0);
	EXPECT_LE(UNIT_PORT_LOW, one->sk_num);
	EXPECT_LE(one->sk_num, UNIT_PORT_HIGH);
	for (i = 0; i < 8; i++)
		sks[i] = bound(3, false, UNIT_PORT_LOW + i);
	EXPECT_EQ(net6_tcp_connect_port(two), -EADDRNOTAVAIL);
	EXPECT_EQ(two->sk_num, 0);
	server = socket(3, false);
	EXPECT_EQ(net6_tcp_get_port(server, 0), -EADDRINUSE);
	close(sks[5]);
	EXPECT_EQ(net6_tcp_get_port(server, 0), 0);
	EXPECT_EQ(server->sk_num, UNIT_PORT_LOW + 5);
	close(server);
	/* Even and odd ones are found. */
	close(sks[4]);
	server = socket(3, false);
	sks[5] = socket(3, false);
	EXPECT_EQ(net6_tcp_get_port(server, 0), 0);
	EXPECT_EQ(net6_tcp_get_port(sks[5], 0), 0);
	EXPECT_EQ(server->sk_num + sks[5]->sk_num, 2 * UNIT_PORT_LOW + 4 + 5);
	sks[4] = server;
	if (sks[5]->sk_num == UNIT_PORT_LOW + 4)
		swap(sks[4], sks[5]);
	close(sks[5]);
	/* A name that is taken leaves nothing behind. */
	objects = unit_objects;
	name_taken = true;
	EXPECT_EQ(net6_tcp_connect_port(two), -EADDRNOTAVAIL);
	name_taken = false;
	EXPECT_EQ(unit_objects, objects);
	EXPECT_EQ(net6_tcp_connect_port(two), 0);
	EXPECT_EQ(two->sk_num, UNIT_PORT_LOW + 5);
	close(two);
	close(one);
	for (i = 0; i < 8; i++)
		if (i != 5)
			close(sks[i]);
	teardown();
}

TEST(no_memory__nothing_is_left)
{
	struct sock *sks[3] = { socket(1, false), socket(2, false), socket(3, false) };
	unsigned int n;

	for (n = 0; n < 3; n++) {
		unit_no_memory_in = n;
		EXPECT_EQ(net6_tcp_port_init(), -ENOMEM);
		EXPECT_EQ(unit_objects, 0);
	}
	unit_no_memory_in = -1;
	setup();
	unit_no_memory_in = 0;
	EXPECT_EQ(net6_tcp_get_port(sks[0], PORT), -ENOMEM);
	unit_no_memory_in = 1;
	EXPECT_EQ(net6_tcp_get_port(sks[0], PORT), 0);
	EXPECT_EQ(net6_tcp_get_port(sks[1], PORT), -ENOMEM);
	EXPECT_EQ(net6_tcp_connect_port(sks[2]), -ENOMEM);
	unit_no_memory_in = -1;
	net6_tcp_put_port(sks[0]);
	teardown();
	for (n = 0; n < 3; n++)
		free(sks[n]);
}
