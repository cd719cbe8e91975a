// SPDX-License-Identifier: GPL-2.0
/* Charging an accepted connection to the memory cgroup of the process that accepts it. */
#include <linux/memcontrol.h>

#include "conn.h"

/* The memory cgroup of this process, with a reference, or NULL: as sk_alloc() chooses. */
static struct mem_cgroup *net6_tcp_memcg(void)
{
	struct mem_cgroup *memcg;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	if (!memcg || !memcg->css.parent)
		memcg = NULL;
#ifdef CONFIG_MEMCG_KMEM
	else if (!cgroup_subsys_on_dfl(memory_cgrp_subsys) && !memcg->tcpmem_active)
		memcg = NULL;
#endif
	else if (!css_tryget(&memcg->css))
		memcg = NULL;
	rcu_read_unlock();
	return memcg;
}

/**
 * net6_tcp_memcg_charge() - an accepted connection's memory is its process's
 * @sk: just taken out of the accept queue
 *
 * Until here nobody was charged. If the group is full the connection stays so.
 * Context: process, may sleep.
 */
void net6_tcp_memcg_charge(struct sock *sk)
{
	struct mem_cgroup *memcg;
	int pages;

	if (!mem_cgroup_sockets_enabled)
		return;
	memcg = net6_tcp_memcg();
	if (!memcg)
		return;
	lock_sock(sk);
	sk->sk_memcg = memcg;
	pages = sk_mem_pages(sk->sk_forward_alloc + atomic_read(&sk->sk_rmem_alloc) +
			     sk->sk_wmem_queued);
	if (pages) {
		/* Charges the protocol too, which has these pages already. */
		if (__sk_mem_schedule(sk, pages << PAGE_SHIFT, SK_MEM_RECV)) {
			sk->sk_forward_alloc -= pages << PAGE_SHIFT;
			atomic_long_sub(pages, sk->sk_prot->memory_allocated);
		} else {
			sk->sk_memcg = NULL;
			css_put(&memcg->css);
		}
	}
	release_sock(sk);
}
