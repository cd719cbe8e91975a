// SPDX-License-Identifier: GPL-2.0
/* The translator's addresses: RFC 6052 with its own examples, RFC 7757 with its own examples, what
 * is refused, and RFC 6791's pool.
 */
#include "unit.h"
#include <arpa/inet.h>
#include <linux/array_size.h>
#include "../../xlat/map.c"

#define EAMS	64

static struct net6_xlat_eam eams[EAMS];
static struct net6_xlat_node by4[EAMS], by6[EAMS];

static __be32 v4(const char *text)
{
	__be32 addr;

	inet_pton(AF_INET, text, &addr);
	return addr;
}

static struct in6_addr v6(const char *text)
{
	struct in6_addr addr;

	inet_pton(AF_INET6, text, &addr);
	return addr;
}

static struct net6_xlat_map prefix(const char *text, u8 plen)
{
	return (struct net6_xlat_map){
		.prefix = v6(text), .plen = plen, .eams = eams, .by4 = by4, .by6 = by6,
	};
}

static void eam(struct net6_xlat_map *map, const char *four, u8 len4, const char *six, u8 len6)
{
	eams[map->n++] = (struct net6_xlat_eam){ v6(six), v4(four), len6, len4 };
}

/* Both ways. */
static void pair(const struct net6_xlat_map *map, const char *four, const char *six)
{
	char seen[64] = "";
	struct in6_addr addr6;
	__be32 addr4 = 0;

	unit_case(four);
	EXPECT_TRUE(net6_xlat_map_to6(map, v4(four), &addr6));
	inet_ntop(AF_INET6, &addr6, seen, sizeof(seen));
	EXPECT_STR(seen, six);
	addr6 = v6(six);
	EXPECT_TRUE(net6_xlat_map_to4(map, &addr6, &addr4));
	EXPECT_EQ(addr4, v4(four));
}

static void no_six(const struct net6_xlat_map *map, const char *four)
{
	struct in6_addr addr6;

	unit_case(four);
	EXPECT_FALSE(net6_xlat_map_to6(map, v4(four), &addr6));
}

static void no_four(const struct net6_xlat_map *map, const char *six)
{
	struct in6_addr addr6 = v6(six);
	__be32 addr4;

	unit_case(six);
	EXPECT_FALSE(net6_xlat_map_to4(map, &addr6, &addr4));
}

/* RFC 6052 2.4, table 2 */
TEST(prefix__the_rfcs_examples)
{
	static const struct { const char *prefix; u8 plen; const char *six; } cases[] = {
		{ "2001:db8::", 32, "2001:db8:c000:221::" },
		{ "2001:db8:100::", 40, "2001:db8:1c0:2:21::" },
		{ "2001:db8:122::", 48, "2001:db8:122:c000:2:2100::" },
		{ "2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::" },
		{ "2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100:0" },
		{ "2001:db8:122:344::", 96, "2001:db8:122:344::c000:221" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct net6_xlat_map map = prefix(cases[i].prefix, cases[i].plen);

		EXPECT_EQ(net6_xlat_map_build(&map), 0);
		pair(&map, "192.0.2.33", cases[i].six);
	}
}

TEST(prefix__what_is_behind_the_address_is_not_looked_at)
{
	struct net6_xlat_map map = prefix("2001:db8::", 32);
	struct in6_addr addr6 = v6("2001:db8:c000:221:0:1:2:3");
	__be32 addr4 = 0;

	EXPECT_TRUE(net6_xlat_map_to4(&map, &addr6, &addr4));
	EXPECT_EQ(addr4, v4("192.0.2.33"));
}

TEST(prefix__invalid)
{
	static const struct { const char *prefix; u8 plen; } cases[] = {
		{ "2001:db8::", 33 }, { "2001:db8::", 128 }, { "2001:db8::", 72 },
		{ "2001:db8:1::", 32 },			/* bits behind it */
		{ "2001:db8:0:0:ff00::", 96 },		/* the u octet */
		{ "ff0e::", 96 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct net6_xlat_map map = prefix(cases[i].prefix, cases[i].plen);

		unit_case(cases[i].prefix);
		EXPECT_EQ(net6_xlat_map_build(&map), -EINVAL);
	}
}

/* RFC 6052 3.1 */
TEST(well_known_prefix__global_addresses_only)
{
	struct net6_xlat_map map = prefix("64:ff9b::", 96);
	struct net6_xlat_map local = prefix("64:ff9b:1::", 96);	/* RFC 8215 */

	pair(&map, "8.8.8.8", "64:ff9b::808:808");
	no_six(&map, "10.0.0.1");
	no_six(&map, "172.31.0.1");
	no_six(&map, "192.168.1.1");
	no_six(&map, "100.64.0.1");
	no_six(&map, "192.0.2.1");
	no_four(&map, "64:ff9b::a00:1");
	pair(&map, "172.32.0.1", "64:ff9b::ac20:1");
	pair(&local, "10.0.0.1", "64:ff9b:1::a00:1");
}

TEST(prefix__addresses_of_no_host)
{
	static const char *const cases[] = {
		"0.1.2.3", "127.0.0.1", "169.254.1.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
	};
	struct net6_xlat_map map = prefix("2001:db8::", 96);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		no_six(&map, cases[i]);
	no_four(&map, "2001:db8::e000:1");
	no_four(&map, "2001:db8::7f00:1");
	no_four(&map, "2001:db8:0:0:0:1:c000:221");
}

/* The table that RFC 7757 has for an example. */
TEST(eam__the_rfcs_examples)
{
	struct net6_xlat_map map = prefix("64:ff9b::", 0);

	eam(&map, "192.0.2.1", 32, "2001:db8:aaaa::", 128);
	eam(&map, "192.0.2.2", 32, "2001:db8:bbbb::b", 128);
	eam(&map, "192.0.2.16", 28, "2001:db8:cccc::", 124);
	eam(&map, "192.0.2.128", 26, "2001:db8:dddd::", 64);
	eam(&map, "192.0.2.192", 29, "2001:db8:eeee:8::", 62);
	eam(&map, "192.0.2.224", 31, "64:ff9b::", 127);
	ASSERT_EQ(net6_xlat_map_build(&map), 0);
	pair(&map, "192.0.2.1", "2001:db8:aaaa::");
	pair(&map, "192.0.2.2", "2001:db8:bbbb::b");
	pair(&map, "192.0.2.16", "2001:db8:cccc::");
	pair(&map, "192.0.2.24", "2001:db8:cccc::8");
	pair(&map, "192.0.2.31", "2001:db8:cccc::f");
	pair(&map, "192.0.2.128", "2001:db8:dddd::");
	pair(&map, "192.0.2.152", "2001:db8:dddd:0:6000::");
	pair(&map, "192.0.2.183", "2001:db8:dddd:0:dc00::");
	pair(&map, "192.0.2.192", "2001:db8:eeee:8::");
	pair(&map, "192.0.2.195", "2001:db8:eeee:9:8000::");
	pair(&map, "192.0.2.199", "2001:db8:eeee:b:8000::");
	pair(&map, "192.0.2.224", "64:ff9b::");
	pair(&map, "192.0.2.225", "64:ff9b::1");
	no_six(&map, "192.0.2.3");
	no_six(&map, "192.0.2.32");
	no_four(&map, "2001:db8:aaaa::1");
	no_four(&map, "64:ff9b::2");
}

TEST(eam__longest_prefix_and_before_rfc_6052)
{
	struct net6_xlat_map map = prefix("2001:db8:64::", 96);

	eam(&map, "10.0.0.0", 8, "fd00:8::", 64);
	eam(&map, "10.1.0.0", 16, "fd00:16::", 64);
	eam(&map, "10.1.2.0", 24, "fd00:24::", 64);
	eam(&map, "10.1.2.3", 32, "fd00:32::7", 128);
	eam(&map, "10.3.0.0", 16, "fd00:17::", 64);
	ASSERT_EQ(net6_xlat_map_build(&map), 0);
	pair(&map, "10.1.2.3", "fd00:32::7");
	pair(&map, "10.1.2.4", "fd00:24:0:0:400::");
	pair(&map, "10.1.3.1", "fd00:16:0:0:301::");
	pair(&map, "10.3.0.1", "fd00:17:0:0:1::");
	pair(&map, "10.2.0.1", "fd00:8::200:100:0:0");
	pair(&map, "10.255.0.1", "fd00:8::ff00:100:0:0");
	pair(&map, "11.0.0.1", "2001:db8:64::b00:1");
	pair(&map, "9.255.255.255", "2001:db8:64::9ff:ffff");
}

TEST(eam__all_addresses)
{
	struct net6_xlat_map map = prefix("::", 0);

	eam(&map, "0.0.0.0", 0, "2001:db8:0:1::", 64);
	ASSERT_EQ(net6_xlat_map_build(&map), 0);
	pair(&map, "192.0.2.1", "2001:db8:0:1:c000:201::");
	no_six(&map, "127.0.0.1");
	no_four(&map, "2001:db8:0:1:7f00:1::");
}

TEST(eam__invalid)
{
	static const struct { const char *four; u8 len4; const char *six; u8 len6; } cases[] = {
		{ "192.0.2.0", 24, "2001:db8::", 121 },	/* suffix of IPv6 is the shorter */
		{ "192.0.2.1", 24, "2001:db8::", 96 },
		{ "192.0.2.0", 24, "2001:db8::1", 96 },
		{ "192.0.2.0", 33, "2001:db8::", 96 },
		{ "192.0.2.0", 24, "2001:db8::", 129 },
		{ "192.0.2.0", 24, "ff00::", 96 },
	};
	struct net6_xlat_map map;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		map = prefix("::", 0);
		eam(&map, cases[i].four, cases[i].len4, cases[i].six, cases[i].len6);
		EXPECT_EQ(net6_xlat_map_build(&map), -EINVAL);
	}
	map = prefix("::", 0);
	eam(&map, "192.0.2.0", 24, "2001:db8::", 96);
	eam(&map, "192.0.2.0", 24, "2001:db8:1::", 96);
	EXPECT_EQ(net6_xlat_map_build(&map), -EEXIST);
	map = prefix("::", 0);
	eam(&map, "192.0.2.0", 24, "2001:db8::", 96);
	eam(&map, "192.0.3.0", 24, "2001:db8::", 96);
	EXPECT_EQ(net6_xlat_map_build(&map), -EEXIST);
}

/* RFC 6791 */
TEST(router__one_address_of_the_pool)
{
	struct net6_xlat_map map = prefix("2001:db8::", 96);
	struct in6_addr one = v6("2001:db8:ffff::1"), other = v6("2001:db8:ffff::2");
	__be32 addr;

	EXPECT_EQ(net6_xlat_map_router(&map, &one), 0);
	map.pool4 = v4("198.51.100.0");
	map.pool4_len = 24;
	addr = net6_xlat_map_router(&map, &one);
	EXPECT_EQ(ntohl(addr) >> 8, ntohl(map.pool4) >> 8);
	EXPECT_EQ(addr, net6_xlat_map_router(&map, &one));
	EXPECT_NE(addr, net6_xlat_map_router(&map, &other));
	map.pool4_len = 32;
	EXPECT_EQ(net6_xlat_map_router(&map, &other), map.pool4);
}
