// SPDX-License-Identifier: GPL-2.0
/* The request parser: the first input byte says where to cut the rest. Parsed
 * whole and in two pieces it must come to the same, inside its bounds. What
 * it accepts must be free of the bytes that other parsers disagree about. After it,
 * a head with another request line and then the same one must be as if there had been
 * none before.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/again.c"

static void need(bool condition)
{
	if (!condition)
		abort();
}

static enum khttpd_parse_result parse(struct khttpd_request *req,
				      const u8 *data, size_t len)
{
	enum khttpd_parse_result result;
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, data, len);
	result = khttpd_parse(req, copy, len);
	free(copy);
	return result;
}

static void check_done(const struct khttpd_request *req, const u8 *data,
		       size_t len)
{
	size_t i;

	need(req->head_len <= len && req->head_len <= KHTTPD_HEAD_MAX);
	need(!memcmp(data + req->head_len - 4, "\r\n\r\n", 4));
	need(req->path + req->path_len + req->query_len <= req->head_len);
	need(req->host + req->host_len <= req->head_len);
	need(req->major == 1);
	for (i = 0; i < req->head_len; i++) {
		need(data[i] && data[i] != 0x7f);
		if (data[i] == '\n')
			need(i && data[i - 1] == '\r');
		if (data[i] == '\r')
			need(data[i + 1] == '\n');
	}
	if (req->path_len)
		need(data[req->path] == '/');
	if (req->host_len)
		need(khttpd_host_valid(data + req->host, req->host_len));
	need(req->fields <= KHTTPD_FIELDS_MAX);
	for (i = 0; i < req->fields; i++)
		need(req->field[i].at + req->field[i].len <= req->head_len);
	if (!khttpd_request_bodiless(req))
		need(req->flags & (KHTTPD_REQ_LENGTH | KHTTPD_REQ_CHUNKED));
}

static void check_equal(const struct khttpd_request *req, const struct khttpd_request *plain)
{
	need(req->error == plain->error);
	if (!plain->head_len)
		return;
	need(!memcmp(req, plain, offsetof(struct khttpd_request, field)));
	need(!memcmp(req->field, plain->field, req->fields * sizeof(req->field[0])));
}

static void check_again(struct khttpd_again *again, const u8 *data, size_t len)
{
	struct khttpd_request req, plain;
	enum khttpd_parse_result result;
	struct khttpd_again fresh;
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, data, len);
	khttpd_request_reset(&plain);
	khttpd_request_reset(&req);
	result = khttpd_parse(&plain, copy, len);
	need(khttpd_again_parse_beside(&req, &fresh, again, copy, len) == result);
	check_equal(&req, &plain);
	if (fresh.len) {
		khttpd_request_reset(&req);
		need(khttpd_again_parse(&req, &fresh, copy, len) == result && fresh.same);
		check_equal(&req, &plain);
	}
	khttpd_request_reset(&req);
	need(khttpd_again_parse(&req, again, copy, len) == result);
	check_equal(&req, &plain);
	free(copy);
}

static void check_lines(const u8 *data, size_t len)
{
	static const char * const lines[] = {
		"GET /another HTTP/1.1\r\n", "GET / HTTP/1.0\r\n", "POST /?a HTTP/1.1\r\n",
		"GET http://a/ HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n", "\r\n", "",
	};
	static struct khttpd_again again;
	const u8 *line = memchr(data, '\n', len);
	size_t i, n, rest = line ? data + len - line - 1 : 0;
	u8 *other = malloc(len + 64);

	memset(&again, 0, sizeof(again));
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		n = strlen(lines[i]);
		check_again(&again, data, len);
		memcpy(other, lines[i], n);
		memcpy(other + n, data + len - rest, rest);
		check_again(&again, other, n + rest);
		check_again(&again, data, len);
	}
	free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct khttpd_request whole, req;
	enum khttpd_parse_result result;
	size_t cut;

	if (!len)
		return 0;
	len--;
	cut = *data++ * len / 256;

	khttpd_request_reset(&whole);
	result = parse(&whole, data, len);
	khttpd_request_reset(&req);
	parse(&req, data, cut);
	need(parse(&req, data, len) == result);
	need(req.error == whole.error);
	if (result == KHTTPD_PARSE_MORE)
		need(len < KHTTPD_HEAD_MAX);
	if (result == KHTTPD_PARSE_ERROR)
		need(req.error >= 400 && req.error <= 505);
	if (result == KHTTPD_PARSE_DONE) {
		need(!memcmp(&req, &whole, offsetof(struct khttpd_request, field)));
		need(!memcmp(req.field, whole.field,
			     req.fields * sizeof(req.field[0])));
		check_done(&req, data, len);
	}
	check_lines(data, len);
	return 0;
}
