// SPDX-License-Identifier: GPL-2.0
/* What a server in user space cannot do without: epoll, recv(), memcmp() and send(). It is none
 * for HTTP. What it takes for a request begins with one line and ends with an empty one; all get
 * the same reply, header and file of opt.size bytes in one buffer.
 *
 * Limits: a request comes as a whole, and nothing behind it.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

#define FLOOR_EVENTS	64

static struct {
	char line[64];		/* of a request, the first one */
	size_t line_len;
	size_t reply_len;	/* in buf */
	int ends;		/* the connection does, with a reply */
} served;

static void make_reply(int ends)
{
	served.ends = ends;
	served.line_len = snprintf(served.line, sizeof(served.line),
				   "GET /%zu.html HTTP/1.1\r\n", opt.size);
	served.reply_len = snprintf(buf, sizeof(buf),
				    "HTTP/1.1 200 OK\r\nServer: floor\r\nContent-Type: text/html\r\n"
				    "Content-Length: %zu\r\nConnection: %s\r\n\r\n",
				    opt.size, ends ? "close" : "keep-alive");
	if (served.reply_len + opt.size > sizeof(buf))
		errx(1, "%zu bytes are too many", opt.size);
	memset(buf + served.reply_len, 'x', opt.size);
	served.reply_len += opt.size;
}

/* Whoever sends something else is sent away. */
static void answer(int fd)
{
	char request[4096];
	ssize_t n = recv(fd, request, sizeof(request), 0);

	if (n < (ssize_t)served.line_len + 2 || memcmp(request, served.line, served.line_len) ||
	    memcmp(request + n - 4, "\r\n\r\n", 4) ||
	    send(fd, buf, served.reply_len, MSG_NOSIGNAL) != (ssize_t)served.reply_len ||
	    served.ends)
		close(fd);
}

static void watch(int epfd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

void serve_floor(int ends)
{
	int epfd = epoll_create1(0), lfd = bound_socket(SOCK_STREAM);
	struct epoll_event events[FLOOR_EVENTS];

	if (epfd < 0)
		err(1, "epoll_create1");
	make_reply(ends);
	watch(epfd, lfd);
	for (;;) {
		int n = epoll_wait(epfd, events, FLOOR_EVENTS, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd != lfd) {
				answer(fd);
				continue;
			}
			fd = accept4(lfd, NULL, NULL, 0);
			if (fd >= 0)
				watch(epfd, fd);
		}
	}
}
