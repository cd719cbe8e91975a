// SPDX-License-Identifier: GPL-2.0
/* A TCP socket's beginning and end, and struct proto: what the core asks of us. */
#include <linux/mm.h>
#include <linux/swap.h>

#include "../../../compat/proto.h"
#include "../../../compat/splice.h"
#include "../../../compat/tcp.h"
#include "../conn/conn.h"
#include "../conn/fastopen.h"
#include "../conn/md5.h"
#include "../engine/entry.h"
#include "calls.h"

static atomic_long_t memory_allocated ____cacheline_aligned_in_smp;	/* pages */
static DEFINE_PER_CPU(int, memory_fw_alloc);
static struct percpu_counter sockets_allocated;
static unsigned long memory_pressure;
static long memory_limits[3];		/* pages: low, pressure, high */

/* Sockets save memory from now on. */
static void net6_tcp_enter_memory_pressure(struct sock *sk)
{
	if (READ_ONCE(memory_pressure))
		return;
	/* 0 means no pressure. */
	if (!cmpxchg(&memory_pressure, 0, jiffies ? : 1))
		NET6_INC(net6_tcp_nn(sk), TcpMemoryPressures);
}

static void net6_tcp_leave_memory_pressure(struct sock *sk)
{
	if (READ_ONCE(memory_pressure))
		WRITE_ONCE(memory_pressure, 0);
}

/**
 * net6_tcp_init_sock() - struct proto's init
 * @sk: new socket, net6_sk_init() done
 *
 * Context: process.
 * Return: 0.
 */
int net6_tcp_init_sock(struct sock *sk)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct net *net = sock_net(sk);

	net6_tcp_engine_init(sk);
	net6_compat_tcp_init(sk);
	inet_csk(sk)->icsk_sync_mss = net6_tcp_sync_mss;
	spin_lock_init(&queue->rskq_lock);
	spin_lock_init(&queue->fastopenq.lock);
	sk->sk_write_space = net6_tcp_write_space;
	sock_set_flag(sk, SOCK_USE_WRITE_QUEUE);
	WRITE_ONCE(sk->sk_sndbuf, READ_ONCE(net->ipv4.sysctl_tcp_wmem[1]));
	WRITE_ONCE(sk->sk_rcvbuf, READ_ONCE(net->ipv4.sysctl_tcp_rmem[1]));
	if (sk->sk_socket)
		set_bit(SOCK_SUPPORT_ZC, &sk->sk_socket->flags);
	sk_sockets_allocated_inc(sk);
	return 0;
}

/**
 * net6_tcp_destroy_sock() - struct proto's destroy: everything but the socket itself
 * @sk: in state CLOSE, locked or without other users
 *
 * Context: any.
 */
void net6_tcp_destroy_sock(struct sock *sk)
{
	net6_tcp_cong_release(sk);
	if (net6_tcp_was_connection(sk)) {
		net6_tcp_timers_clear(sk);
		net6_tcp_write_queue_purge(sk);
		net6_tcp_rbtree_purge(&tcp_sk(sk)->out_of_order_queue);
	}
	if (net6_tcp_sk(sk)->port)
		net6_tcp_put_port(sk);
	kfree(tcp_sk(sk)->saved_syn);
	if (unlikely(rcu_access_pointer(inet_csk(sk)->icsk_accept_queue.fastopenq.ctx)))
		net6_tcp_fastopen_forget_key(sk);
	if (net6_tcp_md5_on_any())
		net6_tcp_md5_forget(sk);
	kfree(tcp_sk(sk)->fastopen_req);
	tcp_sk(sk)->fastopen_req = NULL;
	tcp_sk(sk)->saved_syn = NULL;
	net6_sk_dest_reset(sk);
	if (sk->sk_frag.page) {
		put_page(sk->sk_frag.page);
		sk->sk_frag.page = NULL;
	}
	sk_sockets_allocated_dec(sk);
}

/**
 * net6_tcp_set_caps() - what the way to a destination can do with large segments
 * @sk: socket, locked
 * @dest: its destination
 *
 * Segmentation and checksums are left to the device, or to the core just before it.
 * Context: RCU read lock held or @dest's interface otherwise alive.
 */
void net6_tcp_set_caps(struct sock *sk, const struct net6_dest *dest)
{
	struct net_device *dev;
	u32 max;

	rcu_read_lock();
	dev = READ_ONCE(dest->iface->dev);
	max = min_t(u32, READ_ONCE(dev->gso_max_size), GSO_LEGACY_MAX_SIZE);
	sk->sk_gso_type = SKB_GSO_TCPV6;
	sk->sk_route_caps = dev->features | NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_GSO |
			    NETIF_F_GSO_SOFTWARE;
	sk->sk_gso_max_size = max - (MAX_TCP_HEADER + 1);
	sk->sk_gso_max_segs = likely(!net6_tcp_md5_has(sk)) ?
			      max_t(u32, READ_ONCE(dev->gso_max_segs), 1) : 1;
	rcu_read_unlock();
}

static struct sock *net6_tcp_accept_op(struct sock *sk, NET6_COMPAT_ACCEPT_PARAMS)
{
	return NET6_COMPAT_ACCEPT_PASS(net6_tcp_accept, sk);
}

NET6_COMPAT_RECVMSG(net6_tcp_recvmsg)

struct proto net6_tcp_prot = {
	.name			= "NET6-TCP",
	.owner			= THIS_MODULE,
	.close			= net6_tcp_close,
	.pre_connect		= net6_tcp_pre_connect,
	.connect		= net6_tcp_connect,
	.disconnect		= net6_tcp_disconnect,
	.accept			= net6_tcp_accept_op,
	.ioctl			= net6_tcp_ioctl,
	.init			= net6_tcp_init_sock,
	.destroy		= net6_tcp_destroy_sock,
	.shutdown		= net6_tcp_shutdown,
	.setsockopt		= net6_tcp_setsockopt,
	.getsockopt		= net6_tcp_getsockopt,
	.keepalive		= net6_tcp_set_keepalive,
	.recvmsg		= net6_compat_recvmsg(net6_tcp_recvmsg),
	.sendmsg		= net6_tcp_sendmsg,
#ifdef NET6_COMPAT_SENDPAGE
	.sendpage		= net6_tcp_sendpage,
#endif
	.backlog_rcv		= net6_tcp_do_rcv,
	.release_cb		= net6_tcp_release_cb,
	.unhash			= net6_tcp_unhash,
	.get_port		= net6_tcp_get_port,
	.put_port		= net6_tcp_put_port,
	.stream_memory_free	= net6_tcp_memory_free,
	.enter_memory_pressure	= net6_tcp_enter_memory_pressure,
	.leave_memory_pressure	= net6_tcp_leave_memory_pressure,
	.sockets_allocated	= &sockets_allocated,
	.memory_allocated	= &memory_allocated,
	.per_cpu_fw_alloc	= &memory_fw_alloc,
	.memory_pressure	= &memory_pressure,
	.sysctl_mem		= memory_limits,
	.sysctl_wmem_offset	= offsetof(struct net, ipv4.sysctl_tcp_wmem),
	.sysctl_rmem_offset	= offsetof(struct net, ipv4.sysctl_tcp_rmem),
	.max_header		= NET6_HEADROOM + NET6_TCP_HEADER_MAX,
	.obj_size		= sizeof(struct net6_tcp_sock),
	.slab_flags		= SLAB_TYPESAFE_BY_RCU,
	.no_autobind		= true,
	.diag_destroy		= net6_tcp_abort,
};

static struct net6_protosw net6_tcp_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_TCP,
	.prot		= &net6_tcp_prot,
	.ops		= &net6_stream_ops,
};

/**
 * net6_tcp_sock_init() - register struct proto; limits as the kernel computes tcp_mem
 *
 * Return: 0 or -errno.
 */
int net6_tcp_sock_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 16, 128UL);
	int err;

	memory_limits[0] = limit / 4 * 3;
	memory_limits[1] = limit;
	memory_limits[2] = memory_limits[0] * 2;
	err = percpu_counter_init(&sockets_allocated, 0, GFP_KERNEL);
	if (err)
		return err;
	err = net6_protosw_register(&net6_tcp_protosw);
	if (err)
		percpu_counter_destroy(&sockets_allocated);
	return err;
}

/**
 * net6_tcp_sock_exit() - unregister struct proto; all sockets are gone
 */
void net6_tcp_sock_exit(void)
{
	net6_protosw_unregister(&net6_tcp_protosw);
	percpu_counter_destroy(&sockets_allocated);
}
