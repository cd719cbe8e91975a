// SPDX-License-Identifier: GPL-2.0
/* The request parser: what is accepted, what is refused and with which status,
 * and that no cut into pieces changes either.
 */
#include "unit.h"
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"

#define HOST	"Host: a.example\r\n"
#define END	"\r\n"

struct parse_case {
	const char *name;
	const char *input;
	size_t len;		/* 0: strlen */
	u16 status;		/* 0: accepted */
	u16 flags;		/* that must be set, if accepted */
};

/* Parse @input given in two pieces, cut at @cut, or byte by byte. */
static enum khttpd_parse_result parse_cut(struct khttpd_request *req,
					  const u8 *input, size_t len,
					  size_t cut)
{
	enum khttpd_parse_result result = KHTTPD_PARSE_MORE;
	u8 *copy;
	size_t i;

	khttpd_request_reset(req);
	if (cut == (size_t)-1) {
		for (i = 1; i <= len && result == KHTTPD_PARSE_MORE; i++) {
			/* A block of just that size, so that ASan guards it. */
			copy = malloc(i);
			memcpy(copy, input, i);
			result = khttpd_parse(req, copy, i);
			free(copy);
		}
		return result;
	}
	copy = malloc(cut + 1);
	memcpy(copy, input, cut);
	result = khttpd_parse(req, copy, cut);
	free(copy);
	if (result == KHTTPD_PARSE_MORE) {
		copy = malloc(len + 1);
		memcpy(copy, input, len);
		result = khttpd_parse(req, copy, len);
		free(copy);
	}
	return result;
}

static bool same(const struct khttpd_request *a, const struct khttpd_request *b)
{
	return a->error == b->error && a->flags == b->flags &&
	       a->method == b->method && a->major == b->major &&
	       a->minor == b->minor && a->path == b->path &&
	       a->path_len == b->path_len && a->query == b->query &&
	       a->query_len == b->query_len && a->host == b->host &&
	       a->host_len == b->host_len && a->head_len == b->head_len &&
	       a->content_length == b->content_length &&
	       a->headers == b->headers;
}

static void check_case(const struct parse_case *c)
{
	size_t len = c->len ? c->len : strlen(c->input), cut, step;
	const u8 *input = (const u8 *)c->input;
	struct khttpd_request whole, req;
	enum khttpd_parse_result result;

	unit_case(c->name);
	result = parse_cut(&whole, input, len, len);
	if (c->status) {
		EXPECT_EQ(result, KHTTPD_PARSE_ERROR);
		EXPECT_EQ(whole.error, c->status);
	} else {
		EXPECT_EQ(result, KHTTPD_PARSE_DONE);
		EXPECT_EQ(whole.error, 0);
		EXPECT_EQ(whole.flags & c->flags, c->flags);
	}

	/* Long inputs are cut at every 61st place: enough of them are short. */
	step = len > 1024 ? 61 : 1;
	for (cut = 0; cut < len; cut += step) {
		EXPECT_EQ(parse_cut(&req, input, len, cut), result);
		EXPECT_TRUE(same(&whole, &req));
	}
	if (len <= 1024) {
		EXPECT_EQ(parse_cut(&req, input, len, -1), result);
		EXPECT_TRUE(same(&whole, &req));
	}
}

#define OK(name, input, flags)	{ name, input, 0, 0, flags }
#define BAD(name, input, status)	{ name, input, 0, status, 0 }
#define RAW(name, input, status)	{ name, input, sizeof(input) - 1, status, 0 }
#define GET(target)		"GET " target " HTTP/1.1\r\n" HOST END
#define HEADER(line)		"GET / HTTP/1.1\r\n" HOST line "\r\n" END
#define POST(lines)		"POST / HTTP/1.1\r\n" HOST lines END

static const struct parse_case cases[] = {
	/* Host (rows 1 to 5) */
	BAD("1.1 without Host", "GET / HTTP/1.1\r\n\r\n", 400),
	BAD("two equal Hosts", HEADER("Host: a.example"), 400),
	BAD("two different Hosts", HEADER("Host: b"), 400),
	BAD("Host with space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
	BAD("Host list", "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400),
	BAD("Host as path", "GET / HTTP/1.1\r\nHost: ../../etc\r\n\r\n", 400),
	BAD("Host bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400),
	BAD("Host port too large", "GET / HTTP/1.1\r\nHost: a:99999999\r\n\r\n", 400),
	BAD("Host port 65536", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400),
	BAD("Host port letters", "GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n", 400),
	OK("Host with an encoded dot", "GET / HTTP/1.1\r\nHost: a%2eb\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host with a delimiter", "GET / HTTP/1.1\r\nHost: A!b\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host with nothing but a port's colon",
	   "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host with a zone", "GET / HTTP/1.1\r\nHost: [fe80::1%eth0]\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host with a zone, encoded, and port",
	   "GET / HTTP/1.1\r\nHost: [fe80::1%25eth0.5]:8080\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host with underscore and port",
	   "GET / HTTP/1.1\r\nHost: my_service:8080\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host that begins with a minus", "GET / HTTP/1.1\r\nHost: -a\r\n\r\n", KHTTPD_REQ_HOST),
	BAD("Host with half an encoded byte", "GET / HTTP/1.1\r\nHost: a%2\r\n\r\n", 400),
	BAD("Host with no encoded byte", "GET / HTTP/1.1\r\nHost: a%zz\r\n\r\n", 400),
	BAD("Host with two dots", "GET / HTTP/1.1\r\nHost: a..b\r\n\r\n", 400),
	BAD("Host with raw 8-bit", "GET / HTTP/1.1\r\nHost: m\xc3\xbcnchen\r\n\r\n", 400),
	BAD("Host with an empty zone", "GET / HTTP/1.1\r\nHost: [fe80::1%]\r\n\r\n", 400),
	BAD("Host with a bad zone", "GET / HTTP/1.1\r\nHost: [fe80::1%a/b]\r\n\r\n", 400),
	BAD("Host with a zone and no address", "GET / HTTP/1.1\r\nHost: [%eth0]\r\n\r\n", 400),
	BAD("Host with quotes", "GET / HTTP/1.1\r\nHost: a\"b\r\n\r\n", 400),
	BAD("empty Host", "GET / HTTP/1.1\r\nHost: \r\n\r\n", 400),
	BAD("empty Host without space", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
	OK("Host IPv6 and port",
	   "GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n", KHTTPD_REQ_HOST),
	OK("Host IPv6", "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", 0),
	OK("Host upper case, dot", "GET / HTTP/1.1\r\nHost: A.EXAMPLE.\r\n\r\n", 0),
	OK("Host with white space around", "GET / HTTP/1.1\r\nHost: \t a \t \r\n\r\n", 0),
	OK("Host port 65535", "GET / HTTP/1.1\r\nHost: a:65535\r\n\r\n", 0),
	OK("Host empty port", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", 0),
	/* Targets and methods (rows 6 to 11) */
	OK("absolute form", "GET http://b.example/x?y HTTP/1.1\r\n" HOST END, KHTTPD_REQ_ABSOLUTE),
	OK("absolute form, no path", "GET HTTP://b HTTP/1.1\r\n" HOST END, KHTTPD_REQ_ABSOLUTE),
	BAD("absolute form, no Host", "GET http://b/ HTTP/1.1\r\n\r\n", 400),
	BAD("absolute form, bad authority", GET("http://u@b/"), 400),
	BAD("absolute form, no authority", GET("http:///x"), 400),
	BAD("other scheme", GET("ftp://b/"), 400),
	BAD("no leading slash", GET("index.html"), 400),
	BAD("star for GET", GET("*"), 400),
	OK("OPTIONS star", "OPTIONS * HTTP/1.1\r\n" HOST END, KHTTPD_REQ_NOPATH),
	BAD("OPTIONS star and more", "OPTIONS *x HTTP/1.1\r\n" HOST END, 400),
	OK("CONNECT", "CONNECT a:80 HTTP/1.1\r\n" HOST END, KHTTPD_REQ_NOPATH),
	BAD("CONNECT with path", "CONNECT /x HTTP/1.1\r\n" HOST END, 400),
	BAD("short method, star", "G * HTTP/1.1\r\n" HOST END, 400),
	OK("TRACE", "TRACE / HTTP/1.1\r\n" HOST END, 0),
	OK("unknown method", "FOO / HTTP/1.1\r\n" HOST END, 0),
	OK("lower-case get", "get / HTTP/1.1\r\n" HOST END, 0),
	BAD("method with control", "GE\001T / HTTP/1.1\r\n" HOST END, 400),
	BAD("method of 33 letters",
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n" HOST END, 400),
	OK("method of 32 letters", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF / HTTP/1.1\r\n" HOST END, 0),
	/* Versions (rows 12, 13) */
	OK("HTTP/1.2", "GET / HTTP/1.2\r\n" HOST END, 0),
	BAD("HTTP/2.0", "GET / HTTP/2.0\r\n" HOST END, 505),
	BAD("HTTP/0.9 by name", "GET / HTTP/0.9\r\n" HOST END, 505),
	BAD("HTTP/0.9 by form", "GET /\r\n", 400),
	BAD("version in lower case", "GET / http/1.1\r\n" HOST END, 400),
	BAD("HTTP/01.1", "GET / HTTP/01.1\r\n" HOST END, 400),
	BAD("HTTP/1.10", "GET / HTTP/1.10\r\n" HOST END, 400),
	BAD("HTTP/1", "GET / HTTP/1\r\n" HOST END, 400),
	BAD("version missing", "GET / \r\n" HOST END, 400),
	BAD("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
	RAW("TLS ClientHello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
	RAW("NUL bytes", "\0\0\0\0", 400),
	/* White space and lines (rows 14 to 23) */
	BAD("two spaces before target", "GET  / HTTP/1.1\r\n" HOST END, 400),
	BAD("two spaces before version", "GET /  HTTP/1.1\r\n" HOST END, 400),
	BAD("tab for space", "GET\t/ HTTP/1.1\r\n" HOST END, 400),
	BAD("space behind version", "GET / HTTP/1.1 \r\n" HOST END, 400),
	BAD("space in front", " GET / HTTP/1.1\r\n" HOST END, 400),
	OK("two empty lines in front", "\r\n\r\n" GET("/"), 0),
	OK("four empty lines in front", "\r\n\r\n\r\n\r\n" GET("/"), 0),
	BAD("five empty lines in front", "\r\n\r\n\r\n\r\n\r\n" GET("/"), 400),
	BAD("bare LF in front", "\n" GET("/"), 400),
	BAD("bare LF lines", "GET / HTTP/1.1\nHost: a\n\n", 400),
	BAD("bare LF in headers", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
	BAD("bare LF at the end", "GET / HTTP/1.1\r\n" HOST "\n", 400),
	BAD("bare CR in value", HEADER("X: a\rb"), 400),
	BAD("CR CR LF", "GET / HTTP/1.1\r\n" HOST "\r\r\n", 400),
	BAD("CR in request line", "GET /\r HTTP/1.1\r\n" HOST END, 400),
	BAD("folded line", HEADER("X: a\r\n b"), 400),
	BAD("space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
	BAD("Transfer-Encoding with space", POST("Transfer-Encoding : chunked\r\n"), 400),
	BAD("space before first header", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
	BAD("line without colon", HEADER("abc"), 400),
	BAD("empty name", HEADER(": a"), 400),
	BAD("bad character in name", HEADER("a@b: c"), 400),
	BAD("8-bit in name", HEADER("a\xff: c"), 400),
	OK("8-bit in value", HEADER("X: a\xff\x80"), 0),
	OK("empty value", HEADER("X:"), 0),
	OK("quotes and tabs in value", HEADER("X: \"a\tb\" (c)"), 0),
	RAW("NUL in value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
	RAW("NUL in name", "GET / HTTP/1.1\r\nHost: a\r\nX\0: ab\r\n\r\n", 400),
	BAD("DEL in value", HEADER("X: a\x7f"), 400),
	BAD("control in value", HEADER("X: a\x01"), 400),
	/* Framing (rows 24 to 29) */
	OK("Content-Length", POST("Content-Length: 5\r\n"), KHTTPD_REQ_LENGTH),
	OK("chunked", POST("Transfer-Encoding: chunked\r\n"), KHTTPD_REQ_CHUNKED),
	OK("chunked, any case", POST("TRANSFER-encoding: cHuNkEd\r\n"), KHTTPD_REQ_CHUNKED),
	OK("chunked after tab", POST("Transfer-Encoding:\tchunked\r\n"), KHTTPD_REQ_CHUNKED),
	BAD("both", POST("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400),
	BAD("both, other order", POST("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400),
	BAD("two lengths", POST("Content-Length: 5\r\nContent-Length: 6\r\n"), 400),
	BAD("two equal lengths", POST("Content-Length: 5\r\nContent-Length: 5\r\n"), 400),
	BAD("length list", POST("Content-Length: 5, 5\r\n"), 400),
	BAD("length plus", POST("Content-Length: +5\r\n"), 400),
	BAD("length minus", POST("Content-Length: -1\r\n"), 400),
	BAD("length hex", POST("Content-Length: 0x5\r\n"), 400),
	BAD("length with space", POST("Content-Length: 5 5\r\n"), 400),
	BAD("length empty", POST("Content-Length: \r\n"), 400),
	BAD("length of 20 digits", POST("Content-Length: 12345678901234567890\r\n"), 400),
	BAD("length 2^63-1", POST("Content-Length: 9223372036854775807\r\n"), 413),
	BAD("length over the cap", POST("Content-Length: 1099511627777\r\n"), 413),
	OK("length at the cap", POST("Content-Length: 1099511627776\r\n"), KHTTPD_REQ_LENGTH),
	BAD("xchunked", POST("Transfer-Encoding: xchunked\r\n"), 501),
	BAD("chunked, identity", POST("Transfer-Encoding: chunked, identity\r\n"), 400),
	BAD("identity", POST("Transfer-Encoding: identity\r\n"), 501),
	BAD("empty coding", POST("Transfer-Encoding:\r\n"), 501),
	BAD("chunked twice in list", POST("Transfer-Encoding: chunked, chunked\r\n"), 400),
	BAD("chunked in two lines",
	    POST("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400),
	BAD("chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
	/* Connection and Upgrade (rows 34 to 37) */
	OK("Expect", POST("Expect: 100-continue\r\nContent-Length: 1\r\n"), 0),
	OK("empty list elements", HEADER("Connection: TE,,Keep-Alive"), KHTTPD_REQ_KEEPALIVE),
	OK("close and keep-alive",
	   HEADER("Connection: close, keep-alive"), KHTTPD_REQ_CLOSE | KHTTPD_REQ_KEEPALIVE),
	OK("only commas", HEADER("Connection: ,,,"), 0),
	OK("websocket", HEADER("Upgrade: h2c , WebSocket"), KHTTPD_REQ_WEBSOCKET),
	OK("1.0 without Host",
	   "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", KHTTPD_REQ_KEEPALIVE),
	/* Bytes in targets (rows 41 to 44) */
	BAD("control in target", GET("/a\x01"), 400),
	RAW("NUL in target", "GET /a\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
	OK("8-bit in target", GET("/\xc3\xa4"), 0),
	BAD("fragment", GET("/a#b"), 400),
	BAD("space in target", GET("/a b"), 400),
	OK("backslash", GET("/\\.."), 0),
};

TEST(every_case_whole_and_cut_at_every_byte)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static u16 status_of(const char *before, size_t count, char fill,
		     const char *after)
{
	size_t len = strlen(before) + count + strlen(after);
	struct parse_case c = { .name = before, .len = len };
	struct khttpd_request req;
	char *input = malloc(len + 1);

	sprintf(input, "%s", before);
	memset(input + strlen(before), fill, count);
	strcpy(input + strlen(before) + count, after);
	khttpd_request_reset(&req);
	khttpd_parse(&req, (u8 *)input, len);
	c.input = input;
	c.status = req.error;
	check_case(&c);
	free(input);
	return req.error;
}

TEST(long_things_are_refused_with_the_right_status)
{
	EXPECT_EQ(status_of("", 100000, 'A', " / HTTP/1.1\r\n" HOST END), 400);
	EXPECT_EQ(status_of("GET /", 9000, 'a', " HTTP/1.1\r\n" HOST END), 414);
	EXPECT_EQ(status_of("GET /", 100000, 'a', " HTTP/1.1\r\n" HOST END), 414);
	EXPECT_EQ(status_of("GET /", 8000, 'a', " HTTP/1.1\r\n" HOST END), 0);
	EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" HOST "X: ", 9000, 'a',
			    "\r\n" END), 431);
	EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" HOST "X: ", 8000, 'a',
			    "\r\n" END), 0);
}

TEST(many_headers_are_refused)
{
	static char input[8192];
	struct khttpd_request req;
	int n, i, len;

	for (n = 99; n <= 101; n++) {
		len = sprintf(input, "GET / HTTP/1.0\r\n");
		for (i = 0; i < n; i++)
			len += sprintf(input + len, "A: b\r\n");
		len += sprintf(input + len, "\r\n");
		khttpd_request_reset(&req);
		khttpd_parse(&req, (u8 *)input, len);
		EXPECT_EQ(req.error, n > KHTTPD_HEADERS_MAX ? 431 : 0);
	}
}

TEST(limits_of_an_administrator)
{
	static const char line[] = "GET /abcdefgh HTTP/1.0\r\n";
	struct khttpd_request req;
	char input[128];
	int len, n;

	khttpd_head_limits.head_fields = 2;
	khttpd_head_limits.head_bytes = 64;
	for (n = 1; n <= 3; n++) {
		len = sprintf(input, "%s%.*s\r\n", line, 5 * n, "A:b\r\nA:b\r\nA:b\r\n");
		khttpd_request_reset(&req);
		EXPECT_EQ(khttpd_parse(&req, (u8 *)input, len),
			  n > 2 ? KHTTPD_PARSE_ERROR : KHTTPD_PARSE_DONE);
		EXPECT_EQ(req.error, n > 2 ? 431 : 0);
	}
	for (n = 63; n <= 65; n++) {
		len = sprintf(input, "%sA:%0*d\r\n\r\n", line,
			      n - (int)strlen(line) - 6, 1);
		EXPECT_EQ(len, n);
		khttpd_request_reset(&req);
		khttpd_parse(&req, (u8 *)input, len);
		EXPECT_EQ(req.error, n > 64 ? 431 : 0);
		/* What is cut in two comes to the same. */
		khttpd_request_reset(&req);
		khttpd_parse(&req, (u8 *)input, 20);
		khttpd_parse(&req, (u8 *)input, len);
		EXPECT_EQ(req.error, n > 64 ? 431 : 0);
	}
	khttpd_head_limits.head_fields = KHTTPD_HEADERS_MAX;
	khttpd_head_limits.head_bytes = KHTTPD_HEAD_MAX;
}

TEST(five_thousand_connection_tokens)
{
	static char input[8192];
	struct khttpd_request req;
	int len, i;

	len = sprintf(input, "GET / HTTP/1.0\r\nConnection: ");
	for (i = 0; i < 2500; i++)
		len += sprintf(input + len, "a,");
	len += sprintf(input + len, "close\r\n\r\n");
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_parse(&req, (u8 *)input, len), KHTTPD_PARSE_DONE);
	EXPECT_EQ(req.flags, KHTTPD_REQ_CLOSE);
}

static void parse_done(struct khttpd_request *req, const char *input)
{
	khttpd_request_reset(req);
	EXPECT_EQ(khttpd_parse(req, (const u8 *)input, strlen(input)),
		  KHTTPD_PARSE_DONE);
}

TEST(parts_of_the_target_are_found)
{
	static const char plain[] = "GET /a/b?c=d?e HTTP/1.1\r\n" HOST END;
	static const char absolute[] =
		"HEAD http://b.example:81?q HTTP/1.1\r\n" HOST END;
	struct khttpd_request req;

	parse_done(&req, plain);
	EXPECT_EQ(req.method, KHTTPD_METHOD_GET);
	EXPECT_EQ(req.path_len, 4);
	EXPECT_MEM(plain + req.path, "/a/b", 4);
	EXPECT_EQ(req.query_len, 6);
	EXPECT_MEM(plain + req.query, "?c=d?e", 6);
	EXPECT_EQ(req.host_len, 9);
	EXPECT_MEM(plain + req.host, "a.example", 9);
	EXPECT_EQ(req.head_len, sizeof(plain) - 1);

	parse_done(&req, absolute);
	EXPECT_EQ(req.method, KHTTPD_METHOD_HEAD);
	EXPECT_EQ(req.path_len, 0);
	EXPECT_EQ(req.query_len, 2);
	EXPECT_EQ(req.host_len, 12);
	EXPECT_MEM(absolute + req.host, "b.example:81", 12);
}

TEST(what_follows_the_head_is_left_alone)
{
	static const char two[] = GET("/1") GET("/2");
	struct khttpd_request req;

	parse_done(&req, two);
	EXPECT_EQ(req.head_len, (sizeof(two) - 1) / 2);
	EXPECT_EQ(khttpd_parse(&req, (const u8 *)two, sizeof(two) - 1),
		  KHTTPD_PARSE_DONE);
	EXPECT_EQ(req.head_len, (sizeof(two) - 1) / 2);
}

TEST(persistence_follows_version_and_connection)
{
	struct khttpd_request req;

	parse_done(&req, GET("/"));
	EXPECT_TRUE(khttpd_request_persists(&req));
	parse_done(&req, HEADER("Connection: close"));
	EXPECT_FALSE(khttpd_request_persists(&req));
	parse_done(&req, HEADER("Connection: keep-alive, close"));
	EXPECT_FALSE(khttpd_request_persists(&req));
	parse_done(&req, "GET / HTTP/1.0\r\n\r\n");
	EXPECT_FALSE(khttpd_request_persists(&req));
	parse_done(&req, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
	EXPECT_TRUE(khttpd_request_persists(&req));
}

TEST(bodies_are_recognised)
{
	struct khttpd_request req;

	parse_done(&req, GET("/"));
	EXPECT_TRUE(khttpd_request_bodiless(&req));
	parse_done(&req, POST("Content-Length: 0\r\n"));
	EXPECT_TRUE(khttpd_request_bodiless(&req));
	parse_done(&req, POST("Content-Length: 1\r\n"));
	EXPECT_FALSE(khttpd_request_bodiless(&req));
	EXPECT_EQ(req.content_length, 1);
	parse_done(&req, POST("Transfer-Encoding: chunked\r\n"));
	EXPECT_FALSE(khttpd_request_bodiless(&req));
}

static u16 flags_of(const char *head, size_t len)
{
	struct khttpd_request req;

	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_parse(&req, (const u8 *)head, len), KHTTPD_PARSE_ERROR);
	return req.flags & (KHTTPD_REQ_ALIEN | KHTTPD_REQ_LONG);
}

#define FLAGS_OF(head) flags_of(head, sizeof(head) - 1)

TEST(what_does_not_begin_as_http_1_is_marked)
{
	EXPECT_EQ(FLAGS_OF("\x16\x03\x01\x02\0"), KHTTPD_REQ_ALIEN);
	EXPECT_EQ(FLAGS_OF("\r\n\r\n\0\r\nQUIT\n"), KHTTPD_REQ_ALIEN);
	EXPECT_EQ(FLAGS_OF("PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n"), KHTTPD_REQ_ALIEN);
	EXPECT_EQ(FLAGS_OF("PROXY UNKNOWN\r\nGET / HTTP/1.1\r\n" HOST END),
		  KHTTPD_REQ_ALIEN);
	EXPECT_EQ(FLAGS_OF("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), KHTTPD_REQ_ALIEN);
	EXPECT_EQ(FLAGS_OF("GET  / HTTP/1.1\r\n"), 0);
	EXPECT_EQ(FLAGS_OF("GET\t/ HTTP/1.1\r\n"), 0);
	EXPECT_EQ(FLAGS_OF("GET / HTTP/2.0\r\n"), 0);
}

/* A head of 8 KB or more, of which the path is known, or not. */
static void long_head(const char *before, const char *path, u16 status)
{
	static char input[9000];
	struct khttpd_request req;

	memset(input, 'a', sizeof(input));
	memcpy(input, before, strlen(before));
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_parse(&req, (u8 *)input, sizeof(input)), KHTTPD_PARSE_ERROR);
	EXPECT_EQ(req.error, status);
	EXPECT_EQ(req.flags & KHTTPD_REQ_LONG, KHTTPD_REQ_LONG);
	EXPECT_EQ(req.path_len, strlen(path));
	EXPECT_FALSE(memcmp(input + req.path, path, req.path_len));
}

TEST(the_path_of_a_long_head_is_known_if_it_is_whole)
{
	long_head("GET /app HTTP/1.1\r\nX: ", "/app", 431);
	long_head("GET /app?", "/app", 414);
	long_head("GET /app", "", 414);
	long_head("GET http://a/app?", "", 414);
}
