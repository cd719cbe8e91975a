/* SPDX-License-Identifier: GPL-2.0 */
/* A site's rules: a line each, about paths. Pure: see pure.h. */
#ifndef _KHTTPD_RULES_H
#define _KHTTPD_RULES_H

#include "pure.h"

/* Longest text of rules, and most of them. */
#define KHTTPD_RULES_SIZE	4095
#define KHTTPD_RULES_MAX	256
/* Most seconds of an expires rule: ten years. */
#define KHTTPD_EXPIRES_MAX	315360000
/* Longest value of a cache rule. */
#define KHTTPD_CACHE_MAX	96
/* What is done for a path: of these the first that matches counts. */
#define KHTTPD_RULE_ACTIONS	(BIT(KHTTPD_RULE_SERVE) | BIT(KHTTPD_RULE_PASS) |		\
				 BIT(KHTTPD_RULE_DENY) | BIT(KHTTPD_RULE_STATUS) |		\
				 BIT(KHTTPD_RULE_REDIRECT) | BIT(KHTTPD_RULE_REWRITE))
/* Most header rules, and bytes of the longest of each field together, with CRLF: they may be in
 * one header.
 */
#define KHTTPD_ADDED_MAX	64
#define KHTTPD_ADDED_SIZE	512

enum khttpd_rule_kind {
	KHTTPD_RULE_SERVE,	/* PATTERN: files, and no rule below counts */
	KHTTPD_RULE_PASS,	/* PATTERN: is the server's */
	KHTTPD_RULE_DENY,	/* PATTERN: 403 */
	KHTTPD_RULE_STATUS,	/* PATTERN: the page about the web server */
	KHTTPD_RULE_REDIRECT,	/* STATUS PATTERN TARGET: to another place */
	KHTTPD_RULE_REWRITE,	/* PATTERN TARGET: as if that path had been asked for */
	KHTTPD_RULE_COOKIE,	/* NAME: with that cookie it is the server's */
	KHTTPD_RULE_METHOD,	/* NAME: with that method it is the server's */
	KHTTPD_RULE_ALLOW,	/* NET: its clients are served */
	KHTTPD_RULE_BLOCK,	/* NET: its clients are not: 403 */
	KHTTPD_RULE_CACHE,	/* PATTERN VALUE: Cache-Control of files */
	KHTTPD_RULE_EXPIRES,	/* PATTERN SECONDS: Expires of files */
	KHTTPD_RULE_ERROR,	/* STATUS PATH: the page for an error */
	KHTTPD_RULE_FALLBACK,	/* PATTERN TARGET: the file where there is none */
	KHTTPD_RULE_HEADER,	/* PATTERN NAME: VALUE: a field of replies with files */
	KHTTPD_RULE_KINDS
};

/**
 * struct khttpd_rule - one line
 * @kind: enum khttpd_rule_kind
 * @status: of an error or a redirect rule
 * @word: offset of PATTERN, NAME or PATH in the text
 * @word_len: its length
 * @value: offset of VALUE
 * @value_len: its length, or 0
 * @seconds: of an expires rule
 * @bits: of an allow or block rule: length of the prefix
 * @address: of these: an IPv6 address, or an IPv4-mapped one (RFC 4291 section 2.5.5.2)
 */
struct khttpd_rule {
	u8 kind;
	u16 status;
	u16 word;
	u16 word_len;
	u16 value;
	u16 value_len;
	u32 seconds;
	u8 bits;
	u8 address[16];
};

/**
 * struct khttpd_rules - all lines, in their order
 * @kinds: BIT(enum khttpd_rule_kind) of those there are
 * @count: how many
 * @rule: the rules
 * @text: where their words are
 */
struct khttpd_rules {
	u16 kinds;
	u16 count;
	struct khttpd_rule rule[KHTTPD_RULES_MAX];
	char text[KHTTPD_RULES_SIZE + 1];
};

bool khttpd_rules_parse(struct khttpd_rules *rules, const char *text,
			size_t len);
bool khttpd_rules_match(const struct khttpd_rules *rules, const struct khttpd_rule *rule,
			const char *name, size_t len);
const struct khttpd_rule *khttpd_rules_first(const struct khttpd_rules *rules,
					     unsigned int kinds, const char *name, size_t len);
bool khttpd_rules_serve(const struct khttpd_rules *rules, const char *name, size_t len);
enum khttpd_rule_kind khttpd_rules_action(const struct khttpd_rules *rules,
					  const char *name, size_t len);
bool khttpd_rules_cookie(const struct khttpd_rules *rules, const u8 *value,
			 size_t len);
const char *khttpd_rules_cache(const struct khttpd_rules *rules,
			       const char *name, size_t len, size_t *value_len);
bool khttpd_rules_method(const struct khttpd_rules *rules, const u8 *method,
			 size_t len);
bool khttpd_rules_expires(const struct khttpd_rules *rules, const char *name,
			  size_t len, u32 *seconds);
const char *khttpd_rules_error(const struct khttpd_rules *rules, u16 status,
			       size_t *len);

#endif /* _KHTTPD_RULES_H */
