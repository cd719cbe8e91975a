// SPDX-License-Identifier: GPL-2.0
/* The rules of tunnels over IPv6: where a packet's encapsulation limit is, at every place and cut
 * at every length, what errors say to the sender inside, and what fits.
 */
#include "unit.h"
#include <linux/array_size.h>
#include "../../net6/ip6tnl/ip6tnl_rules.c"

#define HOP	0
#define ROUTE	43
#define FRAG	44
#define AUTH	51
#define DEST	60
#define UDP	17

/* An IPv6 header and @n headers of 8 octets. @octets are what is behind the first two of each. */
static unsigned int find(const u8 *types, const u8 (*octets)[6], unsigned int n, unsigned int cut)
{
	unsigned int len = 40 + 8 * n, i, at;
	u8 *packet = calloc(1, len);

	packet[6] = n ? types[0] : UDP;
	for (i = 0; i < n; i++) {
		packet[40 + 8 * i] = i + 1 < n ? types[i + 1] : UDP;
		memcpy(packet + 40 + 8 * i + 2, octets[i], 6);
	}
	len -= cut;
	packet = realloc(packet, len);
	at = net6_ip6tnl_find_limit(packet, len);
	free(packet);
	return at;
}

static const u8 limit[6] = { 4, 1, 7, 1, 1, 0 };

TEST(find_limit__behind_whatever_comes_first)
{
	static const u8 zero[6], pad[6] = { 1, 4 };
	const u8 routed[2][6] = { { 0 }, { 4, 1, 7, 1, 1, 0 } };
	const u8 hop[2][6] = { { 1, 4 }, { 4, 1, 7, 1, 1, 0 } };

	EXPECT_EQ(find(NULL, NULL, 0, 0), 0);
	EXPECT_EQ(find((u8[]){ DEST }, &limit, 1, 0), 44);
	EXPECT_EQ(find((u8[]){ HOP }, &limit, 1, 0), 0);
	EXPECT_EQ(find((u8[]){ DEST }, &pad, 1, 0), 0);
	EXPECT_EQ(find((u8[]){ HOP, DEST }, hop, 2, 0), 52);
	EXPECT_EQ(find((u8[]){ ROUTE, DEST }, routed, 2, 0), 52);
	EXPECT_EQ(find((u8[]){ DEST, DEST }, hop, 2, 0), 52);
	EXPECT_EQ(find((u8[]){ AUTH, DEST }, routed, 2, 0), 0);
	EXPECT_EQ(find((u8[]){ DEST }, &zero, 1, 0), 0);
}

TEST(find_limit__at_any_place_among_the_options)
{
	const u8 later[6] = { 0, 0, 4, 1, 7, 0 }, behind[6] = { 1, 1, 0, 4, 1, 7 };
	const u8 long_one[6] = { 4, 2, 7, 7, 0, 0 }, beyond[6] = { 0, 0, 0, 0, 4, 1 };
	const u8 lying[6] = { 5, 200 };

	EXPECT_EQ(find((u8[]){ DEST }, &later, 1, 0), 46);
	EXPECT_EQ(find((u8[]){ DEST }, &behind, 1, 0), 47);
	EXPECT_EQ(find((u8[]){ DEST }, &long_one, 1, 0), 0);
	EXPECT_EQ(find((u8[]){ DEST }, &beyond, 1, 0), 0);
	EXPECT_EQ(find((u8[]){ DEST }, &lying, 1, 0), 0);
}

TEST(find_limit__of_the_first_fragment_only)
{
	const u8 first[2][6] = { { 0, 1 }, { 4, 1, 7 } }, later[2][6] = { { 0, 8 }, { 4, 1, 7 } };
	const u8 far[2][6] = { { 1, 0 }, { 4, 1, 7 } };

	EXPECT_EQ(find((u8[]){ FRAG, DEST }, first, 2, 0), 52);
	EXPECT_EQ(find((u8[]){ FRAG, DEST }, later, 2, 0), 0);
	EXPECT_EQ(find((u8[]){ FRAG, DEST }, far, 2, 0), 0);
}

TEST(find_limit__not_in_a_header_that_is_cut)
{
	unsigned int cut;

	for (cut = 1; cut <= 8; cut++)
		EXPECT_EQ(find((u8[]){ DEST }, &limit, 1, cut), 0);
}

TEST(find_limit__not_behind_more_headers_than_are_looked_at)
{
	u8 types[NET6_IP6TNL_HEADERS + 1], octets[NET6_IP6TNL_HEADERS + 1][6] = { };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		types[i] = i < NET6_IP6TNL_HEADERS ? ROUTE : DEST;
		memcpy(octets[i], limit, 6);
	}
	EXPECT_EQ(find(types, octets, ARRAY_SIZE(types), 0), 0);
	EXPECT_EQ(find(types + 1, octets + 1, ARRAY_SIZE(types) - 1, 0),
		  40 + 8 * (NET6_IP6TNL_HEADERS - 1) + 4);
}

TEST(write_limit__is_found)
{
	u8 packet[48] = { [6] = DEST };

	net6_ip6tnl_write_limit(packet + 40, UDP, 3);
	EXPECT_EQ(packet[40], UDP);
	EXPECT_EQ(net6_ip6tnl_find_limit(packet, sizeof(packet)), 40 + NET6_IP6TNL_LIMIT_VALUE);
	EXPECT_EQ(packet[40 + NET6_IP6TNL_LIMIT_VALUE], 3);
}

TEST(error__rfc_2473_section_8)
{
	EXPECT_EQ(net6_ip6tnl_error(2, 0, 1400, 0), NET6_IP6TNL_ERR_TOO_BIG);
	EXPECT_EQ(net6_ip6tnl_error(1, 0, 0, 0), NET6_IP6TNL_ERR_UNREACHABLE);
	EXPECT_EQ(net6_ip6tnl_error(1, 200, 0, 0), NET6_IP6TNL_ERR_UNREACHABLE);
	EXPECT_EQ(net6_ip6tnl_error(3, 0, 0, 0), NET6_IP6TNL_ERR_UNREACHABLE);
	EXPECT_EQ(net6_ip6tnl_error(3, 1, 0, 0), NET6_IP6TNL_ERR_IGNORE);
	EXPECT_EQ(net6_ip6tnl_error(4, 0, 44, 44), NET6_IP6TNL_ERR_UNREACHABLE);
	EXPECT_EQ(net6_ip6tnl_error(4, 0, 43, 44), NET6_IP6TNL_ERR_IGNORE);
	EXPECT_EQ(net6_ip6tnl_error(4, 1, 44, 44), NET6_IP6TNL_ERR_IGNORE);
	EXPECT_EQ(net6_ip6tnl_error(4, 0, 0, 0), NET6_IP6TNL_ERR_IGNORE);
	EXPECT_EQ(net6_ip6tnl_error(129, 0, 0, 0), NET6_IP6TNL_ERR_IGNORE);
}

TEST(mtu__less_the_headers)
{
	EXPECT_EQ(net6_ip6tnl_mtu(1500, true), 1452);
	EXPECT_EQ(net6_ip6tnl_mtu(1500, false), 1460);
	EXPECT_EQ(net6_ip6tnl_mtu(1280, true), 1232);
}
