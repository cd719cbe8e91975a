// SPDX-License-Identifier: GPL-2.0
/* Short scenes: calls that belong together, in an order that single calls at random seldom meet. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/tcp.h>
#include <poll.h>

#include "fuzz.h"

static void peer(struct sockaddr_in6 *to)
{
	memset(to, 0, sizeof(*to));
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(PORT_BASE + rnd(PORTS));
	memcpy(&to->sin6_addr, tap_address, 16);
	to->sin6_addr.s6_addr[15] = 2 + rnd(3);
}

static int on(int fd, int level, int option, int number)
{
	return setsockopt(fd, level, option, &number, sizeof(number));
}

/* A stream of some length to the peer, as fast as it takes it, and what comes back. */
static void do_bulk(void)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd pf = { .fd = fd, .events = POLLOUT | POLLIN };
	struct sockaddr_in6 to;

	peer(&to);
	if (one_in(3))
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	if (one_in(6))
		on(fd, SOL_SOCKET, SO_MAX_PACING_RATE, 20000 + rnd(500000));
	if (one_in(8))
		on(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, rnd(6));
	connect(fd, (void *)&to, sizeof(to));
	for (unsigned int n = 6 + rnd(14); n; n--) {
		if (poll(&pf, 1, 60) > 0 && pf.revents & POLLOUT)
			send(fd, area(), 2000 + rnd(30000), MSG_NOSIGNAL | MSG_DONTWAIT);
		recv(fd, area(), rnd(9000), MSG_DONTWAIT);
	}
	if (one_in(2))
		shutdown(fd, SHUT_WR);
	fd_put(fd);
}

/* Echo, and its answer, over a ping or a raw socket. */
static void do_ping(void)
{
	bool raw = one_in(3);
	int fd = socket(family, (raw ? SOCK_RAW : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC,
			IPPROTO_ICMPV6);
	struct icmp6_hdr echo[20] = { { .icmp6_type = 128, .icmp6_data32 = { 7 } } };
	struct pollfd pf = { .fd = fd, .events = POLLIN };
	struct sockaddr_in6 to;

	peer(&to);
	if (one_in(2))
		to.sin6_addr = in6addr_loopback;
	to.sin6_port = 0;
	on(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
	if (one_in(2))
		connect(fd, (void *)&to, sizeof(to));
	for (int i = 0; i < 3; i++) {
		sendto(fd, echo, 8 + rnd(140), 0, one_in(2) ? (void *)&to : NULL, sizeof(to));
		if (poll(&pf, 1, 50) > 0)
			recv(fd, area(), 2000, one_in(3) ? MSG_PEEK : 0);
	}
	if (one_in(3)) {
		to.sin6_family = AF_UNSPEC;
		connect(fd, (void *)&to, sizeof(to));
	}
	fd_put(fd);
}

static void source(struct group_source_req *r, unsigned int index)
{
	struct sockaddr_in6 *group = (void *)&r->gsr_group, *from = (void *)&r->gsr_source;

	memset(r, 0, sizeof(*r));
	r->gsr_interface = index;
	group->sin6_family = AF_INET6;
	inet_pton(AF_INET6, "ff05::77", &group->sin6_addr);
	peer(from);
}

/* One socket's membership in a group, by all the calls there are, and datagrams to the group. */
static void do_group(void)
{
	static const int calls[] = { MCAST_JOIN_SOURCE_GROUP, MCAST_LEAVE_SOURCE_GROUP,
		MCAST_BLOCK_SOURCE, MCAST_UNBLOCK_SOURCE };
	static const char *const devices[] = { "t0", "t0", "v0", "lo" };
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	unsigned int index = if_nametoindex(PICK(devices));
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(PORT_BASE) };
	union {
		struct group_source_req source;
		struct group_req group;
		struct group_filter filter;
		uint8_t room[GROUP_FILTER_SIZE(4)];
	} u;
	socklen_t len = sizeof(u);

	on(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	bind(fd, (void *)&to, sizeof(to));
	source(&u.source, index);
	if (one_in(2))
		setsockopt(fd, IPPROTO_IPV6, MCAST_JOIN_GROUP, &u, sizeof(u.group));
	for (unsigned int n = rnd(6); n; n--) {
		source(&u.source, index);
		setsockopt(fd, IPPROTO_IPV6, PICK(calls), &u, sizeof(u.source));
	}
	if (one_in(2)) {
		u.filter.gf_fmode = rnd(2);
		u.filter.gf_numsrc = rnd(5);
		for (int i = 0; i < 4; i++)
			peer((void *)&u.filter.gf_slist[i]);
		setsockopt(fd, IPPROTO_IPV6, MCAST_MSFILTER, &u,
			   GROUP_FILTER_SIZE(u.filter.gf_numsrc));
		getsockopt(fd, IPPROTO_IPV6, MCAST_MSFILTER, &u, &len);
	}
	inet_pton(AF_INET6, "ff05::77", &to.sin6_addr);
	to.sin6_scope_id = index;
	sendto(fd, area(), rnd(500), 0, (void *)&to, sizeof(to));
	recv(fd, area(), 500, 0);
	if (one_in(3)) {
		source(&u.source, index);
		setsockopt(fd, IPPROTO_IPV6, MCAST_LEAVE_GROUP, &u, sizeof(u.group));
	}
	fd_put(fd);
}

/* An anycast address, of a host or of a router. */
static void do_anycast(void)
{
	static const char *const names[] = { "2001:db8:1::99", "2001:db8:1::", "2001:db8:1::7" };
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct ipv6_mreq r = { .ipv6mr_interface = one_in(4) ? 0 : if_nametoindex("t0") };

	inet_pton(AF_INET6, PICK(names), &r.ipv6mr_multiaddr);
	setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_ANYCAST, &r, sizeof(r));
	if (one_in(2))
		setsockopt(fd, IPPROTO_IPV6, IPV6_LEAVE_ANYCAST, &r, sizeof(r));
	fd_put(fd);
}

/* Fast Open by the option, and its keys. */
static void do_fastopen(void)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 to;
	uint8_t key[32];
	socklen_t len = sizeof(key);

	if (one_in(2)) {
		peer(&to);
		on(fd, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, 1);
		connect(fd, (void *)&to, sizeof(to));
		send(fd, area(), rnd(3000), MSG_DONTWAIT | MSG_NOSIGNAL);
	} else {
		memset(&to, 0, sizeof(to));
		to.sin6_family = AF_INET6;
		to.sin6_port = htons(PORT_BASE + rnd(PORTS));
		on(fd, SOL_SOCKET, SO_REUSEPORT, 1);
		bind(fd, (void *)&to, sizeof(to));
		fill(key, sizeof(key));
		setsockopt(fd, IPPROTO_TCP, 33 /* TCP_FASTOPEN_KEY */, key, one_in(2) ? 16 : 32);
		getsockopt(fd, IPPROTO_TCP, 33, key, &len);
		on(fd, IPPROTO_TCP, TCP_FASTOPEN, 1 + rnd(8));
		listen(fd, 8);
	}
	fd_put(fd);
}

/* IPv4 to the peer through a socket of IPv6: its errors, and what the path takes. */
static void do_mapped(void)
{
	int fd = socket(family, (one_in(3) ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK |
			SOCK_CLOEXEC, 0), mtu;
	struct sockaddr_in6 to = { .sin6_family = AF_INET6,
		.sin6_port = htons(PORT_BASE + rnd(PORTS)) };
	socklen_t len = sizeof(mtu);

	inet_pton(AF_INET6, one_in(4) ? "::ffff:127.0.0.1" : "::ffff:192.0.2.2", &to.sin6_addr);
	on(fd, IPPROTO_IPV6, IPV6_RECVERR, one_in(2));
	on(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, rnd(4));
	if (!one_in(3))
		connect(fd, (void *)&to, sizeof(to));
	for (int i = 0; i < 3; i++)
		sendto(fd, area(), rnd(3000), MSG_DONTWAIT | MSG_NOSIGNAL, (void *)&to,
		       one_in(2) ? sizeof(to) : 0);
	getsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);
	if (one_in(3)) {
		to.sin6_family = AF_UNSPEC;
		connect(fd, (void *)&to, sizeof(to));
	}
	fd_put(fd);
}

const struct op scene_ops[] = {
	{ "bulk", 15, ALL, do_bulk },
	{ "ping", 8, ALL, do_ping },
	{ "group", 10, ALL, do_group },
	{ "anycast", 3, ALL, do_anycast },
	{ "fastopen", 6, ALL, do_fastopen },
	{ "mapped", 6, ALL, do_mapped },
	{ },
};
