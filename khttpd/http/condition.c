// SPDX-License-Identifier: GPL-2.0
/* Conditional requests. A malformed field never matches; lists are read in one pass, whatever is
 * in them.
 */
#include "chars.h"
#include "condition.h"
#include "date.h"

/* RFC 9110 section 8.8.3: etagc */
static bool is_tag(u8 c)
{
	return c == 0x21 || (c >= 0x23 && c != 0x7f);
}

/* The element of an entity tag list at @at. Return: where the next begins. */
static size_t tag_element(const u8 *s, size_t len, size_t at, bool *weak,
			  size_t *tag, size_t *tag_len)
{
	*tag_len = 0;
	while (at < len && (is_space(s[at]) || s[at] == ','))
		at++;
	*weak = len - at >= 2 && s[at] == 'W' && s[at + 1] == '/';
	if (*weak)
		at += 2;
	*tag = at;
	if (at < len && s[at] == '"') {
		for (at++; at < len && is_tag(s[at]); at++)
			;
		if (at < len && s[at] == '"')
			*tag_len = ++at - *tag;
	}
	while (at < len && is_space(s[at]))
		at++;
	/* Anything else in front of the comma spoils the element. */
	if (at < len && s[at] != ',')
		*tag_len = 0;
	while (at < len && s[at] != ',')
		at++;
	return at;
}

/* Is the file's tag in the list? RFC 9110 section 8.8.3.2: a strong comparison
 * needs both tags to be strong.
 */
static bool tag_in_list(const u8 *s, size_t len, bool strong,
			const struct khttpd_validators *is)
{
	size_t at = 0, tag, tag_len;
	bool weak;

	while (at < len) {
		at = tag_element(s, len, at, &weak, &tag, &tag_len);
		if (tag_len == is->tag_len && !(strong && (weak || is->weak)) &&
		    !memcmp(s + tag, is->tag, tag_len))
			return true;
	}
	return false;
}

/* If-Match and If-None-Match: "*", or a list that may span lines. */
static bool tag_matches(const struct khttpd_request *req, const u8 *head,
			enum khttpd_field_id id, bool strong,
			const struct khttpd_validators *is)
{
	const struct khttpd_field *field;
	unsigned int from = 0;

	while ((field = khttpd_field_next(req, id, &from))) {
		const u8 *s = head + field->at;

		if (field->len == 1 && s[0] == '*')
			return true;
		if (tag_in_list(s, field->len, strong, is))
			return true;
	}
	return false;
}

/* A date that came once and is one. RFC 9110 section 13.1.3: otherwise the
 * field MUST be ignored.
 */
static bool date_of(const struct khttpd_request *req, const u8 *head,
		    enum khttpd_field_id id, s64 now, s64 *date)
{
	const struct khttpd_field *field;
	unsigned int from = 0;

	if (req->repeated & BIT(id))
		return false;
	field = khttpd_field_next(req, id, &from);
	return field && khttpd_date_parse(head + field->at, field->len, now,
					  date);
}

/**
 * khttpd_condition() - do the preconditions of a GET or HEAD hold?
 * @req: a request that is done
 * @head: its bytes
 * @is: the file's state
 *
 * Return: enum khttpd_condition, by the order of RFC 9110 section 13.2.2.
 */
enum khttpd_condition khttpd_condition(const struct khttpd_request *req,
				       const u8 *head,
				       const struct khttpd_validators *is)
{
	s64 date;

	if (khttpd_request_has(req, KHTTPD_FIELD_IF_MATCH)) {
		if (!tag_matches(req, head, KHTTPD_FIELD_IF_MATCH, true, is))
			return KHTTPD_CONDITION_FAILED;
	} else if (date_of(req, head, KHTTPD_FIELD_IF_UNMODIFIED_SINCE, is->now,
			   &date) && is->mtime > date) {
		return KHTTPD_CONDITION_FAILED;
	}

	if (khttpd_request_has(req, KHTTPD_FIELD_IF_NONE_MATCH)) {
		if (tag_matches(req, head, KHTTPD_FIELD_IF_NONE_MATCH, false,
				is))
			return KHTTPD_CONDITION_UNCHANGED;
	} else if (date_of(req, head, KHTTPD_FIELD_IF_MODIFIED_SINCE, is->now,
			   &date) && is->mtime <= date) {
		return KHTTPD_CONDITION_UNCHANGED;
	}
	return KHTTPD_CONDITION_TRUE;
}

/**
 * khttpd_condition_range() - may a Range be answered with a part?
 * @req: a request that is done
 * @head: its bytes
 * @is: the file's state
 *
 * RFC 9110 section 13.1.5: only on a strong match. A date is strong if it lies
 * well before now (section 8.8.2.2): it must be the exact one, and a minute
 * old.
 *
 * Return: false if the whole file must be sent.
 */
bool khttpd_condition_range(const struct khttpd_request *req, const u8 *head,
			    const struct khttpd_validators *is)
{
	const struct khttpd_field *field;
	unsigned int from = 0;
	s64 date;

	if (!khttpd_request_has(req, KHTTPD_FIELD_IF_RANGE))
		return true;
	if (req->repeated & BIT(KHTTPD_FIELD_IF_RANGE))
		return false;
	field = khttpd_field_next(req, KHTTPD_FIELD_IF_RANGE, &from);
	if (!is->weak && field->len == is->tag_len &&
	    !memcmp(head + field->at, is->tag, is->tag_len))
		return true;
	return khttpd_date_parse(head + field->at, field->len, is->now,
				 &date) &&
	       date == is->mtime && is->now - is->mtime >= 60;
}
