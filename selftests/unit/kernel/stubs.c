// SPDX-License-Identifier: GPL-2.0
/* The functions of the kernel that tables of sockets call, for a program of one thread: locks and
 * RCU do nothing, sockets are on malloc(), groups of SO_REUSEPORT have no members to choose from.
 */
#include <linux/percpu.h>
#include <net/inet_sock.h>
#include <net/sock_reuseport.h>

#include "kernel.h"

int __preempt_count;
int cpu_number;
unsigned long this_cpu_off;
unsigned long __per_cpu_offset[NR_CPUS];
unsigned int nr_cpu_ids = 1;
unsigned int net6_net_id = sizeof(struct net_generic) / sizeof(void *);
atomic_long_t _totalram_pages = ATOMIC_LONG_INIT(0);	/* tables of the smallest size */
const struct in6_addr in6addr_any = IN6ADDR_ANY_INIT;
struct static_key_false bpf_sk_lookup_enabled;
struct static_key_false bpf_stats_enabled_key;
struct static_key_false net6_l3mdev_key;
struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];
struct net init_net;
typeof(jiffies) jiffies;

void abort(void);

/* ---- one thread ---- */

void __rcu_read_lock(void) {}
void __rcu_read_unlock(void) {}
void _raw_spin_lock(raw_spinlock_t *lock) {}
void _raw_spin_lock_bh(raw_spinlock_t *lock) {}
void _raw_spin_unlock(raw_spinlock_t *lock) {}
void _raw_spin_unlock_bh(raw_spinlock_t *lock) {}
void __local_bh_enable_ip(unsigned long ip, unsigned int cnt) {}
void migrate_disable(void) {}
void migrate_enable(void) {}

unsigned long long sched_clock(void)
{
	return 0;
}

/* ---- what must not happen ---- */

void refcount_warn_saturate(refcount_t *r, enum refcount_saturation_type t)
{
	abort();
}

void __warn_printk(const char *fmt, ...)
{
	abort();
}

/* ---- sockets ---- */

void sk_free(struct sock *sk)
{
	abort();		/* the test holds one reference */
}

kuid_t sock_i_uid(struct sock *sk)
{
	return sk->sk_uid;
}

void inet_get_local_port_range(struct net *net, int *low, int *high)
{
	*low = UNIT_PORT_LOW;
	*high = UNIT_PORT_HIGH;
}

static struct sock_reuseport unit_group;

int reuseport_alloc(struct sock *sk, bool bind_inany)
{
	rcu_assign_pointer(sk->sk_reuseport_cb, &unit_group);
	return 0;
}

int reuseport_add_sock(struct sock *sk, struct sock *sk2, bool bind_inany)
{
	return reuseport_alloc(sk, bind_inany);
}

void reuseport_detach_sock(struct sock *sk)
{
	RCU_INIT_POINTER(sk->sk_reuseport_cb, NULL);
}

void reuseport_stop_listen_sock(struct sock *sk)
{
	reuseport_detach_sock(sk);
}

/* NULL: the one that was found. */
struct sock *reuseport_select_sock(struct sock *sk, u32 hash, struct sk_buff *skb, int hdr_len)
{
	return NULL;
}
