// SPDX-License-Identifier: GPL-2.0
/* Where rules send a request. A TARGET may have one "*": what the pattern's "*" matched, or what is
 * below a pattern that ends in "/". Pure: see pure.h.
 */
#include "target.h"

static unsigned int target_stars(const char *s, size_t len)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < len; i++)
		n += s[i] == '*';
	return n;
}

/* Is it certain what the pattern's "*" matches? */
static bool target_has_one_star(const char *pattern, size_t len)
{
	unsigned int n = target_stars(pattern, len);

	return pattern[0] == '/' && (pattern[len - 1] == '/' ? !n : n == 1);
}

/* Where the path of an absolute target begins; 0 if it has none, or is no such target. */
static size_t target_authority_end(const char *s, size_t len)
{
	size_t at = len > 8 && !memcmp(s, "https://", 8) ? 8 :
		    len > 7 && !memcmp(s, "http://", 7) ? 7 : 0, end;

	if (!at || s[at] == '/')
		return 0;
	for (end = at; end < len && s[end] != '/' && s[end] != '?'; end++)
		;
	return end;
}

/* What stands for "*" must not become part of a host: neither behind one, nor behind "//". */
static bool target_location_valid(const char *s, size_t len)
{
	const char *star = memchr(s, '*', len);
	size_t path = 0, i;

	if (s[0] != '/') {
		path = target_authority_end(s, len);
		if (!path || (star && ((size_t)(star - s) <= path || s[path] != '/')))
			return false;
	} else if (len > 1 && (s[1] == '/' || s[1] == '\\')) {
		return false;
	}
	for (i = 0; i < len; i++) {
		/* RFC 3986 section 2: none of these stands in a reference. */
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"<>\\^`{|}", s[i]))
			return false;
	}
	return true;
}

/* Are the parts of a name such that a file can have it? Its last "/" goes. */
static bool target_settle(struct khttpd_path *path, size_t len)
{
	const char *part = path->name, *end = path->name + len, *slash;
	size_t n;

	path->dir = !len || end[-1] == '/';
	if (len && path->dir)
		end--;
	path->len = end - path->name;
	path->name[path->len] = '\0';
	while (part < end) {
		slash = memchr(part, '/', end - part);
		n = (slash ?: end) - part;
		if (!n || n > KHTTPD_NAME_MAX || (n <= 2 && !memcmp(part, "..", n)))
			return false;
		part += n + 1;
	}
	/* "//" at the end, or nothing else. */
	return path->len ? end[-1] != '/' : !len;
}

static bool target_file_valid(const char *s, size_t len)
{
	struct khttpd_path path;

	if (s[0] != '/' || memchr(s, ' ', len))
		return false;
	memcpy(path.name, s + 1, len - 1);
	return target_settle(&path, len - 1);
}

/**
 * khttpd_target_valid() - can a rule send somebody there?
 * @rule: a redirect, rewrite or fallback rule
 * @text: where its words are
 *
 * Return: false if the target is not a path or, of a redirect, http:// or https://; or if it is
 * not certain what its "*" is.
 */
bool khttpd_target_valid(const struct khttpd_rule *rule, const char *text)
{
	const char *pattern = text + rule->word, *target = text + rule->value;
	size_t len = rule->value_len;

	if (!len || len > KHTTPD_TARGET_MAX || (pattern[0] != '/' && pattern[0] != '*'))
		return false;
	if (target_stars(target, len) > 1 ||
	    (target_stars(target, len) && !target_has_one_star(pattern, rule->word_len)))
		return false;
	if (rule->kind == KHTTPD_RULE_REDIRECT)
		return target_location_valid(target, len);
	if (rule->kind == KHTTPD_RULE_FALLBACK && target[len - 1] == '/')
		return false;
	return target_file_valid(target, len);
}

/* What of @name the "*" is. @before: the byte in front of the target's "*"; there are not two "/"
 * behind each other. Return: its length.
 */
static size_t target_star_of(const struct khttpd_rules *rules, const struct khttpd_rule *rule,
			     const char *name, size_t len, char before, size_t *from)
{
	const char *pattern = rules->text + rule->word;
	const char *star = memchr(pattern, '*', rule->word_len);
	size_t to = len;

	/* Patterns begin with the "/" that is not in names. */
	if (star) {
		*from = star - pattern - 1;
		to = len + *from + 2 - rule->word_len;
	} else {
		*from = rule->word_len - 1;
	}
	if (before == '/' && *from < to && name[*from] == '/')
		(*from)++;
	return to - *from;
}

/**
 * khttpd_target_location() - what a redirect rule has for Location
 * @rules: a site's rules
 * @rule: one of them, which matches
 * @name: normalised path, of a directory with its "/"
 * @len: its length
 * @out: result
 * @size: room there
 * @query: result: the request's query goes behind it
 *
 * Return: its length, or 0 if there was not room enough.
 */
size_t khttpd_target_location(const struct khttpd_rules *rules, const struct khttpd_rule *rule,
			      const char *name, size_t len, char *out, size_t size, bool *query)
{
	const char *target = rules->text + rule->value, *star;
	size_t target_len = rule->value_len, pre, n = 0, star_len, from;

	*query = !memchr(target, '?', target_len);
	if (target[target_len - 1] == '?')
		target_len--;
	star = memchr(target, '*', target_len);
	pre = star ? star - target : target_len;
	if (target_len > size)
		return 0;
	memcpy(out, target, pre);
	if (!star)
		return pre;
	star_len = target_star_of(rules, rule, name, len, target[pre - 1], &from);
	if (star_len) {
		n = khttpd_path_encode(out + pre, size - target_len, name + from, star_len);
		if (!n)
			return 0;
	}
	memcpy(out + pre + n, star + 1, target_len - pre - 1);
	return target_len - 1 + n;
}

/**
 * khttpd_target_path() - take the path of a rewrite or fallback rule instead
 * @rules: a site's rules
 * @rule: one of them, which matches
 * @path: normalised path, of a directory with its "/" counted in; and the result
 *
 * Return: KHTTPD_PATH_OK, or KHTTPD_PATH_NONE if no file can have that name; @path is of no use
 * then.
 */
enum khttpd_path_result khttpd_target_path(const struct khttpd_rules *rules,
					   const struct khttpd_rule *rule,
					   struct khttpd_path *path)
{
	const char *target = rules->text + rule->value + 1;
	size_t len = rule->value_len - 1, pre = len, post = 0, n = 0, from = 0;
	const char *star = memchr(target, '*', len);

	if (star) {
		pre = star - target;
		post = len - pre - 1;
		/* The first "/" of the target is in front of it at least. */
		n = target_star_of(rules, rule, path->name, path->len, star[-1], &from);
	}
	/* Room for a "/" and the NUL must be left. */
	if (pre + n + post > KHTTPD_PATH_MAX - 3)
		return KHTTPD_PATH_NONE;
	memmove(path->name + pre, path->name + from, n);
	memcpy(path->name, target, pre);
	if (post)
		memcpy(path->name + pre + n, star + 1, post);
	return target_settle(path, pre + n + post) ? KHTTPD_PATH_OK : KHTTPD_PATH_NONE;
}
