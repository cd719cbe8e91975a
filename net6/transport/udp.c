// SPDX-License-Identifier: GPL-2.0
/* UDP (RFC 768 over IPv6, RFC 8200 8.1): receiving, errors, options, registration. A
 * zero checksum is for tunnels alone; UDP-Lite, UDP_ENCAP and UDP_NO_CHECK6 do not exist.
 */
#include <linux/udp.h>
#include <net/busy_poll.h>
#include <net/inet_common.h>
#include <net/ip6_route.h>
#include <net/udp.h>

#include "../compat/gso.h"
#include "../compat/inet_sock.h"
#include "../compat/proto.h"
#include "../core/icmp.h"
#include "../core/l3mdev.h"
#include "dgram.h"
#include "dgram_hash.h"

static atomic_long_t net6_udp_memory_allocated;
static DEFINE_PER_CPU(int, net6_udp_memory_per_cpu_fw_alloc);

/* A packet's last steps: filter, accounting, queue. @skb: data at the UDP header; consumed.
 * @cut: as net6_dgram_enqueue() wants it. Softirq.
 */
static void net6_udp_deliver_packet(struct sock *sk, struct sk_buff *skb, u16 cut)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	int err;

	if (rcu_access_pointer(sk->sk_filter) && !skb_csum_unnecessary(skb) &&
	    __skb_checksum_complete(skb)) {
		net6_udp_bad_checksum(nn, skb);
		return;
	}
	if (sk_filter_trim_cap(sk, skb, sizeof(struct udphdr))) {
		atomic_inc(&sk->sk_drops);
		NET6_INC(nn, Udp6InErrors);
		net6_drop(nn, skb, NET6_DROP_SOCKET_FILTER);
		return;
	}
	/* The header leaves the data, and the sum of what is still to be verified. */
	if (!skb->csum_valid && skb->ip_summed == CHECKSUM_NONE)
		skb->csum = csum_partial(skb->data, sizeof(struct udphdr), skb->csum);
	skb_pull_rcsum(skb, sizeof(struct udphdr));

	skb_orphan(skb);
	if (sk->sk_state == TCP_ESTABLISHED)
		sk_mark_napi_id(sk, skb);
	sk_incoming_cpu_update(sk);
	err = net6_dgram_enqueue(sk, skb, cut);
	if (unlikely(err)) {
		int datagrams = cut ? DIV_ROUND_UP(skb->len, cut) : 1;

		NET6_ADD(nn, Udp6RcvbufErrors, datagrams);
		NET6_ADD(nn, Udp6InErrors, datagrams);
		net6_drop(nn, skb, NET6_DROP_SOCKET_RCVBUF);
	}
}

static void net6_udp_deliver_one(struct sock *sk, struct sk_buff *skb)
{
	if (!net6_udp_encaps(sk) || net6_udp_encap_rcv(sk, skb))
		net6_udp_deliver_packet(sk, skb, 0);
}

/* sk_backlog_rcv: one that comes by another way than ours (socket/mapped_dgram.c). */
static int net6_udp_backlog_rcv(struct sock *sk, struct sk_buff *skb)
{
	net6_udp_deliver_one(sk, skb);
	return 0;
}

/* May joined datagrams stay together until they are read one by one? Not where each has to be
 * looked at before, or somebody is told of each.
 */
static bool net6_udp_stay_joined(const struct sock *sk, const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return (info->gso_type & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST)) == SKB_GSO_UDP_L4 &&
		skb->len > sizeof(struct udphdr) + info->gso_size &&
		!rcu_access_pointer(sk->sk_filter) && !cgroup_bpf_enabled(CGROUP_INET_INGRESS) &&
		!sk->sk_kern_sock && !sock_flag(sk, SOCK_FASYNC);
}

/* Joined datagrams that cannot stay so. Consumes. */
static void net6_udp_deliver_segments(struct sock *sk, struct sk_buff *skb)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	struct sk_buff *segs, *next;

	/* The offload code starts at a link header; ours is empty. */
	__skb_push(skb, skb->data - skb_network_header(skb));
	skb_reset_mac_header(skb);
	skb->mac_len = 0;
	if (skb->ip_summed == CHECKSUM_UNNECESSARY)
		skb->ip_summed = CHECKSUM_NONE;
	segs = __skb_gso_segment(skb, NETIF_F_SG | NETIF_F_IPV6_CSUM, false);
	if (IS_ERR_OR_NULL(segs)) {
		NET6_INC(nn, Udp6InErrors);
		net6_drop(nn, skb, NET6_DROP_UDP_SHORT);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, skb, next) {
		skb_mark_not_on_list(skb);
		__skb_pull(skb, skb_transport_offset(skb));
		/* Joining them took a good checksum of each. */
		skb->csum_valid = 1;
		net6_udp_deliver_one(sk, skb);
	}
}

/* Joined datagrams for a socket that reads them one by one. Consumes. */
static void net6_udp_deliver_joined(struct sock *sk, struct sk_buff *skb)
{
	/* Joining them took a good checksum of each. */
	skb->csum_valid = 1;
	net6_udp_deliver_packet(sk, skb, skb_shinfo(skb)->gso_size);
}

/* SKB_GSO_UDP is one datagram that a virtual machine would have had sent in fragments. Segments
 * inside one datagram are for a tunnel, which takes it off them.
 */
static bool net6_udp_is_one(const struct sock *sk, const struct sk_buff *skb)
{
	unsigned int type = skb_shinfo(skb)->gso_type;

	return (type & SKB_GSO_UDP) || ((type & (SKB_GSO_UDP_TUNNEL | SKB_GSO_UDP_TUNNEL_CSUM)) &&
					net6_udp_encaps(sk));
}

static void net6_udp_deliver(struct sock *sk, struct sk_buff *skb)
{
	if (likely(!skb_is_gso(skb) || net6_dgram_sk(sk)->gro || net6_udp_is_one(sk, skb)))
		net6_udp_deliver_one(sk, skb);
	else if (net6_udp_stay_joined(sk, skb))
		net6_udp_deliver_joined(sk, skb);
	else
		net6_udp_deliver_segments(sk, skb);
}

/* RFC 8200 8.1: a zero checksum is for tunnels that have asked for it (RFC 6935). Such a datagram
 * gets here only if there are tunnels.
 */
static bool net6_udp_takes_zero(const struct sock *sk, const struct sk_buff *skb)
{
	return likely(udp_hdr(skb)->check) ||
	       (sk && net6_udp_encaps(sk) && udp_get_no_check6_rx((struct sock *)sk));
}

/* A socket that wants a packet to a group gets it when the next one has been found. Returns that
 * one, @last if @sk is none.
 */
static struct sock *net6_udp_group_one(struct net6_net *nn, struct sk_buff *skb,
				       const struct net6_dgram_key *key, struct sock *sk,
				       struct sock *last)
{
	struct sk_buff *clone;
	int score;

	if (!net6_udp_takes_zero(sk, skb) || !net6_dgram_match(sk, nn->net, key, &score) ||
	    !net6_sk_group_match(sk, key->laddr, key->faddr, key->dif))
		return last;
	if (last) {
		clone = skb_clone(skb, GFP_ATOMIC);
		if (clone) {
			net6_udp_deliver(last, clone);
		} else {
			atomic_inc(&last->sk_drops);
			NET6_INC(nn, Udp6RcvbufErrors);
			NET6_INC(nn, Udp6InErrors);
		}
	}
	return sk;
}

/* Those bound to the group, connected or not, and to none. While one of them leaves or changes its
 * addresses, others may miss the packet, as on Linux: it cannot be told again who has had it.
 */
static struct sock *net6_udp_group_filed(struct net6_net *nn, struct sk_buff *skb,
					 const struct net6_dgram_key *key)
{
	struct hlist_head *heads[] = {
		net6_dgram_addr_head(nn->net, IPPROTO_UDP, &in6addr_any, key->lport),
		net6_dgram_addr_head(nn->net, IPPROTO_UDP, key->laddr, key->lport),
		net6_dgram_flow_head(nn->net, key),
	};
	struct sock *sk, *last = NULL;
	int i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		if ((i > 0 && heads[i] == heads[0]) || (i > 1 && heads[i] == heads[1]))
			continue;
		hlist_for_each_entry_rcu(sk, heads[i], __sk_common.skc_portaddr_node)
			last = net6_udp_group_one(nn, skb, key, sk, last);
	}
	return last;
}

/* Every socket of the port that wants packets to the group gets a copy. Consumes. */
static void net6_udp_deliver_group(struct net6_net *nn, struct sk_buff *skb,
				   const struct net6_dgram_key *key)
{
	struct net6_dgram_bucket *b = net6_dgram_bucket(nn->net, IPPROTO_UDP, key->lport);
	struct sock *sk, *last = NULL;

	if (unlikely(net6_dgram_filed(b))) {
		last = net6_udp_group_filed(nn, skb, key);
	} else {
		hlist_for_each_entry_rcu(sk, &b->head, sk_node)
			last = net6_udp_group_one(nn, skb, key, sk, last);
	}
	if (last)
		net6_udp_deliver(last, skb);
	else
		net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
}

static void net6_udp_no_socket(struct net6_net *nn, struct sk_buff *skb)
{
	/* No answer to what may be damaged. */
	if (!skb_csum_unnecessary(skb) && __skb_checksum_complete(skb)) {
		net6_udp_bad_checksum(nn, skb);
		return;
	}
	NET6_INC(nn, Udp6NoPorts);
	/* RFC 4443 3.1 */
	net6_icmp_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_PORT_UNREACH, 0);
	net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
}

/* Length and checksum. Returns false if the packet was dropped. */
static bool net6_udp_valid(struct net6_net *nn, struct sk_buff *skb)
{
	enum net6_drop_reason reason = NET6_DROP_UDP_SHORT;
	const struct udphdr *uh;
	unsigned int ulen;

	if (!pskb_may_pull(skb, sizeof(struct udphdr)))
		goto drop;
	uh = udp_hdr(skb);
	ulen = ntohs(uh->len);
	if (ulen > skb->len || ulen < sizeof(*uh))
		goto drop;
	if (ulen < skb->len) {
		if (pskb_trim_rcsum(skb, ulen))
			goto drop;
		uh = udp_hdr(skb);
	}
	reason = NET6_DROP_UDP_CSUM;
	/* RFC 8200 8.1: receivers MUST discard a zero checksum, but for tunnels. */
	if (unlikely(!uh->check) && net6_compat_encap_needed()) {
		skb->csum_valid = 1;
		return true;
	}
	if (!uh->check || net6_checksum_init(skb, IPPROTO_UDP)) {
		NET6_INC(nn, Udp6InCsumErrors);
		goto drop;
	}
	return true;
drop:
	NET6_INC(nn, Udp6InErrors);
	net6_drop(nn, skb, reason);
	return false;
}

static void net6_udp_rcv(struct sk_buff *skb)
{
	const struct net6_rx_cb *cb = net6_rx_cb(skb);
	struct net6_net *nn = cb->iface->nn;
	struct net6_dgram_key key;
	struct sock *sk;

	if (unlikely(!net6_udp_valid(nn, skb)))
		return;
	key.laddr = &ipv6_hdr(skb)->daddr;
	key.faddr = &ipv6_hdr(skb)->saddr;
	key.lport = ntohs(udp_hdr(skb)->dest);
	key.fport = udp_hdr(skb)->source;
	key.dif = cb->ifindex;
	key.sdif = net6_l3mdev_of_ifindex(nn, cb->ifindex);
	key.protocol = IPPROTO_UDP;
	if (unlikely(cb->flags & NET6_RX_MULTICAST)) {
		net6_udp_deliver_group(nn, skb, &key);
		return;
	}
	sk = net6_dgram_lookup(nn->net, &key, skb);
	if (unlikely(!net6_udp_takes_zero(sk, skb)))
		net6_udp_bad_checksum(nn, skb);
	else if (likely(sk))
		net6_udp_deliver(sk, skb);
	else
		net6_udp_no_socket(nn, skb);
}

static void net6_udp_error(struct sk_buff *skb, const struct net6_icmp_error *icmp)
{
	const struct udphdr *uh = (struct udphdr *)(skb->data + icmp->offset);
	struct sock *sk;
	bool hard;
	int err;

	sk = net6_dgram_lookup_sender(skb, icmp, IPPROTO_UDP, ntohs(uh->source), uh->dest);
	if (net6_compat_encap_needed() && (!sk || net6_udp_encaps(sk))) {
		net6_udp_encap_error(sk, skb, icmp);
		return;
	}
	if (!sk)
		return;
	hard = net6_icmp_errno(icmp->type, icmp->code, &err);
	if (icmp->type == ICMPV6_PKT_TOOBIG) {
		/* As Linux: the path's MTU is not for such a socket. */
		if (!ip6_sk_accept_pmtu(sk))
			return;
		net6_sk_update_pmtu(sk, icmp, uh->dest);
		hard = net6_np(sk)->pmtudisc != IPV6_PMTUDISC_DONT;
	}
	if (net6_opt(sk, RECVERR6))
		net6_queue_icmp_error(sk, skb, err, uh->dest, icmp,
				      icmp->offset + sizeof(*uh));
	net6_dgram_tell(sk, err, hard);
}

/* What a program's socket has in sk_user_data. Tunnels that take a program's UDP socket (L2TP,
 * GTP) look there, and refuse one that somebody uses: -EBUSY. They would receive by hooks that
 * are not called and send by native's routes. The kernel looks at the value's lowest bits.
 */
static const u64 net6_udp_no_tunnel;

static int net6_udp_init_sock(struct sock *sk)
{
	net6_dgram_init_sock(sk);
	set_bit(SOCK_SUPPORT_ZC, &sk->sk_socket->flags);
	if (!sk->sk_kern_sock)
		rcu_assign_sk_user_data(sk, (void *)&net6_udp_no_tunnel);
	return 0;
}

static int net6_udp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
			       unsigned int optlen)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	int val;

	if (level != SOL_UDP)
		return net6_setsockopt(sk, level, optname, optval, optlen);
	if (optlen < sizeof(int))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	switch (optname) {
	case UDP_CORK:
		lock_sock(sk);
		WRITE_ONCE(ds->cork, !!val);
		/* As Linux: if sending fails now, nobody is told. */
		if (!val)
			net6_udp_push_pending(sk);
		release_sock(sk);
		return 0;
	case UDP_SEGMENT:
		if (val < 0 || val > USHRT_MAX)
			return -EINVAL;
		WRITE_ONCE(ds->gso_size, val);
		return 0;
	case UDP_GRO:
		WRITE_ONCE(ds->gro, !!val);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

static int net6_udp_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
			       int __user *optlen)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	int val, len;

	if (level != SOL_UDP)
		return net6_getsockopt(sk, level, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min_t(unsigned int, len, sizeof(int));
	switch (optname) {
	case UDP_CORK:
		val = ds->cork;
		break;
	case UDP_SEGMENT:
		val = ds->gso_size;
		break;
	case UDP_GRO:
		val = ds->gro;
		break;
	default:
		return -ENOPROTOOPT;
	}
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

NET6_COMPAT_RECVMSG(net6_dgram_recvmsg)

static struct proto net6_udp_prot = {
	.name			= "NET6-UDP",
	.owner			= THIS_MODULE,
	.close			= net6_dgram_close,
	.pre_connect		= net6_dgram_pre_connect,
	.connect		= net6_dgram_connect,
	.disconnect		= net6_dgram_disconnect,
	.ioctl			= net6_dgram_ioctl,
	.init			= net6_udp_init_sock,
	.setsockopt		= net6_udp_setsockopt,
	.getsockopt		= net6_udp_getsockopt,
	.sendmsg		= net6_udp_sendmsg,
	.recvmsg		= net6_compat_recvmsg(net6_dgram_recvmsg),
	.backlog_rcv		= net6_udp_backlog_rcv,
	.get_port		= net6_dgram_get_port,
	.put_port		= net6_dgram_unhash,
	.unhash			= net6_dgram_unhash,
	.rehash			= net6_dgram_rehash,
	.memory_allocated	= &net6_udp_memory_allocated,
	.per_cpu_fw_alloc	= &net6_udp_memory_per_cpu_fw_alloc,
	.sysctl_wmem_offset	= offsetof(struct net, ipv4.sysctl_udp_wmem_min),
	.sysctl_rmem_offset	= offsetof(struct net, ipv4.sysctl_udp_rmem_min),
	.obj_size		= sizeof(struct net6_dgram_sock),
};

static struct net6_protosw net6_udp_protosw = {
	.type		= SOCK_DGRAM,
	.protocol	= IPPROTO_UDP,
	.prot		= &net6_udp_prot,
	.ops		= &net6_dgram_ops,
};

static const struct net6_proto net6_udp_proto = {
	.rcv	= net6_udp_rcv,
	.error	= net6_udp_error,
};

/**
 * net6_udp_walk() - see net6_dgram_walk()
 * @net: namespace
 * @pos: 0 to begin with; where to go on afterwards
 * @fn: called for each bound UDP socket
 * @arg: for @fn
 *
 * Context: process. Return: 0, or what @fn returned.
 */
int net6_udp_walk(struct net *net, u64 *pos, int (*fn)(struct sock *sk, void *arg), void *arg)
{
	return net6_dgram_walk(net, IPPROTO_UDP, pos, fn, arg);
}

/**
 * net6_udp_init() - register UDP and echo sockets
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_udp_init(void)
{
	int err;

	err = net6_dgram_hash_init();
	if (err)
		return err;
	/* sysctl_udp_mem itself is exported no more in 7.2. */
	net6_udp_prot.sysctl_mem = udp_prot.sysctl_mem;
	err = net6_protosw_register(&net6_udp_protosw);
	if (err)
		goto err_hash;
	err = net6_proto_register(IPPROTO_UDP, &net6_udp_proto);
	if (err)
		goto err_protosw;
	err = net6_ping_init();
	if (err)
		goto err_proto;
	return 0;

err_proto:
	net6_proto_unregister(IPPROTO_UDP, &net6_udp_proto);
err_protosw:
	net6_protosw_unregister(&net6_udp_protosw);
err_hash:
	net6_dgram_hash_exit();
	return err;
}

/**
 * net6_udp_exit() - undo net6_udp_init(); no socket is left
 */
void net6_udp_exit(void)
{
	net6_ping_exit();
	net6_proto_unregister(IPPROTO_UDP, &net6_udp_proto);
	net6_protosw_unregister(&net6_udp_protosw);
	net6_dgram_hash_exit();
}
