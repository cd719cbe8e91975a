// SPDX-License-Identifier: GPL-2.0
/* Whose is a request, by a site's rules? Pure: see pure.h. */
#include "ruled.h"
#include "target.h"

/**
 * khttpd_ruled_request() - does a rule about cookies or methods give it away?
 * @rules: a site's rules, or NULL
 * @req: a request that is done
 * @head: its bytes
 *
 * Return: true if it is the server's, if there is one.
 */
bool khttpd_ruled_request(const struct khttpd_rules *rules,
			  const struct khttpd_request *req, const u8 *head)
{
	const struct khttpd_field *field;
	unsigned int from = 0;
	size_t len = 0;

	if (!rules || !(rules->kinds & (BIT(KHTTPD_RULE_COOKIE) |
					BIT(KHTTPD_RULE_METHOD))))
		return false;
	while (len < KHTTPD_METHOD_MAX && head[req->start + len] != ' ')
		len++;
	if (khttpd_rules_method(rules, head + req->start, len))
		return true;
	while ((field = khttpd_field_next(req, KHTTPD_FIELD_COOKIE, &from))) {
		if (khttpd_rules_cookie(rules, head + field->at, field->len))
			return true;
	}
	return false;
}

/**
 * khttpd_ruled_path() - whose is a path, by the rules?
 * @rules: a site's rules, or NULL
 * @path: from khttpd_path_normalise(); a directory's is judged with its "/"
 *
 * Return: as khttpd_rules_action().
 */
enum khttpd_rule_kind khttpd_ruled_path(const struct khttpd_rules *rules,
					struct khttpd_path *path)
{
	enum khttpd_rule_kind action;
	size_t len = path->len;

	/* There is room for it, see khttpd_path_normalise(). */
	if (path->dir && len)
		path->name[len++] = '/';
	action = khttpd_rules_action(rules, path->name, len);
	path->name[path->len] = '\0';
	return action;
}

/* A directory's name gets its "/". There is room for it, see khttpd_path_normalise(). */
static void ruled_with_slash(struct khttpd_path *path)
{
	if (path->dir && path->len)
		path->name[path->len++] = '/';
}

static void ruled_without_slash(struct khttpd_path *path)
{
	if (path->dir && path->len)
		path->len--;
	path->name[path->len] = '\0';
}

/**
 * khttpd_ruled_rewrite() - take another path, if the rules say so
 * @rules: a site's rules, or NULL
 * @path: from khttpd_path_normalise(), and the result
 * @result: set if it is another one: KHTTPD_PATH_OK, or KHTTPD_PATH_NONE
 *
 * Return: true if it is another one.
 */
bool khttpd_ruled_rewrite(const struct khttpd_rules *rules, struct khttpd_path *path,
			  enum khttpd_path_result *result)
{
	const struct khttpd_rule *rule;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_REWRITE)))
		return false;
	ruled_with_slash(path);
	rule = khttpd_rules_first(rules, KHTTPD_RULE_ACTIONS, path->name, path->len);
	if (!rule || rule->kind != KHTTPD_RULE_REWRITE) {
		ruled_without_slash(path);
		return false;
	}
	*result = khttpd_target_path(rules, rule, path);
	return true;
}

/**
 * khttpd_ruled_fallback() - take the path of what stands in for nothing
 * @rules: a site's rules, or NULL
 * @path: what is not there, and the result
 * @dir_len: length of the directory whose index file that is, or -1
 *
 * Return: false if there is no such rule. @path is of no use then.
 */
bool khttpd_ruled_fallback(const struct khttpd_rules *rules, struct khttpd_path *path, int dir_len)
{
	const struct khttpd_rule *rule;

	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_FALLBACK)))
		return false;
	if (dir_len >= 0) {
		path->dir = true;
		path->len = dir_len;
	}
	ruled_with_slash(path);
	rule = khttpd_rules_first(rules, BIT(KHTTPD_RULE_FALLBACK), path->name, path->len);
	return rule && khttpd_target_path(rules, rule, path) == KHTTPD_PATH_OK && !path->dir;
}

/**
 * khttpd_ruled_location() - where to a path's redirect rule sends
 * @rules: a site's rules, by which it is redirected
 * @path: which path
 * @out: result: the value of Location
 * @size: room there
 * @query: result: the request's query goes behind it
 * @status: result
 *
 * Return: its length, or 0 if there was not room enough.
 */
size_t khttpd_ruled_location(const struct khttpd_rules *rules, struct khttpd_path *path, char *out,
			     size_t size, bool *query, u16 *status)
{
	const struct khttpd_rule *rule;
	size_t len = 0;

	ruled_with_slash(path);
	rule = khttpd_rules_first(rules, KHTTPD_RULE_ACTIONS, path->name, path->len);
	if (rule && rule->kind == KHTTPD_RULE_REDIRECT) {
		*status = rule->status;
		len = khttpd_target_location(rules, rule, path->name, path->len, out, size, query);
	}
	ruled_without_slash(path);
	return len;
}
