// SPDX-License-Identifier: GPL-2.0
/* Devices and namespaces: those that stay (lo, a tap device, a veth pair between two namespaces),
 * and those that come and go.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/net6_netlink.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "fuzz.h"

#define NAMES	6	/* fz0 and so on */

static void link_start(struct nlbuf *b, int type, int flags, int index, const char *name)
{
	struct ifinfomsg head = { .ifi_index = index };

	nl_start(b, type, flags, &head, sizeof(head));
	if (name)
		nl_attr(b, IFLA_IFNAME, name, strlen(name) + 1);
}

static void link_kind(struct nlbuf *b, const char *kind, const char *peer, int netns)
{
	struct ifinfomsg head = { };
	size_t info = nl_nest(b, IFLA_LINKINFO), data, to;

	nl_attr(b, IFLA_INFO_KIND, kind, strlen(kind));
	data = nl_nest(b, IFLA_INFO_DATA);
	if (peer) {
		to = nl_nest(b, VETH_INFO_PEER);
		memcpy(b->data + b->len, &head, sizeof(head));
		b->len += sizeof(head);
		nl_attr(b, IFLA_IFNAME, peer, strlen(peer) + 1);
		if (netns >= 0)
			nl_attr(b, IFLA_NET_NS_FD, &netns, 4);
		nl_end(b, to);
	} else if (!strcmp(kind, "vlan")) {
		uint16_t id = 1 + rnd(20);

		nl_attr(b, IFLA_VLAN_ID, &id, 2);
	} else if (!strcmp(kind, "macvlan")) {
		uint32_t mode = 1 << rnd(4);

		nl_attr(b, IFLA_MACVLAN_MODE, &mode, 4);
	}
	nl_end(b, data);
	nl_end(b, info);
}

static int link_set(int index, unsigned int on, unsigned int off)
{
	struct ifinfomsg head = { .ifi_index = index, .ifi_flags = on, .ifi_change = on | off };
	struct nlbuf b;

	nl_start(&b, RTM_NEWLINK, 0, &head, sizeof(head));
	return nl_send(NETLINK_ROUTE, &b);
}

static void up(const char *name)
{
	link_set(if_nametoindex(name), IFF_UP, 0);
}

/* In both namespaces: addresses are usable at once, without DAD. */
static void no_dad(const char *dev)
{
	static const int attrs[] = { NET6_A_IFACE_IFINDEX, NET6_A_IFACE_DAD_TRANSMITS };
	uint32_t values[] = { if_nametoindex(dev), 0 };

	net6_command(NET6_CMD_IFACE_SET, attrs, values, 2);
}

void devices_setup(void)
{
	struct nlbuf b;

	netns_fd[0] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (unshare(CLONE_NEWNET))
		return;
	netns_fd[1] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	up("lo");
	setns(netns_fd[0], CLONE_NEWNET);
	up("lo");
	link_start(&b, RTM_NEWLINK, NLM_F_CREATE, 0, "v0");
	link_kind(&b, "veth", "v1", netns_fd[1]);
	nl_send(NETLINK_ROUTE, &b);
	packet_setup();
	no_dad("v0");
	up("v0");
	net6_address("2001:db8:2::1", "v0");
	setns(netns_fd[1], CLONE_NEWNET);
	no_dad("v1");
	up("v1");
	net6_address("2001:db8:2::2", "v1");
	setns(netns_fd[0], CLONE_NEWNET);
}

static void some_name(char *to)
{
	sprintf(to, "fz%u", rnd(NAMES));
}

static void do_create(void)
{
	static const char *const kinds[] = { "dummy", "veth", "vlan", "macvlan", "bridge", "ifb",
		"vrf", "bond", "macvtap", "ipvlan" };
	const char *kind = PICK(kinds);
	char name[16], peer[16];
	uint32_t on = ifindex();
	struct nlbuf b;

	some_name(name);
	some_name(peer);
	link_start(&b, RTM_NEWLINK, NLM_F_CREATE, 0, name);
	if (!strcmp(kind, "vlan") || !strncmp(kind, "mac", 3) || !strcmp(kind, "ipvlan"))
		nl_attr(&b, IFLA_LINK, &on, 4);
	link_kind(&b, kind, strcmp(kind, "veth") ? NULL : peer, one_in(4) ? netns_fd[1] : -1);
	nl_send(NETLINK_ROUTE, &b);
	up(name);
}

static void do_delete(void)
{
	struct nlbuf b;
	char name[16];

	some_name(name);
	link_start(&b, RTM_DELLINK, 0, 0, name);
	nl_send(NETLINK_ROUTE, &b);
}

static void do_change(void)
{
	uint32_t number, index;
	uint8_t mac[6];
	char name[16];
	struct nlbuf b;

	some_name(name);
	index = one_in(10) ? 2 + rnd(3) : if_nametoindex(name);
	switch (rnd(7)) {
	case 0: case 1:
		link_set(index, 0, IFF_UP);
		link_set(index, IFF_UP, 0);
		return;
	case 2:
		link_set(index, rnd64() & (IFF_UP | IFF_ALLMULTI | IFF_NOARP | IFF_MULTICAST),
			 rnd64() & (IFF_UP | IFF_ALLMULTI | IFF_NOARP | IFF_MULTICAST));
		return;
	}
	link_start(&b, RTM_NEWLINK, 0, index, NULL);
	switch (rnd(5)) {
	case 0:
		number = one_in(2) ? 1280 + rnd(300) : (unsigned int)value();
		nl_attr(&b, IFLA_MTU, &number, 4);
		break;
	case 1:
		fill(mac, sizeof(mac));
		mac[0] = 2;
		nl_attr(&b, IFLA_ADDRESS, mac, sizeof(mac));
		break;
	case 2:
		some_name(name);
		number = one_in(2) ? 0 : if_nametoindex(name);
		nl_attr(&b, IFLA_MASTER, &number, 4);
		break;
	case 3:
		if (index > 4)
			nl_attr(&b, IFLA_NET_NS_FD, &netns_fd[one_in(2)], 4);
		break;
	default:
		some_name(name);
		if (index > 4)
			nl_attr(&b, IFLA_IFNAME, name, strlen(name) + 1);
	}
	nl_send(NETLINK_ROUTE, &b);
	link_set(index, IFF_UP, 0);
}

/* The devices that stay come up again, and tunnels that somebody made. */
static void do_again(void)
{
	static const char *const names[] = { "lo", "t0", "v0", "v1", "tun0", "tun1", "tun2" };

	for (size_t i = 0; i < COUNT(names); i++)
		up(names[i]);
	net6_address("2001:db8:5::1", "tun0");
}

/* This thread goes to the other namespace; its sockets are everybody's. */
static void do_switch(void)
{
	setns(netns_fd[rnd(2)], CLONE_NEWNET);
}

/* A namespace with a socket and a device in it, gone at once. */
static void do_namespace(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(1),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct nlbuf b;
	pid_t child;
	int fd;

	child = fork();
	if (child) {
		if (child > 0)
			waitpid(child, NULL, 0);
		return;
	}
	alarm(20);
	if (!unshare(CLONE_NEWNET | (role == USER ? CLONE_NEWUSER : 0))) {
		up("lo");
		if (one_in(2)) {
			link_start(&b, RTM_NEWLINK, NLM_F_CREATE, 0, "v0");
			link_kind(&b, "veth", "v1", -1);
			nl_send(NETLINK_ROUTE, &b);
			up("v0");
			up("v1");
			net6_address("2001:db8:9::1", "v0");
		}
		fd = socket(family, one_in(2) ? SOCK_STREAM : SOCK_DGRAM, 0);
		bind(fd, (void *)&to, sizeof(to));
		listen(fd, 2);
		fd = socket(family, one_in(2) ? SOCK_STREAM : SOCK_DGRAM, 0);
		connect(fd, (void *)&to, sizeof(to));
		send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	_exit(0);
}

/* What a device's packets wait in; some keep them and ask whose they are. */
static void do_qdisc(void)
{
	static const char *const kinds[] = { "fq", "pfifo_fast", "pfifo", "prio", "clsact",
		"fq_codel", "cake", "noqueue", "ingress" };
	static const char *const devices[] = { "t0", "v0", "v1", "lo" };
	const char *kind = PICK(kinds);
	struct tcmsg head = { .tcm_ifindex = if_nametoindex(PICK(devices)),
		.tcm_parent = TC_H_ROOT };
	struct nlbuf b;

	if (!strcmp(kind, "clsact") || !strcmp(kind, "ingress"))
		head.tcm_parent = TC_H_CLSACT;
	nl_start(&b, one_in(3) ? RTM_DELQDISC : RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &head,
		 sizeof(head));
	nl_attr(&b, TCA_KIND, kind, strlen(kind) + 1);
	nl_send(NETLINK_ROUTE, &b);
}

const struct op device_ops[] = {
	{ "dev_create", 2, ADMIN, do_create },
	{ "dev_delete", 2, ADMIN, do_delete },
	{ "dev_change", 3, ADMIN, do_change },
	{ "dev_again", 2, ADMIN, do_again },
	{ "dev_qdisc", 1, ADMIN, do_qdisc },
	{ "netns_switch", 2, ADMIN, do_switch },
	{ "namespace", 1, ALL, do_namespace },
	{ },
};
