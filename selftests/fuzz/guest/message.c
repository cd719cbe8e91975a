// SPDX-License-Identifier: GPL-2.0
/* sendmsg and recvmsg with ancillary data, one message or several. */
#include <netinet/tcp.h>
#include <netinet/udp.h>

#include "fuzz.h"

static const struct {
	int level, type;
} ancillary[] = {
	{ IPPROTO_IPV6, IPV6_PKTINFO }, { IPPROTO_IPV6, IPV6_PKTINFO },
	{ IPPROTO_IPV6, IPV6_2292PKTINFO }, { IPPROTO_IPV6, IPV6_HOPLIMIT },
	{ IPPROTO_IPV6, IPV6_2292HOPLIMIT }, { IPPROTO_IPV6, IPV6_TCLASS },
	{ IPPROTO_IPV6, IPV6_DONTFRAG }, { IPPROTO_IPV6, 11 /* IPV6_FLOWINFO */ },
	{ IPPROTO_IPV6, IPV6_HOPOPTS }, { IPPROTO_IPV6, IPV6_RTHDRDSTOPTS },
	{ IPPROTO_IPV6, IPV6_RTHDR }, { IPPROTO_IPV6, IPV6_DSTOPTS },
	{ IPPROTO_IPV6, IPV6_2292HOPOPTS }, { IPPROTO_IPV6, IPV6_2292DSTOPTS },
	{ IPPROTO_IPV6, IPV6_2292RTHDR }, { SOL_SOCKET, SO_MARK }, { SOL_SOCKET, SO_TIMESTAMPING },
	{ SOL_SOCKET, 61 /* SCM_TXTIME */ }, { IPPROTO_UDP, 103 /* UDP_SEGMENT */ },
	{ IPPROTO_IP, IP_PKTINFO }, { IPPROTO_IP, IP_TTL }, { IPPROTO_IP, IP_TOS },
	{ SOL_SOCKET, SCM_RIGHTS }, { SOL_SOCKET, SCM_CREDENTIALS },
};

static size_t item_value(int level, int type, void *to)
{
	if (level == IPPROTO_UDP) {
		*(uint16_t *)to = one_in(4) ? value() : 1 + (int)rnd(1400);
		return 2;
	}
	if (level == SOL_SOCKET && type == 61) {
		fill(to, 8);
		return 8;
	}
	if (level == IPPROTO_IPV6) {
		switch (type) {
		case IPV6_2292PKTINFO:
			type = IPV6_PKTINFO;
			break;
		case IPV6_2292HOPOPTS: case IPV6_2292DSTOPTS: case IPV6_2292RTHDR:
			return exthdr(to, type);
		}
	}
	return option_value(level, type, to);
}

static size_t control_make(uint8_t *to, size_t room)
{
	size_t at = 0;

	for (unsigned int n = rnd(4); n; n--) {
		struct cmsghdr *c = (void *)(to + at);
		unsigned int i = rnd(COUNT(ancillary));
		size_t len;

		if (at + CMSG_SPACE(300) > room)
			break;
		c->cmsg_level = ancillary[i].level;
		c->cmsg_type = one_in(60) ? (int)rnd(100) : ancillary[i].type;
		len = item_value(ancillary[i].level, ancillary[i].type, CMSG_DATA(c));
		if (len > 256)
			len = 256;
		c->cmsg_len = CMSG_LEN(len);
		at += CMSG_SPACE(len);
		if (one_in(40))
			c->cmsg_len = value();
	}
	return one_in(40) ? rnd(at + 1) : at;
}

/* All that @msg points to is the thread's own; overwritten by the next one of that direction. */
void message_make(struct msghdr *msg, bool send)
{
	static __thread struct sockaddr_storage names[2];
	static __thread uint8_t controls[2][1200] __attribute__((aligned(8)));
	static __thread struct iovec iovs[2][4];
	struct iovec *iov = iovs[send];

	memset(msg, 0, sizeof(*msg));
	if (send ? one_in(2) : !one_in(3)) {
		msg->msg_name = &names[send];
		msg->msg_namelen = send ? name(&names[send]) : rnd(sizeof(names[0]));
	}
	msg->msg_iov = iov;
	msg->msg_iovlen = rnd(5);
	for (size_t i = 0; i < msg->msg_iovlen; i++) {
		iov[i].iov_len = length();
		iov[i].iov_base = memory(iov[i].iov_len);
	}
	msg->msg_control = controls[send];
	msg->msg_controllen = send ? control_make(controls[1], sizeof(controls[1])) :
				     one_in(4) ? rnd(200) : sizeof(controls[0]);
}

static void do_sendmsg(void)
{
	struct msghdr msg;

	message_make(&msg, true);
	sendmsg(fd_any(), &msg, message_flags(true));
}

static void do_recvmsg(void)
{
	struct msghdr msg;

	message_make(&msg, false);
	recvmsg(fd_any(), &msg, message_flags(false));
}

static void do_errqueue(void)
{
	struct msghdr msg;
	int fd = fd_any();

	for (int i = 0; i < 4; i++) {
		message_make(&msg, false);
		if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
	}
}

static void do_several(void)
{
	struct mmsghdr msg[4] = { };
	struct timespec limit = { 0, 1000000 };

	if (one_in(2)) {
		message_make(&msg[0].msg_hdr, true);
		msg[1] = msg[0];
		msg[2] = msg[0];
		msg[3] = msg[0];
		sendmmsg(fd_any(), msg, rnd(5), message_flags(true));
	} else {
		message_make(&msg[0].msg_hdr, false);
		msg[1] = msg[0];
		msg[2] = msg[0];
		msg[3] = msg[0];
		recvmmsg(fd_any(), msg, rnd(5), message_flags(false), &limit);
	}
}

/* Datagrams for a peer, with options that are set first: paths that single calls seldom meet. */
static void do_datagram(void)
{
	static const int offs[] = { IPV6_HOPOPTS, IPV6_RTHDR, IPV6_DSTOPTS, IPV6_RTHDRDSTOPTS };
	struct sockaddr_in6 to = { .sin6_family = AF_INET6,
				   .sin6_port = htons(PORT_BASE + rnd(PORTS)) };
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0), one = 1, pmtu = rnd(6);
	uint8_t buf[64];

	memcpy(&to.sin6_addr, tap_address, 16);
	to.sin6_addr.s6_addr[15] = 1 + rnd(4);
	setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &pmtu, sizeof(pmtu));
	if (one_in(3)) {
		int opt = PICK(offs);

		setsockopt(fd, IPPROTO_IPV6, opt, buf, exthdr(buf, opt));
	}
	if (one_in(3)) {
		int mss = 100 + rnd(1300);

		setsockopt(fd, IPPROTO_UDP, 103, &mss, sizeof(mss));
	}
	sendto(fd, area(), one_in(2) ? rnd(1400) : rnd(65000), 0, (void *)&to, sizeof(to));
	sendto(fd, area(), rnd(200), MSG_MORE, (void *)&to, sizeof(to));
	sendto(fd, area(), rnd(9000), 0, (void *)&to, sizeof(to));
	fd_put(fd);
}

const struct op message_ops[] = {
	{ "sendmsg", 60, ALL, do_sendmsg },
	{ "recvmsg", 40, ALL, do_recvmsg },
	{ "errqueue", 15, ALL, do_errqueue },
	{ "several", 10, ALL, do_several },
	{ "datagram", 20, ALL, do_datagram },
	{ },
};
