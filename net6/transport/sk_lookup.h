/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of a namespace that are asked before a socket is looked for (BPF_PROG_TYPE_SK_LOOKUP).
 *
 * They may refuse what arrives. The socket that one may choose instead comes out of a map for
 * sockets, and those have none of net6's: that counts as no choice.
 */
#ifndef _NET6_SK_LOOKUP_H
#define _NET6_SK_LOOKUP_H

#include <linux/filter.h>

/* Is there any on this machine? Without one this costs a jump that is not taken. */
static inline bool net6_lookup_asks(void)
{
	return static_branch_unlikely(&bpf_sk_lookup_enabled);
}

static inline bool net6_lookup_refused(struct net *net, u8 protocol, const struct in6_addr *faddr,
				       __be16 fport, const struct in6_addr *laddr, u16 lport,
				       int dif)
{
	struct sock *sk = NULL;

	bpf_sk_lookup_run_v6(net, protocol, faddr, fport, laddr, lport, dif, &sk);
	return IS_ERR(sk);
}

#endif /* _NET6_SK_LOOKUP_H */
