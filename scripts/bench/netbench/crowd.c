// SPDX-License-Identifier: GPL-2.0
/* Many sockets of one port. */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

/* One on an address of its own, which need not be there. */
int one_of_a_crowd(int type, uint32_t number)
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
int one_that_is_connected(int type, uint32_t number)
{
	struct sockaddr_storage ss;
	socklen_t len = make_addr(&ss);
	int fd = bound_socket(type);

	((struct sockaddr_in6 *)&ss)->sin6_port = htons(10000 + number);
	if (connect(fd, (struct sockaddr *)&ss, len))
		err(1, "connect");
	return fd;
}

void serve_crowd(int type, int (*one)(int type, uint32_t number))
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

static int compare_ns(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

/* Only bind() and listen() count, and of all their times the median. A tick may come in the middle
 * of one and do what was put off at close(): that costs as much as fifty of them.
 */
long long run_bind(void)
{
	long long *took = calloc(opt.count, sizeof(*took)), start, median;

	if (!took)
		err(1, "no memory");
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
		if (i >= 0)
			took[i] = now() - start;
		close(fd);
	}
	qsort(took, opt.count, sizeof(*took), compare_ns);
	median = took[opt.count / 2];
	free(took);
	return median * opt.count;
}
