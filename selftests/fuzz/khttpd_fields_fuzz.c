// SPDX-License-Identifier: GPL-2.0
/* Header lists: the input becomes the value of each field in turn, first as one
 * line and then cut into two where that means the same. The readers must stay
 * inside, and what they say must hold.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/date.c"
#include "../../khttpd/http/condition.c"
#include "../../khttpd/http/range.c"
#include "../../khttpd/http/accept.c"

static void need(bool condition)
{
	if (!condition)
		abort();
}

/* A request with the field as it comes, and its list cut at @cut if not 0. */
static void make(struct khttpd_request *req, enum khttpd_field_id id,
		 size_t len, size_t cut)
{
	memset(req, 0, sizeof(*req));
	req->present = BIT(id);
	req->fields = 1;
	req->field[0] = (struct khttpd_field){ id, 0, len };
	if (!cut)
		return;
	req->fields = 2;
	req->field[0].len = cut;
	req->field[1] = (struct khttpd_field){ id, cut + 1, len - cut - 1 };
}

static void check_ranges(const u8 *data, size_t len, u64 size)
{
	struct khttpd_range range[KHTTPD_RANGES_MAX];
	unsigned int i, n = 0;

	if (khttpd_ranges_parse(data, len, size, range, &n) !=
	    KHTTPD_RANGES_PART)
		return;
	need(n && n <= KHTTPD_RANGES_MAX);
	for (i = 0; i < n; i++)
		need(range[i].from < range[i].end && range[i].end <= size);
}

static void check_date(const u8 *data, size_t len)
{
	char text[KHTTPD_DATE_LEN];
	s64 time, again;

	if (!khttpd_date_parse(data, len, 1800000000, &time) || time < 0)
		return;
	khttpd_date_format(text, time);
	need(khttpd_date_parse((u8 *)text, sizeof(text), 0, &again));
	need(again == time || time > 253402300799LL);
}

/* A comma outside quotes may as well be the end of a line. */
static size_t cut_at(const u8 *data, size_t len)
{
	const u8 *comma = memchr(data, ',', len);

	if (!comma || memchr(data, '"', comma - data))
		return 0;
	return comma - data;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct khttpd_validators is = {
		.tag = "\"1\"", .tag_len = 3, .mtime = 784111777,
		.now = 1800000000,
	};
	struct khttpd_codings codings, again;
	struct khttpd_request req;
	enum khttpd_condition result;
	size_t cut;
	u8 *data;
	int id;

	if (len > KHTTPD_HEAD_MAX)
		return 0;
	data = malloc(len ? len : 1);
	memcpy(data, input, len);
	cut = cut_at(data, len);
	check_ranges(data, len, 0);
	check_ranges(data, len, 1000);
	check_ranges(data, len, U64_MAX / 2);
	check_date(data, len);
	for (id = 0; id < KHTTPD_FIELD_IDS; id++) {
		make(&req, id, len, 0);
		result = khttpd_condition(&req, data, &is);
		khttpd_condition_range(&req, data, &is);
		khttpd_accept_json(&req, data);
		khttpd_accept_codings(&req, data, &codings);
		need(khttpd_accept_choose(&codings, 0) ==
		     KHTTPD_CODING_IDENTITY);
		if (!cut || !khttpd_field_names[id].list)
			continue;
		make(&req, id, len, cut);
		khttpd_accept_codings(&req, data, &again);
		need(!memcmp(&codings, &again, sizeof(again)));
		/* "*" alone means all, as an element it means nothing. */
		if (!memchr(data, '*', len))
			need(khttpd_condition(&req, data, &is) == result);
	}
	free(data);
	return 0;
}
