// SPDX-License-Identifier: GPL-2.0
/* Sending UDP (RFC 768, RFC 8200 8.1): no lock on the way unless datagrams are put
 * together with MSG_MORE or UDP_CORK. Checksums are left to the device or to the last
 * step before it.
 */
#include <linux/udp.h>
#include <net/inet_common.h>
#include <net/ip6_checksum.h>

#include "../compat/bpf_cgroup.h"
#include "../compat/inet_sock.h"
#include "../compat/sock.h"
#include "../core/exthdr.h"
#include "../socket/mapped.h"
#include "dgram.h"

#define NET6_UDP_MAX	(IPV6_MAXPLEN - sizeof(struct udphdr))	/* bytes of payload */
#define NET6_UDP_HEAD	(NET6_HEADROOM + sizeof(struct udphdr))

/* Payloads up to here are linear: one allocation of at most a page. */
#define NET6_UDP_LINEAR	(SKB_WITH_OVERHEAD(PAGE_SIZE) - NET6_UDP_HEAD)

/* Room for the headers and @len bytes; the latter still to be filled in. */
static __always_inline int net6_udp_prepare(struct sock *sk, struct sk_buff *skb, size_t len,
					    bool linear)
{
	skb_reserve(skb, NET6_HEADROOM);
	skb_reset_transport_header(skb);
	__skb_put(skb, sizeof(struct udphdr) + (linear ? len : 0));
	return likely(linear) ? 0 : net6_dgram_pages_add(sk, skb, len);
}

/* sock_alloc_send_skb(); the usual socket has room and no error. */
static struct sk_buff *net6_udp_alloc(struct sock *sk, size_t size, bool noblock, int *err)
{
	struct sk_buff *skb;

	if (unlikely(READ_ONCE(sk->sk_err) || READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN ||
		     sk_wmem_alloc_get(sk) >= READ_ONCE(sk->sk_sndbuf)))
		return sock_alloc_send_skb(sk, size, noblock, err);
	skb = alloc_skb(size, sk->sk_allocation);
	*err = -ENOBUFS;
	if (likely(skb))
		skb_set_owner_w(skb, sk);
	return skb;
}

static struct sk_buff *net6_udp_make_skb(struct sock *sk, struct msghdr *msg, size_t len,
					 int *err)
{
	bool linear = len <= NET6_UDP_LINEAR;
	struct sk_buff *skb;
	bool copied;

	skb = net6_udp_alloc(sk, NET6_UDP_HEAD + (linear ? len : 0),
			     msg->msg_flags & MSG_DONTWAIT, err);
	if (unlikely(!skb))
		return NULL;
	*err = net6_udp_prepare(sk, skb, len, linear);
	if (unlikely(*err))
		goto free;
	if (likely(linear))
		copied = copy_from_iter_full(skb->data + sizeof(struct udphdr), len,
					     &msg->msg_iter);
	else
		copied = !skb_copy_datagram_from_iter(skb, sizeof(struct udphdr),
						      &msg->msg_iter, len);
	if (likely(copied))
		return skb;
	*err = -EFAULT;
free:
	kfree_skb(skb);
	return NULL;
}

/* UDP_SEGMENT: the device or the kernel's offload code cuts it up. */
static int net6_udp_set_gso(struct sock *sk, struct sk_buff *skb, const struct net6_tx *tx,
			    struct net6_dest *dest)
{
	unsigned int len = skb->len - sizeof(struct udphdr);
	unsigned int room = net6_exthdr_room(tx->opt);
	unsigned int size = tx->gso_size;

	if (sizeof(struct ipv6hdr) + room + sizeof(struct udphdr) + min(len, size) >
	    net6_dgram_mtu(sk, dest))
		return -EMSGSIZE;
	if (len > size * UDP_MAX_SEGMENTS)
		return -EINVAL;
	if (len > size) {
		/* As Linux: such a checksum is made in software, once for all segments. */
		if (room)
			return -EIO;
		skb_shinfo(skb)->gso_size = size;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(len, size);
	}
	return 0;
}

static void net6_udp_write_header(struct sock *sk, struct sk_buff *skb,
				  const struct net6_tx *tx, const struct in6_addr *saddr)
{
	struct udphdr *uh = udp_hdr(skb);

	uh->source = inet_sk(sk)->inet_sport;
	uh->dest = tx->dport;
	uh->len = htons(skb->len);
	uh->check = ~csum_ipv6_magic(saddr, &tx->daddr, skb->len, IPPROTO_UDP, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* Headers, and away. RCU read lock held; consumes skb. */
static int net6_udp_xmit(struct sock *sk, struct sk_buff *skb, struct net6_tx *tx)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	const struct in6_addr *saddr;
	struct net6_dest *dest;
	struct in6_addr buf;
	int err;

	net6_tx_exthdrs(sk, tx);
	dest = net6_dgram_dest(sk, tx);
	if (IS_ERR(dest)) {
		err = PTR_ERR(dest);
		goto drop;
	}
	err = tx->gso_size ? net6_udp_set_gso(sk, skb, tx, dest) :
		net6_dgram_mtu_check(sk, tx, dest, skb->len);
	if (unlikely(err))
		goto drop;
	if (ipv6_addr_any(&tx->saddr)) {
		saddr = net6_sk_source(sk, dest, &buf);
	} else {
		/* Bound or connected to IPv4. */
		err = -EAFNOSUPPORT;
		if (unlikely(ipv6_addr_v4mapped(&tx->saddr)))
			goto drop;
		saddr = &tx->saddr;
	}
	net6_udp_write_header(sk, skb, tx, saddr);
	err = net6_dgram_push_headers(sk, skb, tx, dest, saddr, IPPROTO_UDP);
	if (unlikely(err))
		goto drop;
	skb->priority = net6_priority(READ_ONCE(sk->sk_priority), net6_tx_tclass(sk, tx));
	skb->mark = tx->sockc.mark;
	skb->tstamp = tx->sockc.transmit_time;
	skb->ignore_df = net6_dgram_may_fragment(sk);
	if (unlikely(tx->sockc.tsflags))
		net6_compat_tx_timestamp(skb, &tx->sockc);

	err = net6_dgram_output(sk, skb, dest);
	if (likely(!err)) {
		NET6_INC(nn, Udp6OutDatagrams);
		return 0;
	}
	/* As Linux: a full queue is told only to those who want to know. */
	if (err == -ENOBUFS && !net6_opt(sk, RECVERR6)) {
		NET6_INC(nn, Udp6SndbufErrors);
		return 0;
	}
	return err;
drop:
	kfree_skb(skb);
	return err;
}

static int net6_udp_too_long(struct sock *sk, const struct net6_tx *tx)
{
	net6_queue_local_error(sk, EMSGSIZE, &tx->daddr, tx->dport, IPV6_MAXPLEN);
	return -EMSGSIZE;
}

/**
 * net6_udp_flush_pending() - forget what MSG_MORE or UDP_CORK held back
 * @sk: socket, owned, that holds something back
 *
 * Context: process.
 */
void net6_udp_flush_pending(struct sock *sk)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	struct net6_dgram_cork *corked = ds->corked;

	skb_queue_purge(&sk->sk_write_queue);
	WRITE_ONCE(ds->corked, NULL);
	net6_tx_forget(sk, &corked->tx);
	kfree(corked);
}

/* The pieces that wait, in one buffer. */
static struct sk_buff *net6_udp_join(struct sock *sk, size_t len, int *err)
{
	bool linear = len <= NET6_UDP_LINEAR;
	size_t off = sizeof(struct udphdr);
	struct sk_buff *skb, *piece;
	struct iov_iter iter;
	struct kvec kv;

	*err = -ENOBUFS;
	skb = alloc_skb(NET6_UDP_HEAD + (linear ? len : 0), sk->sk_allocation);
	if (!skb)
		return NULL;
	skb_set_owner_w(skb, sk);
	*err = net6_udp_prepare(sk, skb, len, linear);
	skb_queue_walk(&sk->sk_write_queue, piece) {
		if (*err)
			break;
		kv.iov_base = piece->data;
		kv.iov_len = piece->len;
		iov_iter_kvec(&iter, WRITE, &kv, 1, piece->len);
		*err = skb_copy_datagram_from_iter(skb, off, &iter, piece->len);
		off += piece->len;
	}
	if (!*err)
		return skb;
	kfree_skb(skb);
	return NULL;
}

/**
 * net6_udp_push_pending() - send what MSG_MORE or UDP_CORK held back
 * @sk: socket, owned
 *
 * Context: process. Return: 0 or -errno; nothing is pending afterwards.
 */
int net6_udp_push_pending(struct sock *sk)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	struct sk_buff *skb;
	struct net6_tx tx;
	int err;

	sock_owned_by_me(sk);
	if (!ds->corked)
		return 0;
	skb = net6_udp_join(sk, ds->corked->pending, &err);
	if (skb) {
		tx = ds->corked->tx;
		rcu_read_lock();
		err = net6_udp_xmit(sk, skb, &tx);
		rcu_read_unlock();
	}
	net6_udp_flush_pending(sk);
	return err;
}

static int net6_udp_start_pending(struct sock *sk, const struct net6_tx *tx)
{
	struct net6_dgram_cork *corked;
	int err;

	corked = kmalloc(sizeof(*corked), sk->sk_allocation | __GFP_ACCOUNT);
	if (!corked)
		return -ENOBUFS;
	corked->tx = *tx;
	corked->pending = 0;
	err = net6_tx_keep(sk, &corked->tx);
	if (err) {
		kfree(corked);
		return err;
	}
	WRITE_ONCE(net6_dgram_sk(sk)->corked, corked);
	return 0;
}

/* Add to a datagram that is being put together. @tx: NULL to go on with one. */
static int net6_udp_append(struct sock *sk, struct msghdr *msg, size_t len,
			   const struct net6_tx *tx, bool more)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	struct sk_buff *skb;
	int err;

	sock_owned_by_me(sk);
	if (tx) {
		err = net6_udp_start_pending(sk, tx);
		if (err)
			return err;
	}
	if (len > NET6_UDP_MAX - ds->corked->pending) {
		err = net6_udp_too_long(sk, &ds->corked->tx);
		goto flush;
	}
	if (len) {
		skb = sock_wmalloc(sk, len, 0, sk->sk_allocation);
		err = -ENOBUFS;
		if (!skb)
			goto flush;
		__skb_queue_tail(&sk->sk_write_queue, skb);
		err = -EFAULT;
		if (!copy_from_iter_full(skb_put(skb, len), len, &msg->msg_iter))
			goto flush;
		ds->corked->pending += len;
	}
	return more ? 0 : net6_udp_push_pending(sk);
flush:
	net6_udp_flush_pending(sk);
	return err;
}

static int net6_udp_bpf_sendmsg(struct sock *sk, struct msghdr *msg, struct net6_tx *tx)
{
	struct sockaddr_in6 *sin6 = msg->msg_name;
	int err;

	err = net6_bpf_udp_sendmsg(sk, (struct sockaddr *)sin6, &msg->msg_namelen, &tx->saddr);
	if (err || !sin6 || sin6->sin6_family != AF_INET6)
		return err;
	if (!sin6->sin6_port)
		return -EINVAL;
	tx->daddr = sin6->sin6_addr;
	tx->dport = sin6->sin6_port;
	/* As Linux: not another protocol instead. */
	return ipv6_addr_v4mapped(&tx->daddr) ? -ENOTSUPP : 0;
}

/* MSG_MORE and UDP_CORK. */
static int net6_udp_sendmsg_corked(struct sock *sk, struct msghdr *msg, size_t len, bool more)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	struct net6_tx tx;
	bool connected;
	int err;

	lock_sock(sk);
	if (ds->corked) {
		/* The destination was settled by the call that began it. */
		err = net6_udp_append(sk, msg, msg->msg_flags & MSG_PROBE ? 0 : len, NULL, more);
	} else {
		err = net6_dgram_set_tx(sk, msg, &tx, &connected);
		if (!err && cgroup_bpf_enabled(CGROUP_UDP6_SENDMSG) && !connected) {
			release_sock(sk);
			err = net6_udp_bpf_sendmsg(sk, msg, &tx);
			lock_sock(sk);
			if (!err && ds->corked)
				err = -EINVAL;
		}
		if (!err)
			err = net6_udp_append(sk, msg, len, &tx, more);
	}
	release_sock(sk);
	if (unlikely(err == -ENETUNREACH))
		return net6_mapped_dgram_sendmsg(sk, msg, len);
	return err ?: len;
}

/* MSG_ZEROCOPY: the payload is copied all the same, and the notification says so, which
 * lets the program stop asking for it.
 */
static int net6_udp_sendmsg_zerocopy(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct ubuf_info *uarg = net6_compat_zerocopy_alloc(sk, len, NULL);
	int err;

	if (!uarg)
		return -ENOBUFS;
	msg->msg_flags &= ~MSG_ZEROCOPY;
	err = net6_udp_sendmsg(sk, msg, len);
	if (err < 0) {
		net_zcopy_put_abort(uarg, true);
		return err;
	}
	uarg_to_msgzc(uarg)->zerocopy = 0;
	net_zcopy_put(uarg);
	return err;
}

/**
 * net6_udp_sendmsg() - struct proto's sendmsg of UDP
 * @sk: socket with a local port
 * @msg: the program's call
 * @len: bytes of payload
 *
 * Context: process. Return: @len or -errno.
 */
int net6_udp_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	struct sk_buff *skb;
	struct net6_tx tx;
	bool connected;
	int err;

	/* io_uring's notification (msg_ubuf) is its own, and comes when we return. */
	if (unlikely((msg->msg_flags & MSG_ZEROCOPY) && len && sock_flag(sk, SOCK_ZEROCOPY) &&
		     !msg->msg_ubuf))
		return net6_udp_sendmsg_zerocopy(sk, msg, len);
	/* A probe leaves nothing that more could be added to. */
	if (unlikely(((READ_ONCE(ds->cork) || msg->msg_flags & MSG_MORE) &&
		      !(msg->msg_flags & MSG_PROBE)) || READ_ONCE(ds->corked)))
		return net6_udp_sendmsg_corked(sk, msg, len,
					       ds->cork || msg->msg_flags & MSG_MORE);
	err = net6_dgram_set_tx(sk, msg, &tx, &connected);
	if (unlikely(err))
		return err == -ENETUNREACH ? net6_mapped_dgram_sendmsg(sk, msg, len) : err;
	if (cgroup_bpf_enabled(CGROUP_UDP6_SENDMSG) && !connected) {
		err = net6_udp_bpf_sendmsg(sk, msg, &tx);
		if (err)
			return err;
	}
	if (unlikely(msg->msg_flags & MSG_PROBE))
		return net6_dgram_probe(sk, &tx) ?: len;
	if (unlikely(len > NET6_UDP_MAX))
		return net6_udp_too_long(sk, &tx);

	skb = net6_udp_make_skb(sk, msg, len, &err);
	if (unlikely(!skb)) {
		if (err == -ENOBUFS || err == -EAGAIN)
			NET6_INC(net6_pernet(sock_net(sk)), Udp6SndbufErrors);
		return err;
	}
	rcu_read_lock();
	err = net6_udp_xmit(sk, skb, &tx);
	rcu_read_unlock();
	return err ?: len;
}
