// SPDX-License-Identifier: GPL-2.0
/* Accept-Encoding and Accept: lists with weights, read in one pass. Elements
 * that are malformed are skipped.
 */
#include "accept.h"
#include "chars.h"

#define WEIGHT_ONE	1000
#define WEIGHT_UNSET	U16_MAX

const char * const khttpd_coding_name[KHTTPD_CODINGS] = {
	[KHTTPD_CODING_BR] = "br",
	[KHTTPD_CODING_ZSTD] = "zstd",
	[KHTTPD_CODING_GZIP] = "gzip",
	[KHTTPD_CODING_IDENTITY] = "identity",
};

const char * const khttpd_coding_suffix[KHTTPD_CODINGS] = {
	[KHTTPD_CODING_BR] = ".br",
	[KHTTPD_CODING_ZSTD] = ".zst",
	[KHTTPD_CODING_GZIP] = ".gz",
	[KHTTPD_CODING_IDENTITY] = "",
};

/**
 * struct khttpd_element - an element of such a list
 * @at: start of its token
 * @len: length of its token
 * @weight: 0 to 1000, or WEIGHT_UNSET if it is malformed
 */
struct khttpd_element {
	size_t at;
	size_t len;
	u16 weight;
};

/* A weight, RFC 9110 section 12.4.2: 0 to 1 with up to three decimals. */
static u16 get_weight(const u8 *s, size_t len)
{
	u16 weight, unit = 100;
	size_t i;

	if (!len || len > 5 || (s[0] != '0' && s[0] != '1'))
		return WEIGHT_UNSET;
	weight = (s[0] - '0') * WEIGHT_ONE;
	if (len > 1 && s[1] != '.')
		return WEIGHT_UNSET;
	for (i = 2; i < len; i++, unit /= 10) {
		if (!is_digit(s[i]))
			return WEIGHT_UNSET;
		weight += (s[i] - '0') * unit;
	}
	return weight <= WEIGHT_ONE ? weight : WEIGHT_UNSET;
}

/* A parameter of @len bytes without white space around it. */
static void take_parameter(struct khttpd_element *element, const u8 *s,
			   size_t len)
{
	if (len >= 2 && (s[0] | 0x20) == 'q' && s[1] == '=')
		element->weight = get_weight(s + 2, len - 2);
}

/* The element at @at of a list. Return: where the next begins. */
static size_t get_element(const u8 *s, size_t len, size_t at,
			  struct khttpd_element *element)
{
	bool first = true;

	element->len = 0;
	element->weight = WEIGHT_ONE;
	for (;;) {
		size_t end, next;

		while (at < len && is_space(s[at]))
			at++;
		for (next = at; next < len && s[next] != ',' && s[next] != ';';
		     next++)
			;
		for (end = next; end > at && is_space(s[end - 1]); end--)
			;
		if (first) {
			element->at = at;
			element->len = end - at;
		} else {
			take_parameter(element, s + at, end - at);
		}
		first = false;
		at = next + 1;
		if (next >= len || s[next] == ',')
			return at;
	}
}

static void take_coding(struct khttpd_codings *codings, u16 *other,
			const u8 *s, const struct khttpd_element *element)
{
	size_t len = element->len;
	int i;

	if (!len || element->weight == WEIGHT_UNSET)
		return;
	if (len == 1 && s[0] == '*') {
		*other = element->weight;
		return;
	}
	/* RFC 9110 section 8.4.1.3: x-gzip is gzip. */
	if (len == 6 && IS_WORD(s, 2, "x-")) {
		s += 2;
		len -= 2;
	}
	for (i = 0; i < KHTTPD_CODINGS; i++) {
		if (is_word(s, len, khttpd_coding_name[i],
			    strlen(khttpd_coding_name[i])))
			codings->weight[i] = element->weight;
	}
}

/**
 * khttpd_accept_codings() - weights that Accept-Encoding gives
 * @req: a request that is done
 * @head: its bytes
 * @codings: result
 *
 * RFC 9110 section 12.5.3: what is not listed is not acceptable, but identity,
 * unless "*" says something else. Without the field nothing but identity is
 * sent, although the client could take any.
 */
void khttpd_accept_codings(const struct khttpd_request *req, const u8 *head,
			   struct khttpd_codings *codings)
{
	const struct khttpd_field *field;
	struct khttpd_element element;
	u16 other = WEIGHT_UNSET;
	unsigned int from = 0;
	size_t at;
	int i;

	for (i = 0; i < KHTTPD_CODINGS; i++)
		codings->weight[i] = WEIGHT_UNSET;
	while ((field = khttpd_field_next(req, KHTTPD_FIELD_ACCEPT_ENCODING,
					  &from))) {
		const u8 *s = head + field->at;

		for (at = 0; at < field->len;) {
			at = get_element(s, field->len, at, &element);
			take_coding(codings, &other, s + element.at, &element);
		}
	}
	for (i = 0; i < KHTTPD_CODINGS; i++) {
		if (codings->weight[i] != WEIGHT_UNSET)
			continue;
		if (other != WEIGHT_UNSET)
			codings->weight[i] = other;
		else
			codings->weight[i] = i == KHTTPD_CODING_IDENTITY;
	}
}

/**
 * khttpd_accept_choose() - the best coding that there is
 * @codings: weights
 * @available: BIT(enum khttpd_coding) of those that exist
 *
 * Return: the one with the highest weight, ours before the client's order if
 * equal; identity if nothing is acceptable.
 */
enum khttpd_coding khttpd_accept_choose(const struct khttpd_codings *codings,
					unsigned int available)
{
	enum khttpd_coding best = KHTTPD_CODING_IDENTITY;
	int i;

	for (i = KHTTPD_CODING_IDENTITY - 1; i >= 0; i--) {
		if ((available & BIT(i)) && codings->weight[i] &&
		    codings->weight[i] >= codings->weight[best])
			best = i;
	}
	return best;
}

/* Weights of the forms in Accept; 0 for what is not there. */
static void get_forms(const struct khttpd_request *req, const u8 *head,
		      u16 weight[3])
{
	const struct khttpd_field *field;
	struct khttpd_element element;
	unsigned int from = 0;
	size_t at;

	memset(weight, 0, 3 * sizeof(weight[0]));
	while ((field = khttpd_field_next(req, KHTTPD_FIELD_ACCEPT, &from))) {
		const u8 *s = head + field->at;

		for (at = 0; at < field->len;) {
			at = get_element(s, field->len, at, &element);
			if (element.weight == WEIGHT_UNSET)
				continue;
			if (IS_WORD(s + element.at, element.len,
				    "application/json"))
				weight[KHTTPD_FORM_JSON] = element.weight;
			else if (IS_WORD(s + element.at, element.len,
					 "text/html"))
				weight[KHTTPD_FORM_HTML] = element.weight;
			else if (IS_WORD(s + element.at, element.len,
					 "text/plain"))
				weight[KHTTPD_FORM_TEXT] = element.weight;
		}
	}
}

/**
 * khttpd_accept_json() - does the client want JSON more than HTML?
 * @req: a request that is done
 * @head: its bytes
 */
bool khttpd_accept_json(const struct khttpd_request *req, const u8 *head)
{
	u16 weight[3];

	get_forms(req, head, weight);
	return weight[KHTTPD_FORM_JSON] > weight[KHTTPD_FORM_HTML];
}

/**
 * khttpd_accept_form() - what of HTML, JSON and plain text does it want most?
 * @req: a request that is done
 * @head: its bytes
 *
 * Return: the first of those with the highest weight; HTML without any.
 */
enum khttpd_form khttpd_accept_form(const struct khttpd_request *req,
				    const u8 *head)
{
	enum khttpd_form best = KHTTPD_FORM_HTML, form;
	u16 weight[3];

	get_forms(req, head, weight);
	for (form = KHTTPD_FORM_JSON; form <= KHTTPD_FORM_TEXT; form++) {
		if (weight[form] > weight[best])
			best = form;
	}
	return best;
}
