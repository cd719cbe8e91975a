// SPDX-License-Identifier: GPL-2.0
/* Which site has a host's name, if there are many: a request looks at few of them, whatever their
 * number. The hash is keyed: the administrator chooses names, but perhaps for strangers.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/once.h>
#include <linux/overflow.h>
#include <linux/siphash.h>
#include "vhost_index.h"

static siphash_key_t khttpd_vhost_index_key __read_mostly;

/**
 * khttpd_vhost_index_alloc() - an index without names
 * @room: how many names it is for, not 0
 *
 * Context: process. Return: the index, for kvfree(), or NULL.
 */
struct khttpd_vhost_index *khttpd_vhost_index_alloc(u32 room)
{
	u32 heads = roundup_pow_of_two(room);
	struct khttpd_vhost_index *index;
	size_t size = struct_size(index, names, room);

	get_random_once(&khttpd_vhost_index_key, sizeof(khttpd_vhost_index_key));
	index = kvzalloc(size_add(size, array_size(heads, sizeof(u32))), GFP_KERNEL_ACCOUNT);
	if (!index)
		return NULL;
	index->heads = (void *)index + size;
	index->mask = heads - 1;
	index->room = room;
	return index;
}

/* @to: room for @len bytes */
static void khttpd_vhost_index_lower(u8 *to, const u8 *from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		to[i] = from[i] | (from[i] >= 'A' && from[i] <= 'Z' ? 0x20 : 0);
}

static u32 *khttpd_vhost_index_head(const struct khttpd_vhost_index *index, const u8 *lower,
				    size_t len)
{
	return &index->heads[siphash(lower, len, &khttpd_vhost_index_key) & index->mask];
}

static u64 khttpd_vhost_index_depth(unsigned int dots)
{
	return BIT_ULL(min(dots, 63U));
}

/* The first of these that is @lower, which has no upper case. */
static const struct khttpd_vhost_name *
khttpd_vhost_index_name(const struct khttpd_vhost_index *index, const u8 *lower, size_t len,
			bool wild)
{
	const struct khttpd_vhost_name *name;
	u32 next;

	for (next = *khttpd_vhost_index_head(index, lower, len); next; next = name->next) {
		name = &index->names[next - 1];
		if (name->wild == wild && name->len == len &&
		    khttpd_names_same(name->text, lower, len))
			return name;
	}
	return NULL;
}

/* Behind those of the same hash value. The first site with a name has it. */
static void khttpd_vhost_index_enter(struct khttpd_vhost_index *index, struct khttpd_site *site,
				     const char *text, size_t len)
{
	struct khttpd_vhost_name *name = &index->names[index->used];
	u8 lower[KHTTPD_HOST_MAX];
	unsigned int dots = 0;
	size_t i;
	u32 *at;

	name->site = site;
	name->wild = text[0] == '*';
	name->text = text + name->wild;
	name->len = len - name->wild;
	khttpd_vhost_index_lower(lower, name->text, name->len);
	if (khttpd_vhost_index_name(index, lower, name->len, name->wild))
		return;
	for (i = 0; name->wild && i < name->len; i++)
		dots += lower[i] == '.';
	if (name->wild)
		index->depths |= khttpd_vhost_index_depth(dots);
	at = khttpd_vhost_index_head(index, lower, name->len);
	while (*at)
		at = &index->names[*at - 1].next;
	*at = ++index->used;
}

/**
 * khttpd_vhost_index_add() - enter all names of a site
 * @index: nobody else sees it yet
 * @site: the next one in the order of the list
 *
 * Context: process.
 */
void khttpd_vhost_index_add(struct khttpd_vhost_index *index, struct khttpd_site *site)
{
	const char *names = site->options.names, *name;
	size_t len;

	while ((len = khttpd_names_next(&names, &name)) && index->used < index->room)
		khttpd_vhost_index_enter(index, site, name, len);
}

/* The first site with a "*" for it. Each number of dots that a wildcard has is looked for once. */
static const struct khttpd_vhost_name *
khttpd_vhost_index_wildcard(const struct khttpd_vhost_index *index, const u8 *lower, size_t len)
{
	const struct khttpd_vhost_name *best = NULL, *name;
	unsigned int dots = 0;
	size_t i;

	for (i = len; i-- > 1;) {
		if (lower[i] != '.')
			continue;
		dots++;
		if (!(index->depths & khttpd_vhost_index_depth(dots)))
			continue;
		name = khttpd_vhost_index_name(index, lower + i, len - i, true);
		/* They stand in the order of their sites. */
		if (name && (!best || name < best))
			best = name;
	}
	return best;
}

/**
 * khttpd_vhost_index_find() - whose name is it?
 * @index: of all names
 * @host: as the request has it
 * @len: its length
 *
 * Context: RCU read side.
 * Return: the site as khttpd_vhost_search() says, without a reference, or NULL.
 */
struct khttpd_site *khttpd_vhost_index_find(const struct khttpd_vhost_index *index,
					    const u8 *host, size_t len)
{
	const struct khttpd_vhost_name *name = NULL;
	u8 lower[KHTTPD_HOST_MAX];
	size_t whole;

	whole = khttpd_names_bare(host, len);
	if (!whole)
		return NULL;
	/* No name is longer, and a wildcard's is shorter: the end of a host decides. */
	len = min(whole, sizeof(lower));
	khttpd_vhost_index_lower(lower, host + whole - len, len);
	if (whole == len)
		name = khttpd_vhost_index_name(index, lower, len, false);
	if (!name && index->depths)
		name = khttpd_vhost_index_wildcard(index, lower, len);
	return name ? name->site : NULL;
}
