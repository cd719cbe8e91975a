// SPDX-License-Identifier: GPL-2.0
/* Packets of hosts to whom a NAT64 lends addresses, and of others that are not to have any: who is
 * asked for an address, and for whose packets only those count that are lent already. The lender
 * is this test's; the kernel's own is tested in guests.
 */
#include "unit.h"
#include "xlat_packets.h"

#define GUEST6	"2001:db8:5::5"		/* has no address of its own */
#define GUEST4	"192.168.240.9"
#define OTHER6	"2001:db8:5::6"

static bool lent, full;
static unsigned int made, asked;

static __be32 lend(struct net6_xlat_hosts *hosts, const struct in6_addr *addr6, bool make)
{
	struct in6_addr guest;

	inet_pton(AF_INET6, GUEST6, &guest);
	asked++;
	if (memcmp(addr6, &guest, sizeof(guest)))
		return 0;
	if (!lent && make && !full) {
		lent = true;
		made++;
	}
	return lent ? inet_addr(GUEST4) : 0;
}

static bool whose(struct net6_xlat_hosts *hosts, __be32 addr4, struct in6_addr *addr6)
{
	if (!lent || addr4 != inet_addr(GUEST4))
		return false;
	inet_pton(AF_INET6, GUEST6, addr6);
	return true;
}

static struct net6_xlat_hosts hosts = { .to4 = lend, .to6 = whose };

static void begin(bool has_one)
{
	map.inside4 = inet_addr("192.168.240.0");
	map.inside4_len = 20;
	map.hosts = &hosts;
	start();
	lent = has_one;
	full = false;
	made = 0;
	asked = 0;
}

/* An ICMP error about a packet between both. */
static void error4(const char *source, const char *dest, const char *from, const char *to)
{
	u8 quoted[60];
	unsigned int len = make4(quoted, NET6_XLAT_UDP, from, to, 0, 40, 0x12345678);

	in_len = make4(in, NET6_XLAT_ICMP, source, dest, 0, 8 + len, 0x03030000);
	memset(in + 24, 0, 4);
	memcpy(in + 28, quoted, len);
	seal(NET6_XLAT_ICMP, false, in, in + 20, 8 + len);
}

static void error6(const char *source, const char *dest, const char *from, const char *to)
{
	u8 quoted[80];
	unsigned int len = make6(quoted, NET6_XLAT_UDP, from, to, 40, 0x12345678);

	in_len = make6(in, NET6_XLAT_ICMPV6, source, dest, 8 + len, 0x01040000);
	memset(in + 44, 0, 4);
	memcpy(in + 48, quoted, len);
	seal(NET6_XLAT_ICMPV6, true, in, in + 40, 8 + len);
}

TEST(hosts__one_that_sends_is_lent_an_address)
{
	begin(false);
	in_len = make6(in, NET6_XLAT_UDP, GUEST6, HOST4_6, 100, 1);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	expect_addrs4(out, GUEST4, HOST4);
	EXPECT_EQ(made, 1);
	in_len = make4(in, NET6_XLAT_UDP, HOST4, GUEST4, 0, 100, 1);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	expect_addrs6(out, HOST4_6, GUEST6);
}

TEST(hosts__there_and_back)
{
	begin(true);
	in_len = make4(in, NET6_XLAT_TCP, HOST4, GUEST4, 0x4000, 1300, 1);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	/* Its answer. */
	memcpy(back, out + 24, 16);
	memmove(out + 24, out + 8, 16);
	memcpy(out + 8, back, 16);
	ASSERT_EQ(flat_translate(&ctx, false, out, out_len, back, &back_len), NET6_XLAT_GOOD);
	EXPECT_EQ(back_len, in_len);
	expect_addrs4(back, GUEST4, HOST4);
	EXPECT_TRUE(!memcmp(back + 20, in + 20, 1300));
}

TEST(hosts__one_with_a_mapping_of_its_own_is_not)
{
	begin(false);
	in_len = make6(in, NET6_XLAT_UDP, HOST6, HOST4_6, 100, 1);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	expect_addrs4(out, HOST6_4, HOST4);
	EXPECT_EQ(asked, 0);
}

TEST(hosts__none_is_left)
{
	begin(false);
	full = true;
	in_len = make6(in, NET6_XLAT_UDP, GUEST6, HOST4_6, 100, 1);
	EXPECT_EQ(to4(), NET6_XLAT_HOSTS);
}

TEST(hosts__an_address_that_nobody_has_goes_nowhere)
{
	begin(false);
	in_len = make4(in, NET6_XLAT_UDP, HOST4, GUEST4, 0, 100, 1);
	EXPECT_EQ(to6(), NET6_XLAT_DEST);
}

TEST(hosts__addresses_inside_stand_for_nothing_else)
{
	begin(true);
	/* 2001:db8:64::192.168.240.9 */
	in_len = make6(in, NET6_XLAT_UDP, GUEST6, "2001:db8:64::c0a8:f009", 100, 1);
	EXPECT_EQ(to4(), NET6_XLAT_DEST);
	in_len = make4(in, NET6_XLAT_UDP, GUEST4, GUEST4, 0, 100, 1);
	EXPECT_EQ(to6(), NET6_XLAT_SOURCE);
	error4("192.168.240.1", GUEST4, GUEST4, HOST4);
	EXPECT_EQ(to6(), NET6_XLAT_SOURCE);
}

/* RFC 6146 3.5 */
TEST(hosts__a_source_in_the_prefix_is_dropped)
{
	begin(true);
	in_len = make6(in, NET6_XLAT_UDP, HOST4_6, HOST4_6, 100, 1);
	EXPECT_EQ(to4(), NET6_XLAT_SOURCE);
}

TEST(hosts__an_error_about_a_packet_of_theirs)
{
	begin(true);
	error4("203.0.113.1", GUEST4, GUEST4, HOST4);
	ASSERT_EQ(to6(), NET6_XLAT_GOOD);
	expect_addrs6(out, "2001:db8:64::cb00:7101", GUEST6);
	expect_addrs6(out + 48, GUEST6, HOST4_6);
	/* The quoted packet is nobody's that is here. */
	error4("203.0.113.1", GUEST4, "192.168.240.1", HOST4);
	EXPECT_EQ(to6(), NET6_XLAT_ICMP_QUOTE);
}

TEST(hosts__an_error_of_theirs_about_a_packet_to_them)
{
	begin(true);
	error6(GUEST6, HOST4_6, HOST4_6, GUEST6);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	expect_addrs4(out, GUEST4, HOST4);
	expect_addrs4(out + 28, HOST4, GUEST4);
	EXPECT_EQ(made, 0);
}

TEST(hosts__an_error_makes_no_address)
{
	begin(false);
	error6(GUEST6, HOST4_6, HOST4_6, GUEST6);
	EXPECT_EQ(to4(), NET6_XLAT_SOURCE);
	EXPECT_EQ(made, 0);
	/* A router's has one of RFC 6791's. */
	map.pool4_len = 32;
	inet_pton(AF_INET, "203.0.113.9", &map.pool4);
	lent = true;
	error6(OTHER6, HOST4_6, HOST4_6, GUEST6);
	ASSERT_EQ(to4(), NET6_XLAT_GOOD);
	expect_addrs4(out, "203.0.113.9", HOST4);
	EXPECT_EQ(made, 0);
}

TEST(hosts__lengths_that_there_are)
{
	unsigned int len;

	begin(false);
	for (len = 1; len <= 32; len++) {
		map.inside4_len = len;
		map.inside4 = inet_addr("192.0.0.0");
		unit_case("length");
		EXPECT_EQ(net6_xlat_map_build(&map),
			  len >= NET6_XLAT_INSIDE_MIN && len <= NET6_XLAT_INSIDE_MAX ? 0 : -EINVAL);
	}
	map.inside4_len = 20;
	map.inside4 = inet_addr("127.0.0.0");
	EXPECT_EQ(net6_xlat_map_build(&map), -EINVAL);
	map.inside4 = inet_addr("192.168.241.0");
	EXPECT_EQ(net6_xlat_map_build(&map), -EINVAL);
}
