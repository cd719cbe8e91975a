// SPDX-License-Identifier: GPL-2.0
/* The sender's scoreboard. The worst: a peer acknowledges nothing and sends SACK blocks such that
 * each ACK's are unlike those of the last, over a queue of many segments.
 */
#include <net/tcp.h>

/* Every visit of a segment, also on the way down the tree to one. */
static unsigned long unit_steps;
#undef rb_to_skb
#define rb_to_skb(rb)	(unit_steps++, rb_entry_safe(rb, struct sk_buff, rbnode))

#include "../unit.h"
#include "../../../net6/transport/tcp/engine/sack.c"
#include "kernel.h"

#define MSS	100U
#define MOST	4096

static struct tcp_sock tcp;
static struct sock *sk = (struct sock *)&tcp;
static struct sk_buff queue[MOST];
static unsigned int delivered;

/* ---- the engine's other files ---- */

void net6_tcp_rack_advance(struct tcp_sock *tp, u8 sacked, u32 end_seq, u64 sent_us)
{
}

void net6_tcp_rate_delivered(struct sock *sk, struct sk_buff *skb, struct rate_sample *rs)
{
	delivered++;
}

/* ---- a queue ---- */

static void begin(unsigned int n)
{
	static struct net_generic *gen;
	static struct net6_net nn;
	static struct net net;
	static struct net6_mib mib;
	unsigned int i;

	free(gen);
	gen = calloc(net6_net_id + 1, sizeof(void *));
	nn.mib = (void __percpu *)&mib;
	gen->ptr[net6_net_id] = &nn;
	rcu_assign_pointer(net.gen, gen);
	net.ipv4.sysctl_tcp_max_reordering = 300;
	memset(&tcp, 0, sizeof(tcp));
	memset(queue, 0, sizeof(queue));
	sock_net_set(sk, &net);
	INIT_LIST_HEAD(&tcp.tsorted_sent_queue);
	tcp.mss_cache = MSS;
	tcp.snd_nxt = n * MSS;
	tcp.max_window = n * MSS;
	tcp.packets_out = n;
	tcp.reordering = 3;
	for (i = 0; i < n; i++) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(&queue[i]);

		cb->seq = i * MSS;
		cb->end_seq = cb->seq + MSS;
		tcp_skb_pcount_set(&queue[i], 1);
		rb_link_node(&queue[i].rbnode, i ? &queue[i - 1].rbnode : NULL,
			     i ? &queue[i - 1].rbnode.rb_right : &sk->tcp_rtx_queue.rb_node);
		rb_insert_color(&queue[i].rbnode, &sk->tcp_rtx_queue);
		list_add_tail(&queue[i].tcp_tsorted_anchor, &tcp.tsorted_sent_queue);
	}
	delivered = 0;
	unit_steps = 0;
}

/* An ACK of nothing with blocks of whole segments, counted from the queue's first. */
static void ack(unsigned int n, const u32 (*blocks)[2])
{
	struct net6_tcp_opts o = { .n_sacks = n };
	struct net6_tcp_ack_state st = { .opts = &o };
	struct sk_buff skb = { };
	unsigned int i;

	for (i = 0; i < n; i++) {
		o.sack[i].start = blocks[i][0] * MSS;
		o.sack[i].end = blocks[i][1] * MSS;
	}
	net6_tcp_sacktag(sk, &skb, &st);
}

/* What is sacked is what was named, and nothing else. */
static void check(unsigned int n, const bool *named)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n; i++) {
		EXPECT_EQ(!!(TCP_SKB_CB(&queue[i])->sacked & TCPCB_SACKED_ACKED), named[i]);
		sum += named[i];
	}
	EXPECT_EQ(tcp.sacked_out, sum);
	EXPECT_EQ(delivered, sum);
}

TEST(blocks__any_order_marks_what_they_name)
{
	static bool named[512];
	unsigned int round, i, n = ARRAY_SIZE(named);
	u32 block[3][2], j;

	begin(n);
	memset(named, 0, sizeof(named));
	for (round = 0; round < 400; round++) {
		for (i = 0; i < 3; i++) {
			block[i][0] = 1 + get_random_u32() % (n - 1);
			block[i][1] = block[i][0] + 1 + get_random_u32() % (1 + round / 8);
			block[i][1] = min(block[i][1], n);
		}
		/* The first inside the second would be a DSACK. */
		if (block[0][0] >= block[1][0] && block[0][1] <= block[1][1])
			continue;
		ack(3, block);
		for (i = 0; i < 3; i++)
			for (j = block[i][0]; j < block[i][1]; j++)
				named[j] = true;
		check(n, named);
	}
}

/* @n segments, all but the first sacked; then @acks whose block begins at another one each, and
 * between two of them one block that has nothing to do with it. Returns steps.
 */
static unsigned long alternate(unsigned int n, unsigned int acks, unsigned int stride)
{
	const u32 small[1][2] = { { n - 1, n } }, all[1][2] = { { 1, n } };
	unsigned int i;

	begin(n);
	ack(1, all);
	EXPECT_EQ(tcp.sacked_out, n - 1);
	unit_steps = 0;
	for (i = 0; i < acks; i++) {
		const u32 block[1][2] = { { 1 + i * stride % (n - 2), n - 1 } };

		ack(1, small);
		ack(1, block);
	}
	return unit_steps;
}

TEST(blocks_that_alternate__no_walk_of_the_queue_each_time)
{
	static const unsigned int strides[] = { 0, 1, 7, 4093 };
	unsigned long few, many;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		few = alternate(64, 4 * MOST, strides[i]);
		many = alternate(MOST, 4 * MOST, strides[i]);
		printf("# stride %u: %lu steps of 64 segments, %lu of %u\n", strides[i], few, many,
		       MOST);
		/* Of two ACKs: a few ways down the tree, whatever its size. */
		EXPECT_TRUE(many < 4 * MOST * 100UL);
	}
}

/* One segment more is sacked with each ACK, from the end on, and the block names all so far. */
TEST(blocks_that_grow__steps_for_what_is_new)
{
	unsigned int i;

	begin(MOST);
	for (i = MOST - 1; i > 0; i--) {
		const u32 block[1][2] = { { i, MOST } }, small[1][2] = { { MOST - 1, MOST } };

		ack(1, block);
		ack(1, small);
	}
	EXPECT_EQ(tcp.sacked_out, MOST - 1);
	printf("# %lu steps of %u segments\n", unit_steps, MOST);
	EXPECT_TRUE(unit_steps < MOST * 30UL);
}

TEST(dsack__what_no_packet_can_be_is_not_gone_through)
{
	const u32 all[1][2] = { { 1, MOST } };
	const u32 dsack[2][2] = { { 1, MOST }, { 1, MOST } };
	unsigned int i;

	begin(MOST);
	ack(1, all);
	unit_steps = 0;
	for (i = 0; i < 100; i++)
		ack(2, dsack);
	printf("# %lu steps in 100 ACKs\n", unit_steps);
	EXPECT_TRUE(unit_steps < 100 * (NET6_TCP_DSACK_WALK + 30));
}

/* The peer reneged: marks are void, and what they knew. */
TEST(reneged__all_is_found_again)
{
	const u32 all[1][2] = { { 1, 64 } }, part[1][2] = { { 10, 20 } };
	const u32 rest[1][2] = { { 5, 64 } };
	static bool named[64];
	unsigned int i;

	begin(64);
	ack(1, all);
	ack(1, part);
	ack(1, all);
	for (i = 0; i < 64; i++)
		TCP_SKB_CB(&queue[i])->sacked &= ~TCPCB_SACKED_ACKED;
	tcp.sacked_out = 0;
	delivered = 0;
	memset(named, 0, sizeof(named));
	ack(1, part);
	memset(named + 10, true, 10);
	check(64, named);
	ack(1, rest);
	memset(named + 5, true, 59);
	check(64, named);
}
