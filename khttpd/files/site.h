/* SPDX-License-Identifier: GPL-2.0 */
/* A site: what is served and as whom. Listeners are in conn.h, rules by path in rules.h. */
#ifndef _KHTTPD_SITE_H
#define _KHTTPD_SITE_H

#include <linux/list.h>
#include <linux/path.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include "../http/https.h"
#include "../http/names.h"
#include "../http/parse.h"
#include "../http/prefixes.h"
#include "../http/rules.h"

struct cred;
struct khttpd_vhost_index;

/* Longest site name, NUL included. */
#define KHTTPD_SITE_NAME	64
/* Longest index file name, NUL included. */
#define KHTTPD_INDEX_NAME	64
/* Longest media type that a site's own table may give. */
#define KHTTPD_TYPE_MAX		96

/**
 * struct khttpd_options - what a site does beyond serving files
 * @index: name of the file that stands for its directory
 * @listing: directories without index file are listed
 * @etag_version: entity tags tell content apart whose time was set back
 * @precompressed: FILE.br, FILE.zst and FILE.gz stand in for FILE
 * @until_closed: it ends with the last server that it was attached to
 * @rules: rules by path, or NULL
 * @types: lines of "TYPE EXTENSION..." before the built-in table, or NULL
 * @types_len: their length
 * @names: of a virtual host
 * @hsts: value of Strict-Transport-Security, or empty
 * @proxies: who says in front of a connection for whom it is (proxied.c)
 * @send_proxy: a server behind its listeners is told so
 */
struct khttpd_options {
	char index[KHTTPD_INDEX_NAME];
	bool listing;
	bool etag_version;
	bool precompressed;
	bool until_closed;
	struct khttpd_rules *rules;
	char *types;
	size_t types_len;
	char names[KHTTPD_NAMES_SIZE];
	char hsts[KHTTPD_HSTS_SIZE];
	struct khttpd_prefixes proxies;
	bool send_proxy;
};

/**
 * struct khttpd_site - a running site; does not change: another one takes its place
 * @refs: held by its owner in configfs, listeners, connections' work
 * @id: the same for all that took each other's place; to be compared
 * @root: document root
 * @cred: with which files are looked up and opened; has no capabilities
 * @name: for messages and the log
 * @options: what else it does; owned
 * @closed: no entry is cached any more
 * @served: a server has been attached to it; interpose lock
 * @vhosts: sites that stand behind this one (vhost.c), RCU
 * @index: their names, RCU; NULL: there are few, or there is no memory for it
 * @judges: one behind it may refuse clients by their addresses
 * @rcu: for its end
 */
struct khttpd_site {
	refcount_t refs;
	const void *id;
	struct path root;
	const struct cred *cred;
	char name[KHTTPD_SITE_NAME];
	struct khttpd_options options;
	bool closed;
	bool served;
	struct list_head vhosts;
	struct khttpd_vhost_index __rcu *index;
	bool judges;
	struct rcu_head rcu;
};

/* site.c */
struct khttpd_site *khttpd_site_create(const void *id, const char *name,
				       const char *docroot,
				       const struct khttpd_options *options,
				       kuid_t uid, kgid_t gid);
struct khttpd_site *khttpd_site_move(const struct khttpd_site *old, const struct path *root);
struct khttpd_site *khttpd_site_get(struct khttpd_site *site);
void khttpd_site_put(struct khttpd_site *site);

#endif /* _KHTTPD_SITE_H */
