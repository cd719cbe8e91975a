// SPDX-License-Identifier: GPL-2.0
/* Fragments against RFC 8200 section 4.5: what each may be, what they say together about
 * the packet's length, and when it is whole, in every order of arrival.
 */
#include "unit.h"
#include "../../net6/core/reasm_rules.c"

static enum net6_reasm_fault judge(unsigned int front, unsigned int offset, unsigned int len,
				   bool more)
{
	struct net6_reasm_piece piece = { front, offset, len, more };

	return net6_reasm_judge(&piece);
}

TEST(only_the_last_may_have_any_length)
{
	unsigned int len;

	for (len = 1; len < 64; len++) {
		EXPECT_EQ(judge(0, 0, len, true),
			  len % 8 ? NET6_REASM_NOT_OCTETS : NET6_REASM_FINE);
		EXPECT_EQ(judge(0, 8, len, false), NET6_REASM_FINE);
	}
}

TEST(none_ends_beyond_the_longest_payload)
{
	EXPECT_EQ(judge(0, 65528, 7, false), NET6_REASM_FINE);
	EXPECT_EQ(judge(0, 65528, 8, false), NET6_REASM_TOO_LONG);
	EXPECT_EQ(judge(0, 65520, 8, true), NET6_REASM_FINE);
	EXPECT_EQ(judge(8, 65520, 7, false), NET6_REASM_FINE);
	EXPECT_EQ(judge(8, 65520, 8, true), NET6_REASM_TOO_LONG);
	EXPECT_EQ(judge(65535, 65528, 65535, false), NET6_REASM_TOO_LONG);
}

TEST(an_empty_one_is_nothing)
{
	EXPECT_EQ(judge(0, 0, 0, true), NET6_REASM_EMPTY);
	EXPECT_EQ(judge(0, 8, 0, false), NET6_REASM_EMPTY);
}

TEST(two_ends_contradict_each_other)
{
	struct net6_reasm_piece end = { 0, 16, 5, false };
	struct net6_reasm_whole whole = { 0 };

	EXPECT_TRUE(net6_reasm_grow(&whole, &end));
	EXPECT_EQ(whole.len, 21);
	EXPECT_TRUE(net6_reasm_grow(&whole, &end));
	end.len = 6;
	EXPECT_FALSE(net6_reasm_grow(&whole, &end));
	end.len = 4;
	EXPECT_FALSE(net6_reasm_grow(&whole, &end));
}

TEST(nothing_lies_behind_the_end)
{
	struct net6_reasm_piece end = { 0, 16, 8, false }, more = { 0, 24, 8, true };
	struct net6_reasm_whole whole = { 0 };

	EXPECT_TRUE(net6_reasm_grow(&whole, &end));
	EXPECT_FALSE(net6_reasm_grow(&whole, &more));

	memset(&whole, 0, sizeof(whole));
	EXPECT_TRUE(net6_reasm_grow(&whole, &more));
	EXPECT_FALSE(net6_reasm_grow(&whole, &end));
}

TEST(whole_with_the_last_that_comes_in_every_order)
{
	static const struct net6_reasm_piece piece[] = {
		{ 0, 0, 8, true }, { 0, 8, 16, true }, { 0, 24, 8, true }, { 0, 32, 3, false },
	};
	unsigned int order, left, n, at;

	for (order = 0; order < 4 * 4 * 4 * 4; order++) {
		struct net6_reasm_whole whole = { 0 };
		unsigned int seen = 0;

		for (left = order, n = 0; n < 4; n++, left /= 4) {
			at = left % 4;
			if (seen & 1 << at)
				break;
			seen |= 1 << at;
			EXPECT_TRUE(net6_reasm_grow(&whole, &piece[at]));
			EXPECT_EQ(net6_reasm_take(&whole, &piece[at]), seen == 15);
		}
		if (seen == 15)
			EXPECT_EQ(whole.len, 35);
	}
}
