// SPDX-License-Identifier: GPL-2.0
/* Sockets of another process to itself over loopback. Before each message packets come into their
 * queues and go out of them at random, so that it finds the allocator's lists in another state.
 * When nothing else happened, all messages of a connection would cost what the lists were like at
 * the first. It is another process because what one process sends lies in the same pages, whichever
 * socket sends it. Pages would be held by these queues and not by the connection that is measured.
 */
#include <err.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

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

void open_shaken(void)
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

void shake_steps(long n)
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

void start_shaking(void)
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

void shake(void)
{
	char byte = 0;

	if (write(shaken.order, &byte, 1) != 1 || read(shaken.order, &byte, 1) != 1)
		errx(1, "the other process has ended");
}
