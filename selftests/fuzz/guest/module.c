// SPDX-License-Identifier: GPL-2.0
/* Other modules that use net6: those of selftests/modules/, driven by what is written to their
 * files. One answers connections by itself (<net6/tcp.h>), one calls native TCP's functions on a
 * socket, one brings a link layer of its own.
 */
#include <fcntl.h>

#include "fuzz.h"

#define EXAMPLES	4	/* open files of the first one */

static volatile int examples[EXAMPLES] = { [0 ... EXAMPLES - 1] = -1 };

static void say(int fd, const char *format, int a, int b)
{
	char line[40];

	if (write(fd, line, snprintf(line, sizeof(line), format, a, b)) < 0)
		errno = 0;
}

static int server(struct sockaddr_in6 *to)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*to);

	memset(to, 0, sizeof(*to));
	to->sin6_family = AF_INET6;
	to->sin6_addr = in6addr_loopback;
	bind(fd, (void *)to, len);
	getsockname(fd, (void *)to, &len);
	listen(fd, 8);
	return fd;
}

/* A client of the example: a few lines, whole or cut anywhere. */
static void client(const struct sockaddr_in6 *to)
{
	static const char *const lines[] = {
		"hello\n", "page 100\n", "page 70000\n", "bye\n", "drop\n", "other\n", "what\n",
		"hello\nhello\npage 9000\nhello\n", "hel", "lo\n",
	};
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	connect(fd, (void *)to, sizeof(*to));
	for (unsigned int n = 1 + rnd(4); n; n--) {
		const char *line = PICK(lines);

		if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
			errno = 0;
		recv(fd, area(), rnd(9000), MSG_DONTWAIT);
	}
	fd_put(fd);
}

/* A listener whose connections the example has first; it ends with the file. */
static void do_example(void)
{
	int file = open("/dev/net6_example", O_WRONLY | O_CLOEXEC), listener, other, old;
	struct sockaddr_in6 to, second;

	if (file < 0)
		return;
	listener = server(&to);
	other = server(&second);
	say(file, "attach %d", one_in(10) ? fd_any() : listener, 0);
	say(file, "other %d", other, 0);
	for (unsigned int n = 1 + rnd(5); n; n--)
		client(&to);
	/* The second listener offers nobody its connections: one is there to be taken. */
	if (one_in(2))
		client(&second);
	if (one_in(2))
		say(file, "take %d", one_in(2) ? listener : other, 0);
	if (one_in(4))
		say(file, "give %d", rnd(3), 0);
	old = __atomic_exchange_n(&examples[rnd(EXAMPLES)], file, __ATOMIC_SEQ_CST);
	if (old >= 0)
		close(old);
	fd_put(listener);
	fd_put(other);
}

static int asked(int fd, int option)
{
	int answer = -1;
	socklen_t len = sizeof(answer);

	getsockopt(fd, SOL_SOCKET, option, &answer, &len);
	return answer;
}

/* In takeover mode: as kernel code does that has a TCP socket. It looks what it has itself. */
static void do_native(void)
{
	static const char *const words[] = {
		"cork %d 1", "cork %d 0", "nodelay %d 1", "quickack %d 1", "user_timeout %d 9",
		"keepalive %d 1", "syncnt %d 3", "keepidle %d 1", "keepintvl %d 2",
		"keepcnt %d 2", "read %d 4000", "read %d 100",
	};
	int file = open("/proc/net6_native", O_WRONLY | O_CLOEXEC);
	int fd = fcntl(fd_any(), F_DUPFD_CLOEXEC, 600);

	if (file >= 0 && fd >= 0 && asked(fd, SO_PROTOCOL) == IPPROTO_TCP &&
	    asked(fd, SO_TYPE) == SOCK_STREAM && asked(fd, SO_DOMAIN) == AF_INET6)
		say(file, PICK(words), fd, 0);
	if (file >= 0)
		close(file);
	if (fd >= 0)
		close(fd);
}

/* A device of another link layer, which lives as long as its file. */
static void do_wire(void)
{
	int file = open("/dev/net6-wire", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct packet p;
	struct in6_addr us, host;
	uint8_t frame[4 + 1400];
	size_t len;

	if (file < 0)
		return;
	for (unsigned int n = rnd(20); n; n--) {
		peer_address(&us);
		host_address(&host);
		fill(frame, sizeof(frame));
		wire_start(&p, &us, &host, one_in(2) ? IPPROTO_ICMPV6 : IPPROTO_UDP, frame,
			   rnd(1000));
		if (!one_in(4))
			p.frame[54] = 128 + rnd(16);
		wire_checksum(&p);
		len = p.len > 1400 ? 1400 : p.len;
		memcpy(frame, "\xff\xff\0\2", 4);
		memcpy(frame + 4, p.frame + 14, len);
		if (write(file, frame, 4 + len) < 0)
			errno = 0;
		while (read(file, frame, sizeof(frame)) > 0)
			if (one_in(10))
				break;
	}
	fd_put(file);
}

const struct op module_ops[] = {
	{ "example", 6, ROOT, do_example },
	{ "native", 8, ROOT, do_native },
	{ "wire", 4, ROOT, do_wire },
	{ },
};
