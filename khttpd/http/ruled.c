// SPDX-License-Identifier: GPL-2.0
/* Whose is a request, by a site's rules? Pure: see pure.h. */
#include "ruled.h"

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
 * Return: KHTTPD_RULE_SERVE, _PASS or _DENY.
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
