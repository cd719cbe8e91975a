// SPDX-License-Identifier: GPL-2.0
/* netfilter's rules by its bare messages: tables with chains at every hook and rules of a few
 * expressions, which come and go. A program that has packets queued to it and lets them go.
 */
#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <poll.h>

#include "fuzz.h"

#define TABLES		3	/* fz0 and so on */
#define QUEUE		5
#define OUTBOUND	64	/* octets of a packet that the queue's reader sees */

/* Families of tables, as nft calls them. */
enum { INET = 1, IP6 = 10, NETDEV = 5 };

/* ---- messages ---- */

static void batch_start(struct nlbuf *b)
{
	struct nlmsghdr *h = (void *)b->data;
	struct nfgenmsg *g = (void *)(h + 1);

	memset(h, 0, sizeof(*h) + sizeof(*g));
	h->nlmsg_len = sizeof(*h) + sizeof(*g);
	h->nlmsg_type = NFNL_MSG_BATCH_BEGIN;
	h->nlmsg_flags = NLM_F_REQUEST;
	g->res_id = htons(NFNL_SUBSYS_NFTABLES);
	b->len = h->nlmsg_len;
}

static void batch_add(struct nlbuf *b, const struct nlbuf *message)
{
	struct nlmsghdr *h = (void *)(b->data + b->len);

	if (b->len + message->len + 64 > sizeof(b->data))
		return;
	memcpy(h, message->data, message->len);
	h->nlmsg_len = message->len;
	b->len += message->len;
}

/* Answers are not waited for: an error ends the batch, and what it said is of no use here. */
static void batch_send(struct nlbuf *b)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 12 /* NETLINK_NETFILTER */);
	struct nlbuf end;

	batch_start(&end);
	((struct nlmsghdr *)end.data)->nlmsg_type = NFNL_MSG_BATCH_END;
	batch_add(b, &end);
	if (fd < 0)
		return;
	send(fd, b->data, b->len, 0);
	close(fd);
}

static void nft_start(struct nlbuf *b, int type, int flags, int table_family)
{
	struct nfgenmsg head = { .nfgen_family = table_family };

	nl_start(b, NFNL_SUBSYS_NFTABLES << 8 | type, flags, &head, sizeof(head));
}

static void text(struct nlbuf *b, int type, const char *s)
{
	nl_attr(b, type, s, strlen(s) + 1);
}

static void be32(struct nlbuf *b, int type, uint32_t v)
{
	v = htonl(v);
	nl_attr(b, type, &v, 4);
}

/* ---- expressions ---- */

/* Nests of one expression: what is in it comes between these two. */
struct nests {
	size_t element, data;
};

static struct nests expr(struct nlbuf *b, const char *kind)
{
	struct nests n;

	n.element = nl_nest(b, NFTA_LIST_ELEM);
	text(b, NFTA_EXPR_NAME, kind);
	n.data = nl_nest(b, NFTA_EXPR_DATA);
	return n;
}

static void expr_end(struct nlbuf *b, struct nests n)
{
	nl_end(b, n.data);
	nl_end(b, n.element);
}

static void compare(struct nlbuf *b, int op, const void *to, size_t len)
{
	struct nests n = expr(b, "cmp");
	size_t data;

	be32(b, NFTA_CMP_SREG, NFT_REG_1);
	be32(b, NFTA_CMP_OP, op);
	data = nl_nest(b, NFTA_CMP_DATA);
	nl_attr(b, NFTA_DATA_VALUE, to, len);
	nl_end(b, data);
	expr_end(b, n);
}

static void payload(struct nlbuf *b, int base, int offset, int len)
{
	struct nests n = expr(b, "payload");

	be32(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
	be32(b, NFTA_PAYLOAD_BASE, base);
	be32(b, NFTA_PAYLOAD_OFFSET, offset);
	be32(b, NFTA_PAYLOAD_LEN, len);
	expr_end(b, n);
}

static void meta(struct nlbuf *b, int key)
{
	struct nests n = expr(b, "meta");

	be32(b, NFTA_META_DREG, NFT_REG_1);
	be32(b, NFTA_META_KEY, key);
	expr_end(b, n);
}

static void protocol(struct nlbuf *b, uint8_t which)
{
	meta(b, NFT_META_L4PROTO);
	compare(b, NFT_CMP_EQ, &which, 1);
}

static void constant(struct nlbuf *b, int reg, const void *value, size_t len)
{
	struct nests n = expr(b, "immediate");
	size_t data;

	be32(b, NFTA_IMMEDIATE_DREG, reg);
	data = nl_nest(b, NFTA_IMMEDIATE_DATA);
	nl_attr(b, NFTA_DATA_VALUE, value, len);
	nl_end(b, data);
	expr_end(b, n);
}

static void verdict(struct nlbuf *b, int code)
{
	struct nests n = expr(b, "immediate");
	size_t data, inner;

	be32(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = nl_nest(b, NFTA_IMMEDIATE_DATA);
	inner = nl_nest(b, NFTA_DATA_VERDICT);
	be32(b, NFTA_VERDICT_CODE, code);
	nl_end(b, inner);
	nl_end(b, data);
	expr_end(b, n);
}

/* Which packets: seldom all of them, or nothing would be left of the traffic. */
static void match(struct nlbuf *b)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6 };
	static const int keys[] = { NFT_META_SKUID, NFT_META_CGROUP, NFT_META_MARK, NFT_META_LEN,
		NFT_META_IIF, NFT_META_OIF, NFT_META_PKTTYPE };
	uint8_t octet = rnd(256);
	uint32_t number = rnd(4);
	struct nests n;

	switch (rnd(7)) {
	case 0:
		protocol(b, PICK(protocols));
		break;
	case 1:
		meta(b, PICK(keys));
		compare(b, one_in(2) ? NFT_CMP_EQ : NFT_CMP_GT, &number, 4);
		break;
	case 2:
		n = expr(b, "ct");
		be32(b, NFTA_CT_DREG, NFT_REG_1);
		be32(b, NFTA_CT_KEY, NFT_CT_STATE);
		expr_end(b, n);
		compare(b, NFT_CMP_NEQ, &number, 4);
		break;
	case 3:
		n = expr(b, "socket");
		be32(b, NFTA_SOCKET_DREG, NFT_REG_1);
		be32(b, NFTA_SOCKET_KEY, rnd(3));
		expr_end(b, n);
		break;
	case 4:
		n = expr(b, "fib");
		be32(b, NFTA_FIB_DREG, NFT_REG_1);
		be32(b, NFTA_FIB_RESULT, 1 + rnd(3));
		be32(b, NFTA_FIB_FLAGS, 1 + rnd(31));
		expr_end(b, n);
		number = 0;
		compare(b, NFT_CMP_NEQ, &number, 4);
		break;
	case 5:		/* what the packet's route says */
		number = one_in(2) ? NFT_RT_TCPMSS : NFT_RT_NEXTHOP6;
		n = expr(b, "rt");
		be32(b, NFTA_RT_DREG, NFT_REG_1);
		be32(b, NFTA_RT_KEY, number);
		expr_end(b, n);
		compare(b, NFT_CMP_NEQ, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
			number == NFT_RT_TCPMSS ? 2 : 16);
		break;
	}
	/* A part of it, by the low octet of a port, or what is there. */
	payload(b, NFT_PAYLOAD_TRANSPORT_HEADER, one_in(2) ? 1 : 3, 1);
	compare(b, one_in(2) ? NFT_CMP_LT : NFT_CMP_GT, &octet, 1);
}

static void translate(struct nlbuf *b, const char *kind)
{
	struct nests n;
	struct in6_addr a;

	if (!strcmp(kind, "nat")) {
		address(&a);
		constant(b, NFT_REG_1, &a, 16);
	}
	n = expr(b, kind);
	if (!strcmp(kind, "nat")) {
		be32(b, NFTA_NAT_TYPE, rnd(2));
		be32(b, NFTA_NAT_FAMILY, IP6);
		be32(b, NFTA_NAT_REG_ADDR_MIN, NFT_REG_1);
	} else if (!strcmp(kind, "tproxy")) {
		be32(b, NFTA_TPROXY_FAMILY, IP6);
	}
	expr_end(b, n);
}

static void reject(struct nlbuf *b)
{
	static const int codes[] = { 0, 1, 3, 4, 5, 6 };
	int type = rnd(3);
	struct nests n;

	if (type == NFT_REJECT_TCP_RST)
		protocol(b, IPPROTO_TCP);
	n = expr(b, "reject");
	be32(b, NFTA_REJECT_TYPE, type);
	if (type != NFT_REJECT_TCP_RST) {
		uint8_t code = type == NFT_REJECT_ICMPX_UNREACH ? rnd(4) : PICK(codes);

		nl_attr(b, NFTA_REJECT_ICMP_CODE, &code, 1);
	}
	expr_end(b, n);
}

/* An octet of the packet becomes another. */
static void rewrite(struct nlbuf *b)
{
	static const struct { uint8_t base, offset, sum; } what[] = {
		{ NFT_PAYLOAD_NETWORK_HEADER, 7, 0 }, { NFT_PAYLOAD_NETWORK_HEADER, 39, 0 },
		{ NFT_PAYLOAD_NETWORK_HEADER, 23, 0 }, { NFT_PAYLOAD_NETWORK_HEADER, 1, 0 },
		{ NFT_PAYLOAD_TRANSPORT_HEADER, 3, 16 }, { NFT_PAYLOAD_TRANSPORT_HEADER, 13, 16 },
	};
	unsigned int i = rnd(COUNT(what));
	uint8_t octet = value();
	struct nests n;

	constant(b, NFT_REG_1, &octet, 1);
	n = expr(b, "payload");
	be32(b, NFTA_PAYLOAD_SREG, NFT_REG_1);
	be32(b, NFTA_PAYLOAD_BASE, what[i].base);
	be32(b, NFTA_PAYLOAD_OFFSET, what[i].offset);
	be32(b, NFTA_PAYLOAD_LEN, 1);
	if (what[i].sum) {
		be32(b, NFTA_PAYLOAD_CSUM_TYPE, NFT_PAYLOAD_CSUM_INET);
		be32(b, NFTA_PAYLOAD_CSUM_OFFSET, what[i].sum);
	}
	expr_end(b, n);
}

static void mark(struct nlbuf *b)
{
	uint32_t number = rnd(4);
	struct nests n;

	constant(b, NFT_REG_1, &number, 4);
	n = expr(b, "meta");
	be32(b, NFTA_META_SREG, NFT_REG_1);
	be32(b, NFTA_META_KEY, one_in(2) ? NFT_META_MARK : NFT_META_PRIORITY);
	expr_end(b, n);
}

static void action(struct nlbuf *b, bool nat)
{
	static const char *const kinds[] = { "nat", "nat", "masq", "redir" };
	static const char *const plain[] = { "counter", "notrack", "log" };
	uint16_t queue = htons(QUEUE);
	struct nests n;

	if (nat) {
		translate(b, PICK(kinds));
		return;
	}
	switch (rnd(9)) {
	case 0: case 1:
		reject(b);
		break;
	case 2: case 3:
		n = expr(b, "queue");
		nl_attr(b, NFTA_QUEUE_NUM, &queue, 2);
		queue = htons(1 /* bypass, if nobody reads it */);
		nl_attr(b, NFTA_QUEUE_FLAGS, &queue, 2);
		expr_end(b, n);
		break;
	case 4:
		rewrite(b);
		break;
	case 5:
		mark(b);
		break;
	case 6:
		translate(b, "tproxy");
		break;
	case 7:
		verdict(b, one_in(2) ? 0 : 1);
		break;
	default:
		n = expr(b, PICK(plain));
		expr_end(b, n);
	}
}

/* ---- tables ---- */

static void some_table(char *to)
{
	sprintf(to, "fz%u", rnd(TABLES));
}

static void add_chain(struct nlbuf *batch, const char *table, int of, unsigned int hook, bool nat)
{
	static const char *const devices[] = { "t0", "v0", "v1", "lo" };
	static const int priorities[] = { -300, -150, 0, 100 };
	const char *type = nat ? "nat" : hook == 3 && one_in(3) ? "route" : "filter";
	struct nlbuf b;
	char name[16];
	size_t nest;

	sprintf(name, "c%u", hook);
	nft_start(&b, NFT_MSG_NEWCHAIN, NLM_F_CREATE, of);
	text(&b, NFTA_CHAIN_TABLE, table);
	text(&b, NFTA_CHAIN_NAME, name);
	nest = nl_nest(&b, NFTA_CHAIN_HOOK);
	be32(&b, NFTA_HOOK_HOOKNUM, hook);
	be32(&b, NFTA_HOOK_PRIORITY, PICK(priorities));
	if (of == NETDEV)
		text(&b, NFTA_HOOK_DEV, PICK(devices));
	nl_end(&b, nest);
	text(&b, NFTA_CHAIN_TYPE, type);
	batch_add(batch, &b);
}

static void add_rule(struct nlbuf *batch, const char *table, int of, unsigned int hook, bool nat)
{
	struct nlbuf b;
	char name[16];
	size_t nest;

	sprintf(name, "c%u", hook);
	nft_start(&b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, of);
	text(&b, NFTA_RULE_TABLE, table);
	text(&b, NFTA_RULE_CHAIN, name);
	nest = nl_nest(&b, NFTA_RULE_EXPRESSIONS);
	if (!one_in(6))
		match(&b);
	action(&b, nat);
	nl_end(&b, nest);
	batch_add(batch, &b);
}

static void do_table(void)
{
	int of = one_in(4) ? NETDEV : one_in(2) ? INET : IP6;
	unsigned int hook = of == NETDEV ? rnd(2) : rnd(5);
	/* Not before routing: nf_nat_ipv6_in() of 6.1.192 looks at a packet that such a chain has
	 * dropped (it compares all of NF_DROP_REASON() with NF_STOLEN), native's packets as well.
	 */
	bool nat = of != NETDEV && hook != 0 && hook != 2 && one_in(4);
	struct nlbuf batch, b;
	char table[8];

	some_table(table);
	batch_start(&batch);
	nft_start(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE, of);
	text(&b, NFTA_TABLE_NAME, table);
	batch_add(&batch, &b);
	add_chain(&batch, table, of, hook, nat);
	add_rule(&batch, table, of, hook, nat);
	batch_send(&batch);
}

static void do_drop(void)
{
	struct nlbuf batch, b;
	char table[8];

	some_table(table);
	for (int of = 1; of <= IP6; of++) {
		if (of != INET && of != IP6 && of != NETDEV)
			continue;
		batch_start(&batch);
		nft_start(&b, NFT_MSG_DELTABLE, 0, of);
		text(&b, NFTA_TABLE_NAME, table);
		batch_add(&batch, &b);
		batch_send(&batch);
	}
}

static void do_dump(void)
{
	static const int types[] = { NFT_MSG_GETTABLE, NFT_MSG_GETCHAIN, NFT_MSG_GETRULE };
	struct nlbuf b;

	nft_start(&b, PICK(types), NLM_F_DUMP, one_in(2) ? 0 : IP6);
	nl_send(12, &b);
}

/* ---- the queue ---- */

static void queue_config(int fd, int command)
{
	struct nfgenmsg head = { .res_id = htons(QUEUE) };
	struct nfqnl_msg_config_cmd cmd = { .command = command, .pf = htons(AF_INET6) };
	struct nfqnl_msg_config_params params = { htonl(OUTBOUND), NFQNL_COPY_PACKET };
	struct nlbuf b;

	nl_start(&b, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG, 0, &head, sizeof(head));
	nl_attr(&b, NFQA_CFG_CMD, &cmd, sizeof(cmd));
	nl_attr(&b, NFQA_CFG_PARAMS, &params, sizeof(params));
	((struct nlmsghdr *)b.data)->nlmsg_len = b.len;
	send(fd, b.data, b.len, 0);
}

static void queue_verdict(int fd, uint32_t id)
{
	static const int verdicts[] = { 1, 1, 1, 0, 4 /* again */, 5 /* stop */ };
	struct nfgenmsg head = { .res_id = htons(QUEUE) };
	struct nfqnl_msg_verdict_hdr v = { htonl(PICK(verdicts)), id };
	struct nlbuf b;

	nl_start(&b, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_VERDICT, 0, &head, sizeof(head));
	nl_attr(&b, NFQA_VERDICT_HDR, &v, sizeof(v));
	((struct nlmsghdr *)b.data)->nlmsg_len = b.len;
	send(fd, b.data, b.len, 0);
}

static void queue_take(int fd)
{
	uint8_t buf[2048];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	struct nlmsghdr *h = (void *)buf;

	if (n < (ssize_t)(NLMSG_HDRLEN + sizeof(struct nfgenmsg) + 8) ||
	    h->nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
		return;
	/* The packet's number is in the first attribute. Some are left in the queue. */
	if (!one_in(12))
		queue_verdict(fd, *(uint32_t *)(buf + NLMSG_HDRLEN + sizeof(struct nfgenmsg) + 4));
}

/* Reads for a moment, or until something is amiss; what is left is dropped with the socket. */
static void do_queue(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 12);
	struct pollfd pf = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return;
	queue_config(fd, NFQNL_CFG_CMD_BIND);
	for (int i = 0; i < 200 && poll(&pf, 1, 20) > 0; i++)
		queue_take(fd);
	close(fd);
}

const struct op rules_ops[] = {
	{ "nft_table", 8, ADMIN, do_table },
	{ "nft_drop", 4, ADMIN, do_drop },
	{ "nft_dump", 1, ADMIN, do_dump },
	{ "nft_queue", 5, ADMIN, do_queue },
	{ },
};
