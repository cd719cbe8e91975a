// SPDX-License-Identifier: GPL-2.0
/* Requests for a file of so many bytes. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

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
long long run_http(void)
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
long long run_http_each(void)
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
