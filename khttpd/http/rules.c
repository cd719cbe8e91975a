// SPDX-License-Identifier: GPL-2.0
/* Rules by path: which requests are the server's, which are refused, what caches are told, which
 * page stands for an error. The first that matches counts. A pattern is a path with "*" for any
 * bytes, "/" included. One that does not begin with "/" or "*" matches nothing and is refused.
 * One that ends in "/" means everything below.
 */
#include "chars.h"
#include "ruleline.h"

/* Is another one the longest of those for a field, or the first of the longest? */
static bool rules_added_less(const struct khttpd_rules *rules, int at)
{
	const struct khttpd_rule *rule = &rules->rule[at];
	int i;

	for (i = 0; i < rules->count; i++) {
		const struct khttpd_rule *other = &rules->rule[i];

		if (i != at && other->kind == KHTTPD_RULE_HEADER &&
		    khttpd_ruleline_same_field(rules->text, rule, other) &&
		    (other->value_len > rule->value_len ||
		     (other->value_len == rule->value_len && i < at)))
			return true;
	}
	return false;
}

/* A header has each field once: is there room for the longest of each? */
static bool rules_added_fit(const struct khttpd_rules *rules)
{
	size_t count = 0, size = 0;
	int i;

	for (i = 0; i < rules->count; i++) {
		if (rules->rule[i].kind != KHTTPD_RULE_HEADER)
			continue;
		if (++count > KHTTPD_ADDED_MAX)
			return false;
		if (!rules_added_less(rules, i))
			size += rules->rule[i].value_len + 2;
	}
	return size <= KHTTPD_ADDED_SIZE;
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
		size_t next = end ? end - text : len;
		struct khttpd_rule rule = {};
		bool empty;

		if (!khttpd_ruleline_take(&rule, text, next, at, &empty))
			return false;
		if (!empty) {
			if (rules->count == KHTTPD_RULES_MAX)
				return false;
			rules->kinds |= BIT(rule.kind);
			rules->rule[rules->count++] = rule;
		}
		at = next + 1;
	}
	return rules_added_fit(rules);
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

/**
 * khttpd_rules_match() - is a rule about a path?
 * @rules: a site's rules
 * @rule: one of them that has a pattern
 * @name: normalised path
 * @len: its length
 */
bool khttpd_rules_match(const struct khttpd_rules *rules, const struct khttpd_rule *rule,
			const char *name, size_t len)
{
	return pattern_matches(rules->text + rule->word, rule->word_len, name,
			       len);
}

/**
 * khttpd_rules_first() - the first rule about a path
 * @rules: a site's rules, or NULL
 * @kinds: BIT(enum khttpd_rule_kind) of those looked for; all have patterns
 * @name: normalised path
 * @len: its length
 *
 * Return: the rule, or NULL.
 */
const struct khttpd_rule *khttpd_rules_first(const struct khttpd_rules *rules,
					     unsigned int kinds, const char *name, size_t len)
{
	int i;

	if (!rules || !(rules->kinds & kinds))
		return NULL;
	for (i = 0; i < rules->count; i++) {
		if (BIT(rules->rule[i].kind) & kinds &&
		    khttpd_rules_match(rules, &rules->rule[i], name, len))
			return &rules->rule[i];
	}
	return NULL;
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
	const struct khttpd_rule *rule;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_SERVE)))
		return false;
	rule = khttpd_rules_first(rules, KHTTPD_RULE_ACTIONS, name, len);
	return rule && rule->kind == KHTTPD_RULE_SERVE;
}

/**
 * khttpd_rules_action() - whose is a path?
 * @rules: a site's rules, or NULL
 * @name: normalised path
 * @len: its length
 *
 * Return: KHTTPD_RULE_SERVE, _PASS, _DENY, _STATUS, _REDIRECT or _REWRITE.
 */
enum khttpd_rule_kind khttpd_rules_action(const struct khttpd_rules *rules,
					  const char *name, size_t len)
{
	const struct khttpd_rule *rule;

	if (!rules || !(rules->kinds & KHTTPD_RULE_ACTIONS & ~BIT(KHTTPD_RULE_SERVE)))
		return KHTTPD_RULE_SERVE;
	rule = khttpd_rules_first(rules, KHTTPD_RULE_ACTIONS, name, len);
	return rule ? rule->kind : KHTTPD_RULE_SERVE;
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
	const struct khttpd_rule *rule = khttpd_rules_first(rules, BIT(KHTTPD_RULE_EXPIRES), name,
							    len);

	if (rule)
		*seconds = rule->seconds;
	return rule;
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
	const struct khttpd_rule *rule = khttpd_rules_first(rules, BIT(KHTTPD_RULE_CACHE), name,
							    len);

	if (!rule)
		return NULL;
	*value_len = rule->value_len;
	return rules->text + rule->value;
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
