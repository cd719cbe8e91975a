// SPDX-License-Identifier: GPL-2.0
/* TCP's arithmetic: RTT estimator, windowed minimum, PRR, RACK's reordering window,
 * receive window, super-packet size, time-outs.
 */
#include <linux/kernel.h>

#include "unit.h"
#include "../../net6/transport/tcp/engine/arith.h"

#define MS	1000U
#define RTO_MIN	(200 * MS)

static u32 rto(const struct net6_tcp_rtt *r)
{
	return (r->srtt >> 3) + r->rttvar;
}

TEST(rtt__first_sample_is_rfc6298_2_2)
{
	struct net6_tcp_rtt r = {};

	net6_tcp_rtt_sample(&r, 300 * MS, RTO_MIN, true);
	EXPECT_EQ(r.srtt >> 3, 300 * MS);
	/* RTO = SRTT + 4 * R/2 */
	EXPECT_EQ(rto(&r), 900 * MS);
}

TEST(rtt__a_small_first_sample_has_the_minimum_variance)
{
	struct net6_tcp_rtt r = {};

	net6_tcp_rtt_sample(&r, 100, RTO_MIN, true);
	EXPECT_EQ(rto(&r), 100 + RTO_MIN);
	net6_tcp_rtt_sample(&r, 0, RTO_MIN, true);
	EXPECT_NE(r.srtt, 0);
}

TEST(rtt__steady_samples_converge)
{
	struct net6_tcp_rtt r = {};
	int i;

	net6_tcp_rtt_sample(&r, 1000 * MS, RTO_MIN, true);
	for (i = 0; i < 200; i++)
		net6_tcp_rtt_sample(&r, 50 * MS, RTO_MIN, true);
	EXPECT_LE(r.srtt >> 3, 51 * MS);
	EXPECT_GE(r.srtt >> 3, 49 * MS);
	EXPECT_LE(rto(&r), 252 * MS);
	EXPECT_GE(rto(&r), 250 * MS);
}

TEST(rtt__a_jump_raises_the_timeout_at_once)
{
	struct net6_tcp_rtt r = {};
	int i;

	for (i = 0; i < 100; i++)
		net6_tcp_rtt_sample(&r, 50 * MS, RTO_MIN, true);
	net6_tcp_rtt_sample(&r, 1000 * MS, RTO_MIN, false);
	/* An eighth of the step in srtt, four deviations of a quarter of it. */
	EXPECT_GE(rto(&r), 1000 * MS);
}

TEST(rtt__a_drop_does_not_inflate_the_timeout)
{
	struct net6_tcp_rtt r = {};
	u32 before;
	int i;

	for (i = 0; i < 100; i++)
		net6_tcp_rtt_sample(&r, 400 * MS, RTO_MIN, true);
	before = rto(&r);
	net6_tcp_rtt_sample(&r, 100 * MS, RTO_MIN, true);
	EXPECT_LE(rto(&r), before);
}

/* A peer that echoes an old timestamp, or acknowledges after half an hour. */
TEST(rtt__a_sample_of_half_an_hour_counts_as_the_longest)
{
	static const u32 far[] = { NET6_TCP_RTT_MAX, NET6_TCP_RTT_MAX + 1, 1U << 29, (1U << 31) - 1,
				   1U << 31, ~0U };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		struct net6_tcp_rtt r = {};

		net6_tcp_rtt_sample(&r, far[i], RTO_MIN, true);
		EXPECT_EQ(r.srtt >> 3, NET6_TCP_RTT_MAX);
		net6_tcp_rtt_sample(&r, 1, RTO_MIN, true);
		EXPECT_GE(rto(&r), NET6_TCP_RTT_MAX / 2);
		net6_tcp_rtt_sample(&r, far[i], RTO_MIN, true);
		EXPECT_LE(r.srtt >> 3, NET6_TCP_RTT_MAX);
		EXPECT_LE(r.rttvar, 4 * NET6_TCP_RTT_MAX);
	}
}

TEST(min__keeps_the_minimum_of_the_window)
{
	struct net6_min_sample s[3] = { { 0, ~0U }, { 0, ~0U }, { 0, ~0U } };
	u32 t;

	EXPECT_EQ(net6_min_running(s, 1000, 0, 50), 50);
	for (t = 1; t <= 1000; t += 10)
		EXPECT_EQ(net6_min_running(s, 1000, t, 70), 50);
	/* The 50 is now too old. */
	EXPECT_EQ(net6_min_running(s, 1000, 1011, 70), 70);
	EXPECT_EQ(net6_min_running(s, 1000, 1012, 60), 60);
}

TEST(min__equals_a_plain_search_within_its_error)
{
	struct net6_min_sample s[3] = { { 0, ~0U }, { 0, ~0U }, { 0, ~0U } };
	static u32 v[5000];
	u32 seed = 1, t, i, got, low, recent;

	for (t = 0; t < 5000; t++) {
		seed = seed * 1103515245 + 12345;
		v[t] = 100 + (seed >> 16) % 1000;
		got = net6_min_running(s, 400, t, v[t]);
		low = ~0U;
		recent = ~0U;
		for (i = t >= 400 ? t - 400 : 0; i <= t; i++) {
			low = min(low, v[i]);
			if (t - i <= 200)
				recent = min(recent, v[i]);
		}
		/* Never below the window's minimum, at most that of its last half. */
		EXPECT_GE(got, low);
		EXPECT_LE(got, recent);
	}
}

TEST(prr__proportional_reduction_reaches_ssthresh)
{
	u32 pipe = 100, delivered = 0, out = 0, sent;
	int acks;

	/* 100 in flight, one lost, target 70: RFC 6937's example in small. */
	pipe--;
	for (acks = 0; acks < 99; acks++) {
		pipe--;
		delivered++;
		sent = net6_tcp_prr(pipe, 70, 100, delivered, out, 1, false);
		out += sent;
		pipe += sent;
	}
	EXPECT_GE(out, 69);
	EXPECT_LE(out, 71);
	EXPECT_LE(pipe, 71);
}

TEST(prr__first_ack_sends_the_fast_retransmit)
{
	EXPECT_GE(net6_tcp_prr(99, 50, 100, 1, 0, 1, false), 1);
	EXPECT_EQ(net6_tcp_prr(99, 50, 100, 1, 1, 1, false), 0);
}

TEST(prr__below_ssthresh_conservative_and_slow_start_bound)
{
	/* pipe 10, target 50: as much as was delivered, one more if all is well */
	EXPECT_EQ(net6_tcp_prr(10, 50, 100, 5, 3, 2, false), 2);
	EXPECT_EQ(net6_tcp_prr(10, 50, 100, 5, 3, 2, true), 3);
	/* never above the target */
	EXPECT_EQ(net6_tcp_prr(49, 50, 100, 90, 3, 20, true), 1);
}

TEST(rack__no_window_once_the_threshold_is_met_without_reordering)
{
	EXPECT_EQ(net6_tcp_rack_reo_wnd(false, false, 3, 3, 40 * MS, 50 * MS << 3, 1), 0);
	EXPECT_EQ(net6_tcp_rack_reo_wnd(false, true, 1, 3, 40 * MS, 50 * MS << 3, 1), 0);
	EXPECT_EQ(net6_tcp_rack_reo_wnd(false, false, 2, 3, 40 * MS, 50 * MS << 3, 1), 10 * MS);
}

TEST(rack__window_grows_by_quarters_up_to_srtt)
{
	EXPECT_EQ(net6_tcp_rack_reo_wnd(true, true, 9, 3, 40 * MS, 50 * MS << 3, 1), 10 * MS);
	EXPECT_EQ(net6_tcp_rack_reo_wnd(true, true, 9, 3, 40 * MS, 50 * MS << 3, 3), 30 * MS);
	EXPECT_EQ(net6_tcp_rack_reo_wnd(true, true, 9, 3, 40 * MS, 50 * MS << 3, 255), 50 * MS);
	/* min_rtt not known yet */
	EXPECT_EQ(net6_tcp_rack_reo_wnd(true, true, 9, 3, ~0U, 50 * MS << 3, 255), 50 * MS);
}

TEST(window__scaled_value_is_rounded_up_to_its_unit)
{
	EXPECT_EQ(net6_tcp_window_offer(1000, 0, 1440, 60000, 7), 1024);
	EXPECT_EQ(net6_tcp_window_offer(1024, 0, 1440, 60000, 7), 1024);
	EXPECT_EQ(net6_tcp_window_offer(0, 0, 1440, 60000, 7), 0);
}

TEST(window__unscaled_edge_moves_in_whole_segments)
{
	EXPECT_EQ(net6_tcp_window_offer(10000, 0, 1440, 60000, 0), 8640);
	/* less than a segment more: stays */
	EXPECT_EQ(net6_tcp_window_offer(10000, 9000, 1440, 60000, 0), 9000);
	EXPECT_EQ(net6_tcp_window_offer(0, 0, 1440, 60000, 0), 0);
	/* a buffer smaller than the segment */
	EXPECT_EQ(net6_tcp_window_offer(500, 100, 500, 500, 0), 500);
}

TEST(wscale__smallest_that_fits)
{
	EXPECT_EQ(net6_tcp_wscale(0), 0);
	EXPECT_EQ(net6_tcp_wscale(65535), 0);
	EXPECT_EQ(net6_tcp_wscale(65536), 1);
	EXPECT_EQ(net6_tcp_wscale(6 << 20), 7);
	EXPECT_EQ(net6_tcp_wscale(~0U), 14);
}

TEST(tso__a_millisecond_of_data_within_bounds)
{
	/* 1 Gb/s: 125 MB/s >> 10 is 122 KB: the packet's limit */
	EXPECT_EQ(net6_tcp_tso_segs(125000000, 10, 50000, 9, 65000, 1440, 2), 45);
	/* slow: two segments */
	EXPECT_EQ(net6_tcp_tso_segs(10000, 10, 50000, 9, 65000, 1440, 2), 2);
	/* short RTT: larger than the rate alone says */
	EXPECT_EQ(net6_tcp_tso_segs(10000, 10, 100, 9, 65000, 1440, 2), 45);
	EXPECT_EQ(net6_tcp_tso_segs(0, 10, ~0U, 9, 65000, 1440, 2), 2);
}

TEST(timeout__doubles_up_to_the_maximum)
{
	EXPECT_EQ(net6_tcp_model_timeout(0, 200, 120000), 200);
	EXPECT_EQ(net6_tcp_model_timeout(1, 200, 120000), 600);
	/* 15 retransmissions: 924.6 s, the well-known figure */
	EXPECT_EQ(net6_tcp_model_timeout(15, 200, 120000), 924600);
	EXPECT_EQ(net6_tcp_model_timeout(0, 120000, 120000), 120000);
}

TEST(rcv_rtt__window_takes_the_minimum_echo_smooths)
{
	EXPECT_EQ(net6_tcp_rcv_rtt(0, 100, true), 800);
	EXPECT_EQ(net6_tcp_rcv_rtt(800, 50, true), 400);
	EXPECT_EQ(net6_tcp_rcv_rtt(800, 500, true), 800);
	EXPECT_EQ(net6_tcp_rcv_rtt(800, 200, false), 900);
}
