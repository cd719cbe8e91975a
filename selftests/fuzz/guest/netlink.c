// SPDX-License-Identifier: GPL-2.0
/* Netlink: messages in general, and the generic netlink family "net6" with its commands and
 * attributes (Documentation/netlink/specs/net6.yaml).
 */
#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/net6_netlink.h>
#include <linux/netlink.h>
#include <net/if.h>

#include "fuzz.h"

static __thread struct nlbuf answer;

void nl_start(struct nlbuf *b, int type, int flags, const void *head, size_t len)
{
	struct nlmsghdr *h = (void *)b->data;

	memset(h, 0, sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	memcpy(h + 1, head, len);
	b->len = NLMSG_ALIGN(sizeof(*h) + len);
}

void nl_attr(struct nlbuf *b, int type, const void *data, size_t len)
{
	struct nlattr *a = (void *)(b->data + b->len);

	if (b->len + len + 16 > sizeof(b->data))
		return;
	a->nla_type = type;
	a->nla_len = sizeof(*a) + len;
	memset(a + 1, 0, NLA_ALIGN(len));
	memcpy(a + 1, data, len);
	b->len += NLA_ALIGN(a->nla_len);
}

size_t nl_nest(struct nlbuf *b, int type)
{
	size_t at = b->len;

	nl_attr(b, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nl_end(struct nlbuf *b, size_t nest)
{
	((struct nlattr *)(b->data + nest))->nla_len = b->len - nest;
}

int nl_send(int protocol, struct nlbuf *b)
{
	struct nlmsghdr *h = (void *)b->data, *r = (void *)answer.data;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), err = -EAGAIN;
	struct timeval limit = { 0, 200000 };
	ssize_t n;

	if (fd < 0)
		return -errno;
	h->nlmsg_len = b->len;
	if (one_in(300))
		h->nlmsg_len = rnd(b->len + 8);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (!(h->nlmsg_flags & NLM_F_DUMP))
		h->nlmsg_flags |= NLM_F_ACK;
	send(fd, b->data, b->len, 0);
	/* A dump is read to its end, or left in the middle. */
	while ((n = recv(fd, answer.data, sizeof(answer.data), 0)) > 0) {
		answer.len = n;
		if (r->nlmsg_type == NLMSG_ERROR)
			err = *(int *)(r + 1);
		else if (r->nlmsg_type != NLMSG_DONE)
			err = 0;
		if (r->nlmsg_type == NLMSG_ERROR || r->nlmsg_type == NLMSG_DONE || one_in(20) ||
		    !(h->nlmsg_flags & NLM_F_DUMP))
			break;
	}
	close(fd);
	return err;
}

static int net6_family(void)
{
	struct genlmsghdr head = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	static volatile int known;
	struct nlbuf b;

	if (known)
		return known;
	nl_start(&b, GENL_ID_CTRL, 0, &head, sizeof(head));
	nl_attr(&b, CTRL_ATTR_FAMILY_NAME, NET6_FAMILY_NAME, sizeof(NET6_FAMILY_NAME));
	if (nl_send(NETLINK_GENERIC, &b))
		return 0;
	for (size_t at = NLMSG_HDRLEN + GENL_HDRLEN; at + 4 < answer.len;) {
		struct nlattr *a = (void *)(answer.data + at);

		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			known = *(uint16_t *)(a + 1);
		at += NLA_ALIGN(a->nla_len);
		if (!a->nla_len)
			break;
	}
	return known;
}

/* A command with attributes that are numbers: for setting things up. */
void net6_command(int cmd, const int *attrs, const uint32_t *values, int count)
{
	struct genlmsghdr head = { .cmd = cmd, .version = NET6_FAMILY_VERSION };
	struct nlbuf b;

	nl_start(&b, net6_family(), 0, &head, sizeof(head));
	for (int i = 0; i < count; i++)
		nl_attr(&b, attrs[i], &values[i], 4);
	nl_send(NETLINK_GENERIC, &b);
}

void net6_address(const char *text, const char *dev)
{
	struct genlmsghdr head = { .cmd = NET6_CMD_ADDR_ADD, .version = NET6_FAMILY_VERSION };
	uint32_t index = if_nametoindex(dev), plen = 64;
	struct in6_addr a;
	struct nlbuf b;

	inet_pton(AF_INET6, text, &a);
	nl_start(&b, net6_family(), 0, &head, sizeof(head));
	nl_attr(&b, NET6_A_ADDR_IFINDEX, &index, 4);
	nl_attr(&b, NET6_A_ADDR_ADDRESS, &a, 16);
	nl_attr(&b, NET6_A_ADDR_PREFIX_LEN, &plen, 4);
	nl_send(NETLINK_GENERIC, &b);
}

/* What an attribute is: i interface, 6 address, 4 IPv4 address, r the peer's, l the host's,
 * p prefix length, t a protocol of sockets, u number, s text, f flag, b link-layer address,
 * - not of a request; the first one is attribute 1.
 */
static const struct {
	int cmd, weight;
	const char *attrs;
	bool dump;
} commands[] = {
	{ NET6_CMD_IFACE_GET, 4, "i", true },
	{ NET6_CMD_IFACE_SET, 12,
	  "i---uuuuu-u-u----uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu", false },
	{ NET6_CMD_IFACE_ATTACH, 2, "i", false },
	{ NET6_CMD_IFACE_DETACH, 1, "i", false },
	{ NET6_CMD_ADDR_GET, 4, "i", true },
	{ NET6_CMD_ADDR_ADD, 8, "i6p--uu", false },
	{ NET6_CMD_ADDR_DEL, 3, "i6p", false },
	{ NET6_CMD_ACCEPT_GET, 3, "i", true },
	{ NET6_CMD_NEIGH_GET, 3, "i", true },
	{ NET6_CMD_NEIGH_ADD, 6, "i6--b", false },
	{ NET6_CMD_NEIGH_DEL, 3, "i6", false },
	{ NET6_CMD_ROUTER_GET, 3, "i", true },
	{ NET6_CMD_ROUTER_ADD, 4, "i6u", false },
	{ NET6_CMD_ROUTER_DEL, 3, "i6", false },
	{ NET6_CMD_PREFIX_GET, 3, "i", true },
	{ NET6_CMD_PREFIX_ADD, 5, "i6p", false },
	{ NET6_CMD_PREFIX_DEL, 3, "i6p", false },
	{ NET6_CMD_DEST_GET, 3, "--i", true },
	{ NET6_CMD_SOCK_GET, 6, "t-----------------f", true },
	{ NET6_CMD_COUNTER_GET, 2, "", true },
	{ NET6_CMD_DROP_GET, 2, "", true },
	{ NET6_CMD_LIMITS_GET, 2, "", false },
	{ NET6_CMD_LIMITS_SET, 4, "uuuuuuuuuuuuuuuuuuuuuu", false },
	{ NET6_CMD_FLUSH, 2, "ui", false },
	{ NET6_CMD_TUNNEL_GET, 3, "i", true },
	{ NET6_CMD_TUNNEL_ADD, 5, "-s-rl----", false },
	{ NET6_CMD_TUNNEL_ADD, 3, "-s-44uuuu", false },
	{ NET6_CMD_TUNNEL_SET, 5, "i--44uuuu", false },
	{ NET6_CMD_TUNNEL_DEL, 2, "i", false },
	{ NET6_CMD_ROUTE_GET, 3, "i", true },
	{ NET6_CMD_ROUTE_ADD, 8, "i6p6u", false },
	{ NET6_CMD_ROUTE_DEL, 3, "i6p6", false },
	{ NET6_CMD_SECRET_SET, 1, "6", false },
	{ NET6_CMD_POLICY_GET, 2, "", true },
	{ NET6_CMD_POLICY_ADD, 3, "6puu", false },
	{ NET6_CMD_POLICY_DEL, 2, "6p", false },
	{ NET6_CMD_PROXY_GET, 2, "i", true },
	{ NET6_CMD_PROXY_ADD, 3, "i6f", false },
	{ NET6_CMD_PROXY_DEL, 2, "i6", false },
	{ NET6_CMD_SOCK_DEL, 4, "--6u6uu-------------f", false },
};

static void attribute(struct nlbuf *b, int type, char kind)
{
	static const uint8_t protocols[] = { 0, IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP,
		IPPROTO_ICMPV6, IPPROTO_RAW };
	static const char *const v4[] = { "192.0.2.2", "192.0.2.1", "127.0.0.1", "0.0.0.0" };
	struct in6_addr a;
	uint32_t number;
	char text[16];

	switch (kind) {
	case 'i':
		number = ifindex();
		nl_attr(b, type, &number, 4);
		break;
	case 'p':
		number = one_in(10) ? value() : one_in(2) ? 64 : one_in(2) ? 128 : (int)rnd(129);
		nl_attr(b, type, &number, 4);
		break;
	case 't':
		number = PICK(protocols);
		nl_attr(b, type, &number, 4);
		break;
	case 'u':
		number = one_in(3) ? value() : (int)rnd(3);
		nl_attr(b, type, &number, 4);
		break;
	case '6':
		address(&a);
		nl_attr(b, type, &a, one_in(100) ? rnd(17) : 16);
		break;
	case '4':
		inet_pton(AF_INET, PICK(v4), &number);
		nl_attr(b, type, &number, 4);
		break;
	case 'r': case 'l':	/* of the peer, or here */
		inet_pton(AF_INET, kind == 'r' ? "192.0.2.2" : "192.0.2.1", &number);
		nl_attr(b, type, &number, 4);
		break;
	case 's':
		sprintf(text, "tun%u", rnd(3));
		nl_attr(b, type, text, strlen(text) + 1);
		break;
	case 'b':
		nl_attr(b, type, "\2\0\0\0\0\2", one_in(10) ? rnd(7) : 6);
		break;
	case 'f':
		nl_attr(b, type, NULL, 0);
		break;
	}
}

static void do_net6(void)
{
	struct genlmsghdr head = { .version = NET6_FAMILY_VERSION };
	unsigned int i, few;
	struct nlbuf b;
	bool dump;

	do
		i = rnd(COUNT(commands));
	while ((int)rnd(12) >= commands[i].weight);
	head.cmd = one_in(200) ? rnd(256) : commands[i].cmd;
	dump = commands[i].dump != one_in(50);
	nl_start(&b, net6_family(), dump ? NLM_F_DUMP : 0, &head, sizeof(head));
	/* Of commands with many attributes a few. */
	few = strlen(commands[i].attrs) > 10 ? 8 : 1;
	for (int at = 0; commands[i].attrs[at]; at++) {
		if (one_in(30) || (at && few > 1 && !one_in(few)))
			continue;
		attribute(&b, at + 1, commands[i].attrs[at]);
	}
	if (one_in(50))
		nl_attr(&b, rnd(70), area(), rnd(40));
	nl_send(NETLINK_GENERIC, &b);
}

/* Ends a connection that there is. */
static void do_kill(void)
{
	struct genlmsghdr head = { .cmd = NET6_CMD_SOCK_DEL, .version = NET6_FAMILY_VERSION };
	struct sockaddr_in6 local = { }, remote = { };
	socklen_t len = sizeof(local);
	uint32_t port, protocol = one_in(8) ? IPPROTO_UDP : IPPROTO_TCP;
	int fd = fd_any();
	struct nlbuf b;

	getsockname(fd, (void *)&local, &len);
	len = sizeof(remote);
	getpeername(fd, (void *)&remote, &len);
	nl_start(&b, net6_family(), 0, &head, sizeof(head));
	nl_attr(&b, NET6_A_SOCK_PROTOCOL, &protocol, 4);
	nl_attr(&b, NET6_A_SOCK_LOCAL_ADDRESS, &local.sin6_addr, 16);
	port = ntohs(local.sin6_port);
	nl_attr(&b, NET6_A_SOCK_LOCAL_PORT, &port, 4);
	nl_attr(&b, NET6_A_SOCK_REMOTE_ADDRESS, &remote.sin6_addr, 16);
	port = ntohs(remote.sin6_port);
	nl_attr(&b, NET6_A_SOCK_REMOTE_PORT, &port, 4);
	nl_send(NETLINK_GENERIC, &b);
}

/* Listens to what changes, for a while. */
static void do_monitor(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = -1 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
			one_in(2) ? NETLINK_ROUTE : NETLINK_GENERIC);

	bind(fd, (void *)&to, sizeof(to));
	for (unsigned int group = 32; group < 40; group++)
		setsockopt(fd, 270 /* SOL_NETLINK */, 1 /* ADD_MEMBERSHIP */, &group, 4);
	fd_put(fd);
}

/* What the commands broke is mended, or most packets would find nobody. */
static void do_mend(void)
{
	static const int attrs[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 22 };
	static const uint32_t limits[] = { 16, 64, 16, 1024, 4096, 16, 1000, 131072, 64, 8, 1024,
		4096 };
	int set[] = { NET6_A_IFACE_IFINDEX, NET6_A_IFACE_DISABLE_IPV6, NET6_A_IFACE_ACCEPT_RA,
		NET6_A_IFACE_DAD_TRANSMITS };

	static const int ways[] = { NET6_A_IFACE_IFINDEX, NET6_A_IFACE_FORWARDING,
		NET6_A_IFACE_USE_TEMPADDR, NET6_A_IFACE_PROXY_NDP, NET6_A_IFACE_AUTOCONF,
		NET6_A_IFACE_ACCEPT_RA_RT_INFO_MAX_PLEN, NET6_A_IFACE_FORCE_MLD_VERSION,
		NET6_A_IFACE_ACCEPT_REDIRECTS };

	net6_command(NET6_CMD_LIMITS_SET, attrs, limits, COUNT(attrs));
	for (uint32_t i = 1; i < 8; i++) {
		uint32_t to[] = { i, 0, 1 + (i & 1), one_in(3) };
		uint32_t which[] = { i, one_in(2), rnd(3), one_in(2), 1, 64, rnd(3), 1 };

		net6_command(NET6_CMD_IFACE_ATTACH, set, to, 1);
		net6_command(NET6_CMD_IFACE_SET, set, to, COUNT(set));
		net6_command(NET6_CMD_IFACE_SET, ways, which, COUNT(ways));
	}
	net6_address("2001:db8:1::1", "t0");
	net6_address("2001:db8:2::1", "v0");
	net6_address("2001:db8:2::2", "v1");
}

const struct op netlink_ops[] = {
	{ "net6", 45, ALL, do_net6 },
	{ "kill", 4, ADMIN, do_kill },
	{ "monitor", 2, ALL, do_monitor },
	{ "mend", 3, ADMIN, do_mend },
	{ },
};
