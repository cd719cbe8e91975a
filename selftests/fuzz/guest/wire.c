// SPDX-License-Identifier: GPL-2.0
/* IPv6 packets in Ethernet frames: made, changed at random, and their checksums made right. */
#include <arpa/inet.h>

#include "fuzz.h"

void get32(const void *from, uint32_t *to)
{
	memcpy(to, from, 4);
	*to = ntohl(*to);
}

void put16(void *to, uint16_t v)
{
	v = htons(v);
	memcpy(to, &v, 2);
}

void put32(void *to, uint32_t v)
{
	v = htonl(v);
	memcpy(to, &v, 4);
}

void wire_start(struct packet *p, const struct in6_addr *from, const struct in6_addr *to,
		int next, const void *payload, size_t len)
{
	uint8_t *ip = p->frame + 14;

	if (len > 3500)
		len = 3500;
	memset(p->frame, 0, 54);
	memcpy(p->frame, "\2\0\0\0\0\1\2\0\0\0\0\2\x86\xdd", 14);
	if (to->s6_addr[0] == 0xff) {
		memcpy(p->frame, "\x33\x33", 2);
		memcpy(p->frame + 2, to->s6_addr + 12, 4);
	}
	ip[0] = 0x60;
	ip[4] = len >> 8;
	ip[5] = len;
	ip[6] = next;
	ip[7] = next == IPPROTO_ICMPV6 ? 255 : 64;
	memcpy(ip + 8, from, 16);
	memcpy(ip + 24, to, 16);
	memcpy(ip + 40, payload, len);
	p->len = 40 + len;
}

static uint32_t sum(const uint8_t *p, size_t len, uint32_t s)
{
	for (size_t i = 0; i < len; i++)
		s += i & 1 ? p[i] : p[i] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

/* Of a packet without extension headers. */
void wire_checksum(struct packet *p)
{
	uint8_t *ip = p->frame + 14, *up = ip + 40;
	size_t len = p->len - 40, at;
	uint32_t s;

	switch (ip[6]) {
	case IPPROTO_TCP:
		at = 16;
		break;
	case IPPROTO_UDP:
		at = 6;
		break;
	case IPPROTO_ICMPV6:
		at = 2;
		break;
	default:
		return;
	}
	if (len < at + 2)
		return;
	up[at] = 0;
	up[at + 1] = 0;
	s = sum(up, len, sum(ip + 8, 32, ip[6] + len));
	s = ~s & 0xffff;
	up[at] = s >> 8;
	up[at + 1] = s;
}

/* A few octets behind the addresses, seldom before; now and then the length. */
void wire_mutate(struct packet *p)
{
	uint8_t *ip = p->frame + 14;

	for (unsigned int n = 1 + rnd(3); n; n--) {
		size_t at = one_in(6) ? rnd(8) : 40 + rnd(p->len > 40 ? p->len - 40 : 1);

		if (at >= p->len)
			continue;
		if (one_in(2))
			ip[at] ^= 1 << rnd(8);
		else
			ip[at] = value();
	}
	if (one_in(8))
		p->len = 40 + rnd(p->len - 39);
	if (one_in(3)) {
		ip[4] = (p->len - 40) >> 8;
		ip[5] = p->len - 40;
	}
}

/* A header goes between the fixed one and the rest. */
static void insert(struct packet *p, int type, void *header, size_t len)
{
	uint8_t *ip = p->frame + 14;

	*(uint8_t *)header = ip[6];
	ip[6] = type;
	memmove(ip + 40 + len, ip + 40, p->len - 40);
	memcpy(ip + 40, header, len);
	p->len += len;
	put16(ip + 4, p->len - 40);
}

/* As MLD has to come (RFC 2710 section 3): hop limit 1, Router Alert. */
void wire_router_alert(struct packet *p)
{
	uint8_t header[8] = { 0, 0, 5, 2, 0, 0, 1, 0 };

	p->frame[14 + 7] = 1;
	insert(p, 0, header, sizeof(header));
}

static size_t one_header(uint8_t *to, uint8_t *type)
{
	static const uint8_t types[] = { 0, 43, 44, 60, 60, 59, 51, 135, 139 };
	static const uint8_t kinds[] = { 0, 1, 4, 5, 0x3e, 0x4d, 0x8a, 0xc2, 0xc9, 0xee };
	size_t len = 8 * (1 + rnd(3));

	*type = PICK(types);
	memset(to, 0, len);
	switch (*type) {
	case 43:
		if (one_in(2)) {
			to[2] = one_in(2) ? rnd(6) : 2;
			to[3] = rnd(4);
			len = 24;
			address((void *)(to + 8));
		}
		break;
	case 44:
		len = 8;
		*(uint16_t *)(to + 2) = htons(one_in(2) ? 0 : rnd(65536));
		to[7] = rnd(4);
		return len;
	default:
		to[2] = one_in(2) ? 1 : PICK(kinds);
		to[3] = one_in(3) ? rnd(16) : len - 4;
		if (to[2] == 5)
			to[3] = 2;
	}
	to[1] = len / 8 - 1;
	return len;
}

/* One more header behind the fixed one. */
void wire_exthdr(struct packet *p)
{
	uint8_t header[32], type;
	size_t len = one_header(header, &type);

	insert(p, type, header, len);
}
