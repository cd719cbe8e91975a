// SPDX-License-Identifier: GPL-2.0
/* Heads that a processor remembers: a full table, one chain for all, no memory. */
#include "unit.h"
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/xxhash.h>
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/again.c"

/* Of softwork.h only what the table is; the rest is of sockets and pages. */
#define _KHTTPD_SOFTWORK_H
#define KHTTPD_SOFT_KNOWN	256

struct khttpd_memo {
	struct khttpd_again again;
};

struct khttpd_soft_known {
	struct hlist_node node;
	struct list_head list;
	u64 hash;
	struct khttpd_memo memo;
};

struct khttpd_soft_work {
	struct hlist_head known[KHTTPD_SOFT_KNOWN];
	struct list_head lately;
	struct khttpd_soft_known *spare;
	u32 n_known;
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

static u64 known_hash(const void *bytes, size_t len, u64 key)
{
	return xxh64(bytes, len, key) & kept_bits;
}

#undef kmalloc
#define kmalloc(size, gfp)	known_alloc(size)
#define xxh64(bytes, len, key)	known_hash(bytes, len, key)
#include "../../khttpd/soft/softknown.c"

#define HEAD_LEN	32

static void head_of(u8 *head, unsigned int n)
{
	snprintf((char *)head, HEAD_LEN, "GET /%024u", n);
}

static struct khttpd_soft_known *search(struct khttpd_soft_work *work, unsigned int n)
{
	u8 head[HEAD_LEN];

	head_of(head, n);
	return khttpd_softknown_search(work, head, HEAD_LEN);
}

static struct khttpd_soft_known *add(struct khttpd_soft_work *work, unsigned int n)
{
	struct khttpd_soft_known *known = khttpd_softknown_room(work);

	memset(&known->memo, 0, sizeof(known->memo));
	head_of(known->memo.again.head, n);
	known->memo.again.len = HEAD_LEN;
	khttpd_softknown_add(work, known);
	return known;
}

/* The longest chain. Each entry is in one, and in the list. */
static unsigned int longest(struct khttpd_soft_work *work, unsigned int expected)
{
	unsigned int i, n, most = 0, chained = 0, listed = 0;
	struct khttpd_soft_known *known;

	for (i = 0; i < ARRAY_SIZE(work->known); i++) {
		n = 0;
		hlist_for_each_entry(known, &work->known[i], node)
			n++;
		chained += n;
		most = n > most ? n : most;
	}
	list_for_each_entry(known, &work->lately, list)
		listed++;
	EXPECT_EQ(chained, expected);
	EXPECT_EQ(listed, expected);
	return most;
}

static void begin(struct khttpd_soft_work *work)
{
	memory = -1;
	kept_bits = U64_MAX;
	memset(work, 0, sizeof(*work));
	EXPECT_EQ(khttpd_softknown_init(work), 0);
}

TEST(full__the_head_that_has_not_come_for_longest_goes)
{
	struct khttpd_soft_work work;
	unsigned int n;

	begin(&work);
	for (n = 0; n < KHTTPD_SOFT_KNOWN; n++)
		add(&work, n);
	EXPECT_EQ(work.n_known, KHTTPD_SOFT_KNOWN);
	/* The first one comes again, so the second goes. */
	EXPECT_TRUE(search(&work, 0));
	add(&work, n++);
	EXPECT_TRUE(search(&work, 0));
	EXPECT_FALSE(search(&work, 1));
	EXPECT_TRUE(search(&work, 2));
	for (; n < 10 * KHTTPD_SOFT_KNOWN; n++)
		add(&work, n);
	EXPECT_EQ(work.n_known, KHTTPD_SOFT_KNOWN);
	for (n = 0; n < 10 * KHTTPD_SOFT_KNOWN; n++)
		EXPECT_EQ(!!search(&work, n), n >= 9 * KHTTPD_SOFT_KNOWN);
	/* With a good hash a search stays short: 256 in 256 chains. */
	EXPECT_LE(longest(&work, KHTTPD_SOFT_KNOWN), 8);
	khttpd_softknown_exit(&work);
}

TEST(one_chain_for_all__each_is_found)
{
	static const u64 bits[] = { U64_MAX << 8, 0 };
	struct khttpd_soft_work work;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		unit_case(bits[i] ? "hashes differ" : "hashes are equal");
		begin(&work);
		kept_bits = bits[i];
		for (n = 0; n < 2 * KHTTPD_SOFT_KNOWN; n++)
			add(&work, n);
		EXPECT_EQ(longest(&work, KHTTPD_SOFT_KNOWN), KHTTPD_SOFT_KNOWN);
		for (n = 0; n < 2 * KHTTPD_SOFT_KNOWN; n++)
			EXPECT_EQ(!!search(&work, n), n >= KHTTPD_SOFT_KNOWN);
		khttpd_softknown_exit(&work);
	}
	unit_case(NULL);
}

TEST(no_memory__what_there_is_is_used_again)
{
	struct khttpd_soft_work work;
	unsigned int n;

	begin(&work);
	memory = 2;
	for (n = 0; n < 100; n++) {
		add(&work, n);
		EXPECT_TRUE(search(&work, n));
	}
	EXPECT_EQ(work.n_known, 3);
	EXPECT_EQ(longest(&work, 3), 1);
	EXPECT_TRUE(search(&work, 97));
	EXPECT_FALSE(search(&work, 96));
	/* Memory is there again. */
	memory = -1;
	for (; n < 110; n++)
		add(&work, n);
	EXPECT_EQ(work.n_known, 13);
	EXPECT_TRUE(search(&work, 97));
	khttpd_softknown_exit(&work);

	memory = 0;
	memset(&work, 0, sizeof(work));
	EXPECT_EQ(khttpd_softknown_init(&work), -ENOMEM);
	khttpd_softknown_exit(&work);
}

/* Heads that are wrong take no room from those that are known. */
TEST(room_that_is_not_used_is_kept)
{
	struct khttpd_soft_known *room;
	struct khttpd_soft_work work;
	unsigned int n;

	begin(&work);
	for (n = 0; n < KHTTPD_SOFT_KNOWN; n++)
		add(&work, n);
	room = khttpd_softknown_room(&work);
	for (n = 0; n < 1000; n++)
		EXPECT_TRUE(khttpd_softknown_room(&work) == room);
	EXPECT_FALSE(search(&work, 0));
	for (n = 1; n < KHTTPD_SOFT_KNOWN; n++)
		EXPECT_TRUE(search(&work, n));
	longest(&work, KHTTPD_SOFT_KNOWN - 1);
	khttpd_softknown_exit(&work);
}
