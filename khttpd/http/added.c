// SPDX-License-Identifier: GPL-2.0
/* Header fields that a site's rules add to replies with files: CORS, security, whatever khttpd does
 * not say by itself. Pure: see pure.h.
 */
#include "added.h"
#include "ruleline.h"

/* Has an earlier rule that matches said that field already? */
static bool added_said_before(const struct khttpd_rules *rules, unsigned int at, const char *name,
			      size_t len)
{
	unsigned int i;

	for (i = 0; i < at; i++) {
		if (rules->rule[i].kind == KHTTPD_RULE_HEADER &&
		    khttpd_ruleline_same_field(rules->text, &rules->rule[i], &rules->rule[at]) &&
		    khttpd_rules_match(rules, &rules->rule[i], name, len))
			return true;
	}
	return false;
}

/**
 * khttpd_added_next() - the next field for a path
 * @rules: a site's rules, or NULL
 * @name: normalised path
 * @len: its length
 * @from: 0 at first; where to go on
 * @field_len: length of the result
 *
 * Of rules for one field the first that matches counts, fields of other names all count.
 *
 * Return: "NAME: VALUE", not terminated, or NULL if there is no more.
 */
const char *khttpd_added_next(const struct khttpd_rules *rules, const char *name, size_t len,
			      unsigned int *from, size_t *field_len)
{
	if (!rules || !(rules->kinds & BIT(KHTTPD_RULE_HEADER)))
		return NULL;
	while (*from < rules->count) {
		unsigned int at = (*from)++;
		const struct khttpd_rule *rule = &rules->rule[at];

		if (rule->kind != KHTTPD_RULE_HEADER ||
		    !khttpd_rules_match(rules, rule, name, len) ||
		    added_said_before(rules, at, name, len))
			continue;
		*field_len = rule->value_len;
		return rules->text + rule->value;
	}
	return NULL;
}
