// SPDX-License-Identifier: GPL-2.0
/* The sources that a socket takes a group's packets from: RFC 3678 section 5, with Linux's
 * errors. A filter is never changed but replaced, so that receivers read it under RCU.
 */
#include <net/compat.h>

#include "../compat/inet_sock.h"
#include "../core/addr.h"
#include "sock.h"

/* What the options say before anything is done. */
struct net6_source_request {
	int			ifindex;
	struct in6_addr		group;
	struct in6_addr		source;
};

static struct net6_sk_filter *net6_sk_filter_new(struct sock *sk, enum net6_mld_mode mode,
						 unsigned int n)
{
	struct net6_sk_filter *filter = sock_kmalloc(sk, struct_size(filter, sources, n),
						     GFP_KERNEL);

	if (!filter)
		return NULL;
	filter->mode = mode;
	filter->n = n;
	return filter;
}

/**
 * net6_sk_filter_free() - a filter that no receiver finds any more
 * @sk: its socket, owned
 * @filter: it, or NULL
 *
 * Its memory is no longer the socket's, and freed after a grace period. Context: process.
 */
void net6_sk_filter_free(struct sock *sk, struct net6_sk_filter *filter)
{
	if (!filter)
		return;
	atomic_sub(struct_size(filter, sources, filter->n), &sk->sk_omem_alloc);
	kfree_rcu(filter, rcu);
}

/**
 * net6_sk_filter_wish() - what an interface is told of a filter
 * @filter: filter, NULL for any source
 *
 * Context: any. Return: the same as MLD has it; points into @filter.
 */
struct net6_mld_filter net6_sk_filter_wish(const struct net6_sk_filter *filter)
{
	if (!filter)
		return net6_mld_any;
	return (struct net6_mld_filter) {
		.mode		= filter->mode,
		.n		= filter->n,
		.sources	= filter->sources,
	};
}

static int net6_sk_filter_find(const struct net6_sk_filter *filter, const struct in6_addr *source)
{
	unsigned int i;

	for (i = 0; i < filter->n; i++)
		if (ipv6_addr_equal(&filter->sources[i], source))
			return i;
	return -1;
}

/**
 * net6_sk_filter_match() - does a filter let a source through?
 * @filter: filter, NULL for any source
 * @source: source address of a packet
 *
 * Context: RCU read lock held. Return: true if the socket wants it.
 */
bool net6_sk_filter_match(const struct net6_sk_filter *filter, const struct in6_addr *source)
{
	if (!filter)
		return true;
	return (net6_sk_filter_find(filter, source) >= 0) == (filter->mode == NET6_MLD_INCLUDE);
}

static struct net6_sk_filter *net6_sk_group_filter(struct sock *sk, struct net6_sk_group *g)
{
	return rcu_dereference_protected(g->filter, lockdep_sock_is_held(sk));
}

/* Puts a filter in its predecessor's place; frees it if that fails. */
static int net6_sk_filter_replace(struct sock *sk, struct net6_sk_group *g,
				  struct net6_sk_filter *filter)
{
	struct net6_sk_filter *before = net6_sk_group_filter(sk, g);
	struct net6_mld_filter old = net6_sk_filter_wish(before);
	struct net6_mld_filter new = net6_sk_filter_wish(filter);
	int err = net6_group_change(g->iface, &g->addr, g->uid, &old, &new);

	if (err) {
		net6_sk_filter_free(sk, filter);
		return err;
	}
	rcu_assign_pointer(g->filter, filter);
	net6_sk_filter_free(sk, before);
	return 0;
}

static int net6_sk_source_add(struct sock *sk, struct net6_sk_group *g, enum net6_mld_mode mode,
			      const struct in6_addr *source)
{
	struct net6_sk_filter *before = net6_sk_group_filter(sk, g), *filter;
	unsigned int n = before ? before->n : 0;

	if (n >= NET6_MLD_SOURCES_MAX)
		return -ENOBUFS;
	if (before && net6_sk_filter_find(before, source) >= 0)
		return -EADDRNOTAVAIL;
	filter = net6_sk_filter_new(sk, mode, n + 1);
	if (!filter)
		return -ENOBUFS;
	if (n)
		memcpy(filter->sources, before->sources, n * sizeof(*source));
	filter->sources[n] = *source;
	return net6_sk_filter_replace(sk, g, filter);
}

static int net6_sk_source_del(struct sock *sk, struct net6_sk_group *g,
			      const struct in6_addr *source)
{
	struct net6_sk_filter *before = net6_sk_group_filter(sk, g), *filter;
	int at = before ? net6_sk_filter_find(before, source) : -1;

	if (at < 0)
		return -EADDRNOTAVAIL;
	/* Nothing from nobody is no membership. */
	if (before->n == 1 && before->mode == NET6_MLD_INCLUDE) {
		net6_sk_group_drop(sk, g);
		return 0;
	}
	filter = net6_sk_filter_new(sk, before->mode, before->n - 1);
	if (!filter)
		return -ENOBUFS;
	memcpy(filter->sources, before->sources, at * sizeof(*source));
	memcpy(filter->sources + at, before->sources + at + 1,
	       (before->n - 1 - at) * sizeof(*source));
	return net6_sk_filter_replace(sk, g, filter);
}

static int net6_sk_source_join(struct sock *sk, const struct net6_source_request *req)
{
	struct net6_sk_filter *filter = net6_sk_filter_new(sk, NET6_MLD_INCLUDE, 1);
	int err;

	if (!filter)
		return -ENOMEM;
	filter->sources[0] = req->source;
	err = net6_sk_group_join(sk, req->ifindex, &req->group, filter);
	if (err)
		net6_sk_filter_free(sk, filter);
	return err;
}

static bool net6_sk_source_iface(struct sock *sk, int ifindex)
{
	bool found;

	rcu_read_lock();
	found = !ifindex || net6_iface_find(net6_pernet(sock_net(sk)), ifindex);
	rcu_read_unlock();
	return found;
}

static int net6_sk_source_change(struct sock *sk, int optname,
				 const struct net6_source_request *req)
{
	bool add = optname == MCAST_JOIN_SOURCE_GROUP || optname == MCAST_BLOCK_SOURCE;
	enum net6_mld_mode mode = NET6_MLD_EXCLUDE;
	struct net6_sk_filter *filter;
	struct net6_sk_group *g;

	sock_owned_by_me(sk);
	if (!ipv6_addr_is_multicast(&req->group))
		return -EINVAL;
	if (!net6_sk_source_iface(sk, req->ifindex))
		return -ENODEV;
	if (optname == MCAST_JOIN_SOURCE_GROUP || optname == MCAST_LEAVE_SOURCE_GROUP)
		mode = NET6_MLD_INCLUDE;
	g = net6_sk_group_find(sk, req->ifindex, &req->group);
	if (!g)
		return optname == MCAST_JOIN_SOURCE_GROUP ? net6_sk_source_join(sk, req) : -EINVAL;
	/* Of one that has sources the mode stays. */
	filter = net6_sk_group_filter(sk, g);
	if (filter && filter->mode != mode)
		return -EINVAL;
	return add ? net6_sk_source_add(sk, g, mode, &req->source) :
		     net6_sk_source_del(sk, g, &req->source);
}

/**
 * net6_set_mcast_source() - MCAST_{JOIN,LEAVE}_SOURCE_GROUP, MCAST_{BLOCK,UNBLOCK}_SOURCE
 * @sk: socket, owned
 * @optname: which
 * @optval: struct group_source_req
 * @optlen: its length
 *
 * Context: process. Return: 0 or -errno as Linux.
 */
int net6_set_mcast_source(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	const struct sockaddr_in6 *group, *source;
	struct net6_source_request wanted;
	struct group_source_req req;

	if (in_compat_syscall()) {
		struct compat_group_source_req req32;

		if (optlen < sizeof(req32))
			return -EINVAL;
		if (copy_from_sockptr(&req32, optval, sizeof(req32)))
			return -EFAULT;
		req.gsr_interface = req32.gsr_interface;
		req.gsr_group = req32.gsr_group;
		req.gsr_source = req32.gsr_source;
	} else {
		if (optlen < sizeof(req))
			return -EINVAL;
		if (copy_from_sockptr(&req, optval, sizeof(req)))
			return -EFAULT;
	}
	if (req.gsr_group.ss_family != AF_INET6 || req.gsr_source.ss_family != AF_INET6)
		return -EADDRNOTAVAIL;
	if (sk->sk_type == SOCK_STREAM)
		return -EPROTO;
	group = (const struct sockaddr_in6 *)&req.gsr_group;
	source = (const struct sockaddr_in6 *)&req.gsr_source;
	wanted.ifindex = req.gsr_interface;
	wanted.group = group->sin6_addr;
	wanted.source = source->sin6_addr;
	return net6_sk_source_change(sk, optname, &wanted);
}

/**
 * struct net6_filter_head - struct group_filter without the list
 * @ifindex: interface
 * @group: group
 * @family: of the group's socket address
 * @mode: MCAST_INCLUDE or MCAST_EXCLUDE
 * @n: sources that follow
 * @list: offset of the first of them, which differs for 32-bit programs
 */
struct net6_filter_head {
	u32		ifindex;
	struct in6_addr	group;
	u16		family;
	u32		mode;
	u32		n;
	size_t		list;
};

static size_t net6_filter_list(void)
{
	return in_compat_syscall() ? offsetof(struct compat_group_filter, gf_slist_flex) :
				     offsetof(struct group_filter, gf_slist_flex);
}

static int net6_filter_head(sockptr_t optval, unsigned int optlen, struct net6_filter_head *head)
{
	struct __kernel_sockaddr_storage group;

	head->list = net6_filter_list();
	if (optlen < head->list)
		return -EINVAL;
	if (in_compat_syscall()) {
		struct compat_group_filter gf32;

		if (copy_from_sockptr(&gf32, optval, head->list))
			return -EFAULT;
		head->ifindex = gf32.gf_interface;
		group = gf32.gf_group;
		head->mode = gf32.gf_fmode;
		head->n = gf32.gf_numsrc;
	} else {
		struct group_filter gf;

		if (copy_from_sockptr(&gf, optval, head->list))
			return -EFAULT;
		head->ifindex = gf.gf_interface;
		group = gf.gf_group;
		head->mode = gf.gf_fmode;
		head->n = gf.gf_numsrc;
	}
	head->family = group.ss_family;
	head->group = ((const struct sockaddr_in6 *)&group)->sin6_addr;
	return 0;
}

/* The sources of an option, each once; ERR_PTR(). */
static struct net6_sk_filter *net6_filter_read(struct sock *sk, sockptr_t optval,
					       const struct net6_filter_head *head)
{
	enum net6_mld_mode mode = head->mode == MCAST_INCLUDE ? NET6_MLD_INCLUDE :
								NET6_MLD_EXCLUDE;
	struct net6_sk_filter *all, *filter;
	unsigned int i, n = 0;

	all = net6_sk_filter_new(sk, mode, head->n);
	if (!all)
		return ERR_PTR(-ENOBUFS);
	for (i = 0; i < head->n; i++) {
		struct sockaddr_in6 sin6;

		if (copy_from_sockptr_offset(&sin6, optval, head->list +
					     i * sizeof(struct __kernel_sockaddr_storage),
					     sizeof(sin6))) {
			net6_sk_filter_free(sk, all);
			return ERR_PTR(-EFAULT);
		}
		all->n = n;
		if (net6_sk_filter_find(all, &sin6.sin6_addr) < 0)
			all->sources[n++] = sin6.sin6_addr;
		all->n = head->n;
	}
	if (n == head->n)
		return all;
	filter = net6_sk_filter_new(sk, mode, n);
	if (filter)
		memcpy(filter->sources, all->sources, n * sizeof(all->sources[0]));
	net6_sk_filter_free(sk, all);
	return filter ?: ERR_PTR(-ENOBUFS);
}

/**
 * net6_set_mcast_filter() - MCAST_MSFILTER: all sources at once
 * @sk: socket, owned
 * @optval: struct group_filter
 * @optlen: its length
 *
 * Context: process. Return: 0 or -errno as Linux.
 */
int net6_set_mcast_filter(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	struct net6_sk_filter *filter;
	struct net6_filter_head head;
	struct net6_sk_group *g;
	int err;

	err = net6_filter_head(optval, optlen, &head);
	if (err)
		return err;
	if (head.n > NET6_MLD_SOURCES_MAX)
		return -ENOBUFS;
	if (optlen < head.list + head.n * sizeof(struct __kernel_sockaddr_storage))
		return -EINVAL;
	if (sk->sk_type == SOCK_STREAM)
		return -EPROTO;
	if (!ipv6_addr_is_multicast(&head.group) ||
	    (head.mode != MCAST_INCLUDE && head.mode != MCAST_EXCLUDE))
		return -EINVAL;
	if (!net6_sk_source_iface(sk, head.ifindex))
		return -ENODEV;
	if (head.mode == MCAST_INCLUDE && !head.n)
		return net6_sk_group_leave(sk, head.ifindex, &head.group);
	g = head.ifindex ? net6_sk_group_find(sk, head.ifindex, &head.group) : NULL;
	if (!g)
		return -EINVAL;
	filter = head.n ? net6_filter_read(sk, optval, &head) : NULL;
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	return net6_sk_filter_replace(sk, g, filter);
}

static int net6_filter_write(char __user *optval, const struct net6_sk_filter *filter,
			     const struct net6_filter_head *head)
{
	u32 mode = filter && filter->mode == NET6_MLD_INCLUDE ? MCAST_INCLUDE : MCAST_EXCLUDE;
	u32 counts[2] = { mode, filter ? filter->n : 0 };
	unsigned int i;

	if (copy_to_user(optval + head->list - sizeof(counts), counts, sizeof(counts)))
		return -EFAULT;
	for (i = 0; i < min(counts[1], head->n); i++) {
		struct __kernel_sockaddr_storage ss = { .ss_family = AF_INET6 };

		((struct sockaddr_in6 *)&ss)->sin6_addr = filter->sources[i];
		if (copy_to_user(optval + head->list + i * sizeof(ss), &ss, sizeof(ss)))
			return -EFAULT;
	}
	return 0;
}

/**
 * net6_get_mcast_filter() - MCAST_MSFILTER
 * @sk: socket, not owned
 * @optval: struct group_filter that names interface and group and the room for sources
 * @optlen: its length; becomes the answer's
 * @len: length given
 *
 * Context: process; takes the socket lock. Return: 0 or -errno as Linux.
 */
int net6_get_mcast_filter(struct sock *sk, char __user *optval, int __user *optlen, int len)
{
	const struct net6_sk_filter *filter;
	struct net6_filter_head head;
	struct net6_sk_group *g;
	int err;

	if (len < 0)
		return -EINVAL;
	err = net6_filter_head(USER_SOCKPTR(optval), len, &head);
	if (err)
		return err;
	if (head.family != AF_INET6)
		return -EADDRNOTAVAIL;
	if (!ipv6_addr_is_multicast(&head.group))
		return -EINVAL;
	if (sk->sk_type == SOCK_STREAM)
		return -EADDRNOTAVAIL;

	lock_sock(sk);
	g = head.ifindex ? net6_sk_group_find(sk, head.ifindex, &head.group) : NULL;
	err = -EADDRNOTAVAIL;
	if (g) {
		filter = net6_sk_group_filter(sk, g);
		head.n = min_t(size_t, head.n, (len - head.list) /
					       sizeof(struct __kernel_sockaddr_storage));
		err = net6_filter_write(optval, filter, &head);
		head.n = min(head.n, filter ? filter->n : 0);
	}
	release_sock(sk);
	if (err)
		return err;
	return put_user((int)(head.list + head.n * sizeof(struct __kernel_sockaddr_storage)),
			optlen);
}
