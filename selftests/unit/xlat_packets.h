/* SPDX-License-Identifier: GPL-2.0 */
/* Packets for tests of the translator, and what is to be seen of its own. */
#ifndef XLAT_PACKETS_H
#define XLAT_PACKETS_H

#include <arpa/inet.h>
#include "unit.h"
#include "xlat_flat.h"

/* 2001:db8:64::/96 stands for IPv4; hosts of IPv6 are 198.51.100.0/24 = 2001:db8:1::/120. */
static struct net6_xlat_eam eams[1];
static struct net6_xlat_node by4[1], by6[1];
static struct net6_xlat_map map = { .plen = 96, .n = 1, .eams = eams, .by4 = by4, .by6 = by6 };
static const struct net6_xlat_ctx ctx = { .map = &map, .mtu = 1500 };

#define HOST4	"192.0.2.1"			/* has IPv4 only */
#define HOST4_6	"2001:db8:64::c000:201"
#define HOST6	"2001:db8:1::7"			/* has IPv6 only */
#define HOST6_4	"198.51.100.7"
#define ROUTER6	"2001:db8:ffff::1"

static u8 in[FLAT_MAX], out[FLAT_MAX], back[FLAT_MAX];
static unsigned int in_len, out_len, back_len;

static void start(void)
{
	inet_pton(AF_INET6, "2001:db8:64::", &map.prefix);
	inet_pton(AF_INET6, "2001:db8:1::", &eams[0].addr6);
	inet_pton(AF_INET, "198.51.100.0", &eams[0].addr4);
	eams[0].len6 = 120;
	eams[0].len4 = 24;
	map.pool4_len = 0;
	net6_xlat_map_build(&map);
}

static void seal(u8 proto, bool six, u8 *packet, u8 *l4, unsigned int len)
{
	unsigned int at = net6_xlat_checksum_at(proto);
	u32 pseudo = six ? net6_xlat_sum(packet + 8, 32, len + proto) :
			   net6_xlat_sum(packet + 12, 8, len + proto);

	if (proto == NET6_XLAT_ICMP || proto == NET6_XLAT_ICMPV6)
		at = 2;
	if (!at)
		return;
	put_unaligned_be16(0, l4 + at);
	put_unaligned_be16(flat_checksum(l4, len, proto == NET6_XLAT_ICMP ? 0 : pseudo), l4 + at);
}

/* Some bytes of a transport; its ports, or its ICMP type and code, are @first. */
static void fill(u8 *l4, unsigned int len, u32 first)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		l4[i] = i * 7 + 1;
	put_unaligned_be32(first, l4);
}

static unsigned int make4(u8 *to, u8 proto, const char *src, const char *dst, u16 frag,
			  unsigned int len, u32 first)
{
	memset(to, 0, 20);
	to[0] = 0x45;
	to[1] = 0xb9;
	put_unaligned_be16(20 + len, to + 2);
	put_unaligned_be16(0x1234, to + 4);
	put_unaligned_be16(frag, to + 6);
	to[8] = 61;
	to[9] = proto;
	inet_pton(AF_INET, src, to + 12);
	inet_pton(AF_INET, dst, to + 16);
	put_unaligned_be16(flat_checksum(to, 20, 0), to + 10);
	fill(to + 20, len, first);
	if (len >= 8)
		seal(proto, false, to, to + 20, len);
	return 20 + len;
}

static unsigned int make6(u8 *to, u8 proto, const char *src, const char *dst, unsigned int len,
			  u32 first)
{
	put_unaligned_be32(0x6b900123, to);	/* traffic class 0xb9 */
	put_unaligned_be16(len, to + 4);
	to[6] = proto;
	to[7] = 61;
	inet_pton(AF_INET6, src, to + 8);
	inet_pton(AF_INET6, dst, to + 24);
	fill(to + 40, len, first);
	if (len >= 8)
		seal(proto, true, to, to + 40, len);
	return 40 + len;
}

static enum net6_xlat_verdict to6(void)
{
	return flat_translate(&ctx, true, in, in_len, out, &out_len);
}

static enum net6_xlat_verdict to4(void)
{
	return flat_translate(&ctx, false, in, in_len, out, &out_len);
}

static void expect_addrs6(const u8 *packet, const char *src, const char *dst)
{
	char text[INET6_ADDRSTRLEN];

	EXPECT_STR(inet_ntop(AF_INET6, packet + 8, text, sizeof(text)), src);
	EXPECT_STR(inet_ntop(AF_INET6, packet + 24, text, sizeof(text)), dst);
}

static void expect_addrs4(const u8 *packet, const char *src, const char *dst)
{
	char text[INET_ADDRSTRLEN];

	EXPECT_STR(inet_ntop(AF_INET, packet + 12, text, sizeof(text)), src);
	EXPECT_STR(inet_ntop(AF_INET, packet + 16, text, sizeof(text)), dst);
	EXPECT_EQ(flat_checksum(packet, 20, 0), 0);
}

#endif /* XLAT_PACKETS_H */
