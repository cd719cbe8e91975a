// SPDX-License-Identifier: GPL-2.0
/* ICMP errors through the translator, both ways: RFC 7915's tables of types, codes and pointers,
 * path MTUs, the packet inside, RFC 4884's extensions, and routers without an address.
 */
#include "unit.h"
#include <linux/array_size.h>
#include "xlat_packets.h"

#define NONE	0xff

/* An ICMPv4 error about a packet of HOST6's, as HOST4 or a router sends it. */
static void error4(u8 type, u8 code, u32 value, unsigned int quoted)
{
	u8 packet[1500];
	unsigned int len = make4(packet, NET6_XLAT_UDP, HOST6_4, HOST4, 0x4000, 1400, 7);

	len = min(len, quoted);
	in_len = make4(in, NET6_XLAT_ICMP, HOST4, HOST6_4, 0, 8 + len, type << 24 | code << 16);
	put_unaligned_be32(value, in + 24);
	memcpy(in + 28, packet, len);
	seal(NET6_XLAT_ICMP, false, in, in + 20, 8 + len);
}

static void error6(const char *router, u8 type, u8 code, u32 value, unsigned int quoted)
{
	u8 packet[1500];
	unsigned int len = make6(packet, NET6_XLAT_UDP, HOST4_6, HOST6, 1400, 7);

	len = min(len, quoted);
	in_len = make6(in, NET6_XLAT_ICMPV6, router, HOST4_6, 8 + len, type << 24 | code << 16);
	put_unaligned_be32(value, in + 44);
	memcpy(in + 48, packet, len);
	seal(NET6_XLAT_ICMPV6, true, in, in + 40, 8 + len);
}

/* RFC 7915 4.2 */
TEST(to6__types_and_codes)
{
	static const struct { u8 type, code, to_type, to_code; u32 value; } cases[] = {
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 4, 1, 6 }, { 3, 3, 1, 4 }, { 3, 5, 1, 0 },
		{ 3, 6, 1, 0 }, { 3, 7, 1, 0 }, { 3, 8, 1, 0 }, { 3, 9, 1, 1 }, { 3, 10, 1, 1 },
		{ 3, 11, 1, 0 }, { 3, 12, 1, 0 }, { 3, 13, 1, 1 }, { 3, 14, NONE }, { 3, 15, 1, 1 },
		{ 3, 16, NONE }, { 4, 0, NONE }, { 5, 0, NONE }, { 11, 0, 3, 0 }, { 11, 1, 3, 1 },
		{ 12, 1, NONE }, { 12, 3, NONE },
	};
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		error4(cases[i].type, cases[i].code, 0, 200);
		if (cases[i].to_type == NONE) {
			EXPECT_EQ(to6(), NET6_XLAT_ICMP_TYPE);
			continue;
		}
		ASSERT_EQ(to6(), NET6_XLAT_GOOD);
		EXPECT_EQ(out[40], cases[i].to_type);
		EXPECT_EQ(out[41], cases[i].to_code);
		EXPECT_EQ(get_unaligned_be32(out + 44), cases[i].value);
		EXPECT_EQ(out_len, in_len + 20 + 20);
		EXPECT_EQ(get_unaligned_be16(out + 4), out_len - 40);
		EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_ICMPV6, out, out + 40,
						out_len - 40));
		expect_addrs6(out, HOST4_6, HOST6);
		expect_addrs6(out + 48, HOST6, HOST4_6);
		EXPECT_EQ(get_unaligned_be16(out + 52), 1400);
	}
}

/* RFC 7915 5.2 */
TEST(to4__types_and_codes)
{
	static const struct { u8 type, code, to_type, to_code; u32 value; } cases[] = {
		{ 1, 0, 3, 1 }, { 1, 1, 3, 10 }, { 1, 2, 3, 1 }, { 1, 3, 3, 1 }, { 1, 4, 3, 3 },
		{ 1, 5, NONE }, { 3, 0, 11, 0 }, { 3, 1, 11, 1 }, { 4, 1, 3, 2 }, { 4, 2, NONE },
		{ 100, 0, NONE },
	};
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		error6(HOST6, cases[i].type, cases[i].code, 6, 200);
		if (cases[i].to_type == NONE) {
			EXPECT_EQ(to4(), NET6_XLAT_ICMP_TYPE);
			continue;
		}
		ASSERT_EQ(to4(), NET6_XLAT_GOOD);
		EXPECT_EQ(out[20], cases[i].to_type);
		EXPECT_EQ(out[21], cases[i].to_code);
		EXPECT_EQ(get_unaligned_be32(out + 24), cases[i].value);
		EXPECT_EQ(out_len, in_len - 20 - 20);
		EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_ICMP, out, out + 20,
						out_len - 20));
		expect_addrs4(out, HOST6_4, HOST4);
		expect_addrs4(out + 28, HOST4, HOST6_4);
		EXPECT_EQ(get_unaligned_be16(out + 30), 1420);
		EXPECT_EQ(get_unaligned_be16(out + 34), 0x4000);
	}
}

/* RFC 7915, figures 3 and 6 */
TEST(both__pointers)
{
	static const u8 to_six[] = {
		0, 1, 4, 4, NONE, NONE, NONE, NONE, 7, 6, NONE, NONE, 8, 8, 8, 8, 24, 24, 24, 24,
		NONE, NONE,
	};
	static const u8 to_four[] = { 0, 1, NONE, NONE, 2, 2, 9, 8 };
	unsigned int i;
	u8 wanted;

	start();
	for (i = 0; i < ARRAY_SIZE(to_six); i++) {
		error4(12, i % 2 * 2, i << 24, 100);
		ASSERT_EQ(to6(), to_six[i] == NONE ? NET6_XLAT_ICMP_TYPE : NET6_XLAT_GOOD);
		if (to_six[i] == NONE)
			continue;
		EXPECT_EQ(out[40] << 8 | out[41], 0x400);
		EXPECT_EQ(get_unaligned_be32(out + 44), to_six[i]);
	}
	for (i = 0; i < 50; i++) {
		wanted = i < 8 ? to_four[i] : i < 24 ? 12 : i < 40 ? 16 : NONE;
		error6(HOST6, 4, 0, i, 100);
		ASSERT_EQ(to4(), wanted == NONE ? NET6_XLAT_ICMP_TYPE : NET6_XLAT_GOOD);
		if (wanted != NONE)
			EXPECT_EQ(get_unaligned_be32(out + 24), (u32)wanted << 24);
	}
}

TEST(both__path_mtu)
{
	static const struct { u32 four, six; } to_six[] = {
		{ 1400, 1420 }, { 1500, 1500 }, { 1260, 1280 }, { 68, 1280 },
		{ 0, 1280 + 20 },	/* 1420 bytes did not fit: the next plateau */
	};
	static const struct { u32 six, four; } to_four[] = {
		{ 1420, 1400 }, { 1280, 1260 }, { 1000, 1260 }, { 0, 1260 }, { 9000, 1480 },
		{ 0xffffffff, 1480 },
	};
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(to_six); i++) {
		error4(3, 4, to_six[i].four, 100);
		ASSERT_EQ(to6(), NET6_XLAT_GOOD);
		EXPECT_EQ(out[40] << 8 | out[41], 0x200);
		EXPECT_EQ(get_unaligned_be32(out + 44), to_six[i].six);
	}
	for (i = 0; i < ARRAY_SIZE(to_four); i++) {
		error6(HOST6, 2, 0, to_four[i].six, 100);
		ASSERT_EQ(to4(), NET6_XLAT_GOOD);
		EXPECT_EQ(out[20] << 8 | out[21], 0x304);
		EXPECT_EQ(get_unaligned_be32(out + 24), to_four[i].four);
	}
}

/* RFC 1191 section 7 */
TEST(to6__plateaus)
{
	static const struct { unsigned int len; u32 mtu; } cases[] = {
		{ 65535, 32020 }, { 32000, 17934 }, { 17914, 8186 }, { 8166, 4372 }, { 4352, 2022 },
		{ 2002, 1512 }, { 1500, 1512 }, { 1492, 1300 }, { 1281, 1300 }, { 1280, 1280 },
	};
	struct net6_xlat_icmp icmp;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		icmp = (struct net6_xlat_icmp){ 3, 4, 0 };
		EXPECT_TRUE(net6_xlat_icmp46(&icmp, cases[i].len, 70000));
		EXPECT_EQ(icmp.value, cases[i].mtu);
	}
}

TEST(both__not_longer_than_the_other_may_be)
{
	start();
	error4(11, 0, 0, 1400);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 1280);
	EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_ICMPV6, out, out + 40, out_len - 40));
	error6(HOST6, 3, 0, 0, 1232);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 576);
	EXPECT_EQ(get_unaligned_be16(out + 6), 0);
	EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_ICMP, out, out + 20, out_len - 20));
}

TEST(both__the_packet_inside_is_as_it_was_sent)
{
	start();
	/* A sender compares what comes back with what it has sent: ports and checksum. */
	error4(3, 3, 0, 28);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	back_len = make6(back, NET6_XLAT_UDP, HOST6, HOST4_6, 1400, 7);
	EXPECT_MEM(out + 48 + 40, back + 40, 8);
	error6(HOST6, 1, 4, 0, 48);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	back_len = make4(back, NET6_XLAT_UDP, HOST4, HOST6_4, 0x4000, 1400, 7);
	EXPECT_MEM(out + 28 + 20, back + 20, 8);
}

TEST(both__refused)
{
	start();
	error4(3, 3, 0, 100);
	in[100] ^= 1;
	EXPECT_EQ(to6(), NET6_XLAT_ICMP_CSUM);
	error6(HOST6, 1, 4, 0, 100);
	in[100] ^= 1;
	EXPECT_EQ(to4(), NET6_XLAT_ICMP_CSUM);
	error4(3, 3, 0, 27);
	EXPECT_EQ(to6(), NET6_XLAT_ICMP_QUOTE);
	error6(HOST6, 1, 4, 0, 47);
	EXPECT_EQ(to4(), NET6_XLAT_ICMP_QUOTE);
	error4(3, 3, 0, 100);
	in[28 + 9] = NET6_XLAT_ICMP;		/* an error about an error */
	in[48] = 3;
	seal(NET6_XLAT_ICMP, false, in, in + 20, 108);
	EXPECT_EQ(to6(), NET6_XLAT_ICMP_QUOTE);
	error4(3, 3, 0, 100);
	in[28 + 12] = 127;			/* about a packet that cannot have been ours */
	seal(NET6_XLAT_ICMP, false, in, in + 20, 108);
	EXPECT_EQ(to6(), NET6_XLAT_ICMP_QUOTE);
}

/* RFC 6791, and the translator's own address where there is no pool. */
TEST(to4__routers_without_an_address)
{
	struct net6_xlat_ctx own = ctx;

	start();
	error6(ROUTER6, 3, 0, 0, 100);
	EXPECT_EQ(to4(), NET6_XLAT_SOURCE);
	inet_pton(AF_INET, "192.0.2.254", &own.self4);
	ASSERT_EQ(flat_translate(&own, false, in, in_len, out, &out_len), NET6_XLAT_GOOD);
	expect_addrs4(out, "192.0.2.254", HOST4);
	EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_ICMP, out, out + 20, out_len - 20));
	inet_pton(AF_INET, "203.0.113.9", &map.pool4);
	map.pool4_len = 32;
	ASSERT_EQ(flat_translate(&own, false, in, in_len, out, &out_len), NET6_XLAT_GOOD);
	expect_addrs4(out, "203.0.113.9", HOST4);
	in_len = make6(in, NET6_XLAT_ICMPV6, ROUTER6, HOST4_6, 60, 0x80000000);
	EXPECT_EQ(flat_translate(&own, false, in, in_len, out, &out_len), NET6_XLAT_SOURCE);
}

/* RFC 7915 4.1: "for the purpose of troubleshooting"; of errors alone. */
TEST(to6__illegal_sources)
{
	start();
	error4(11, 0, 0, 100);
	inet_pton(AF_INET, "127.0.0.1", in + 12);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	expect_addrs6(out, "2001:db8:64::7f00:1", HOST6);
	EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_ICMPV6, out, out + 40, out_len - 40));
	in_len = make4(in, NET6_XLAT_ICMP, "127.0.0.1", HOST6_4, 0, 64, 8 << 24);
	EXPECT_EQ(to6(), NET6_XLAT_SOURCE);
}

/* RFC 4884: 128 bytes of packet and an extension of 12 bytes behind it. */
TEST(both__extensions)
{
	start();
	error4(11, 0, 32 << 16, 128 + 12);
	memcpy(in + 28 + 128, "extension...", 12);
	seal(NET6_XLAT_ICMP, false, in, in + 20, 148);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(out[44], 19);		/* 148 bytes, padded to 152 */
	EXPECT_EQ(out_len, 40 + 8 + 152 + 12);
	EXPECT_MEM(out + 48 + 152, "extension...", 12);
	EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_ICMPV6, out, out + 40, out_len - 40));

	error6(HOST6, 1, 4, 16 << 24, 128 + 12);
	memcpy(in + 48 + 128, "extension...", 12);
	seal(NET6_XLAT_ICMPV6, true, in, in + 40, 148);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out[25], 32);		/* 108 bytes, padded to the least */
	EXPECT_EQ(out_len, 20 + 8 + 128 + 12);
	EXPECT_MEM(out + 28 + 128, "extension...", 12);
	EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_ICMP, out, out + 20, out_len - 20));

	/* What just fits beside 128 bytes of the packet, and what does not: there is more of it. */
	error6(HOST6, 3, 0, 120 << 24, 960 + 420);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 576);
	EXPECT_EQ(out[25], 32);
	EXPECT_MEM(out + 28 + 128, in + 48 + 960, 420);
	error6(HOST6, 3, 0, 116 << 24, 928 + 421);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 576);
	EXPECT_EQ(out[25], 0);
	/* One behind less than 128 bytes, which RFC 4884 does not allow. */
	error4(11, 0, 16 << 16, 64 + 12);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(out[44], 16);
	EXPECT_EQ(out_len, 40 + 8 + 128 + 12);

	/* ICMPv6 has no place for it in a Packet Too Big message. */
	error4(3, 4, 32 << 16 | 1400, 128 + 12);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(get_unaligned_be32(out + 44), 1420);
	EXPECT_EQ(out_len, 40 + 8 + 148);
}
