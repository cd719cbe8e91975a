// SPDX-License-Identifier: GPL-2.0
/* Rules by path: which requests are the server's, which are refused, what caches are told, which
 * page stands for an error. The first that matches counts. A pattern is a path with "*" for any
 * bytes, "/" included. One that does not begin with "/" or "*" matches nothing and is refused.
 * One that ends in "/" means everything below.
 */
#include "chars.h"
#include "rules.h"

static const char * const khttpd_rule_names[KHTTPD_RULE_KINDS] = {
	[KHTTPD_RULE_SERVE] = "serve",
	[KHTTPD_RULE_PASS] = "pass",
	[KHTTPD_RULE_DENY] = "deny",
	[KHTTPD_RULE_STATUS] = "status",
	[KHTTPD_RULE_COOKIE] = "cookie",
	[KHTTPD_RULE_METHOD] = "method",
	[KHTTPD_RULE_CACHE] = "cache",
	[KHTTPD_RULE_EXPIRES] = "expires",
	[KHTTPD_RULE_ERROR] = "error",
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
		if (strlen(khttpd_rule_names[i]) == len &&
		    !memcmp(khttpd_rule_names[i], word, len))
			return i;
	}
	return -1;
}

static bool is_status(const char *s, size_t len, u16 *status)
{
	if (len != 3 || (s[0] != '4' && s[0] != '5') || !is_digit(s[1]) ||
	    !is_digit(s[2]))
		return false;
	*status = (s[0] - '0') * 100 + (s[1] - '0') * 10 + s[2] - '0';
	return true;
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

/* One line of @len bytes that begins with @rule's kind. */
static bool take_rule(struct khttpd_rule *rule, const char *s, size_t len,
		      size_t at)
{
	size_t word;

	if (rule->kind == KHTTPD_RULE_ERROR) {
		size_t n = next_word(s, len, &at, &word);

		if (!is_status(s + word, n, &rule->status))
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
	case KHTTPD_RULE_EXPIRES:
		if (!take_seconds(rule, s))
			return false;
		break;
	case KHTTPD_RULE_CACHE:
		if (!rule->value_len || rule->value_len > KHTTPD_CACHE_MAX)
			return false;
		break;
	default:
		if (rule->value_len)
			return false;
	}
	return s[word] == '/' || (s[word] == '*' &&
				  rule->kind != KHTTPD_RULE_ERROR);
}

/**
 * khttpd_rules_parse() - read rules
 * @rules: result
 * @text: lines; empty ones and those that begin with "#" are skipped
 * @len: length of @text
 *
 * Return: false if a line is not a rule, or there are too many.
 */
bool khttpd_rules_parse(struct khttpd_rules *rules, const char *text,
			size_t len)
{
	size_t at = 0;

	if (len > KHTTPD_RULES_SIZE)
		return false;
	memcpy(rules->text, text, len);
	rules->text[len] = '\0';
	rules->kinds = 0;
	rules->count = 0;
	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t next = end ? end - text : len, n, word;
		struct khttpd_rule rule = {};
		int kind;

		n = next_word(text, next, &at, &word);
		if (n && text[word] != '#') {
			kind = kind_of(text + word, n);
			if (kind < 0 || rules->count == KHTTPD_RULES_MAX)
				return false;
			rule.kind = kind;
			if (!take_rule(&rule, text, next, at))
				return false;
			rules->kinds |= BIT(kind);
			rules->rule[rules->count++] = rule;
		}
		at = next + 1;
	}
	return true;
}

/* Does the pattern match "/" and @name? Linear in their product. */
static bool pattern_matches(const char *pattern, size_t pattern_len,
			    const char *name, size_t len)
{
	size_t p = 0, i = 0, star = 0, mark = 0;
	bool below = pattern[pattern_len - 1] == '/', starred = false;

	/* Index 0 of what is matched is the "/", the rest is @name. */
	while (i <= len) {
		char c = i ? name[i - 1] : '/';

		if (p < pattern_len && pattern[p] == '*') {
			starred = true;
			star = ++p;
			mark = i;
			continue;
		}
		if (p < pattern_len && pattern[p] == c) {
			p++;
			i++;
			if (p == pattern_len && below)
				return true;
			continue;
		}
		if (!starred)
			return false;
		p = star;
		i = ++mark;
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}

static bool rule_matches(const struct khttpd_rules *rules,
			 const struct khttpd_rule *rule, const char *name,
			 size_t len)
{
	return pattern_matches(rules->text + rule->word, rule->word_len, name,
			       len);
}

/* The first of serve, pass, deny and status that matches; KHTTPD_RULE_KINDS for none. */
static enum khttpd_rule_kind first_action(const struct khttpd_rules *rules, const char *name,
					  size_t len)
{
	int i;

	for (i = 0; i < rules->count; i++) {
		if (rules->rule[i].kind <= KHTTPD_RULE_STATUS &&
		    rule_matches(rules, &rules->rule[i], name, len))
			return rules->rule[i].kind;
	}
	return KHTTPD_RULE_KINDS;
}

/**
 * khttpd_rules_serve() - does a rule say that a path's file is sent?
 * @rules: a site's rules, or NULL
 * @name: normalised path
 * @len: its length
 *
 * Return: false if none says so, or another comes first.
 */
bool khttpd_rules_serve(const struct khttpd_rules *rules, const char *name, size_t len)
{
	return rules && rules->kinds & BIT(KHTTPD_RULE_SERVE) &&
	       first_action(rules, name, len) == KHTTPD_RULE_SERVE;
}

/**
 * khttpd_rules_action() - whose is a path?
 * @rules: a site's rules, or NULL
 * @name: normalised path
 * @len: its length
 *
 * Return: KHTTPD_RULE_SERVE, _PASS, _DENY or _STATUS.
 */
enum khttpd_rule_kind khttpd_rules_action(const struct khttpd_rules *rules,
					  const char *name, size_t len)
{
	enum khttpd_rule_kind kind;

	if (!rules || !(rules->kinds & (BIT(KHTTPD_RULE_PASS) |
					BIT(KHTTPD_RULE_DENY) |
					BIT(KHTTPD_RULE_STATUS))))
		return KHTTPD_RULE_SERVE;
	kind = first_action(rules, name, len);
	return kind == KHTTPD_RULE_KINDS ? KHTTPD_RULE_SERVE : kind;
}

/**
 * khttpd_rules_cookie() - is there a cookie that makes it the server's?
 * @rules: a site's rules, or NULL
 * @value: value of a Cookie field
 * @len: its length
 */
bool khttpd_rules_cookie(const struct khttpd_rules *rules, const u8 *value,
			 size_t len)
{
	size_t at = 0, end;
	int i;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_COOKIE)))
		return false;
	while (at < len) {
		while (at < len && (is_space(value[at]) || value[at] == ';'))
			at++;
		for (end = at; end < len && value[end] != '=' &&
		     value[end] != ';'; end++)
			;
		for (i = 0; i < rules->count; i++) {
			const struct khttpd_rule *rule = &rules->rule[i];

			if (rule->kind == KHTTPD_RULE_COOKIE &&
			    rule->word_len == end - at &&
			    !memcmp(rules->text + rule->word, value + at,
				    end - at))
				return true;
		}
		while (end < len && value[end] != ';')
			end++;
		at = end;
	}
	return false;
}

/**
 * khttpd_rules_method() - is a method one that makes it the server's?
 * @rules: a site's rules, or NULL
 * @method: the method, in the case that it came in
 * @len: its length
 */
bool khttpd_rules_method(const struct khttpd_rules *rules, const u8 *method,
			 size_t len)
{
	int i;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_METHOD)))
		return false;
	for (i = 0; i < rules->count; i++) {
		const struct khttpd_rule *rule = &rules->rule[i];

		if (rule->kind == KHTTPD_RULE_METHOD && rule->word_len == len &&
		    !memcmp(rules->text + rule->word, method, len))
			return true;
	}
	return false;
}

/**
 * khttpd_rules_expires() - how long is a file good?
 * @rules: a site's rules, or NULL
 * @name: normalised path
 * @len: its length
 * @seconds: result: from the time of the reply on
 *
 * Return: false if no rule says so.
 */
bool khttpd_rules_expires(const struct khttpd_rules *rules, const char *name,
			  size_t len, u32 *seconds)
{
	int i;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_EXPIRES)))
		return false;
	for (i = 0; i < rules->count; i++) {
		const struct khttpd_rule *rule = &rules->rule[i];

		if (rule->kind != KHTTPD_RULE_EXPIRES ||
		    !rule_matches(rules, rule, name, len))
			continue;
		*seconds = rule->seconds;
		return true;
	}
	return false;
}

/**
 * khttpd_rules_cache() - what caches are told about a file
 * @rules: a site's rules, or NULL
 * @name: normalised path
 * @len: its length
 * @value_len: length of the result
 *
 * Return: the value for Cache-Control, not terminated, or NULL.
 */
const char *khttpd_rules_cache(const struct khttpd_rules *rules,
			       const char *name, size_t len, size_t *value_len)
{
	int i;

	for (i = 0; rules && i < rules->count; i++) {
		const struct khttpd_rule *rule = &rules->rule[i];

		if (rule->kind != KHTTPD_RULE_CACHE ||
		    !rule_matches(rules, rule, name, len))
			continue;
		*value_len = rule->value_len;
		return rules->text + rule->value;
	}
	return NULL;
}

/**
 * khttpd_rules_error() - the page for an error
 * @rules: a site's rules, or NULL
 * @status: the error
 * @len: length of the result
 *
 * Return: its path, "/" first, not terminated, or NULL.
 */
const char *khttpd_rules_error(const struct khttpd_rules *rules, u16 status,
			       size_t *len)
{
	int i;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_ERROR)))
		return NULL;
	for (i = 0; i < rules->count; i++) {
		const struct khttpd_rule *rule = &rules->rule[i];

		if (rule->kind != KHTTPD_RULE_ERROR || rule->status != status)
			continue;
		*len = rule->word_len;
		return rules->text + rule->word;
	}
	return NULL;
}
