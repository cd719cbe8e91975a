// SPDX-License-Identifier: GPL-2.0
/* Socket options: a table of all that net6 and the socket layer know, and how a value looks. */
#include <linux/filter.h>
#include <linux/ipv6.h>
#include <netinet/icmp6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/time.h>

#include "fuzz.h"

enum kind { INT, BOOL, TEXT, IFNAME, MREQ, GROUP, SOURCE, MSFILTER, PKTINFO, EXTHDR, LINGER,
	    TIMEVAL, FILTER, FOKEY, ICMPFILTER, BYTES, STAMPING };

struct option {
	int level, name;
	enum kind kind;
};

#define S SOL_SOCKET
#define V IPPROTO_IPV6
#define T IPPROTO_TCP
static const struct option options[] = {
	{ S, SO_REUSEADDR, BOOL }, { S, SO_REUSEPORT, BOOL }, { S, SO_BROADCAST, BOOL },
	{ S, SO_KEEPALIVE, BOOL }, { S, SO_OOBINLINE, BOOL }, { S, SO_DONTROUTE, BOOL },
	{ S, SO_SNDBUF, INT }, { S, SO_RCVBUF, INT }, { S, SO_LINGER, LINGER },
	{ S, SO_RCVTIMEO, TIMEVAL }, { S, SO_SNDTIMEO, TIMEVAL }, { S, SO_RCVLOWAT, INT },
	{ S, SO_PRIORITY, INT }, { S, SO_MARK, INT }, { S, SO_TIMESTAMP, BOOL },
	{ S, SO_TIMESTAMPNS, BOOL }, { S, SO_TIMESTAMPING, STAMPING }, { S, SO_RXQ_OVFL, BOOL },
	{ S, SO_PEEK_OFF, INT }, { S, SO_BUSY_POLL, INT }, { S, SO_INCOMING_CPU, INT },
	{ S, SO_MAX_PACING_RATE, INT }, { S, SO_ZEROCOPY, BOOL }, { S, SO_TXTIME, BYTES },
	{ S, SO_BINDTODEVICE, IFNAME }, { S, SO_BINDTOIFINDEX, INT }, { S, SO_TYPE, INT },
	{ S, SO_ERROR, INT }, { S, SO_ACCEPTCONN, INT }, { S, SO_PROTOCOL, INT },
	{ S, SO_DOMAIN, INT }, { S, SO_PEERNAME, BYTES }, { S, SO_MEMINFO, BYTES },
	{ S, SO_COOKIE, BYTES }, { S, SO_NETNS_COOKIE, BYTES }, { S, SO_INCOMING_NAPI_ID, INT },
	{ S, SO_RESERVE_MEM, INT }, { S, SO_TXREHASH, INT }, { S, SO_LOCK_FILTER, BOOL },
	{ S, SO_ATTACH_FILTER, FILTER }, { S, SO_DETACH_FILTER, INT }, { S, SO_BUF_LOCK, INT },
	{ S, SO_ATTACH_REUSEPORT_CBPF, FILTER }, { S, SO_DETACH_REUSEPORT_BPF, INT },
	{ S, SO_SELECT_ERR_QUEUE, BOOL }, { S, SO_PASSCRED, BOOL }, { S, SO_PEERCRED, BYTES },
	{ S, SO_SNDBUFFORCE, INT }, { S, SO_RCVBUFFORCE, INT }, { S, SO_NOFCS, BOOL },
	{ S, SO_PEERSEC, BYTES }, { S, SO_NO_CHECK, BOOL }, { S, SO_PREFER_BUSY_POLL, BOOL },
	{ V, IPV6_UNICAST_HOPS, INT }, { V, IPV6_MULTICAST_HOPS, INT },
	{ V, IPV6_MULTICAST_IF, INT }, { V, IPV6_MULTICAST_LOOP, BOOL },
	{ V, IPV6_MULTICAST_ALL, BOOL }, { V, IPV6_ADD_MEMBERSHIP, MREQ },
	{ V, IPV6_DROP_MEMBERSHIP, MREQ }, { V, MCAST_JOIN_GROUP, GROUP },
	{ V, MCAST_LEAVE_GROUP, GROUP }, { V, MCAST_JOIN_SOURCE_GROUP, SOURCE },
	{ V, MCAST_LEAVE_SOURCE_GROUP, SOURCE }, { V, MCAST_BLOCK_SOURCE, SOURCE },
	{ V, MCAST_UNBLOCK_SOURCE, SOURCE }, { V, MCAST_MSFILTER, MSFILTER },
	{ V, IPV6_JOIN_ANYCAST, MREQ }, { V, IPV6_LEAVE_ANYCAST, MREQ }, { V, IPV6_TCLASS, INT },
	{ V, IPV6_MTU, INT }, { V, IPV6_MTU_DISCOVER, INT }, { V, IPV6_HOPOPTS, EXTHDR },
	{ V, IPV6_RTHDRDSTOPTS, EXTHDR }, { V, IPV6_RTHDR, EXTHDR }, { V, IPV6_DSTOPTS, EXTHDR },
	{ V, IPV6_DONTFRAG, BOOL }, { V, IPV6_RECVERR, BOOL }, { V, 31, BOOL },
	{ V, IPV6_RECVPKTINFO, BOOL }, { V, IPV6_RECVHOPLIMIT, BOOL },
	{ V, IPV6_RECVTCLASS, BOOL }, { V, IPV6_RECVRTHDR, BOOL }, { V, IPV6_RECVHOPOPTS, BOOL },
	{ V, IPV6_RECVDSTOPTS, BOOL }, { V, IPV6_RECVPATHMTU, BOOL }, { V, 74, BOOL },
	{ V, 11 /* IPV6_FLOWINFO */, BOOL }, { V, 33 /* IPV6_FLOWINFO_SEND */, BOOL },
	{ V, IPV6_AUTOFLOWLABEL, BOOL }, { V, IPV6_MINHOPCOUNT, INT },
	{ V, IPV6_ADDR_PREFERENCES, INT }, { V, IPV6_UNICAST_IF, INT },
	{ V, IPV6_PKTINFO, PKTINFO },
	{ V, IPV6_FREEBIND, BOOL }, { V, IPV6_TRANSPARENT, BOOL }, { V, IPV6_V6ONLY, BOOL },
	{ V, IPV6_2292PKTINFO, BOOL }, { V, IPV6_2292HOPLIMIT, BOOL }, { V, IPV6_2292RTHDR, BOOL },
	{ V, IPV6_2292HOPOPTS, BOOL }, { V, IPV6_2292DSTOPTS, BOOL }, { V, IPV6_PATHMTU, BYTES },
	{ V, IPV6_2292PKTOPTIONS, BYTES }, { V, IPV6_CHECKSUM, INT }, { V, IPV6_HDRINCL, BOOL },
	{ V, IPV6_ROUTER_ALERT, INT }, { V, 32 /* FLOWLABEL_MGR */, BYTES }, { V, 1, INT },
	{ V, IPV6_IPSEC_POLICY, BYTES }, { SOL_RAW, IPV6_CHECKSUM, INT },
	{ SOL_RAW, IPV6_HDRINCL, BOOL }, { IPPROTO_ICMPV6, ICMP6_FILTER, ICMPFILTER },
	{ 0, IP_BIND_ADDRESS_NO_PORT, BOOL }, { 0, IP_FREEBIND, BOOL }, { 0, IP_TRANSPARENT, BOOL },
	{ 0, IP_TOS, INT }, { 0, IP_TTL, INT }, { 0, IP_MTU_DISCOVER, INT },
	{ 0, IP_RECVERR, BOOL },
	{ 0, 26 /* IP_RECVERR_RFC4884 */, BOOL },
	{ T, TCP_NODELAY, BOOL }, { T, TCP_CORK, BOOL }, { T, TCP_MAXSEG, INT },
	{ T, TCP_QUICKACK, INT }, { T, TCP_KEEPIDLE, INT }, { T, TCP_KEEPINTVL, INT },
	{ T, TCP_KEEPCNT, INT }, { T, TCP_SYNCNT, INT }, { T, TCP_SAVE_SYN, INT },
	{ T, TCP_SAVED_SYN, BYTES }, { T, TCP_LINGER2, INT }, { T, TCP_DEFER_ACCEPT, INT },
	{ T, TCP_WINDOW_CLAMP, INT }, { T, TCP_USER_TIMEOUT, INT }, { T, TCP_NOTSENT_LOWAT, INT },
	{ T, TCP_INQ, BOOL }, { T, TCP_CONGESTION, TEXT }, { T, TCP_INFO, BYTES },
	{ T, TCP_CC_INFO, BYTES }, { T, TCP_TIMESTAMP, INT }, { T, TCP_FASTOPEN, INT },
	{ T, TCP_FASTOPEN_KEY, FOKEY }, { T, TCP_FASTOPEN_CONNECT, BOOL },
	{ T, TCP_FASTOPEN_NO_COOKIE, BOOL }, { T, TCP_THIN_LINEAR_TIMEOUTS, BOOL },
	{ T, TCP_THIN_DUPACK, BOOL }, { T, TCP_ULP, TEXT }, { T, TCP_REPAIR, INT },
	{ T, TCP_MD5SIG, BYTES }, { T, TCP_ZEROCOPY_RECEIVE, BYTES }, { T, TCP_TX_DELAY, INT },
	{ IPPROTO_UDP, 1 /* UDP_CORK */, BOOL }, { IPPROTO_UDP, 103 /* UDP_SEGMENT */, INT },
	{ IPPROTO_UDP, 104 /* UDP_GRO */, BOOL }, { IPPROTO_UDP, 100 /* UDP_ENCAP */, INT },
	{ IPPROTO_UDP, 101, BOOL }, { IPPROTO_UDP, 102, BOOL }, { 282 /* SOL_TLS */, 1, BYTES },
};

#undef S
#undef V
#undef T

/* Extension headers as programs give them: what is first in them is their length. */
size_t exthdr(void *to, int type)
{
	uint8_t *p = to;
	size_t len = 8 * (1 + rnd(4));

	if (type == IPV6_RTHDR || type == IPV6_2292RTHDR) {
		p[1] = 2;
		p[2] = one_in(4) ? rnd(6) : 2;
		p[3] = one_in(4) ? rnd(4) : 1;
		memset(p + 4, 0, 4);
		address((void *)(p + 8));
		len = 24;
	} else {
		p[1] = len / 8 - 1;
		p[2] = one_in(3) ? rnd(256) : 1;	/* PadN, so that it is well formed */
		p[3] = one_in(6) ? rnd(256) : len - 4;
		memset(p + 4, 0, len - 4);
	}
	p[0] = one_in(4) ? rnd(256) : 0;
	return one_in(8) ? rnd(40) : len;
}

static size_t filter(void *to)
{
	static struct sock_filter code[] = {
		{ BPF_LD | BPF_B | BPF_ABS, 0, 0, 0 },
		{ BPF_JMP | BPF_JGT | BPF_K, 0, 1, 0x40 },
		{ BPF_RET | BPF_K, 0, 0, 0xffff },
		{ BPF_RET | BPF_K, 0, 0, 1 },
	};
	struct sock_fprog prog = { .len = COUNT(code), .filter = code };

	if (one_in(10))
		prog.len = rnd(6);
	memcpy(to, &prog, sizeof(prog));
	return sizeof(prog);
}

static void sin6(void *to, const char *text)
{
	struct sockaddr_storage *ss = to;

	name(ss);
	if (!one_in(10)) {
		struct sockaddr_in6 *a = to;

		a->sin6_family = AF_INET6;
		if (!text)
			memcpy(&a->sin6_addr, "\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
		a->sin6_addr.s6_addr[15] = 1 + rnd(4);
	}
}

static size_t msfilter(void *to)
{
	struct group_filter *f = to;

	f->gf_interface = ifindex();
	sin6(&f->gf_group, NULL);
	f->gf_fmode = rnd(3);
	f->gf_numsrc = rnd(5);
	for (unsigned int i = 0; i < 4; i++)
		sin6(&f->gf_slist[i], "");
	return GROUP_FILTER_SIZE(f->gf_numsrc);
}

static size_t text(void *to)
{
	static const char *const words[] = {
		"reno", "cubic", "bbr", "dctcp", "net6_cc", "tls", "mptcp", "espintcp", "smc", "",
		"averyveryverylongname",
	};

	strcpy(to, PICK(words));
	return strlen(to) + one_in(2);
}

static size_t kind_value(enum kind kind, int name, void *to)
{
	struct group_source_req *source = to;
	struct in6_pktinfo *info = to;
	struct group_req *group = to;
	struct timeval *tv = to;
	struct ipv6_mreq *mreq = to;
	struct linger *linger = to;
	int *number = to;

	switch (kind) {
	case INT:
		*number = value();
		return 4;
	case BOOL:
		*number = one_in(20) ? value() : (int)rnd(2);
		return 4;
	case TEXT:
		return text(to);
	case IFNAME:
		return sprintf(to, "%s", one_in(2) ? "lo" : one_in(2) ? "t0" : "");
	case MREQ:
		address(&mreq->ipv6mr_multiaddr);
		if (one_in(2))
			memcpy(&mreq->ipv6mr_multiaddr, "\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
		mreq->ipv6mr_ifindex = ifindex();
		return sizeof(*mreq);
	case GROUP:
		group->gr_interface = ifindex();
		sin6(&group->gr_group, NULL);
		return sizeof(*group);
	case SOURCE:
		source->gsr_interface = ifindex();
		sin6(&source->gsr_group, NULL);
		sin6(&source->gsr_source, "");
		return sizeof(*source);
	case MSFILTER:
		return msfilter(to);
	case PKTINFO:
		address(&info->ipi6_addr);
		info->ipi6_ifindex = ifindex();
		return sizeof(*info);
	case EXTHDR:
		return one_in(6) ? 0 : exthdr(to, name);
	case LINGER:
		linger->l_onoff = rnd(2);
		linger->l_linger = rnd(2);
		return sizeof(*linger);
	case TIMEVAL:
		tv->tv_sec = one_in(10) ? value() : 0;
		tv->tv_usec = rnd(50000);
		return sizeof(*tv);
	case FILTER:
		return filter(to);
	case FOKEY:
		fill(to, 32);
		return one_in(2) ? 16 : 32;
	case STAMPING:
		*number = rnd(1 << 16);
		return 4;
	default:
		fill(to, 64);
		return rnd(65);
	}
}

size_t option_value(int level, int name, void *to)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (options[i].level == level && options[i].name == name)
			return kind_value(options[i].kind, name, to);
	*(int *)to = value();
	return 4;
}

static void do_set(void)
{
	const struct option *o = &PICK(options);
	uint8_t buf[1024] __attribute__((aligned(8)));
	size_t len = kind_value(o->kind, o->name, buf);
	int level = o->level, name = o->name;

	if (one_in(12))
		len = one_in(2) ? rnd(128) : (unsigned int)value() % sizeof(buf);
	if (one_in(100))
		name = rnd(130);
	setsockopt(fd_any(), level, name, one_in(60) ? memory(len) : buf,
		   one_in(200) ? value() : (int)len);
}

static void do_get(void)
{
	const struct option *o = &PICK(options);
	uint8_t buf[1024];
	socklen_t len = one_in(4) ? rnd(sizeof(buf)) : o->kind == BYTES ? 256 : 4;

	memset(buf, 0, 64);
	if (o->kind == MSFILTER)
		len = msfilter(buf);
	if (o->name == TCP_ZEROCOPY_RECEIVE && len > 64)
		len = 64;
	getsockopt(fd_any(), o->level, one_in(100) ? (int)rnd(130) : o->name, buf, &len);
}

const struct op option_ops[] = {
	{ "setsockopt", 150, ALL, do_set },
	{ "getsockopt", 60, ALL, do_get },
	{ },
};
