// SPDX-License-Identifier: GPL-2.0
/* The cost of one send: a message, its arrival, a byte back before the next. */
#include <err.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

long long run_sends(int type)
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

void serve_sends(int type)
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
