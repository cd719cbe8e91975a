/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that include a file of a module with the kernel's own headers: sockets and namespaces
 * to fill its tables with. stubs.c and user.c have the kernel's functions.
 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

#include <net/inet_sock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "user.h"

/* The range of local ports. */
#define UNIT_PORT_LOW	32768
#define UNIT_PORT_HIGH	32775

void *calloc(size_t n, size_t size);
void free(void *p);

extern unsigned int net6_net_id;

/* A namespace with room for what sockets count, and for @part of net6's. */
static inline void unit_net_init(struct net *net, struct prot_inuse *inuse, void *part, u32 mix)
{
	struct net_generic *gen = calloc(net6_net_id + 1, sizeof(void *));

	gen->ptr[net6_net_id] = part;
	rcu_assign_pointer(net->gen, gen);
	net->core.prot_inuse = (void __percpu *)inuse;
	net->hash_mix = mix;
	net->ipv4.sysctl_local_reserved_ports = calloc(1, 65536 / 8);
}

/* fd00::A:B, or :: for 0. */
static inline struct in6_addr unit_addr(u32 number)
{
	struct in6_addr addr = { };

	if (number) {
		addr.s6_addr[0] = 0xfd;
		addr.s6_addr32[3] = htonl(number);
	}
	return addr;
}

#endif
