// SPDX-License-Identifier: GPL-2.0
/* Socket calls about the sockets themselves: made, named, connected, polled, handed on, closed.
 * The table of descriptors has no lock: threads race for them on purpose.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "fuzz.h"

static volatile int slots[FDS] = { [0 ... FDS - 1] = -1 };

int fd_any(void)
{
	return one_in(200) ? value() % 256 : slots[rnd(FDS)];
}

int fd_put(int fd)
{
	unsigned int at = rnd(FDS);
	int old;

	if (fd < 0)
		return fd;
	old = __atomic_exchange_n(&slots[at], fd, __ATOMIC_SEQ_CST);
	if (old >= 0)
		close(old);
	return fd;
}

int message_flags(bool send)
{
	static const int sending[] = {
		MSG_OOB, MSG_DONTROUTE, MSG_EOR, MSG_CONFIRM, MSG_MORE, MSG_PROXY, MSG_FASTOPEN,
		MSG_ZEROCOPY, 0x10 /* MSG_PROBE */, 0x8000, 0x20000, 0x10000,
	};
	static const int receiving[] = {
		MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, MSG_ERRQUEUE, MSG_CMSG_CLOEXEC,
		MSG_WAITFORONE, MSG_CTRUNC,
	};
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL;

	if (one_in(30))
		flags &= ~MSG_DONTWAIT;
	while (one_in(2))
		flags |= send ? PICK(sending) : PICK(receiving);
	return one_in(100) ? (int)rnd64() : flags;
}

static int make(int type, int protocol)
{
	int nonblock = one_in(20) ? 0 : SOCK_NONBLOCK;

	return socket(family, type | SOCK_CLOEXEC | nonblock, protocol);
}

static void do_socket(void)
{
	static const int protocols[] = { 6, 17, 41, 43, 44, 58, 58, 59, 60, 89, 255, 253, 136 };

	switch (rnd(10)) {
	case 0: case 1: case 2:
		fd_put(make(SOCK_STREAM, 0));
		break;
	case 3: case 4: case 5:
		fd_put(make(SOCK_DGRAM, 0));
		break;
	case 6:
		fd_put(make(SOCK_DGRAM, IPPROTO_ICMPV6));
		break;
	case 7: case 8:
		fd_put(make(SOCK_RAW, PICK(protocols)));
		break;
	default:
		fd_put(make(rnd(11), one_in(2) ? 0 : rnd(300)));
	}
}

static void local(struct sockaddr_in6 *to, int port)
{
	memset(to, 0, sizeof(*to));
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	to->sin6_addr = in6addr_loopback;
	if (one_in(5))		/* IPv4 */
		memcpy(&to->sin6_addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
}

/* A connection of this host with itself, not shared yet. */
bool connection(int pair[2])
{
	struct sockaddr_in6 to;
	socklen_t len = sizeof(to);
	int s = make(SOCK_STREAM, 0);
	struct pollfd p = { .fd = s, .events = POLLIN };

	local(&to, 0);
	pair[0] = make(SOCK_STREAM, 0);
	pair[1] = -1;
	if (!bind(s, (void *)&to, len) && !listen(s, 4) && !getsockname(s, (void *)&to, &len)) {
		connect(pair[0], (void *)&to, len);
		if (poll(&p, 1, 200) > 0)
			pair[1] = accept4(s, NULL, NULL, SOCK_NONBLOCK);
	}
	close(s);
	if (pair[1] < 0)
		close(pair[0]);
	return pair[1] >= 0;
}

/* A connection of this host with itself: both ends become shared. */
static void do_pair(void)
{
	struct sockaddr_in6 to;
	socklen_t len = sizeof(to);
	int s, c;

	s = make(SOCK_STREAM, 0);
	local(&to, 0);
	c = make(SOCK_STREAM, 0);
	if (!bind(s, (void *)&to, len) && !listen(s, 4) && !getsockname(s, (void *)&to, &len)) {
		if (one_in(4)) {
			int one = 1;

			setsockopt(s, IPPROTO_TCP, 23 /* TCP_FASTOPEN */, &one, sizeof(one));
			sendto(c, area(), 100, MSG_FASTOPEN | MSG_DONTWAIT, (void *)&to, len);
		} else {
			connect(c, (void *)&to, len);
		}
		for (int i = 0; i < 3; i++) {
			struct pollfd p = { .fd = s, .events = POLLIN };

			if (poll(&p, 1, 100) <= 0)
				break;
			fd_put(accept4(s, NULL, NULL, SOCK_NONBLOCK));
			if (!one_in(3))
				break;
		}
	}
	fd_put(c);
	fd_put(s);
}

/* Two datagram sockets that are connected to each other. */
static void do_pair_dgram(void)
{
	struct sockaddr_in6 to[2];
	socklen_t len = sizeof(to[0]);
	int fd[2];

	for (int i = 0; i < 2; i++) {
		fd[i] = make(SOCK_DGRAM, 0);
		local(&to[i], 0);
		bind(fd[i], (void *)&to[i], len);
		getsockname(fd[i], (void *)&to[i], &len);
	}
	connect(fd[0], (void *)&to[1], len);
	connect(fd[1], (void *)&to[0], len);
	fd_put(fd[0]);
	fd_put(fd[1]);
}

/* A connection to the peer behind the tap device (packet.c). */
static void do_remote(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6 };
	int fd = make(one_in(4) ? SOCK_DGRAM : SOCK_STREAM, 0);

	memcpy(&to.sin6_addr, tap_address, 16);
	to.sin6_addr.s6_addr[15] = 2 + rnd(3);
	if (one_in(4))		/* behind a router that is */
		to.sin6_addr.s6_addr[5] = one_in(2) ? 0x77 : rnd(3);
	else if (one_in(8))	/* or through a tunnel: configured, or automatic */
		memcpy(&to.sin6_addr, one_in(2) ? "\x20\1\xd\xb8\0\5\0\0\0\0\0\0\0\0\0\2" :
		       "\0\0\0\0\0\0\0\0\0\0\0\0\xc0\0\2\2", 16);
	to.sin6_port = htons(PORT_BASE + rnd(PORTS));
	if (one_in(5))
		sendto(fd, area(), rnd(1400), MSG_FASTOPEN | MSG_DONTWAIT, (void *)&to, sizeof(to));
	connect(fd, (void *)&to, sizeof(to));
	fd_put(fd);
}

static void do_server(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6 };
	int fd = make(one_in(4) ? SOCK_DGRAM : SOCK_STREAM, 0), one = 1;

	to.sin6_port = htons(PORT_BASE + rnd(PORTS));
	setsockopt(fd, SOL_SOCKET, one_in(2) ? SO_REUSEADDR : SO_REUSEPORT, &one, sizeof(one));
	bind(fd, (void *)&to, sizeof(to));
	listen(fd, rnd(3) ? 8 : value());
	fd_put(fd);
}

/* More connections than the listener takes, gone before anybody accepts them, or some. */
static void do_flood(void)
{
	struct sockaddr_in6 to;
	socklen_t len = sizeof(to);
	int s = make(SOCK_STREAM, 0), c;

	local(&to, 0);
	bind(s, (void *)&to, len);
	getsockname(s, (void *)&to, &len);
	if (one_in(3))
		setsockopt(s, IPPROTO_TCP, 9 /* TCP_DEFER_ACCEPT */, &(int){ 2 }, 4);
	listen(s, rnd(3));
	for (unsigned int i = 4 + rnd(12); i; i--) {
		c = make(SOCK_STREAM, 0);
		connect(c, (void *)&to, sizeof(to));
		if (one_in(4))
			fd_put(c);
		else
			close(c);
	}
	if (one_in(2))
		fd_put(accept4(s, NULL, NULL, SOCK_NONBLOCK));
	fd_put(s);
}

static void do_bind(void)
{
	struct sockaddr_storage to;
	socklen_t len = name(&to);

	bind(fd_any(), (void *)&to, len);
}

static void do_connect(void)
{
	struct sockaddr_storage to;
	socklen_t len = name(&to);

	connect(fd_any(), (void *)&to, len);
}

static void do_listen(void)
{
	listen(fd_any(), value());
}

static void do_accept(void)
{
	struct sockaddr_storage to;
	socklen_t len = one_in(10) ? (socklen_t)value() : sizeof(to);
	int flags = one_in(10) ? 0 : SOCK_NONBLOCK;

	if (len > sizeof(to))
		fd_put(accept4(fd_any(), memory(128), &len, flags));
	else
		fd_put(accept4(fd_any(), one_in(3) ? NULL : (void *)&to, &len, flags));
}

static void do_shutdown(void)
{
	shutdown(fd_any(), one_in(20) ? value() : (int)rnd(3));
}

static void do_close(void)
{
	unsigned int at = rnd(FDS);
	int fd = one_in(3) ? slots[at] : __atomic_exchange_n(&slots[at], -1, __ATOMIC_SEQ_CST);

	/* One that stays in the table is closed while others use it, and its number comes back. */
	if (fd > 2)
		close(fd);
}

static void do_dup(void)
{
	int fd = fd_any();

	if (one_in(3))
		dup3(fd, slots[rnd(FDS)], O_CLOEXEC);
	else
		fd_put(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

static void do_names(void)
{
	struct sockaddr_storage to;
	socklen_t len = rnd(sizeof(to) + 1);

	if (one_in(2))
		getsockname(fd_any(), (void *)&to, &len);
	else
		getpeername(fd_any(), (void *)&to, &len);
}

static void do_poll(void)
{
	struct pollfd p[4];

	for (size_t i = 0; i < COUNT(p); i++) {
		p[i].fd = fd_any();
		p[i].events = rnd64();
	}
	poll(p, COUNT(p), rnd(5));
}

/* One epoll descriptor for each process; sockets come, change and go in it. */
static void do_epoll(void)
{
	static volatile int shared = -1;
	struct epoll_event e = { .events = rnd64() }, out[8];
	static const int calls[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };

	if (shared < 0)
		shared = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(shared, PICK(calls), fd_any(), &e);
	if (one_in(3))
		epoll_wait(shared, out, COUNT(out), rnd(3));
}

static void do_ioctl(void)
{
	static const int calls[] = {
		0x541b /* FIONREAD */, 0x5411 /* SIOCOUTQ */, 0x894b /* SIOCOUTQNSD */,
		0x8905 /* SIOCATMARK */, 0x8906, 0x8907, 0x8901, 0x8902, 0x8903, 0x8904, 0x5421,
		0x890b, 0x890c, 0x8916, 0x8936, 0x8912, 0x8913, 0x8933, 0x89e0, 0x89e1, 0x89f0,
		0x89e2,
	};
	int cmd = one_in(20) ? 0x8900 + (int)rnd(256) : PICK(calls);
	void *to = memory(128);

	/* Blocking sockets only block a thread until its watchdog comes. */
	if (cmd == 0x5421 && !one_in(20))
		return;
	ioctl(fd_any(), cmd, to);
}

/* Through a UNIX socket, and back or not: in flight when the pair is closed. */
static void do_pass(void)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { .head = { CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	char data = 'x';
	struct iovec iov = { &data, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int pair[2], *at = (int *)CMSG_DATA(&control.head);

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair))
		return;
	at[0] = fd_any();
	at[1] = fd_any();
	if (sendmsg(pair[0], &msg, MSG_DONTWAIT) == 1 && one_in(2) &&
	    recvmsg(pair[1], &msg, MSG_DONTWAIT) == 1 && msg.msg_controllen >= CMSG_LEN(4)) {
		fd_put(at[0]);
		if (control.head.cmsg_len >= CMSG_LEN(8))
			fd_put(at[1]);
	}
	close(pair[0]);
	close(pair[1]);
}

/* Families that put a socket of ours below their own. */
static void do_families(void)
{
	struct { int fd; } kcm = { fd_any() };
	struct sockaddr_storage to;
	int fd;

	switch (rnd(6)) {
	case 0:		/* SIOCKCMCLONE, SIOCKCMATTACH */
		fd = socket(41 /* AF_KCM */, one_in(2) ? SOCK_SEQPACKET : SOCK_DGRAM, 0);
		ioctl(fd, 0x89e0, &kcm);
		break;
	case 1:
		fd = socket(33 /* AF_RXRPC */, SOCK_DGRAM, AF_INET6);
		memset(&to, 0, sizeof(to));
		name((void *)((char *)&to + 8));
		to.ss_family = 33;
		((uint16_t *)&to)[2] = SOCK_DGRAM;
		((uint16_t *)&to)[3] = sizeof(struct sockaddr_in6);
		bind(fd, (void *)&to, 8 + sizeof(struct sockaddr_in6));
		break;
	case 2:		/* PX_PROTO_OL2TP: a socket of the program's own becomes a tunnel */
		fd = socket(24 /* AF_PPPOX */, SOCK_DGRAM, 1);
		memset(&to, 0, sizeof(to));
		to.ss_family = 24;
		fill((char *)&to + 2, 60);
		memcpy((char *)&to + 6, &(int){ 0 }, 4);
		memcpy((char *)&to + 10, &(int){ fd_any() }, 4);
		connect(fd, (void *)&to, 2 + rnd(60));
		break;
	case 3:		/* TCP that is something else on top */
		fd = one_in(2) ? socket(43 /* AF_SMC */, SOCK_STREAM | SOCK_NONBLOCK, 1) :
				 socket(family, SOCK_STREAM | SOCK_NONBLOCK, 262 /* MPTCP */);
		fd_put(fd);
		return;
	case 4:		/* whose connections the kernel makes itself */
		fd = socket(21 /* AF_RDS */, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
		local((void *)&to, PORT_BASE + rnd(PORTS));
		inet_pton(AF_INET6, one_in(2) ? "2001:db8:2::1" : "2001:db8:1::1",
			  &((struct sockaddr_in6 *)&to)->sin6_addr);
		bind(fd, (void *)&to, sizeof(struct sockaddr_in6));
		inet_pton(AF_INET6, one_in(2) ? "2001:db8:2::2" : "2001:db8:1::2",
			  &((struct sockaddr_in6 *)&to)->sin6_addr);
		sendto(fd, area(), rnd(4000), MSG_DONTWAIT, (void *)&to,
		       sizeof(struct sockaddr_in6));
		break;
	default:
		fd = socket(family, SOCK_DGRAM, 115 /* L2TP */);
	}
	if (fd >= 0)
		close(fd);
}

const struct op socket_ops[] = {
	{ "socket", 60, ALL, do_socket },
	{ "pair", 40, ALL, do_pair },
	{ "pair_dgram", 15, ALL, do_pair_dgram },
	{ "remote", 30, ALL, do_remote },
	{ "server", 20, ALL, do_server },
	{ "flood", 4, ALL, do_flood },
	{ "bind", 20, ALL, do_bind },
	{ "connect", 30, ALL, do_connect },
	{ "listen", 10, ALL, do_listen },
	{ "accept", 25, ALL, do_accept },
	{ "shutdown", 12, ALL, do_shutdown },
	{ "close", 40, ALL, do_close },
	{ "dup", 10, ALL, do_dup },
	{ "names", 8, ALL, do_names },
	{ "poll", 10, ALL, do_poll },
	{ "epoll", 10, ALL, do_epoll },
	{ "ioctl", 15, ALL, do_ioctl },
	{ "pass", 6, ALL, do_pass },
	{ "families", 4, ALL, do_families },
	{ },
};
