// SPDX-License-Identifier: GPL-2.0
/* Options at level IPPROTO_TCP (tcp(7)). Options that are not listed are refused with
 * ENOPROTOOPT: repair, AO, upper-layer protocols, receive zero-copy.
 */
#include <linux/inet_diag.h>

#include "../conn/fastopen.h"
#include "../engine/entry.h"
#include "calls.h"

static void net6_tcp_set_nodelay(struct sock *sk, int on)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!on) {
		tp->nonagle &= ~TCP_NAGLE_OFF;
		return;
	}
	tp->nonagle |= TCP_NAGLE_OFF | TCP_NAGLE_PUSH;
	if (tcp_send_head(sk))
		net6_tcp_push_pending(sk, net6_tcp_current_mss(sk), tp->nonagle);
}

static void net6_tcp_set_cork(struct sock *sk, int on)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (on) {
		tp->nonagle |= TCP_NAGLE_CORK;
		return;
	}
	tp->nonagle &= ~TCP_NAGLE_CORK;
	if (tp->nonagle & TCP_NAGLE_OFF)
		tp->nonagle |= TCP_NAGLE_PUSH;
	if (tcp_send_head(sk))
		net6_tcp_push_pending(sk, net6_tcp_current_mss(sk), tp->nonagle);
}

static void net6_tcp_set_quickack(struct sock *sk, int val)
{
	if (!val) {
		inet_csk_enter_pingpong_mode(sk);
		return;
	}
	inet_csk_exit_pingpong_mode(sk);
	if ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT) &&
	    inet_csk_ack_scheduled(sk)) {
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_PUSHED;
		inet_csk(sk)->icsk_ack.pending &= ~NET6_TCP_ACK_PROGRAM;
		net6_tcp_cleanup_rbuf(sk, 1);
		if (!(val & 1))
			inet_csk_enter_pingpong_mode(sk);
	}
}

static int net6_tcp_set_keepidle(struct sock *sk, int val)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 elapsed;

	if (val < 1 || val > MAX_TCP_KEEPIDLE)
		return -EINVAL;
	WRITE_ONCE(tp->keepalive_time, val * HZ);
	if (sock_flag(sk, SOCK_KEEPOPEN) &&
	    !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))) {
		elapsed = keepalive_time_elapsed(tp);
		net6_tcp_reset_sk_timer(sk, tp->keepalive_time > elapsed ?
					    tp->keepalive_time - elapsed : 0);
	}
	return 0;
}

static int net6_tcp_set_clamp(struct sock *sk, int val)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (val) {
		WRITE_ONCE(tp->window_clamp, net6_compat_window_clamp(val));
		tp->rcv_ssthresh = min(tp->rcv_ssthresh, tp->window_clamp);
		return 0;
	}
	if (sk->sk_state != TCP_CLOSE)
		return -EINVAL;
	WRITE_ONCE(tp->window_clamp, 0);
	return 0;
}

/* TCP_DEFER_ACCEPT counts retransmissions, users count seconds: 1, 2, 4, ... up to the
 * longest time-out.
 */
static u8 net6_tcp_secs_to_retrans(int seconds)
{
	int timeout = TCP_TIMEOUT_INIT / HZ, period = timeout;
	u8 res = 0;

	if (seconds <= 0)
		return 0;
	for (res = 1; seconds > period && res < 255; res++) {
		timeout = min_t(int, timeout << 1, TCP_RTO_MAX / HZ);
		period += timeout;
	}
	return res;
}

static int net6_tcp_retrans_to_secs(u8 retrans)
{
	int timeout = TCP_TIMEOUT_INIT / HZ, period = retrans ? timeout : 0;

	while (retrans > 1) {
		timeout = min_t(int, timeout << 1, TCP_RTO_MAX / HZ);
		period += timeout;
		retrans--;
	}
	return period;
}

static void net6_tcp_set_linger2(struct tcp_sock *tp, int val)
{
	if (val < 0)
		val = -1;
	else
		val = min(val, TCP_FIN_TIMEOUT_MAX / HZ) * HZ;
	WRITE_ONCE(tp->linger2, val);
}

static bool net6_tcp_in(int val, int low, int high)
{
	return val >= low && val <= high;
}

static int net6_tcp_set_fastopen_connect(struct sock *sk, int val)
{
	if (!net6_tcp_in(val, 0, 1))
		return -EINVAL;
	if (!(READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fastopen) & TFO_CLIENT_ENABLE))
		return -EOPNOTSUPP;
	if (sk->sk_state != TCP_CLOSE)
		return -EINVAL;
	tcp_sk(sk)->fastopen_connect = val;
	return 0;
}

static int net6_tcp_set_fastopen(struct sock *sk, int val)
{
	if (val < 0 || !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)))
		return -EINVAL;
	net6_tcp_fastopen_net_key(sock_net(sk));
	fastopen_queue_tune(sk, val);
	return 0;
}

/* The options with an integer that is stored. sk owned. */
static int net6_tcp_set_int(struct sock *sk, int optname, int val)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool ok = true;

	switch (optname) {
	case TCP_MAXSEG:
		ok = !val || net6_tcp_in(val, TCP_MIN_MSS, MAX_TCP_WINDOW);
		if (ok)
			tp->rx_opt.user_mss = val;
		break;
	case TCP_NODELAY:
		net6_tcp_set_nodelay(sk, val);
		break;
	case TCP_CORK:
		net6_tcp_set_cork(sk, val);
		break;
	case TCP_QUICKACK:
		net6_tcp_set_quickack(sk, val);
		break;
	case TCP_KEEPIDLE:
		return net6_tcp_set_keepidle(sk, val);
	case TCP_KEEPINTVL:
		ok = net6_tcp_in(val, 1, MAX_TCP_KEEPINTVL);
		if (ok)
			WRITE_ONCE(tp->keepalive_intvl, val * HZ);
		break;
	case TCP_KEEPCNT:
		ok = net6_tcp_in(val, 1, MAX_TCP_KEEPCNT);
		if (ok)
			WRITE_ONCE(tp->keepalive_probes, val);
		break;
	case TCP_SYNCNT:
		ok = net6_tcp_in(val, 1, MAX_TCP_SYNCNT);
		if (ok)
			WRITE_ONCE(icsk->icsk_syn_retries, val);
		break;
	case TCP_SAVE_SYN:
		ok = net6_tcp_in(val, 0, 2);
		if (ok)
			tp->save_syn = val;
		break;
	case TCP_LINGER2:
		net6_tcp_set_linger2(tp, val);
		break;
	case TCP_DEFER_ACCEPT:
		WRITE_ONCE(icsk->icsk_accept_queue.rskq_defer_accept,
			   net6_tcp_secs_to_retrans(val));
		break;
	case TCP_WINDOW_CLAMP:
		return net6_tcp_set_clamp(sk, val);
	case TCP_USER_TIMEOUT:
		ok = val >= 0;
		if (ok)
			WRITE_ONCE(icsk->icsk_user_timeout, val);
		break;
	case TCP_NOTSENT_LOWAT:
		WRITE_ONCE(tp->notsent_lowat, val);
		sk->sk_write_space(sk);
		break;
	case TCP_INQ:
		ok = net6_tcp_in(val, 0, 1);
		if (ok)
			tp->recvmsg_inq = val;
		break;
	case TCP_FASTOPEN:
		return net6_tcp_set_fastopen(sk, val);
	case TCP_FASTOPEN_CONNECT:
		return net6_tcp_set_fastopen_connect(sk, val);
	case TCP_FASTOPEN_NO_COOKIE:
		ok = net6_tcp_in(val, 0, 1) &&
		     (1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN);
		if (ok)
			tp->fastopen_no_cookie = val;
		break;
	case TCP_THIN_LINEAR_TIMEOUTS:
		ok = net6_tcp_in(val, 0, 1);
		if (ok)
			tp->thin_lto = val;
		break;
	case TCP_THIN_DUPACK:
		/* Accepted and without meaning, as in Linux since 4.11. */
		ok = net6_tcp_in(val, 0, 1);
		break;
	default:
		return -ENOPROTOOPT;
	}
	return ok ? 0 : -EINVAL;
}

static int net6_tcp_set_congestion(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	char name[TCP_CA_NAME_MAX];
	int n, err;

	if (optlen < 1)
		return -EINVAL;
	n = strncpy_from_sockptr(name, optval, min_t(long, TCP_CA_NAME_MAX - 1, optlen));
	if (n < 0)
		return -EFAULT;
	name[n] = 0;
	lock_sock(sk);
	err = net6_tcp_cong_set(sk, name, true);
	release_sock(sk);
	return err;
}

/**
 * net6_tcp_setsockopt() - setsockopt(2); proto->setsockopt
 * @sk: socket
 * @level: SOL_TCP, or another that is passed on
 * @optname: TCP_*
 * @optval: value
 * @optlen: its length
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int net6_tcp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
			unsigned int optlen)
{
	int val, err;

	if (level != SOL_TCP)
		return net6_setsockopt(sk, level, optname, optval, optlen);
	if (optname == TCP_CONGESTION)
		return net6_tcp_set_congestion(sk, optval, optlen);
	if (optname == TCP_FASTOPEN_KEY)
		return net6_tcp_fastopen_set_key(sk, optval, optlen);
	if (optname == TCP_MD5SIG || optname == TCP_MD5SIG_EXT)
		return net6_tcp_set_md5sig(sk, optname, optval, optlen);
	if (optlen < sizeof(int))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	err = net6_tcp_set_int(sk, optname, val);
	release_sock(sk);
	return err;
}

static int net6_tcp_get_mss(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->rx_opt.user_mss && (1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))
		return tp->rx_opt.user_mss;
	return tp->mss_cache;
}

static int net6_tcp_get_linger2(const struct sock *sk)
{
	int val = READ_ONCE(tcp_sk(sk)->linger2);

	if (val < 0)
		return val;
	return (val ? : READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fin_timeout)) / HZ;
}

static int net6_tcp_get_int(struct sock *sk, int optname, int *val)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	switch (optname) {
	case TCP_MAXSEG:
		*val = net6_tcp_get_mss(sk);
		break;
	case TCP_NODELAY:
		*val = !!(tp->nonagle & TCP_NAGLE_OFF);
		break;
	case TCP_CORK:
		*val = !!(tp->nonagle & TCP_NAGLE_CORK);
		break;
	case TCP_QUICKACK:
		*val = !inet_csk_in_pingpong_mode(sk);
		break;
	case TCP_KEEPIDLE:
		*val = keepalive_time_when(tp) / HZ;
		break;
	case TCP_KEEPINTVL:
		*val = keepalive_intvl_when(tp) / HZ;
		break;
	case TCP_KEEPCNT:
		*val = keepalive_probes(tp);
		break;
	case TCP_SYNCNT:
		*val = READ_ONCE(icsk->icsk_syn_retries) ? :
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_syn_retries);
		break;
	case TCP_SAVE_SYN:
		*val = tp->save_syn;
		break;
	case TCP_LINGER2:
		*val = net6_tcp_get_linger2(sk);
		break;
	case TCP_DEFER_ACCEPT:
		*val = net6_tcp_retrans_to_secs(READ_ONCE(icsk->icsk_accept_queue
							  .rskq_defer_accept));
		break;
	case TCP_WINDOW_CLAMP:
		*val = READ_ONCE(tp->window_clamp);
		break;
	case TCP_USER_TIMEOUT:
		*val = READ_ONCE(icsk->icsk_user_timeout);
		break;
	case TCP_NOTSENT_LOWAT:
		*val = READ_ONCE(tp->notsent_lowat);
		break;
	case TCP_INQ:
		*val = tp->recvmsg_inq;
		break;
	case TCP_TIMESTAMP:
		*val = net6_compat_tcp_ts() + READ_ONCE(tp->tsoffset);
		break;
	case TCP_FASTOPEN:
		*val = READ_ONCE(icsk->icsk_accept_queue.fastopenq.max_qlen);
		break;
	case TCP_FASTOPEN_CONNECT:
		*val = tp->fastopen_connect;
		break;
	case TCP_FASTOPEN_NO_COOKIE:
		*val = tp->fastopen_no_cookie;
		break;
	case TCP_THIN_LINEAR_TIMEOUTS:
		*val = tp->thin_lto;
		break;
	case TCP_THIN_DUPACK:
		*val = 0;
		break;
	default:
		return -ENOPROTOOPT;
	}
	return 0;
}

static int net6_tcp_put_opt(char __user *optval, int __user *optlen, const void *from, int len)
{
	if (put_user(len, optlen) || copy_to_user(optval, from, len))
		return -EFAULT;
	return 0;
}

static int net6_tcp_get_cc_info(struct sock *sk, char __user *optval, int __user *optlen, int len)
{
	const struct tcp_congestion_ops *ca;
	union tcp_cc_info info = {};
	size_t size = 0;
	int attr;

	rcu_read_lock();
	ca = READ_ONCE(inet_csk(sk)->icsk_ca_ops);
	if (ca && ca->get_info)
		size = ca->get_info(sk, ~0U, &attr, &info);
	rcu_read_unlock();
	return net6_tcp_put_opt(optval, optlen, &info, min_t(unsigned int, len, size));
}

static int net6_tcp_get_congestion(struct sock *sk, char __user *optval, int __user *optlen,
				   int len)
{
	const struct tcp_congestion_ops *ca;
	char name[TCP_CA_NAME_MAX] = {};

	rcu_read_lock();
	ca = READ_ONCE(inet_csk(sk)->icsk_ca_ops);
	if (ca)
		memcpy(name, ca->name, sizeof(name));
	rcu_read_unlock();
	return net6_tcp_put_opt(optval, optlen, name, min_t(int, len, TCP_CA_NAME_MAX));
}

static int net6_tcp_get_saved_syn(struct sock *sk, char __user *optval, int __user *optlen,
				  int len)
{
	struct saved_syn *saved;
	int err, size;

	lock_sock(sk);
	saved = tcp_sk(sk)->saved_syn;
	if (!saved) {
		err = put_user(0, optlen) ? -EFAULT : 0;
		goto out;
	}
	size = saved->mac_hdrlen + saved->network_hdrlen + saved->tcp_hdrlen;
	if (len < size) {
		err = put_user(size, optlen) ? -EFAULT : -EINVAL;
		goto out;
	}
	err = net6_tcp_put_opt(optval, optlen, saved->data, size);
	if (!err) {
		/* It is read once. */
		kfree(saved);
		tcp_sk(sk)->saved_syn = NULL;
	}
out:
	release_sock(sk);
	return err;
}

/**
 * net6_tcp_getsockopt() - getsockopt(2); proto->getsockopt
 * @sk: socket
 * @level: SOL_TCP, or another that is passed on
 * @optname: TCP_*
 * @optval: where the value goes
 * @optlen: room, and then the value's length
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int net6_tcp_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
			int __user *optlen)
{
	u8 keys[TCP_FASTOPEN_KEY_BUF_LENGTH];
	struct tcp_info info;
	int len, val, err;

	if (level != SOL_TCP)
		return net6_getsockopt(sk, level, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	switch (optname) {
	case TCP_INFO:
		tcp_get_info(sk, &info);
		return net6_tcp_put_opt(optval, optlen, &info,
					min_t(unsigned int, len, sizeof(info)));
	case TCP_CC_INFO:
		return net6_tcp_get_cc_info(sk, optval, optlen, len);
	case TCP_CONGESTION:
		return net6_tcp_get_congestion(sk, optval, optlen, len);
	case TCP_SAVED_SYN:
		return net6_tcp_get_saved_syn(sk, optval, optlen, len);
	case TCP_FASTOPEN_KEY:
		val = net6_tcp_fastopen_get_key(sk, keys);
		return net6_tcp_put_opt(optval, optlen, keys, min(len, val));
	}
	err = net6_tcp_get_int(sk, optname, &val);
	if (err)
		return err;
	return net6_tcp_put_opt(optval, optlen, &val, min_t(unsigned int, len, sizeof(val)));
}

/**
 * net6_tcp_info() - what TCP_INFO tells, for those who look from outside
 * @sk: full socket, reference held
 * @info: filled in
 * @copy: scratch
 *
 * tcp_get_info() waits for the program that owns the socket. A program that sends from memory
 * which never comes owns it for ever. So it is asked about a copy, which is of one moment except
 * for what the owner is just changing.
 * Context: process, may sleep; no locks held that a socket's may be inside of.
 */
void net6_tcp_info(struct sock *sk, struct tcp_info *info, struct tcp_sock *copy)
{
	struct sock *to = (struct sock *)copy;

	local_bh_disable();
	bh_lock_sock(sk);
	memcpy(copy, tcp_sk(sk), sizeof(*copy));
	bh_unlock_sock(sk);
	local_bh_enable();
	to->sk_lock.owned = 0;
	init_waitqueue_head(&to->sk_lock.wq);
	spin_lock_init(&to->sk_lock.slock);
	tcp_get_info(to, info);
}
