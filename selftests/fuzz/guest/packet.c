// SPDX-License-Identifier: GPL-2.0
/* The peer behind the tap device: answers Neighbor Discovery, TCP, UDP and echo for all addresses
 * that are not the host's, mostly as it should. It sends what nobody asked for, too.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "fuzz.h"

#define VNET	10	/* octets of struct virtio_net_hdr */

uint8_t tap_address[16] = { 0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
uint8_t tap_link_local[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
static const struct in6_addr router = { { { 0xfe, 0x80, [15] = 2 } } };
static int tap = -1;
struct packet last;
static uint8_t tunneled[68];	/* the last packet of IPv4 */

static void emit(struct packet *p)
{
	uint8_t buf[VNET + sizeof(p->frame)] = { };
	struct virtio_net_hdr *v = (void *)buf;

	memcpy(buf + VNET, p->frame, 14 + p->len);
	/* As a virtio guest sends: one large packet for several. */
	if (one_in(12) && p->len > 200) {
		v->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		v->csum_start = 54;
		v->csum_offset = p->frame[20] == IPPROTO_TCP ? 16 : 6;
		v->gso_type = p->frame[20] == IPPROTO_TCP ? VIRTIO_NET_HDR_GSO_TCPV6 :
			      one_in(2) ? VIRTIO_NET_HDR_GSO_UDP : 5 /* GSO_UDP_L4 */;
		v->gso_size = 100 + rnd(1200);
		v->hdr_len = 54 + (p->frame[20] == IPPROTO_TCP ? 20 : 8);
	}
	if (write(tap, buf, VNET + 14 + p->len) < 0)
		errno = 0;
}

/* In pieces, the last first now and then, or overlapping. */
static void emit_fragments(struct packet *p)
{
	size_t len = p->len - 40, step = 8 * (1 + rnd(60)), n = (len + step - 1) / step;
	const uint8_t *ip = p->frame + 14;
	uint32_t id = one_in(4) ? 7 : rnd64();
	bool backwards = one_in(2);

	for (size_t i = 0; i < n && i < 40; i++) {
		size_t k = backwards ? n - 1 - i : i, at = k * step;
		size_t part = at + step < len ? step : len - at;
		uint8_t body[8 + 600] = { ip[6] };
		struct packet f;

		if (one_in(30))
			continue;
		put16(body + 2, at | (at + part < len));
		if (one_in(40))
			put16(body + 2, (at ^ 8) | 1);
		put32(body + 4, id);
		memcpy(body + 8, ip + 40 + at, part);
		wire_start(&f, (void *)(ip + 8), (void *)(ip + 24), 44, body, 8 + part);
		f.frame[14 + 7] = 64;
		emit(&f);
	}
}

/* One in @odd is changed, or gets a header more. */
void send_packet(struct packet *p, unsigned int odd)
{
	if (one_in(odd)) {
		wire_mutate(p);
		if (p->len < 40)
			return;
		if (!one_in(6))
			wire_checksum(p);
	}
	if (one_in(odd))
		wire_exthdr(p);
	if (one_in(3 * odd))
		wire_exthdr(p);
	if (p->len > 60 && one_in(2 * odd))
		emit_fragments(p);
	else
		emit(p);
}

static void reply(const struct in6_addr *from, const struct in6_addr *to, int next, void *body,
		  size_t len)
{
	struct packet p;

	wire_start(&p, from, to, next, body, len);
	wire_checksum(&p);
	send_packet(&p, 10);
}

static void icmp(const struct in6_addr *from, const struct in6_addr *to, uint8_t type, uint8_t code,
		 const void *rest, size_t len)
{
	uint8_t body[1600] = { type, code };

	if (len > sizeof(body) - 4)
		len = sizeof(body) - 4;
	memcpy(body + 4, rest, len);
	reply(from, to, IPPROTO_ICMPV6, body, 4 + len);
}

static void advertise(const struct in6_addr *target, const struct in6_addr *to)
{
	uint8_t rest[28] = { one_in(6) ? rnd(256) : 0x60 };

	memcpy(rest + 4, target, 16);
	memcpy(rest + 20, "\2\1\2\0\0\0\0\2", 8);
	icmp(target, to, 136, 0, rest, sizeof(rest));
}

/* A Router Advertisement with every option that is read. */
static void router_advertisement(void)
{
	uint8_t r[256] = { one_in(4) ? rnd(256) : 64, one_in(4) ? rnd(256) : 0, 0x07, 0x08 };
	struct in6_addr all = { { { 0xff, 2, [15] = 1 } } };
	size_t n = 12;

	if (one_in(8)) {
		r[2] = 0;
		r[3] = 0;
	}
	put32(r + 4, one_in(4) ? value() : 0);
	put32(r + 8, one_in(4) ? value() : 0);
	memcpy(r + n, "\1\1\2\0\0\0\0\2", 8);
	n += 8;
	for (int i = 0; i < 2; i++) {		/* prefixes */
		memcpy(r + n, "\3\4\x40\xc0", 4);
		put32(r + n + 4, one_in(3) ? value() : 86400);
		put32(r + n + 8, one_in(3) ? value() : 3600);
		memcpy(r + n + 16, tap_address, 8);
		r[n + 21] = i ? rnd(9) : 1;
		n += 32;
	}
	if (one_in(2)) {
		memcpy(r + n, "\5\1\0\0\0\0\5\x78", 8);
		n += 8;
	}
	if (one_in(2)) {			/* a route */
		memcpy(r + n, "\x18\2\x30\0\0\0\1\0\x20\1\xd\xb8\0\x77\0\0", 16);
		r[n + 3] = rnd(4) << 3;
		r[n + 7] = rnd(2);
		n += 16;
	}
	if (one_in(2)) {			/* resolvers, and domains */
		memcpy(r + n, "\x19\3\0\0\0\0\1\0", 8);
		memcpy(r + n + 8, tap_address, 16);
		memcpy(r + n + 24, "\x1f\2\0\0\0\0\1\0\3lan\0\0\0\0", 16);
		n += 40;
	}
	if (one_in(6)) {
		r[n] = rnd(256);
		r[n + 1] = rnd(4);
		n += 8;
	}
	icmp(&router, &all, 134, 0, r, n);
}

static void answer_icmp(const uint8_t *ip, const uint8_t *body, size_t len)
{
	struct in6_addr target, all = { { { 0xff, 2, [15] = 1 } } };
	bool dad = IN6_IS_ADDR_UNSPECIFIED((struct in6_addr *)(ip + 8));

	switch (body[0]) {
	case 133:
		router_advertisement();
		break;
	case 135:
		if (len < 24)
			return;
		memcpy(&target, body + 8, 16);
		if (dad ? one_in(20) : !one_in(10))
			advertise(&target, dad ? &all : (void *)(ip + 8));
		break;
	case 128:
		icmp((void *)(ip + 24), (void *)(ip + 8), 129, 0, body + 4, len - 4);
		break;
	}
}

/* About the last packet that the host sent. */
static void icmp_error(void)
{
	static const uint8_t types[] = { 1, 1, 2, 2, 3, 4, 5, 127 };
	uint8_t rest[1232] = { };
	size_t len = last.len > 1200 ? 1200 : last.len;
	uint8_t type = PICK(types);
	struct in6_addr from;

	if (last.len < 40)
		return;
	if (type == 2)
		put32(rest, one_in(3) ? value() : 1280 + (int)rnd(220));
	else if (type == 4)
		rest[3] = rnd(60);
	memcpy(rest + 4, last.frame + 14, len);
	memcpy(&from, one_in(2) ? (void *)&router : last.frame + 38, 16);
	icmp(&from, (void *)(last.frame + 22), type, rnd(8), rest, 4 + len);
}

static void answer_arp(uint8_t *frame)
{
	uint8_t p[VNET + 42] = { };

	if (frame[21] != 1)
		return;
	memcpy(p + VNET, "\2\0\0\0\0\1\2\0\0\0\0\2\x8\6\0\1\x8\0\6\4\0\2\2\0\0\0\0\2", 28);
	memcpy(p + VNET + 28, frame + 38, 4);
	memcpy(p + VNET + 32, frame + 22, 10);
	if (write(tap, p, sizeof(p)) < 0)
		errno = 0;
}

static void answer(uint8_t *frame, size_t len)
{
	uint8_t *ip = frame + 14, *up = ip + 40;
	uint8_t body[1500];
	size_t n;

	if (len >= 42 && frame[12] == 8 && frame[13] == 6)
		answer_arp(frame);
	/* 41: a tunnel's; others are of sockets that speak IPv4. */
	if (len >= 14 + 28 && frame[12] == 8 && !frame[13])
		memcpy(tunneled, frame + 14, len - 14 < sizeof(tunneled) ? len - 14 :
		       sizeof(tunneled));
	if (len < 14 + 48 || frame[12] != 0x86 || frame[13] != 0xdd)
		return;
	n = len - 54;
	if (n > sizeof(body))
		n = sizeof(body);
	if (ip[6] != IPPROTO_ICMPV6 || up[0] < 129) {
		last.len = len - 14 > 1500 ? 1500 : len - 14;
		memcpy(last.frame, frame, 14 + last.len);
	}
	switch (ip[6]) {
	case IPPROTO_TCP:
		if (n >= 20)
			flow_answer(ip, up, len - 54);
		break;
	case IPPROTO_ICMPV6:
		answer_icmp(ip, up, n);
		break;
	case IPPROTO_UDP:
		if (one_in(5)) {
			icmp_error();
			break;
		}
		memcpy(body, up, n);
		memcpy(body, up + 2, 2);
		memcpy(body + 2, up, 2);
		if (ip[24] != 0xff)
			reply((void *)(ip + 24), (void *)(ip + 8), IPPROTO_UDP, body, n);
		break;
	}
}

void host_address(struct in6_addr *to)
{
	if (one_in(8))
		address(to);
	else if (last.len >= 40 && one_in(4))
		memcpy(to, last.frame + 22, 16);
	else
		memcpy(to, tap_address, 16);
}

void peer_address(struct in6_addr *to)
{
	if (one_in(4)) {
		*to = router;
		return;
	}
	memcpy(to, tap_address, 16);
	to->s6_addr[15] = 2 + rnd(6);
	if (one_in(20))
		address(to);
}

static void unasked_udp(void)
{
	struct in6_addr us, host;
	uint8_t body[1500];
	size_t len = 8 + rnd(1300);

	peer_address(&us);
	host_address(&host);
	put16(body, 2000 + rnd(2000));
	put16(body + 2, PORT_BASE + rnd(PORTS));
	put16(body + 4, len);
	fill(body + 8, len - 8);
	reply(&us, &host, IPPROTO_UDP, body, len);
}

/* From the router, about where the host sent something, or about anything. */
static void redirect(const struct in6_addr *host)
{
	uint8_t r[40 + 8 + 200] = { };
	struct in6_addr *target = (void *)(r + 4), *dest = (void *)(r + 20);
	size_t len = 36;

	peer_address(dest);
	if (last.len >= 40 && !one_in(4))
		memcpy(dest, last.frame + 38, 16);
	*target = *dest;
	if (one_in(2)) {
		memset(target, 0, sizeof(*target));
		memcpy(target, "\xfe\x80", 2);
		target->s6_addr[15] = 2 + rnd(4);
	}
	if (one_in(2)) {
		memcpy(r + len, "\2\1\2\0\0\0\0\2", 8);
		len += 8;
	}
	if (one_in(2) && last.len > 150) {	/* what was redirected */
		memcpy(r + len, "\4\x13\0\0\0\0\0\0", 8);
		memcpy(r + len + 8, last.frame + 14, 144);
		len += 152;
	}
	icmp(&router, host, 137, 0, r, len);
}

/* Queries of both versions, reports and the end of a membership, as they have to come. */
static void unasked_mld(void)
{
	static const uint8_t types[] = { 130, 130, 130, 131, 132, 143 };
	struct in6_addr from = router, to = { { { 0xff, 2, [15] = 1 } } };
	uint8_t m[4 + 24 + 48] = { PICK(types) };
	size_t len = 24;
	struct packet p;

	put16(m + 4, one_in(3) ? rnd(65536) : 10);
	if (m[0] == 131 || m[0] == 132 || one_in(2)) {
		memcpy(m + 8, "\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
		m[23] = 1 + rnd(4);
		if (one_in(2))
			address((void *)(m + 8));
		if (m[0] != 132)
			memcpy(&to, m + 8, 16);
	}
	if (m[0] == 130 && !one_in(3)) {
		m[24] = rnd(16);
		m[25] = rnd(256);
		m[27] = rnd(3);
		for (int i = 0; i < 2; i++)
			address((void *)(m + 28 + 16 * i));
		len = 28 + 16 * m[27];
	}
	if (one_in(10))
		peer_address(&from);
	wire_start(&p, &from, &to, IPPROTO_ICMPV6, m, len);
	wire_checksum(&p);
	if (!one_in(20))
		wire_router_alert(&p);
	send_packet(&p, 20);
}

/* Neighbor Discovery and echo. */
static void unasked_nd(void)
{
	static const char *const others[] = { "2001:db8:1::99", "2001:db8:1::",
		"2001:db8:1::7" };
	struct in6_addr us, host, all = { { { 0xff, 2, [15] = 1 } } };
	uint8_t r[128] = { };

	peer_address(&us);
	host_address(&host);
	switch (rnd(7)) {
	case 0:
		router_advertisement();
		break;
	case 1:		/* for its address: a neighbor asks, or wants it */
		if (one_in(4))	/* anycast, or for another who is away */
			inet_pton(AF_INET6, PICK(others), &host);
		memcpy(r + 4, &host, 16);
		memcpy(&all, "\xff\2\0\0\0\0\0\0\0\0\0\1\xff", 13);
		memcpy((uint8_t *)&all + 13, host.s6_addr + 13, 3);
		memcpy(r + 20, "\1\1\2\0\0\0\0\2", 8);
		if (one_in(3))
			memset(&us, 0, sizeof(us));
		icmp(&us, one_in(2) ? &host : &all, 135, 0, r, one_in(2) ? 28 : 20);
		break;
	case 2:
		advertise(one_in(3) ? &host : &us, one_in(2) ? &all : &host);
		break;
	case 3:
		redirect(&host);
		break;
	case 5:
		icmp(&us, one_in(3) ? &all : &host, 128, 0, r, rnd(100));
		break;
	case 6:
		icmp(&us, &host, rnd(256), rnd(6), r, rnd(100));
		break;
	default:
		memcpy(r + 4, &us, 16);
		icmp(&us, &all, 133, 0, r, one_in(2) ? 4 : 12);
	}
}

static void emit_ipv4(int protocol, const void *data, size_t len)
{
	uint8_t ip4[20] = "\x45\0\0\0\0\0\0\0\x40\x29\0\0\xc0\0\2\2\xc0\0\2\1";
	struct packet p;
	uint32_t s = 0;

	ip4[9] = protocol;
	put16(ip4 + 2, 20 + len);
	if (one_in(6))
		ip4[15] = rnd(256);
	if (one_in(6))
		ip4[1] = rnd(256);
	if (one_in(6))		/* as a group of 6over4 */
		memcpy(ip4 + 16, one_in(2) ? "\xef\xc0\0\1" : "\xef\xc0\0\2", 4);
	for (int i = 0; i < 20; i += 2)
		s += ip4[i] << 8 | ip4[i + 1];
	s = (s & 0xffff) + (s >> 16);
	s += s >> 16;
	put16(ip4 + 10, ~s);
	memcpy(p.frame, "\2\0\0\0\0\1\2\0\0\0\0\2\x8\0", 14);
	if (ip4[16] == 0xef) {
		memcpy(p.frame, "\1\0\x5e", 3);
		memcpy(p.frame + 3, ip4 + 17, 3);
	}
	memcpy(p.frame + 14, ip4, 20);
	memcpy(p.frame + 34, data, len);
	p.len = 20 + len;
	emit(&p);
}

/* IPv6 in IPv4: from a tunnel's other end, or anybody. */
static void unasked_tunnel(void)
{
	static const uint8_t types[] = { 128, 128, 129, 133, 134, 135, 136 };
	uint8_t body[64] = { PICK(types) };
	struct in6_addr us, host;
	struct packet inner;

	peer_address(&us);
	host_address(&host);
	if (one_in(3)) {	/* an IPv4-compatible address, or 6over4's */
		memset(&us, 0, sizeof(us));
		if (one_in(2))
			memcpy(&us, "\xfe\x80", 2);
		memcpy((uint8_t *)&us + 12, "\xc0\0\2\2", 4);
	}
	if (one_in(3)) {
		host = us;
		host.s6_addr[15] = 1;
		if (us.s6_addr[0] && one_in(2))
			inet_pton(AF_INET6, "ff02::1", &host);
	}
	memcpy(body + 8, &host, 16);
	wire_start(&inner, &us, &host, IPPROTO_ICMPV6, body, 24 + rnd(40));
	wire_checksum(&inner);
	if (one_in(4))
		wire_mutate(&inner);
	emit_ipv4(41, inner.frame + 14, inner.len);
}

/* An error of IPv4 about the last packet of IPv4: a tunnel's, or a socket's. */
static void tunnel_error(void)
{
	static const uint8_t types[] = { 3, 3, 3, 11, 12, 5 };
	uint8_t m[8 + 20 + 8 + 40] = { PICK(types), rnd(16) };
	uint32_t s = 0;

	put16(m + 6, 1280 + rnd(300));
	memcpy(m + 8, tunneled, sizeof(tunneled));
	for (size_t i = 0; i < sizeof(m); i += 2)
		s += m[i] << 8 | m[i + 1];
	s = (s & 0xffff) + (s >> 16);
	s += s >> 16;
	put16(m + 2, ~s);
	emit_ipv4(1, m, sizeof(m));
}

/* To be routed, of no protocol, or of nothing at all. */
static void unasked_other(void)
{
	struct in6_addr us, host;
	uint8_t body[600];
	struct packet p;

	peer_address(&us);
	host_address(&host);
	if (one_in(4))
		inet_pton(AF_INET6, "2001:db8:2::2", &host);
	fill(body, sizeof(body));
	wire_start(&p, &us, &host, rnd(256), body, rnd(sizeof(body)));
	send_packet(&p, 3);
}

/* What nobody asked for. */
static void unasked(void)
{
	switch (rnd(16)) {
	case 0: case 1: case 2: case 3: case 4:
		if (one_in(40))
			flow_flood();
		else
			flow_unasked();
		break;
	case 5: case 6:
		unasked_udp();
		break;
	case 7: case 8:
		unasked_nd();
		break;
	case 9: case 10:
		unasked_mld();
		break;
	case 11: case 12:
		icmp_error();
		break;
	case 13:
		if (one_in(3))
			tunnel_error();
		else
			unasked_tunnel();
		break;
	default:
		unasked_other();
	}
}

void packet_step(void)
{
	struct pollfd pf = { .fd = tap, .events = POLLIN };
	uint8_t buf[VNET + 70000];
	ssize_t n;

	if (tap < 0) {
		usleep(10000);
		return;
	}
	for (int i = 0; i < 16 && poll(&pf, 1, i ? 0 : 2) > 0; i++) {
		n = read(tap, buf, sizeof(buf));
		if (n > VNET + 14)
			answer(buf + VNET, n - VNET);
	}
	unasked();
}

void packet_setup(void)
{
	struct ifreq ifr = { .ifr_name = "t0", .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	struct sockaddr_in *sin = (void *)&ifr.ifr_addr;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tap < 0 || ioctl(tap, TUNSETIFF, &ifr)) {
		perror("tap device");
		exit(2);
	}
	ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | (one_in(2) ? TUN_F_TSO6 | TUN_F_TSO_ECN : 0));
	ifr.ifr_hwaddr.sa_family = 1;
	memcpy(ifr.ifr_hwaddr.sa_data, "\2\0\0\0\0\1", 6);
	ioctl(fd, SIOCSIFHWADDR, &ifr);
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(0xc0000201);	/* 192.0.2.1 */
	ioctl(fd, SIOCSIFADDR, &ifr);
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	net6_address("2001:db8:1::1", "t0");
}

const struct op packet_ops[] = {
	{ "packet", 100, ADMIN, packet_step },
	{ },
};
