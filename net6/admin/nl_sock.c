// SPDX-License-Identifier: GPL-2.0
/* Sockets over netlink, and connections that have none: embryonic ones and those in
 * TIME-WAIT. They are shown, and TCP's ended. Fields are read without the socket lock and
 * may be of two moments.
 */
#include <linux/inet_diag.h>
#include <linux/slab.h>

#include "../compat/genetlink.h"
#include "../compat/sock.h"
#include "../transport/dgram.h"
#include "../transport/tcp/calls/calls.h"
#include "../transport/tcp/conn/conn.h"
#include "nl.h"

struct net6_nl_sock {
	struct in6_addr	laddr;
	struct in6_addr	raddr;
	u16		lport;
	u16		rport;
	u8		protocol;
	u8		state;
	bool		is_tcp_sock;
	int		ifindex;
	u32		uid;
	u32		inode;
	u32		rx_queue;
	u32		tx_queue;
	u32		mss;
	u32		cwnd;
	u32		ssthresh;
	u32		srtt;
	u32		rto;
	u32		retrans;
	char		congestion[TCP_CA_NAME_MAX];
};

/* With what only those who ask for it get: it is long. */
struct net6_nl_sock_info {
	struct net6_nl_sock	sock;	/* first */
	struct tcp_info		info;
	union tcp_cc_info	cc;
	u32			cc_len;
	bool			has_info;
};

struct net6_nl_sock_walk {
	struct net6_nl_list	*list;
	struct tcp_sock		*copy;	/* for net6_tcp_info(); NULL without memory */
};

/* What requests and TIME-WAIT entries have, too. */
static void net6_nl_sock_fill_common(struct net6_nl_sock *to, const struct sock *sk)
{
	to->laddr = sk->sk_v6_rcv_saddr;
	to->raddr = sk->sk_v6_daddr;
	to->lport = READ_ONCE(sk->sk_num);
	to->rport = ntohs(READ_ONCE(sk->sk_dport));
	to->ifindex = READ_ONCE(sk->sk_bound_dev_if);
	to->state = READ_ONCE(sk->sk_state);
}

static void net6_nl_sock_fill_full(struct net6_nl_sock *to, struct sock *sk,
				   struct user_namespace *userns)
{
	to->uid = from_kuid_munged(userns, net6_compat_sock_uid(sk));
	to->inode = sock_i_ino(sk);
}

static void net6_nl_sock_fill_tcp(struct net6_nl_sock *to, const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_congestion_ops *ca;
	const struct tcp_sock *tp = tcp_sk(sk);

	if (to->state == TCP_LISTEN) {
		to->rx_queue = READ_ONCE(sk->sk_ack_backlog);
		to->tx_queue = READ_ONCE(sk->sk_max_ack_backlog);
		return;
	}
	to->is_tcp_sock = true;
	to->rx_queue = max_t(int, READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq), 0);
	to->tx_queue = READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
	to->mss = READ_ONCE(tp->mss_cache);
	to->cwnd = tcp_snd_cwnd(tp);
	to->ssthresh = READ_ONCE(tp->snd_ssthresh);
	to->srtt = READ_ONCE(tp->srtt_us) >> 3;
	to->rto = jiffies_to_msecs(READ_ONCE(icsk->icsk_rto));
	to->retrans = READ_ONCE(tp->total_retrans);
	/* A module waits for a grace period before its ops go. */
	rcu_read_lock();
	ca = READ_ONCE(icsk->icsk_ca_ops);
	if (ca)
		strscpy(to->congestion, ca->name, sizeof(to->congestion));
	rcu_read_unlock();
}

static int net6_nl_sock_tcp(struct sock *sk, void *arg)
{
	const struct net6_nl_sock_walk *walk = arg;
	struct net6_nl_list *list = walk->list;
	struct net6_nl_sock *to = net6_nl_next(list);

	if (!to)
		return 0;
	to->protocol = IPPROTO_TCP;
	net6_nl_sock_fill_common(to, sk);
	if (to->state == TCP_TIME_WAIT) {
		to->state = READ_ONCE(((struct net6_tcp_tw *)sk)->substate);
	} else if (to->state != TCP_NEW_SYN_RECV) {
		net6_nl_sock_fill_full(to, sk, list->userns);
		net6_nl_sock_fill_tcp(to, sk);
	}
	return 0;
}

static int net6_nl_sock_tcp_info(struct sock *sk, void *arg)
{
	const struct net6_nl_sock_walk *walk = arg;
	const struct tcp_congestion_ops *ca;
	struct net6_nl_sock_info *to;
	int attr;

	net6_nl_sock_tcp(sk, arg);
	to = net6_nl_last(walk->list);
	if (!to || !to->sock.is_tcp_sock || !walk->copy)
		return 0;
	net6_tcp_info(sk, &to->info, walk->copy);
	to->has_info = true;
	rcu_read_lock();
	ca = READ_ONCE(inet_csk(sk)->icsk_ca_ops);
	if (ca && ca->get_info)
		to->cc_len = ca->get_info(sk, ~0U, &attr, &to->cc);
	rcu_read_unlock();
	return 0;
}

static int net6_nl_sock_dgram(struct sock *sk, void *arg)
{
	const struct net6_nl_sock_walk *walk = arg;
	struct net6_nl_list *list = walk->list;
	struct net6_nl_sock *to = net6_nl_next(list);

	if (!to)
		return 0;
	to->protocol = sk->sk_protocol;
	net6_nl_sock_fill_common(to, sk);
	net6_nl_sock_fill_full(to, sk, list->userns);
	to->rx_queue = sk_rmem_alloc_get(sk);
	to->tx_queue = sk_wmem_alloc_get(sk);
	return 0;
}

static void net6_nl_sock_collect_with(struct net6_net *nn, struct net6_nl_sock_walk *walk,
				      int (*tcp_fn)(struct sock *sk, void *arg))
{
	const struct net6_nl_list *list = walk->list;
	u64 tcp = 0, udp = 0, ping = 0;

	if (!list->filter || list->filter == IPPROTO_TCP)
		net6_tcp_walk(nn->net, &tcp, tcp_fn, walk);
	if (!list->filter || list->filter == IPPROTO_UDP)
		net6_dgram_walk(nn->net, IPPROTO_UDP, &udp, net6_nl_sock_dgram, walk);
	if (!list->filter || list->filter == IPPROTO_ICMPV6)
		net6_dgram_walk(nn->net, IPPROTO_ICMPV6, &ping, net6_nl_sock_dgram, walk);
}

static void net6_nl_sock_collect(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_nl_sock_walk walk = { .list = list };

	net6_nl_sock_collect_with(nn, &walk, net6_nl_sock_tcp);
}

static void net6_nl_sock_collect_info(struct net6_net *nn, struct net6_nl_list *list)
{
	struct net6_nl_sock_walk walk = {
		.list	= list,
		.copy	= kmalloc(sizeof(*walk.copy), GFP_KERNEL),
	};

	net6_nl_sock_collect_with(nn, &walk, net6_nl_sock_tcp_info);
	kfree(walk.copy);
}

static int net6_nl_sock_put_tcp(struct sk_buff *skb, const struct net6_nl_sock *i)
{
	if (nla_put_u32(skb, NET6_A_SOCK_MSS, i->mss) ||
	    nla_put_u32(skb, NET6_A_SOCK_CWND, i->cwnd) ||
	    nla_put_u32(skb, NET6_A_SOCK_SSTHRESH, i->ssthresh) ||
	    nla_put_u32(skb, NET6_A_SOCK_SRTT, i->srtt) ||
	    nla_put_u32(skb, NET6_A_SOCK_RTO, i->rto) ||
	    nla_put_u32(skb, NET6_A_SOCK_RETRANS, i->retrans) ||
	    nla_put_string(skb, NET6_A_SOCK_CONGESTION, i->congestion))
		return -EMSGSIZE;
	return 0;
}

static int net6_nl_sock_put(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_sock *i = item;

	if (nla_put_u32(skb, NET6_A_SOCK_PROTOCOL, i->protocol) ||
	    nla_put_u32(skb, NET6_A_SOCK_STATE, i->state) ||
	    nla_put_in6_addr(skb, NET6_A_SOCK_LOCAL_ADDRESS, &i->laddr) ||
	    nla_put_u32(skb, NET6_A_SOCK_LOCAL_PORT, i->lport) ||
	    nla_put_in6_addr(skb, NET6_A_SOCK_REMOTE_ADDRESS, &i->raddr) ||
	    nla_put_u32(skb, NET6_A_SOCK_REMOTE_PORT, i->rport) ||
	    nla_put_u32(skb, NET6_A_SOCK_UID, i->uid) ||
	    nla_put_u32(skb, NET6_A_SOCK_INODE, i->inode) ||
	    nla_put_u32(skb, NET6_A_SOCK_RX_QUEUE, i->rx_queue) ||
	    nla_put_u32(skb, NET6_A_SOCK_TX_QUEUE, i->tx_queue))
		return -EMSGSIZE;
	if (i->ifindex && nla_put_u32(skb, NET6_A_SOCK_IFINDEX, i->ifindex))
		return -EMSGSIZE;
	return i->is_tcp_sock ? net6_nl_sock_put_tcp(skb, i) : 0;
}

static const struct net6_nl_dump_ops net6_nl_sock_dump_ops = {
	.cmd		= NET6_CMD_SOCK_GET,
	.size		= sizeof(struct net6_nl_sock),
	.collect	= net6_nl_sock_collect,
	.put		= net6_nl_sock_put,
};

static int net6_nl_sock_put_info(struct sk_buff *skb, const void *item)
{
	const struct net6_nl_sock_info *i = item;

	if (net6_nl_sock_put(skb, &i->sock))
		return -EMSGSIZE;
	if (i->has_info && nla_put(skb, NET6_A_SOCK_INFO, sizeof(i->info), &i->info))
		return -EMSGSIZE;
	return i->cc_len ? nla_put(skb, NET6_A_SOCK_CC_INFO, i->cc_len, &i->cc) : 0;
}

static const struct net6_nl_dump_ops net6_nl_sock_info_dump_ops = {
	.cmd		= NET6_CMD_SOCK_GET,
	.size		= sizeof(struct net6_nl_sock_info),
	.collect	= net6_nl_sock_collect_info,
	.put		= net6_nl_sock_put_info,
};

int net6_nl_sock_get_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = net6_compat_dump_attrs(cb);
	bool info = attrs && attrs[NET6_A_SOCK_WANT_INFO];

	return net6_nl_dump_start(cb, info ? &net6_nl_sock_info_dump_ops : &net6_nl_sock_dump_ops,
				  NET6_A_SOCK_PROTOCOL);
}

/* A walk of a chain that many leave misses those behind them, but no more than it meets. So many
 * walks find all that were there, while others may come without end.
 */
#define NET6_NL_SOCK_WALKS	32

/* Which sockets to end: NULL and -1 are any. */
struct net6_nl_sock_match {
	const struct in6_addr	*laddr;
	const struct in6_addr	*raddr;
	int			lport;
	int			rport;
	int			ifindex;
	bool			orphan;
	unsigned int		ended;
};

static bool net6_nl_sock_matches(const struct sock *sk, const struct net6_nl_sock_match *m)
{
	if (m->orphan && (!sk_fullsock(sk) || sk->sk_state == TCP_LISTEN ||
			  !sock_flag(sk, SOCK_DEAD)))
		return false;
	return (!m->laddr || ipv6_addr_equal(m->laddr, &sk->sk_v6_rcv_saddr)) &&
	       (!m->raddr || ipv6_addr_equal(m->raddr, &sk->sk_v6_daddr)) &&
	       (m->lport < 0 || m->lport == READ_ONCE(sk->sk_num)) &&
	       (m->rport < 0 || m->rport == ntohs(READ_ONCE(sk->sk_dport))) &&
	       (m->ifindex < 0 || m->ifindex == READ_ONCE(sk->sk_bound_dev_if));
}

static int net6_nl_sock_end(struct sock *sk, void *arg)
{
	struct net6_nl_sock_match *match = arg;

	if (net6_nl_sock_matches(sk, match)) {
		net6_tcp_abort(sk, ECONNABORTED);
		match->ended++;
	}
	return 0;
}

static bool net6_nl_dev_exists(struct net *net, const struct nlattr *ifindex)
{
	bool exists;

	rcu_read_lock();
	exists = dev_get_by_index_rcu(net, nla_get_u32(ifindex));
	rcu_read_unlock();
	return exists;
}

static int net6_nl_sock_int(const struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : -1;
}

int net6_nl_sock_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct net6_nl_sock_match match = {
		.laddr	= attrs[NET6_A_SOCK_LOCAL_ADDRESS] ?
			  nla_data(attrs[NET6_A_SOCK_LOCAL_ADDRESS]) : NULL,
		.raddr	= attrs[NET6_A_SOCK_REMOTE_ADDRESS] ?
			  nla_data(attrs[NET6_A_SOCK_REMOTE_ADDRESS]) : NULL,
		.lport	= net6_nl_sock_int(attrs[NET6_A_SOCK_LOCAL_PORT]),
		.rport	= net6_nl_sock_int(attrs[NET6_A_SOCK_REMOTE_PORT]),
		.ifindex = net6_nl_sock_int(attrs[NET6_A_SOCK_IFINDEX]),
		.orphan	= attrs[NET6_A_SOCK_ORPHAN],
	};
	unsigned int before, walks = 0;
	u64 pos;

	if (!match.laddr && !match.raddr && match.lport < 0 && match.rport < 0 &&
	    !attrs[NET6_A_SOCK_IFINDEX] && !match.orphan) {
		NL_SET_ERR_MSG(info->extack, "which sockets is missing");
		return -EINVAL;
	}
	if (attrs[NET6_A_SOCK_IFINDEX] &&
	    !net6_nl_dev_exists(genl_info_net(info), attrs[NET6_A_SOCK_IFINDEX])) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[NET6_A_SOCK_IFINDEX], "no such interface");
		return -ENODEV;
	}
	do {
		before = match.ended;
		pos = 0;
		net6_tcp_walk(genl_info_net(info), &pos, net6_nl_sock_end, &match);
	} while (match.ended != before && ++walks < NET6_NL_SOCK_WALKS);
	if (!match.ended) {
		NL_SET_ERR_MSG(info->extack, "there is no such TCP socket");
		return -ENOENT;
	}
	return 0;
}
