// SPDX-License-Identifier: GPL-2.0
/* Heads that came lately: a full table, one chain for all, no memory, how they are found. */
#include "unit.h"
#include <linux/list.h>
#include <linux/slab.h>
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/again.c"
#include "../../khttpd/http/headhash.h"

/* Of memo.h only what the table is about; the rest is of files. */
#define _KHTTPD_MEMO_H

struct khttpd_memo {
	struct khttpd_again again;
	bool kept;
	void *last;
};

static int memory = -1;		/* so many entries more; -1: no end of it */
static u64 kept_bits = U64_MAX;	/* of each hash */

static void *known_alloc(size_t size)
{
	if (!memory)
		return NULL;
	if (memory > 0)
		memory--;
	return malloc(size);
}

static u64 known_hash(const u8 *bytes, u32 len, u64 key)
{
	return khttpd_head_hash(bytes, len, key) & kept_bits;
}

#undef kmalloc
#define kmalloc(size, gfp)	known_alloc(size)
#define khttpd_head_hash(bytes, len, key)	known_hash(bytes, len, key)
#include "../../khttpd/files/known.c"

#define HEAD_LEN	30	/* with the zero that ends it */

static void head_of(u8 *head, unsigned int n)
{
	snprintf((char *)head, HEAD_LEN, "GET /%024u", n);
}

static struct khttpd_known *search(struct khttpd_knowns *all, unsigned int n)
{
	u8 head[HEAD_LEN];

	head_of(head, n);
	return khttpd_known_search(all, head, HEAD_LEN);
}

static struct khttpd_known *add(struct khttpd_knowns *all, unsigned int n)
{
	struct khttpd_known *known = khttpd_known_room(all);

	memset(&known->memo, 0, sizeof(known->memo));
	head_of(known->memo.again.head, n);
	known->memo.again.len = HEAD_LEN;
	return khttpd_known_add(all, known);
}

/* The longest chain. Each entry is in one, and in the list. */
static unsigned int longest(struct khttpd_knowns *all, unsigned int expected)
{
	unsigned int i, n, most = 0, chained = 0, listed = 0;
	struct khttpd_known *known;

	for (i = 0; i < ARRAY_SIZE(all->chain); i++) {
		n = 0;
		hlist_for_each_entry(known, &all->chain[i], node)
			n++;
		chained += n;
		most = n > most ? n : most;
	}
	list_for_each_entry(known, &all->lately, list)
		listed++;
	EXPECT_EQ(chained, expected);
	EXPECT_EQ(listed, expected);
	return most;
}

static void begin(struct khttpd_knowns *all)
{
	memory = -1;
	kept_bits = U64_MAX;
	memset(all, 0, sizeof(*all));
	EXPECT_EQ(khttpd_knowns_init(all, sizeof(struct khttpd_known)), 0);
}

TEST(full__the_head_that_has_not_come_for_longest_goes)
{
	struct khttpd_knowns all;
	unsigned int n;

	begin(&all);
	for (n = 0; n < KHTTPD_KNOWN_MAX; n++)
		add(&all, n);
	EXPECT_EQ(all.count, KHTTPD_KNOWN_MAX);
	/* The first one comes again, so the second goes. */
	EXPECT_TRUE(search(&all, 0));
	add(&all, n++);
	EXPECT_TRUE(search(&all, 0));
	EXPECT_FALSE(search(&all, 1));
	EXPECT_TRUE(search(&all, 2));
	for (; n < 10 * KHTTPD_KNOWN_MAX; n++)
		add(&all, n);
	EXPECT_EQ(all.count, KHTTPD_KNOWN_MAX);
	for (n = 0; n < 10 * KHTTPD_KNOWN_MAX; n++)
		EXPECT_EQ(!!search(&all, n), n >= 9 * KHTTPD_KNOWN_MAX);
	/* With a good hash a search stays short: 256 in 256 chains. */
	EXPECT_LE(longest(&all, KHTTPD_KNOWN_MAX), 8);
	khttpd_knowns_exit(&all);
}

TEST(one_chain_for_all__each_is_found)
{
	struct khttpd_knowns all;
	unsigned int n;

	begin(&all);
	kept_bits = U64_MAX << 8;
	for (n = 0; n < 2 * KHTTPD_KNOWN_MAX; n++)
		add(&all, n);
	EXPECT_EQ(longest(&all, KHTTPD_KNOWN_MAX), KHTTPD_KNOWN_MAX);
	for (n = 0; n < 2 * KHTTPD_KNOWN_MAX; n++)
		EXPECT_EQ(!!search(&all, n), n >= KHTTPD_KNOWN_MAX);
	khttpd_knowns_exit(&all);
}

/* Somebody has made them. One comparison is what they cost, and others are found. */
TEST(one_hash_for_many__the_last_one_is_found)
{
	struct khttpd_known *other;
	struct khttpd_knowns all;
	unsigned int n;

	begin(&all);
	other = add(&all, 0);
	kept_bits = 0;
	for (n = 1; n < 100; n++) {
		add(&all, n);
		EXPECT_TRUE(search(&all, n));
		EXPECT_FALSE(search(&all, n - 1));
	}
	kept_bits = U64_MAX;
	EXPECT_TRUE(search(&all, 0) == other);
	khttpd_knowns_exit(&all);
}

/* Parsed once, a head is found in whatever comes first; of several at once only the last one is. */
TEST(parsed_heads_are_found)
{
	static const char a[] = "GET /a HTTP/1.1\r\nHost: x\r\nUser-Agent: one\r\n\r\n";
	static const char b[] = "GET /b HTTP/1.1\r\nHost: x\r\nUser-Agent: two/2\r\n\r\n";
	static const char both[] = "GET /a HTTP/1.1\r\nHost: x\r\nUser-Agent: one\r\n\r\n"
				   "GET /b HTTP/1.1\r\nHost: x\r\nUser-Agent: two/2\r\n\r\n";
	struct khttpd_known *first, *second, *known;
	struct khttpd_request req;
	struct khttpd_knowns all;

	begin(&all);
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_known_parse(&all, &req, (u8 *)a, sizeof(a) - 1, &first),
		  KHTTPD_PARSE_DONE);
	EXPECT_FALSE(first->memo.again.same);
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_known_parse(&all, &req, (u8 *)b, 9, &known), KHTTPD_PARSE_MORE);
	EXPECT_EQ(khttpd_known_parse(&all, &req, (u8 *)b, sizeof(b) - 1, &second),
		  KHTTPD_PARSE_DONE);
	EXPECT_TRUE(first != second);
	EXPECT_TRUE(khttpd_known_find(&all, (u8 *)a, sizeof(a) - 1, true) == first);
	EXPECT_TRUE(khttpd_known_find(&all, (u8 *)b, sizeof(b) - 1, true) == second);
	EXPECT_TRUE(khttpd_known_find(&all, (u8 *)b, sizeof(b) - 1, false) == second);
	/* Where the first one ends is not known. */
	EXPECT_FALSE(khttpd_known_find(&all, (u8 *)both, sizeof(both) - 1, true));
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_known_parse(&all, &req, (u8 *)both, sizeof(both) - 1, &known),
		  KHTTPD_PARSE_DONE);
	EXPECT_TRUE(known == first && first->memo.again.same);
	EXPECT_TRUE(khttpd_known_find(&all, (u8 *)both, sizeof(both) - 1, true) == first);
	EXPECT_EQ(longest(&all, 2) > 0, 1);
	/* As soon as it is known that a head is wrong, its room is there for another one. */
	khttpd_request_reset(&req);
	EXPECT_TRUE(khttpd_known_parse(&all, &req, (u8 *)"\1\2\3\4\5\6\7\10\11", 9, &known) !=
		    KHTTPD_PARSE_DONE);
	EXPECT_TRUE(known == all.spare);
	khttpd_knowns_exit(&all);
}

TEST(no_memory__what_there_is_is_used_again)
{
	struct khttpd_knowns all;
	unsigned int n;

	begin(&all);
	memory = 2;
	for (n = 0; n < 100; n++) {
		add(&all, n);
		EXPECT_TRUE(search(&all, n));
	}
	EXPECT_EQ(all.count, 3);
	EXPECT_EQ(longest(&all, 3), 1);
	EXPECT_TRUE(search(&all, 97));
	EXPECT_FALSE(search(&all, 96));
	/* Memory is there again. */
	memory = -1;
	for (; n < 110; n++)
		add(&all, n);
	EXPECT_EQ(all.count, 13);
	EXPECT_TRUE(search(&all, 97));
	khttpd_knowns_exit(&all);

	memory = 0;
	memset(&all, 0, sizeof(all));
	EXPECT_EQ(khttpd_knowns_init(&all, sizeof(struct khttpd_known)), -ENOMEM);
	khttpd_knowns_exit(&all);
}

/* Heads that are wrong take no room from those that are known. */
TEST(room_that_is_not_used_is_kept)
{
	struct khttpd_known *room;
	struct khttpd_knowns all;
	unsigned int n;

	begin(&all);
	for (n = 0; n < KHTTPD_KNOWN_MAX; n++)
		add(&all, n);
	room = khttpd_known_room(&all);
	for (n = 0; n < 1000; n++)
		EXPECT_TRUE(khttpd_known_room(&all) == room);
	EXPECT_FALSE(search(&all, 0));
	for (n = 1; n < KHTTPD_KNOWN_MAX; n++)
		EXPECT_TRUE(search(&all, n));
	longest(&all, KHTTPD_KNOWN_MAX - 1);
	khttpd_knowns_exit(&all);
}
