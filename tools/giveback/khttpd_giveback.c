// SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note
/* libkhttpd-giveback: see khttpd_giveback.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/khttpd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "khttpd_giveback.h"

#define DEVICE		"/dev/khttpd_giveback"
#define HEAD_MAX	8192
/* haproxy's proxy-protocol.txt: section 2.1, and 2.2 with the length at 14; longest that is read */
#define PROXY1		"PROXY "
#define PROXY2		"\r\n\r\n\0\r\nQUIT\n"
#define PROXY2_LEN	16
#define PROXY_MAX	4096

/* Length of what a proxy says in front of a head. More than @len: not all of it is there. */
static size_t proxy_len(const char *text, size_t len)
{
	const unsigned char *u = (const unsigned char *)text;
	const char *end;

	if (len >= PROXY2_LEN && !memcmp(text, PROXY2, sizeof(PROXY2) - 1))
		return PROXY2_LEN + (u[14] << 8 | u[15]);
	if (len < PROXY2_LEN && !memcmp(text, PROXY2, len < 12 ? len : 12))
		return PROXY2_LEN;
	if (len < sizeof(PROXY1) || memcmp(text, PROXY1, sizeof(PROXY1) - 1))
		return 0;
	end = memchr(text, '\n', len);
	return end ? (size_t)(end + 1 - text) : len + 1;
}

ssize_t khttpd_giveback_read(int connection, char *head, size_t size)
{
	size_t seen = 0, skip;
	const char *end;
	ssize_t n;

	for (;;) {
		n = recv(connection, head, size, MSG_PEEK);
		if (n <= 0)
			return n;
		skip = proxy_len(head, n);
		end = skip < (size_t)n ? memmem(head + skip, n - skip, "\r\n\r\n", 4) : NULL;
		if (end)
			return recv(connection, head, end + 4 - head, MSG_WAITALL);
		if ((size_t)n == size) {
			errno = EMSGSIZE;
			return -1;
		}
		/* No more has come: wait for that, a little, or for the end. */
		if ((size_t)n == seen)
			usleep(1000);
		seen = n;
	}
}

int khttpd_giveback_head(int listener, int connection, const char *head, size_t len)
{
	struct khttpd_giveback arg = {
		.listener = listener, .fd = connection, .head = (uintptr_t)head, .head_len = len,
	};
	int device = open(DEVICE, O_RDWR | O_CLOEXEC), err, saved;

	if (device < 0)
		return -1;
	err = ioctl(device, KHTTPD_IOC_GIVEBACK, &arg);
	saved = errno;
	close(device);
	errno = saved;
	return err;
}

/* RFC 3986 section 3.3: what need not be encoded in a path. */
static int is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("-._~/!$&'()*+,;=:@", c));
}

int khttpd_giveback_file(int listener, int connection, const char *head, size_t len,
			 const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t skip = proxy_len(head, len), at, rest_len;
	char text[PROXY_MAX + HEAD_MAX];
	const char *target, *rest;

	errno = EINVAL;
	if (skip >= len)
		return -1;
	target = memchr(head + skip, ' ', len - skip);
	if (!target || *path != '/')
		return -1;
	at = target + 1 - head;
	rest = memchr(target + 1, ' ', len - at);
	if (!rest)
		return -1;
	rest_len = head + len - rest;
	errno = EMSGSIZE;
	if (at + 3 * strlen(path) + rest_len > sizeof(text))
		return -1;
	memcpy(text, head, at);
	for (; *path; path++) {
		unsigned char c = *path;

		if (is_plain(c)) {
			text[at++] = c;
			continue;
		}
		text[at++] = '%';
		text[at++] = digits[c >> 4];
		text[at++] = digits[c & 15];
	}
	memcpy(text + at, rest, rest_len);
	return khttpd_giveback_head(listener, connection, text, at + rest_len);
}
