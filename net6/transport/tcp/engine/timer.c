// SPDX-License-Identifier: GPL-2.0
/* Timers of a connection: retransmission (RFC 6298), zero-window probes, delayed ACK, keepalive
 * (RFC 9293 3.8.4) and the end of FIN-WAIT-2. The meaning of a loss is decided elsewhere; here is
 * when, and when to give up (RFC 9293 3.8.3).
 */
#include "../../../compat/timer.h"
#include "../conn/conn.h"
#include "../conn/fastopen.h"
#include "engine.h"
#include "../lsm_ops.h"

/* Give up an orphan when there are too many of them or no memory is left. */
static bool net6_tcp_out_of_resources(struct sock *sk, bool do_reset)
{
	if (!net6_tcp_too_many_orphans(sk))
		return false;
	if (do_reset)
		net6_tcp_send_active_reset(sk, GFP_ATOMIC);
	net6_tcp_done(sk);
	NET6_INC(net6_tcp_nn(sk), TcpAbortOnMemory);
	return true;
}

/* How often an orphan's data is sent again. */
static int net6_tcp_orphan_retries(const struct sock *sk, bool alive)
{
	int retries = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_orphan_retries);

	/* The network said something bad and we have backed off long enough. */
	if (sk->sk_err_soft && !alive)
		return 0;
	/* 0 means the default: at least RFC 1122's 100 seconds. */
	if (!retries && alive)
		return 8;
	return retries;
}

/* Has this data been unacknowledged as long as @boundary retransmissions take, or as
 * @timeout (ms) says if it is not 0?
 */
static bool net6_tcp_timed_out(struct sock *sk, u32 boundary, u32 timeout)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 base, since;

	if (!inet_csk(sk)->icsk_retransmits)
		return false;
	if (!timeout) {
		base = (1 << sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV) ?
			net6_tcp_ops_timeout(sk) : TCP_RTO_MIN;
		timeout = jiffies_to_msecs(net6_tcp_model_timeout(boundary, base, TCP_RTO_MAX));
	}
	since = div_u64(tp->tcp_mstamp, USEC_PER_MSEC) - tp->retrans_stamp;
	return (s32)(since - timeout) >= 0;
}

/* RFC 9293 3.8.3: R1 asks for another way, R2 ends the connection. Returns true when
 * it has ended.
 */
static bool net6_tcp_write_timeout(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct net *net = sock_net(sk);
	bool alive, expired;
	u32 retries;

	if ((1 << sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV) ||
	    net6_tcp_fastopen_pending(sk)) {
		retries = icsk->icsk_syn_retries;
		/* Once more than for a request, as on the native stack. */
		if (!retries && net6_tcp_fastopen_pending(sk))
			retries = READ_ONCE(net->ipv4.sysctl_tcp_synack_retries) + 1;
		else if (!retries)
			retries = READ_ONCE(net->ipv4.sysctl_tcp_syn_retries);
		expired = icsk->icsk_retransmits >= retries;
		if (!expired && icsk->icsk_user_timeout)
			expired = net6_tcp_timed_out(sk, 0, icsk->icsk_user_timeout);
	} else {
		if (net6_tcp_timed_out(sk, READ_ONCE(net->ipv4.sysctl_tcp_retries1), 0)) {
			net6_tcp_mtup_black_hole(sk);
			net6_sk_dest_reset(sk);
		}
		retries = READ_ONCE(net->ipv4.sysctl_tcp_retries2);
		if (sock_flag(sk, SOCK_DEAD)) {
			alive = icsk->icsk_rto < TCP_RTO_MAX;
			retries = net6_tcp_orphan_retries(sk, alive);
			if (net6_tcp_out_of_resources(sk, alive ||
						      !net6_tcp_timed_out(sk, retries, 0)))
				return true;
		}
		expired = net6_tcp_timed_out(sk, retries, icsk->icsk_user_timeout);
	}
	if (net6_tcp_ops_want(sk, BPF_SOCK_OPS_RTO_CB_FLAG))
		net6_tcp_ops_call(sk, BPF_SOCK_OPS_RTO_CB, icsk->icsk_retransmits, icsk->icsk_rto,
				  expired);
	if (!expired)
		return false;
	net6_tcp_write_err(sk);
	return true;
}

/* The window closed although data is on the way. Ask again, but do not time out as long as the
 * peer answers (RFC 9293 3.8.6.1), unless the user's time is over (RFC 5482 3.1). Returns true
 * when it does not. An answer to the last probe may be as old as the longest time-out, and a bit
 * because timers are late. That alone is no silence.
 */
static bool net6_tcp_window_gone(struct sock *sk, const struct sk_buff *skb)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 user = READ_ONCE(icsk->icsk_user_timeout);
	const struct tcp_sock *tp = tcp_sk(sk);
	s32 silent, since;

	since = net6_compat_tcp_time_stamp(tp) -
		(tp->retrans_stamp ?: net6_compat_tcp_skb_timestamp(skb));
	silent = net6_compat_timeout(sk) - tp->rcv_tstamp;
	if (!(user && since >= (s32)user) &&
	    (silent <= (s32)(2 * TCP_RTO_MAX) ||
	     since <= (s32)jiffies_to_msecs(2 * TCP_RTO_MAX)))
		return false;
	net6_tcp_write_err(sk);
	return true;
}

/* The next time-out, no later than the user's ends it all (RFC 5482 3.1). Like the native
 * stack's it counts from the first retransmission, which a paced one may be yet to leave.
 */
static unsigned long net6_tcp_rto_clamp(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 user = READ_ONCE(icsk->icsk_user_timeout);
	const struct tcp_sock *tp = tcp_sk(sk);
	s32 since;

	if (!user || !tp->retrans_stamp)
		return icsk->icsk_rto;
	since = net6_compat_tcp_time_stamp(tp) - tp->retrans_stamp;
	if (since >= (s32)user)
		return TCP_TIMEOUT_MIN;
	return min_t(unsigned long, icsk->icsk_rto, msecs_to_jiffies(user - since));
}

/* The time-out after one that passed, RFC 6298 5.5. A stream that never has enough in flight
 * for a fast retransmission may ask for it not to grow, a few times (TCP_THIN_LINEAR_TIMEOUTS).
 */
static void net6_tcp_back_off(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if ((tp->thin_lto || READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_thin_linear_timeouts)) &&
	    sk->sk_state == TCP_ESTABLISHED && tcp_stream_is_thin(tp) &&
	    icsk->icsk_retransmits <= TCP_THIN_LINEAR_RETRIES) {
		icsk->icsk_backoff = 0;
		icsk->icsk_rto = clamp_t(u32, __tcp_set_rto(tp), tcp_rto_min(sk), TCP_RTO_MAX);
	} else {
		icsk->icsk_rto = min_t(u32, icsk->icsk_rto << 1, TCP_RTO_MAX);
	}
}

static void net6_tcp_retransmit_timer(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct net6_net *nn = net6_tcp_nn(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	skb = tcp_rtx_queue_head(sk);
	if (!tp->packets_out || !skb)
		return;
	if (!tp->snd_wnd && !sock_flag(sk, SOCK_DEAD) &&
	    !((1 << sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV)) &&
	    !net6_tcp_fastopen_pending(sk)) {
		if (net6_tcp_window_gone(sk, skb))
			return;
		net6_tcp_enter_loss(sk);
		net6_tcp_retransmit_skb(sk, skb, 1);
		net6_sk_dest_reset(sk);
		goto back_off;
	}

	NET6_INC(nn, TcpTimeouts);
	if (net6_tcp_write_timeout(sk))
		return;
	net6_tcp_enter_loss(sk);
	icsk->icsk_retransmits++;
	if (net6_tcp_retransmit_skb(sk, tcp_rtx_queue_head(sk), 1) == -ENOBUFS) {
		/* Our own queues are full: that is no sign of the network. */
		net6_tcp_arm(sk, ICSK_TIME_RETRANS, TCP_RESOURCE_PROBE_INTERVAL);
		return;
	}
	icsk->icsk_backoff++;

back_off:
	net6_tcp_back_off(sk);
	net6_tcp_arm(sk, ICSK_TIME_RETRANS, net6_tcp_rto_clamp(sk));
}

/* Zero-window probe, RFC 9293 3.8.6.1, or a FIN for which there was no memory. */
static void net6_tcp_probe_timer(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u32 max = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_retries2);
	bool alive;

	if (unlikely(net6_tcp_fin_owed(sk))) {
		if (!sock_flag(sk, SOCK_DEAD) || !net6_tcp_out_of_resources(sk, true))
			net6_tcp_send_owed_fin(sk);
		return;
	}
	if (tcp_sk(sk)->packets_out || !tcp_send_head(sk)) {
		icsk->icsk_probes_out = 0;
		icsk->icsk_probes_tstamp = 0;
		return;
	}
	/* RFC 5482: the user's time-out counts from the first probe. */
	if (!icsk->icsk_probes_tstamp)
		icsk->icsk_probes_tstamp = tcp_jiffies32;
	else if (icsk->icsk_user_timeout &&
		 (s32)(tcp_jiffies32 - icsk->icsk_probes_tstamp) >=
		 (s32)msecs_to_jiffies(icsk->icsk_user_timeout))
		goto give_up;

	if (sock_flag(sk, SOCK_DEAD)) {
		alive = inet_csk_rto_backoff(icsk, TCP_RTO_MAX) < TCP_RTO_MAX;
		max = net6_tcp_orphan_retries(sk, alive);
		if (!alive && icsk->icsk_backoff >= max)
			goto give_up;
		if (net6_tcp_out_of_resources(sk, true))
			return;
	}
	if (icsk->icsk_probes_out < max) {
		net6_tcp_send_probe0(sk);
		return;
	}
give_up:
	net6_tcp_write_err(sk);
}

/* Do what icsk_pending says if its time has come. */
static void net6_tcp_write_timer_due(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	int what = icsk->icsk_pending;

	if (time_after(net6_compat_timeout(sk), jiffies)) {
		sk_reset_timer(sk, net6_compat_write_timer(sk), net6_compat_timeout(sk));
		return;
	}
	net6_tcp_clock(tcp_sk(sk));
	switch (what) {
	case ICSK_TIME_REO_TIMEOUT:
		net6_tcp_rack_timeout(sk);
		break;
	case ICSK_TIME_LOSS_PROBE:
		net6_tcp_send_tlp(sk);
		break;
	case ICSK_TIME_RETRANS:
		icsk->icsk_pending = 0;
		net6_tcp_retransmit_timer(sk);
		break;
	case ICSK_TIME_PROBE0:
		icsk->icsk_pending = 0;
		net6_tcp_probe_timer(sk);
		break;
	}
}

/**
 * net6_tcp_write_timer_handler() - the write timer has fired
 * @sk: socket
 *
 * Context: sk locked, BH disabled.
 */
void net6_tcp_write_timer_handler(struct sock *sk)
{
	if ((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))
		return;
	if (inet_csk(sk)->icsk_pending)
		net6_tcp_write_timer_due(sk);
	if (net6_tcp_has_pages(sk))
		net6_tcp_pages_timer(sk);
}

/* Who owns the socket does the work when it lets go. */
static void net6_tcp_defer(struct sock *sk, int bit)
{
	if (!test_and_set_bit(bit, &sk->sk_tsq_flags))
		sock_hold(sk);
}

static void net6_tcp_write_timer(struct timer_list *t)
{
	struct sock *sk = net6_compat_write_timer_sk(t);

	/* Armed lazily, most expiries find nothing to do: but that can be told under the lock
	 * only. Without it, a CPU that arms just now might see a pending timer, and this one that
	 * nothing is pending.
	 */
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk))
		net6_tcp_write_timer_handler(sk);
	else
		net6_tcp_defer(sk, TCP_WRITE_TIMER_DEFERRED);
	bh_unlock_sock(sk);
	sock_put(sk);
}

/**
 * net6_tcp_delack_timer_handler() - send the ACK that was delayed long enough
 * @sk: socket
 *
 * RFC 9293 3.8.6.3. Context: sk locked, BH disabled.
 */
void net6_tcp_delack_timer_handler(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)) ||
	    !(icsk->icsk_ack.pending & ICSK_ACK_TIMER))
		return;
	if (time_after(net6_compat_ack_timeout(sk), jiffies)) {
		sk_reset_timer(sk, &icsk->icsk_delack_timer, net6_compat_ack_timeout(sk));
		return;
	}
	icsk->icsk_ack.pending &= ~ICSK_ACK_TIMER;
	if (!inet_csk_ack_scheduled(sk))
		return;
	if (icsk->icsk_ack.pending & NET6_TCP_ACK_PROGRAM) {
		/* It was not to wait at all: that says nothing about the pace. */
	} else if (!inet_csk_in_pingpong_mode(sk)) {
		/* No answer came to ride on: wait longer next time. */
		net6_compat_set_ato(icsk, min_t(u32, icsk->icsk_ack.ato << 1, icsk->icsk_rto));
	} else {
		inet_csk_exit_pingpong_mode(sk);
		icsk->icsk_ack.ato = TCP_ATO_MIN;
	}
	net6_tcp_clock(tcp_sk(sk));
	net6_tcp_send_ack(sk);
	NET6_INC(net6_tcp_nn(sk), TcpDelayedACKs);
}

static void net6_tcp_delack_timer(struct timer_list *t)
{
	struct inet_connection_sock *icsk = timer_container_of(icsk, t, icsk_delack_timer);
	struct sock *sk = &icsk->icsk_inet.sk;

	/* The ACK may have been sent with data meanwhile: see net6_tcp_write_timer(). */
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk))
		net6_tcp_delack_timer_handler(sk);
	else
		net6_tcp_defer(sk, TCP_DELACK_TIMER_DEFERRED);
	bh_unlock_sock(sk);
	sock_put(sk);
}

/* FIN-WAIT-2 of a socket without a process: the last minute of a longer time (TCP_LINGER2)
 * is spent in a small object.
 */
static void net6_tcp_fin_wait2_timer(struct sock *sk)
{
	if (tcp_sk(sk)->linger2 >= 0 && tcp_fin_time(sk) > TCP_TIMEWAIT_LEN) {
		net6_tcp_time_wait(sk, TCP_FIN_WAIT2, TCP_TIMEWAIT_LEN);
		return;
	}
	net6_tcp_send_active_reset(sk, GFP_ATOMIC);
	net6_tcp_done(sk);
}

/* Is the peer gone, after @elapsed jiffies of silence? */
static bool net6_tcp_keepalive_expired(const struct sock *sk, u32 elapsed)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 user = icsk->icsk_user_timeout;

	if (user)
		return elapsed >= msecs_to_jiffies(user) && icsk->icsk_probes_out > 0;
	return icsk->icsk_probes_out >= keepalive_probes(tcp_sk(sk));
}

static void net6_tcp_keepalive(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 next = keepalive_time_when(tp);
	u32 elapsed;

	/* Data on the way is probe enough. */
	if (tp->packets_out || !tcp_write_queue_empty(sk))
		goto again;
	elapsed = keepalive_time_elapsed(tp);
	if (elapsed < next) {
		next -= elapsed;
		goto again;
	}
	if (net6_tcp_keepalive_expired(sk, elapsed)) {
		net6_tcp_send_active_reset(sk, GFP_ATOMIC);
		net6_tcp_write_err(sk);
		return;
	}
	if (net6_tcp_write_wakeup(sk) != -ENOBUFS) {
		NET6_INC(net6_tcp_nn(sk), TcpKeepAlive);
		inet_csk(sk)->icsk_probes_out++;
		next = keepalive_intvl_when(tp);
	} else {
		next = TCP_RESOURCE_PROBE_INTERVAL;
	}
again:
	net6_tcp_reset_sk_timer(sk, next);
}

static void net6_tcp_sk_timer(struct timer_list *t)
{
	struct sock *sk = net6_compat_keepalive_sk(t);

	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		net6_tcp_reset_sk_timer(sk, HZ / 20);
		goto out;
	}
	if (sk->sk_state == TCP_LISTEN)
		goto out;
	net6_tcp_clock(tcp_sk(sk));
	if (sk->sk_state == TCP_FIN_WAIT2 && sock_flag(sk, SOCK_DEAD))
		net6_tcp_fin_wait2_timer(sk);
	else if (sock_flag(sk, SOCK_KEEPOPEN) &&
		 !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_SYN_SENT)))
		net6_tcp_keepalive(sk);
out:
	bh_unlock_sock(sk);
	sock_put(sk);
}

/**
 * net6_tcp_timers_init() - set the timers up of what becomes a connection, none running
 * @sk: socket, locked, or a fresh copy of a listener
 *
 * Context: any.
 */
void net6_tcp_timers_init(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	timer_setup(net6_compat_write_timer(sk), net6_tcp_write_timer, 0);
	timer_setup(&icsk->icsk_delack_timer, net6_tcp_delack_timer, 0);
	timer_setup(net6_compat_keepalive_timer(sk), net6_tcp_sk_timer, 0);
	icsk->icsk_pending = 0;
	icsk->icsk_ack.pending = 0;
	net6_compat_hrtimer_setup(&tp->pacing_timer, net6_tcp_pace_kick,
				  HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * net6_tcp_timers_clear() - stop everything; nothing fires afterwards
 * @sk: locked, or without other users
 *
 * A callback that is already waiting for the lock finds nothing pending.
 * Context: any.
 */
void net6_tcp_timers_clear(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (!net6_tcp_was_connection(sk))
		return;
	net6_tcp_held_forget(sk);
	icsk->icsk_pending = 0;
	icsk->icsk_ack.pending = 0;
	sk_stop_timer(sk, net6_compat_write_timer(sk));
	sk_stop_timer(sk, &icsk->icsk_delack_timer);
	sk_stop_timer(sk, net6_compat_keepalive_timer(sk));
	if (hrtimer_try_to_cancel(&tcp_sk(sk)->pacing_timer) == 1)
		__sock_put(sk);
}

/**
 * net6_tcp_set_keepalive() - SO_KEEPALIVE was switched; struct proto's keepalive
 * @sk: locked; SOCK_KEEPOPEN still has the old value
 * @on: new value
 *
 * Context: process.
 */
void net6_tcp_set_keepalive(struct sock *sk, int on)
{
	if ((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))
		return;
	if (on && !sock_flag(sk, SOCK_KEEPOPEN))
		net6_tcp_reset_sk_timer(sk, keepalive_time_when(tcp_sk(sk)));
	else if (!on)
		sk_stop_timer(sk, net6_compat_keepalive_timer(sk));
}
