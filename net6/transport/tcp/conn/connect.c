// SPDX-License-Identifier: GPL-2.0
/* Active open (RFC 9293 3.10.1) and the way back to an unconnected socket. */
#include "../../../compat/bpf_cgroup.h"
#include "../calls/calls.h"
#include "../engine/entry.h"
#include "conn.h"
#include "fastopen.h"

/**
 * net6_tcp_pre_connect() - proto->pre_connect: cgroup BPF has its say
 * @sk: socket, owned
 * @uaddr: peer, may be changed
 * @addr_len: its length
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_tcp_pre_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len)
{
	sock_owned_by_me(sk);
	if (addr_len < SIN6_LEN_RFC2133)
		return -EINVAL;
	return net6_bpf_connect_owned(sk, uaddr, &addr_len);
}

/* Where to: checks the address and fills in the peer's, or fails. */
static int net6_tcp_connect_addr(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len)
{
	struct sockaddr_in6 *addr = (struct sockaddr_in6 *)uaddr;
	struct tcp_sock *tp = tcp_sk(sk);
	int oif, err;

	if (addr_len < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (addr->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	/* BSD: connect to the unspecified address means this host. */
	if (ipv6_addr_any(&addr->sin6_addr))
		addr->sin6_addr = in6addr_loopback;
	/* RFC 9293 3.9.2.3, MUST-57: only single hosts. */
	if (ipv6_addr_is_multicast(&addr->sin6_addr))
		return -ENETUNREACH;
	err = net6_sk_check_addr(sk, addr, addr_len, &oif);
	if (err)
		return err;
	if (ipv6_addr_type(&addr->sin6_addr) & IPV6_ADDR_LINKLOCAL) {
		if (!oif)
			return -EINVAL;
		sk->sk_bound_dev_if = oif;
	}
	if (tp->rx_opt.ts_recent_stamp && !ipv6_addr_equal(&sk->sk_v6_daddr, &addr->sin6_addr)) {
		tp->rx_opt.ts_recent = 0;
		tp->rx_opt.ts_recent_stamp = 0;
		WRITE_ONCE(tp->write_seq, 0);
	}
	sk->sk_v6_daddr = addr->sin6_addr;
	inet_sk(sk)->inet_dport = addr->sin6_port;
	return 0;
}

/* How: looks the destination up and settles our own address. */
static int net6_tcp_connect_dest(struct sock *sk)
{
	struct net6_net *nn = net6_tcp_nn(sk);
	struct net6_dest *dest;
	struct net6_flow flow;
	struct in6_addr buf;

	net6_sk_flow(sk, &flow);
	dest = net6_dest_lookup_flow(nn, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr,
				     sk->sk_bound_dev_if, net6_rules_on(nn) ? &flow : NULL);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	if (dest->flags & NET6_DEST_MULTICAST) {
		net6_dest_put(dest);
		return -ENETUNREACH;
	}
	if (ipv6_addr_any(&sk->sk_v6_rcv_saddr)) {
		rcu_read_lock();
		sk->sk_v6_rcv_saddr = *net6_sk_source(sk, dest, &buf);
		rcu_read_unlock();
	}
	net6_np(sk)->saddr = sk->sk_v6_rcv_saddr;
	net6_sk_dest_reset(sk);
	net6_sk(sk)->dest = dest;
	net6_tcp_set_caps(sk, dest);
	return 0;
}

/* Of several next hops it is known with the port which one the connection has, now and later. */
static void net6_tcp_connect_way(struct sock *sk)
{
	if (likely(!(net6_sk(sk)->dest->flags & NET6_DEST_ONE_WAY)))
		return;
	net6_sk_dest_reset(sk);
	net6_sk_dest(sk);
}

static void net6_tcp_reset_saddr(struct sock *sk)
{
	if (sk->sk_userlocks & SOCK_BINDADDR_LOCK)
		return;
	sk->sk_v6_rcv_saddr = in6addr_any;
	net6_np(sk)->saddr = in6addr_any;
}

/**
 * net6_tcp_connect() - begin an active open; proto->connect
 * @sk: in state CLOSE, owned by the caller
 * @uaddr: struct sockaddr_in6
 * @addr_len: its length
 *
 * Context: process.
 * Return: 0 when the SYN is on its way, or -errno: what is wrong with the address, no
 * route, no port.
 */
int net6_tcp_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len)
{
	struct inet_sock *inet = inet_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 isn, ts_offset;
	int err;

	err = net6_tcp_connect_addr(sk, uaddr, addr_len);
	if (err)
		return err;
	err = net6_tcp_connect_dest(sk);
	if (err)
		goto failed;
	if (!net6_tcp_was_connection(sk))
		net6_tcp_timers_init(sk);
	/* Until the peer tells: RFC 9293 3.7.1, MUST-16. */
	tp->rx_opt.mss_clamp = NET6_TCP_DEFAULT_MSS;
	net6_tcp_set_state(sk, TCP_SYN_SENT);
	err = net6_tcp_connect_port(sk);
	if (err)
		goto failed_late;
	net6_tcp_connect_way(sk);
	sk->sk_txhash = sk->sk_hash ?: 1;
	isn = net6_tcp_isn(net6_tcp_nn(sk), &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr,
			   inet->inet_sport, inet->inet_dport, &ts_offset);
	/* A successor of a connection in TIME-WAIT goes on where that one ended. */
	if (!tp->write_seq)
		WRITE_ONCE(tp->write_seq, isn);
	tp->tsoffset = ts_offset;
	net6_tcp_held_send(net6_tcp_nn(sk));
	err = likely(!tp->fastopen_connect) ? net6_tcp_send_syn(sk) : net6_tcp_fastopen_connect(sk);
	if (err)
		goto failed_late;
	NET6_INC(net6_tcp_nn(sk), TcpActiveOpens);
	return 0;

failed_late:
	net6_tcp_set_state(sk, TCP_CLOSE);
	net6_tcp_reset_saddr(sk);
failed:
	inet->inet_dport = 0;
	sk->sk_route_caps = 0;
	return err;
}

/* RFC 9293 3.10.5: in these states the peer has to be told. */
static bool net6_tcp_need_reset(const struct sock *sk, int state)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if ((1 << state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT | TCPF_FIN_WAIT1 |
			    TCPF_FIN_WAIT2 | TCPF_SYN_RECV))
		return true;
	/* Our FIN is queued, but was not sent: by the RFC's count we are before it. */
	return tp->snd_nxt != tp->write_seq && (1 << state) & (TCPF_CLOSING | TCPF_LAST_ACK);
}

static void net6_tcp_forget(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_timers_clear(sk);
	__skb_queue_purge(&sk->sk_receive_queue);
	WRITE_ONCE(tp->copied_seq, tp->rcv_nxt);
	WRITE_ONCE(tp->urg_data, 0);
	net6_tcp_write_queue_purge(sk);
	net6_tcp_rbtree_purge(&tp->out_of_order_queue);
	kfree(tp->saved_syn);
	tp->saved_syn = NULL;
	net6_tcp_fastopen_forget(sk);
	net6_tcp_engine_reset(sk);
	net6_sk_dest_reset(sk);
	if (sk->sk_frag.page) {
		put_page(sk->sk_frag.page);
		sk->sk_frag.page = NULL;
		sk->sk_frag.offset = 0;
	}
}

/**
 * net6_tcp_disconnect() - abort, and make the socket as good as new
 * @sk: owned by the caller, or locked by its spinlock with no owner
 * @flags: not used
 *
 * RFC 9293 3.10.5. Also connect() with AF_UNSPEC, and what inet_stream_connect() does
 * with a failed attempt.
 * Context: any.
 * Return: 0.
 */
int net6_tcp_disconnect(struct sock *sk, int flags)
{
	struct inet_sock *inet = inet_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	int old = sk->sk_state;
	u32 seq;

	if (old != TCP_CLOSE)
		net6_tcp_set_state(sk, TCP_CLOSE);
	if (old == TCP_LISTEN) {
		net6_tcp_listen_stop(sk);
	} else if (net6_tcp_need_reset(sk, old)) {
		net6_tcp_send_active_reset(sk, gfp_any());
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	} else if (old == TCP_SYN_SENT) {
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	}
	net6_tcp_forget(sk);

	inet->inet_dport = 0;
	net6_tcp_reset_saddr(sk);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sock_reset_flag(sk, SOCK_DONE);
	/* Beyond all that the old connection may have in flight. */
	seq = tp->write_seq + tp->max_window + 2;
	WRITE_ONCE(tp->write_seq, seq ?: 1);
	sk_error_report(sk);
	return 0;
}
