// SPDX-License-Identifier: GPL-2.0
/* The smallest programs that exercise a stack, for instruction-counted comparison:
 * round trips, connect-exchange-close, socket creation and bulk sending over any
 * family number. Blocking calls only, one connection at a time. A reply that does not
 * come within ten seconds is an error.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netbench.h"

struct options opt = { AF_INET6, "::", 7000, 1000, 1, .runs = 1, .host = "localhost", .heads = 1,
		       .workers = 1 };
char buf[1 << 20];
long long idle_ns;

void usage(void)
{
	fputs("usage: netbench [OPTION...] MODE\n"
	      "  -f FAMILY  2 native IPv4, 10 native IPv6, 19 net6 (10)\n"
	      "  -a ADDR -p PORT  the server's (:: 7000)\n"
	      "  -n COUNT -s BYTES  operations and the message's size (1000 1)\n"
	      "  -b BYTES   size of the socket's buffers (the system's)\n"
	      "  -t CLASS   traffic class, or type of service (0)\n"
	      "  -N         leave Nagle's algorithm on\n"
	      "  -c         a second line: idle IDLE-NANOSECONDS-PER-OPERATION\n"
	      "  -r RUNS    repeat, a line for each (1)\n"
	      "  -H         tcp-rr tells a serve-tcp -s 0 the size first\n"
	      "  -g BYTES   datagrams that udp-rest sends are cut into such segments (UDP_SEGMENT)\n"
	      "  -G         serve-udp-rest takes them together (UDP_GRO)\n"
	      "  -w WORKERS processes of serve-tcp that accept from one listener, each on its CPU (1)\n"
	      "  servers: serve-tcp (echo of messages of BYTES), serve-udp (echo), serve-sink,\n"
	      "           serve-udp-rest (a byte when BYTES have come, in whatever datagrams),\n"
	      "           serve-usink (UDP), send-tcp-sink, send-udp-sink\n"
	      "           serve-floor (the same reply with BYTES to each request for /BYTES.html),\n"
	      "           serve-floor-close (and the connection ends)\n"
	      "           crowd-tcp, crowd-udp: COUNT idle sockets of the port on as many other\n"
	      "           addresses, then one at the next port: all are there\n"
	      "           crowd-connected: of UDP, of ADDR and the port, connected to as many peers\n"
	      "  -h HOST -m HEADS  http's host, and how many heads it sends in turn (localhost 1)\n"
	      "  clients: http (requests for /BYTES.html) http-each (on connections of their own) tcp-rr udp-rr crr connect socket socket-udp stream udp-stream send-tcp send-udp\n"
	      "           udp-rest (BYTES and a byte back), udp-crr (socket, connect, exchange, close),\n"
	      "           udp-each (exchange with ADDR, ADDR + 1, ... by one socket)\n"
	      "           bind (of TCP, and listen(), on another address of a crowd's: the median)\n"
	      "A client prints: MODE FAMILY BYTES COUNT NANOSECONDS-PER-OPERATION; udp-stream\n"
	      "counts the datagrams that arrived.\n"
	      "netbench -n COUNT shake moves so many packets, of random sizes and in random order,\n"
	      "for the allocator's lists to be as on a machine that has been up for long\n"
	      "For the counting plugin: netbench hook ADDRESS SLOT; with -l LABEL send-tcp and\n"
	      "send-udp write what was counted after each message, crr, connect and sockets at\n"
	      "their end; netbench -l LABEL -n MILLISECONDS sides FROM-TO:WHAT... says whose\n"
	      "work code is (mark.h), and writes what was counted\n", stderr);
	exit(2);
}

static int run_client(const char *mode)
{
	long long ns;

	if (!strcmp(mode, "http"))
		ns = run_http();
	else if (!strcmp(mode, "http-each"))
		ns = run_http_each();
	else if (!strcmp(mode, "tcp-rr"))
		ns = run_rr(SOCK_STREAM);
	else if (!strcmp(mode, "udp-rr"))
		ns = run_rr(SOCK_DGRAM);
	else if (!strcmp(mode, "crr"))
		ns = run_connections(1);
	else if (!strcmp(mode, "connect"))
		ns = run_connections(0);
	else if (!strcmp(mode, "socket"))
		ns = run_socket(SOCK_STREAM);
	else if (!strcmp(mode, "socket-udp"))
		ns = run_socket(SOCK_DGRAM);
	else if (!strcmp(mode, "stream"))
		ns = run_stream();
	else if (!strcmp(mode, "udp-stream"))
		ns = run_udp_stream();
	else if (!strcmp(mode, "send-tcp"))
		ns = run_sends(SOCK_STREAM);
	else if (!strcmp(mode, "send-udp"))
		ns = run_sends(SOCK_DGRAM);
	else if (!strcmp(mode, "udp-rest"))
		ns = run_udp_rest();
	else if (!strcmp(mode, "udp-crr"))
		ns = run_udp_connections();
	else if (!strcmp(mode, "udp-each"))
		ns = run_udp_each();
	else if (!strcmp(mode, "bind"))
		ns = run_bind();
	else
		return -1;
	printf("%s %d %zu %ld %.1f\n", mode, opt.family, opt.size, opt.count,
	       (double)ns / opt.count);
	if (opt.cpu)
		printf("idle %.1f\n", (double)idle_ns / opt.count);
	fflush(stdout);
	return 0;
}

static int serve(const char *mode)
{
	if (!strcmp(mode, "serve-tcp"))
		serve_tcp(1);
	else if (!strcmp(mode, "serve-sink"))
		serve_tcp(0);
	else if (!strcmp(mode, "serve-udp"))
		serve_udp();
	else if (!strcmp(mode, "serve-udp-rest"))
		serve_udp_rest();
	else if (!strcmp(mode, "serve-usink"))
		serve_usink();
	else if (!strcmp(mode, "serve-floor"))
		serve_floor(0);
	else if (!strcmp(mode, "serve-floor-close"))
		serve_floor(1);
	else if (!strcmp(mode, "send-tcp-sink"))
		serve_sends(SOCK_STREAM);
	else if (!strcmp(mode, "send-udp-sink"))
		serve_sends(SOCK_DGRAM);
	else if (!strcmp(mode, "crowd-tcp"))
		serve_crowd(SOCK_STREAM, one_of_a_crowd);
	else if (!strcmp(mode, "crowd-udp"))
		serve_crowd(SOCK_DGRAM, one_of_a_crowd);
	else if (!strcmp(mode, "crowd-connected"))
		serve_crowd(SOCK_DGRAM, one_that_is_connected);
	return -1;
}

/* One option; 0 when there is none of that name. */
static int take_option(int c)
{
	static const struct {
		char name;
		int *value;
	} numbers[] = {
		{ 'f', &opt.family }, { 'b', &opt.buffers }, { 't', &opt.tclass },
		{ 'r', &opt.runs }, { 'l', &opt.label }, { 'g', &opt.segment },
		{ 'w', &opt.workers }, { 0 },
	};

	for (size_t i = 0; numbers[i].name; i++) {
		if (numbers[i].name == c) {
			*numbers[i].value = atoi(optarg);
			return 1;
		}
	}
	if (c == 'a')
		opt.addr = optarg;
	else if (c == 'h')
		opt.host = optarg;
	else if (c == 'm')
		opt.heads = atoi(optarg);
	else if (c == 'p')
		opt.port = atoi(optarg);
	else if (c == 'n')
		opt.count = atol(optarg);
	else if (c == 's')
		opt.size = atol(optarg);
	else if (c == 'N')
		opt.nagle = 1;
	else if (c == 'c')
		opt.cpu = 1;
	else if (c == 'H')
		opt.header = 1;
	else if (c == 'G')
		opt.joined = 1;
	else
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	long count;
	int c;

	while ((c = getopt(argc, argv, "f:a:p:n:s:b:t:r:l:h:m:g:w:NcHG")) != -1)
		if (!take_option(c))
			usage();
	if (argc - optind == 1 && !strcmp(argv[optind], "shake")) {
		open_shaken();
		shake_steps(opt.count);
		return 0;
	}
	if (argc - optind == 3 && !strcmp(argv[optind], "hook")) {
		set_hook(argv[optind + 1], argv[optind + 2]);
		return 0;
	}
	if (argc - optind > 1 && !strcmp(argv[optind], "sides")) {
		count_sides(argc - optind - 1, argv + optind + 1);
		return 0;
	}
	if (optind + 1 != argc || opt.count < 1 || opt.heads < 1 || opt.size > sizeof(buf))
		usage();
	if (!opt.size && strcmp(argv[optind], "serve-tcp"))
		usage();
	serve(argv[optind]);
	count = opt.count;
	for (int run = 0; run < opt.runs; run++) {
		opt.count = count;
		if (run_client(argv[optind]))
			usage();
	}
	return 0;
}
