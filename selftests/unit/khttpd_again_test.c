// SPDX-License-Identifier: GPL-2.0
/* A head that is compared with the one before it comes to the same as one that is
 * parsed, whatever the one before was.
 */
#include "unit.h"
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/again.c"

#define HOST	"Host: a.example\r\n"
#define END	"\r\n"

static const char * const heads[] = {
	"GET / HTTP/1.1\r\n" HOST END,
	"GET /a/longer/path?query HTTP/1.1\r\n" HOST END,
	"HEAD /b HTTP/1.1\r\n" HOST END,
	"GET / HTTP/1.0\r\n" HOST END,
	"GET / HTTP/1.0\r\n" END,
	"GET /c HTTP/1.0\r\n" END,
	"GET / HTTP/1.1\r\n" END,
	"GET /c HTTP/1.2\r\n" HOST END,
	"GET / HTTP/2.0\r\n" HOST END,
	"\r\nGET / HTTP/1.1\r\n" HOST END,
	"GET http://b.example/ HTTP/1.1\r\n" HOST END,
	"GET http://c.example/d HTTP/1.1\r\n" HOST END,
	"OPTIONS * HTTP/1.1\r\n" HOST END,
	"CONNECT b.example:80 HTTP/1.1\r\n" HOST END,
	"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n" END,
	"POST /other HTTP/1.1\r\n" HOST "Content-Length: 3\r\n" END,
	"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n" END,
	"POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n" END,
	"GET / HTTP/1.1\r\n" HOST "Connection: close\r\nUpgrade: websocket\r\n" END,
	"GET /x HTTP/1.1\r\n" HOST "Range: bytes=0-1\r\nRange: bytes=1-\r\n" END,
	"GET /xy HTTP/1.1\r\n" HOST "Range: bytes=0-1\r\nRange: bytes=1-\r\n" END,
	"GET /x HTTP/1.1\r\nAccept: a\r\n" HOST "Accept: b\r\nCookie: c=d\r\n" END,
	"GET /yz?q HTTP/1.1\r\nAccept: a\r\n" HOST "Accept: b\r\nCookie: c=d\r\n" END,
	"GET / HTTP/1.1\r\n" HOST "Bad name: x\r\n" END,
	"GET / HTTP/1.1\r\n" HOST HOST END,
};

static void same(const struct khttpd_request *a, const struct khttpd_request *b)
{
	EXPECT_MEM(a, b, offsetof(struct khttpd_request, field));
	EXPECT_MEM(a->field, b->field, b->fields * sizeof(b->field[0]));
}

/* Parse @head, @more behind it, after what @again knows; it must come to the same. */
static enum khttpd_parse_result parse_both(struct khttpd_again *again, const char *head,
					   const char *more)
{
	size_t len = strlen(head) + strlen(more);
	/* A block of just that size, so that ASan guards it. */
	u8 *buf = malloc(len);
	struct khttpd_request req, plain;
	enum khttpd_parse_result result;
	bool known;

	memcpy(buf, head, strlen(head));
	memcpy(buf + strlen(head), more, strlen(more));
	khttpd_request_reset(&plain);
	khttpd_request_reset(&req);
	result = khttpd_parse(&plain, buf, len);
	known = khttpd_again_is(again, buf, len);
	EXPECT_EQ(khttpd_again_parse(&req, again, buf, len), result);
	EXPECT_EQ(again->same, known);
	EXPECT_EQ(req.error, plain.error);
	if (result == KHTTPD_PARSE_DONE)
		same(&req, &plain);
	free(buf);
	return result;
}

TEST(any_two_in_a_row)
{
	struct khttpd_again again;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		for (j = 0; j < ARRAY_SIZE(heads); j++) {
			memset(&again, 0, sizeof(again));
			parse_both(&again, heads[i], "");
			parse_both(&again, heads[j], "");
			parse_both(&again, heads[j], heads[i]);
		}
	}
}

/* A new head beside one that is kept: the parser's result, and then it is kept itself. */
TEST(beside_another)
{
	struct khttpd_again other, again;
	struct khttpd_request req, plain;
	enum khttpd_parse_result result;
	size_t i, j, len;
	u8 *buf;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		for (j = 0; j < ARRAY_SIZE(heads); j++) {
			memset(&other, 0, sizeof(other));
			parse_both(&other, heads[i], "");
			len = strlen(heads[j]);
			buf = malloc(len);
			memcpy(buf, heads[j], len);
			khttpd_request_reset(&plain);
			khttpd_request_reset(&req);
			result = khttpd_parse(&plain, buf, len);
			again.same = true;
			EXPECT_EQ(khttpd_again_parse_beside(&req, &again, i ? &other : NULL, buf,
							    len), result);
			EXPECT_EQ(req.error, plain.error);
			EXPECT_EQ(again.len, result == KHTTPD_PARSE_DONE ? plain.head_len : 0);
			if (again.len) {
				EXPECT_FALSE(again.same);
				same(&req, &plain);
				parse_both(&again, heads[j], "");
				EXPECT_TRUE(again.same);
				parse_both(&again, heads[i], heads[j]);
			}
			free(buf);
		}
	}
}

TEST(the_same_again_is_known)
{
	struct khttpd_again again = {};

	parse_both(&again, heads[0], "");
	EXPECT_FALSE(again.same);
	parse_both(&again, heads[0], "");
	EXPECT_TRUE(again.same);
	parse_both(&again, heads[0], heads[0]);
	EXPECT_TRUE(again.same);
	parse_both(&again, heads[1], "");
	EXPECT_FALSE(again.same);
	/* Its header lines were known: the head before it is still there. */
	parse_both(&again, heads[0], "");
	EXPECT_TRUE(again.same);
	/* A head that is refused is not the one before. */
	parse_both(&again, heads[6], "");
	EXPECT_FALSE(again.same);
}

TEST(pieces)
{
	struct khttpd_again again = {};
	struct khttpd_request req, plain;
	size_t i, len, cut;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		len = strlen(heads[i]);
		for (cut = 0; cut <= len; cut++) {
			u8 *buf = malloc(len);

			memcpy(buf, heads[i], len);
			khttpd_request_reset(&plain);
			khttpd_parse(&plain, buf, len);
			khttpd_request_reset(&req);
			khttpd_again_parse(&req, &again, buf, cut);
			khttpd_again_parse(&req, &again, buf, len);
			EXPECT_EQ(req.state, plain.state);
			EXPECT_EQ(req.error, plain.error);
			if (plain.head_len)
				same(&req, &plain);
			free(buf);
		}
	}
}

TEST(limits_that_are_set_meanwhile)
{
	struct khttpd_again again = {};
	char head[256];

	snprintf(head, sizeof(head), "GET /0 HTTP/1.1\r\n" HOST "A: b\r\nC: d\r\n" END);
	EXPECT_EQ(parse_both(&again, head, ""), KHTTPD_PARSE_DONE);
	khttpd_head_limits.head_fields = 2;
	EXPECT_EQ(parse_both(&again, head, ""), KHTTPD_PARSE_ERROR);
	head[5] = '1';
	EXPECT_EQ(parse_both(&again, head, ""), KHTTPD_PARSE_ERROR);
	khttpd_head_limits.head_fields = KHTTPD_HEADERS_MAX;
	khttpd_head_limits.head_bytes = strlen(head) - 1;
	EXPECT_EQ(parse_both(&again, head, ""), KHTTPD_PARSE_ERROR);
	head[5] = '0';
	EXPECT_EQ(parse_both(&again, head, ""), KHTTPD_PARSE_ERROR);
	khttpd_head_limits.head_bytes = strlen(head);
	EXPECT_EQ(parse_both(&again, head, ""), KHTTPD_PARSE_DONE);
	EXPECT_TRUE(again.same);
	khttpd_head_limits.head_bytes = KHTTPD_HEAD_MAX;
}

TEST(what_is_too_long_to_keep)
{
	struct khttpd_again again = {};
	char head[KHTTPD_AGAIN_MAX + 64];
	int len;

	for (len = KHTTPD_AGAIN_MAX - 1; len <= KHTTPD_AGAIN_MAX + 1; len++) {
		memset(&again, 0, sizeof(again));
		snprintf(head, sizeof(head), "GET / HTTP/1.1\r\n" HOST "X: %0*d\r\n" END,
			 len - (int)strlen("GET / HTTP/1.1\r\n" HOST "X: \r\n" END), 1);
		EXPECT_EQ(strlen(head), len);
		parse_both(&again, head, "");
		parse_both(&again, head, "");
		EXPECT_EQ(again.same, len <= KHTTPD_AGAIN_MAX);
	}
}
