// SPDX-License-Identifier: GPL-2.0
/* Talking to the netlink family of net6. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

static struct mnl_socket *sock;
static uint16_t family;
static uint32_t monitor_group;
static char request[CTL_BUFFER];
static char answer[CTL_BUFFER];
static int forgiven[2];
static int refusal;

static int collect(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;

	if (mnl_attr_get_type(attr) < CTL_ATTRS)
		attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

/* The kernel's words behind an errno, if it said any. */
static const char *extack(const struct nlmsghdr *nlh, const struct nlmsgerr *err)
{
	size_t offset = sizeof(*err);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		offset += err->msg.nlmsg_len - sizeof(err->msg);
	if (MNL_NLMSG_HDRLEN + offset > nlh->nlmsg_len)
		return NULL;
	mnl_attr_for_each(attr, nlh, offset)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			return mnl_attr_get_str(attr);
	return NULL;
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	const char *words;

	(void)data;
	if (nlh->nlmsg_len < mnl_nlmsg_size(sizeof(*err)))
		die("the kernel's answer is too short");
	if (!err->error)
		return MNL_CB_STOP;
	if (-err->error == forgiven[0] || -err->error == forgiven[1]) {
		refusal = -err->error;
		return MNL_CB_STOP;
	}
	words = extack(nlh, err);
	if (words)
		die("%s (%s)", words, strerror(-err->error));
	if (err->error == -EPERM)
		die("this needs CAP_NET_ADMIN");
	die("%s", strerror(-err->error));
}

static int on_done(const struct nlmsghdr *nlh, void *data)
{
	const int *err = mnl_nlmsg_get_payload(nlh);

	(void)data;
	if (nlh->nlmsg_len >= mnl_nlmsg_size(sizeof(*err)) && *err)
		die("%s", strerror(-*err));
	return MNL_CB_STOP;
}

static mnl_cb_t control[NLMSG_MIN_TYPE] = {
	[NLMSG_ERROR]	= on_error,
	[NLMSG_DONE]	= on_done,
};

struct receiver {
	void (*fn)(uint8_t cmd, const struct nlattr **attrs);
};

static int on_message(const struct nlmsghdr *nlh, void *data)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attrs[CTL_ATTRS] = { NULL };
	const struct receiver *receiver = data;

	mnl_attr_parse(nlh, sizeof(*genl), collect, attrs);
	if (receiver->fn)
		receiver->fn(genl->cmd, attrs);
	return MNL_CB_OK;
}

struct nlmsghdr *ctl_request(uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = NET6_FAMILY_VERSION;
	return nlh;
}

void ctl_forgive(int one, int other)
{
	if (loading != LOADING_APPLY)
		return;
	forgiven[0] = one;
	forgiven[1] = other;
}

/* A dump ends with NLMSG_DONE, everything else with the acknowledgment. */
static int talk(struct mnl_socket *sock, struct nlmsghdr *nlh, mnl_cb_t fn, void *data)
{
	static unsigned int seq;
	int got, more;

	refusal = 0;
	if (loading == LOADING_JUDGE)
		return 0;
	if ((nlh->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		nlh->nlmsg_flags |= NLM_F_ACK;
	nlh->nlmsg_seq = ++seq;
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		die("cannot send to the kernel: %s", strerror(errno));
	do {
		got = mnl_socket_recvfrom(sock, answer, sizeof(answer));
		if (got < 0)
			die("cannot receive from the kernel: %s", strerror(errno));
		more = mnl_cb_run2(answer, got, seq, mnl_socket_get_portid(sock), fn, data,
				   control, NLMSG_MIN_TYPE);
		if (more < 0 && errno == EINTR)
			die("there is more than one answer can hold; ask for one interface (dev)");
		if (more < 0)
			die("the kernel's answer makes no sense: %s", strerror(errno));
	} while (more > 0);
	memset(forgiven, 0, sizeof(forgiven));
	return refusal;
}

int ctl_talk(struct nlmsghdr *nlh, void (*fn)(uint8_t cmd, const struct nlattr **attrs))
{
	struct receiver receiver = { fn };

	return talk(sock, nlh, on_message, &receiver);
}

struct nlmsghdr *route_request(uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	return nlh;
}

struct route_receiver {
	void (*fn)(const struct nlmsghdr *nlh);
};

static int on_route_message(const struct nlmsghdr *nlh, void *data)
{
	const struct route_receiver *receiver = data;

	if (receiver->fn)
		receiver->fn(nlh);
	return MNL_CB_OK;
}

static struct mnl_socket *open_socket(int protocol)
{
	struct mnl_socket *new = mnl_socket_open(protocol);
	int one = 1;

	if (!new || mnl_socket_bind(new, 0, MNL_SOCKET_AUTOPID) < 0)
		die("cannot open a netlink socket: %s", strerror(errno));
	/* Old kernels without them only say less. */
	mnl_socket_setsockopt(new, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(new, NETLINK_CAP_ACK, &one, sizeof(one));
	return new;
}

void route_talk(struct nlmsghdr *nlh, void (*fn)(const struct nlmsghdr *nlh))
{
	struct route_receiver receiver = { fn };
	static struct mnl_socket *route;

	if (!route)
		route = open_socket(NETLINK_ROUTE);
	talk(route, nlh, on_route_message, &receiver);
}

void ctl_dump(uint8_t cmd, void (*fn)(uint8_t cmd, const struct nlattr **attrs))
{
	ctl_talk(ctl_request(cmd, NLM_F_DUMP), fn);
}

uint32_t ctl_u32(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) == 4 ? mnl_attr_get_u32(attr) : 0;
}

struct in6_addr ctl_address(const struct nlattr *attr)
{
	struct in6_addr address = { 0 };

	if (attr && mnl_attr_get_payload_len(attr) == sizeof(address))
		memcpy(&address, mnl_attr_get_payload(attr), sizeof(address));
	return address;
}

static void on_group(const struct nlattr *group)
{
	const struct nlattr *attr, *id = NULL;
	const char *name = NULL;

	mnl_attr_for_each_nested(attr, group) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
			name = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
			id = attr;
	}
	if (name && id && !strcmp(name, NET6_MCGRP_MONITOR))
		monitor_group = mnl_attr_get_u32(id);
}

static void on_family(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *group;

	if (cmd != CTRL_CMD_NEWFAMILY || !attrs[CTRL_ATTR_FAMILY_ID])
		return;
	family = mnl_attr_get_u16(attrs[CTRL_ATTR_FAMILY_ID]);
	if (attrs[CTRL_ATTR_MCAST_GROUPS])
		mnl_attr_for_each_nested(group, attrs[CTRL_ATTR_MCAST_GROUPS])
			on_group(group);
}

bool ctl_find(const char *name, const char *module)
{
	struct nlmsghdr *nlh;

	family = GENL_ID_CTRL;
	nlh = ctl_request(CTRL_CMD_GETFAMILY, 0);
	family = 0;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	nlh->nlmsg_flags |= NLM_F_ACK;
	nlh->nlmsg_seq = 1;
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		die("cannot send to the kernel: %s", strerror(errno));
	for (;;) {
		struct receiver receiver = { on_family };
		int got = mnl_socket_recvfrom(sock, answer, sizeof(answer));
		int more = got < 0 ? -1 : mnl_cb_run(answer, got, 1, mnl_socket_get_portid(sock),
						     on_message, &receiver);

		if (more < 0 && errno == ENOENT)
			return false;
		if (more < 0)
			die("cannot find the netlink family of %s: %s", module, strerror(errno));
		if (!more)
			break;
	}
	return family;
}

void ctl_use(const char *name, const char *module)
{
	if (!ctl_find(name, module))
		die("%s is not loaded (modprobe %s)", module, module);
}

void ctl_open(void)
{
	sock = open_socket(NETLINK_GENERIC);
	ctl_use(NET6_FAMILY_NAME, "net6");
}

void ctl_monitor(void (*fn)(uint8_t cmd, const struct nlattr **attrs))
{
	struct receiver receiver = { fn };
	int got;

	if (mnl_socket_setsockopt(sock, NETLINK_ADD_MEMBERSHIP, &monitor_group,
				  sizeof(monitor_group)) < 0)
		die("cannot join the monitor group: %s", strerror(errno));
	for (;;) {
		got = mnl_socket_recvfrom(sock, answer, sizeof(answer));
		if (got < 0 && errno == ENOBUFS)
			complain("events were lost");
		else if (got < 0)
			die("cannot receive from the kernel: %s", strerror(errno));
		else
			mnl_cb_run(answer, got, 0, 0, on_message, &receiver);
	}
}
