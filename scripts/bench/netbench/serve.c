// SPDX-License-Identifier: GPL-2.0
/* Servers that echo messages, take them, or answer a byte when enough have come. */
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

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

void serve_tcp(int echo)
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

void serve_udp(void)
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
void serve_udp_rest(void)
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
