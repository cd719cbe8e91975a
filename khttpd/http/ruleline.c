// SPDX-License-Identifier: GPL-2.0
/* A line of a site's rules: words, and what each kind of rule has behind its pattern. Pure: see
 * pure.h.
 */
#include "chars.h"
#include "ruleline.h"

static const char * const rule_names[KHTTPD_RULE_KINDS] = {
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
		if (strlen(rule_names[i]) == len &&
		    !memcmp(rule_names[i], word, len))
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
