// SPDX-License-Identifier: GPL-2.0
/* Echo sockets (SOCK_DGRAM, IPPROTO_ICMPV6): a program sends ICMPv6 echo requests and
 * reads the replies: with CAP_NET_RAW, or if net.ipv4.ping_group_range has its group.
 * The local port is the identifier; a reply goes to one socket.
 */
#include <linux/icmpv6.h>
#include <linux/cred.h>
#include <net/inet_common.h>
#include <net/ip6_checksum.h>

#include "../compat/inet_sock.h"
#include "../compat/proto.h"
#include "../compat/sock.h"
#include "../core/icmp.h"
#include "../core/l3mdev.h"
#include "dgram.h"

/* As native ping sockets: the groups from net.ipv4.ping_group_range may. So may who
 * could open a raw socket, for there are none to fall back to.
 */
static int net6_ping_init_sock(struct sock *sk)
{
	struct ping_group_range *pgr = &sock_net(sk)->ipv4.ping_group_range;
	struct group_info *groups;
	kgid_t low, high;
	unsigned int seq;
	bool allowed;
	int i;

	do {
		seq = read_seqbegin(&pgr->lock);
		low = pgr->range[0];
		high = pgr->range[1];
	} while (read_seqretry(&pgr->lock, seq));

	allowed = ns_capable(sock_net(sk)->user_ns, CAP_NET_RAW) ||
		  (gid_lte(low, current_egid()) && gid_lte(current_egid(), high));
	groups = get_current_groups();
	for (i = 0; i < groups->ngroups && !allowed; i++)
		allowed = gid_lte(low, groups->gid[i]) && gid_lte(groups->gid[i], high);
	put_group_info(groups);
	if (!allowed)
		allowed = ns_capable(sock_net(sk)->user_ns, CAP_NET_RAW);

	/* Also for a refused socket: it is torn down as any other. */
	net6_dgram_init_sock(sk);
	sk->sk_ipv6only = 1;
	sk->sk_reuse = SK_CAN_REUSE;
	return allowed ? 0 : -EACCES;
}

/* What the program may choose of the ICMPv6 header: type, code, sequence number. */
static int net6_ping_check(const struct icmp6hdr *h)
{
	return h->icmp6_type == ICMPV6_ECHO_REQUEST && !h->icmp6_code ? 0 : -EINVAL;
}

static int net6_ping_xmit(struct sock *sk, struct sk_buff *skb, struct net6_tx *tx)
{
	struct icmp6hdr *h = icmp6_hdr(skb);
	const struct in6_addr *saddr;
	struct net6_dest *dest;
	struct in6_addr buf;
	int err;

	net6_tx_exthdrs(sk, tx);
	dest = net6_dgram_dest(sk, tx);
	err = IS_ERR(dest) ? PTR_ERR(dest) : net6_dgram_mtu_check(sk, tx, dest, skb->len);
	if (err)
		goto drop;
	saddr = ipv6_addr_any(&tx->saddr) ? net6_sk_source(sk, dest, &buf) : &tx->saddr;
	h->icmp6_identifier = inet_sk(sk)->inet_sport;
	h->icmp6_cksum = 0;
	h->icmp6_cksum = csum_ipv6_magic(saddr, &tx->daddr, skb->len, IPPROTO_ICMPV6,
					 skb_checksum(skb, 0, skb->len, 0));
	err = net6_dgram_push_headers(sk, skb, tx, dest, saddr, IPPROTO_ICMPV6);
	if (err)
		goto drop;
	skb->priority = net6_priority(READ_ONCE(sk->sk_priority), net6_tx_tclass(sk, tx));
	skb->mark = tx->sockc.mark;
	skb->tstamp = tx->sockc.transmit_time;
	skb->ignore_df = net6_dgram_may_fragment(sk);
	if (tx->sockc.tsflags)
		net6_compat_tx_timestamp(skb, &tx->sockc);
	NET6_INC_IFACE(dest->iface, Icmp6OutMsgs);
	err = net6_dgram_output(sk, skb, dest);
	/* As Linux: nobody is told of a full queue. */
	return err == -ENOBUFS ? 0 : err;
drop:
	kfree_skb(skb);
	return err;
}

/* The request itself is looked at before where it is to go, as on Linux. Nothing is taken. */
static int net6_ping_peek(struct msghdr *msg)
{
	struct icmp6hdr h;

	if (!copy_from_iter_full(&h, sizeof(h), &msg->msg_iter))
		return -EFAULT;
	iov_iter_revert(&msg->msg_iter, sizeof(h));
	return net6_ping_check(&h);
}

/* Errors of a name, where those of UDP differ. */
static int net6_ping_name(const struct msghdr *msg)
{
	const struct sockaddr_in6 *sin6 = msg->msg_name;

	if (!sin6)
		return 0;
	if (msg->msg_namelen < sizeof(*sin6))
		return -EINVAL;
	if (sin6->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	return ipv6_addr_v4mapped(&sin6->sin6_addr) ? -EINVAL : 0;
}

static int net6_ping_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct net6_tx tx;
	struct sk_buff *skb;
	bool connected;
	int err;

	if (len > IPV6_MAXPLEN)
		return -EMSGSIZE;
	if (len < sizeof(struct icmp6hdr))
		return -EINVAL;
	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	err = net6_ping_peek(msg) ?: net6_ping_name(msg) ?:
	      net6_dgram_set_tx(sk, msg, &tx, &connected);
	if (err)
		return err;

	skb = sock_alloc_send_skb(sk, NET6_HEADROOM + sizeof(struct icmp6hdr),
				  msg->msg_flags & MSG_DONTWAIT, &err);
	if (!skb)
		return err;
	skb_reserve(skb, NET6_HEADROOM);
	skb_reset_transport_header(skb);
	skb_put(skb, sizeof(struct icmp6hdr));
	err = net6_dgram_pages_add(sk, skb, len - sizeof(struct icmp6hdr)) ?:
	      skb_copy_datagram_from_iter(skb, 0, &msg->msg_iter, len) ?:
	      net6_ping_check(icmp6_hdr(skb));
	if (err) {
		kfree_skb(skb);
		return err;
	}
	rcu_read_lock();
	err = net6_ping_xmit(sk, skb, &tx);
	rcu_read_unlock();
	return err ?: len;
}

/* An echo reply, from the ICMPv6 code; checksum verified. Consumes. */
static void net6_ping_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_net *nn = iface->nn;
	struct net6_dgram_key key = {
		.dif = net6_rx_cb(skb)->ifindex,
		.sdif = net6_l3mdev_of_ifindex(nn, net6_rx_cb(skb)->ifindex),
		.protocol = IPPROTO_ICMPV6,
	};
	struct sock *sk;

	if (!pskb_may_pull(skb, sizeof(struct icmp6hdr))) {
		net6_drop(nn, skb, NET6_DROP_ICMP_SHORT);
		return;
	}
	key.laddr = &ipv6_hdr(skb)->daddr;
	key.faddr = &ipv6_hdr(skb)->saddr;
	key.lport = ntohs(icmp6_hdr(skb)->icmp6_identifier);
	sk = key.lport ? net6_dgram_lookup(nn->net, &key, skb) : NULL;
	if (!sk) {
		net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
		return;
	}
	net6_dgram_deliver(sk, skb);
}

/* An error about an echo request of ours, as net6_proto.error. */
static void net6_ping_error(struct sk_buff *skb, const struct net6_icmp_error *icmp)
{
	const struct icmp6hdr *h = (struct icmp6hdr *)(skb->data + icmp->offset);
	struct sock *sk;
	bool hard;
	int err;

	if (net6_ping_check(h) || !h->icmp6_identifier)
		return;
	sk = net6_dgram_lookup_sender(skb, icmp, IPPROTO_ICMPV6, ntohs(h->icmp6_identifier), 0);
	if (!sk)
		return;
	hard = net6_icmp_errno(icmp->type, icmp->code, &err);
	if (icmp->type == ICMPV6_PKT_TOOBIG)
		net6_sk_update_pmtu(sk, icmp, 0);
	if (net6_opt(sk, RECVERR6))
		net6_queue_icmp_error(sk, skb, err, 0, icmp, icmp->offset);
	net6_dgram_tell(sk, err, hard);
}

NET6_COMPAT_RECVMSG(net6_dgram_recvmsg)

static struct proto net6_ping_prot = {
	.name		= "NET6-PING",
	.owner		= THIS_MODULE,
	.close		= net6_dgram_close,
	.pre_connect	= net6_dgram_pre_connect,
	.connect	= net6_dgram_connect,
	.disconnect	= net6_dgram_disconnect,
	.ioctl		= net6_dgram_ioctl,
	.init		= net6_ping_init_sock,
	.setsockopt	= net6_setsockopt,
	.getsockopt	= net6_getsockopt,
	.sendmsg	= net6_ping_sendmsg,
	.recvmsg	= net6_compat_recvmsg(net6_dgram_recvmsg),
	.get_port	= net6_dgram_get_port,
	.put_port	= net6_dgram_unhash,
	.unhash		= net6_dgram_unhash,
	.rehash		= net6_dgram_rehash,
	.obj_size	= sizeof(struct net6_dgram_sock),
};

static struct net6_protosw net6_ping_protosw = {
	.type		= SOCK_DGRAM,
	.protocol	= IPPROTO_ICMPV6,
	.prot		= &net6_ping_prot,
	.ops		= &net6_raw_ops,
};

/**
 * net6_ping_init() - register echo sockets, behind UDP
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_ping_init(void)
{
	int err = net6_protosw_register(&net6_ping_protosw);

	if (err)
		return err;
	net6_icmp_handle(ICMPV6_ECHO_REPLY, net6_ping_rcv);
	net6_icmp_handle_error(net6_ping_error);
	return 0;
}

/**
 * net6_ping_exit() - undo net6_ping_init(); no socket is left
 */
void net6_ping_exit(void)
{
	net6_icmp_handle_error(NULL);
	net6_icmp_handle(ICMPV6_ECHO_REPLY, NULL);
	net6_protosw_unregister(&net6_ping_protosw);
}
