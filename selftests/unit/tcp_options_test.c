// SPDX-License-Identifier: GPL-2.0
/* TCP options: parsing of good and hostile bytes, writing of SYN options. */
#include <linux/kernel.h>

#include "unit.h"
#include "../../net6/transport/tcp/engine/options.c"

static int parse(const char *bytes, unsigned int len, bool syn, struct net6_tcp_opts *o)
{
	/* A copy of exactly that size: reading past it is found by ASan. */
	u8 *copy = malloc(len ?: 1);
	int err;

	memcpy(copy, bytes, len);
	memset(o, 0xa5, sizeof(*o));
	err = net6_tcp_parse_options(copy, len, syn, o);
	free(copy);
	return err;
}

TEST(parse__no_options_clears_everything)
{
	struct net6_tcp_opts o;

	EXPECT_EQ(parse("", 0, true, &o), 0);
	EXPECT_EQ(o.mss, 0);
	EXPECT_EQ(o.n_sacks, 0);
	EXPECT_FALSE(o.wscale_ok);
	EXPECT_FALSE(o.sack_ok);
	EXPECT_FALSE(o.tstamp_ok);
}

TEST(parse__linux_syn)
{
	static const char syn[] = "\x02\x04\x05\xa0\x04\x02\x08\x0a\x01\x02\x03\x04"
				  "\x00\x00\x00\x00\x01\x03\x03\x07";
	struct net6_tcp_opts o;

	EXPECT_EQ(parse(syn, 20, true, &o), 0);
	EXPECT_EQ(o.mss, 1440);
	EXPECT_TRUE(o.sack_ok);
	EXPECT_TRUE(o.tstamp_ok);
	EXPECT_EQ(o.tsval, 0x01020304);
	EXPECT_EQ(o.tsecr, 0);
	EXPECT_TRUE(o.wscale_ok);
	EXPECT_EQ(o.wscale, 7);
}

TEST(parse__timestamps_in_any_layout)
{
	static const struct {
		const char *name;
		const char *bytes;
		unsigned int len;
	} cases[] = {
		{ "aligned", "\x01\x01\x08\x0a\x01\x02\x03\x04\xf5\x06\x07\x08", 12 },
		{ "in front", "\x08\x0a\x01\x02\x03\x04\xf5\x06\x07\x08\x01\x01", 12 },
		{ "alone", "\x08\x0a\x01\x02\x03\x04\xf5\x06\x07\x08", 10 },
		{ "aligned, more behind",
		  "\x01\x01\x08\x0a\x01\x02\x03\x04\xf5\x06\x07\x08\x01\x01\x01\x00", 16 },
	};
	struct net6_tcp_opts o;
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		unit_case(cases[i / 2].name);
		EXPECT_EQ(parse(cases[i / 2].bytes, cases[i / 2].len, i % 2, &o), 0);
		EXPECT_TRUE(o.tstamp_ok);
		EXPECT_EQ(o.tsval, 0x01020304);
		EXPECT_EQ(o.tsecr, 0xf5060708);
		EXPECT_EQ(o.mss, 0);
		EXPECT_EQ(o.n_sacks, 0);
		EXPECT_FALSE(o.wscale_ok);
		EXPECT_FALSE(o.sack_ok);
	}
}

TEST(parse__syn_only_options_are_ignored_later)
{
	static const char opt[] = "\x02\x04\x05\xa0\x04\x02\x03\x03\x07";
	struct net6_tcp_opts o;

	EXPECT_EQ(parse(opt, 9, false, &o), 0);
	EXPECT_EQ(o.mss, 0);
	EXPECT_FALSE(o.sack_ok);
	EXPECT_FALSE(o.wscale_ok);
}

TEST(parse__wscale_above_14_counts_as_14)
{
	struct net6_tcp_opts o;

	EXPECT_EQ(parse("\x03\x03\xff", 3, true, &o), 0);
	EXPECT_TRUE(o.wscale_ok);
	EXPECT_EQ(o.wscale, 14);
}

TEST(parse__sack_blocks)
{
	static const char sack[] = "\x01\x01\x05\x12\x00\x00\x00\x10\x00\x00\x00\x20"
				   "\xff\xff\xff\xf0\x00\x00\x00\x08";
	struct net6_tcp_opts o;

	EXPECT_EQ(parse(sack, 20, false, &o), 0);
	ASSERT_EQ(o.n_sacks, 2);
	EXPECT_EQ(o.sack[0].start, 0x10);
	EXPECT_EQ(o.sack[0].end, 0x20);
	EXPECT_EQ(o.sack[1].start, 0xfffffff0);
	EXPECT_EQ(o.sack[1].end, 8);
	EXPECT_EQ(parse(sack, 20, true, &o), 0);
	EXPECT_EQ(o.n_sacks, 0);
}

TEST(parse__sack_of_odd_length_is_no_sack)
{
	struct net6_tcp_opts o;

	EXPECT_EQ(parse("\x05\x02", 2, false, &o), 0);
	EXPECT_EQ(o.n_sacks, 0);
	EXPECT_EQ(parse("\x05\x06\x01\x02\x03\x04", 6, false, &o), 0);
	EXPECT_EQ(o.n_sacks, 0);
	/* Five blocks do not fit a header; the parser may be given more bytes. */
	EXPECT_EQ(parse("\x05\x2apaaaaaaabbbbbbbbccccccccddddddddeeeeeeee", 42, false, &o), 0);
	EXPECT_EQ(o.n_sacks, 0);
}

TEST(parse__wrong_lengths_make_an_option_unknown)
{
	static const struct {
		const char *name;
		const char *bytes;
		unsigned int len;
	} cases[] = {
		{ "mss of 3", "\x02\x03\x05", 3 },
		{ "mss of 5", "\x02\x05\x05\xa0\x00", 5 },
		{ "wscale of 2", "\x03\x02", 2 },
		{ "sackOK of 3", "\x04\x03\x00", 3 },
		{ "timestamps of 9", "\x08\x09\x01\x02\x03\x04\x05\x06\x07", 9 },
	};
	struct net6_tcp_opts o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_case(cases[i].name);
		EXPECT_EQ(parse(cases[i].bytes, cases[i].len, true, &o), 0);
		EXPECT_EQ(o.mss, 0);
		EXPECT_FALSE(o.wscale_ok);
		EXPECT_FALSE(o.sack_ok);
		EXPECT_FALSE(o.tstamp_ok);
	}
}

TEST(parse__impossible_lengths_stop_but_keep_what_was_read)
{
	static const struct {
		const char *name;
		const char *bytes;
		unsigned int len;
	} cases[] = {
		{ "length 0", "\x02\x04\x05\xa0\x63\x00", 6 },
		{ "length 1", "\x02\x04\x05\xa0\x63\x01", 6 },
		{ "beyond the end", "\x02\x04\x05\xa0\x63\x03", 6 },
		{ "kind without length", "\x02\x04\x05\xa0\x63", 5 },
	};
	struct net6_tcp_opts o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_case(cases[i].name);
		EXPECT_EQ(parse(cases[i].bytes, cases[i].len, true, &o), -EINVAL);
		EXPECT_EQ(o.mss, 1440);
	}
}

TEST(parse__end_of_list_ends_it)
{
	struct net6_tcp_opts o;

	EXPECT_EQ(parse("\x00\x02\x04\x05\xa0\x63\x00", 7, true, &o), 0);
	EXPECT_EQ(o.mss, 0);
}

TEST(parse__unknown_options_are_skipped)
{
	struct net6_tcp_opts o;

	EXPECT_EQ(parse("\x1e\x06zbcd\x01\x02\x04\x04\xc4", 11, true, &o), 0);
	EXPECT_EQ(o.mss, 1220);
}

TEST(parse__fast_open)
{
	struct net6_tcp_opts o;

	EXPECT_EQ(parse("\x22\x02", 2, true, &o), 0);
	EXPECT_TRUE(o.fastopen_ok);
	EXPECT_EQ(o.fastopen_len, 0);
	EXPECT_EQ(parse("\x22\x06zbcd", 6, true, &o), 0);
	EXPECT_TRUE(o.fastopen_ok);
	ASSERT_EQ(o.fastopen_len, 4);
	EXPECT_MEM(o.fastopen, "zbcd", 4);
	EXPECT_EQ(parse("\x22\x12zbcdefghijklmnop", 18, true, &o), 0);
	EXPECT_TRUE(o.fastopen_ok);
	ASSERT_EQ(o.fastopen_len, 16);
	EXPECT_MEM(o.fastopen, "zbcdefghijklmnop", 16);
}

TEST(parse__fast_open_of_wrong_length_is_none)
{
	static const u8 lens[] = { 1, 2, 3, 5, 7, 9, 15, 17, 18, 20 };
	struct net6_tcp_opts o;
	char bytes[22];
	size_t i;

	memset(bytes, 'x', sizeof(bytes));
	bytes[0] = 0x22;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		bytes[1] = 2 + lens[i];
		EXPECT_EQ(parse(bytes, 2 + lens[i], true, &o), 0);
		EXPECT_FALSE(o.fastopen_ok);
		EXPECT_EQ(o.fastopen_len, 0);
	}
	bytes[1] = 10;
	EXPECT_EQ(parse(bytes, 10, false, &o), 0);
	EXPECT_FALSE(o.fastopen_ok);
}

TEST(write__fast_open_fills_the_header)
{
	struct net6_tcp_opts o = {
		.mss = 1440, .sack_ok = true, .tstamp_ok = true, .wscale_ok = true,
		.fastopen_ok = true, .fastopen_len = 8, .fastopen = "zbcdefgh",
	}, back;
	u8 buf[NET6_TCP_SYN_OPTIONS_MAX];

	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), 32);
	EXPECT_MEM(buf + 20, "\x22\x0azbcdefgh\x01\x01", 12);
	o.fastopen_len = 0;
	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), 24);
	EXPECT_MEM(buf + 20, "\x22\x02\x01\x01", 4);
	o.fastopen_len = 16;
	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), 40);
	EXPECT_EQ(net6_tcp_parse_options(buf, 40, true, &back), 0);
	EXPECT_EQ(back.fastopen_len, 16);
}

TEST(write__order_and_padding)
{
	struct net6_tcp_opts o = {
		.mss = 1440, .sack_ok = true, .tstamp_ok = true, .wscale_ok = true,
		.wscale = 7, .tsval = 0x01020304, .tsecr = 0x05060708,
	};
	u8 buf[NET6_TCP_SYN_OPTIONS_MAX];

	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), 20);
	EXPECT_MEM(buf, "\x02\x04\x05\xa0\x04\x02\x08\x0a\x01\x02\x03\x04"
		   "\x05\x06\x07\x08\x01\x03\x03\x07", 20);
	o.sack_ok = false;
	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), 20);
	EXPECT_MEM(buf + 4, "\x01\x01\x08\x0a", 4);
	o.sack_ok = true;
	o.tstamp_ok = false;
	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), 12);
	EXPECT_MEM(buf, "\x02\x04\x05\xa0\x01\x01\x04\x02\x01\x03\x03\x07", 12);
}

/* A signature's option among others, cut to @len bytes: where its hash is, or -1. */
static int md5_at(const char *bytes, unsigned int len)
{
	u8 *copy = malloc(len ?: 1);
	const u8 *found;
	int at;

	memcpy(copy, bytes, len);
	found = net6_tcp_find_md5(copy, len);
	at = found ? found - copy : -1;
	free(copy);
	return at;
}

#define HASH	"0123456789abcdef"

TEST(find_md5__where_it_is)
{
	EXPECT_EQ(md5_at("", 0), -1);
	EXPECT_EQ(md5_at("\x13\x12" HASH, 18), 2);
	EXPECT_EQ(md5_at("\x01\x01\x13\x12" HASH, 20), 4);
	EXPECT_EQ(md5_at("\x02\x04\x05\xa0\x13\x12" HASH "\x01\x01", 24), 6);
	EXPECT_EQ(md5_at("\x01\x01\x08\x0azyxwvuts\x01\x01\x13\x12" HASH, 32), 16);
}

TEST(find_md5__nowhere)
{
	/* Cut short, of another length, behind the end of the list or an impossible option. */
	EXPECT_EQ(md5_at("\x13\x12" HASH, 17), -1);
	EXPECT_EQ(md5_at("\x13", 1), -1);
	EXPECT_EQ(md5_at("\x13\x11" HASH, 18), -1);
	EXPECT_EQ(md5_at("\x13\x14" HASH "xx", 20), -1);
	EXPECT_EQ(md5_at("\x00\x00\x13\x12" HASH, 20), -1);
	EXPECT_EQ(md5_at("\x05\x01\x13\x12" HASH, 20), -1);
	EXPECT_EQ(md5_at("\x05\xff\x13\x12" HASH, 20), -1);
}

TEST(write__a_signature_comes_first_and_without_fast_open)
{
	static const u8 wanted[NET6_TCP_SYN_OPTIONS_MAX] = {
		1, 1, 19, 18, [20] = 2, 4, 0x05, 0xa0, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2,
		1, 3, 3, 7,
	};
	struct net6_tcp_opts o = {
		.mss = 1440, .sack_ok = true, .tstamp_ok = true, .tsval = 1, .tsecr = 2,
		.wscale_ok = true, .wscale = 7, .fastopen_ok = true, .fastopen_len = 16,
		.md5 = true,
	};
	u8 *buf = malloc(NET6_TCP_SYN_OPTIONS_MAX);

	ASSERT_EQ(net6_tcp_write_syn_options(buf, &o), NET6_TCP_SYN_OPTIONS_MAX);
	EXPECT_MEM(buf, wanted, NET6_TCP_SYN_OPTIONS_MAX);
	EXPECT_EQ(net6_tcp_find_md5(buf, NET6_TCP_SYN_OPTIONS_MAX) - buf, NET6_TCP_MD5_AT);
	free(buf);
}

TEST(write__every_combination_parses_back)
{
	u8 buf[NET6_TCP_SYN_OPTIONS_MAX];
	struct net6_tcp_opts o, back;
	unsigned int i, len;

	for (i = 0; i < 8; i++) {
		memset(&o, 0, sizeof(o));
		o.mss = 1000 + i;
		o.sack_ok = i & 1;
		o.tstamp_ok = i & 2;
		o.wscale_ok = i & 4;
		o.wscale = i & 4 ? 14 : 0;
		o.tsval = i & 2 ? 77 : 0;
		o.tsecr = i & 2 ? 0xffffffff : 0;
		len = net6_tcp_write_syn_options(buf, &o);
		EXPECT_LE(len, NET6_TCP_SYN_OPTIONS_MAX);
		EXPECT_EQ(len % 4, 0);
		EXPECT_EQ(parse((const char *)buf, len, true, &back), 0);
		EXPECT_EQ(back.mss, o.mss);
		EXPECT_EQ(back.sack_ok, o.sack_ok);
		EXPECT_EQ(back.tstamp_ok, o.tstamp_ok);
		EXPECT_EQ(back.wscale_ok, o.wscale_ok);
		EXPECT_EQ(back.wscale, o.wscale);
		EXPECT_EQ(back.tsval, o.tsval);
		EXPECT_EQ(back.tsecr, o.tsecr);
	}
}
