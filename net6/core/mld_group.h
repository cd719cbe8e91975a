/* SPDX-License-Identifier: GPL-2.0 */
/* A group on an interface: what its members want, and what routers are still to be told about it.
 * These are RFC 3810 sections 4.2, 6.1 and 6.3 without time and packets. Pure.
 */
#ifndef _NET6_MLD_GROUP_H
#define _NET6_MLD_GROUP_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "mld_msg.h"

/* Sources per group and interface. With it every record fits the smallest MTU:
 * 40 (IPv6) + 8 (router alert) + 8 + 20 + 64 * 16 is 1100.
 */
#define NET6_MLD_SOURCES_MAX	64

enum net6_mld_mode {
	NET6_MLD_INCLUDE,
	NET6_MLD_EXCLUDE,
};

/**
 * struct net6_mld_filter - one member's wish, RFC 3810 section 3
 * @mode: enum net6_mld_mode
 * @n: entries of @sources, at most NET6_MLD_SOURCES_MAX
 * @sources: no address twice
 */
struct net6_mld_filter {
	enum net6_mld_mode	mode;
	unsigned int		n;
	const struct in6_addr	*sources;
};

/**
 * struct net6_mld_source - a source that somebody has named
 * @addr: it
 * @users: members that include and that exclude it
 * @left: reports in which its change is still to be told
 */
struct net6_mld_source {
	struct in6_addr	addr;
	u32		users[2];
	u8		left;
};

/**
 * struct net6_mld_group - a group on an interface
 * @list: in one of the interface's lists
 * @addr: group
 * @users: members in mode INCLUDE and EXCLUDE; both 0: it is left, and kept for the
 *	reports that say so
 * @mode_left: reports in which its change of mode is still to be told
 * @due: this change is being told of, in turn
 * @asked: a Query asks for it, to be answered at @respond_at
 * @reporter: MLDv1: the last Report on the link was ours (RFC 2710 section 4)
 * @n_asked: it asks for so many of @asked_sources only; 0: for the group as such
 * @n_sources: entries of @sources
 * @heard: MLDv1: another member has reported since this General Query (struct net6_mld.queries)
 * @respond_at: jiffies, their lower half
 * @node: in the tree of those asked for or, if it is left, in that of such
 * @asked_sources: which ones; NULL until a Query has named some
 * @sources: those that are named or whose change is to be told
 */
struct net6_mld_group {
	struct list_head	list;
	struct in6_addr		addr;
	u32			users[2];
	u8			mode_left;
	bool			due;
	bool			asked;
	bool			reporter;
	u8			n_asked;
	u8			n_sources;
	u32			heard;
	u32			respond_at;
	struct rb_node		node;
	struct in6_addr		*asked_sources;
	struct net6_mld_source	*sources;
};

static inline bool net6_mld_group_joined(const struct net6_mld_group *group)
{
	return group->users[NET6_MLD_INCLUDE] || group->users[NET6_MLD_EXCLUDE];
}

static inline enum net6_mld_mode net6_mld_group_mode(const struct net6_mld_group *group)
{
	return group->users[NET6_MLD_EXCLUDE] ? NET6_MLD_EXCLUDE : NET6_MLD_INCLUDE;
}

int net6_mld_group_change(struct net6_mld_group *group, const struct net6_mld_filter *old,
			  const struct net6_mld_filter *new, u8 robustness);
bool net6_mld_group_pending(const struct net6_mld_group *group);
void net6_mld_group_settle(struct net6_mld_group *group);
void net6_mld_group_ask(struct net6_mld_group *group, const u8 *sources, unsigned int n);
unsigned int net6_mld_put_change(struct net6_mld_group *group, u8 *buf, unsigned int room,
				 unsigned int *records, bool *full);
unsigned int net6_mld_put_current(struct net6_mld_group *group, u8 *buf, unsigned int room,
				  unsigned int *records, bool *full);
void net6_mld_group_destroy(struct net6_mld_group *group);

#endif /* _NET6_MLD_GROUP_H */
