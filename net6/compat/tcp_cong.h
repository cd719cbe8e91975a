/* SPDX-License-Identifier: GPL-2.0 */
/* Congestion control callbacks whose arguments changed. Ends with support for
 * kernels before 6.10.
 */
#ifndef _NET6_COMPAT_TCP_CONG_H
#define _NET6_COMPAT_TCP_CONG_H

#include <linux/version.h>
#include <net/tcp.h>

static inline void net6_compat_cong_control(const struct tcp_congestion_ops *ca, struct sock *sk,
					    u32 ack, int flag, const struct rate_sample *rs)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	ca->cong_control(sk, ack, flag, rs);
#else
	ca->cong_control(sk, rs);
#endif
}

#endif /* _NET6_COMPAT_TCP_CONG_H */
