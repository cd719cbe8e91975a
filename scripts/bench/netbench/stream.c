// SPDX-License-Identifier: GPL-2.0
/* Bulk sending, by TCP and by UDP, to a server that takes it all. */
#include <err.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

static void send_stream(int fd, long count)
{
	for (long i = 0; i < count; i++)
		write_all(fd, opt.size);
	if (shutdown(fd, SHUT_WR) || read(fd, buf, 1) != 0)
		errx(1, "the sink did not take everything");
}

/* From the first byte to the last one's arrival, the connection being there. */
long long run_stream(void)
{
	int fd = connected_socket(SOCK_STREAM);
	long long start;

	/* Warms up caches; what is still in a link's queue would count otherwise. */
	send_stream(fd, opt.count / 10 + 1);
	close(fd);
	fd = connected_socket(SOCK_STREAM);
	idle_ns = idle_time();
	start = now();
	send_stream(fd, opt.count);
	start = now() - start;
	idle_ns = idle_time() - idle_ns;
	close(fd);
	return start;
}

/* A datagram of one byte asks how many others came and when the last did, and clears. */
struct usink_reply {
	long long count;
	long long last;
};

void serve_usink(void)
{
	struct usink_reply reply = { 0, 0 };
	int fd = bound_socket(SOCK_DGRAM);
	struct sockaddr_storage ss;

	for (;;) {
		socklen_t len = sizeof(ss);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&ss, &len);

		if (n < 0)
			err(1, "recvfrom");
		if (n > 1) {
			reply.count++;
			reply.last = now();
			continue;
		}
		if (sendto(fd, &reply, sizeof(reply), 0, (struct sockaddr *)&ss, len) < 0)
			err(1, "sendto");
		reply.count = 0;
	}
}

static void ask_usink(int fd, struct usink_reply *reply)
{
	if (write(fd, buf, 1) != 1 || read(fd, reply, sizeof(*reply)) != sizeof(*reply))
		err(1, "the sink does not answer");
}

long long run_udp_stream(void)
{
	int fd = connected_socket(SOCK_DGRAM);
	struct usink_reply reply;
	long long start, end;

	if (opt.size < 2)
		errx(2, "datagrams of two bytes at least");
	write_all(fd, opt.size);
	ask_usink(fd, &reply);
	idle_ns = idle_time();
	start = now();
	for (long i = 0; i < opt.count; i++)
		write_all(fd, opt.size);
	/* The question must find room: let what is queued be taken first. */
	usleep(200000);
	end = now();
	idle_ns = idle_time() - idle_ns;
	ask_usink(fd, &reply);
	if (!reply.count)
		errx(1, "no datagram arrived");
	/* Idle since the last datagram: that is not the stream's. */
	idle_ns -= end - reply.last;
	start = reply.last - start;
	opt.count = reply.count;
	close(fd);
	return start;
}
