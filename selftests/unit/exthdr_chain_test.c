// SPDX-License-Identifier: GPL-2.0
/* Header chains of packets that we send: where fragments begin, in every order of
 * headers and cut at every length, and which routing headers are taken.
 */
#include "unit.h"
#include "../../net6/core/exthdr_chain.c"

#define HOP	0
#define UDP	17
#define ROUTE	43
#define DEST	60

/* A packet of an IPv6 header and headers of 8 * units[i] octets, in a buffer of exact
 * size; what is beyond @cut octets of the end is left out.
 */
static struct net6_unfragmentable part(const u8 *types, const u8 *units, unsigned int n,
				       unsigned int cut)
{
	struct net6_unfragmentable out;
	unsigned int at = 40, len = 40, i;
	u8 *packet;

	for (i = 0; i < n; i++)
		len += 8 * units[i];
	packet = calloc(1, len);
	packet[6] = n ? types[0] : UDP;
	for (i = 0; i < n; at += 8 * units[i], i++) {
		packet[at] = i + 1 < n ? types[i + 1] : UDP;
		packet[at + 1] = units[i] - 1;
	}
	len -= cut;
	packet = realloc(packet, len);
	out = net6_chain_unfragmentable(packet, len);
	free(packet);
	return out;
}

#define PART(cut, ...) ({					\
	const u8 __t[] = { __VA_ARGS__ };			\
	u8 __u[sizeof(__t)];					\
	memset(__u, 1, sizeof(__u));				\
	part(__t, __u, sizeof(__t), cut);			\
})

static void expect(struct net6_unfragmentable got, unsigned int len, unsigned int nexthdr)
{
	EXPECT_EQ(got.len, len);
	EXPECT_EQ(got.nexthdr, nexthdr);
}

TEST(unfragmentable__without_extension_headers_is_the_ipv6_header)
{
	expect(part(NULL, NULL, 0, 0), 40, 6);
}

TEST(unfragmentable__hop_by_hop_options_are)
{
	expect(PART(0, HOP), 48, 40);
}

TEST(unfragmentable__destination_options_are_not)
{
	expect(PART(0, DEST), 40, 6);
	expect(PART(0, HOP, DEST), 48, 40);
}

TEST(unfragmentable__all_up_to_the_routing_header_are)
{
	expect(PART(0, ROUTE), 48, 40);
	expect(PART(0, DEST, ROUTE), 56, 48);
	expect(PART(0, HOP, DEST, ROUTE), 64, 56);
	expect(PART(0, HOP, DEST, ROUTE, DEST), 64, 56);
	expect(PART(0, HOP, ROUTE, DEST), 56, 48);
}

TEST(unfragmentable__headers_of_every_size)
{
	const u8 types[] = { HOP, DEST, ROUTE, DEST };
	u8 units[] = { 1, 1, 3, 1 };
	unsigned int i;

	for (i = 1; i <= 255; i++) {
		units[0] = i;
		units[1] = 256 - i;
		expect(part(types, units, 4, 0), 40 + 8 * 256 + 24, 40 + 8 * 256);
	}
}

TEST(unfragmentable__a_chain_that_is_cut_ends_there)
{
	unsigned int cut;

	for (cut = 1; cut <= 8; cut++)
		expect(PART(cut, HOP, DEST, ROUTE), 48, 40);
	for (cut = 9; cut <= 16; cut++)
		expect(PART(cut, HOP, DEST, ROUTE), 48, 40);
	for (cut = 17; cut <= 24; cut++)
		expect(PART(cut, HOP, DEST, ROUTE), 40, 6);
}

static bool route(u8 units, u8 type, u8 left, unsigned int len)
{
	u8 *hdr = calloc(1, len);
	bool valid;

	if (len > 3) {
		hdr[1] = units - 1;
		hdr[2] = type;
		hdr[3] = left;
	}
	valid = net6_chain_route_valid(hdr, len);
	free(hdr);
	return valid;
}

TEST(route__type_2_with_one_address)
{
	EXPECT_EQ(route(3, 2, 1, 24), true);
	EXPECT_EQ(route(3, 2, 1, 32), true);
}

TEST(route__every_other_form_is_refused)
{
	unsigned int i;

	for (i = 0; i < 24; i++)
		EXPECT_EQ(route(3, 2, 1, i), false);
	for (i = 0; i < 256; i++) {
		EXPECT_EQ(route(3, i, 1, 24), i == 2);
		EXPECT_EQ(route(3, 2, i, 24), i == 1);
		EXPECT_EQ(route(i, 2, 1, 2048), i == 3);
	}
}
