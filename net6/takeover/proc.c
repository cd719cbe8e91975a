// SPDX-License-Identifier: GPL-2.0
/* /proc/net in takeover mode: the files of native IPv6 in its formats, for programs that
 * read them (ss, netstat, ifconfig, the JVM). Each is written in one go when it is read, but for
 * the routes (proc_route.c); sockets are walked again when the buffer turns out to be too small.
 * Fields that net6 does not have are 0.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/addrconf.h>
#include <net/inet_frag.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "../compat/sock.h"
#include "../core/nd.h"
#include "../socket/protosw.h"
#include "../socket/sock.h"
#include "../transport/dgram.h"
#include "../transport/tcp/conn/conn.h"
#include "rt.h"
#include "takeover.h"

/* What comes last in a line of tcp6: it differs between kinds of connection. */
struct net6_proc_sock {
	const struct in6_addr	*laddr;
	const struct in6_addr	*raddr;
	u16			lport;
	u16			rport;
	u8			state;
	u32			tx_queue;
	u32			rx_queue;
	u8			timer;
	long			when;		/* jiffies */
	u32			retransmits;
	uid_t			uid;
	u32			timeout;
	unsigned long		inode;
	int			refs;
};

/* Where a walk over sockets writes to. */
struct net6_proc_list {
	struct seq_file	*seq;
	unsigned int	n;
	int		width;		/* of the first column */
};

static void net6_proc_put_name(struct seq_file *seq, const struct in6_addr *addr, u16 port)
{
	seq_printf(seq, "%08X%08X%08X%08X:%04X ", addr->s6_addr32[0], addr->s6_addr32[1],
		   addr->s6_addr32[2], addr->s6_addr32[3], port);
}

static int net6_proc_put(struct net6_proc_list *list, const struct net6_proc_sock *s,
			 const void *sk)
{
	seq_printf(list->seq, "%*u: ", list->width, list->n++);
	net6_proc_put_name(list->seq, s->laddr, s->lport);
	net6_proc_put_name(list->seq, s->raddr, s->rport);
	seq_printf(list->seq, "%02X %08X:%08X %02X:%08lX %08X %5u %8d %lu %d %pK",
		   s->state, s->tx_queue, s->rx_queue, s->timer,
		   jiffies_delta_to_clock_t(s->when), s->retransmits, s->uid, s->timeout,
		   s->inode, s->refs, sk);
	return seq_has_overflowed(list->seq);
}

static void net6_proc_fill(struct net6_proc_list *list, struct net6_proc_sock *s, struct sock *sk,
			   bool full)
{
	s->laddr = &sk->sk_v6_rcv_saddr;
	s->raddr = &sk->sk_v6_daddr;
	s->lport = READ_ONCE(sk->sk_num);
	s->rport = ntohs(READ_ONCE(sk->sk_dport));
	s->state = READ_ONCE(sk->sk_state);
	s->refs = refcount_read(&sk->sk_refcnt);
	if (full) {
		s->uid = from_kuid_munged(seq_user_ns(list->seq), net6_compat_sock_uid(sk));
		s->inode = sock_i_ino(sk);
	}
}

/* A timer of the connection, as native numbers them. */
static void net6_proc_tcp_timer(struct net6_proc_sock *s, const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u8 pending = READ_ONCE(icsk->icsk_pending);

	switch (pending) {
	case 0:
		break;
	case ICSK_TIME_PROBE0:
		s->timer = 4;
		break;
	default:
		s->timer = 1;
		break;
	}
	if (s->timer) {
		s->when = READ_ONCE(net6_compat_timeout(sk)) - jiffies;
	} else if (timer_pending(net6_compat_keepalive_timer(sk))) {
		s->timer = 2;
		s->when = net6_compat_keepalive_timer(sk)->expires - jiffies;
	}
}

static int net6_proc_tcp_full(struct net6_proc_list *list, struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct net6_proc_sock s = {};

	net6_proc_fill(list, &s, sk, true);
	s.tx_queue = READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
	s.rx_queue = s.state == TCP_LISTEN ? READ_ONCE(sk->sk_ack_backlog) :
		max_t(int, READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq), 0);
	net6_proc_tcp_timer(&s, sk);
	s.retransmits = icsk->icsk_retransmits;
	s.timeout = icsk->icsk_probes_out;
	net6_proc_put(list, &s, sk);
	seq_printf(list->seq, " %lu %lu %u %u %d\n",
		   jiffies_to_clock_t(icsk->icsk_rto), jiffies_to_clock_t(icsk->icsk_ack.ato),
		   (icsk->icsk_ack.quick << 1) | inet_csk_in_pingpong_mode((struct sock *)sk),
		   tcp_snd_cwnd(tp),
		   s.state == TCP_LISTEN ? 0 :
		   tcp_in_initial_slowstart(tp) ? -1 : (int)READ_ONCE(tp->snd_ssthresh));
	return seq_has_overflowed(list->seq);
}

static int net6_proc_tcp_request(struct net6_proc_list *list, struct sock *sk)
{
	const struct net6_tcp_request *req = (struct net6_tcp_request *)sk;
	struct net6_proc_sock s = { .timer = 1 };

	net6_proc_fill(list, &s, sk, false);
	s.state = TCP_SYN_RECV;
	s.when = READ_ONCE(req->timer.expires) - jiffies;
	s.retransmits = req->retrans;
	s.uid = from_kuid_munged(seq_user_ns(list->seq), net6_compat_sock_uid(req->listener));
	s.refs = 0;
	net6_proc_put(list, &s, sk);
	seq_putc(list->seq, '\n');
	return seq_has_overflowed(list->seq);
}

static int net6_proc_tcp_one(struct sock *sk, void *arg)
{
	struct net6_proc_list *list = arg;
	struct net6_proc_sock s = { .timer = 3 };
	u8 state = READ_ONCE(sk->sk_state);

	if (state == TCP_NEW_SYN_RECV)
		return net6_proc_tcp_request(list, sk);
	if (state != TCP_TIME_WAIT)
		return net6_proc_tcp_full(list, sk);
	net6_proc_fill(list, &s, sk, false);
	s.state = READ_ONCE(((struct net6_tcp_tw *)sk)->substate);
	s.when = READ_ONCE(((struct net6_tcp_tw *)sk)->timer.expires) - jiffies;
	net6_proc_put(list, &s, sk);
	seq_putc(list->seq, '\n');
	return seq_has_overflowed(list->seq);
}

static int net6_proc_tcp6(struct seq_file *seq, void *v)
{
	struct net6_proc_list list = { .seq = seq, .width = 4 };
	u64 pos = 0;

	seq_printf(seq, "  sl  %-38s%-38s", "local_address", "remote_address");
	seq_puts(seq, "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n");
	net6_tcp_walk(seq_file_single_net(seq), &pos, net6_proc_tcp_one, &list);
	return 0;
}

static int net6_proc_dgram_one(struct sock *sk, void *arg)
{
	struct net6_proc_list *list = arg;
	struct net6_proc_sock s = {};

	net6_proc_fill(list, &s, sk, true);
	s.tx_queue = sk_wmem_alloc_get(sk);
	s.rx_queue = sk_rmem_alloc_get(sk);
	if (sk->sk_type == SOCK_RAW)
		s.rport = 0;
	net6_proc_put(list, &s, sk);
	seq_printf(list->seq, " %u\n", atomic_read(&sk->sk_drops));
	return seq_has_overflowed(list->seq);
}

static int net6_proc_udp6(struct seq_file *seq, void *v)
{
	struct net6_proc_list list = { .seq = seq, .width = 5 };
	u64 pos = 0;

	seq_puts(seq, IPV6_SEQ_DGRAM_HEADER);
	net6_udp_walk(seq_file_single_net(seq), &pos, net6_proc_dgram_one, &list);
	return 0;
}

/* There are no UDP-Lite sockets. */
static int net6_proc_udplite6(struct seq_file *seq, void *v)
{
	seq_puts(seq, IPV6_SEQ_DGRAM_HEADER);
	return 0;
}

static int net6_proc_icmp6(struct seq_file *seq, void *v)
{
	struct net6_proc_list list = { .seq = seq, .width = 5 };
	u64 pos = 0;

	seq_puts(seq, IPV6_SEQ_DGRAM_HEADER);
	net6_dgram_walk(seq_file_single_net(seq), IPPROTO_ICMPV6, &pos, net6_proc_dgram_one,
			&list);
	return 0;
}

static int net6_proc_raw6(struct seq_file *seq, void *v)
{
	struct net6_proc_list list = { .seq = seq, .width = 5 };
	u64 pos = 0;

	seq_puts(seq, IPV6_SEQ_DGRAM_HEADER);
	net6_raw_walk(seq_file_single_net(seq), &pos, net6_proc_dgram_one, &list);
	return 0;
}

static int net6_proc_if_inet6(struct seq_file *seq, void *v)
{
	struct net6_net *nn = net6_pernet(seq_file_single_net(seq));
	const struct net6_iface *iface;
	const struct net6_addr *addr;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		list_for_each_entry_rcu(addr, &iface->addrs, iface_list)
			seq_printf(seq, "%pi6 %02x %02x %02x %02x %8s\n", &addr->addr,
				   iface->ifindex, addr->plen,
				   ipv6_addr_type(&addr->addr) & IPV6_ADDR_SCOPE_MASK,
				   (u8)net6_rt_addr_flags(addr), iface->dev->name);
	rcu_read_unlock();
	return 0;
}

static int net6_proc_igmp6(struct seq_file *seq, void *v)
{
	struct net6_net *nn = net6_pernet(seq_file_single_net(seq));
	const struct net6_accept *group;
	const struct net6_iface *iface;
	unsigned int flags;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		list_for_each_entry_rcu(group, &iface->groups, list) {
			/* RFC 3810 6: nothing is reported of all-nodes and lower scopes. */
			if (IPV6_ADDR_MC_SCOPE(&group->addr) < IPV6_ADDR_SCOPE_LINKLOCAL)
				flags = MAF_NOREPORT;
			else if (ipv6_addr_is_ll_all_nodes(&group->addr))
				flags = MAF_NOREPORT | MAF_LOADED;
			else
				flags = MAF_LOADED;
			seq_printf(seq, "%-4d %-15s %pi6 %5d %08X %ld\n", iface->ifindex,
				   iface->dev->name, &group->addr, READ_ONCE(group->users),
				   flags, 0L);
		}
	rcu_read_unlock();
	return 0;
}

static int net6_proc_anycast6(struct seq_file *seq, void *v)
{
	struct net6_net *nn = net6_pernet(seq_file_single_net(seq));
	const struct net6_accept *accept;
	const struct net6_iface *iface;

	rcu_read_lock();
	list_for_each_entry_rcu(iface, &nn->ifaces, list)
		list_for_each_entry_rcu(accept, &iface->anycast, list)
			seq_printf(seq, "%4d %-15s %pi6 %5d\n", iface->ifindex, iface->dev->name,
				   &accept->addr, READ_ONCE(accept->users));
	rcu_read_unlock();
	return 0;
}

/* The kernel's part of a group has no list of sources. */
static int net6_proc_mcfilter6(struct seq_file *seq, void *v)
{
	seq_printf(seq, "%s %s %32s %32s    INC    EXC\n", "Idx", "Device", "Multicast Address",
		   "Source Address");
	return 0;
}

static int net6_proc_sockstat6(struct seq_file *seq, void *v)
{
	struct net *net = seq_file_single_net(seq);
	struct net6_net *nn = net6_pernet(net);

	seq_printf(seq, "TCP6: inuse %d\n", net6_protosw_inuse(net, SOCK_STREAM, IPPROTO_TCP));
	seq_printf(seq, "UDP6: inuse %d\n", net6_protosw_inuse(net, SOCK_DGRAM, IPPROTO_UDP));
	seq_printf(seq, "UDPLITE6: inuse %d\n", 0);
	seq_printf(seq, "RAW6: inuse %d\n", net6_protosw_inuse(net, SOCK_RAW, IPPROTO_RAW));
	seq_printf(seq, "FRAG6: inuse %u memory %lu\n",
		   atomic_read(&nn->fqdir->rhashtable.nelems), frag_mem_limit(nn->fqdir));
	return 0;
}

static const struct net6_proc_file {
	const char *name;
	int (*show)(struct seq_file *seq, void *v);
} net6_proc_files[] = {
	{ "tcp6",	net6_proc_tcp6 },
	{ "udp6",	net6_proc_udp6 },
	{ "udplite6",	net6_proc_udplite6 },
	{ "raw6",	net6_proc_raw6 },
	{ "icmp6",	net6_proc_icmp6 },
	{ "if_inet6",	net6_proc_if_inet6 },
	{ "igmp6",	net6_proc_igmp6 },
	{ "anycast6",	net6_proc_anycast6 },
	{ "mcfilter6",	net6_proc_mcfilter6 },
	{ "snmp6",	net6_proc_snmp6 },
	{ "sockstat6",	net6_proc_sockstat6 },
};

static void net6_proc_remove(struct net *net, size_t n)
{
	while (n-- > 0)
		remove_proc_entry(net6_proc_files[n].name, net->proc_net);
}

/* A namespace's dev_snmp6. */
struct net6_proc_net {
	struct proc_dir_entry *dev_snmp6;
};

static unsigned int net6_proc_net_id __read_mostly;

static void net6_proc_attached(struct net6_iface *iface)
{
	struct net6_proc_net *pn = net_generic(iface->nn->net, net6_proc_net_id);

	iface->dev_snmp6 = proc_create_single_data(iface->dev->name, 0444, pn->dev_snmp6,
						   net6_proc_dev_snmp6, iface);
	if (!iface->dev_snmp6)
		netdev_warn(iface->dev, "net6: no file in dev_snmp6\n");
}

static void net6_proc_detached(struct net6_iface *iface)
{
	proc_remove(iface->dev_snmp6);
	iface->dev_snmp6 = NULL;
}

static struct net6_iface_watcher net6_proc_watcher = {
	.attached	= net6_proc_attached,
	.detached	= net6_proc_detached,
};

static int __net_init net6_proc_net_init(struct net *net)
{
	struct net6_proc_net *pn = net_generic(net, net6_proc_net_id);
	const struct net6_proc_file *f;
	size_t i;

	pn->dev_snmp6 = proc_mkdir("dev_snmp6", net->proc_net);
	if (!pn->dev_snmp6)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(net6_proc_files); i++) {
		f = &net6_proc_files[i];
		if (!proc_create_net_single(f->name, 0444, net->proc_net, f->show, NULL))
			break;
	}
	if (i == ARRAY_SIZE(net6_proc_files) && !net6_proc_route_net_init(net))
		return 0;
	net6_proc_remove(net, i);
	proc_remove(pn->dev_snmp6);
	return -ENOMEM;
}

static void __net_exit net6_proc_net_exit(struct net *net)
{
	struct net6_proc_net *pn = net_generic(net, net6_proc_net_id);

	remove_proc_entry("ipv6_route", net->proc_net);
	net6_proc_remove(net, ARRAY_SIZE(net6_proc_files));
	proc_remove(pn->dev_snmp6);
}

static struct pernet_operations net6_proc_net_ops = {
	.init	= net6_proc_net_init,
	.exit	= net6_proc_net_exit,
	.id	= &net6_proc_net_id,
	.size	= sizeof(struct net6_proc_net),
};

/**
 * net6_proc_init() - show the files, if native IPv6 does not
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_proc_init(void)
{
	int err;

	if (ipv6_mod_enabled())
		return 0;
	err = register_pernet_subsys(&net6_proc_net_ops);
	if (!err)
		net6_iface_watch(&net6_proc_watcher);
	return err;
}

/**
 * net6_proc_exit() - take them away; waits for readers
 *
 * Context: process, sleeps.
 */
void net6_proc_exit(void)
{
	if (ipv6_mod_enabled())
		return;
	net6_iface_unwatch(&net6_proc_watcher);
	unregister_pernet_subsys(&net6_proc_net_ops);
}
