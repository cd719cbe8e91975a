// SPDX-License-Identifier: GPL-2.0
/* TCP's engine as a program: a peer sends any segments, a user writes, reads and shuts
 * down, time goes by, memory runs out, the path shrinks. After each step the counters
 * must agree with the queues, all bytes be where they belong, and a timer run when
 * something is to be waited for. Built with the kernel's headers, see the Makefile.
 */
#include "../../net6/transport/tcp/calls/sendmsg.h"
#include "../../net6/transport/tcp/conn/conn.h"
#include "../../net6/transport/tcp/engine/engine.h"
#include "engine/harness.h"

void *calloc(size_t n, size_t size);
void free(void *p);

#define ISS 0xfffff000U		/* both wrap early */
#define IRS 0xffffe000U

static const u8 *input;
static size_t left;
static struct sock *sk;
static struct tcp_sock *tp;

static u8 byte(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static u32 number(int bytes)
{
	u32 n = 0;

	while (bytes--)
		n = n << 8 | byte();
	return n;
}

static u8 pattern(u32 seq)
{
	return seq * 7 ^ seq >> 8;
}

/* ---- the world around the socket ---- */

static atomic_long_t allocated;
static long mem_limits[3] = { 1 << 20, 1 << 21, 1 << 22 };
static int fw_alloc;

static void enter_memory_pressure(struct sock *sk)
{
}

static struct proto prot = {
	.name			= "TCP",
	.memory_allocated	= &allocated,
	.per_cpu_fw_alloc	= &fw_alloc,
	.enter_memory_pressure	= enter_memory_pressure,
	.sysctl_mem		= mem_limits,
};

static struct net6_net nn;
static struct net6_tcp_net tcp_net;
static struct net6_iface iface;
static struct net6_dest dest;
static struct net6_neigh neigh;

static void wake(struct sock *s)
{
}

/* What leaves: its bytes are the stream's. */
int net6_output(struct sk_buff *skb, struct net6_dest *d)
{
	const struct tcphdr *th = tcp_hdr(skb);
	u32 seq = ntohl(th->seq);
	unsigned int i, len;
	u8 *data;

	data = skb_transport_header(skb) + th->doff * 4;
	len = skb_tail_pointer(skb) - data;
	MUST(!th->rst || !len);
	if (len) {
		MUST(!before(seq, ISS + 1) && !after(seq + len, tp->write_seq));
		for (i = 0; i < len; i++)
			MUST(data[i] == pattern(seq + i));
	}
	consume_skb(skb);
	return byte() == 255 ? NET_XMIT_CN : 0;
}

static void net_init(void)
{
	static struct { struct net_generic g; void *ptr[8]; } gen;
	struct netns_ipv4 *v4 = &init_net.ipv4;

	net6_net_id = 5;
	gen.g.ptr[5] = &nn;
	rcu_assign_pointer(init_net.gen, &gen.g);
	nn.net = &init_net;
	nn.tcp = &tcp_net;
	if (!nn.mib)
		nn.mib = calloc(1, sizeof(*nn.mib));
	v4->sysctl_tcp_reordering = 3;
	v4->sysctl_tcp_max_reordering = 300;
	v4->sysctl_tcp_recovery = TCP_RACK_LOSS_DETECTION;
	v4->sysctl_tcp_early_retrans = 3;
	v4->sysctl_tcp_frto = 2;
	v4->sysctl_tcp_dsack = 1;
	v4->sysctl_tcp_retries1 = 3;
	v4->sysctl_tcp_retries2 = 15;
	v4->sysctl_tcp_min_snd_mss = TCP_MIN_SND_MSS;
	v4->sysctl_tcp_base_mss = TCP_BASE_MSS;
	v4->sysctl_tcp_mtu_probe_floor = TCP_MIN_SND_MSS;
	v4->sysctl_tcp_probe_threshold = TCP_PROBE_THRESHOLD;
	v4->sysctl_tcp_probe_interval = 1;
	v4->sysctl_tcp_tso_win_divisor = 3;
	v4->sysctl_tcp_min_tso_segs = 2;
	v4->sysctl_tcp_limit_output_bytes = 1 << 20;
	v4->sysctl_tcp_slow_start_after_idle = 1;
	v4->sysctl_tcp_min_rtt_wlen = 300;
	v4->sysctl_tcp_adv_win_scale = 1;
	v4->sysctl_tcp_pacing_ss_ratio = 200;
	v4->sysctl_tcp_pacing_ca_ratio = 120;
	v4->sysctl_tcp_invalid_ratelimit = HZ / 2;
	v4->sysctl_tcp_moderate_rcvbuf = 1;
	v4->sysctl_tcp_rmem[0] = 4096;
	v4->sysctl_tcp_rmem[1] = 131072;
	v4->sysctl_tcp_rmem[2] = 6291456;
	v4->sysctl_tcp_wmem[0] = 4096;
	v4->sysctl_tcp_wmem[1] = 16384;
	v4->sysctl_tcp_wmem[2] = 4194304;
}

static void dest_init(void)
{
	memset(&dest, 0, sizeof(dest));
	dest.pmtu = 1500;
	dest.iface = &iface;
	dest.hops = &iface.cur_hop_limit;
	dest.neigh = &neigh;
	dest.nn = &nn;
	dest.gen = atomic_read(&nn.dest_gen);
	iface.cur_hop_limit = 64;
}

/* Both ends opened at once: our SYN waits for its acknowledgment. */
static void open_crossed(void)
{
	tp->snd_una = ISS;
	tp->snd_up = ISS;
	tp->snd_sml = ISS;
	sk->sk_state = TCP_SYN_RECV;
	MUST(net6_tcp_queue_synack(sk));
	net6_tcp_send_synack(sk);
}

/* A connection, established or about to be, with the options that @how and @more name. */
static void open_socket(u8 how, u8 more)
{
	struct net6_tcp_sock *n = calloc(1, sizeof(*n));

	sk = (struct sock *)n;
	tp = tcp_sk(sk);
	write_pnet(&sk->sk_net, &init_net);
	sk->sk_prot = &prot;
	sk->sk_type = SOCK_STREAM;
	sk->sk_family = AF_INET6;
	refcount_set(&sk->sk_refcnt, 100);
	refcount_set(&sk->sk_wmem_alloc, 1);
	inet_sk(sk)->pinet6 = &n->tcp6.inet6;
	inet6_sk(sk)->hop_limit = -1;
	n->n6.dest = &dest;
	skb_queue_head_init(&sk->sk_write_queue);
	skb_queue_head_init(&sk->sk_receive_queue);
	sk->sk_data_ready = wake;
	sk->sk_write_space = wake;
	sk->sk_state_change = wake;
	sk->sk_rcvlowat = 1;
	sk->sk_sndbuf = 1 << 20;
	sk->sk_rcvbuf = how & 1 ? 8192 : 131072;
	sk->sk_pacing_rate = ~0UL;
	sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_shift = 10;
	if (more & 1)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	init_net.ipv4.sysctl_tcp_mtu_probing = more >> 2 & 3;
	sk->sk_state = TCP_CLOSE;
	net6_tcp_engine_init(sk);
	net6_tcp_timers_init(sk);

	tp->rx_opt.sack_ok = !!(how & 2);
	tp->rx_opt.tstamp_ok = !!(how & 4);
	if (tp->rx_opt.tstamp_ok)
		tp->tcp_header_len += TCPOLEN_TSTAMP_ALIGNED;
	tp->rx_opt.wscale_ok = !!(how & 8);
	tp->rx_opt.snd_wscale = how & 8 ? 3 : 0;
	tp->rx_opt.rcv_wscale = how & 8 ? 7 : 0;
	if (how & 16)
		tp->ecn_flags = TCP_ECN_OK;
	if (how & 32)
		tp->nonagle = TCP_NAGLE_OFF;
	tp->rx_opt.mss_clamp = how & 64 ? 300 : 1440;
	tp->advmss = 1440;
	tp->rcv_nxt = IRS + 1;
	tp->copied_seq = tp->rcv_nxt;
	tp->rcv_wup = tp->rcv_nxt;
	tp->snd_una = ISS + 1;
	tp->snd_nxt = ISS + 1;
	tp->snd_up = ISS + 1;
	tp->snd_sml = ISS + 1;
	tp->write_seq = ISS + 1;
	tp->pushed_seq = ISS + 1;
	tp->snd_wl1 = IRS;
	tp->snd_wnd = 30000;
	tp->max_window = 30000;
	tp->rcv_wnd = how & 1 ? 4000 : 65000;
	tp->window_clamp = 60000;
	tp->rcv_ssthresh = tp->rcv_wnd;
	if (more & 2) {
		open_crossed();
		return;
	}
	sk->sk_state = TCP_ESTABLISHED;
	if (how & 128)
		net6_tcp_handshake_rtt(sk, 50000);
	net6_tcp_engine_established(sk, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB, NULL);
}

/* ---- the peer ---- */

static u32 put_options(u8 *p, u8 how)
{
	u8 *start = p;
	int n, i;
	u32 edge;

	if (how & 1) {
		*p++ = 1;
		*p++ = 1;
		*p++ = 8;
		*p++ = 10;
		put_unaligned_be32(how & 2 ? number(4) : (u32)(fuzz_ns / NSEC_PER_MSEC) + 1000, p);
		put_unaligned_be32(how & 4 ? number(4) : tcp_time_stamp(tp) - byte(), p + 4);
		p += 8;
	}
	if (how & 8) {
		n = how >> 4 & 3;
		n = min(n + 1, how & 1 ? 3 : 4);
		*p++ = 1;
		*p++ = 1;
		*p++ = 5;
		*p++ = 2 + 8 * n;
		for (i = 0; i < n; i++) {
			edge = tp->snd_una + (s8)byte() * 100;
			put_unaligned_be32(edge, p);
			put_unaligned_be32(edge + byte() * 50, p + 4);
			p += 8;
		}
	} else if (how & 64) {
		for (n = byte() % 20; n; n--)
			*p++ = byte();
	}
	while ((p - start) & 3)
		*p++ = 1;
	return p - start;
}

static u32 pick_seq(u8 how)
{
	switch (how & 7) {
	case 0:
		return number(4);
	case 1:
		return tp->rcv_nxt + (s8)byte() * 16;
	case 2:
		return tp->rcv_nxt + number(2);
	case 3:
		return tp->rcv_nxt - 1;
	}
	return tp->rcv_nxt;
}

static u32 pick_ack(u8 how)
{
	switch (how & 7) {
	case 0:
		return number(4);
	case 1:
		return tp->snd_nxt;
	case 2:
		return tp->snd_una + byte() * 100;
	case 3:
		return tp->snd_una + tp->mss_cache;
	case 4:
		return tp->snd_una - byte();
	}
	return tp->snd_una;
}

static void segment(void)
{
	u8 flags = byte(), how = byte(), options[60];
	u32 size, len, seq, i;
	struct ipv6hdr *ip;
	struct tcphdr *th;
	struct sk_buff *skb;
	bool memory = fuzz_no_memory;

	if (how & 128)
		flags |= 16;
	if (!(how & 64))
		flags &= ~6;	/* mostly without RST and SYN */
	seq = pick_seq(how);
	size = put_options(options, byte());
	size = min(size, 40U);
	len = byte() & 1 ? byte() * 8 : 0;

	fuzz_no_memory = false;
	skb = __alloc_skb(40 + 60 + len + 1000, 0, 0, 0);
	fuzz_no_memory = memory;
	ip = skb_put(skb, 40);
	memset(ip, 0, 40);
	ip->version = 6;
	if (byte() & 1)
		ip->flow_lbl[0] = (byte() & 3) << 4;
	skb_reset_network_header(skb);
	__skb_pull(skb, 40);
	skb_reset_transport_header(skb);
	th = skb_put(skb, 20 + size);
	memset(th, 0, 20);
	th->seq = htonl(seq);
	th->doff = 5 + size / 4;
	((u8 *)th)[13] = flags;
	th->window = htons(byte() & 3 ? 30000 : number(2));
	th->urg_ptr = htons(flags & 32 ? number(2) : 0);
	th->ack_seq = htonl(pick_ack(byte()));
	memcpy(th + 1, options, size);
	for (i = 0; i < len; i++)
		*(u8 *)skb_put(skb, 1) = pattern(seq + !!(flags & 2) + i);
	TCP_SKB_CB(skb)->header.h6.iif = 1;
	TCP_SKB_CB(skb)->seq = seq;
	TCP_SKB_CB(skb)->end_seq = seq + th->syn + th->fin + len;
	TCP_SKB_CB(skb)->ack_seq = ntohl(th->ack_seq);
	TCP_SKB_CB(skb)->tcp_flags = flags;
	TCP_SKB_CB(skb)->ip_dsfield = ipv6_get_dsfield(ip);
	if (sk->sk_state == TCP_ESTABLISHED)
		net6_tcp_rcv_established(sk, skb);
	else
		net6_tcp_rcv_state(sk, skb);
}

/* ---- the user ---- */

static void user_write(void)
{
	u32 len = number(2) % 20000, i, n;
	int goal, mss;

	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		return;
	net6_tcp_clock(tp);
	mss = net6_tcp_send_mss(sk, &goal, 0);
	MUST(mss > 0 && goal >= mss);
	while (len && sk->sk_wmem_queued < sk->sk_sndbuf) {
		struct sk_buff *skb;

		n = min_t(u32, len, goal);
		skb = net6_tcp_alloc_skb(sk, n, GFP_KERNEL, false);
		if (!skb)
			break;
		net6_tcp_queue_skb(sk, skb);
		for (i = 0; i < n; i++)
			*(u8 *)skb_put(skb, 1) = pattern(tp->write_seq + i);
		WRITE_ONCE(tp->write_seq, tp->write_seq + n);
		TCP_SKB_CB(skb)->end_seq += n;
		tcp_skb_pcount_set(skb, 0);
		len -= n;
	}
	net6_tcp_push_pending(sk, mss, byte() & 1 ? tp->nonagle : TCP_NAGLE_PUSH);
}

static void user_read(void)
{
	u32 want = number(2), copied = 0, from, n, i;
	struct sk_buff *skb;

	while (want && (skb = skb_peek(&sk->sk_receive_queue))) {
		from = tp->copied_seq - TCP_SKB_CB(skb)->seq;
		if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN)
			from--;
		MUST(from <= skb->len);
		n = min(want, skb->len - from);
		for (i = 0; i < n; i++)
			MUST(skb->data[from + i] == pattern(tp->copied_seq + i));
		tp->copied_seq += n;
		copied += n;
		want -= n;
		if (from + n == skb->len) {
			if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)
				tp->copied_seq++;
			__skb_unlink(skb, &sk->sk_receive_queue);
			__kfree_skb(skb);
		}
	}
	if (tp->urg_data && after(tp->copied_seq, tp->urg_seq))
		tp->urg_data = 0;
	net6_tcp_rcv_space_adjust(sk);
	net6_tcp_cleanup_rbuf(sk, copied);
}

static void user_shutdown(void)
{
	if (sk->sk_state == TCP_ESTABLISHED)
		net6_tcp_set_state(sk, TCP_FIN_WAIT1);
	else if (sk->sk_state == TCP_CLOSE_WAIT)
		net6_tcp_set_state(sk, TCP_LAST_ACK);
	else
		return;
	sk->sk_shutdown |= SEND_SHUTDOWN;
	net6_tcp_clock(tp);
	net6_tcp_send_fin(sk);
}

/* ---- time ---- */

static void fire(struct timer_list *timer)
{
	timer->entry.pprev = NULL;
	timer->function(timer);
	/* The callback put its reference. */
}

static void fire_pacing(void)
{
	struct hrtimer *timer = &tp->pacing_timer;
	int steps = 0;

	while (timer->state && (u64)timer->node.expires <= fuzz_ns) {
		timer->state = 0;
		timer->function(timer);
		MUST(++steps < 1000);
	}
}

static void advance(u32 ticks)
{
	struct timer_list *timers[] = {
		&inet_csk(sk)->icsk_retransmit_timer, &inet_csk(sk)->icsk_delack_timer,
		net6_compat_keepalive_timer(sk),
	};
	unsigned long end = jiffies + ticks, at;
	int i, next, steps = 0;

	for (;;) {
		next = -1;
		for (i = 0; i < 3; i++) {
			if (timer_pending(timers[i]) &&
			    time_before_eq(timers[i]->expires, end) &&
			    (next < 0 || time_before(timers[i]->expires,
						     timers[next]->expires)))
				next = i;
		}
		if (next < 0)
			break;
		at = max_t(unsigned long, jiffies, timers[next]->expires);
		fuzz_ns += (at - jiffies) * (NSEC_PER_SEC / HZ);
		jiffies = at;
		fire_pacing();
		fire(timers[next]);
		MUST(++steps < 100000);
	}
	fuzz_ns += (end - jiffies) * (NSEC_PER_SEC / HZ);
	jiffies = end;
	fire_pacing();
}

/* ---- what must hold ---- */

static void check_sender(void)
{
	u32 packets = 0, sacked = 0, lost = 0, retrans = 0, expect = 0, out = 0;
	struct sk_buff *skb;
	bool first = true;

	skb_rbtree_walk(skb, &sk->tcp_rtx_queue) {
		u32 n = tcp_skb_pcount(skb);
		u8 flags = TCP_SKB_CB(skb)->sacked;

		MUST(n > 0);
		packets += n;
		if (flags & TCPCB_SACKED_ACKED) {
			sacked += n;
			/* A retransmission that an undo made needless may be under way. */
			MUST(!(flags & TCPCB_LOST));
		}
		lost += flags & TCPCB_LOST ? n : 0;
		retrans += flags & TCPCB_SACKED_RETRANS ? n : 0;
		if (first)
			MUST(!after(TCP_SKB_CB(skb)->seq, tp->snd_una) &&
			     after(TCP_SKB_CB(skb)->end_seq, tp->snd_una));
		else
			MUST(TCP_SKB_CB(skb)->seq == expect);
		expect = TCP_SKB_CB(skb)->end_seq;
		first = false;
		out += skb->truesize;
	}
	MUST(first || expect == tp->snd_nxt);
	skb_queue_walk(&sk->sk_write_queue, skb) {
		MUST(TCP_SKB_CB(skb)->seq == (first ? tp->snd_nxt : expect));
		expect = TCP_SKB_CB(skb)->end_seq;
		first = false;
		out += skb->truesize;
	}
	MUST(first || expect == tp->write_seq);
	MUST(packets == tp->packets_out);
	MUST(lost == tp->lost_out);
	MUST(retrans == tp->retrans_out);
	if (tcp_is_sack(tp))
		MUST(sacked == tp->sacked_out);
	MUST(tcp_left_out(tp) <= tp->packets_out);
	MUST(!before(tp->snd_nxt, tp->snd_una) && !before(tp->write_seq, tp->snd_nxt));
	MUST((int)out == sk->sk_wmem_queued);
	MUST(tcp_snd_cwnd(tp) > 0);
	MUST(refcount_read(&sk->sk_wmem_alloc) == 1);
	MUST(inet_csk(sk)->icsk_rto <= TCP_RTO_MAX && inet_csk(sk)->icsk_rto > 0);
	/* RFC 9293 3.10.7.4, fifth: only an ACK of our SYN ends SYN-RECEIVED. */
	MUST(sk->sk_state != TCP_ESTABLISHED || after(tp->snd_una, ISS));
}

static void check_receiver(void)
{
	u32 mem = 0, last = tp->rcv_nxt;
	struct sk_buff *skb;
	int i;

	skb_queue_walk(&sk->sk_receive_queue, skb)
		mem += skb->truesize;
	skb_rbtree_walk(skb, &tp->out_of_order_queue) {
		mem += skb->truesize;
		MUST(after(TCP_SKB_CB(skb)->seq, tp->rcv_nxt));
		last = TCP_SKB_CB(skb)->seq;
	}
	MUST(!last || !after(tp->rcv_nxt, last));
	MUST(mem == atomic_read(&sk->sk_rmem_alloc));
	MUST(!after(tp->copied_seq, tp->rcv_nxt));
	MUST(tp->rx_opt.num_sacks <= TCP_NUM_SACKS);
	for (i = 0; i < tp->rx_opt.num_sacks; i++)
		MUST(before(tp->selective_acks[i].start_seq, tp->selective_acks[i].end_seq));
	MUST(sk->sk_forward_alloc >= 0);
}

/* Whoever waits has a timer running. */
static void check_alive(void)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct sk_buff *head = tcp_send_head(sk);

	if (sk->sk_state == TCP_CLOSE)
		return;
	if (tp->packets_out || (head && !tp->packets_out && !(tp->nonagle & TCP_NAGLE_CORK) &&
				after(net6_skb_end(head), tcp_wnd_end(tp)))) {
		MUST(icsk->icsk_pending);
		MUST(timer_pending(&icsk->icsk_retransmit_timer));
	}
	/* Nothing holds back what could be sent. */
	if (!tp->packets_out && head && !(tp->nonagle & TCP_NAGLE_CORK) &&
	    !tp->pacing_timer.state)
		MUST(after(net6_skb_end(head), tcp_wnd_end(tp)));
	if (icsk->icsk_ack.pending & ICSK_ACK_TIMER)
		MUST(timer_pending(&icsk->icsk_delack_timer));
}

static void close_socket(void)
{
	net6_tcp_write_queue_purge(sk);
	net6_tcp_ofo_purge(sk);
	__skb_queue_purge(&sk->sk_receive_queue);
	net6_tcp_timers_clear(sk);
	MUST(!sk->sk_wmem_queued && !atomic_read(&sk->sk_rmem_alloc));
	MUST(refcount_read(&sk->sk_refcnt) == 100);
	free(sk);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	bool starved = false;
	u8 i;

	input = data;
	left = size;
	jiffies = INITIAL_JIFFIES;
	fuzz_ns = 1000 * NSEC_PER_SEC;
	fuzz_no_memory = false;
	net_init();
	dest_init();
	i = byte();
	open_socket(i, byte());
	while (left && sk->sk_state != TCP_CLOSE) {
		u8 what = byte();

		switch (what & 15) {
		case 8:
			user_write();
			break;
		case 9:
			user_read();
			break;
		case 10:
			advance(what >> 4);
			break;
		case 11:
			advance(number(2));
			break;
		case 12:
			if (what & 16)
				user_shutdown();
			break;
		case 13:
			if (what & 16) {
				net6_tcp_clock(tp);
				net6_tcp_mtu_reduced(sk, number(2));
			}
			break;
		case 14:
			fuzz_no_memory = what >> 4 == 15;
			starved |= fuzz_no_memory;
			break;
		default:
			segment();
		}
		check_sender();
		check_receiver();
		if (!starved)
			check_alive();
	}
	fuzz_no_memory = false;
	close_socket();
	return 0;
}
