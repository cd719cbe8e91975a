// SPDX-License-Identifier: GPL-2.0
/* Sockets of the family that was asked for, and messages on them. */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "netbench.h"

socklen_t make_addr(struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *a6 = (void *)ss;
	struct sockaddr_in *a4 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (opt.family == AF_INET) {
		a4->sin_family = AF_INET;
		a4->sin_port = htons(opt.port);
		if (strcmp(opt.addr, "::") && inet_pton(AF_INET, opt.addr, &a4->sin_addr) != 1)
			errx(2, "bad IPv4 address %s", opt.addr);
		return sizeof(*a4);
	}
	a6->sin6_family = AF_INET6;
	a6->sin6_port = htons(opt.port);
	if (inet_pton(AF_INET6, opt.addr, &a6->sin6_addr) != 1)
		errx(2, "bad IPv6 address %s", opt.addr);
	return sizeof(*a6);
}

int make_socket(int type)
{
	int one = 1, fd = socket(opt.family, type, 0);

	if (fd < 0)
		err(1, "socket family %d", opt.family);
	if (type == SOCK_STREAM && !opt.nagle)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (opt.buffers) {
		int n = opt.buffers;

		if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)) ||
		    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n)))
			err(1, "buffers of %d bytes", n);
	}
	if (opt.tclass &&
	    (opt.family == AF_INET ?
	     setsockopt(fd, IPPROTO_IP, IP_TOS, &opt.tclass, sizeof(int)) :
	     setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &opt.tclass, sizeof(int))))
		err(1, "traffic class %d", opt.tclass);
	return fd;
}

int bound_socket(int type)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss);
	int one = 1, fd = make_socket(type);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&ss, len))
		err(1, "bind");
	if (type == SOCK_STREAM && listen(fd, 128))
		err(1, "listen");
	return fd;
}

int connected_socket(int type)
{
	struct timeval patience = { .tv_sec = 10 };
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss);
	int fd = make_socket(type);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&ss, len))
		err(1, "connect");
	return fd;
}

/* Reads exactly size bytes; 0 on a clean end before the first of them. */
int read_all(int fd, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = read(fd, buf + got, size - got);

		if (n < 0)
			err(1, "read");
		if (n == 0) {
			if (got)
				errx(1, "connection ended in the middle of a message");
			return 0;
		}
		got += n;
	}
	return 1;
}

void write_all(int fd, size_t size)
{
	size_t put = 0;

	while (put < size) {
		ssize_t n = write(fd, buf + put, size - put);

		if (n < 0)
			err(1, "write");
		put += n;
	}
}
