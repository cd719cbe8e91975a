// SPDX-License-Identifier: GPL-2.0
/* What a route's metrics say of connections that take it. On Linux the congestion window, ssthresh,
 * reordering and round-trip time of a route are what its cache of peers begins with, so they hold
 * from the second connection on. We have no such cache: they hold from the first.
 */
#include "engine.h"

/**
 * net6_tcp_init_cwnd() - the initial window, and what it restarts with
 * @sk: socket
 *
 * RFC 6928, unless the route says something else.
 * Context: sk locked. Return: segments.
 */
u32 net6_tcp_init_cwnd(const struct sock *sk)
{
	u32 cwnd = net6_metric(net6_tcp_metrics(sk), RTAX_INITCWND) ?: TCP_INIT_CWND;

	return min(cwnd, tcp_sk(sk)->snd_cwnd_clamp);
}

/**
 * net6_tcp_byroute_begin() - a connection begins
 * @sk: before its SYN is made, or a child that nobody knows
 * @m: metrics of the route to its peer
 *
 * Context: any.
 */
void net6_tcp_byroute_begin(struct sock *sk, const struct net6_metrics *m)
{
	if (m->congctl)
		net6_tcp_cong_by_route(sk, m->congctl);
	/* As on Linux: without the lock it is only said. */
	if (net6_metric_locked(m, RTAX_RTO_MIN))
		inet_csk(sk)->icsk_rto_min = msecs_to_jiffies(net6_metric(m, RTAX_RTO_MIN));
}

/**
 * net6_tcp_byroute_end() - the socket is to be as good as new
 * @sk: socket
 * @m: metrics of the route that it took
 *
 * Context: sk locked.
 */
void net6_tcp_byroute_end(struct sock *sk, const struct net6_metrics *m)
{
	if (net6_metric_locked(m, RTAX_RTO_MIN))
		inet_csk(sk)->icsk_rto_min = TCP_RTO_MIN;
}

/* A round trip that is longer than the one that was measured, if one was. */
static void net6_tcp_byroute_rtt(struct sock *sk, u32 ms8)
{
	u64 us8 = (u64)ms8 * USEC_PER_MSEC;
	u32 rtt;

	if (us8 <= tcp_sk(sk)->srtt_us)
		return;
	rtt = usecs_to_jiffies(min_t(u64, us8 / 8, TCP_RTO_MAX / HZ / 3 * USEC_PER_SEC));
	inet_csk(sk)->icsk_rto = min_t(u32, rtt + max(2 * rtt, tcp_rto_min(sk)), TCP_RTO_MAX);
}

/**
 * net6_tcp_byroute_established() - the handshake is done
 * @sk: socket; ssthresh and the retransmission time-out are as without metrics
 * @m: metrics of the route to its peer
 *
 * Context: sk locked.
 */
void net6_tcp_byroute_established(struct sock *sk, const struct net6_metrics *m)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (net6_metric_locked(m, RTAX_CWND) && net6_metric(m, RTAX_CWND))
		tp->snd_cwnd_clamp = net6_metric(m, RTAX_CWND);
	if (net6_metric(m, RTAX_SSTHRESH) &&
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_no_ssthresh_metrics_save))
		tp->snd_ssthresh = min(net6_metric(m, RTAX_SSTHRESH), tp->snd_cwnd_clamp);
	if (net6_metric(m, RTAX_REORDERING))
		tp->reordering = net6_metric(m, RTAX_REORDERING);
	net6_tcp_byroute_rtt(sk, net6_metric(m, RTAX_RTT));
}
