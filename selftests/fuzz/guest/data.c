// SPDX-License-Identifier: GPL-2.0
/* Data in and out of sockets without ancillary data: send, receive, splice, sendfile, tee. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "fuzz.h"

static void do_send(void)
{
	struct sockaddr_storage to;
	size_t len = length();
	void *from = memory(len);

	if (one_in(3))
		sendto(fd_any(), from, len, message_flags(true), (void *)&to, name(&to));
	else
		send(fd_any(), from, len, message_flags(true));
}

static void do_recv(void)
{
	struct sockaddr_storage from;
	socklen_t flen = rnd(sizeof(from) + 1);
	size_t len = length();

	if (one_in(2))
		recvfrom(fd_any(), memory(len), len, message_flags(false), (void *)&from, &flen);
	else
		recv(fd_any(), memory(len), len, message_flags(false));
}

static void do_readwrite(void)
{
	struct iovec iov[3];

	for (size_t i = 0; i < COUNT(iov); i++) {
		iov[i].iov_len = length();
		iov[i].iov_base = memory(iov[i].iov_len);
	}
	if (one_in(2))
		writev(fd_any(), iov, 1 + rnd(3));
	else
		readv(fd_any(), iov, 1 + rnd(3));
}

/* Everything that waits on a socket, so that windows open again. */
static void do_drain(void)
{
	int fd = fd_any();

	for (int i = 0; i < 8; i++)
		if (recv(fd, area(), AREA, MSG_DONTWAIT) <= 0)
			break;
}

static int file(void)
{
	static volatile int shared = -1;

	if (shared < 0) {
		int fd = memfd_create("fuzz", MFD_CLOEXEC);

		if (ftruncate(fd, 1 << 20))
			return -1;
		shared = fd;
	}
	return shared;
}

static void do_sendfile(void)
{
	off_t at = rnd(1 << 20);

	sendfile(fd_any(), one_in(10) ? fd_any() : file(), one_in(4) ? NULL : &at, length());
}

/* A pipe for each thread; it is emptied now and then. */
static int *pipes(void)
{
	static __thread int two[2] = { -1, -1 };

	if (two[0] >= 0 && one_in(40)) {
		close(two[0]);
		close(two[1]);
		two[0] = -1;
	}
	if (two[0] < 0 && pipe2(two, O_NONBLOCK | O_CLOEXEC)) {
		two[0] = -1;
		two[1] = -1;
	}
	return two;
}

static unsigned int splice_flags(void)
{
	return SPLICE_F_NONBLOCK | (one_in(2) ? SPLICE_F_MORE : 0) |
	       (one_in(3) ? SPLICE_F_MOVE : 0);
}

static void do_splice(void)
{
	int *p = pipes();
	loff_t at = rnd(1 << 20);
	struct iovec iov;

	switch (rnd(5)) {
	case 0:
		splice(file(), &at, p[1], NULL, length(), splice_flags());
		break;
	case 1:
		iov.iov_len = length();
		iov.iov_base = memory(iov.iov_len);
		vmsplice(p[1], &iov, 1, SPLICE_F_NONBLOCK);
		break;
	case 2:
		splice(fd_any(), NULL, p[1], NULL, length(), splice_flags());
		break;
	default:
		splice(p[0], NULL, fd_any(), NULL, length(), splice_flags());
	}
}

static void do_tee(void)
{
	int two[2], *p = pipes();

	if (pipe2(two, O_NONBLOCK | O_CLOEXEC))
		return;
	splice(fd_any(), NULL, p[1], NULL, length(), splice_flags());
	tee(p[0], two[1], length(), SPLICE_F_NONBLOCK);
	splice(two[0], NULL, fd_any(), NULL, length(), splice_flags());
	close(two[0]);
	close(two[1]);
}

const struct op data_ops[] = {
	{ "send", 70, ALL, do_send },
	{ "recv", 60, ALL, do_recv },
	{ "readwrite", 15, ALL, do_readwrite },
	{ "drain", 30, ALL, do_drain },
	{ "sendfile", 10, ALL, do_sendfile },
	{ "splice", 25, ALL, do_splice },
	{ "tee", 5, ALL, do_tee },
	{ },
};
