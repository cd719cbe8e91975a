// SPDX-License-Identifier: GPL-2.0
/* The few functions of the kernel that TCP's engine calls, for a program with one
 * socket. There are buffers with linear data on malloc(), timers and clock by hand, and memory that
 * runs out when told so. Per-CPU variables are plain ones: %gs is 0 in a program.
 */
#include <linux/percpu.h>

#include "../../../net6/transport/tcp/calls/calls.h"
#include "../../../net6/transport/tcp/calls/sendmsg.h"
#include "../../../net6/transport/tcp/conn/conn.h"
#include "../../../net6/transport/tcp/conn/md5.h"
#include "../../../net6/transport/tcp/engine/engine.h"
#include "harness.h"

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void free(void *p);

typeof(jiffies) jiffies;
u64 fuzz_ns;
bool fuzz_no_memory;
int __preempt_count;
unsigned long this_cpu_off;
unsigned long __per_cpu_offset[NR_CPUS];
unsigned int nr_cpu_ids = 1;
struct cpumask __cpu_possible_mask = { .bits = { 1 } };
struct net init_net;
unsigned int net6_net_id;
unsigned long tcp_memory_pressure;
struct static_key_false memcg_sockets_enabled_key;
struct static_key_true memory_cgrp_subsys_on_dfl_key;
struct static_key_false devmap_managed_key;
struct static_key_false cgroup_bpf_enabled_key[MAX_CGROUP_BPF_ATTACH_TYPE];
struct static_key_false hugetlb_optimize_vmemmap_key;
struct workqueue_struct *system_wq;
__u32 sysctl_rmem_max = 212992;
const __u8 ip_tos2prio[16];
struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];

/* ---- time ---- */

ktime_t ktime_get(void)
{
	return fuzz_ns;
}

time64_t ktime_get_seconds(void)
{
	return fuzz_ns / NSEC_PER_SEC;
}

unsigned int jiffies_to_msecs(const unsigned long j)
{
	return j * (MSEC_PER_SEC / HZ);
}

unsigned int jiffies_to_usecs(const unsigned long j)
{
	return j * (USEC_PER_SEC / HZ);
}

unsigned long __msecs_to_jiffies(const unsigned int m)
{
	return DIV_ROUND_UP(m, MSEC_PER_SEC / HZ);
}

unsigned long __usecs_to_jiffies(const unsigned int u)
{
	return DIV_ROUND_UP(u, USEC_PER_SEC / HZ);
}

unsigned long nsecs_to_jiffies(u64 n)
{
	return n / (NSEC_PER_SEC / HZ);
}

void init_timer_key(struct timer_list *timer, void (*func)(struct timer_list *),
		    unsigned int flags, const char *name, struct lock_class_key *key)
{
	timer->entry.pprev = NULL;
	timer->function = func;
	timer->flags = flags;
}

void sk_reset_timer(struct sock *sk, struct timer_list *timer, unsigned long expires)
{
	if (!timer_pending(timer))
		sock_hold(sk);
	timer->entry.pprev = (struct hlist_node **)timer;
	timer->expires = expires;
}

void sk_stop_timer(struct sock *sk, struct timer_list *timer)
{
	if (timer_pending(timer)) {
		timer->entry.pprev = NULL;
		__sock_put(sk);
	}
}

void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode)
{
	timer->state = 0;
}

void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t at, u64 range,
			    const enum hrtimer_mode mode)
{
	timer->node.expires = at;
	timer->state = HRTIMER_STATE_ENQUEUED;
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	int was = timer->state;

	timer->state = 0;
	return was;
}

/* ---- buffers ---- */

struct sk_buff *__alloc_skb(unsigned int size, gfp_t gfp, int flags, int node)
{
	struct sk_buff *skb;

	if (fuzz_no_memory)
		return NULL;
	skb = calloc(1, sizeof(*skb));
	size = SKB_DATA_ALIGN(size);
	skb->head = malloc(size + sizeof(struct skb_shared_info));
	memset(skb->head, 0, size + sizeof(struct skb_shared_info));
	skb->data = skb->head;
	skb->tail = 0;
	skb->end = size;
	skb->truesize = SKB_TRUESIZE(size);
	refcount_set(&skb->users, 1);
	atomic_set(&skb_shinfo(skb)->dataref, 1);
	return skb;
}

static void fuzz_head_put(struct sk_buff *skb)
{
	if (!skb->cloned || !atomic_sub_return(skb->nohdr ? (1 << SKB_DATAREF_SHIFT) + 1 : 1,
					       &skb_shinfo(skb)->dataref))
		free(skb->head);
}

void __kfree_skb(struct sk_buff *skb)
{
	if (skb->destructor)
		skb->destructor(skb);
	fuzz_head_put(skb);
	free(skb);
}

void consume_skb(struct sk_buff *skb)
{
	if (skb && refcount_dec_and_test(&skb->users))
		__kfree_skb(skb);
}

void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason)
{
	consume_skb(skb);
}

void kfree_skb_partial(struct sk_buff *skb, bool stolen)
{
	__kfree_skb(skb);
}

/* Each buffer is its own, so that the sanitizer sees who uses one too long. */
struct sk_buff *net6_tcp_skb_cache_get(unsigned int size)
{
	return NULL;
}

bool net6_tcp_skb_cache_put(struct sk_buff *skb)
{
	return false;
}

void net6_drop(struct net6_net *nn, struct sk_buff *skb, enum net6_drop_reason reason)
{
	consume_skb(skb);
}

struct sk_buff *skb_clone(struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *n;

	if (fuzz_no_memory)
		return NULL;
	n = malloc(sizeof(*n));
	memcpy(n, skb, sizeof(*n));
	n->next = NULL;
	n->prev = NULL;
	n->sk = NULL;
	n->destructor = NULL;
	n->_skb_refdst = 0;
	n->nohdr = 0;
	n->cloned = 1;
	skb->cloned = 1;
	atomic_inc(&skb_shinfo(skb)->dataref);
	refcount_set(&n->users, 1);
	return n;
}

struct sk_buff *__pskb_copy_fclone(struct sk_buff *skb, int headroom, gfp_t gfp, bool fclone)
{
	struct sk_buff *n = __alloc_skb(skb->end + headroom, gfp, 0, 0);

	if (!n)
		return NULL;
	skb_reserve(n, headroom);
	memcpy(skb_put(n, skb->len), skb->data, skb->len);
	memcpy(n->cb, skb->cb, sizeof(n->cb));
	n->ip_summed = skb->ip_summed;
	return n;
}

int pskb_expand_head(struct sk_buff *skb, int nhead, int ntail, gfp_t gfp)
{
	unsigned int offset = skb->data - skb->head;
	unsigned char *head;

	if (fuzz_no_memory)
		return -ENOMEM;
	head = malloc(skb->end + sizeof(struct skb_shared_info));
	memcpy(head, skb->head, skb->end + sizeof(struct skb_shared_info));
	fuzz_head_put(skb);
	skb->head = head;
	skb->data = head + offset;
	skb->cloned = 0;
	skb->nohdr = 0;
	atomic_set(&skb_shinfo(skb)->dataref, 1);
	return 0;
}

void *skb_push(struct sk_buff *skb, unsigned int len)
{
	skb->data -= len;
	skb->len += len;
	if (skb->data < skb->head)
		abort();
	return skb->data;
}

void *skb_put(struct sk_buff *skb, unsigned int len)
{
	void *at = skb_tail_pointer(skb);

	skb->tail += len;
	skb->len += len;
	if (skb->tail > skb->end)
		abort();
	return at;
}

void skb_split(struct sk_buff *skb, struct sk_buff *rest, const u32 len)
{
	memcpy(skb_put(rest, skb->len - len), skb->data + len, skb->len - len);
	skb->tail -= skb->len - len;
	skb->len = len;
}

int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	if (offset < 0 || offset + len > (int)skb->len)
		return -EFAULT;
	memcpy(to, skb->data + offset, len);
	return 0;
}

bool skb_try_coalesce(struct sk_buff *to, struct sk_buff *from, bool *stolen, int *delta)
{
	if (skb_cloned(to) || (int)from->len > skb_tailroom(to))
		return false;
	memcpy(skb_put(to, from->len), from->data, from->len);
	*delta = 0;
	return true;
}

void __skb_tstamp_tx(struct sk_buff *orig, const struct sk_buff *ack,
		     struct skb_shared_hwtstamps *hw, struct sock *sk, int type)
{
}

void sock_rfree(struct sk_buff *skb)
{
	atomic_sub(skb->truesize, &skb->sk->sk_rmem_alloc);
	sk_mem_uncharge(skb->sk, skb->truesize);
}

/* ---- memory ---- */

int __sk_mem_schedule(struct sock *sk, int size, int kind)
{
	if (fuzz_no_memory)
		return 0;
	sk->sk_forward_alloc += sk_mem_pages(size) << PAGE_SHIFT;
	return 1;
}

void __sk_mem_reclaim(struct sock *sk, int amount)
{
	sk->sk_forward_alloc -= amount >> PAGE_SHIFT << PAGE_SHIFT;
}

bool tcp_stream_memory_free(const struct sock *sk, int wake)
{
	return true;
}

/* ---- trees without balance: small enough ---- */

static struct rb_node *fuzz_parent(const struct rb_node *node)
{
	return (struct rb_node *)(node->__rb_parent_color & ~3UL);
}

static void fuzz_set_parent(struct rb_node *node, struct rb_node *parent)
{
	if (node)
		node->__rb_parent_color = (unsigned long)parent;
}

static void fuzz_swap_child(struct rb_root *root, struct rb_node *parent, struct rb_node *old,
			    struct rb_node *new)
{
	if (!parent)
		root->rb_node = new;
	else if (parent->rb_left == old)
		parent->rb_left = new;
	else
		parent->rb_right = new;
	fuzz_set_parent(new, parent);
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

struct rb_node *rb_last(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_right)
		node = node->rb_right;
	return node;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *parent;

	if (node->rb_right) {
		node = node->rb_right;
		while (node->rb_left)
			node = node->rb_left;
		return (struct rb_node *)node;
	}
	while ((parent = fuzz_parent(node)) && node == parent->rb_right)
		node = parent;
	return parent;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *parent;

	if (node->rb_left) {
		node = node->rb_left;
		while (node->rb_right)
			node = node->rb_right;
		return (struct rb_node *)node;
	}
	while ((parent = fuzz_parent(node)) && node == parent->rb_left)
		node = parent;
	return parent;
}

void rb_replace_node(struct rb_node *old, struct rb_node *new, struct rb_root *root)
{
	*new = *old;
	fuzz_set_parent(new->rb_left, new);
	fuzz_set_parent(new->rb_right, new);
	fuzz_swap_child(root, fuzz_parent(old), old, new);
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *next;

	if (!node->rb_left) {
		fuzz_swap_child(root, fuzz_parent(node), node, node->rb_right);
	} else if (!node->rb_right) {
		fuzz_swap_child(root, fuzz_parent(node), node, node->rb_left);
	} else {
		next = rb_next(node);
		rb_erase(next, root);
		rb_replace_node(node, next, root);
	}
}

/* ---- what the rest of net6 does for the engine ---- */

u32 net6_dest_mtu(struct net6_dest *dest)
{
	return dest->pmtu;
}

u32 net6_dest_advmss(const struct net6_dest *dest)
{
	return min_t(u32, dest->iface->mtu, 65535) - sizeof(struct ipv6hdr) - sizeof(struct tcphdr);
}

void net6_dest_set_pmtu(struct net6_dest *dest, u32 mtu)
{
	if (mtu < dest->pmtu)
		dest->pmtu = max_t(u32, mtu, 1280);
}

struct net6_dest *net6_sk_dest_slow(struct sock *sk)
{
	return ERR_PTR(-ENETUNREACH);
}

/* There are no rules. */
bool net6_sk_dest_holds(const struct sock *sk, const struct net6_dest *dest)
{
	return true;
}

void net6_sk_dest_reset(struct sock *sk)
{
}

void net6_neigh_confirm(struct net6_neigh *neigh)
{
}

void net6_note_tcp_state(const struct sock *sk, int old, int new)
{
}

/* ---- lsm_ops.c: nobody is asked ---- */

int net6_tcp_ops_call(struct sock *sk, int op, u32 a, u32 b, u32 c)
{
	return -1;
}

void net6_tcp_ops_call_established(struct sock *sk, int op, struct sk_buff *skb)
{
}

void security_inet_conn_established(struct sock *sk, struct sk_buff *skb)
{
}

struct sock *inet_csk_clone_lock(const struct sock *sk, const struct request_sock *req,
				 const gfp_t priority)
{
	return NULL;
}

void net6_tcp_time_wait(struct sock *sk, int state, int timeo)
{
	net6_tcp_done(sk);
}

void net6_tcp_destroy(struct sock *sk)
{
}

void net6_tcp_unhash(struct sock *sk)
{
}

void net6_tcp_put_port(struct sock *sk)
{
}

bool net6_tcp_too_many_orphans(struct sock *sk)
{
	return false;
}

void net6_tcp_send_reset(struct net6_net *nn, struct sock *sk, struct sk_buff *skb)
{
}

/* Congestion control: RFC 5681 in its plainest form. */
static void fuzz_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->is_cwnd_limited && tcp_snd_cwnd(tp) < 1000)
		tcp_snd_cwnd_set(tp, tcp_snd_cwnd(tp) + (tcp_in_slow_start(tp) ? acked : 1));
}

static u32 fuzz_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) >> 1, 2U);
}

static u32 fuzz_undo_cwnd(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

static struct tcp_congestion_ops fuzz_reno = {
	.name		= "reno",
	.ssthresh	= fuzz_ssthresh,
	.cong_avoid	= fuzz_cong_avoid,
	.undo_cwnd	= fuzz_undo_cwnd,
};

void net6_tcp_cong_assign(struct sock *sk)
{
	inet_csk(sk)->icsk_ca_ops = &fuzz_reno;
}

void net6_tcp_cong_inherit(struct sock *child, const struct sock *listener)
{
	net6_tcp_cong_assign(child);
}

void net6_tcp_cong_init(struct sock *sk)
{
}

void net6_tcp_cong_by_route(struct sock *sk, void *congctl)
{
}

/* ---- the rest ---- */

__sum16 csum_ipv6_magic(const struct in6_addr *saddr, const struct in6_addr *daddr, __u32 len,
			__u8 proto, __wsum sum)
{
	return 0;
}

void refcount_warn_saturate(refcount_t *r, enum refcount_saturation_type t)
{
	abort();
}

/* A WARN of the engine is a finding. */
void __warn_printk(const char *fmt, ...)
{
	printf("WARN\n");
	abort();
}

u32 get_random_u32(void)
{
	return 4;
}

void sk_error_report(struct sock *sk)
{
}

void sk_send_sigurg(struct sock *sk)
{
}

int sock_wake_async(struct socket_wq *wq, int how, int band)
{
	return 0;
}

void sock_wfree(struct sk_buff *skb)
{
	if (refcount_sub_and_test(skb->truesize, &skb->sk->sk_wmem_alloc))
		abort();
}

void sk_free(struct sock *sk)
{
	if (refcount_dec_and_test(&sk->sk_wmem_alloc))
		abort();
}

void __local_bh_enable_ip(unsigned long ip, unsigned int cnt)
{
}

void __rcu_read_lock(void)
{
}

void __rcu_read_unlock(void)
{
}

void _raw_spin_lock(raw_spinlock_t *lock)
{
}

void _raw_spin_unlock(raw_spinlock_t *lock)
{
}

void __tasklet_schedule(struct tasklet_struct *t)
{
}

void tasklet_setup(struct tasklet_struct *t, void (*callback)(struct tasklet_struct *))
{
}

void tasklet_kill(struct tasklet_struct *t)
{
}

unsigned long _find_next_bit(const unsigned long *addr, unsigned long n, unsigned long start)
{
	return n;
}

int __wake_up(struct wait_queue_head *wq, unsigned int mode, int n, void *key)
{
	return 0;
}

void __folio_put(struct folio *folio)
{
}

bool page_pool_return_skb_page(struct page *page)
{
	return false;
}

bool __put_devmap_managed_page_refs(struct page *page, int refs)
{
	return false;
}

/* ---- the owner of a connection in the kernel: none ---- */

void net6_tcp_user_receive(struct sock *sk) {}
void net6_tcp_user_writable(struct sock *sk) {}

/* ---- pages kept to send with (pages.c): what is sent here lies in no pages ---- */

void net6_tcp_pages_drop(struct sock *sk) {}
void net6_tcp_pages_timer(struct sock *sk) {}

/* ---- signed segments: no socket has keys ---- */

DEFINE_STATIC_KEY_FALSE(net6_tcp_md5_on);

struct tcp_md5sig_key *net6_tcp_md5_find(const struct sock *sk, const struct in6_addr *peer)
{
	return NULL;
}

void net6_tcp_md5_sign(u8 *hash, const struct tcp_md5sig_key *key, const struct in6_addr *saddr,
		       const struct in6_addr *daddr, const struct sk_buff *skb)
{
}

/* ---- Fast Open: nobody here asks for it ---- */

void net6_tcp_fastopen_syn(struct sock *sk, struct sk_buff *syn) {}
void net6_tcp_fastopen_synack(struct sock *sk, const struct net6_tcp_opts *o) {}
void net6_tcp_fastopen_too_big(struct sock *sk) {}
void net6_tcp_fastopen_cross(struct sock *sk) {}
void net6_tcp_fastopen_opened(struct sock *sk) {}
void net6_tcp_fastopen_gone(struct sock *sk, bool reset) {}

bool net6_tcp_fastopen_check(struct sock *sk, struct sk_buff *skb)
{
	return true;
}
