// SPDX-License-Identifier: GPL-2.0
/* Options of level IPPROTO_IPV6 (RFC 3493, RFC 3542 and what Linux added), and a few of
 * IPPROTO_IP, with Linux's errors. Flow label management, multicast routing and IPsec policies
 * are not built: -ENOPROTOOPT.
 */
#include <linux/in6.h>
#include <net/compat.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../compat/inet_sock.h"
#include "../core/l3mdev.h"
#include "mapped.h"

/* What bit of rxopt does an option switch? 0 if it is not one of those. */
static u16 net6_rxopt_bit(int optname)
{
	/* The bit fields of ipv6_pinfo.rxopt, made once into a mask each. */
#define RXOPT(field) ({ typeof(((struct ipv6_pinfo *)0)->rxopt) u = {}; \
			u.bits.field = 1; u.all; })
	switch (optname) {
	case IPV6_RECVPKTINFO:		return RXOPT(rxinfo);
	case IPV6_2292PKTINFO:		return RXOPT(rxoinfo);
	case IPV6_RECVHOPLIMIT:		return RXOPT(rxhlim);
	case IPV6_2292HOPLIMIT:		return RXOPT(rxohlim);
	case IPV6_RECVRTHDR:		return RXOPT(srcrt);
	case IPV6_RECVHOPOPTS:		return RXOPT(hopopts);
	case IPV6_RECVDSTOPTS:		return RXOPT(dstopts);
	case IPV6_2292RTHDR:		return RXOPT(osrcrt);
	case IPV6_2292HOPOPTS:		return RXOPT(ohopopts);
	case IPV6_2292DSTOPTS:		return RXOPT(odstopts);
	case IPV6_RECVTCLASS:		return RXOPT(rxtclass);
	case IPV6_FLOWINFO:		return RXOPT(rxflow);
	case IPV6_RECVPATHMTU:		return RXOPT(rxpmtu);
	case IPV6_RECVORIGDSTADDR:	return RXOPT(rxorigdstaddr);
	default:			return 0;
	}
#undef RXOPT
}

static int net6_set_tclass(struct sock *sk, int val)
{
	struct ipv6_pinfo *np = net6_np(sk);

	if (val < -1 || val > 0xff)
		return -EINVAL;
	if (val == -1)		/* RFC 3542 6.5: the default is 0 */
		val = 0;
	/* TCP's ECN bits are TCP's own (RFC 3168 6.1.1). */
	if (sk->sk_type == SOCK_STREAM)
		val = (val & ~INET_ECN_MASK) | (np->tclass & INET_ECN_MASK);
	np->tclass = val;
	return 0;
}

static int net6_set_unicast_if(struct sock *sk, int val, unsigned int optlen)
{
	int ifindex = ntohl((__force __be32)val);
	struct net_device *dev;

	if (optlen != sizeof(int))
		return -EINVAL;
	if (ifindex) {
		dev = dev_get_by_index(sock_net(sk), ifindex);
		if (!dev)
			return -EADDRNOTAVAIL;
		dev_put(dev);
		if (sk->sk_bound_dev_if)
			return -EINVAL;
	}
	net6_np(sk)->ucast_oif = ifindex;
	return 0;
}

/* May it name an interface, bound to a device as it is? */
static bool net6_sk_reaches(const struct sock *sk, int ifindex)
{
	bool reaches;

	rcu_read_lock();
	reaches = net6_l3mdev_reaches(net6_pernet(sock_net(sk)), sk->sk_bound_dev_if, ifindex);
	rcu_read_unlock();
	return reaches;
}

static int net6_set_multicast_if(struct sock *sk, int val)
{
	struct net_device *dev;

	if (val) {
		dev = dev_get_by_index(sock_net(sk), val);
		if (!dev)
			return -ENODEV;
		dev_put(dev);
		if (!net6_sk_reaches(sk, val))
			return -EINVAL;
	}
	net6_np(sk)->mcast_oif = val;
	return 0;
}

static int net6_set_pktinfo(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	struct in6_pktinfo pkt;

	if (optlen < sizeof(pkt) || sockptr_is_null(optval))
		return -EINVAL;
	if (copy_from_sockptr(&pkt, optval, sizeof(pkt)))
		return -EFAULT;
	if (!net6_sk_reaches(sk, pkt.ipi6_ifindex))
		return -EINVAL;
	net6_np(sk)->sticky_pktinfo = pkt;
	return 0;
}

static int net6_set_membership(struct sock *sk, int optname, sockptr_t optval,
			       unsigned int optlen)
{
	struct ipv6_mreq mreq;

	if (optlen < sizeof(mreq))
		return -EINVAL;
	if (sk->sk_type == SOCK_STREAM)
		return -EPROTO;
	if (copy_from_sockptr(&mreq, optval, sizeof(mreq)))
		return -EFAULT;
	if (optname == IPV6_ADD_MEMBERSHIP)
		return net6_sk_group_join(sk, mreq.ipv6mr_ifindex, &mreq.ipv6mr_multiaddr, NULL);
	return net6_sk_group_leave(sk, mreq.ipv6mr_ifindex, &mreq.ipv6mr_multiaddr);
}

static int net6_set_anycast(struct sock *sk, int optname, sockptr_t optval,
			    unsigned int optlen)
{
	struct ipv6_mreq mreq;

	if (optlen < sizeof(mreq))
		return -EINVAL;
	if (copy_from_sockptr(&mreq, optval, sizeof(mreq)))
		return -EFAULT;
	if (optname == IPV6_JOIN_ANYCAST)
		return net6_sk_anycast_join(sk, mreq.ipv6mr_ifindex, &mreq.ipv6mr_acaddr);
	return net6_sk_anycast_leave(sk, mreq.ipv6mr_ifindex, &mreq.ipv6mr_acaddr);
}

/* RFC 3678 section 5.1; the 32-bit layout differs by the alignment of the address. */
static int net6_set_mcast_group(struct sock *sk, int optname, sockptr_t optval,
				unsigned int optlen)
{
	const struct sockaddr_in6 *sin6;
	struct group_req req;

	if (in_compat_syscall()) {
		struct compat_group_req req32;

		if (optlen < sizeof(req32))
			return -EINVAL;
		if (copy_from_sockptr(&req32, optval, sizeof(req32)))
			return -EFAULT;
		req.gr_interface = req32.gr_interface;
		req.gr_group = req32.gr_group;
	} else {
		if (optlen < sizeof(req))
			return -EINVAL;
		if (copy_from_sockptr(&req, optval, sizeof(req)))
			return -EFAULT;
	}
	if (req.gr_group.ss_family != AF_INET6)
		return -EADDRNOTAVAIL;
	if (sk->sk_type == SOCK_STREAM)
		return -EPROTO;
	sin6 = (const struct sockaddr_in6 *)&req.gr_group;
	if (optname == MCAST_JOIN_GROUP)
		return net6_sk_group_join(sk, req.gr_interface, &sin6->sin6_addr, NULL);
	return net6_sk_group_leave(sk, req.gr_interface, &sin6->sin6_addr);
}

/* Options that are a number from a range. Returns -ENOPROTOOPT for others. */
static int net6_set_number(struct sock *sk, int optname, int val)
{
	struct ipv6_pinfo *np = net6_np(sk);

	switch (optname) {
	case IPV6_UNICAST_HOPS:
		if (val > 255 || val < -1)
			return -EINVAL;
		np->hop_limit = val;
		return 0;
	case IPV6_MULTICAST_HOPS:
		if (val > 255 || val < -1)
			return -EINVAL;
		np->mcast_hops = val == -1 ? IPV6_DEFAULT_MCASTHOPS : val;
		return 0;
	case IPV6_TCLASS:
		return net6_set_tclass(sk, val);
	case IPV6_MTU_DISCOVER:
		if (val < IPV6_PMTUDISC_DONT || val > IPV6_PMTUDISC_OMIT)
			return -EINVAL;
		np->pmtudisc = val;
		return 0;
	case IPV6_MTU:
		if (val && val < IPV6_MIN_MTU)
			return -EINVAL;
		np->frag_size = val;
		return 0;
	case IPV6_MINHOPCOUNT:
		if (val < 0 || val > 255)
			return -EINVAL;
		WRITE_ONCE(np->min_hopcount, val);
		return 0;
	case IPV6_ADDR_PREFERENCES:
		return net6_compat_set_addr_preferences(sk, val);
	case IPV6_MULTICAST_IF:
		return net6_set_multicast_if(sk, val);
	default:
		return -ENOPROTOOPT;
	}
}

/* Options that are on or off. Returns -ENOPROTOOPT for others. */
static int net6_set_flag(struct sock *sk, int optname, int val)
{
	struct net *net = sock_net(sk);

	switch (optname) {
	case IPV6_V6ONLY:
		if (inet_sk(sk)->inet_num)
			return -EINVAL;
		sk->sk_ipv6only = !!val;
		return 0;
	case IPV6_MULTICAST_LOOP:
		if (val & ~1)
			return -EINVAL;
		net6_opt_set(sk, MC6_LOOP, val);
		return 0;
	case IPV6_MULTICAST_ALL:
		net6_opt_set(sk, MC6_ALL, val);
		return 0;
	case IPV6_TRANSPARENT:
		if (val && !ns_capable(net->user_ns, CAP_NET_RAW) &&
		    !ns_capable(net->user_ns, CAP_NET_ADMIN))
			return -EPERM;
		net6_opt_set(sk, TRANSPARENT, val);
		return 0;
	case IPV6_FREEBIND:
		net6_opt_set(sk, FREEBIND, val);
		return 0;
	case IPV6_RECVERR:
		net6_opt_set(sk, RECVERR6, val);
		if (!val)
			skb_queue_purge(&sk->sk_error_queue);
		return 0;
	case IPV6_RECVERR_RFC4884:
		if (val & ~1)
			return -EINVAL;
		net6_opt_set(sk, RECVERR6_RFC4884, val);
		return 0;
	case IPV6_FLOWINFO_SEND:
		net6_opt_set(sk, SNDFLOW, val);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/* Options that are no int, and those where Linux does not look at the length. */
static int net6_set_other(struct sock *sk, int optname, int val, sockptr_t optval,
			  unsigned int optlen)
{
	switch (optname) {
	case IPV6_DONTFRAG:
		net6_opt_set(sk, DONTFRAG, val);
		return 0;
	case IPV6_AUTOFLOWLABEL:
		net6_opt_set(sk, AUTOFLOWLABEL, val);
		net6_opt_set(sk, AUTOFLOWLABEL_SET, 1);
		return 0;
	case IPV6_UNICAST_IF:
		return net6_set_unicast_if(sk, val, optlen);
	case IPV6_PKTINFO:
		return net6_set_pktinfo(sk, optval, optlen);
	case IPV6_HOPOPTS:
	case IPV6_RTHDRDSTOPTS:
	case IPV6_RTHDR:
	case IPV6_DSTOPTS:
		return net6_sticky_set(sk, optname, optval, optlen);
	case IPV6_ADD_MEMBERSHIP:
	case IPV6_DROP_MEMBERSHIP:
		return net6_set_membership(sk, optname, optval, optlen);
	case IPV6_JOIN_ANYCAST:
	case IPV6_LEAVE_ANYCAST:
		return net6_set_anycast(sk, optname, optval, optlen);
	case MCAST_JOIN_GROUP:
	case MCAST_LEAVE_GROUP:
		return net6_set_mcast_group(sk, optname, optval, optlen);
	case MCAST_JOIN_SOURCE_GROUP:
	case MCAST_LEAVE_SOURCE_GROUP:
	case MCAST_BLOCK_SOURCE:
	case MCAST_UNBLOCK_SOURCE:
		return net6_set_mcast_source(sk, optname, optval, optlen);
	case MCAST_MSFILTER:
		return net6_set_mcast_filter(sk, optval, optlen);
	default:
		return -ENOPROTOOPT;
	}
}

static bool net6_opt_is_int(int optname)
{
	switch (optname) {
	case IPV6_UNICAST_HOPS:
	case IPV6_MULTICAST_HOPS:
	case IPV6_MULTICAST_IF:
	case IPV6_TCLASS:
	case IPV6_MTU_DISCOVER:
	case IPV6_MTU:
	case IPV6_MINHOPCOUNT:
	case IPV6_ADDR_PREFERENCES:
	case IPV6_V6ONLY:
	case IPV6_MULTICAST_LOOP:
	case IPV6_MULTICAST_ALL:
	case IPV6_TRANSPARENT:
	case IPV6_FREEBIND:
	case IPV6_RECVERR:
	case IPV6_RECVERR_RFC4884:
	case IPV6_FLOWINFO_SEND:
		return true;
	default:
		return net6_rxopt_bit(optname);
	}
}

static int net6_set_int(struct sock *sk, int optname, int val)
{
	u16 bit = net6_rxopt_bit(optname);
	int err;

	if (bit) {
		if (val)
			net6_np(sk)->rxopt.all |= bit;
		else
			net6_np(sk)->rxopt.all &= ~bit;
		return 0;
	}
	err = net6_set_number(sk, optname, val);
	if (err == -ENOPROTOOPT)
		err = net6_set_flag(sk, optname, val);
	return err;
}

/* Options of level IPPROTO_IP that the kernel keeps in its struct inet_sock. bind() reads the
 * first three, IPv4 through this socket (mapped.c) the others.
 */
static bool net6_opt_is_ipv4(const struct sock *sk, int optname)
{
	if (sk->sk_type == SOCK_RAW)
		return false;
	switch (optname) {
	case IP_BIND_ADDRESS_NO_PORT:
	case IP_FREEBIND:
	case IP_TRANSPARENT:
	case IP_TOS:
	case IP_TTL:
	case IP_MTU_DISCOVER:
	case IP_RECVERR:
	case IP_RECVERR_RFC4884:
		return true;
	default:
		return false;
	}
}

/**
 * net6_setsockopt() - options of level IPPROTO_IPV6, and of IPPROTO_IP
 * @sk: any socket of ours
 * @level: as given by the program
 * @optname: as given
 * @optval: user or kernel memory, possibly NULL, which reads as 0
 * @optlen: its length
 *
 * Context: process; takes the socket lock. Return: 0 or -errno.
 */
int net6_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
		    unsigned int optlen)
{
	int val = 0;
	int err;

	if (level == SOL_IP && net6_opt_is_ipv4(sk, optname))
		return ip_setsockopt(sk, level, optname, optval, optlen);
	if (level != SOL_IPV6)
		return -ENOPROTOOPT;
	if (!sockptr_is_null(optval) && optlen >= sizeof(int) &&
	    copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	/* As Linux: these two are not for streams. */
	if (sk->sk_type == SOCK_STREAM &&
	    (optname == IPV6_MULTICAST_HOPS || optname == IPV6_MULTICAST_IF))
		return -ENOPROTOOPT;

	lock_sock(sk);
	if (!net6_opt_is_int(optname))
		err = net6_set_other(sk, optname, val, optval, optlen);
	else if (optlen < sizeof(int))
		err = -EINVAL;
	else
		err = net6_set_int(sk, optname, val);
	release_sock(sk);
	return err;
}

/**
 * net6_setsockopt_bpf() - bpf_setsockopt() of level IPPROTO_IPV6
 * @sk: socket of AF_INET6, owned
 * @level: IPPROTO_IPV6
 * @optname: one whose value is an int
 * @optval: kernel memory
 * @optlen: its length
 *
 * Context: any, does not sleep. Return: 0 or -errno.
 */
int net6_setsockopt_bpf(struct sock *sk, int level, int optname, sockptr_t optval,
			unsigned int optlen)
{
	int val;

	if (level != SOL_IPV6)
		return -ENOPROTOOPT;
	if (optlen < sizeof(val) || copy_from_sockptr(&val, optval, sizeof(val)))
		return -EINVAL;
	if (optname == IPV6_AUTOFLOWLABEL)
		return net6_set_other(sk, optname, val, optval, optlen);
	return optname == IPV6_TCLASS ? net6_set_int(sk, optname, val) : -ENOPROTOOPT;
}

/* The path MTU of a connected socket, 0 if it has none. */
static u32 net6_get_mtu(struct sock *sk)
{
	struct net6_dest *dest;
	u32 mtu = 0;

	if (unlikely(ipv6_addr_v4mapped(&sk->sk_v6_daddr)))
		return net6_mapped_dgram_mtu(sk);
	lock_sock(sk);
	rcu_read_lock_bh();
	if (sk->sk_state == TCP_ESTABLISHED || (sk->sk_type == SOCK_STREAM && net6_sk(sk)->dest)) {
		dest = net6_sk_dest(sk);
		if (!IS_ERR(dest))
			mtu = net6_dest_mtu(dest);
	}
	rcu_read_unlock_bh();
	release_sock(sk);
	return mtu;
}

/* What a hop limit of -1 stands for now. */
static int net6_get_hops(struct sock *sk, int val)
{
	struct net6_dest *dest;

	if (val >= 0)
		return val;
	val = NET6_DEFAULT_HOP_LIMIT;
	rcu_read_lock();
	dest = READ_ONCE(net6_sk(sk)->dest);
	if (dest && sk->sk_state == TCP_ESTABLISHED)
		val = net6_dest_hop_limit(dest);
	rcu_read_unlock();
	return val;
}

static int net6_get_addr_preferences(const struct ipv6_pinfo *np)
{
	int val;

	if (np->srcprefs & IPV6_PREFER_SRC_TMP)
		val = IPV6_PREFER_SRC_TMP;
	else if (np->srcprefs & IPV6_PREFER_SRC_PUBLIC)
		val = IPV6_PREFER_SRC_PUBLIC;
	else
		val = IPV6_PREFER_SRC_PUBTMP_DEFAULT;
	return val | (np->srcprefs & IPV6_PREFER_SRC_COA ? IPV6_PREFER_SRC_COA :
		      IPV6_PREFER_SRC_HOME);
}

static int net6_get_int(struct sock *sk, int optname, int *val)
{
	struct ipv6_pinfo *np = net6_np(sk);
	u16 bit = net6_rxopt_bit(optname);

	if (bit) {
		*val = !!(np->rxopt.all & bit);
		return 0;
	}
	switch (optname) {
	case IPV6_V6ONLY:
		*val = sk->sk_ipv6only;
		break;
	case IPV6_UNICAST_HOPS:
		*val = net6_get_hops(sk, np->hop_limit);
		break;
	case IPV6_MULTICAST_HOPS:
		*val = net6_get_hops(sk, np->mcast_hops);
		break;
	case IPV6_MULTICAST_LOOP:
		*val = net6_opt(sk, MC6_LOOP);
		break;
	case IPV6_MULTICAST_ALL:
		*val = net6_opt(sk, MC6_ALL);
		break;
	case IPV6_MULTICAST_IF:
		*val = np->mcast_oif;
		break;
	case IPV6_UNICAST_IF:
		*val = (__force int)htonl(np->ucast_oif);
		break;
	case IPV6_TCLASS:
		*val = np->tclass;
		break;
	case IPV6_MTU_DISCOVER:
		*val = np->pmtudisc;
		break;
	case IPV6_RECVERR:
		*val = net6_opt(sk, RECVERR6);
		break;
	case IPV6_RECVERR_RFC4884:
		*val = net6_opt(sk, RECVERR6_RFC4884);
		break;
	case IPV6_FLOWINFO_SEND:
		*val = net6_opt(sk, SNDFLOW);
		break;
	case IPV6_DONTFRAG:
		*val = net6_opt(sk, DONTFRAG);
		break;
	case IPV6_AUTOFLOWLABEL:
		*val = net6_opt(sk, AUTOFLOWLABEL_SET) ? net6_opt(sk, AUTOFLOWLABEL) : 1;
		break;
	case IPV6_MINHOPCOUNT:
		*val = np->min_hopcount;
		break;
	case IPV6_TRANSPARENT:
		*val = net6_opt(sk, TRANSPARENT);
		break;
	case IPV6_FREEBIND:
		*val = net6_opt(sk, FREEBIND);
		break;
	case IPV6_ADDR_PREFERENCES:
		*val = net6_get_addr_preferences(np);
		break;
	case IPV6_MTU:
		*val = net6_get_mtu(sk);
		return *val ? 0 : -ENOTCONN;
	default:
		return -ENOPROTOOPT;
	}
	return 0;
}

static int net6_get_pathmtu(struct sock *sk, char __user *optval, int __user *optlen, int len)
{
	struct ip6_mtuinfo info = {};

	if (len < (int)sizeof(info))
		return -EINVAL;
	info.ip6m_mtu = net6_get_mtu(sk);
	if (!info.ip6m_mtu)
		return -ENOTCONN;
	if (put_user((int)sizeof(info), optlen) || copy_to_user(optval, &info, sizeof(info)))
		return -EFAULT;
	return 0;
}

/* What came with a TCP connection (RFC 2292), of those options that the program asked for. No
 * segment is kept, so only that is told which is the same for all of them: our address, and the
 * interface.
 */
static int net6_get_pktoptions(struct sock *sk, char __user *optval, int __user *optlen, int len)
{
	struct msghdr msg = { .msg_control_is_user = true };
	const struct ipv6_pinfo *np = net6_np(sk);
	struct in6_pktinfo info = {};
	struct net6_dest *dest;

	if (sk->sk_type != SOCK_STREAM)
		return -ENOPROTOOPT;
	if (len < 0)
		return -EINVAL;
	msg.msg_control_user = optval;
	msg.msg_controllen = len;
	if (in_compat_syscall())
		msg.msg_flags = MSG_CMSG_COMPAT;
	lock_sock(sk);
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))) {
		info.ipi6_addr = sk->sk_v6_rcv_saddr;
		rcu_read_lock();
		dest = READ_ONCE(net6_sk(sk)->dest);
		info.ipi6_ifindex = sk->sk_bound_dev_if ?: dest ? dest->ifindex : 0;
		rcu_read_unlock();
	}
	release_sock(sk);
	if (np->rxopt.bits.rxinfo)
		put_cmsg(&msg, SOL_IPV6, IPV6_PKTINFO, sizeof(info), &info);
	if (np->rxopt.bits.rxoinfo)
		put_cmsg(&msg, SOL_IPV6, IPV6_2292PKTINFO, sizeof(info), &info);
	return put_user(len - (int)msg.msg_controllen, optlen);
}

/**
 * net6_getsockopt() - options of level IPPROTO_IPV6, and of IPPROTO_IP
 * @sk: any socket of ours
 * @level: as given by the program
 * @optname: as given
 * @optval: where the value goes, user memory
 * @optlen: its room, then its length; user memory
 *
 * As Linux: less than four bytes of room get the value's first bytes.
 * Context: process. Return: 0 or -errno.
 */
int net6_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
		    int __user *optlen)
{
	int val, len, err;

	if (level == SOL_IP && net6_opt_is_ipv4(sk, optname))
		return ip_getsockopt(sk, level, optname, optval, optlen);
	if (level != SOL_IPV6)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (optname == MCAST_MSFILTER)
		return net6_get_mcast_filter(sk, optval, optlen, len);
	if (optname == IPV6_HOPOPTS || optname == IPV6_RTHDRDSTOPTS || optname == IPV6_RTHDR ||
	    optname == IPV6_DSTOPTS)
		return net6_sticky_get(sk, optname, optval, optlen, len);
	if (optname == IPV6_PATHMTU)
		return net6_get_pathmtu(sk, optval, optlen, len);
	if (optname == IPV6_2292PKTOPTIONS)
		return net6_get_pktoptions(sk, optval, optlen, len);
	err = net6_get_int(sk, optname, &val);
	if (err)
		return err;
	len = min_t(unsigned int, sizeof(int), len);
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

/**
 * net6_getsockopt_bpf() - bpf_getsockopt() of level IPPROTO_IPV6
 * @sk: socket of AF_INET6, owned
 * @level: IPPROTO_IPV6
 * @optname: one whose value is an int
 * @optval: where it goes, kernel memory
 * @optlen: its room, then its length, kernel memory
 *
 * Context: any, does not sleep. Return: 0 or -errno.
 */
int net6_getsockopt_bpf(struct sock *sk, int level, int optname, sockptr_t optval,
			sockptr_t optlen)
{
	int val, len, err;

	if (level != SOL_IPV6 || (optname != IPV6_TCLASS && optname != IPV6_AUTOFLOWLABEL))
		return -ENOPROTOOPT;
	if (copy_from_sockptr(&len, optlen, sizeof(len)))
		return -EFAULT;
	err = net6_get_int(sk, optname, &val);
	if (err)
		return err;
	len = min_t(unsigned int, sizeof(val), len);
	if (copy_to_sockptr(optlen, &len, sizeof(len)) || copy_to_sockptr(optval, &val, len))
		return -EFAULT;
	return 0;
}

/* Options that the inner socket should not have, whatever ours has. */
static bool net6_mapped_own_option(int level, int optname)
{
	return (level == SOL_UDP && optname == UDP_GRO) || level == SOL_IPV6;
}

/**
 * net6_sock_setsockopt() - proto_ops.setsockopt
 * @sock: socket
 * @level: as the program gave it
 * @optname: as given
 * @optval: user or kernel memory
 * @optlen: its length
 *
 * Context: process. Return: 0 or -errno: what ours says.
 */
int net6_sock_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			 unsigned int optlen)
{
	struct sock *sk = READ_ONCE(sock->sk);
	struct sock *inner;
	int err;

	if (net6_sk_is_ipv4(sk))
		return net6_mapped_setsockopt(sock, level, optname, optval, optlen);
	err = READ_ONCE(sk->sk_prot)->setsockopt(sk, level, optname, optval, optlen);
	inner = net6_mapped_inner(sk);
	if (likely(!inner) || err || net6_mapped_own_option(level, optname))
		return err;
	inner->sk_prot->setsockopt(inner, level, optname, optval, optlen);
	return 0;
}
