// SPDX-License-Identifier: GPL-2.0
/* Stream sockets that use IPv4. Behind connect() or bind() to a mapped address the struct
 * socket's sock is a native IPv4 one, and stays it. Behind accept() of an IPv4 connection it is
 * from the beginning. Our operations hand on to native ones and show addresses as mapped.
 *
 * The sock of ours that was replaced is kept until release: another thread may just use it,
 * and it holds what IPv6 options were set. Those have no effect on IPv4, as on Linux.
 *
 * Limits: SO_DOMAIN says AF_INET, the error queue speaks IPv4. No upper-layer protocols
 * (TCP_ULP): they replace the operations by copies of the first socket's, even if that one is
 * ours. connect() to an IPv6 address is EAFNOSUPPORT from then on.
 */
#include <linux/jhash.h>
#include <linux/net6.h>
#include <linux/random.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>

#include "../compat/accept.h"
#include "../compat/inet_sock.h"
#include "mapped.h"
#include "protosw.h"

#define NET6_SHADOW_CHAINS	4096	/* a power of two */

/**
 * struct net6_shadow_chain - socks of ours in whose place an IPv4 one is used
 * @head: by sk_bind_node
 * @lock: of the chain
 *
 * They are hashed by the struct socket that uses the IPv4 one. Each stands for two socks and their
 * inodes, some 7 KB: with a gigabyte of them a chain has 37.
 */
struct net6_shadow_chain {
	struct hlist_head	head;
	spinlock_t		lock;	/* see above */
};

static struct net6_shadow_chain *net6_shadows;
static u32 net6_shadow_key __read_mostly;

static struct net6_shadow_chain *net6_shadow_chain(const struct socket *sock)
{
	u32 hash = jhash_2words(lower_32_bits((unsigned long)sock),
				upper_32_bits((unsigned long)sock), net6_shadow_key);

	return &net6_shadows[hash & (NET6_SHADOW_CHAINS - 1)];
}

static struct net6_tcp_sock *net6_shadow_find(const struct net6_shadow_chain *chain,
					      const struct socket *sock)
	__must_hold(&chain->lock)
{
	struct sock *sk;

	lockdep_assert_held(&chain->lock);
	hlist_for_each_entry(sk, &chain->head, sk_bind_node)
		if (net6_tcp_sk(sk)->shadow_of == sock)
			return net6_tcp_sk(sk);
	return NULL;
}

static void net6_shadow_add(struct socket *sock, struct socket *shadow)
{
	struct net6_shadow_chain *chain = net6_shadow_chain(sock);
	struct net6_tcp_sock *ns = net6_tcp_sk(shadow->sk);

	ns->shadow_of = sock;
	ns->shadow = shadow;
	spin_lock(&chain->lock);
	/* The node is free, for it has no port. */
	hlist_add_head(&shadow->sk->sk_bind_node, &chain->head);
	spin_unlock(&chain->lock);
}

static struct socket *net6_shadow_get(const struct socket *sock)
{
	struct net6_shadow_chain *chain = net6_shadow_chain(sock);
	struct net6_tcp_sock *ns;

	spin_lock(&chain->lock);
	ns = net6_shadow_find(chain, sock);
	spin_unlock(&chain->lock);
	return ns ? ns->shadow : NULL;
}

/* The keeper of IPv6 options, made when an accepted connection is asked for one. */
static struct socket *net6_shadow_make(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct socket *shadow;
	int err = 0;

	lock_sock(sk);
	shadow = net6_shadow_get(sock);
	if (!shadow) {
		err = __sock_create(sock_net(sk), PF_NET6, SOCK_STREAM, IPPROTO_TCP, &shadow, 0);
		if (!err) {
			shadow->sk->sk_ipv6only = 0;
			net6_shadow_add(sock, shadow);
		}
	}
	release_sock(sk);
	return err ? ERR_PTR(err) : shadow;
}

/* The sock of @inner takes the place of @sk, which @inner keeps. sk owned. */
static void net6_mapped_swap(struct socket *sock, struct sock *sk, struct socket *inner)
{
	const struct proto_ops *ops = net6_protosw_ops(sk->sk_type, sk->sk_protocol);
	struct sock *isk = inner->sk;

	sock_owned_by_me(sk);
	write_lock_bh(&isk->sk_callback_lock);
	rcu_assign_pointer(isk->sk_wq, &sock->wq);
	sk_set_socket(isk, sock);
	security_sock_graft(isk, sock);
	write_unlock_bh(&isk->sk_callback_lock);
	if (net6_tcp_sk(sk)->port)
		sk->sk_prot->put_port(sk);
	WRITE_ONCE(net6_sk(sk)->inner, NULL);
	sock->state = inner->state;

	__module_get(ops->owner);
	inner->ops = ops;
	inner->state = SS_UNCONNECTED;
	inner->sk = sk;
	net6_shadow_add(sock, inner);
	/* Pairs with READ_ONCE() in net6_lock_sock() and in our operations. */
	smp_store_release(&sock->sk, isk);
	/* What has happened to it before woke nobody. */
	wake_up_interruptible_poll(&sock->wq.wait, EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP);
}

/* An inner socket on the port of ours, if that has one. */
static struct sock *net6_mapped_stream_inner(struct sock *sk)
{
	if (net6_sk(sk)->inner)
		return net6_sk(sk)->inner;
	/* Bound to an IPv6 address: no IPv4 packet can come from there. */
	if (!ipv6_addr_any(&sk->sk_v6_rcv_saddr))
		return ERR_PTR(-ENETUNREACH);
	return net6_mapped_create(sk);
}

/* An IPv4 socket begins to connect. As inet_stream_connect(), which asks BPF programs for
 * IPv4's sockets. The sock is owned. Returns -EINPROGRESS, or 0 when TCP_FASTOPEN_CONNECT
 * leaves it to the first data; other -errno.
 */
static int net6_mapped_begin(struct socket *sock, const struct sockaddr_in6 *addr)
{
	struct sock *sk = sock->sk;
	struct sockaddr_in sin;
	int err;

	if (sk->sk_state != TCP_CLOSE)
		return -EISCONN;
	net6_mapped_to_in(addr, &sin);
	err = sk->sk_prot->connect(sk, (struct sockaddr_unsized *)&sin, sizeof(sin));
	if (err < 0)
		return err;
	sock->state = SS_CONNECTING;
	return net6_opt(sk, DEFER_CONNECT) ? 0 : -EINPROGRESS;
}

/* BPF programs are asked about connect(), and may change the address to another of IPv4. */
static int net6_mapped_ask(struct sock *sk, struct sockaddr_in6 *addr, int len)
{
	int err = sk->sk_prot->pre_connect(sk, (struct sockaddr_unsized *)addr, len);

	return err ?: ipv6_addr_v4mapped(&addr->sin6_addr) ? 0 : -ENETUNREACH;
}

/**
 * net6_mapped_stream_start() - begin to connect to an IPv4 address
 * @sock: socket, not connected
 * @sk: its sock, ours, owned
 * @addr: mapped address, may be changed
 * @len: its length
 *
 * Context: process. Return: -EINPROGRESS: @sock has an IPv4 sock now. Other -errno: it has
 * not.
 */
int net6_mapped_stream_start(struct socket *sock, struct sock *sk, struct sockaddr_in6 *addr,
			     int len)
{
	struct socket *inner;
	struct sock *isk;
	int err;

	err = net6_mapped_ask(sk, addr, len);
	if (err)
		return err;
	isk = net6_mapped_stream_inner(sk);
	if (IS_ERR(isk))
		return PTR_ERR(isk);
	inner = isk->sk_socket;
	lock_sock(isk);
	err = net6_mapped_begin(inner, addr);
	release_sock(isk);
	if (err && err != -EINPROGRESS) {
		if (isk != net6_sk(sk)->inner)
			sock_release(inner);
		return err;
	}
	net6_mapped_swap(sock, sk, inner);
	return -EINPROGRESS;
}

/**
 * net6_mapped_stream_bind() - bind to an IPv4 address
 * @sock: socket, not bound
 * @sk: its sock, ours, owned
 * @addr: mapped address
 *
 * Context: process. Return: 0: @sock has an IPv4 sock now; -errno of socket() and bind().
 */
int net6_mapped_stream_bind(struct socket *sock, struct sock *sk,
			    const struct sockaddr_in6 *addr)
{
	struct sock *isk = net6_mapped_create(sk);
	struct sockaddr_in sin;
	int err;

	if (IS_ERR(isk))
		return PTR_ERR(isk);
	net6_mapped_to_in(addr, &sin);
	err = net6_mapped_bind(isk, &sin, true);
	if (err)
		sock_release(isk->sk_socket);
	else
		net6_mapped_swap(sock, sk, isk->sk_socket);
	return err;
}

/**
 * net6_mapped_rebind() - bind() of a socket whose sock is an IPv4 one already
 * @sock: socket
 * @addr: what the program gave, in kernel memory
 * @len: its length
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_mapped_rebind(struct socket *sock, const struct sockaddr_in6 *addr, int len)
{
	struct sockaddr_in sin;

	if (len < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (addr->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (inet_sk(sock->sk)->inet_num)
		return -EINVAL;
	if (!ipv6_addr_v4mapped(&addr->sin6_addr) && !ipv6_addr_any(&addr->sin6_addr))
		return -EADDRNOTAVAIL;
	net6_mapped_to_in(addr, &sin);
	return inet_bind(sock, (struct sockaddr_unsized *)&sin, sizeof(sin));
}

/**
 * net6_mapped_connect() - connect() of a socket whose sock is an IPv4 one already
 * @sock: socket
 * @uaddr: what the program gave, in kernel memory
 * @len: its length
 * @flags: O_NONBLOCK
 *
 * Context: process. Return: as connect(); -EINPROGRESS: it has begun, and is to be waited for
 * if @flags allow.
 */
int net6_mapped_connect(struct socket *sock, struct sockaddr_unsized *uaddr, int len, int flags)
{
	struct sockaddr_in6 *addr = (struct sockaddr_in6 *)uaddr;
	struct sock *sk = sock->sk;
	int err;

	if (len < sizeof(uaddr->sa_family))
		return -EINVAL;
	/* Connected or undone: the address does not matter. */
	if (uaddr->sa_family == AF_UNSPEC || sock->state != SS_UNCONNECTED)
		return inet_stream_connect(sock, uaddr, len, flags);
	if (len < SIN6_LEN_RFC2133)
		return -EINVAL;
	net6_mapped_self(sk, addr, len);
	if (addr->sin6_family != AF_INET6 || !ipv6_addr_v4mapped(&addr->sin6_addr))
		return -EAFNOSUPPORT;
	lock_sock(sk);
	err = sock->state == SS_UNCONNECTED ? 0 : -EALREADY;
	err = err ?: net6_mapped_ask(sk, addr, len);
	err = err ?: net6_mapped_begin(sock, addr);
	release_sock(sk);
	return err;
}

/**
 * net6_mapped_getname() - proto_ops.getname of such a socket
 * @sock: socket
 * @uaddr: room for a struct sockaddr_storage
 * @peer: 0 for our name, else the peer's
 *
 * Context: process. Return: length or -ENOTCONN.
 */
int net6_mapped_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)uaddr;
	struct sockaddr_in sin;
	int len;

	len = inet_getname(sock, (struct sockaddr *)&sin, peer);
	if (len < 0)
		return len;
	memset(sin6, 0, sizeof(*sin6));
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = sin.sin_port;
	/* Neither bound nor connected: as it was before. */
	if (sin.sin_addr.s_addr || inet_sk(sock->sk)->inet_num)
		ipv6_addr_set_v4mapped(sin.sin_addr.s_addr, &sin6->sin6_addr);
	return sizeof(*sin6);
}

/**
 * net6_mapped_setsockopt() - proto_ops.setsockopt of such a socket
 * @sock: socket
 * @level: as the program gave it
 * @optname: as given
 * @optval: user or kernel memory
 * @optlen: its length
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_mapped_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	struct socket *shadow;

	if (level == SOL_TCP && optname == TCP_ULP)
		return -ENOPROTOOPT;
	if (level != SOL_IPV6)
		return sock_common_setsockopt(sock, level, optname, optval, optlen);
	if (optname == IPV6_V6ONLY && optlen >= sizeof(int) && inet_sk(sock->sk)->inet_num)
		return -EINVAL;
	shadow = net6_shadow_make(sock);
	if (IS_ERR(shadow))
		return PTR_ERR(shadow);
	return net6_setsockopt(shadow->sk, level, optname, optval, optlen);
}

/**
 * net6_mapped_getsockopt() - proto_ops.getsockopt of such a socket
 * @sock: socket
 * @level: as the program gave it
 * @optname: as given
 * @optval: user memory
 * @optlen: its room, then its length; user memory
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_mapped_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
			   int __user *optlen)
{
	struct socket *shadow;

	if (level == SOL_IPV6 && optname == IPV6_MTU)
		return sock_common_getsockopt(sock, SOL_IP, IP_MTU, optval, optlen);
	if (level != SOL_IPV6)
		return sock_common_getsockopt(sock, level, optname, optval, optlen);
	shadow = net6_shadow_make(sock);
	if (IS_ERR(shadow))
		return PTR_ERR(shadow);
	return net6_getsockopt(shadow->sk, level, optname, optval, optlen);
}

/**
 * net6_mapped_stream_release() - release our sock: its socket was released
 * @sock: socket
 *
 * Context: process.
 */
void net6_mapped_stream_release(struct socket *sock)
{
	struct net6_shadow_chain *chain = net6_shadow_chain(sock);
	struct net6_tcp_sock *ns;

	spin_lock(&chain->lock);
	ns = net6_shadow_find(chain, sock);
	if (ns) {
		hlist_del_init(&((struct sock *)ns)->sk_bind_node);
		/* Shares its place with pages, which it has none of. */
		ns->shadow_of = NULL;
	}
	spin_unlock(&chain->lock);
	if (ns)
		sock_release(ns->shadow);
}

/**
 * net6_mapped_accept_ready() - has an IPv4 connection come to a listener of ours?
 * @sk: listener
 *
 * Context: process.
 */
bool net6_mapped_accept_ready(const struct sock *sk)
{
	const struct sock *inner = net6_mapped_inner(sk);

	return unlikely(inner) && inner->sk_state == TCP_LISTEN && inet_csk_listen_poll(inner);
}

/**
 * net6_mapped_accept() - take an IPv4 connection that has come to a listener of ours
 * @sk: listener, owned
 * @kern: for the kernel's own use
 *
 * Context: process. Return: a native sock, or NULL without one.
 */
struct sock *net6_mapped_accept(struct sock *sk, bool kern)
{
	struct sock *inner = net6_mapped_inner(sk);

	if (!net6_mapped_accept_ready(sk))
		return NULL;
	/* For those that come after it. */
	net6_mapped_sync(sk, inner);
	return net6_compat_sk_accept(inner, O_NONBLOCK, kern);
}

/**
 * net6_mapped_stream_init() - make the table of replaced socks
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_mapped_stream_init(void)
{
	unsigned int i;

	net6_shadows = kvmalloc_array(NET6_SHADOW_CHAINS, sizeof(*net6_shadows), GFP_KERNEL);
	if (!net6_shadows)
		return -ENOMEM;
	for (i = 0; i < NET6_SHADOW_CHAINS; i++) {
		INIT_HLIST_HEAD(&net6_shadows[i].head);
		spin_lock_init(&net6_shadows[i].lock);
	}
	net6_shadow_key = get_random_u32();
	return 0;
}

/**
 * net6_mapped_stream_exit() - free the table; it is empty
 */
void net6_mapped_stream_exit(void)
{
	kvfree(net6_shadows);
	net6_shadows = NULL;
}
