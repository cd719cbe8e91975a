/* SPDX-License-Identifier: GPL-2.0 */
/* The engine's arithmetic: RTT estimator, minimum filter, PRR, RACK's reordering
 * window, receive window, TSO sizing. Pure functions of their arguments, inlined
 * into the engine and compiled in user space by the unit tests. Times are in
 * microseconds unless said.
 */
#ifndef _NET6_TCP_ARITH_H
#define _NET6_TCP_ARITH_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* The longest RTT that is told apart, 268 s: eight of it fit 31 bits. Longer than any RTO, which
 * RFC 6298 2.5 allows to end at 60 s and Linux' TCP_RTO_MAX does at 120.
 */
#define NET6_TCP_RTT_MAX	((1U << 28) - 1)

/**
 * struct net6_tcp_rtt - the RTT estimator's state
 * @srtt: smoothed RTT times 8, 0 before the first sample
 * @mdev: mean deviation times 4
 * @mdev_max: largest @mdev in this window of data, at least the minimum RTO
 * @rttvar: what the RTO adds to srtt
 */
struct net6_tcp_rtt {
	u32	srtt;
	u32	mdev;
	u32	mdev_max;
	u32	rttvar;
};

/**
 * net6_tcp_rtt_sample() - take one RTT measurement, RFC 6298 2.2 and 2.3
 * @r: state
 * @sample: measured RTT, us; one above NET6_TCP_RTT_MAX counts as that
 * @rto_min: lower bound of the variance term, us (RFC 6298 2.4 in Linux' form:
 *	the RTO is srtt plus at least this)
 * @window_done: a whole window of data has been acknowledged since the variance was last taken.
 *	The maximum deviation of that window becomes the variance, which then only decays by a
 *	quarter a window
 *
 * A sample below srtt raises the deviation by an eighth of the usual gain. So a sudden drop of
 * the RTT does not inflate the RTO.
 */
static inline void net6_tcp_rtt_sample(struct net6_tcp_rtt *r, u32 sample, u32 rto_min,
				       bool window_done)
{
	s32 err, dev;

	sample = clamp(sample, 1U, NET6_TCP_RTT_MAX);
	if (!r->srtt) {
		/* RFC 6298 2.2: SRTT = R, RTTVAR = R / 2; K = 4 */
		r->srtt = sample << 3;
		r->mdev = sample << 1;
		r->mdev_max = max(r->mdev, rto_min);
		r->rttvar = r->mdev_max;
		return;
	}

	err = (s32)(sample - (r->srtt >> 3));
	r->srtt += err;
	dev = err < 0 ? -err : err;
	dev -= (s32)(r->mdev >> 2);
	if (err < 0 && dev > 0)
		dev >>= 3;
	r->mdev += dev;
	if (r->mdev > r->mdev_max) {
		r->mdev_max = r->mdev;
		if (r->mdev_max > r->rttvar)
			r->rttvar = r->mdev_max;
	}
	if (window_done) {
		if (r->mdev_max < r->rttvar)
			r->rttvar -= (r->rttvar - r->mdev_max) >> 2;
		r->mdev_max = rto_min;
	}
}

/**
 * struct net6_min_sample - one point of the windowed minimum
 * @t: when; @v: value
 */
struct net6_min_sample {
	u32	t;
	u32	v;
};

/**
 * net6_min_running() - windowed minimum with three points
 * @s: best, second and third best of the window, in time order
 * @window: its length in units of @t
 * @t: now
 * @v: new measurement
 *
 * The second point is the best of the later three quarters, the third that of the later half.
 * When the best expires, a younger one is at hand.
 * Return: the minimum of the last @window.
 */
static inline u32 net6_min_running(struct net6_min_sample s[3], u32 window, u32 t, u32 v)
{
	struct net6_min_sample now = { .t = t, .v = v };

	if (v <= s[0].v || t - s[2].t > window) {
		s[0] = now;
		s[1] = now;
		s[2] = now;
		return v;
	}
	if (v <= s[1].v) {
		s[1] = now;
		s[2] = now;
	} else if (v <= s[2].v) {
		s[2] = now;
	}

	if (t - s[0].t > window) {
		s[0] = s[1];
		s[1] = s[2];
		s[2] = now;
		if (t - s[0].t > window) {
			s[0] = s[1];
			s[1] = s[2];
		}
	} else if (s[1].t == s[0].t && t - s[0].t > window / 4) {
		s[1] = now;
		s[2] = now;
	} else if (s[2].t == s[1].t && t - s[0].t > window / 2) {
		s[2] = now;
	}
	return s[0].v;
}

/**
 * net6_tcp_prr() - how many segments may leave on this ACK in recovery, RFC 6937 3
 * @in_flight: pipe after the ACK was digested
 * @ssthresh: target
 * @prior_cwnd: cwnd when recovery began (RecoverFS)
 * @delivered: prr_delivered, this ACK included
 * @out: prr_out
 * @newly: delivered by this ACK
 * @ack_advanced_clean: snd_una moved and the ACK revealed no new loss: slow start
 *	reduction bound, else conservative
 *
 * Return: segments, at least 1 on the first ACK of the recovery (fast retransmit).
 */
static inline s32 net6_tcp_prr(u32 in_flight, u32 ssthresh, u32 prior_cwnd, u32 delivered,
			       u32 out, s32 newly, bool ack_advanced_clean)
{
	s32 delta = ssthresh - in_flight;
	s32 sndcnt;

	if (delta < 0) {
		u64 up = (u64)ssthresh * delivered + prior_cwnd - 1;

		sndcnt = (s32)((u32)(up / prior_cwnd) - out);
	} else {
		sndcnt = max((s32)(delivered - out), newly);
		if (ack_advanced_clean)
			sndcnt++;
		sndcnt = min(delta, sndcnt);
	}
	return max(sndcnt, out ? 0 : 1);
}

/**
 * net6_tcp_rack_reo_wnd() - reordering window, RFC 8985 6.2 step 4
 * @reordering_seen: any reordering on this connection so far
 * @in_recovery: recovery or loss state
 * @sacked: segments sacked; @dupthresh: RACK_DUPTHRESH as adapted
 * @min_rtt: us, ~0 if unknown
 * @srtt: us times 8
 * @steps: reo_wnd_mult
 *
 * Return: microseconds; 0 while nothing was ever reordered and a recovery has begun
 * or the dup-ACK threshold is met.
 */
static inline u32 net6_tcp_rack_reo_wnd(bool reordering_seen, bool in_recovery, u32 sacked,
					u32 dupthresh, u32 min_rtt, u32 srtt, u8 steps)
{
	u64 wnd = (u64)(min_rtt >> 2) * steps;

	if (!reordering_seen && (in_recovery || sacked >= dupthresh))
		return 0;
	return min_t(u64, wnd, srtt >> 3);
}

/**
 * net6_tcp_window_offer() - receive window from free buffer space, RFC 9293 3.8.6.2.2
 * @free: bytes that may be received now, already bounded by the slow-start limit
 * @cur: window now on offer (right edge minus rcv_nxt was it when sent)
 * @mss: estimate of the sender's segment
 * @full: largest window this socket can offer
 * @wscale: our shift
 *
 * Silly window avoidance: without scaling the edge moves in whole segments; with it,
 * the value is rounded up so that the shift loses nothing.
 * Return: bytes.
 */
static inline u32 net6_tcp_window_offer(u32 free, u32 cur, u32 mss, u32 full, u8 wscale)
{
	if (wscale) {
		u32 unit = 1U << wscale;

		return (free + unit - 1) & ~(unit - 1);
	}
	if (mss && ((s64)cur <= (s64)free - mss || cur > free))
		return free / mss * mss;
	if (mss == full && free > cur + (full >> 1))
		return free;
	return cur;
}

/**
 * net6_tcp_wscale() - smallest shift that lets a 16-bit field offer @space
 * @space: bytes
 *
 * Return: 0..14 (RFC 7323 2.3).
 */
static inline u8 net6_tcp_wscale(u32 space)
{
	return min(fls(space >> 16), 14);
}

/**
 * net6_tcp_tso_segs() - segments per super-packet so that one lasts about a
 * millisecond at the connection's rate, more when the RTT is short
 * @rate: bytes per second
 * @shift: a packet is worth rate >> shift
 * @min_rtt: us; @rtt_log: sysctl tcp_tso_rtt_log
 * @gso_max: bytes that one packet may carry
 * @mss: bytes
 * @min_segs: floor, from congestion control
 *
 * Return: segments, 1 at least.
 */
static inline u32 net6_tcp_tso_segs(unsigned long rate, u8 shift, u32 min_rtt, u8 rtt_log,
				    u32 gso_max, u32 mss, u32 min_segs)
{
	unsigned long bytes = rate >> shift;
	u32 r = min_rtt >> rtt_log;

	if (r < 32)
		bytes += gso_max >> r;
	bytes = min_t(unsigned long, bytes, gso_max);
	return max_t(u32, bytes / mss, min_segs);
}

/**
 * net6_tcp_model_timeout() - how long it takes to time out @boundary times, RFC 9293
 * 3.8.3 with exponential back-off from @base, each at most @max
 * @boundary: retransmissions
 * @base: first RTO; @max: largest RTO, both in jiffies
 *
 * Return: jiffies.
 */
static inline unsigned long net6_tcp_model_timeout(u32 boundary, u32 base, u32 max)
{
	unsigned long total = 0, rto = base;
	u32 i;

	for (i = 0; i <= boundary; i++) {
		total += rto;
		rto = rto > max / 2 ? max : rto * 2;
	}
	return total;
}

/**
 * net6_tcp_rcv_rtt() - receiver's RTT estimate for buffer sizing
 * @old: us times 8, 0 if none
 * @sample: us
 * @from_window: measured by a window of data, which can only be too long: take the
 *	minimum; else smooth
 *
 * Return: new estimate, us times 8.
 */
static inline u32 net6_tcp_rcv_rtt(u32 old, u32 sample, bool from_window)
{
	if (!old)
		return sample << 3;
	if (from_window)
		return min(sample << 3, old);
	return old - (old >> 3) + sample;
}

#endif /* _NET6_TCP_ARITH_H */
