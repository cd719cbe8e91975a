/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of netbench share. */
#ifndef NETBENCH_H
#define NETBENCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "../mark.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif
#ifndef UDP_GRO
#define UDP_GRO		104
#endif
#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND	78
#endif

#define WARM_UP		8	/* messages of a connection before those that are measured */

struct options {
	int family;
	const char *addr;
	unsigned short port;
	long count;
	size_t size;
	int buffers;
	int tclass;
	int nagle;
	int cpu;
	int header;
	int runs;
	int label;
	const char *host;
	int heads;
	int segment;
	int joined;
	int workers;
};

extern struct options opt;
extern char buf[1 << 20];
extern long long idle_ns;	/* of the run that has ended */

/* netbench.c */
void usage(void);

/* sock.c */
socklen_t make_addr(struct sockaddr_storage *ss);
int make_socket(int type);
int bound_socket(int type);
int connected_socket(int type);
int read_all(int fd, size_t size);
void write_all(int fd, size_t size);

/* serve.c */
void serve_tcp(int echo);
void serve_udp(void);
void serve_udp_rest(void);

/* marks.c */
void mark_off(void);
void mark_call(void);
void mark_return(void);
void mark(unsigned int op, unsigned int value);
void set_hook(const char *address, const char *slot);
void count_sides(int n, char **range);

/* shake.c */
void open_shaken(void);
void shake_steps(long n);
void start_shaking(void);
void shake(void);

/* sends.c */
long long run_sends(int type);
void serve_sends(int type);

/* clocks.c */
long long idle_time(void);
long long now(void);
long long count_from_here(void);
long long counted_since(long long start);

/* trips.c */
long long run_rr(int type);
long long run_connections(int exchange);
long long run_socket(int type);
long long run_udp_rest(void);
long long run_udp_connections(void);
long long run_udp_each(void);

/* http.c */
long long run_http(void);
long long run_http_each(void);

/* floor.c */
void serve_floor(int ends);

/* stream.c */
long long run_stream(void);
void serve_usink(void);
long long run_udp_stream(void);

/* crowd.c */
int one_of_a_crowd(int type, uint32_t number);
int one_that_is_connected(int type, uint32_t number);
void serve_crowd(int type, int (*one)(int type, uint32_t number));
long long run_bind(void);

#endif
