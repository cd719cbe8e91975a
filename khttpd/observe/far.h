/* SPDX-License-Identifier: GPL-2.0 */
/* Who is at the other end of a connection. */
#ifndef _KHTTPD_FAR_H
#define _KHTTPD_FAR_H

#include <net/ipv6.h>
#include <net/sock.h>

/* An IPv4 address is mapped into one of IPv6, RFC 4291 section 2.5.5.2. Context: any. */
static inline void khttpd_far(const struct sock *sk, struct in6_addr *address)
{
	if (sk->sk_family == AF_INET)
		ipv6_addr_set_v4mapped(sk->sk_daddr, address);
	else
		*address = sk->sk_v6_daddr;
}

#endif /* _KHTTPD_FAR_H */
