/* SPDX-License-Identifier: GPL-2.0 */
/* udp_sock.encap_err_rcv is told of an ICMP error where the UDP header is until 6.2, and where
 * its payload is (and more) from 6.3 on. That encapsulation is enabled is a bit since 6.6, which
 * stable 6.1 has got as well. Ends with the last kernel below 7.1.
 */
#ifndef _NET6_COMPAT_UDP_TUNNEL_H
#define _NET6_COMPAT_UDP_TUNNEL_H

#include <linux/udp.h>
#include <linux/version.h>
#include <net/udp_tunnel.h>

#include "ipv6_stubs.h"

/* Is there a tunnel's socket anywhere? From 7.1 on there is none of ours, and the key is not
 * exported.
 */
static __always_inline bool net6_compat_encap_needed(void)
{
#ifdef NET6_COMPAT_HAS_STUBS
	return static_branch_unlikely(&udp_encap_needed_key);
#else
	return false;
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
/* The last parameters, and from them the offset of the UDP header from skb->data. */
#define NET6_COMPAT_ENCAP_ERR_PARAMS	unsigned int net6_offset
#define NET6_COMPAT_ENCAP_ERR_OFFSET(skb) net6_offset
#else
#define NET6_COMPAT_ENCAP_ERR_PARAMS	int net6_err, __be16 net6_port, u32 net6_info, \
					u8 *net6_payload
#define NET6_COMPAT_ENCAP_ERR_OFFSET(skb) \
	((unsigned int)(net6_payload - sizeof(struct udphdr) - (skb)->data))
#endif

/* Tell a tunnel of an ICMPv6 error. @err: (positive) errno; @info: host byte order; @offset: of the
 * UDP header from skb->data.
 */
static inline void net6_compat_encap_err(struct sock *sk, struct sk_buff *skb, int err,
					 __be16 port, u32 info, unsigned int offset)
{
	struct udp_sock *up = udp_sk(sk);

	if (!up->encap_err_rcv)
		return;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	up->encap_err_rcv(sk, skb, offset);
#else
	up->encap_err_rcv(sk, skb, err, port, info,
			  skb->data + offset + sizeof(struct udphdr));
#endif
}

/* Has udp_tunnel_encap_enable() been called? */
static inline bool net6_compat_encap_enabled(const struct sock *sk)
{
#ifdef udp_test_bit
	return udp_test_bit(ENCAP_ENABLED, sk);
#else
	return udp_sk(sk)->encap_enabled;
#endif
}

#endif /* _NET6_COMPAT_UDP_TUNNEL_H */
