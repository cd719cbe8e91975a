/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between kernels around TCP sockets. Oldest first; each test names the
 * release that made it necessary.
 */
#ifndef _NET6_COMPAT_TCP_H
#define _NET6_COMPAT_TCP_H

#include <linux/version.h>
#include <net/ip.h>
#include <net/tcp.h>

/* inet_sk_get_local_port_range() honours IP_LOCAL_PORT_RANGE since 6.3. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void net6_compat_port_range(const struct sock *sk, int *low, int *high)
{
	inet_get_local_port_range(sock_net(sk), low, high);
}
#else
static inline void net6_compat_port_range(const struct sock *sk, int *low, int *high)
{
	inet_sk_get_local_port_range(sk, low, high);
}
#endif

/* The millisecond clock of RFC 7323 timestamps; tcp_time_stamp_raw() left in 6.7. */
static inline u32 net6_compat_tcp_ts(void)
{
	return div_u64(tcp_clock_ns(), NSEC_PER_MSEC);
}

/* struct proto's ioctl got a kernel pointer in 6.5. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define net6_compat_ioctl_arg	unsigned long
static inline int net6_compat_ioctl_answer(net6_compat_ioctl_arg arg, int answer)
{
	return put_user(answer, (int __user *)arg);
}
#else
#define net6_compat_ioctl_arg	int *
static inline int net6_compat_ioctl_answer(net6_compat_ioctl_arg arg, int answer)
{
	*arg = answer;
	return 0;
}
#endif

/* sk_clone_lock() became sk_clone() in 7.0. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define net6_compat_sk_clone(sk, gfp)	sk_clone_lock(sk, gfp)
#else
#define net6_compat_sk_clone(sk, gfp)	sk_clone(sk, gfp, true)
#endif

#endif /* _NET6_COMPAT_TCP_H */
