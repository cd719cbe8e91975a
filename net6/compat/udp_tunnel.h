/* SPDX-License-Identifier: GPL-2.0 */
/* udp_sock.encap_err_rcv is told of an ICMP error where the UDP header is until 6.2, and where
 * its payload is (and more) from 6.3 on. Ends when 6.1 is no longer supported.
 */
#ifndef _NET6_COMPAT_UDP_TUNNEL_H
#define _NET6_COMPAT_UDP_TUNNEL_H

#include <linux/udp.h>
#include <linux/version.h>
#include <net/udp_tunnel.h>

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

#endif /* _NET6_COMPAT_UDP_TUNNEL_H */
