// SPDX-License-Identifier: GPL-2.0
/* The smallest programs that exercise a stack, for instruction-counted comparison:
 * round trips, connect-exchange-close, socket creation and bulk sending over any
 * family number. Blocking calls only, one connection at a time. A reply that does not
 * come within ten seconds is an error.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../mark.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif
#ifndef UDP_GRO
#define UDP_GRO		104
#endif
#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND	78
#endif

static struct {
	int family;
	const char *addr;
	unsigned short port;
	long count;
	size_t size;
	int buffers;
	int tclass;
	int nagle;
	int cpu;
	int header;
	int runs;
	int label;
	const char *host;
	int heads;
	int segment;
	int joined;
	int workers;
} opt = { AF_INET6, "::", 7000, 1000, 1, .runs = 1, .host = "localhost", .heads = 1,
	  .workers = 1 };

#define WARM_UP		8	/* messages of a connection before those that are measured */

static char buf[1 << 20];

static void usage(void)
{
	fputs("usage: netbench [OPTION...] MODE\n"
	      "  -f FAMILY  2 native IPv4, 10 native IPv6, 19 net6 (10)\n"
	      "  -a ADDR -p PORT  the server's (:: 7000)\n"
	      "  -n COUNT -s BYTES  operations and the message's size (1000 1)\n"
	      "  -b BYTES   size of the socket's buffers (the system's)\n"
	      "  -t CLASS   traffic class, or type of service (0)\n"
	      "  -N         leave Nagle's algorithm on\n"
	      "  -c         a second line: idle IDLE-NANOSECONDS-PER-OPERATION\n"
	      "  -r RUNS    repeat, a line for each (1)\n"
	      "  -H         tcp-rr tells a serve-tcp -s 0 the size first\n"
	      "  -g BYTES   datagrams that udp-rest sends are cut into such segments (UDP_SEGMENT)\n"
	      "  -G         serve-udp-rest takes them together (UDP_GRO)\n"
	      "  -w WORKERS processes of serve-tcp that accept from one listener, each on its CPU (1)\n"
	      "  servers: serve-tcp (echo of messages of BYTES), serve-udp (echo), serve-sink,\n"
	      "           serve-udp-rest (a byte when BYTES have come, in whatever datagrams),\n"
	      "           serve-usink (UDP), send-tcp-sink, send-udp-sink\n"
	      "           crowd-tcp, crowd-udp: COUNT idle sockets of the port on as many other\n"
	      "           addresses, then one at the next port: all are there\n"
	      "           crowd-connected: of UDP, of ADDR and the port, connected to as many peers\n"
	      "  -h HOST -m HEADS  http's host, and how many heads it sends in turn (localhost 1)\n"
	      "  clients: http (requests for /BYTES.html) http-each (on connections of their own) tcp-rr udp-rr crr connect socket socket-udp stream udp-stream send-tcp send-udp\n"
	      "           udp-rest (BYTES and a byte back), udp-crr (socket, connect, exchange, close),\n"
	      "           udp-each (exchange with ADDR, ADDR + 1, ... by one socket)\n"
	      "           bind (of TCP, and listen(), on another address of a crowd's)\n"
	      "A client prints: MODE FAMILY BYTES COUNT NANOSECONDS-PER-OPERATION; udp-stream\n"
	      "counts the datagrams that arrived.\n"
	      "netbench -n COUNT shake moves so many packets, of random sizes and in random order,\n"
	      "for the allocator's lists to be as on a machine that has been up for long\n"
	      "For the counting plugin: netbench hook ADDRESS SLOT; with -l LABEL send-tcp and\n"
	      "send-udp write what was counted after each message, crr, connect and sockets at\n"
	      "their end; netbench -l LABEL -n MILLISECONDS sides FROM-TO:WHAT... says whose\n"
	      "work code is (mark.h), and writes what was counted\n", stderr);
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

/* Each of the workers is on a CPU of its own. */
static void share_listener(void)
{
	cpu_set_t cpus;
	int n;

	for (n = opt.workers - 1; n > 0; n--) {
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		if (!child)
			break;
	}
	if (opt.workers < 2)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(n, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "no CPU %d", n);
}

static void serve_tcp(int echo)
{
	int fd, lfd = bound_socket(SOCK_STREAM);
	int told = !opt.size;

	share_listener();
	for (;;) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0)
			err(1, "accept");
		if (echo) {
			int one = 1;

			if (!opt.nagle)
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			if (told) {
				if (!read_all(fd, sizeof(opt.size))) {
					close(fd);
					continue;
				}
				memcpy(&opt.size, buf, sizeof(opt.size));
				if (opt.size < 1 || opt.size > sizeof(buf))
					errx(1, "bad size");
			}
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
		/* Too long for the buffers: the client notices. */
		if (sendto(fd, buf, n, 0, (struct sockaddr *)&ss, len) != n)
			warn("sendto");
	}
}

/* A byte back when so many have come. */
static void serve_udp_rest(void)
{
	int fd = bound_socket(SOCK_DGRAM);
	struct sockaddr_storage ss;
	size_t got = 0;

	if (opt.joined && setsockopt(fd, IPPROTO_UDP, UDP_GRO, &opt.joined, sizeof(int)))
		err(1, "UDP_GRO");
	for (;;) {
		socklen_t len = sizeof(ss);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&ss, &len);

		if (n < 0)
			err(1, "recvfrom");
		got += n;
		if (got < opt.size)
			continue;
		got = 0;
		if (sendto(fd, buf, 1, 0, (struct sockaddr *)&ss, len) != 1)
			err(1, "sendto");
	}
}

/* ---- marks for the counting plugin ---- */

/* Each is a block of its own, so that counts are exact at it. */
#define MARK(name, slot)							\
	static __attribute__((noinline)) void name(void)			\
	{									\
		asm volatile(".byte 0x0f, 0x1f, 0x80; .long %c0"		\
			     : : "i" (MARK_DISP(MARK_SLOT, slot)) : "memory");	\
	}
MARK(mark_off, 0)
MARK(mark_call, 1)
MARK(mark_return, 2)

/* A mark whose value is known at run time only: made, then run. */
static void mark(unsigned int op, unsigned int value)
{
	unsigned int disp = MARK_DISP(op, value);
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		err(1, "mmap");
	memcpy(code, "\x0f\x1f\x80", 3);
	memcpy(code + 3, &disp, 4);
	code[7] = 0xc3;
	((void (*)(void))code)();
	munmap(code, 4096);
}

static void mark_word(const char *address)
{
	uint64_t addr = strtoull(address, NULL, 16);

	for (int shift = 48; shift >= 0; shift -= 16)
		mark(MARK_WORD, addr >> shift & 0xffff);
}

static void set_hook(const char *address, const char *slot)
{
	mark_word(address);
	mark(MARK_HOOK, atoi(slot));
}

/* Whose work is what, for so many milliseconds: "FROM-TO:WHAT" each (mark.h). */
static void count_sides(int n, char **range)
{
	struct timespec pause = { opt.count / 1000, opt.count % 1000 * 1000000 };

	mark(MARK_FORGET, 0);
	for (int i = 0; i < n; i++) {
		char *to = strchr(range[i], '-'), *what = strchr(range[i], ':');

		if (!to || !what)
			usage();
		mark_word(range[i]);
		mark(MARK_FROM, 0);
		mark_word(to + 1);
		mark(MARK_RANGE, strtoul(what + 1, NULL, 0));
	}
	mark(MARK_SLOT, 3);
	nanosleep(&pause, NULL);
	mark(MARK_DUMP, opt.label);
	mark(MARK_FORGET, 0);
}

/* Sockets of another process to itself over loopback. Before each message packets come into their
 * queues and go out of them at random, so that it finds the allocator's lists in another state.
 * When nothing else happened, all messages of a connection would cost what the lists were like at
 * the first. It is another process because what one process sends lies in the same pages, whichever
 * socket sends it. Pages would be held by these queues and not by the connection that is measured.
 */
#define SHAKEN	8
#define STEPS	16
#define DEPTH	32			/* datagrams in a queue, at most */
#define BACKLOG	(256 << 10)		/* bytes in the stream's, at most */

static struct {
	int order;			/* a byte to that process, and back when it is done */
	int out, in;			/* a connection */
	int backlog;
	int fd[SHAKEN];			/* each a datagram socket connected to itself */
	int queued[SHAKEN];
} shaken;

static int loopback_socket(int type, int to)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, type, 0), n = 2 * BACKLOG;
	socklen_t len = sizeof(a);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n)))
		err(1, "loopback socket");
	if (to < 0 && bind(fd, (struct sockaddr *)&a, len))
		err(1, "loopback address");
	if (to < 0 && type == SOCK_DGRAM)
		to = fd;
	if (to >= 0 && (getsockname(to, (struct sockaddr *)&a, &len) ||
			connect(fd, (struct sockaddr *)&a, len)))
		err(1, "loopback connection");
	return fd;
}

static void shake_datagrams(int i)
{
	size_t size = 1 + random() % (random() % 4 ? 1400 : 16384);

	if (!shaken.queued[i] || (shaken.queued[i] < DEPTH && random() % 2)) {
		if (write(shaken.fd[i], buf, size) != (ssize_t)size)
			err(1, "datagram of %zu bytes", size);
		shaken.queued[i]++;
	} else {
		if (read(shaken.fd[i], buf, sizeof(buf)) < 0)
			err(1, "read of a datagram");
		shaken.queued[i]--;
	}
}

static void shake_stream(void)
{
	int size = 1 + random() % 16384;

	if (!shaken.backlog || (shaken.backlog + size < BACKLOG && random() % 2)) {
		write_all(shaken.out, size);
		shaken.backlog += size;
	} else {
		size = size < shaken.backlog ? size : shaken.backlog;
		if (!read_all(shaken.in, size))
			errx(1, "loopback connection ended");
		shaken.backlog -= size;
	}
}

static void open_shaken(void)
{
	int lfd = loopback_socket(SOCK_STREAM, -1);

	if (listen(lfd, 1))
		err(1, "listen");
	shaken.out = loopback_socket(SOCK_STREAM, lfd);
	shaken.in = accept(lfd, NULL, NULL);
	if (shaken.in < 0)
		err(1, "accept");
	close(lfd);
	for (int i = 0; i < SHAKEN; i++)
		shaken.fd[i] = loopback_socket(SOCK_DGRAM, -1);
}

static void shake_steps(long n)
{
	while (n-- > 0) {
		shake_datagrams(random() % SHAKEN);
		if (!(random() % 4))
			shake_stream();
	}
}

static void shake_when_told(int fd)
{
	char byte;

	open_shaken();
	while (read(fd, &byte, 1) == 1) {
		shake_steps(STEPS);
		if (write(fd, &byte, 1) != 1)
			err(1, "shaken");
	}
	exit(0);
}

static void start_shaking(void)
{
	int fd[2];

	if (shaken.order)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		err(1, "socketpair");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		close(fd[0]);
		shake_when_told(fd[1]);
	}
	close(fd[1]);
	shaken.order = fd[0];
}

static void shake(void)
{
	char byte = 0;

	if (write(shaken.order, &byte, 1) != 1 || read(shaken.order, &byte, 1) != 1)
		errx(1, "the other process has ended");
}

/* The cost of one send: a message, its arrival, a byte back before the next. */
static long long run_sends(int type)
{
	int fd;

	start_shaking();
	fd = connected_socket(type);
	for (long i = -WARM_UP; i < opt.count; i++) {
		shake();
		if (i >= 0)
			mark_call();
		if (write(fd, buf, opt.size) != (ssize_t)opt.size)
			err(1, "write of %zu bytes", opt.size);
		if (i >= 0)
			mark_return();
		if (read(fd, buf, 1) != 1)
			err(1, "no reply");
		if (i >= 0 && opt.label)
			mark(MARK_DUMP, opt.label);
	}
	close(fd);
	return 0;
}

static void serve_sends(int type)
{
	int fd, lfd = bound_socket(type);
	struct sockaddr_storage ss;

	if (type == SOCK_DGRAM) {
		for (;;) {
			socklen_t len = sizeof(ss);
			ssize_t n = recvfrom(lfd, buf, sizeof(buf), 0, (struct sockaddr *)&ss,
					     &len);

			mark_off();
			if (n < 0 || sendto(lfd, buf, 1, 0, (struct sockaddr *)&ss, len) != 1)
				err(1, "serve");
		}
	}
	for (;;) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0)
			err(1, "accept");
		while (read_all(fd, opt.size)) {
			mark_off();
			write_all(fd, 1);
		}
		close(fd);
	}
}

/* ---- clocks ---- */

/* Nanoseconds that the first CPU was idle; -1 when the kernel does not tell. */
static long long idle_time(void)
{
	long long ns = -1;
	char line[256];
	FILE *f;

	if (!opt.cpu)
		return 0;
	f = fopen("/proc/timer_list", "r");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, " .idle_sleeptime : %lld", &ns) != 1)
		;
	if (f)
		fclose(f);
	return ns;
}

static long long idle_ns;

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

	if (opt.header) {
		memcpy(buf, &opt.size, sizeof(opt.size));
		write_all(fd, sizeof(opt.size));
	}
	round_trips(fd, opt.count / 10 + 1);
	idle_ns = idle_time();
	start = now();
	round_trips(fd, opt.count);
	start = now() - start;
	idle_ns = idle_time() - idle_ns;
	close(fd);
	return start;
}

/* Return: false at the end of the connection. */
static int http_exchange(int fd, const char *request)
{
	size_t got = 0, len = strlen(request);
	char *end;
	ssize_t n;

	if (write(fd, request, len) != (ssize_t)len)
		return 0;
	do {
		n = read(fd, buf + got, sizeof(buf) - 1 - got);
		if (n <= 0)
			return 0;
		got += n;
		buf[got] = '\0';
		end = strstr(buf, "\r\n\r\n");
	} while (!end || got < end + 4 - buf + opt.size);
	return !strncmp(buf, "HTTP/1.1 200", 12) && got == end + 4 - buf + opt.size;
}

/* Requests on one connection, each when the last one has its reply. */
static long long run_http(void)
{
	int fd = connected_socket(SOCK_STREAM);
	long long start = 0;
	char (*request)[512] = calloc(opt.heads, sizeof(*request));

	if (!request)
		err(1, "no memory");
	for (int i = 0; i < opt.heads; i++)
		snprintf(request[i], sizeof(*request),
			 "GET /%zu.html HTTP/1.1\r\nHost: %s\r\nUser-Agent: client/%04d\r\n\r\n",
			 opt.size, opt.host, i);
	for (long i = -opt.count / 10 - 3L * opt.heads, n = 0; i < opt.count; i++, n++) {
		if (!i)
			start = now();
		if (!http_exchange(fd, request[n % opt.heads]))
			errx(1, "no reply, or not the file");
	}
	free(request);
	start = now() - start;
	close(fd);
	return start;
}

/* Each request has its connection, which ends with the reply. */
static long long run_http_each(void)
{
	long long start = 0;
	char request[512];

	snprintf(request, sizeof(request),
		 "GET /%zu.html HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
		 opt.size, opt.host);
	for (long i = -opt.count / 10; i < opt.count; i++) {
		int fd;

		if (!i)
			start = now();
		fd = connected_socket(SOCK_STREAM);
		if (!http_exchange(fd, request))
			errx(1, "no reply, or not the file");
		close(fd);
	}
	return now() - start;
}

/* With a label all of them are counted and written as one. */
static long long count_from_here(void)
{
	if (opt.label)
		mark_call();
	return now();
}

static long long counted_since(long long start)
{
	long long ns = now() - start;

	if (opt.label)
		mark(MARK_DUMP, opt.label);
	return ns;
}

static long long run_connections(int exchange)
{
	long long start = 0;

	for (long i = -opt.count / 10; i < opt.count; i++) {
		int fd;

		if (i == 0)
			start = count_from_here();
		fd = connected_socket(SOCK_STREAM);
		if (exchange)
			round_trips(fd, 1);
		close(fd);
	}
	return counted_since(start);
}

static long long run_socket(int type)
{
	long long start = 0;

	for (long i = -opt.count / 10; i < opt.count; i++) {
		int fd;

		if (i == 0)
			start = count_from_here();
		fd = socket(opt.family, type, 0);
		if (fd < 0)
			err(1, "socket family %d", opt.family);
		close(fd);
	}
	return counted_since(start);
}

/* Nobody asks again for what is lost: the reply does not come then. */
static long long run_udp_rest(void)
{
	int fd = connected_socket(SOCK_DGRAM);
	long long start = 0;

	if (opt.segment && setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &opt.segment, sizeof(int)))
		err(1, "UDP_SEGMENT");
	for (long i = -opt.count / 10 - WARM_UP; i < opt.count; i++) {
		if (i == 0)
			start = count_from_here();
		if (write(fd, buf, opt.size) != (ssize_t)opt.size)
			err(1, "write of %zu bytes", opt.size);
		if (read(fd, buf, 1) != 1)
			err(1, "no reply");
	}
	start = counted_since(start);
	close(fd);
	return start;
}

/* As run_connections(), with a datagram there and back. */
static long long run_udp_connections(void)
{
	long long start = 0;

	for (long i = -opt.count / 10; i < opt.count; i++) {
		int fd;

		if (i == 0)
			start = count_from_here();
		fd = connected_socket(SOCK_DGRAM);
		round_trips(fd, 1);
		close(fd);
	}
	return counted_since(start);
}

/* One socket, and an exchange with each of so many addresses in a row: none is warmed up. */
static long long run_udp_each(void)
{
	struct timeval patience = { .tv_sec = 10 };
	int fd = make_socket(SOCK_DGRAM);
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss);
	struct sockaddr_in6 *a6 = (void *)&ss;
	long long start;
	uint32_t last;

	if (opt.family == AF_INET)
		errx(2, "IPv6 addresses only");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	memcpy(&last, &a6->sin6_addr.s6_addr[12], sizeof(last));
	last = ntohl(last);
	start = count_from_here();
	for (long i = 0; i < opt.count; i++) {
		uint32_t word = htonl(last + i);

		memcpy(&a6->sin6_addr.s6_addr[12], &word, sizeof(word));
		if (sendto(fd, buf, opt.size, 0, (struct sockaddr *)&ss, len) != (ssize_t)opt.size)
			err(1, "sendto");
		if (read(fd, buf, sizeof(buf)) != (ssize_t)opt.size)
			err(1, "no reply from address %ld", i);
	}
	start = counted_since(start);
	close(fd);
	return start;
}

static void send_stream(int fd, long count)
{
	for (long i = 0; i < count; i++)
		write_all(fd, opt.size);
	if (shutdown(fd, SHUT_WR) || read(fd, buf, 1) != 0)
		errx(1, "the sink did not take everything");
}

/* From the first byte to the last one's arrival, the connection being there. */
static long long run_stream(void)
{
	int fd = connected_socket(SOCK_STREAM);
	long long start;

	/* Warms up caches; what is still in a link's queue would count otherwise. */
	send_stream(fd, opt.count / 10 + 1);
	close(fd);
	fd = connected_socket(SOCK_STREAM);
	idle_ns = idle_time();
	start = now();
	send_stream(fd, opt.count);
	start = now() - start;
	idle_ns = idle_time() - idle_ns;
	close(fd);
	return start;
}

/* A datagram of one byte asks how many others came and when the last did, and clears. */
struct usink_reply {
	long long count;
	long long last;
};

static void serve_usink(void)
{
	struct usink_reply reply = { 0, 0 };
	int fd = bound_socket(SOCK_DGRAM);
	struct sockaddr_storage ss;

	for (;;) {
		socklen_t len = sizeof(ss);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&ss, &len);

		if (n < 0)
			err(1, "recvfrom");
		if (n > 1) {
			reply.count++;
			reply.last = now();
			continue;
		}
		if (sendto(fd, &reply, sizeof(reply), 0, (struct sockaddr *)&ss, len) < 0)
			err(1, "sendto");
		reply.count = 0;
	}
}

static void ask_usink(int fd, struct usink_reply *reply)
{
	if (write(fd, buf, 1) != 1 || read(fd, reply, sizeof(*reply)) != sizeof(*reply))
		err(1, "the sink does not answer");
}

static long long run_udp_stream(void)
{
	int fd = connected_socket(SOCK_DGRAM);
	struct usink_reply reply;
	long long start, end;

	if (opt.size < 2)
		errx(2, "datagrams of two bytes at least");
	write_all(fd, opt.size);
	ask_usink(fd, &reply);
	idle_ns = idle_time();
	start = now();
	for (long i = 0; i < opt.count; i++)
		write_all(fd, opt.size);
	/* The question must find room: let what is queued be taken first. */
	usleep(200000);
	end = now();
	idle_ns = idle_time() - idle_ns;
	ask_usink(fd, &reply);
	if (!reply.count)
		errx(1, "no datagram arrived");
	/* Idle since the last datagram: that is not the stream's. */
	idle_ns -= end - reply.last;
	start = reply.last - start;
	opt.count = reply.count;
	close(fd);
	return start;
}

/* ---- many sockets of one port ---- */

/* One on an address of its own, which need not be there. */
static int one_of_a_crowd(int type, uint32_t number)
{
	struct sockaddr_in6 sin6 = {
		.sin6_family	= AF_INET6,
		.sin6_port	= htons(opt.port),
		.sin6_addr	= { .s6_addr = { 0xfd, 0x0c } },
	};
	int one = 1, fd = make_socket(type);

	number = htonl(number);
	memcpy(&sin6.sin6_addr.s6_addr[12], &number, sizeof(number));
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof(one)))
		err(1, "IPV6_FREEBIND");
	if (bind(fd, (struct sockaddr *)&sin6, sizeof(sin6)))
		err(1, "bind");
	if (type == SOCK_STREAM && listen(fd, 128))
		err(1, "listen");
	return fd;
}

/* One on the server's address and port, connected to a port of its own. */
static int one_that_is_connected(int type, uint32_t number)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss);
	int fd = bound_socket(type);

	((struct sockaddr_in6 *)&ss)->sin6_port = htons(10000 + number);
	if (connect(fd, (struct sockaddr *)&ss, len))
		err(1, "connect");
	return fd;
}

static void serve_crowd(int type, int (*one)(int type, uint32_t number))
{
	struct rlimit files = { opt.count + 64, opt.count + 64 };

	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "files");
	for (long i = 1; i <= opt.count; i++)
		one(type, i);
	opt.port++;
	bound_socket(type);
	for (;;)
		pause();
}

/* Only bind() and listen() count. */
static long long run_bind(void)
{
	long long start, ns = 0;

	for (long i = -opt.count / 10; i < opt.count; i++) {
		struct sockaddr_in6 sin6 = {
			.sin6_family	= AF_INET6,
			.sin6_port	= htons(opt.port),
			.sin6_addr	= { .s6_addr = { 0xfd, 0x0c, [4] = 0x80 } },
		};
		int one = 1, fd = make_socket(SOCK_STREAM);

		if (setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof(one)))
			err(1, "IPV6_FREEBIND");
		start = now();
		if (bind(fd, (struct sockaddr *)&sin6, sizeof(sin6)) || listen(fd, 128))
			err(1, "bind");
		ns += i < 0 ? 0 : now() - start;
		close(fd);
	}
	return ns;
}

static int run_client(const char *mode)
{
	long long ns;

	if (!strcmp(mode, "http"))
		ns = run_http();
	else if (!strcmp(mode, "http-each"))
		ns = run_http_each();
	else if (!strcmp(mode, "tcp-rr"))
		ns = run_rr(SOCK_STREAM);
	else if (!strcmp(mode, "udp-rr"))
		ns = run_rr(SOCK_DGRAM);
	else if (!strcmp(mode, "crr"))
		ns = run_connections(1);
	else if (!strcmp(mode, "connect"))
		ns = run_connections(0);
	else if (!strcmp(mode, "socket"))
		ns = run_socket(SOCK_STREAM);
	else if (!strcmp(mode, "socket-udp"))
		ns = run_socket(SOCK_DGRAM);
	else if (!strcmp(mode, "stream"))
		ns = run_stream();
	else if (!strcmp(mode, "udp-stream"))
		ns = run_udp_stream();
	else if (!strcmp(mode, "send-tcp"))
		ns = run_sends(SOCK_STREAM);
	else if (!strcmp(mode, "send-udp"))
		ns = run_sends(SOCK_DGRAM);
	else if (!strcmp(mode, "udp-rest"))
		ns = run_udp_rest();
	else if (!strcmp(mode, "udp-crr"))
		ns = run_udp_connections();
	else if (!strcmp(mode, "udp-each"))
		ns = run_udp_each();
	else if (!strcmp(mode, "bind"))
		ns = run_bind();
	else
		return -1;
	printf("%s %d %zu %ld %.1f\n", mode, opt.family, opt.size, opt.count,
	       (double)ns / opt.count);
	if (opt.cpu)
		printf("idle %.1f\n", (double)idle_ns / opt.count);
	fflush(stdout);
	return 0;
}

static int serve(const char *mode)
{
	if (!strcmp(mode, "serve-tcp"))
		serve_tcp(1);
	else if (!strcmp(mode, "serve-sink"))
		serve_tcp(0);
	else if (!strcmp(mode, "serve-udp"))
		serve_udp();
	else if (!strcmp(mode, "serve-udp-rest"))
		serve_udp_rest();
	else if (!strcmp(mode, "serve-usink"))
		serve_usink();
	else if (!strcmp(mode, "send-tcp-sink"))
		serve_sends(SOCK_STREAM);
	else if (!strcmp(mode, "send-udp-sink"))
		serve_sends(SOCK_DGRAM);
	else if (!strcmp(mode, "crowd-tcp"))
		serve_crowd(SOCK_STREAM, one_of_a_crowd);
	else if (!strcmp(mode, "crowd-udp"))
		serve_crowd(SOCK_DGRAM, one_of_a_crowd);
	else if (!strcmp(mode, "crowd-connected"))
		serve_crowd(SOCK_DGRAM, one_that_is_connected);
	return -1;
}

/* One option; 0 when there is none of that name. */
static int take_option(int c)
{
	static const struct {
		char name;
		int *value;
	} numbers[] = {
		{ 'f', &opt.family }, { 'b', &opt.buffers }, { 't', &opt.tclass },
		{ 'r', &opt.runs }, { 'l', &opt.label }, { 'g', &opt.segment },
		{ 'w', &opt.workers }, { 0 },
	};

	for (size_t i = 0; numbers[i].name; i++) {
		if (numbers[i].name == c) {
			*numbers[i].value = atoi(optarg);
			return 1;
		}
	}
	if (c == 'a')
		opt.addr = optarg;
	else if (c == 'h')
		opt.host = optarg;
	else if (c == 'm')
		opt.heads = atoi(optarg);
	else if (c == 'p')
		opt.port = atoi(optarg);
	else if (c == 'n')
		opt.count = atol(optarg);
	else if (c == 's')
		opt.size = atol(optarg);
	else if (c == 'N')
		opt.nagle = 1;
	else if (c == 'c')
		opt.cpu = 1;
	else if (c == 'H')
		opt.header = 1;
	else if (c == 'G')
		opt.joined = 1;
	else
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	long count;
	int c;

	while ((c = getopt(argc, argv, "f:a:p:n:s:b:t:r:l:h:m:g:w:NcHG")) != -1)
		if (!take_option(c))
			usage();
	if (argc - optind == 1 && !strcmp(argv[optind], "shake")) {
		open_shaken();
		shake_steps(opt.count);
		return 0;
	}
	if (argc - optind == 3 && !strcmp(argv[optind], "hook")) {
		set_hook(argv[optind + 1], argv[optind + 2]);
		return 0;
	}
	if (argc - optind > 1 && !strcmp(argv[optind], "sides")) {
		count_sides(argc - optind - 1, argv + optind + 1);
		return 0;
	}
	if (optind + 1 != argc || opt.count < 1 || opt.heads < 1 || opt.size > sizeof(buf))
		usage();
	if (!opt.size && strcmp(argv[optind], "serve-tcp"))
		usage();
	serve(argv[optind]);
	count = opt.count;
	for (int run = 0; run < opt.runs; run++) {
		opt.count = count;
		if (run_client(argv[optind]))
			usage();
	}
	return 0;
}
