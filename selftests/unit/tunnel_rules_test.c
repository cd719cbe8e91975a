// SPDX-License-Identifier: GPL-2.0
/* The rules of tunnels over IPv4: addresses that are believed, RFC 6040's table, path
 * MTU, 6over4's addresses and options.
 */
#include "unit.h"
#include <arpa/inet.h>
#include <linux/array_size.h>
#include "../../net6/tunnel/tunnel_rules.c"

static __be32 v4(const char *text)
{
	__be32 addr;

	inet_pton(AF_INET, text, &addr);
	return addr;
}

static enum net6_tunnel_verdict check(enum net6_tunnel_kind kind, const char *osaddr,
				      const char *odaddr, const char *saddr, const char *daddr)
{
	u8 inner[2][16];
	struct net6_tunnel_inner in = {
		.osaddr = v4(osaddr), .odaddr = v4(odaddr),
		.saddr = inner[0], .daddr = inner[1],
	};

	inet_pton(AF_INET6, saddr, inner[0]);
	inet_pton(AF_INET6, daddr, inner[1]);
	return net6_tunnel_check(kind, &in);
}

TEST(v4_unicast__hosts_only)
{
	EXPECT_TRUE(net6_tunnel_v4_unicast(v4("192.0.2.1")));
	EXPECT_TRUE(net6_tunnel_v4_unicast(v4("223.255.255.254")));
	EXPECT_FALSE(net6_tunnel_v4_unicast(v4("0.0.0.0")));
	EXPECT_FALSE(net6_tunnel_v4_unicast(v4("0.1.2.3")));
	EXPECT_FALSE(net6_tunnel_v4_unicast(v4("127.0.0.1")));
	EXPECT_FALSE(net6_tunnel_v4_unicast(v4("224.0.0.1")));
	EXPECT_FALSE(net6_tunnel_v4_unicast(v4("240.0.0.1")));
	EXPECT_FALSE(net6_tunnel_v4_unicast(v4("255.255.255.255")));
}

TEST(v4_compatible__not_unspecified_not_loopback)
{
	u8 addr[16];
	__be32 out;

	inet_pton(AF_INET6, "::192.0.2.1", addr);
	EXPECT_TRUE(net6_tunnel_v4_compatible(addr, &out));
	EXPECT_EQ(out, v4("192.0.2.1"));
	inet_pton(AF_INET6, "::", addr);
	EXPECT_FALSE(net6_tunnel_v4_compatible(addr, &out));
	inet_pton(AF_INET6, "::1", addr);
	EXPECT_FALSE(net6_tunnel_v4_compatible(addr, &out));
	inet_pton(AF_INET6, "::ffff:192.0.2.1", addr);
	EXPECT_FALSE(net6_tunnel_v4_compatible(addr, &out));
	inet_pton(AF_INET6, "2001:db8::1", addr);
	EXPECT_FALSE(net6_tunnel_v4_compatible(addr, &out));
}

TEST(check__configured)
{
	static const struct {
		const char *osaddr, *saddr, *daddr;
		enum net6_tunnel_verdict verdict;
	} cases[] = {
		{ "192.0.2.1", "2001:db8::1", "2001:db8::2", NET6_TUNNEL_GOOD },
		{ "192.0.2.1", "fe80::1", "ff02::1", NET6_TUNNEL_GOOD },
		{ "192.0.2.1", "::192.0.2.9", "2001:db8::2", NET6_TUNNEL_GOOD },
		{ "127.0.0.1", "2001:db8::1", "2001:db8::2", NET6_TUNNEL_OUTER },
		{ "224.0.0.1", "2001:db8::1", "2001:db8::2", NET6_TUNNEL_OUTER },
		{ "0.0.0.0", "2001:db8::1", "2001:db8::2", NET6_TUNNEL_OUTER },
		{ "192.0.2.2", "2001:db8::1", "2001:db8::2", NET6_TUNNEL_OUTER },
		{ "192.0.2.1", "ff02::1", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "::", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "::1", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "::ffff:1.2.3.4", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "::127.0.0.1", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "::224.0.0.1", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "::255.255.255.255", "2001:db8::2", NET6_TUNNEL_INNER_SOURCE },
		{ "192.0.2.1", "2001:db8::1", "::", NET6_TUNNEL_INNER_DEST },
		{ "192.0.2.1", "2001:db8::1", "::1", NET6_TUNNEL_INNER_DEST },
		{ "192.0.2.1", "2001:db8::1", "::ffff:1.2.3.4", NET6_TUNNEL_INNER_DEST },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		EXPECT_EQ(check(NET6_TUNNEL_CONFIGURED, cases[i].osaddr, "192.0.2.2",
				cases[i].saddr, cases[i].daddr), cases[i].verdict);
}

TEST(check__automatic_addresses_name_the_outer_ones)
{
	EXPECT_EQ(check(NET6_TUNNEL_AUTOMATIC, "192.0.2.1", "192.0.2.2", "::192.0.2.1",
			"::192.0.2.2"), NET6_TUNNEL_GOOD);
	EXPECT_EQ(check(NET6_TUNNEL_AUTOMATIC, "192.0.2.1", "192.0.2.2", "::192.0.2.3",
			"::192.0.2.2"), NET6_TUNNEL_INNER_SOURCE);
	EXPECT_EQ(check(NET6_TUNNEL_AUTOMATIC, "192.0.2.1", "192.0.2.2", "2001:db8::1",
			"::192.0.2.2"), NET6_TUNNEL_INNER_SOURCE);
	EXPECT_EQ(check(NET6_TUNNEL_AUTOMATIC, "192.0.2.1", "192.0.2.2", "::192.0.2.1",
			"::192.0.2.3"), NET6_TUNNEL_INNER_DEST);
}

TEST(check__6over4_groups_map_and_dad_has_no_source)
{
	EXPECT_EQ(check(NET6_TUNNEL_6OVER4, "192.0.2.1", "239.192.0.1", "::", "ff02::1"),
		  NET6_TUNNEL_GOOD);
	EXPECT_EQ(check(NET6_TUNNEL_6OVER4, "192.0.2.1", "239.192.0.1", "fe80::1", "ff02::2"),
		  NET6_TUNNEL_INNER_DEST);
	EXPECT_EQ(check(NET6_TUNNEL_6OVER4, "192.0.2.1", "239.192.0.1", "fe80::1", "fe80::2"),
		  NET6_TUNNEL_INNER_DEST);
	EXPECT_EQ(check(NET6_TUNNEL_6OVER4, "192.0.2.1", "192.0.2.2", "::1", "fe80::2"),
		  NET6_TUNNEL_INNER_SOURCE);
}

TEST(ecn__rfc_6040_figure_4)
{
	static const int wanted[4][4] = {	/* [inner][outer] */
		{ 0, 0, 0, -1 }, { 1, 1, 1, 3 }, { 2, 1, 2, 3 }, { 3, 3, 3, 3 },
	};
	int in, out;

	for (in = 0; in < 4; in++)
		for (out = 0; out < 4; out++) {
			int seen = net6_tunnel_ecn_in(0xb8 | out, 0x28 | in);

			EXPECT_EQ(seen, wanted[in][out] < 0 ? -1 : (0x28 | wanted[in][out]));
		}
	EXPECT_EQ(net6_tunnel_ecn_out(0xb8, 0x03), 0xbb);
	EXPECT_EQ(net6_tunnel_ecn_out(0xbb, 0xfc), 0xb8);
}

TEST(fit__rfc_4213_3_2)
{
	struct net6_tunnel_fit fit;

	fit = net6_tunnel_fit(1500, true, 1480);
	EXPECT_TRUE(fit.mtu == 1480 && fit.df);
	fit = net6_tunnel_fit(1400, true, 1480);
	EXPECT_TRUE(fit.mtu == 1380 && fit.df);
	fit = net6_tunnel_fit(1300, true, 1480);
	EXPECT_TRUE(fit.mtu == 1280 && fit.df);
	fit = net6_tunnel_fit(1299, true, 1480);
	EXPECT_TRUE(fit.mtu == 1280 && !fit.df);
	fit = net6_tunnel_fit(0, true, 1480);
	EXPECT_TRUE(fit.mtu == 1280 && !fit.df);
	fit = net6_tunnel_fit(9000, true, 1480);
	EXPECT_TRUE(fit.mtu == 1480 && fit.df);
	fit = net6_tunnel_fit(600, false, 1280);
	EXPECT_TRUE(fit.mtu == 1280 && !fit.df);
}

TEST(sixover4__addresses_and_options)
{
	static const u8 iid[8] = { 0, 0, 0, 0, 192, 0, 2, 1 };
	static const u8 option[8] = { 1, 1, 0, 0, 192, 0, 2, 1 };
	u8 group[16], buf[8];
	__be32 addr;

	net6_6over4_iid(v4("192.0.2.1"), buf);
	EXPECT_MEM(buf, iid, 8);
	inet_pton(AF_INET6, "ff02::1:ff00:203", group);
	EXPECT_EQ(net6_6over4_group(group), v4("239.192.2.3"));
	EXPECT_EQ(net6_6over4_write_option(1, v4("192.0.2.1"), buf), 8);
	EXPECT_MEM(buf, option, 8);
	EXPECT_EQ(net6_6over4_read_option(option + 2, 6, &addr), 0);
	EXPECT_EQ(addr, v4("192.0.2.1"));
	EXPECT_TRUE(net6_6over4_read_option(option + 2, 14, &addr));
	memcpy(buf, option, 8);
	buf[4] = 224;
	EXPECT_TRUE(net6_6over4_read_option(buf + 2, 6, &addr));
}

TEST(error__what_icmpv4_says)
{
	EXPECT_EQ(net6_tunnel_error(3, 4), NET6_TUNNEL_ERR_TOO_BIG);
	EXPECT_EQ(net6_tunnel_error(3, 1), NET6_TUNNEL_ERR_UNREACHABLE);
	EXPECT_EQ(net6_tunnel_error(3, 5), NET6_TUNNEL_ERR_IGNORE);
	EXPECT_EQ(net6_tunnel_error(11, 0), NET6_TUNNEL_ERR_UNREACHABLE);
	EXPECT_EQ(net6_tunnel_error(11, 1), NET6_TUNNEL_ERR_IGNORE);
	EXPECT_EQ(net6_tunnel_error(5, 1), NET6_TUNNEL_ERR_REDIRECT);
	EXPECT_EQ(net6_tunnel_error(12, 0), NET6_TUNNEL_ERR_IGNORE);
}
