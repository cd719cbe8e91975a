// SPDX-License-Identifier: GPL-2.0
/* UDP and ping sockets have this in common: connecting, and finding out where and how one
 * datagram is to be sent.
 */
#include <net/sock_reuseport.h>

#include "../compat/inet_sock.h"
#include "../core/exthdr.h"
#include "../core/nfhook.h"
#include "mapped.h"
#include "sock.h"

/* Save and restore what a failed connect() must leave as it was. */
struct net6_dgram_peer {
	struct in6_addr	daddr;
	__be32		flow_label;
	__be16		dport;
	int		bound;
};

static int __net6_dgram_connect(struct sock *sk, struct sockaddr_in6 *addr, int len)
{
	struct inet_sock *inet = inet_sk(sk);
	struct ipv6_pinfo *np = net6_np(sk);
	struct net6_dgram_peer old = {
		.daddr = sk->sk_v6_daddr,
		.flow_label = np->flow_label,
		.dport = inet->inet_dport,
		.bound = sk->sk_bound_dev_if,
	};
	struct net6_dest *dest;
	struct in6_addr saddr;
	int oif, err;

	sock_owned_by_me(sk);
	net6_mapped_self(sk, addr, len);
	if (unlikely(net6_mapped_addr(sk, addr, len)))
		return net6_mapped_dgram_connect(sk, addr, len);
	/* Shorter than IPv6's it may be. */
	if (addr->sin6_family == AF_INET && sk->sk_ipv6only)
		return -EAFNOSUPPORT;
	if (unlikely(ipv6_addr_v4mapped(&np->saddr)))
		return -EAFNOSUPPORT;
	err = net6_sk_check_addr(sk, addr, len, &oif);
	if (err)
		return err;
	if (ipv6_addr_any(&addr->sin6_addr))
		addr->sin6_addr = in6addr_loopback;
	if (net6_needs_zone(&addr->sin6_addr)) {
		if (!oif)
			return -EINVAL;
		WRITE_ONCE(sk->sk_bound_dev_if, oif);
	}

	sk->sk_v6_daddr = addr->sin6_addr;
	np->flow_label = net6_opt(sk, SNDFLOW) ? addr->sin6_flowinfo & IPV6_FLOWINFO_MASK : 0;
	inet->inet_dport = addr->sin6_port;

	rcu_read_lock();
	dest = net6_sk_dest_slow(sk);
	if (!IS_ERR(dest))
		saddr = *net6_sk_source(sk, dest, &saddr);
	rcu_read_unlock();
	if (IS_ERR(dest)) {
		sk->sk_v6_daddr = old.daddr;
		np->flow_label = old.flow_label;
		inet->inet_dport = old.dport;
		WRITE_ONCE(sk->sk_bound_dev_if, old.bound);
		/* Somebody may just have filed all sockets. */
		net6_dgram_moved(sk);
		return PTR_ERR(dest);
	}
	/* The source is fixed now: the peer knows us by it. */
	if (ipv6_addr_any(&np->saddr))
		np->saddr = saddr;
	if (ipv6_addr_any(&sk->sk_v6_rcv_saddr))
		sk->sk_v6_rcv_saddr = saddr;
	reuseport_has_conns_set(sk);
	sk->sk_state = TCP_ESTABLISHED;
	net6_dgram_moved(sk);
	sk_set_txhash(sk);
	return 0;
}

/**
 * net6_dgram_connect() - struct proto's connect of datagram sockets
 * @sk: socket, bound already
 * @uaddr: peer
 * @addr_len: its length
 *
 * Sends nothing. Context: process. Return: 0 or -errno; the old peer stays on error.
 */
int net6_dgram_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len)
{
	int err;

	lock_sock(sk);
	err = __net6_dgram_connect(sk, (struct sockaddr_in6 *)uaddr, addr_len);
	release_sock(sk);
	return err;
}

/**
 * net6_dgram_disconnect() - connect() with AF_UNSPEC
 * @sk: socket
 * @flags: not used
 *
 * Addresses and ports that bind() did not set go as well, and the interface.
 * Context: process. Return: 0.
 */
int net6_dgram_disconnect(struct sock *sk, int flags)
{
	struct inet_sock *inet = inet_sk(sk);

	lock_sock(sk);
	net6_mapped_dgram_disconnect(sk);
	sk->sk_state = TCP_CLOSE;
	memset(&sk->sk_v6_daddr, 0, sizeof(sk->sk_v6_daddr));
	inet->inet_dport = 0;
	sk->sk_txhash = net_tx_rndhash();
	WRITE_ONCE(sk->sk_bound_dev_if, 0);
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK)) {
		memset(&sk->sk_v6_rcv_saddr, 0, sizeof(sk->sk_v6_rcv_saddr));
		memset(&net6_np(sk)->saddr, 0, sizeof(struct in6_addr));
	}
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK)) {
		sk->sk_prot->unhash(sk);
		inet->inet_sport = 0;
	} else {
		net6_dgram_moved(sk);
	}
	net6_sk_dest_reset(sk);
	release_sock(sk);
	return 0;
}

/* The destination as the call names it. */
static int net6_dgram_set_name(struct sock *sk, struct msghdr *msg, struct net6_tx *tx)
{
	struct sockaddr_in6 *sin6 = msg->msg_name;
	int err;

	if (msg->msg_namelen < offsetof(struct sockaddr, sa_data))
		return -EINVAL;
	net6_mapped_self(sk, sin6, msg->msg_namelen);
	if (sin6->sin6_family == AF_INET)
		return -ENETUNREACH;
	if (sin6->sin6_family != AF_INET6)
		return -EINVAL;
	/* As Linux: echo sockets insist on their device. */
	if (sk->sk_type == SOCK_DGRAM && !net6_sk_is_udp(sk))
		err = net6_sk_check_addr(sk, sin6, msg->msg_namelen, &tx->oif);
	else
		err = net6_sk_check_dest(sk, sin6, msg->msg_namelen, &tx->oif);
	if (err)
		return err;
	if (!sin6->sin6_port && net6_sk_is_udp(sk))
		return -EINVAL;
	tx->daddr = sin6->sin6_addr;
	if (ipv6_addr_any(&tx->daddr))
		tx->daddr = in6addr_loopback;
	tx->dport = sin6->sin6_port;
	tx->flowinfo = net6_opt(sk, SNDFLOW) ? sin6->sin6_flowinfo & IPV6_FLOWINFO_MASK : 0;
	return 0;
}

/**
 * net6_dgram_set_tx() - find out where and how a datagram is to be sent
 * @sk: datagram socket
 * @msg: the program's call
 * @tx: filled in
 * @connected: set to whether it goes to the socket's peer by the socket's settings
 *
 * Context: process. Return: 0; -EDESTADDRREQ without a peer; -ENETUNREACH: to an IPv4
 * address (net6_mapped_dgram_sendmsg()); other -errno.
 */
int net6_dgram_set_tx(struct sock *sk, struct msghdr *msg, struct net6_tx *tx, bool *connected)
{
	const struct sockaddr_in6 *sin6 = msg->msg_name;
	int err;

	tx->hop_limit = -1;
	tx->tclass = -1;
	tx->dontfrag = -1;
	tx->confirm = msg->msg_flags & MSG_CONFIRM;
	tx->opt = NULL;
	tx->gso_size = READ_ONCE(net6_dgram_sk(sk)->gso_size);
	sockcm_init(&tx->sockc, sk);
	tx->sockc.mark = READ_ONCE(sk->sk_mark);
	tx->saddr = net6_np(sk)->saddr;

	*connected = !sin6 || (msg->msg_namelen >= sizeof(sa_family_t) &&
			       sin6->sin6_family == AF_UNSPEC);
	if (*connected) {
		if (sk->sk_state != TCP_ESTABLISHED)
			return -EDESTADDRREQ;
		tx->daddr = sk->sk_v6_daddr;
		if (unlikely(ipv6_addr_v4mapped(&tx->daddr)))
			return -ENETUNREACH;
		tx->dport = inet_sk(sk)->inet_dport;
		tx->flowinfo = net6_np(sk)->flow_label;
		tx->oif = net6_sk_own_oif(sk);
	} else {
		err = net6_dgram_set_name(sk, msg, tx);
		if (err)
			return err;
	}
	if (msg->msg_controllen) {
		*connected = false;
		err = net6_cmsg_send(sk, msg, tx);
		if (err)
			return err;
	}
	return net6_sk_default_oif(sk, &tx->daddr, &tx->oif);
}

static void net6_dgram_confirm(struct net6_dest *dest)
{
	local_bh_disable();
	net6_dest_confirm(dest);
	local_bh_enable();
}

/**
 * net6_dgram_probe() - MSG_PROBE: do all but send
 * @sk: datagram socket
 * @tx: how it would be sent
 *
 * Context: process. Return: 0, or -errno if there is no way to the destination.
 */
int net6_dgram_probe(struct sock *sk, struct net6_tx *tx)
{
	struct net6_dest *dest;
	int err;

	rcu_read_lock();
	net6_tx_exthdrs(sk, tx);
	dest = net6_dgram_dest(sk, tx);
	err = PTR_ERR_OR_ZERO(dest);
	if (!err && tx->confirm)
		net6_dgram_confirm(dest);
	rcu_read_unlock();
	return err;
}

/**
 * net6_dgram_mtu() - the largest packet that a socket's datagrams may be sent in
 * @sk: socket
 * @dest: where it goes
 *
 * The path's MTU (for IPV6_PMTUDISC_PROBE and above the link's), or IPV6_MTU if lower.
 * Context: RCU read lock held. Return: bytes with the IPv6 header.
 */
u32 net6_dgram_mtu(struct sock *sk, struct net6_dest *dest)
{
	const struct ipv6_pinfo *np = net6_np(sk);
	u32 mtu = np->pmtudisc >= IPV6_PMTUDISC_PROBE ? READ_ONCE(dest->iface->mtu) :
		net6_dest_mtu(dest);
	u32 set = READ_ONCE(np->frag_size);

	return unlikely(set) ? min(mtu, set) : mtu;
}

/**
 * net6_dgram_output() - send a complete packet, in fragments as IPV6_MTU wants them
 * @sk: socket
 * @skb: data at the IPv6 header; consumed
 * @dest: where it goes
 *
 * To groups, and where netfilter has rules, the path's MTU alone decides.
 * Context: RCU read lock held, process. Return: 0 or a negative errno.
 */
int net6_dgram_output(struct sock *sk, struct sk_buff *skb, struct net6_dest *dest)
{
	u32 set = READ_ONCE(net6_np(sk)->frag_size);
	int err;

	/* A datagram does not care about a queue that is congested. */
	if (likely(!set || skb->len <= set || skb_is_gso(skb) || !skb->ignore_df ||
		   (dest->flags & (NET6_DEST_LOCAL | NET6_DEST_MULTICAST)) ||
		   !net6_iface_usable(dest->iface)) || net6_nf_out_on()) {
		err = net6_output(skb, dest);
		return unlikely(err == NET_XMIT_CN) ? 0 : err;
	}
	rcu_read_lock_bh();
	skb->dev = dest->iface->dev;
	NET6_INC(dest->nn, Ip6OutRequests);
	NET6_ADD(dest->nn, Ip6OutOctets, skb->len);
	err = net6_output_egress(dest->nn, skb);
	if (likely(err >= 0))
		err = net6_frag_output(skb, dest->neigh, min(set, net6_dest_mtu(dest)));
	rcu_read_unlock_bh();
	return err;
}

/* RFC 7112 section 5: "the first fragment MUST include the entire IPv6 header chain" */
static bool net6_dgram_chain_fits(const struct sock *sk, unsigned int room, u32 mtu)
{
	unsigned int transport = sk->sk_type == SOCK_RAW ? 0 : sizeof(struct udphdr);

	return sizeof(struct ipv6hdr) + sizeof(struct frag_hdr) + room + transport <= mtu;
}

/**
 * net6_dgram_mtu_check_large() - net6_dgram_mtu_check(), whatever the size
 * @sk: socket
 * @tx: how it is sent
 * @dest: where it goes
 * @len: bytes behind the IPv6 header and the extension headers of @tx
 *
 * Context: RCU read lock held.
 * Return: 0 (fragmenting is allowed, or it fits), or -EMSGSIZE, of which the program
 * is also told in its error queue.
 */
int net6_dgram_mtu_check_large(struct sock *sk, const struct net6_tx *tx, struct net6_dest *dest,
			       unsigned int len)
{
	unsigned int room = net6_exthdr_room(tx->opt);
	u32 mtu = net6_dgram_mtu(sk, dest);
	bool dontfrag;

	if (likely(len + room + sizeof(struct ipv6hdr) <= mtu))
		return 0;
	dontfrag = tx->dontfrag >= 0 ? tx->dontfrag : net6_opt(sk, DONTFRAG);
	if (len + room <= IPV6_MAXPLEN && !dontfrag && net6_dgram_may_fragment(sk) &&
	    (!room || net6_dgram_chain_fits(sk, room, mtu)))
		return 0;
	/* What remains for the datagram with its IPv6 header, as on Linux. */
	mtu -= min(mtu, room);
	if (dontfrag)
		net6_queue_path_mtu(sk, &tx->daddr, tx->oif, mtu);
	net6_queue_local_error(sk, EMSGSIZE, &tx->daddr, tx->dport, mtu);
	return -EMSGSIZE;
}

/* Traffic class and flow label. Our own label depends on socket and destination port, so that
 * flows differ and each keeps its label (RFC 6437 section 3). It is 0 if IPV6_AUTOFLOWLABEL is
 * off.
 */
static __be32 net6_dgram_flowinfo(struct sock *sk, const struct net6_tx *tx)
{
	__be32 label = tx->flowinfo & IPV6_FLOWLABEL_MASK;

	if (!label &&
	    (net6_opt(sk, AUTOFLOWLABEL) || !net6_opt(sk, AUTOFLOWLABEL_SET)))
		label |= (__force __be32)(sk->sk_txhash ^ ((__force u32)tx->dport << 12)) &
			IPV6_FLOWLABEL_MASK;
	return htonl((u32)net6_tx_tclass(sk, tx) << 20) | label;
}

static u8 net6_dgram_hop_limit(struct sock *sk, const struct net6_tx *tx,
			       const struct net6_dest *dest)
{
	int hops = tx->hop_limit;

	if (hops < 0)
		hops = dest->flags & NET6_DEST_MULTICAST ? net6_np(sk)->mcast_hops :
			net6_np(sk)->hop_limit;
	if (hops < 0)
		hops = net6_dest_hop_limit(dest);
	return hops;
}

/**
 * net6_dgram_push_headers() - put everything in front of a datagram's transport header
 * @sk: datagram socket
 * @skb: data at the transport header, whose checksum is the final destination's
 * @tx: how it is sent, after net6_tx_exthdrs()
 * @dest: where it goes first
 * @saddr: source
 * @proto: of the transport header
 *
 * Context: RCU read lock held, process. Return: 0, or -errno with @skb still the caller's.
 */
int net6_dgram_push_headers(struct sock *sk, struct sk_buff *skb, const struct net6_tx *tx,
			    struct net6_dest *dest, const struct in6_addr *saddr, u8 proto)
{
	const struct in6_addr *hop = &tx->daddr;
	int err;

	/* Options for the stops of a route are no header without one. */
	if (unlikely(net6_exthdr_room(tx->opt))) {
		/* No device promises to find the checksum behind extension headers. */
		if (skb->ip_summed == CHECKSUM_PARTIAL) {
			err = skb_checksum_help(skb);
			if (err)
				return err;
		}
		err = net6_exthdr_push(skb, tx->opt, &proto, hop);
		if (err)
			return err;
		hop = net6_exthdr_first_hop(tx->opt, hop);
	}
	net6_push_header(skb, saddr, hop, proto, net6_dgram_hop_limit(sk, tx, dest),
			 net6_dgram_flowinfo(sk, tx));
	if (unlikely(tx->confirm))
		net6_dgram_confirm(dest);
	return 0;
}
