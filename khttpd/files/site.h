/* SPDX-License-Identifier: GPL-2.0 */
/* A site: what is served and as whom; the limits of all; finding sites, and what the
 * log gets of their replies. Listeners are in conn.h, rules by path in rules.h.
 */
#ifndef _KHTTPD_SITE_H
#define _KHTTPD_SITE_H

#include <linux/list.h>
#include <linux/path.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include "../http/names.h"
#include "../http/parse.h"
#include "../http/rules.h"

struct cred;
struct sock;

/* Longest site name, NUL included. */
#define KHTTPD_SITE_NAME	64
/* Longest index file name, NUL included. */
#define KHTTPD_INDEX_NAME	64
/* Longest media type that a site's own table may give. */
#define KHTTPD_TYPE_MAX		96

/**
 * struct khttpd_limits - what an administrator may set; read without locks
 * @max_connections: connections at once, all listeners together
 * @head_timeout: ms from the first byte (or accept) to the end of a head
 * @idle_timeout: ms between a reply and the next request
 * @send_timeout: ms in which a peer must take some of its reply
 * @send_rate: bytes a second that it must take in that time, at least one in all
 * @linger_timeout: ms that a refused peer has to close
 * @stop_timeout: ms that replies under way have when their listener stops
 * @cache_entries: files kept open
 * @cache_idle: ms after which an unused file is closed
 * @handover_queue: connections that wait for a server's accept(), a listener
 * @max_per_address: connections at once of a client's address; 0 for any number
 * @request_rate: requests a second of a client's address; 0 for any number
 * @request_burst: how many of them at once after a pause
 */
struct khttpd_limits {
	u32 max_connections;
	u32 head_timeout;
	u32 idle_timeout;
	u32 send_timeout;
	u32 send_rate;
	u32 linger_timeout;
	u32 stop_timeout;
	u32 cache_entries;
	u32 cache_idle;
	u32 handover_queue;
	u32 max_per_address;
	u32 request_rate;
	u32 request_burst;
};

extern struct khttpd_limits khttpd_limits;

/**
 * struct khttpd_options - what a site does beyond serving files
 * @index: name of the file that stands for its directory
 * @listing: directories without index file are listed
 * @precompressed: FILE.br, FILE.zst and FILE.gz stand in for FILE
 * @rules: rules by path, or NULL
 * @types: lines of "TYPE EXTENSION..." before the built-in table, or NULL
 * @types_len: their length
 * @names: of a virtual host
 */
struct khttpd_options {
	char index[KHTTPD_INDEX_NAME];
	bool listing;
	bool precompressed;
	struct khttpd_rules *rules;
	char *types;
	size_t types_len;
	char names[KHTTPD_NAMES_SIZE];
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
 * @vhosts: sites that stand behind this one (vhost.c), RCU
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
	struct list_head vhosts;
	struct rcu_head rcu;
};

/* site.c */
struct khttpd_site *khttpd_site_create(const void *id, const char *name,
				       const char *docroot,
				       const struct khttpd_options *options,
				       kuid_t uid, kgid_t gid);
struct khttpd_site *khttpd_site_get(struct khttpd_site *site);
void khttpd_site_put(struct khttpd_site *site);

/* configfs.c */
int khttpd_configfs_init(void);
void khttpd_configfs_exit(void);
struct khttpd_site *khttpd_configfs_find(const char *name);

/* log.c */
int khttpd_log_init(void);
void khttpd_log_exit(void);
void khttpd_log_reply(const struct sock *sk, const struct khttpd_site *site,
		      const struct khttpd_request *req, const u8 *head, u16 status,
		      u64 bytes);
extern bool khttpd_log_on;

/* As khttpd_log_reply(), which is seldom of use. */
static inline void khttpd_log(const struct sock *sk, const struct khttpd_site *site,
			      const struct khttpd_request *req, const u8 *head,
			      u16 status, u64 bytes)
{
	if (unlikely(READ_ONCE(khttpd_log_on)))
		khttpd_log_reply(sk, site, req, head, status, bytes);
}

#endif /* _KHTTPD_SITE_H */
