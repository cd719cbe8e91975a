// SPDX-License-Identifier: GPL-2.0
/* Neighbor Discovery options: every length of every option, cut at every byte. */
#include "unit.h"
#include <linux/errno.h>
#include "../../net6/core/nd_opts.c"

#define SLLA	1, 1, 0x02, 0, 0, 0, 0, 1
#define TLLA	2, 1, 0x02, 0, 0, 0, 0, 2
#define MTU	5, 1, 0, 0, 0, 0, 0x05, 0xdc
#define NONCE	14, 1, 1, 2, 3, 4, 5, 6
#define PREFIX	3, 4, 64, 0xc0, 0, 0, 0x0e, 0x10, 0, 0, 0x07, 0x08, 0, 0, 0, 0,	\
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0

static int parse(const u8 *data, unsigned int len, struct net6_nd_opts *opts)
{
	u8 *exact = malloc(len ?: 1);	/* so that ASan sees a read beyond the end */
	int rc;

	memcpy(exact, data, len);
	rc = net6_nd_opts_parse(exact, len, opts);
	free(exact);
	return rc;
}

TEST(parse__no_options)
{
	struct net6_nd_opts opts;

	EXPECT_EQ(parse((const u8 *)"", 0, &opts), 0);
	EXPECT_FALSE(opts.slla || opts.tlla || opts.nonce || opts.mtu);
}

TEST(parse__length_zero_is_refused)
{
	static const u8 first[] = { 1, 0, 0, 0, 0, 0, 0, 0 };
	static const u8 second[] = { SLLA, 99, 0, 0, 0, 0, 0, 0, 0 };
	struct net6_nd_opts opts;

	EXPECT_EQ(parse(first, sizeof(first), &opts), -EINVAL);
	EXPECT_EQ(parse(second, sizeof(second), &opts), -EINVAL);
}

TEST(parse__cut_at_every_byte)
{
	static const u8 data[] = { SLLA, PREFIX, MTU, NONCE };
	struct net6_nd_opts opts;
	unsigned int len;

	for (len = 0; len <= sizeof(data); len++) {
		bool whole = len == 0 || len == 8 || len == 40 || len == 48 || len == 56;

		EXPECT_EQ(parse(data, len, &opts), whole ? 0 : -EINVAL);
	}
}

TEST(parse__every_type_with_every_length)
{
	unsigned int type, units, len;
	static u8 data[255 * 8];
	struct net6_nd_opts opts;

	for (type = 0; type < 256; type++) {
		for (units = 0; units < 256; units++) {
			data[0] = type;
			data[1] = units;
			len = units * 8;
			EXPECT_EQ(net6_nd_opts_parse(data, len ?: 8, &opts), units ? 0 : -EINVAL);
			if (units)
				EXPECT_EQ(net6_nd_opts_parse(data, len - 1, &opts), -EINVAL);
		}
	}
}

TEST(parse__picks_what_is_read_by_name)
{
	static const u8 data[] = { 77, 1, 0, 0, 0, 0, 0, 0, MTU, TLLA, SLLA, NONCE };
	struct net6_nd_opts opts;

	ASSERT_EQ(net6_nd_opts_parse(data, sizeof(data), &opts), 0);
	EXPECT_EQ(opts.mtu, 1500);
	EXPECT_TRUE(opts.tlla == data + 18);
	EXPECT_EQ(opts.tlla_len, 6);
	EXPECT_TRUE(opts.slla == data + 26);
	EXPECT_EQ(opts.slla_len, 6);
	EXPECT_TRUE(opts.nonce == data + 34);
	EXPECT_EQ(opts.nonce_len, 6);
}

TEST(parse__first_of_two_addresses_counts)
{
	static const u8 data[] = { SLLA, 1, 1, 0x02, 0, 0, 0, 0, 9 };
	struct net6_nd_opts opts;

	ASSERT_EQ(net6_nd_opts_parse(data, sizeof(data), &opts), 0);
	EXPECT_TRUE(opts.slla == data + 2);
}

TEST(parse__mtu_of_wrong_length_is_passed_over)
{
	static const u8 data[] = { 5, 2, 0, 0, 0, 0, 5, 0xdc, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct net6_nd_opts opts;

	ASSERT_EQ(net6_nd_opts_parse(data, sizeof(data), &opts), 0);
	EXPECT_EQ(opts.mtu, 0);
}

static int prefix_of(const u8 *data, unsigned int len, struct net6_nd_prefix *prefix)
{
	struct net6_nd_opt opt;

	if (net6_nd_opt_next(&data, &len, &opt) != 1)
		return -1;
	return net6_nd_prefix_parse(&opt, prefix);
}

TEST(prefix__fields)
{
	static const u8 data[] = { PREFIX };
	struct net6_nd_prefix prefix;

	ASSERT_EQ(prefix_of(data, sizeof(data), &prefix), 0);
	EXPECT_EQ(prefix.plen, 64);
	EXPECT_EQ(prefix.flags, NET6_ND_PREFIX_ONLINK | NET6_ND_PREFIX_AUTO);
	EXPECT_EQ(prefix.valid_lft, 3600);
	EXPECT_EQ(prefix.preferred_lft, 1800);
	EXPECT_TRUE(prefix.prefix == data + 16);
}

TEST(prefix__lengths_above_128_are_refused)
{
	static u8 data[] = { PREFIX };
	struct net6_nd_prefix prefix;
	unsigned int plen;

	for (plen = 0; plen < 256; plen++) {
		data[2] = plen;
		EXPECT_EQ(prefix_of(data, sizeof(data), &prefix), plen <= 128 ? 0 : -EINVAL);
	}
}

TEST(prefix__option_of_any_other_length_is_refused)
{
	static u8 data[255 * 8] = { 3 };
	struct net6_nd_prefix prefix;
	unsigned int units;

	for (units = 1; units < 256; units++) {
		data[1] = units;
		EXPECT_EQ(prefix_of(data, sizeof(data), &prefix), units == 4 ? 0 : -EINVAL);
	}
}

TEST(next__stops_where_the_options_end)
{
	static const u8 data[] = { SLLA, MTU };
	unsigned int left = sizeof(data), n = 0;
	struct net6_nd_opt opt;
	const u8 *pos = data;

	while (net6_nd_opt_next(&pos, &left, &opt) > 0)
		n++;
	EXPECT_EQ(n, 2);
	EXPECT_EQ(left, 0);
	EXPECT_TRUE(pos == data + sizeof(data));
}

TEST(route_parse__lengths_and_preferences)
{
	u8 body[24] = { 64, 0x08, 0, 0, 0x0e, 0x10, 0x20, 0x01 };
	struct net6_nd_opt opt = { .body = body, .type = NET6_ND_OPT_ROUTE, .len = 14 };
	struct net6_nd_route route;

	EXPECT_EQ(net6_nd_route_parse(&opt, &route), 0);
	EXPECT_EQ(route.plen, 64);
	EXPECT_EQ(route.len, 8);
	EXPECT_EQ(route.preference, 1);
	EXPECT_EQ(route.lifetime, 3600);
	body[1] = 0x18;
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), 0);
	EXPECT_EQ(route.preference, -1);
	body[1] = 0x10;		/* reserved: "MUST be ignored" */
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), -EINVAL);
	body[1] = 0;
	body[0] = 65;		/* more than the option carries */
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), -EINVAL);
	opt.len = 22;
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), 0);
	body[0] = 129;
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), -EINVAL);
	body[0] = 0;
	opt.len = 6;
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), 0);
	opt.len = 30;
	EXPECT_EQ(net6_nd_route_parse(&opt, &route), -EINVAL);
}

TEST(pref64_parse__each_length_code)
{
	static const u8 lengths[] = { 96, 64, 56, 48, 40, 32 };
	u8 body[14] = { 0x12, 0x30, 0, 0x64, 0xff, 0x9b };
	struct net6_nd_opt opt = { .body = body, .len = sizeof(body), .type = NET6_ND_OPT_PREF64 };
	struct net6_nd_pref64 pref64;
	unsigned int code;

	for (code = 0; code < 8; code++) {
		body[1] = 0x30 | code;
		if (code >= sizeof(lengths)) {
			EXPECT_EQ(net6_nd_pref64_parse(&opt, &pref64), -EINVAL);
			continue;
		}
		ASSERT_EQ(net6_nd_pref64_parse(&opt, &pref64), 0);
		EXPECT_EQ(pref64.plen, lengths[code]);
		EXPECT_EQ(pref64.lifetime, 0x1230);
		EXPECT_TRUE(pref64.prefix == body + 2);
	}
}

TEST(pref64_parse__option_of_any_other_length_is_refused)
{
	static u8 body[255 * 8];
	struct net6_nd_opt opt = { .body = body, .type = NET6_ND_OPT_PREF64 };
	struct net6_nd_pref64 pref64;
	unsigned int units;

	for (units = 1; units < 256; units++) {
		opt.len = 8 * units - 2;
		EXPECT_EQ(net6_nd_pref64_parse(&opt, &pref64), units == 2 ? 0 : -EINVAL);
	}
}

TEST(dns_parse__lengths)
{
	u8 body[40] = { 0, 0, 0, 0, 0, 60 };
	struct net6_nd_opt opt = { .body = body, .type = NET6_ND_OPT_RDNSS, .len = 22 };
	struct net6_nd_dns dns;

	EXPECT_EQ(net6_nd_dns_parse(&opt, &dns), 0);
	EXPECT_EQ(dns.lifetime, 60);
	EXPECT_EQ(dns.len, 16);
	opt.len = 30;		/* RFC 8106 5.1: one and a half addresses */
	EXPECT_EQ(net6_nd_dns_parse(&opt, &dns), -EINVAL);
	opt.type = NET6_ND_OPT_DNSSL;
	EXPECT_EQ(net6_nd_dns_parse(&opt, &dns), 0);
	opt.len = 6;
	EXPECT_EQ(net6_nd_dns_parse(&opt, &dns), -EINVAL);
}
