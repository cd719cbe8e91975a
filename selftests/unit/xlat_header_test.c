// SPDX-License-Identifier: GPL-2.0
/* Packets through the translator, both ways, against RFC 7915: headers, fragments, extension
 * headers, checksums, and ICMP errors with the packets inside.
 */
#include "unit.h"
#include <linux/array_size.h>
#include "xlat_packets.h"

TEST(to6__header_fields)
{
	start();
	in_len = make4(in, NET6_XLAT_TCP, HOST4, HOST6_4, 0x4000, 100, 0x00501234);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 140);
	EXPECT_EQ(get_unaligned_be32(out), 0x6b900000);
	EXPECT_EQ(get_unaligned_be16(out + 4), 100);
	EXPECT_EQ(out[6], NET6_XLAT_TCP);
	EXPECT_EQ(out[7], 61);
	expect_addrs6(out, HOST4_6, HOST6);
	EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_TCP, out, out + 40, 100));
}

TEST(to4__header_fields)
{
	start();
	in_len = make6(in, NET6_XLAT_TCP, HOST6, HOST4_6, 1300, 0x00501234);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 1320);
	EXPECT_EQ(get_unaligned_be16(out), 0x45b9);
	EXPECT_EQ(get_unaligned_be16(out + 2), 1320);
	EXPECT_EQ(get_unaligned_be16(out + 4), 0);
	EXPECT_EQ(get_unaligned_be16(out + 6), 0x4000);
	EXPECT_EQ(out[8], 61);
	EXPECT_EQ(out[9], NET6_XLAT_TCP);
	expect_addrs4(out, HOST6_4, HOST4);
	EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_TCP, out, out + 20, 1300));
}

/* RFC 7915 5.1: more than 1260 bytes of IPv4 are not to be fragmented, others may be. */
TEST(to4__dont_fragment_by_length)
{
	start();
	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 1240, 1);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(get_unaligned_be16(out + 6), 0);
	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 1241, 1);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(get_unaligned_be16(out + 6), 0x4000);
}

TEST(there_and_back__transports)
{
	static const u8 protos[] = {
		NET6_XLAT_TCP, NET6_XLAT_UDP, NET6_XLAT_UDPLITE, NET6_XLAT_DCCP, 47, 50, 51, 59,
		132,
	};
	unsigned int i, len;

	start();
	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		for (len = 20; len < 1400; len += 277) {
			in_len = make4(in, protos[i], HOST4, HOST6_4, 0, len, 0x12345678 + len);
			put_unaligned_be16(0, in + 4);
			put_unaligned_be16(len > 1240 ? 0x4000 : 0, in + 6);
			put_unaligned_be16(0, in + 10);
			put_unaligned_be16(flat_checksum(in, 20, 0), in + 10);
			ASSERT_EQ(to6(), NET6_XLAT_GOOD);
			EXPECT_TRUE(flat_checksum_right(true, protos[i], out, out + 40, len));
			ASSERT_EQ(flat_translate(&ctx, false, out, out_len, back, &back_len),
				  NET6_XLAT_GOOD);
			EXPECT_EQ(back_len, in_len);
			EXPECT_MEM(back, in, in_len);
		}
	}
}

TEST(to6__fragments)
{
	start();
	in_len = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0x2000, 800, 7);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 848);
	EXPECT_EQ(out[6], NET6_XLAT_FRAGMENT_HDR);
	EXPECT_EQ(get_unaligned_be16(out + 4), 808);
	EXPECT_EQ(out[40], NET6_XLAT_UDP);
	EXPECT_EQ(get_unaligned_be16(out + 42), 1);
	EXPECT_EQ(get_unaligned_be32(out + 44), 0x1234);
	/* The first one has the checksum of all of it; here the fragment was summed up. */
	EXPECT_EQ(flat_checksum(out + 48, 800, net6_xlat_sum(out + 8, 32, 800 + 17)), 0);

	in_len = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 100, 101, 7);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(get_unaligned_be16(out + 42), 800);
	EXPECT_MEM(out + 48, in + 20, 101);

	in_len = make4(in, NET6_XLAT_ICMP, HOST4, HOST6_4, 0x2000, 800, 0x08000000);
	EXPECT_EQ(to6(), NET6_XLAT_ICMP_FRAGMENT);
	in_len = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0x2000, 801, 7);
	EXPECT_EQ(to6(), NET6_XLAT_FRAGMENT);
	in_len = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 8191, 100, 7);
	EXPECT_EQ(to6(), NET6_XLAT_FRAGMENT);
}

/* A Fragment header in front of what @in has. */
static void insert_frag(u16 frag, u32 id)
{
	memmove(in + 48, in + 40, in_len - 40);
	in[40] = in[6];
	in[41] = 0;
	put_unaligned_be16(frag, in + 42);
	put_unaligned_be32(id, in + 44);
	in[6] = NET6_XLAT_FRAGMENT_HDR;
	in_len += 8;
	put_unaligned_be16(in_len - 40, in + 4);
}

TEST(to4__fragments)
{
	start();
	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 1400, 7);
	insert_frag(1, 0xabcd4321);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 1420);
	EXPECT_EQ(get_unaligned_be16(out + 4), 0x4321);
	EXPECT_EQ(get_unaligned_be16(out + 6), 0x2000);
	EXPECT_EQ(out[9], NET6_XLAT_UDP);
	EXPECT_EQ(flat_checksum(out + 20, 1400, net6_xlat_sum(out + 12, 8, 1400 + 17)), 0);

	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 77, 7);
	insert_frag(800 << 0 & ~7, 5);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(get_unaligned_be16(out + 6), 100);
	EXPECT_MEM(out + 20, in + 48, 77);

	in_len = make6(in, NET6_XLAT_ICMPV6, HOST6, HOST4_6, 80, 0x80000000);
	insert_frag(1, 5);
	EXPECT_EQ(to4(), NET6_XLAT_ICMP_FRAGMENT);
	/* An atomic fragment is all of it (RFC 6946). */
	in_len = make6(in, NET6_XLAT_ICMPV6, HOST6, HOST4_6, 80, 0x80000000);
	insert_frag(0, 5);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(get_unaligned_be16(out + 4), 5);
	EXPECT_EQ(get_unaligned_be16(out + 6), 0);
	EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_ICMP, out, out + 20, 80));
	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 81, 7);
	insert_frag(1, 5);
	EXPECT_EQ(to4(), NET6_XLAT_FRAGMENT);
	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 81, 7);
	insert_frag(0, 5);
	insert_frag(0, 5);
	EXPECT_EQ(to4(), NET6_XLAT_EXTHDR);
}

/* An extension header of 8 or 16 bytes in front of what @in has. */
static void insert(u8 type, u8 words, u8 fourth)
{
	unsigned int size = (words + 1) * 8;

	memmove(in + 40 + size, in + 40, in_len - 40);
	memset(in + 40, 0, size);
	in[40] = in[6];
	in[41] = words;
	in[43] = fourth;
	in[6] = type;
	in_len += size;
	put_unaligned_be16(in_len - 40, in + 4);
}

TEST(to4__extension_headers)
{
	unsigned int i;

	start();
	in_len = make6(in, NET6_XLAT_TCP, HOST6, HOST4_6, 60, 7);
	insert(NET6_XLAT_ROUTING, 1, 0);
	insert(NET6_XLAT_DEST_OPTS, 0, 0);
	insert(NET6_XLAT_HOP, 2, 0);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 80);
	EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_TCP, out, out + 20, 60));

	in_len = make6(in, NET6_XLAT_TCP, HOST6, HOST4_6, 60, 7);
	insert(NET6_XLAT_ROUTING, 1, 1);
	EXPECT_EQ(to4(), NET6_XLAT_SOURCE_ROUTE);
	in_len = make6(in, NET6_XLAT_TCP, HOST6, HOST4_6, 60, 7);
	insert(NET6_XLAT_HOP, 0, 0);
	insert(NET6_XLAT_DEST_OPTS, 0, 0);
	EXPECT_EQ(to4(), NET6_XLAT_EXTHDR);
	in_len = make6(in, NET6_XLAT_TCP, HOST6, HOST4_6, 60, 7);
	for (i = 0; i < 9; i++)
		insert(NET6_XLAT_DEST_OPTS, 0, 0);
	EXPECT_EQ(to4(), NET6_XLAT_EXTHDR);
	/* It says that it is longer than the packet. */
	in_len = make6(in, NET6_XLAT_DEST_OPTS, HOST6, HOST4_6, 16, 0x06ff0000);
	EXPECT_EQ(to4(), NET6_XLAT_EXTHDR);
}

TEST(to6__options)
{
	start();
	in_len = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0, 48, 0x01020304);
	/* The first 8 bytes behind the header become options, the datagram follows. */
	in[0] = 0x47;
	memcpy(in + 20, "\x01\x94\x04\x00\x00\x00\x00", 8);	/* NOP, Router Alert, end */
	seal(NET6_XLAT_UDP, false, in, in + 28, 40);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_EQ(out_len, 80);
	EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_UDP, out, out + 40, 40));
	memcpy(in + 20, "\x83\x07\x04\x01\x02\x03\x04", 8);	/* a source route with a hop left */
	EXPECT_EQ(to6(), NET6_XLAT_SOURCE_ROUTE);
	in[20] = 0x89;
	EXPECT_EQ(to6(), NET6_XLAT_SOURCE_ROUTE);
	in[22] = 8;						/* at its end */
	EXPECT_EQ(to6(), NET6_XLAT_GOOD);
	in[21] = 9;
	EXPECT_EQ(to6(), NET6_XLAT_HEADER);
	in[21] = 1;
	EXPECT_EQ(to6(), NET6_XLAT_HEADER);
}

TEST(to6__udp_without_checksum)
{
	start();
	in_len = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0, 100, 0x01020304);
	put_unaligned_be16(0, in + 26);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_UDP, out, out + 40, 100));
	EXPECT_NE(get_unaligned_be16(out + 46), 0);
	put_unaligned_be16(0x2000, in + 6);
	put_unaligned_be16(124, in + 2);
	in_len = 124;
	EXPECT_EQ(to6(), NET6_XLAT_UDP_FRAGMENT);
}

TEST(both__what_has_no_translation)
{
	static const u8 protos4[] = { 0, 43, 44, 58, 60, 135, 139, 140 };
	static const u8 protos6[] = { 1, 135, 139, 140 };
	unsigned int i;

	start();
	for (i = 0; i < ARRAY_SIZE(protos4); i++) {
		in_len = make4(in, protos4[i], HOST4, HOST6_4, 0, 100, 0);
		EXPECT_EQ(to6(), NET6_XLAT_PROTOCOL);
	}
	for (i = 0; i < ARRAY_SIZE(protos6); i++) {
		in_len = make6(in, protos6[i], HOST6, HOST4_6, 100, 0);
		EXPECT_EQ(to4(), NET6_XLAT_PROTOCOL);
	}
	in_len = make4(in, NET6_XLAT_TCP, "127.0.0.1", HOST6_4, 0, 100, 0);
	EXPECT_EQ(to6(), NET6_XLAT_SOURCE);
	in_len = make4(in, NET6_XLAT_TCP, HOST4, "224.0.0.1", 0, 100, 0);
	EXPECT_EQ(to6(), NET6_XLAT_DEST);
	in_len = make6(in, NET6_XLAT_TCP, ROUTER6, HOST4_6, 100, 0);
	EXPECT_EQ(to4(), NET6_XLAT_SOURCE);
	in_len = make6(in, NET6_XLAT_TCP, HOST6, "ff0e::1", 100, 0);
	EXPECT_EQ(to4(), NET6_XLAT_DEST);
	in_len = make4(in, NET6_XLAT_TCP, HOST4, HOST6_4, 0, 100, 0) - 1;
	EXPECT_EQ(to6(), NET6_XLAT_HEADER);
	in_len = make6(in, NET6_XLAT_TCP, HOST6, HOST4_6, 100, 0) - 1;
	EXPECT_EQ(to4(), NET6_XLAT_HEADER);
	in_len = make4(in, NET6_XLAT_TCP, HOST4, HOST6_4, 0, 17, 0);
	EXPECT_EQ(to6(), NET6_XLAT_SHORT);
}

TEST(both__echo)
{
	unsigned int type;

	start();
	for (type = 0; type < 256; type++) {
		in_len = make4(in, NET6_XLAT_ICMP, HOST4, HOST6_4, 0, 64, type << 24);
		if (net6_xlat_icmp_is_error4(type))
			continue;
		if (type != 8 && type != 0) {
			EXPECT_EQ(to6(), NET6_XLAT_ICMP_TYPE);
			continue;
		}
		ASSERT_EQ(to6(), NET6_XLAT_GOOD);
		EXPECT_EQ(out[40], type ? 128 : 129);
		EXPECT_EQ(out[6], NET6_XLAT_ICMPV6);
		EXPECT_TRUE(flat_checksum_right(true, NET6_XLAT_ICMPV6, out, out + 40, 64));
	}
	for (type = 128; type < 256; type++) {
		in_len = make6(in, NET6_XLAT_ICMPV6, HOST6, HOST4_6, 64, type << 24);
		if (type > 129) {
			EXPECT_EQ(to4(), NET6_XLAT_ICMP_TYPE);
			continue;
		}
		ASSERT_EQ(to4(), NET6_XLAT_GOOD);
		EXPECT_EQ(out[20], type == 128 ? 8 : 0);
		EXPECT_TRUE(flat_checksum_right(false, NET6_XLAT_ICMP, out, out + 20, 64));
	}
}

/* RFC 7915 section 4: what IPv4 may cut is cut to 1280 bytes, a fragment once more. */
TEST(to6__pieces)
{
	struct net6_xlat_plan plan = {};
	u8 header[48];

	start();
	plan.payload = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0, 1240, 7);
	ASSERT_EQ(net6_xlat_plan46(&ctx, in, plan.payload, &plan), NET6_XLAT_GOOD);
	EXPECT_EQ(net6_xlat_piece_room(&plan), 0);
	plan.payload = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0x4000, 1400, 7);
	ASSERT_EQ(net6_xlat_plan46(&ctx, in, plan.payload, &plan), NET6_XLAT_GOOD);
	EXPECT_EQ(net6_xlat_piece_room(&plan), 0);
	plan.payload = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0, 1241, 7);
	ASSERT_EQ(net6_xlat_plan46(&ctx, in, plan.payload, &plan), NET6_XLAT_GOOD);
	ASSERT_EQ(net6_xlat_piece_room(&plan), 1232);
	net6_xlat_piece(&plan, 0, 1232, header);
	EXPECT_MEM(header, plan.header, 4);
	EXPECT_EQ(get_unaligned_be16(header + 4), 1240);
	EXPECT_EQ(header[6], NET6_XLAT_FRAGMENT_HDR);
	EXPECT_EQ(header[40], NET6_XLAT_UDP);
	EXPECT_EQ(get_unaligned_be16(header + 42), 1);
	EXPECT_EQ(get_unaligned_be32(header + 44), 0x1234);
	expect_addrs6(header, HOST4_6, HOST6);
	net6_xlat_piece(&plan, 1232, 9, header);
	EXPECT_EQ(get_unaligned_be16(header + 4), 17);
	EXPECT_EQ(get_unaligned_be16(header + 42), 1232);

	/* The middle of something larger: more follows its last piece, too. */
	plan.payload = make4(in, NET6_XLAT_UDP, HOST4, HOST6_4, 0x2000 | 100, 1480, 7);
	ASSERT_EQ(net6_xlat_plan46(&ctx, in, plan.payload, &plan), NET6_XLAT_GOOD);
	ASSERT_EQ(net6_xlat_piece_room(&plan), 1232);
	net6_xlat_piece(&plan, 1232, 248, header);
	EXPECT_EQ(header[40], NET6_XLAT_UDP);
	EXPECT_EQ(get_unaligned_be16(header + 42), (800 + 1232) | 1);
}
