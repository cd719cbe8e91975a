// SPDX-License-Identifier: GPL-2.0
/* Round trips, and the connections and sockets that they are made on. */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

static void round_trips(int fd, long count)
{
	for (long i = 0; i < count; i++) {
		write_all(fd, opt.size);
		if (!read_all(fd, opt.size))
			errx(1, "server went away");
	}
}

long long run_rr(int type)
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

long long run_connections(int exchange)
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

long long run_socket(int type)
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
long long run_udp_rest(void)
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
long long run_udp_connections(void)
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
long long run_udp_each(void)
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
