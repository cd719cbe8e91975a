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
	EXPECT_FALSE(net6_reasm_take(&whole, &end));
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
	EXPECT_FALSE(net6_reasm_take(&whole, &end));
	EXPECT_FALSE(net6_reasm_grow(&whole, &more));

	memset(&whole, 0, sizeof(whole));
	EXPECT_TRUE(net6_reasm_grow(&whole, &more));
	EXPECT_FALSE(net6_reasm_grow(&whole, &end));
}

/* Is a fragment of these octets a duplicate in a packet of [0, 16), [16, 24), and with @end
 * [24, 29), the last?
 */
static bool again(bool end, unsigned int offset, unsigned int len, bool more)
{
	static const struct net6_reasm_piece there[] = {
		{ 0, 24, 5, false }, { 0, 16, 8, true }, { 0, 0, 16, true },
	};
	struct net6_reasm_piece piece = { 0, offset, len, more };
	struct net6_reasm_whole whole = { 0 };
	unsigned int i;

	for (i = !end; i < 3; i++) {
		EXPECT_TRUE(net6_reasm_grow(&whole, &there[i]));
		net6_reasm_take(&whole, &there[i]);
	}
	return net6_reasm_grow(&whole, &piece) && net6_reasm_again(&whole, &piece);
}

TEST(a_duplicate_is_one_in_every_octet)
{
	unsigned int end, offset, stop;

	for (end = 0; end < 2; end++) {
		for (offset = 0; offset < 24; offset += 8)
			for (stop = offset + 8; stop <= 24; stop += 8) {
				EXPECT_EQ(again(end, offset, stop - offset, true),
					  (offset == 0 && stop == 16) ||
					  (offset == 16 && stop == 24));
				EXPECT_FALSE(again(end, offset, stop - offset, false));
			}
	}
	EXPECT_TRUE(again(true, 24, 5, false));
	EXPECT_FALSE(again(true, 16, 13, false));
	EXPECT_FALSE(again(true, 0, 29, false));
}

TEST(the_last_is_another_than_one_that_more_follow)
{
	struct net6_reasm_piece last = { 0, 8, 8, false }, more = { 0, 8, 8, true };
	struct net6_reasm_whole whole = { 0 };

	EXPECT_TRUE(net6_reasm_grow(&whole, &last));
	net6_reasm_take(&whole, &last);
	EXPECT_TRUE(net6_reasm_again(&whole, &last));
	EXPECT_FALSE(net6_reasm_grow(&whole, &more) && net6_reasm_again(&whole, &more));

	memset(&whole, 0, sizeof(whole));
	EXPECT_TRUE(net6_reasm_grow(&whole, &more));
	net6_reasm_take(&whole, &more);
	EXPECT_TRUE(net6_reasm_again(&whole, &more));
	EXPECT_FALSE(net6_reasm_grow(&whole, &last) && net6_reasm_again(&whole, &last));
}

TEST(the_longest_packet_in_the_smallest_pieces)
{
	struct net6_reasm_piece piece = { 0, 0, 8, true };
	struct net6_reasm_whole whole = { 0 };

	for (; piece.offset < 65528; piece.offset += 8) {
		EXPECT_TRUE(net6_reasm_grow(&whole, &piece));
		EXPECT_FALSE(net6_reasm_take(&whole, &piece));
		EXPECT_TRUE(net6_reasm_again(&whole, &piece));
	}
	piece.len = 7;
	piece.more = false;
	EXPECT_TRUE(net6_reasm_grow(&whole, &piece));
	EXPECT_TRUE(net6_reasm_take(&whole, &piece));
	EXPECT_TRUE(net6_reasm_again(&whole, &piece));
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
