// SPDX-License-Identifier: GPL-2.0
/* A line of a site's rules: words, and what each kind of rule has behind its pattern. Pure: see
 * pure.h.
 */
#include "access.h"
#include "chars.h"
#include "ruleline.h"
#include "target.h"

static const char * const rule_names[KHTTPD_RULE_KINDS] = {
	[KHTTPD_RULE_SERVE] = "serve",
	[KHTTPD_RULE_PASS] = "pass",
	[KHTTPD_RULE_DENY] = "deny",
	[KHTTPD_RULE_STATUS] = "status",
	[KHTTPD_RULE_REDIRECT] = "redirect",
	[KHTTPD_RULE_REWRITE] = "rewrite",
	[KHTTPD_RULE_COOKIE] = "cookie",
	[KHTTPD_RULE_METHOD] = "method",
	[KHTTPD_RULE_ALLOW] = "allow",
	[KHTTPD_RULE_BLOCK] = "block",
	[KHTTPD_RULE_CACHE] = "cache",
	[KHTTPD_RULE_EXPIRES] = "expires",
	[KHTTPD_RULE_ERROR] = "error",
	[KHTTPD_RULE_FALLBACK] = "fallback",
	[KHTTPD_RULE_HEADER] = "header",
};

/* The next word of a line. Return: its length, 0 at the end. */
static size_t next_word(const char *s, size_t len, size_t *at, size_t *word)
{
	while (*at < len && is_space(s[*at]))
		(*at)++;
	*word = *at;
	while (*at < len && !is_space(s[*at]))
		(*at)++;
	return *at - *word;
}

static int kind_of(const char *word, size_t len)
{
	int i;

	for (i = 0; i < KHTTPD_RULE_KINDS; i++) {
		if (strlen(rule_names[i]) == len &&
		    !memcmp(rule_names[i], word, len))
			return i;
	}
	return -1;
}

/* The status of an error, or one that sends clients elsewhere (RFC 9110 section 15.4). */
static bool is_status(const struct khttpd_rule *rule, const char *s, size_t len, u16 *status)
{
	if (len != 3 || !is_digit(s[0]) || !is_digit(s[1]) || !is_digit(s[2]))
		return false;
	*status = (s[0] - '0') * 100 + (s[1] - '0') * 10 + s[2] - '0';
	if (rule->kind == KHTTPD_RULE_ERROR)
		return *status >= 400 && *status < 600;
	return (*status >= 301 && *status <= 303) || *status == 307 || *status == 308;
}

/* What stands behind the word must be fit for a header field. */
static bool take_value(struct khttpd_rule *rule, const char *s, size_t len,
		       size_t at)
{
	size_t i;

	while (at < len && is_space(s[at]))
		at++;
	while (len > at && is_space(s[len - 1]))
		len--;
	for (i = at; i < len; i++) {
		if (s[i] < ' ' || s[i] > '~')
			return false;
	}
	rule->value = at;
	rule->value_len = len - at;
	return true;
}

static bool take_seconds(struct khttpd_rule *rule, const char *s)
{
	u32 seconds = 0;
	u16 i;

	for (i = 0; i < rule->value_len; i++) {
		if (!is_digit(s[rule->value + i]))
			return false;
		seconds = seconds * 10 + s[rule->value + i] - '0';
		if (seconds > KHTTPD_EXPIRES_MAX)
			return false;
	}
	rule->seconds = seconds;
	return rule->value_len;
}

/* Does khttpd write that field by itself, or judge by it? */
static bool ruleline_is_own_field(const u8 *s, size_t len)
{
	static const char * const own[] = {
		"accept-ranges", "allow", "cache-control", "connection", "content-encoding",
		"content-length", "content-range", "content-type", "date", "etag", "expires",
		"keep-alive", "last-modified", "location", "retry-after", "server",
		"strict-transport-security", "te", "trailer", "transfer-encoding", "upgrade",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++) {
		if (is_word(s, len, own[i], strlen(own[i])))
			return true;
	}
	return false;
}

/* RFC 9112 section 5: a name, ":" without space in front of it, and here some value. */
static bool ruleline_is_added_field(const char *s, size_t len)
{
	size_t n = 0, at;

	while (n < len && khttpd_class[(u8)s[n]] & C_TOKEN)
		n++;
	if (!n || n == len || s[n] != ':' || ruleline_is_own_field((const u8 *)s, n))
		return false;
	at = n + 1;
	while (at < len && is_space(s[at]))
		at++;
	return at < len;
}

/* One line of @len bytes that begins with @rule's kind. */
static bool take_rule(struct khttpd_rule *rule, const char *s, size_t len,
		      size_t at)
{
	size_t word;

	if (rule->kind == KHTTPD_RULE_ERROR || rule->kind == KHTTPD_RULE_REDIRECT) {
		size_t n = next_word(s, len, &at, &word);

		if (!is_status(rule, s + word, n, &rule->status))
			return false;
	}
	rule->word_len = next_word(s, len, &at, &word);
	rule->word = word;
	if (!rule->word_len || !take_value(rule, s, len, at))
		return false;
	switch (rule->kind) {
	case KHTTPD_RULE_COOKIE:
	case KHTTPD_RULE_METHOD:
		return !rule->value_len;
	case KHTTPD_RULE_ALLOW:
	case KHTTPD_RULE_BLOCK:
		return !rule->value_len &&
		       khttpd_access_parse(s + word, rule->word_len, rule->address, &rule->bits);
	case KHTTPD_RULE_EXPIRES:
		if (!take_seconds(rule, s))
			return false;
		break;
	case KHTTPD_RULE_CACHE:
		if (!rule->value_len || rule->value_len > KHTTPD_CACHE_MAX)
			return false;
		break;
	case KHTTPD_RULE_REDIRECT:
	case KHTTPD_RULE_REWRITE:
	case KHTTPD_RULE_FALLBACK:
		return khttpd_target_valid(rule, s);
	case KHTTPD_RULE_HEADER:
		if (!ruleline_is_added_field(s + rule->value, rule->value_len))
			return false;
		break;
	default:
		if (rule->value_len)
			return false;
	}
	return s[word] == '/' || (s[word] == '*' &&
				  rule->kind != KHTTPD_RULE_ERROR);
}

static size_t ruleline_field_name(const char *text, const struct khttpd_rule *rule)
{
	return (const char *)memchr(text + rule->value, ':', rule->value_len) - text - rule->value;
}

/**
 * khttpd_ruleline_same_field() - are two header rules about the same field?
 * @text: where their words are
 * @a: the one
 * @b: the other
 */
bool khttpd_ruleline_same_field(const char *text, const struct khttpd_rule *a,
				const struct khttpd_rule *b)
{
	size_t len = ruleline_field_name(text, a), i;

	if (ruleline_field_name(text, b) != len)
		return false;
	for (i = 0; i < len; i++) {
		u8 c = text[a->value + i], d = text[b->value + i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if (d >= 'A' && d <= 'Z')
			d |= 0x20;
		if (c != d)
			return false;
	}
	return true;
}

/**
 * khttpd_ruleline_take() - read a line
 * @rule: result, all zero before
 * @text: rules; offsets count from its first byte
 * @end: where the line ends, its newline or the end of the text
 * @at: where it begins
 * @empty: set if it has no rule: it is blank or a comment
 *
 * Return: false if it is neither a rule nor empty.
 */
bool khttpd_ruleline_take(struct khttpd_rule *rule, const char *text, size_t end, size_t at,
			  bool *empty)
{
	size_t word, n = next_word(text, end, &at, &word);
	int kind;

	*empty = !n || text[word] == '#';
	if (*empty)
		return true;
	kind = kind_of(text + word, n);
	if (kind < 0)
		return false;
	rule->kind = kind;
	return take_rule(rule, text, end, at);
}
