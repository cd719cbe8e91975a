// SPDX-License-Identifier: GPL-2.0
/* The longest-prefix trie against a list that is searched from end to end. */
#include "unit.h"
#include <linux/slab.h>

static int memory = -1;		/* so many nodes more; -1: no end of it */

static void *node_alloc(size_t size)
{
	if (!memory)
		return NULL;
	if (memory > 0)
		memory--;
	return calloc(1, size);
}

#undef kzalloc
#define kzalloc(size, gfp)	node_alloc(size)
#include "../../net6/core/trie.c"

#define PREFIXES	400

struct entry {
	struct list_head item;
	struct in6_addr prefix;
	u8 plen;
	bool in;
};

static u32 seed;

static u32 roll(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Addresses that share much, so that prefixes nest and join at every depth. */
static struct in6_addr random_addr(void)
{
	struct in6_addr a = { .s6_addr = { 0x20, 0x01 } };
	unsigned int i, n = roll(5);

	for (i = 0; i < n; i++)
		a.s6_addr[roll(16)] ^= 1 << roll(8);
	return a;
}

static void cut(struct in6_addr *a, unsigned int plen)
{
	unsigned int i;

	for (i = plen; i < 128; i++)
		a->s6_addr[i / 8] &= ~(0x80 >> i % 8);
}

static const struct entry *trie_lookup(const struct net6_trie *trie, const struct in6_addr *addr)
{
	const struct entry *best = NULL;
	struct net6_trie_node *node;

	net6_trie_for_each_match(node, trie, addr)
		if (!list_empty(&node->items))
			best = list_first_entry(&node->items, struct entry, item);
	return best;
}

static const struct entry *list_lookup(const struct entry *all, const struct in6_addr *addr)
{
	const struct entry *best = NULL;
	unsigned int i;

	for (i = 0; i < PREFIXES; i++)
		if (all[i].in && (!best || all[i].plen > best->plen) &&
		    net6_trie_common(&all[i].prefix, addr) >= all[i].plen)
			best = &all[i];
	return best;
}

static unsigned int nodes(const struct net6_trie_node *node)
{
	return node ? 1 + nodes(node->child[0]) + nodes(node->child[1]) : 0;
}

static void add(struct net6_trie *trie, struct entry *e)
{
	struct net6_trie_node *node = net6_trie_insert(trie, &e->prefix, e->plen);

	EXPECT_EQ(list_empty(&node->items), true);
	list_add(&e->item, &node->items);
	e->in = true;
}

static void del(struct net6_trie *trie, struct entry *e)
{
	list_del(&e->item);
	net6_trie_prune(trie, &e->prefix, e->plen);
	e->in = false;
}

static bool known(const struct entry *all, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (all[i].plen == all[n].plen && !memcmp(&all[i].prefix, &all[n].prefix, 16))
			return true;
	return false;
}

static void prefixes(struct entry *all, u32 start)
{
	unsigned int i;

	seed = start;
	for (i = 0; i < PREFIXES; i++) {
		do {
			all[i].prefix = random_addr();
			all[i].plen = roll(129);
			cut(&all[i].prefix, all[i].plen);
		} while (known(all, i));
	}
}

TEST(common__bits)
{
	struct in6_addr a = { .s6_addr = { 0xff } }, b = a;

	EXPECT_EQ(net6_trie_common(&a, &b), 128);
	b.s6_addr[15] = 1;
	EXPECT_EQ(net6_trie_common(&a, &b), 127);
	b.s6_addr[8] = 0x80;
	EXPECT_EQ(net6_trie_common(&a, &b), 64);
	b.s6_addr[0] = 0;
	EXPECT_EQ(net6_trie_common(&a, &b), 0);
}

TEST(trie__finds_what_a_list_finds_whatever_comes_and_goes)
{
	static struct entry all[PREFIXES];
	struct net6_trie trie = {};
	unsigned int i, round;

	prefixes(all, 1);
	for (round = 0; round < 20000; round++) {
		struct entry *e = &all[roll(PREFIXES)];
		struct in6_addr addr = random_addr();
		unsigned int n = 0;

		if (e->in)
			del(&trie, e);
		else
			add(&trie, e);
		ASSERT_TRUE(trie_lookup(&trie, &addr) == list_lookup(all, &addr));
		ASSERT_TRUE(trie_lookup(&trie, &e->prefix) == list_lookup(all, &e->prefix));
		ASSERT_TRUE(net6_trie_find(&trie, &e->prefix, e->plen) || !e->in);
		if (round % 256)
			continue;
		/* No more nodes than prefixes and joins of two. */
		for (i = 0; i < PREFIXES; i++)
			n += all[i].in;
		ASSERT_TRUE(nodes(trie.root) <= (n ? 2 * n - 1 : 0));
	}
	for (i = 0; i < PREFIXES; i++)
		if (all[i].in)
			del(&trie, &all[i]);
	EXPECT_EQ(!trie.root, true);
}

/* Does one come before another, as net6_trie_from() goes? */
static bool before(const struct entry *a, const struct entry *b)
{
	unsigned int common = net6_trie_common(&a->prefix, &b->prefix);

	if (common < min(a->plen, b->plen))
		return net6_trie_bit(&b->prefix, common);
	return a->plen < b->plen;
}

/* The first at @e, or behind it if that is asked for. */
static const struct entry *list_from(const struct entry *all, const struct entry *e, bool behind)
{
	const struct entry *first = NULL;
	unsigned int i;

	if (e->in && !behind)
		return e;
	for (i = 0; i < PREFIXES; i++)
		if (all[i].in && before(e, &all[i]) && (!first || before(&all[i], first)))
			first = &all[i];
	return first;
}

static const struct entry *trie_from(const struct net6_trie *trie, const struct in6_addr *key,
				     u8 plen)
{
	struct net6_trie_node *node = net6_trie_from(trie, key, plen);

	return node ? list_first_entry(&node->items, struct entry, item) : NULL;
}

TEST(from__goes_on_from_any_prefix_in_order)
{
	static struct entry all[PREFIXES];
	struct net6_trie trie = {};
	unsigned int i, round;
	struct in6_addr key;
	u8 plen;

	prefixes(all, 3);
	for (round = 0; round < 20000; round++) {
		struct entry *e = &all[roll(PREFIXES)];

		if (e->in)
			del(&trie, e);
		else
			add(&trie, e);
		e = &all[roll(PREFIXES)];
		key = e->prefix;
		plen = e->plen;
		ASSERT_TRUE(trie_from(&trie, &key, plen) == list_from(all, e, false));
		if (net6_trie_step(&key, &plen))
			ASSERT_TRUE(trie_from(&trie, &key, plen) == list_from(all, e, true));
		else
			ASSERT_TRUE(!list_from(all, e, true));
	}
	for (i = 0; i < PREFIXES; i++)
		if (all[i].in)
			del(&trie, &all[i]);
}

TEST(step__ends_behind_the_last_address)
{
	struct in6_addr key;
	u8 plen = 128;

	memset(&key, 0xff, sizeof(key));
	EXPECT_EQ(net6_trie_step(&key, &plen), false);
	plen = 127;
	EXPECT_EQ(net6_trie_step(&key, &plen), true);
	EXPECT_EQ(plen, 128);
	EXPECT_EQ(key.s6_addr[15], 0xfe);
	EXPECT_EQ(net6_trie_step(&key, &plen), true);
	EXPECT_EQ(plen, 128);
	EXPECT_EQ(key.s6_addr[15], 0xff);
}

TEST(insert__without_memory_nothing_is_lost)
{
	static struct entry all[PREFIXES];
	unsigned int i, j, before, needs;
	struct net6_trie trie = {};

	prefixes(all, 2);
	for (i = 0; i < PREFIXES; i++) {
		before = nodes(trie.root);
		for (needs = 0; needs < 2; needs++) {
			memory = needs;
			if (net6_trie_insert(&trie, &all[i].prefix, all[i].plen))
				break;
			ASSERT_EQ(nodes(trie.root), before);
			for (j = 0; j < i; j++)
				ASSERT_TRUE(trie_lookup(&trie, &all[j].prefix) ==
					    list_lookup(all, &all[j].prefix));
		}
		memory = -1;
		add(&trie, &all[i]);
	}
	for (i = 0; i < PREFIXES; i++)
		del(&trie, &all[i]);
	EXPECT_EQ(!trie.root, true);
}
