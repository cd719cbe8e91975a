// SPDX-License-Identifier: GPL-2.0
/* Options of Hop-by-Hop and Destination Options headers: each action, each limit, and
 * headers cut at every length.
 */
#include "unit.h"
#include "../../net6/core/exthdr_opts.c"

static const struct net6_opts_limits limits = { .options = 8, .padding = 7 };

static struct net6_opts parse(const u8 *options, unsigned int n, bool hop_by_hop)
{
	u8 *hdr = calloc(1, n + 2);	/* of exact size: ASan sees a step too far */
	struct net6_opts out;

	memcpy(hdr + 2, options, n);
	out = net6_opts_parse(hdr, n + 2, hop_by_hop, &limits);
	free(hdr);
	return out;
}

#define PARSE(hop_by_hop, ...) ({				\
	const u8 __o[] = { __VA_ARGS__ };			\
	parse(__o, sizeof(__o), hop_by_hop);			\
})

TEST(padding__pad1_and_padn_are_nothing)
{
	EXPECT_EQ(PARSE(false, 0, 0, 0, 0, 0, 0).verdict, NET6_OPTS_OK);
	EXPECT_EQ(PARSE(true, 1, 4, 0, 0, 0, 0).verdict, NET6_OPTS_OK);
	EXPECT_EQ(PARSE(true, 1, 0, 1, 0, 1, 0).verdict, NET6_OPTS_OK);
}

TEST(padding__more_than_seven_octets_in_a_row_are_too_many)
{
	EXPECT_EQ(PARSE(false, 1, 5, 0, 0, 0, 0, 0).verdict, NET6_OPTS_OK);
	EXPECT_EQ(PARSE(false, 1, 6, 0, 0, 0, 0, 0, 0).verdict, NET6_OPTS_TOO_MANY);
	EXPECT_EQ(PARSE(false, 0, 0, 0, 0, 0, 0, 0, 0).verdict, NET6_OPTS_TOO_MANY);
	EXPECT_EQ(PARSE(false, 0, 0, 0, 0, 0, 0, 0, 0).pointer, 9);
	/* an option in between: two rows */
	EXPECT_EQ(PARSE(false, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0).verdict, NET6_OPTS_OK);
}

TEST(known__router_alert_is_for_hop_by_hop_only)
{
	EXPECT_EQ(PARSE(true, 5, 2, 0, 0, 1, 0).verdict, NET6_OPTS_OK);
	EXPECT_EQ(PARSE(true, 5, 2, 0, 0, 1, 0).router_alert, true);
	EXPECT_EQ(PARSE(false, 5, 2, 0, 0, 1, 0).router_alert, false);
	EXPECT_EQ(PARSE(true, 1, 4, 0, 0, 0, 0).router_alert, false);
	/* type 5 has action bits 00: skipped where it is unknown, too */
	EXPECT_EQ(PARSE(false, 5, 2, 0, 0, 1, 0).verdict, NET6_OPTS_OK);
}

TEST(unknown__action_bits_decide)
{
	EXPECT_EQ(PARSE(true, 0x1e, 4, 1, 2, 3, 4).verdict, NET6_OPTS_OK);
	EXPECT_EQ(PARSE(true, 0x5e, 4, 1, 2, 3, 4).verdict, NET6_OPTS_DISCARD);
	EXPECT_EQ(PARSE(true, 0x9e, 4, 1, 2, 3, 4).verdict, NET6_OPTS_PROBLEM);
	EXPECT_EQ(PARSE(true, 0xde, 4, 1, 2, 3, 4).verdict, NET6_OPTS_PROBLEM_UNICAST);
	/* the third highest bit says only that the data may change on the way */
	EXPECT_EQ(PARSE(true, 0x3e, 4, 1, 2, 3, 4).verdict, NET6_OPTS_OK);
	EXPECT_EQ(PARSE(true, 0xc2, 4, 0, 1, 0, 0).verdict, NET6_OPTS_PROBLEM_UNICAST);
}

TEST(unknown__pointer_names_the_option)
{
	struct net6_opts out = PARSE(false, 1, 2, 0, 0, 0x1e, 0, 0x9e, 0);

	EXPECT_EQ(out.verdict, NET6_OPTS_PROBLEM);
	EXPECT_EQ(out.pointer, 2 + 6);
}

TEST(malformed__option_beyond_the_end)
{
	EXPECT_EQ(PARSE(false, 1, 5, 0, 0, 0, 0).verdict, NET6_OPTS_MALFORMED);
	EXPECT_EQ(PARSE(false, 0x1e, 255, 0, 0, 0, 0).verdict, NET6_OPTS_MALFORMED);
	EXPECT_EQ(PARSE(false, 0, 0, 0, 0, 0, 0x1e).verdict, NET6_OPTS_MALFORMED);
	EXPECT_EQ(PARSE(false, 0, 0, 0, 0, 0, 0x1e).pointer, 2 + 5);
}

TEST(limit__eight_options_pass_and_nine_do_not)
{
	u8 o[9 * 3];
	unsigned int i;

	for (i = 0; i < 9; i++)
		memcpy(o + i * 3, "\x1e\x01\x00", 3);
	EXPECT_EQ(parse(o, 8 * 3, false).verdict, NET6_OPTS_OK);
	EXPECT_EQ(parse(o, 9 * 3, false).verdict, NET6_OPTS_TOO_MANY);
	EXPECT_EQ(parse(o, 9 * 3, false).pointer, 2 + 8 * 3);
}

TEST(cut__every_length_is_safe_and_ends)
{
	static const u8 o[] = {
		1, 1, 0, 5, 2, 0, 0, 0x1e, 6, 1, 2, 3, 4, 5, 6, 0, 0x9e, 3, 1, 2, 3,
	};
	unsigned int n;

	for (n = 0; n <= sizeof(o); n++) {
		struct net6_opts out = parse(o, n, true);

		EXPECT_TRUE(out.verdict == NET6_OPTS_OK || out.pointer < n + 2);
	}
	EXPECT_EQ(parse(o, sizeof(o), true).verdict, NET6_OPTS_PROBLEM);
}
