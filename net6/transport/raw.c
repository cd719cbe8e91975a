// SPDX-License-Identifier: GPL-2.0
/* Raw sockets (RFC 3542 section 3) get a copy of every packet of one protocol, ICMPv6 with a
 * filter of types. The program writes the payload of its packets, or the whole (IPV6_HDRINCL).
 * There is no corking: MSG_MORE is ignored.
 */
#include <linux/icmpv6.h>
#include <net/inet_common.h>
#include <net/ip6_checksum.h>

#include "../compat/bpf_cgroup.h"
#include "../compat/inet_sock.h"
#include "../compat/proto.h"
#include "../compat/sock.h"
#include "../core/addr.h"
#include "../core/l3mdev.h"
#include "dgram.h"

/**
 * struct net6_raw_sock - SOCK_RAW
 * @dgram: must be first: what every datagram socket has
 * @filter: ICMPV6_FILTER; a bit that is set blocks its type
 * @offset: where the checksum is in the payload, bytes
 * @checksum: compute it on the way out, verify it on the way in (IPV6_CHECKSUM)
 */
struct net6_raw_sock {
	struct net6_dgram_sock	dgram;
	struct icmp6_filter	filter;
	int			offset;
	bool			checksum;
};

#define NET6_RAW_CHAINS	64

/* Sockets of a namespace by protocol; RCU to read. Another namespace's root cannot make them long.
 */
struct net6_raw_net {
	struct hlist_head	chain[NET6_RAW_CHAINS];
};

static unsigned int net6_raw_net_id;
static DEFINE_SPINLOCK(net6_raw_lock);

static struct pernet_operations net6_raw_net_ops = {
	.id	= &net6_raw_net_id,
	.size	= sizeof(struct net6_raw_net),
};

/* A protocol can be beyond what packets have. */
static struct hlist_head *net6_raw_chain(const struct net *net, u16 protocol)
{
	struct net6_raw_net *rn = net_generic(net, net6_raw_net_id);

	return &rn->chain[protocol % NET6_RAW_CHAINS];
}

static struct net6_raw_sock *net6_raw_sk(const struct sock *sk)
{
	return (struct net6_raw_sock *)sk;
}

static int net6_raw_init_sock(struct sock *sk)
{
	struct net6_raw_sock *rs = net6_raw_sk(sk);

	net6_dgram_init_sock(sk);
	sk->sk_reuse = SK_CAN_REUSE;
	inet_sk(sk)->inet_num = sk->sk_protocol;
	inet_sk(sk)->inet_sport = htons(sk->sk_protocol);
	net6_opt_set(sk, HDRINCL, sk->sk_protocol == IPPROTO_RAW);
	switch (sk->sk_protocol) {
	case IPPROTO_ICMPV6:	/* RFC 3542 3.1: the kernel does it */
		rs->checksum = true;
		rs->offset = offsetof(struct icmp6hdr, icmp6_cksum);
		break;
	case IPPROTO_MH:	/* RFC 6275 6.1.1 */
		rs->checksum = true;
		rs->offset = 4;
		break;
	}
	return sk->sk_prot->hash(sk);
}

static int net6_raw_hash(struct sock *sk)
{
	net6_dgram_publish(sk);
	spin_lock_bh(&net6_raw_lock);
	hlist_add_head_rcu(&sk->sk_node, net6_raw_chain(sock_net(sk), inet_sk(sk)->inet_num));
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	spin_unlock_bh(&net6_raw_lock);
	net6_proto_tap_want(true);
	return 0;
}

static void net6_raw_unhash(struct sock *sk)
{
	bool hashed;

	spin_lock_bh(&net6_raw_lock);
	hashed = sk_hashed(sk);
	if (hashed) {
		hlist_del_init_rcu(&sk->sk_node);
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	}
	spin_unlock_bh(&net6_raw_lock);
	if (hashed)
		net6_proto_tap_want(false);
}

static int net6_raw_bind(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len)
{
	struct sockaddr_in6 *addr = (struct sockaddr_in6 *)uaddr;
	int err;

	if (addr_len < SIN6_LEN_RFC2133 || addr->sin6_family != AF_INET6)
		return -EINVAL;
	if (ipv6_addr_v4mapped(&addr->sin6_addr))
		return -EADDRNOTAVAIL;
	lock_sock(sk);
	err = sk->sk_state != TCP_CLOSE ? -EINVAL : net6_bind_check(sk, addr, addr_len);
	if (!err) {
		sk->sk_v6_rcv_saddr = addr->sin6_addr;
		if (!ipv6_addr_is_multicast(&addr->sin6_addr))
			net6_np(sk)->saddr = addr->sin6_addr;
		net6_sk_dest_reset(sk);
	}
	release_sock(sk);
	return err;
}

/* As for other datagram sockets, but the protocol stays. */
static int net6_raw_disconnect(struct sock *sk, int flags)
{
	sk->sk_userlocks |= SOCK_BINDPORT_LOCK;
	return net6_dgram_disconnect(sk, flags);
}

/* RFC 3542 section 3.1 */
static int net6_raw_checksum(struct sock *sk, struct sk_buff *skb, u8 proto,
			     const struct in6_addr *saddr, const struct in6_addr *daddr)
{
	int offset = net6_raw_sk(sk)->offset;
	__wsum sum;
	__sum16 check;

	if (offset >= (int)skb->len - 1)
		return -EINVAL;
	check = 0;
	if (skb_store_bits(skb, offset, &check, sizeof(check)))
		return -EFAULT;
	sum = skb_checksum(skb, 0, skb->len, 0);
	check = csum_ipv6_magic(saddr, daddr, skb->len, proto, sum);
	if (!check && proto == IPPROTO_UDP)
		check = CSUM_MANGLED_0;
	return skb_store_bits(skb, offset, &check, sizeof(check));
}

static void net6_raw_settings(struct sock *sk, struct sk_buff *skb, const struct net6_tx *tx)
{
	skb->priority = net6_priority(READ_ONCE(sk->sk_priority), net6_tx_tclass(sk, tx));
	skb->mark = tx->sockc.mark;
	skb->tstamp = tx->sockc.transmit_time;
	if (tx->sockc.tsflags)
		net6_compat_tx_timestamp(skb, &tx->sockc);
}

/* A packet whose IPv6 header the program has written; @skb's data is there. Consumes it. */
static int net6_raw_xmit_whole(struct sock *sk, struct sk_buff *skb, const struct net6_tx *tx,
			       struct net6_dest *dest)
{
	u32 mtu = READ_ONCE(dest->iface->mtu);
	int err;

	if (skb->len > mtu) {
		net6_queue_local_error(sk, EMSGSIZE, &tx->daddr, 0, mtu);
		kfree_skb(skb);
		return -EMSGSIZE;
	}
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(struct ipv6hdr));
	skb->protocol = htons(ETH_P_IPV6);
	net6_raw_settings(sk, skb, tx);
	err = net6_output(skb, dest);
	if (err == NET_XMIT_CN)
		return 0;
	/* As Linux for such packets, and for UDP's. */
	return err == -ENOBUFS && !net6_opt(sk, RECVERR6) ? 0 : err;
}

/* Consumes @skb in any case, as does what sends it. */
static int net6_raw_xmit(struct sock *sk, struct sk_buff *skb, struct net6_tx *tx, u8 proto,
			 bool whole)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	const struct in6_addr *saddr;
	struct net6_dest *dest;
	struct in6_addr buf;
	int err;

	/* A program that writes the IPv6 header writes the others, too. */
	if (whole)
		tx->opt = NULL;
	else
		net6_tx_exthdrs(sk, tx);
	dest = net6_dgram_dest(sk, tx);
	if (IS_ERR(dest)) {
		err = PTR_ERR(dest);
		goto drop;
	}
	if (whole)
		return net6_raw_xmit_whole(sk, skb, tx, dest);
	saddr = ipv6_addr_any(&tx->saddr) ? net6_sk_source(sk, dest, &buf) : &tx->saddr;
	err = net6_dgram_mtu_check(sk, tx, dest, skb->len);
	if (!err && net6_raw_sk(sk)->checksum)
		err = net6_raw_checksum(sk, skb, proto, saddr, &tx->daddr);
	if (!err)
		err = net6_dgram_push_headers(sk, skb, tx, dest, saddr, proto);
	if (err)
		goto drop;
	net6_raw_settings(sk, skb, tx);
	skb->ignore_df = net6_dgram_may_fragment(sk);
	if (proto == IPPROTO_ICMPV6)
		NET6_INC(nn, Icmp6OutMsgs);
	return net6_dgram_output(sk, skb, dest);
drop:
	kfree_skb(skb);
	return err;
}

/* The "port" of a raw socket's destination is a protocol. Returns it or -errno. */
static int net6_raw_name(struct sock *sk, struct msghdr *msg)
{
	struct sockaddr_in6 *sin6 = msg->msg_name;
	int num = inet_sk(sk)->inet_num, proto;

	if (!sin6 && sk->sk_state != TCP_ESTABLISHED)
		return -EDESTADDRREQ;
	if (!sin6)
		return num > 255 ? -EINVAL : num;
	if (msg->msg_namelen < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (sin6->sin6_family && sin6->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	sin6->sin6_family = AF_INET6;
	proto = ntohs(sin6->sin6_port) ?: num;
	if ((proto != num && num != IPPROTO_RAW) || proto > 255)
		return -EINVAL;
	return proto;
}

static int net6_raw_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	bool whole = net6_opt(sk, HDRINCL);
	struct sk_buff *skb;
	struct net6_tx tx;
	bool connected;
	int proto, err;

	if (len > IPV6_MAXPLEN + (whole ? sizeof(struct ipv6hdr) : 0))
		return -EMSGSIZE;
	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	proto = net6_raw_name(sk, msg);
	if (proto < 0)
		return proto;
	err = net6_dgram_set_tx(sk, msg, &tx, &connected);
	if (err)
		return err;
	tx.dport = 0;
	if (whole && len < sizeof(struct ipv6hdr))
		return -EINVAL;
	if (unlikely(msg->msg_flags & MSG_PROBE))
		return net6_dgram_probe(sk, &tx) ?: len;

	skb = sock_alloc_send_skb(sk, NET6_HEADROOM + sizeof(struct ipv6hdr),
				  msg->msg_flags & MSG_DONTWAIT, &err);
	if (!skb)
		return err;
	skb_reserve(skb, NET6_HEADROOM);
	skb_reset_transport_header(skb);
	if (whole)
		skb_put(skb, sizeof(struct ipv6hdr));
	err = net6_dgram_pages_add(sk, skb, len - skb->len) ?:
	      skb_copy_datagram_from_iter(skb, 0, &msg->msg_iter, len);
	if (err) {
		kfree_skb(skb);
		return err;
	}
	rcu_read_lock();
	err = net6_raw_xmit(sk, skb, &tx, proto, whole);
	rcu_read_unlock();
	return err ?: len;
}

static bool net6_raw_match(const struct sock *sk, const struct net *net,
			   const struct net6_dgram_key *key)
{
	int bound = READ_ONCE(sk->sk_bound_dev_if);

	if (inet_sk(sk)->inet_num != key->protocol || !net_eq(sock_net(sk), net) ||
	    !net6_l3mdev_bound_eq(net, IPPROTO_RAW, bound, key->dif, key->sdif))
		return false;
	if (!ipv6_addr_any(&sk->sk_v6_daddr) && !ipv6_addr_equal(&sk->sk_v6_daddr, key->faddr))
		return false;
	return ipv6_addr_any(&sk->sk_v6_rcv_saddr) ||
	       ipv6_addr_equal(&sk->sk_v6_rcv_saddr, key->laddr) ||
	       (ipv6_addr_is_multicast(key->laddr) &&
		net6_sk_group_match(sk, key->laddr, key->faddr, key->dif));
}

/* RFC 3542 section 3.2. A packet too short to have a type is blocked. */
static bool net6_raw_blocked(const struct sock *sk, const struct sk_buff *skb)
{
	const __u32 *bits = net6_raw_sk(sk)->filter.data;
	u8 buf;
	const u8 *type = skb_header_pointer(skb, 0, sizeof(buf), &buf);

	return !type || (bits[*type / 32] & (1U << (*type % 32)));
}

/* One socket's own copy. Consumes. */
static void net6_raw_deliver(struct sock *sk, struct sk_buff *skb, u8 proto)
{
	if (net6_raw_sk(sk)->checksum &&
	    (net6_checksum_init(skb, proto) || skb_checksum_complete(skb))) {
		atomic_inc(&sk->sk_drops);
		net6_drop(net6_pernet(sock_net(sk)), skb, NET6_DROP_RAW_CSUM);
		return;
	}
	net6_dgram_deliver(sk, skb);
}

/* Every packet and every header of it that a protocol number names, as long as there
 * is a raw socket. Returns whether one wanted it; @skb is only borrowed.
 */
static bool net6_raw_rcv(struct sk_buff *skb, u8 proto)
{
	const struct net6_rx_cb *cb = net6_rx_cb(skb);
	struct net6_net *nn = cb->iface->nn;
	const struct net6_dgram_key key = {
		.laddr		= &ipv6_hdr(skb)->daddr,
		.faddr		= &ipv6_hdr(skb)->saddr,
		.dif		= cb->ifindex,
		.sdif		= net6_l3mdev_of_ifindex(nn, cb->ifindex),
		.protocol	= proto,
	};
	bool wanted = false;
	struct sk_buff *copy;
	struct sock *sk;

	hlist_for_each_entry_rcu(sk, net6_raw_chain(nn->net, proto), sk_node) {
		if (!net6_raw_match(sk, nn->net, &key))
			continue;
		wanted = true;
		if (proto == IPPROTO_ICMPV6 && net6_raw_blocked(sk, skb))
			continue;
		if (atomic_read(&sk->sk_rmem_alloc) > READ_ONCE(sk->sk_rcvbuf)) {
			atomic_inc(&sk->sk_drops);
			continue;
		}
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy)
			net6_raw_deliver(sk, copy, proto);
		else
			atomic_inc(&sk->sk_drops);
	}
	return wanted;
}

static void net6_raw_error_one(struct sock *sk, struct sk_buff *skb,
			       const struct net6_icmp_error *icmp)
{
	const unsigned int header = sizeof(struct icmp6hdr);
	bool hard;
	int err;

	if (!net6_opt(sk, RECVERR6) && sk->sk_state != TCP_ESTABLISHED)
		return;
	hard = net6_icmp_errno(icmp->type, icmp->code, &err);
	if (icmp->type == ICMPV6_PKT_TOOBIG) {
		net6_sk_update_pmtu(sk, icmp, 0);
		hard = net6_np(sk)->pmtudisc == IPV6_PMTUDISC_DO;
	}
	if (net6_opt(sk, RECVERR6))
		net6_queue_icmp_error(sk, skb, err, 0, icmp,
				      net6_opt(sk, HDRINCL) ? header : icmp->offset);
	else if (!hard)
		return;
	WRITE_ONCE(sk->sk_err, err);
	sk_error_report(sk);
}

static void net6_raw_error(struct sk_buff *skb, const struct net6_icmp_error *icmp, u8 proto)
{
	struct net *net = dev_net(skb->dev);
	const struct net6_dgram_key key = {
		.laddr		= icmp->saddr,
		.faddr		= icmp->daddr,
		.dif		= icmp->ifindex,
		.sdif		= net6_l3mdev_of_ifindex(net6_pernet(net), icmp->ifindex),
		.protocol	= proto,
	};
	struct sock *sk;

	hlist_for_each_entry_rcu(sk, net6_raw_chain(net, proto), sk_node)
		if (net6_raw_match(sk, net, &key))
			net6_raw_error_one(sk, skb, icmp);
}

static int net6_raw_set_filter(struct sock *sk, int optname, sockptr_t optval,
			       unsigned int optlen)
{
	struct icmp6_filter filter = net6_raw_sk(sk)->filter;

	if (optname != ICMPV6_FILTER)
		return -ENOPROTOOPT;
	if (copy_from_sockptr(&filter, optval, min_t(size_t, optlen, sizeof(filter))))
		return -EFAULT;
	net6_raw_sk(sk)->filter = filter;
	return 0;
}

static int net6_raw_set(struct sock *sk, int level, int optname, sockptr_t optval,
			unsigned int optlen)
{
	struct net6_raw_sock *rs = net6_raw_sk(sk);
	int val;

	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	switch (optname) {
	case IPV6_HDRINCL:
		net6_opt_set(sk, HDRINCL, val);
		return 0;
	case IPV6_CHECKSUM:
		/* RFC 3542 3.1: ICMPv6's "attempts to set it will fail" */
		if (inet_sk(sk)->inet_num == IPPROTO_ICMPV6 && level == IPPROTO_IPV6)
			return -EINVAL;
		if (val > 0 && (val & 1))
			return -EINVAL;
		rs->checksum = val >= 0;
		if (val >= 0)
			rs->offset = val;
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

static int net6_raw_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
			       unsigned int optlen)
{
	bool own = optname == IPV6_CHECKSUM || optname == IPV6_HDRINCL;

	if (level == SOL_ICMPV6) {
		if (inet_sk(sk)->inet_num != IPPROTO_ICMPV6)
			return -EOPNOTSUPP;
		return net6_raw_set_filter(sk, optname, optval, optlen);
	}
	if (level == SOL_RAW || (level == SOL_IPV6 && own))
		return net6_raw_set(sk, level, optname, optval, optlen);
	return net6_setsockopt(sk, level, optname, optval, optlen);
}

static int net6_raw_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
			       int __user *optlen)
{
	bool own = optname == IPV6_CHECKSUM || optname == IPV6_HDRINCL;
	struct net6_raw_sock *rs = net6_raw_sk(sk);
	const void *from;
	int val, len;

	if (level == SOL_ICMPV6 && inet_sk(sk)->inet_num != IPPROTO_ICMPV6)
		return -EOPNOTSUPP;
	if (level != SOL_ICMPV6 && level != SOL_RAW && !(level == SOL_IPV6 && own))
		return net6_getsockopt(sk, level, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (level == SOL_ICMPV6) {
		if (optname != ICMPV6_FILTER)
			return -ENOPROTOOPT;
		if (len < 0)
			return -EINVAL;
		len = min_t(int, len, sizeof(rs->filter));
		from = &rs->filter;
	} else {
		if (!own)
			return -ENOPROTOOPT;
		val = optname == IPV6_HDRINCL ? net6_opt(sk, HDRINCL) :
		      rs->checksum ? rs->offset : -1;
		len = min_t(unsigned int, len, sizeof(val));
		from = &val;
	}
	if (put_user(len, optlen) || copy_to_user(optval, from, len))
		return -EFAULT;
	return 0;
}

NET6_COMPAT_RECVMSG(net6_dgram_recvmsg)

static struct proto net6_raw_prot = {
	.name		= "NET6-RAW",
	.owner		= THIS_MODULE,
	.close		= net6_dgram_close,
	.connect	= net6_dgram_connect,
	.disconnect	= net6_raw_disconnect,
	.ioctl		= net6_dgram_ioctl,
	.init		= net6_raw_init_sock,
	.setsockopt	= net6_raw_setsockopt,
	.getsockopt	= net6_raw_getsockopt,
	.sendmsg	= net6_raw_sendmsg,
	.recvmsg	= net6_compat_recvmsg(net6_dgram_recvmsg),
	.bind		= net6_raw_bind,
	.hash		= net6_raw_hash,
	.unhash		= net6_raw_unhash,
	.obj_size	= sizeof(struct net6_raw_sock),
	.useroffset	= offsetof(struct net6_raw_sock, filter),
	.usersize	= sizeof_field(struct net6_raw_sock, filter),
};

static struct net6_protosw net6_raw_protosw = {
	.type		= SOCK_RAW,
	.protocol	= IPPROTO_IP,
	.prot		= &net6_raw_prot,
	.ops		= &net6_raw_ops,
};

static const struct net6_proto_tap net6_raw_tap = {
	.rcv	= net6_raw_rcv,
	.error	= net6_raw_error,
};

/**
 * net6_raw_walk() - call a function for each raw socket of a namespace
 * @net: namespace
 * @pos: 0 to begin with; where to go on afterwards
 * @fn: called with a reference held and without locks, may sleep; non-zero stops
 * @arg: for @fn
 *
 * Sockets that come or go meanwhile may be missed or seen twice.
 * Context: process, sleeps. Return: 0, or what @fn returned.
 */
int net6_raw_walk(struct net *net, u64 *pos, int (*fn)(struct sock *sk, void *arg), void *arg)
{
	u32 bucket = *pos >> 32, place = *pos;
	int err = 0;

	for (; bucket < NET6_RAW_CHAINS; bucket++, place = 0) {
		err = net6_dgram_walk_chain(net6_raw_chain(net, bucket), net, 0, &place, fn, arg);
		if (err)
			break;
	}
	*pos = (u64)bucket << 32 | place;
	return err;
}

/**
 * net6_raw_init() - register raw sockets
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_raw_init(void)
{
	int err = register_pernet_subsys(&net6_raw_net_ops);

	if (err)
		return err;
	err = net6_protosw_register(&net6_raw_protosw);
	if (err)
		unregister_pernet_subsys(&net6_raw_net_ops);
	else
		net6_proto_tap_register(&net6_raw_tap);
	return err;
}

/**
 * net6_raw_exit() - undo net6_raw_init(); no socket is left
 */
void net6_raw_exit(void)
{
	net6_proto_tap_register(NULL);
	net6_protosw_unregister(&net6_raw_protosw);
	unregister_pernet_subsys(&net6_raw_net_ops);
}
