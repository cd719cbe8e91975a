// SPDX-License-Identifier: GPL-2.0
/* A group on an interface: what its members want, and what routers are still to be told about it.
 * These are RFC 3810 sections 4.2, 6.1 and 6.3 without time and packets. Pure.
 */
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "mld_group.h"

/* RFC 3810 4.2. With a member in EXCLUDE mode, a source is unwanted if all of those exclude it
 * and nobody includes it. Else it is wanted if somebody includes it.
 */
static bool net6_mld_wanted(const struct net6_mld_group *group, const struct net6_mld_source *s)
{
	if (net6_mld_group_mode(group) == NET6_MLD_INCLUDE)
		return s->users[NET6_MLD_INCLUDE];
	return s->users[NET6_MLD_INCLUDE] ||
	       s->users[NET6_MLD_EXCLUDE] < group->users[NET6_MLD_EXCLUDE];
}

/* Is it in the source list that goes with the group's mode? */
static bool net6_mld_listed(const struct net6_mld_group *group, const struct net6_mld_source *s)
{
	return net6_mld_wanted(group, s) == (net6_mld_group_mode(group) == NET6_MLD_INCLUDE);
}

static struct net6_mld_source *net6_mld_find(const struct net6_mld_group *group,
					     const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < group->n_sources; i++)
		if (!memcmp(&group->sources[i].addr, addr, sizeof(*addr)))
			return &group->sources[i];
	return NULL;
}

/* Room for sources that are new; the table is only ever as large as its bound. */
static int net6_mld_reserve(struct net6_mld_group *group, const struct net6_mld_filter *filter)
{
	unsigned int i;

	if (!filter || !filter->n)
		return 0;
	if (!group->sources)
		group->sources = kcalloc(NET6_MLD_SOURCES_MAX, sizeof(*group->sources),
					 GFP_ATOMIC | __GFP_ACCOUNT);
	if (!group->sources)
		return -ENOMEM;
	for (i = 0; i < filter->n; i++) {
		if (net6_mld_find(group, &filter->sources[i]))
			continue;
		if (group->n_sources == NET6_MLD_SOURCES_MAX) {
			net6_mld_group_settle(group);
			return -ENOBUFS;
		}
		group->sources[group->n_sources++] = (struct net6_mld_source) {
			.addr = filter->sources[i],
		};
	}
	return 0;
}

static void net6_mld_count(struct net6_mld_group *group, const struct net6_mld_filter *filter,
			   int by)
{
	unsigned int i;

	if (!filter)
		return;
	group->users[filter->mode] += by;
	for (i = 0; i < filter->n; i++)
		net6_mld_find(group, &filter->sources[i])->users[filter->mode] += by;
}

/**
 * net6_mld_group_change() - a member comes, goes or changes its mind
 * @group: group
 * @old: what it wanted till now, NULL if it joins
 * @new: what it wants, NULL if it leaves
 * @robustness: how often routers are to be told
 *
 * RFC 3810 6.1. Context: whoever protects the group.
 * Return: 0, -ENOMEM, or -ENOBUFS with too many sources; then nothing has changed.
 */
int net6_mld_group_change(struct net6_mld_group *group, const struct net6_mld_filter *old,
			  const struct net6_mld_filter *new, u8 robustness)
{
	enum net6_mld_mode was = net6_mld_group_mode(group);
	bool wanted[NET6_MLD_SOURCES_MAX];
	unsigned int i;
	int err;

	err = net6_mld_reserve(group, new);
	if (err)
		return err;
	for (i = 0; i < group->n_sources; i++)
		wanted[i] = net6_mld_wanted(group, &group->sources[i]);
	net6_mld_count(group, old, -1);
	net6_mld_count(group, new, 1);

	if (net6_mld_group_mode(group) != was) {
		/* The record of the new mode carries the whole list. */
		group->mode_left = robustness;
		for (i = 0; i < group->n_sources; i++)
			group->sources[i].left = 0;
	} else {
		for (i = 0; i < group->n_sources; i++)
			if (net6_mld_wanted(group, &group->sources[i]) != wanted[i])
				group->sources[i].left = robustness;
	}
	net6_mld_group_settle(group);
	return 0;
}

/**
 * net6_mld_group_settle() - forget sources that nobody names and nothing is told of
 * @group: group
 *
 * Context: whoever protects the group.
 */
void net6_mld_group_settle(struct net6_mld_group *group)
{
	unsigned int i, n = 0;

	for (i = 0; i < group->n_sources; i++) {
		const struct net6_mld_source *s = &group->sources[i];

		if (s->users[0] || s->users[1] || s->left)
			group->sources[n++] = *s;
	}
	group->n_sources = n;
}

/**
 * net6_mld_group_pending() - is a change still to be told?
 * @group: group
 *
 * Context: whoever protects the group. Return: true or false.
 */
bool net6_mld_group_pending(const struct net6_mld_group *group)
{
	unsigned int i;

	if (group->mode_left)
		return true;
	for (i = 0; i < group->n_sources; i++)
		if (group->sources[i].left)
			return true;
	return false;
}

static bool net6_mld_is_asked(const struct net6_mld_group *group, const struct in6_addr *addr)
{
	unsigned int i;

	for (i = 0; i < group->n_asked; i++)
		if (!memcmp(&group->asked_sources[i], addr, sizeof(*addr)))
			return true;
	return false;
}

/**
 * net6_mld_group_ask() - a Query asks for this group
 * @group: group
 * @sources: it asks for these only; 16 bytes each
 * @n: sources, 0 if it asks for the group as such
 *
 * RFC 3810 6.2, rules 3 to 5: this adds to what is asked for already. Beyond the bound, or
 * without memory, the group as such is answered for, which says more.
 * Context: whoever protects the group.
 */
void net6_mld_group_ask(struct net6_mld_group *group, const u8 *sources, unsigned int n)
{
	bool whole = !n || (group->asked && !group->n_asked);
	struct in6_addr addr;
	unsigned int i;

	group->asked = true;
	if (!whole && !group->asked_sources)
		group->asked_sources = kcalloc(NET6_MLD_SOURCES_MAX, sizeof(addr), GFP_ATOMIC);
	if (!group->asked_sources)
		whole = true;
	for (i = 0; i < n && !whole; i++) {
		memcpy(&addr, sources + 16 * i, sizeof(addr));
		if (net6_mld_is_asked(group, &addr))
			continue;
		if (group->n_asked == NET6_MLD_SOURCES_MAX)
			whole = true;
		else
			group->asked_sources[group->n_asked++] = addr;
	}
	if (whole)
		group->n_asked = 0;
}

/* A record with those sources for which @pick holds. Without any, nothing if @needs. */
static unsigned int net6_mld_put(struct net6_mld_group *group, enum net6_mld_record type,
				 bool (*pick)(const struct net6_mld_group *group,
					      const struct net6_mld_source *s),
				 bool needs, u8 *buf, unsigned int room, bool *full)
{
	unsigned int i, n = 0;

	for (i = 0; i < group->n_sources; i++)
		n += pick(group, &group->sources[i]);
	if (needs && !n)
		return 0;
	if (room < NET6_MLD_RECORD_LEN + 16 * n) {
		*full = true;
		return 0;
	}
	net6_mld_record_put(buf, type, &group->addr, n);
	buf += NET6_MLD_RECORD_LEN;
	for (i = 0; i < group->n_sources; i++) {
		if (!pick(group, &group->sources[i]))
			continue;
		memcpy(buf, &group->sources[i].addr, 16);
		buf += 16;
	}
	return NET6_MLD_RECORD_LEN + 16 * n;
}

static bool net6_mld_allowed(const struct net6_mld_group *group, const struct net6_mld_source *s)
{
	return s->left && net6_mld_wanted(group, s);
}

static bool net6_mld_blocked(const struct net6_mld_group *group, const struct net6_mld_source *s)
{
	return s->left && !net6_mld_wanted(group, s);
}

static void net6_mld_told(struct net6_mld_group *group)
{
	unsigned int i;

	if (group->mode_left) {
		group->mode_left--;
		return;
	}
	for (i = 0; i < group->n_sources; i++)
		if (group->sources[i].left)
			group->sources[i].left--;
}

/**
 * net6_mld_put_change() - write the records of a State Change Report
 * @group: group; its counters go down when it returns without @full
 * @buf: where to
 * @room: bytes there
 * @records: how many were written is added
 * @full: set if they do not fit; nothing was written then
 *
 * RFC 3810 6.1: the new mode with its list, or ALLOW and BLOCK.
 * Context: whoever protects the group. Return: bytes written.
 */
unsigned int net6_mld_put_change(struct net6_mld_group *group, u8 *buf, unsigned int room,
				 unsigned int *records, bool *full)
{
	bool exclude = net6_mld_group_mode(group) == NET6_MLD_EXCLUDE;
	unsigned int allow = 0, block = 0;

	if (group->mode_left) {
		allow = net6_mld_put(group, exclude ? NET6_MLD_TO_EX : NET6_MLD_TO_IN,
				     net6_mld_listed, false, buf, room, full);
	} else {
		allow = net6_mld_put(group, NET6_MLD_ALLOW, net6_mld_allowed, true, buf, room,
				     full);
		if (!*full)
			block = net6_mld_put(group, NET6_MLD_BLOCK, net6_mld_blocked, true,
					     buf + allow, room - allow, full);
	}
	if (*full)
		return 0;
	*records += !!allow + !!block;
	net6_mld_told(group);
	net6_mld_group_settle(group);
	return allow + block;
}

/* Those of the sources asked for that are wanted. One that nobody has named is so in mode
 * EXCLUDE.
 */
static unsigned int net6_mld_put_asked(struct net6_mld_group *group, u8 *buf, unsigned int room,
				       bool *full)
{
	bool others = net6_mld_group_mode(group) == NET6_MLD_EXCLUDE;
	unsigned int i, n = 0;

	if (room < NET6_MLD_RECORD_LEN + 16 * group->n_asked) {
		*full = true;
		return 0;
	}
	for (i = 0; i < group->n_asked; i++) {
		const struct net6_mld_source *s = net6_mld_find(group, &group->asked_sources[i]);

		if (s ? net6_mld_wanted(group, s) : others)
			memcpy(buf + NET6_MLD_RECORD_LEN + 16 * n++, &group->asked_sources[i], 16);
	}
	if (!n)
		return 0;
	net6_mld_record_put(buf, NET6_MLD_IS_IN, &group->addr, n);
	return NET6_MLD_RECORD_LEN + 16 * n;
}

/**
 * net6_mld_put_current() - write the record that answers a Query
 * @group: joined group; what was asked for is forgotten when it returns without @full
 * @buf: where to
 * @room: bytes there
 * @records: how many were written is added
 * @full: set if it does not fit
 *
 * RFC 3810 6.3. Context: whoever protects the group. Return: bytes written, 0 too if
 * none of the sources asked for is wanted.
 */
unsigned int net6_mld_put_current(struct net6_mld_group *group, u8 *buf, unsigned int room,
				  unsigned int *records, bool *full)
{
	bool exclude = net6_mld_group_mode(group) == NET6_MLD_EXCLUDE;
	unsigned int len;

	if (group->n_asked)
		len = net6_mld_put_asked(group, buf, room, full);
	else
		len = net6_mld_put(group, exclude ? NET6_MLD_IS_EX : NET6_MLD_IS_IN,
				   net6_mld_listed, false, buf, room, full);
	if (*full)
		return 0;
	*records += !!len;
	group->asked = false;
	group->n_asked = 0;
	return len;
}

/**
 * net6_mld_group_destroy() - end of a group
 * @group: out of its list; freed
 *
 * Context: any.
 */
void net6_mld_group_destroy(struct net6_mld_group *group)
{
	kfree(group->asked_sources);
	kfree(group->sources);
	kfree(group);
}
