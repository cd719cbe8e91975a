/* SPDX-License-Identifier: GPL-2.0 */
/* Address hooks of cgroup BPF programs, which take the address length from 6.7 on.
 * Ends when 6.1 is no longer supported.
 */
#ifndef _NET6_COMPAT_BPF_CGROUP_H
#define _NET6_COMPAT_BPF_CGROUP_H

#include <linux/bpf-cgroup.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define net6_bpf_bind(sk, addr, len, flags) \
	BPF_CGROUP_RUN_PROG_INET_BIND_LOCK(sk, addr, CGROUP_INET6_BIND, flags)
#define net6_bpf_connect(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET6_CONNECT_LOCK(sk, addr)
#define net6_bpf_connect_owned(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET6_CONNECT(sk, addr)
#define net6_bpf_getname(sk, addr, len, type) \
	BPF_CGROUP_RUN_SA_PROG(sk, addr, type)
#define net6_bpf_udp_sendmsg(sk, addr, len, saddr) \
	BPF_CGROUP_RUN_PROG_UDP6_SENDMSG_LOCK(sk, addr, saddr)
#define net6_bpf_udp_recvmsg(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_UDP6_RECVMSG_LOCK(sk, addr)
#else
#define net6_bpf_bind(sk, addr, len, flags) \
	BPF_CGROUP_RUN_PROG_INET_BIND_LOCK(sk, addr, len, CGROUP_INET6_BIND, flags)
#define net6_bpf_connect(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET6_CONNECT_LOCK(sk, addr, len)
#define net6_bpf_connect_owned(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_INET6_CONNECT(sk, addr, len)
#define net6_bpf_getname(sk, addr, len, type) \
	BPF_CGROUP_RUN_SA_PROG(sk, addr, len, type)
#define net6_bpf_udp_sendmsg(sk, addr, len, saddr) \
	BPF_CGROUP_RUN_PROG_UDP6_SENDMSG_LOCK(sk, addr, len, saddr)
#define net6_bpf_udp_recvmsg(sk, addr, len) \
	BPF_CGROUP_RUN_PROG_UDP6_RECVMSG_LOCK(sk, addr, len)
#endif

#endif /* _NET6_COMPAT_BPF_CGROUP_H */
