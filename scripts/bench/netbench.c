// SPDX-License-Identifier: GPL-2.0
/* The smallest programs that exercise a stack, for instruction-counted comparison:
 * round trips, connect-exchange-close, socket creation and bulk sending over any
 * family number. Blocking calls only, one connection at a time.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct {
	int family;
	const char *addr;
	unsigned short port;
	long count;
	size_t size;
} opt = { AF_INET6, "::", 7000, 1000, 1 };

static char buf[1 << 20];

static void usage(void)
{
	fputs("usage: netbench [-f FAMILY] [-a ADDR] [-p PORT] [-n COUNT] [-s BYTES] MODE\n"
	      "  servers: serve-tcp (echo of messages of BYTES), serve-udp (echo), serve-sink\n"
	      "  clients: tcp-rr udp-rr crr connect socket stream\n"
	      "  FAMILY: 2 native IPv4, 10 native IPv6, 19 net6\n"
	      "A client prints: MODE FAMILY BYTES COUNT NANOSECONDS-PER-OPERATION\n", stderr);
	exit(2);
}

static socklen_t make_addr(struct sockaddr_storage *ss)
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

static int make_socket(int type)
{
	int one = 1, fd = socket(opt.family, type, 0);

	if (fd < 0)
		err(1, "socket family %d", opt.family);
	if (type == SOCK_STREAM)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int bound_socket(int type)
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

static int connected_socket(int type)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss);
	int fd = make_socket(type);

	if (connect(fd, (struct sockaddr *)&ss, len))
		err(1, "connect");
	return fd;
}

/* Reads exactly size bytes; 0 on a clean end before the first of them. */
static int read_all(int fd, size_t size)
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

static void write_all(int fd, size_t size)
{
	size_t put = 0;

	while (put < size) {
		ssize_t n = write(fd, buf + put, size - put);

		if (n < 0)
			err(1, "write");
		put += n;
	}
}

static void serve_tcp(int echo)
{
	int fd, lfd = bound_socket(SOCK_STREAM);

	for (;;) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0)
			err(1, "accept");
		if (echo) {
			int one = 1;

			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			while (read_all(fd, opt.size))
				write_all(fd, opt.size);
		} else {
			while (read(fd, buf, sizeof(buf)) > 0)
				;
		}
		close(fd);
	}
}

static void serve_udp(void)
{
	int fd = bound_socket(SOCK_DGRAM);
	struct sockaddr_storage ss;

	for (;;) {
		socklen_t len = sizeof(ss);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&ss, &len);

		if (n < 0)
			err(1, "recvfrom");
		if (sendto(fd, buf, n, 0, (struct sockaddr *)&ss, len) != n)
			err(1, "sendto");
	}
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void round_trips(int fd, long count)
{
	for (long i = 0; i < count; i++) {
		write_all(fd, opt.size);
		if (!read_all(fd, opt.size))
			errx(1, "server went away");
	}
}

static long long run_rr(int type)
{
	int fd = connected_socket(type);
	long long start;

	round_trips(fd, opt.count / 10 + 1);
	start = now();
	round_trips(fd, opt.count);
	start = now() - start;
	close(fd);
	return start;
}

static long long run_connections(int exchange)
{
	long long start = 0;

	for (long i = -opt.count / 10; i < opt.count; i++) {
		int fd;

		if (i == 0)
			start = now();
		fd = connected_socket(SOCK_STREAM);
		if (exchange)
			round_trips(fd, 1);
		close(fd);
	}
	return now() - start;
}

static long long run_socket(void)
{
	long long start = 0;

	for (long i = -opt.count / 10; i < opt.count; i++) {
		int fd;

		if (i == 0)
			start = now();
		fd = socket(opt.family, SOCK_STREAM, 0);
		if (fd < 0)
			err(1, "socket family %d", opt.family);
		close(fd);
	}
	return now() - start;
}

static long long run_stream(void)
{
	int fd = connected_socket(SOCK_STREAM);
	long long start;

	for (long i = 0; i < opt.count / 10 + 1; i++)
		write_all(fd, opt.size);
	start = now();
	for (long i = 0; i < opt.count; i++)
		write_all(fd, opt.size);
	if (shutdown(fd, SHUT_WR) || read(fd, buf, 1) != 0)
		errx(1, "the sink did not take everything");
	start = now() - start;
	close(fd);
	return start;
}

int main(int argc, char **argv)
{
	const char *mode;
	long long ns;
	int c;

	while ((c = getopt(argc, argv, "f:a:p:n:s:")) != -1) {
		switch (c) {
		case 'f':
			opt.family = atoi(optarg);
			break;
		case 'a':
			opt.addr = optarg;
			break;
		case 'p':
			opt.port = atoi(optarg);
			break;
		case 'n':
			opt.count = atol(optarg);
			break;
		case 's':
			opt.size = atol(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || opt.count < 1 || opt.size < 1 || opt.size > sizeof(buf))
		usage();
	mode = argv[optind];

	if (!strcmp(mode, "serve-tcp"))
		serve_tcp(1);
	else if (!strcmp(mode, "serve-sink"))
		serve_tcp(0);
	else if (!strcmp(mode, "serve-udp"))
		serve_udp();

	if (!strcmp(mode, "tcp-rr"))
		ns = run_rr(SOCK_STREAM);
	else if (!strcmp(mode, "udp-rr"))
		ns = run_rr(SOCK_DGRAM);
	else if (!strcmp(mode, "crr"))
		ns = run_connections(1);
	else if (!strcmp(mode, "connect"))
		ns = run_connections(0);
	else if (!strcmp(mode, "socket"))
		ns = run_socket();
	else if (!strcmp(mode, "stream"))
		ns = run_stream();
	else
		usage();
	printf("%s %d %zu %ld %.1f\n", mode, opt.family, opt.size, opt.count,
	       (double)ns / opt.count);
	return 0;
}
