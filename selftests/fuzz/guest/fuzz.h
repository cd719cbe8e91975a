/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's fuzzer: what its files share. Each file has one subject and a table of operations
 * (struct op); main.c makes processes and threads that draw from these tables.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define FDS		48		/* descriptors that the threads of a process share */
#define PORT_BASE	5000		/* ports are of these, so that sockets meet */
#define PORTS		8
#define AREA		(256 << 10)	/* memory of a thread that calls read and write */

enum who {
	USER	= 1,	/* no privileges */
	NSROOT	= 2,	/* root of a user namespace */
	ROOT	= 4,	/* the machine's root */
	ADMIN	= NSROOT | ROOT,
	ALL	= USER | NSROOT | ROOT,
};

/* What can be drawn: weight of 0 ends a table. */
struct op {
	const char *name;
	unsigned int weight;
	enum who who;
	void (*run)(void);
};

extern const struct op socket_ops[], data_ops[], option_ops[], message_ops[], uring_ops[],
	netlink_ops[], route_ops[], device_ops[], file_ops[], packet_ops[], rules_ops[],
	program_ops[], module_ops[], scene_ops[];

/* main.c */
extern int family;		/* 19, or 10 in takeover mode */
extern enum who role;		/* of this process */
extern int netns_fd[2];		/* two namespaces with a veth between them */

/* value.c: everything random comes from here, a stream for each thread */
void rnd_seed(uint64_t seed);
uint64_t rnd64(void);
unsigned int rnd(unsigned int below);
bool one_in(unsigned int n);
int value(void);		/* a number that a program might get wrong */
void fill(void *to, size_t len);
unsigned int ifindex(void);
void address(struct in6_addr *to);
socklen_t name(struct sockaddr_storage *to);	/* returns its length */
void *area(void);		/* AREA bytes of this thread */
void *memory(size_t len);	/* len bytes in it, or now and then what is no memory */
size_t length(void);
#define PICK(array)	((array)[rnd(COUNT(array))])

/* socket.c: the shared descriptors */
int fd_any(void);
int fd_put(int fd);		/* into a slot, what was there is closed; returns fd */
int message_flags(bool send);
bool connection(int pair[2]);	/* two ends, of the caller alone */

/* option.c, message.c */
size_t option_value(int level, int name, void *to);
void message_make(struct msghdr *msg, bool send);
size_t exthdr(void *to, int type);

/* wire.c */
struct packet {
	uint8_t frame[4096];
	size_t len;		/* of what follows the Ethernet header */
};

void wire_start(struct packet *p, const struct in6_addr *from, const struct in6_addr *to,
		int next, const void *payload, size_t len);
void wire_checksum(struct packet *p);
void wire_mutate(struct packet *p);
void wire_exthdr(struct packet *p);
void wire_router_alert(struct packet *p);
void get32(const void *from, uint32_t *to);
void put16(void *to, uint16_t v);
void put32(void *to, uint32_t v);

/* netlink.c */
struct nlbuf {
	uint8_t data[8192];
	size_t len;
};

void nl_start(struct nlbuf *b, int type, int flags, const void *head, size_t len);
void nl_attr(struct nlbuf *b, int type, const void *data, size_t len);
size_t nl_nest(struct nlbuf *b, int type);
void nl_end(struct nlbuf *b, size_t nest);
int nl_send(int protocol, struct nlbuf *b);	/* returns the kernel's answer, 0 or -errno */
void net6_command(int cmd, const int *attrs, const uint32_t *values, int count);
void net6_address(const char *text, const char *dev);

/* flow.c: the peer's TCP */
void flow_answer(const uint8_t *ip, const uint8_t *tcp, size_t len);
void flow_unasked(void);
void flow_flood(void);

/* packet.c */
extern struct packet last;	/* what the host sent */
void send_packet(struct packet *p, unsigned int odd);
void host_address(struct in6_addr *to);
void peer_address(struct in6_addr *to);

/* device.c, packet.c */
void devices_setup(void);
void packet_setup(void);
void packet_step(void);
extern uint8_t tap_address[16], tap_link_local[16];

#endif /* FUZZ_H */
