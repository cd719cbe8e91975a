// SPDX-License-Identifier: GPL-2.0
/* The index of virtual hosts' names against a look at each site in turn: many of them, one chain
 * for all, names of all lengths and depths, no room.
 */
#include "unit.h"
#include <linux/siphash.h>
#include "../../khttpd/http/names.c"

/* Of site.h only what the index reads. */
#define _KHTTPD_SITE_H

struct khttpd_site {
	struct {
		const char *names;
	} options;
};

static u64 kept_bits = U64_MAX;	/* of each hash */

static u64 index_hash(const void *bytes, size_t len, const siphash_key_t *key)
{
	return siphash(bytes, len, key) & kept_bits;
}

#define siphash(bytes, len, key)	index_hash(bytes, len, key)
#include "../../khttpd/files/vhost_index.c"

#define SITES	500
#define TEXT	600

static struct khttpd_site sites[SITES];
static char texts[SITES][TEXT];

static struct khttpd_vhost_index *index_of(unsigned int n_sites, u32 room)
{
	struct khttpd_vhost_index *index = khttpd_vhost_index_alloc(room);
	unsigned int i;

	for (i = 0; i < n_sites; i++) {
		sites[i].options.names = texts[i];
		khttpd_vhost_index_add(index, &sites[i]);
	}
	return index;
}

/* The first site with the name, else the first with a wildcard for it. */
static struct khttpd_site *walk(unsigned int n_sites, const char *host)
{
	struct khttpd_site *wild = NULL;
	unsigned int i;
	int match;

	for (i = 0; i < n_sites; i++) {
		match = khttpd_names_match(texts[i], (const u8 *)host, strlen(host));
		if (match == 2)
			return &sites[i];
		if (match == 1 && !wild)
			wild = &sites[i];
	}
	return wild;
}

static long site_number(const struct khttpd_site *site)
{
	return site ? site - sites : -1;
}

static long find(const struct khttpd_vhost_index *index, const char *host)
{
	size_t len = strlen(host);
	/* A block of just that size, so that ASan guards it. */
	u8 *copy = malloc(len ? len : 1);
	long found;

	memcpy(copy, host, len);
	found = site_number(khttpd_vhost_index_find(index, copy, len));
	free(copy);
	return found;
}

static void same(const struct khttpd_vhost_index *index, unsigned int n_sites, const char *host)
{
	unit_case(host);
	EXPECT_EQ(find(index, host), site_number(walk(n_sites, host)));
	unit_case(NULL);
}

static unsigned int longest(const struct khttpd_vhost_index *index)
{
	unsigned int most = 0, n;
	u32 i, next;

	for (i = 0; i <= index->mask; i++) {
		n = 0;
		for (next = index->heads[i]; next; next = index->names[next - 1].next)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

TEST(many_sites__also_in_one_chain)
{
	static const u64 bits[] = { U64_MAX, 0 };
	struct khttpd_vhost_index *index;
	char host[64];
	unsigned int i, n;

	for (n = 0; n < SITES; n++)
		snprintf(texts[n], TEXT, "h%u.example *.W%u.example *.deep.w%u.example",
			 n, n, n / 2);
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		kept_bits = bits[i];
		index = index_of(SITES, 3 * SITES);
		/* Of the last names each second one is there already. */
		EXPECT_EQ(index->used, 2 * SITES + SITES / 2);
		if (bits[i])
			EXPECT_LE(longest(index), 8);
		else
			EXPECT_EQ(longest(index), index->used);
		for (n = 0; n <= SITES; n++) {
			snprintf(host, sizeof(host), "H%u.example.:80", n);
			same(index, SITES, host);
			snprintf(host, sizeof(host), "a.b.w%u.example", n);
			same(index, SITES, host);
			snprintf(host, sizeof(host), "x.deep.w%u.EXAMPLE:8080", n);
			same(index, SITES, host);
			snprintf(host, sizeof(host), "w%u.example", n);
			same(index, SITES, host);
		}
		kvfree(index);
	}
	kept_bits = U64_MAX;
}

/* Wildcards of each number of dots; beyond 63 they share a bit. */
TEST(depths__all_that_a_name_has_room_for)
{
	struct khttpd_vhost_index *index;
	char host[TEXT];
	unsigned int n, len;

	for (n = 0; n < 126; n++) {
		len = snprintf(texts[n], TEXT, "*");
		memset(texts[n] + len, 0, TEXT - len);
		while (len < 2 * (n + 1))
			len += snprintf(texts[n] + len, TEXT - len, ".a");
	}
	index = index_of(126, 126);
	EXPECT_EQ(index->used, 126);
	EXPECT_EQ(index->depths, U64_MAX - 1);
	/* The first site has the shortest one, which fits all that end so. */
	for (len = 0; len < 300; len += 3) {
		memset(host, 'x', len);
		for (n = 0; n < 130; n++)
			memcpy(host + len + 2 * n, ".a", 3);
		same(index, 126, host);
	}
	kvfree(index);
	/* Without those below 63 dots. */
	memmove(texts, texts + 70, 56 * sizeof(texts[0]));
	index = index_of(56, 56);
	EXPECT_EQ(index->depths, BIT_ULL(63));
	for (n = 0; n < 130; n++) {
		host[0] = 'x';
		for (len = 0; len <= n; len++)
			memcpy(host + 1 + 2 * len, ".a", 3);
		same(index, 56, host);
	}
	kvfree(index);
}

TEST(hosts_at_the_longest)
{
	struct khttpd_vhost_index *index;
	char host[TEXT];

	memset(texts[0], 'a', KHTTPD_HOST_MAX);
	strcpy(texts[0] + KHTTPD_HOST_MAX, " b");
	strcpy(texts[1], "*.end");
	index = index_of(2, 3);
	memset(host, 'a', TEXT);
	host[KHTTPD_HOST_MAX - 1] = 0;
	same(index, 2, host);
	host[KHTTPD_HOST_MAX - 1] = 'a';
	host[KHTTPD_HOST_MAX] = 0;
	EXPECT_EQ(find(index, host), 0);
	host[KHTTPD_HOST_MAX] = 'a';
	host[KHTTPD_HOST_MAX + 1] = 0;
	same(index, 2, host);
	/* Too long for a name, but a wildcard looks at the end. */
	host[KHTTPD_HOST_MAX + 1] = 'a';
	memcpy(host + 500, ".END", 5);
	EXPECT_EQ(find(index, host), 1);
	same(index, 2, "");
	same(index, 2, ":80");
	same(index, 2, ".");
	same(index, 2, ".end");
	kvfree(index);
}

TEST(full__the_rest_is_not_entered)
{
	struct khttpd_vhost_index *index;

	strcpy(texts[0], "a b c d");
	strcpy(texts[1], "e *.f");
	index = index_of(2, 3);
	EXPECT_EQ(index->used, 3);
	EXPECT_EQ(find(index, "c"), 0);
	EXPECT_EQ(find(index, "d"), -1);
	EXPECT_EQ(find(index, "e"), -1);
	EXPECT_EQ(find(index, "x.f"), -1);
	kvfree(index);
}
