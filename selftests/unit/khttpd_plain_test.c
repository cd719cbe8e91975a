// SPDX-License-Identifier: GPL-2.0
/* Which requests may be answered where their segment is received, and which are a
 * server's.
 */
#include "unit.h"
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/plain.c"

static char head[KHTTPD_HEAD_MAX];
static struct khttpd_request req;

/* With @more bytes behind the request. */
static bool plain(const char *line, const char *fields, size_t more)
{
	size_t len;

	unit_case(line);
	len = snprintf(head, sizeof(head), "%s\r\nHost: a\r\n%s\r\n", line, fields);
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_parse(&req, (u8 *)head, len), KHTTPD_PARSE_DONE);
	EXPECT_EQ(req.head_len, len);
	return khttpd_request_plain(&req, len + more);
}

#define GET	"GET /x HTTP/1.1"

TEST(methods)
{
	EXPECT_TRUE(plain(GET, "", 0));
	EXPECT_TRUE(plain("HEAD /x HTTP/1.1", "", 0));
	EXPECT_TRUE(plain("GET http://b/x HTTP/1.1", "", 0));
	EXPECT_FALSE(plain("OPTIONS /x HTTP/1.1", "", 0));
	EXPECT_FALSE(plain("OPTIONS * HTTP/1.1", "", 0));
	EXPECT_FALSE(plain("POST /x HTTP/1.1", "", 0));
	EXPECT_FALSE(plain("get /x HTTP/1.1", "", 0));
}

TEST(fields)
{
	EXPECT_TRUE(plain(GET, "If-None-Match: \"x\"\r\n", 0));
	EXPECT_TRUE(plain(GET, "Accept-Encoding: gzip\r\nCookie: a=b\r\n", 0));
	EXPECT_TRUE(plain(GET, "Content-Length: 0\r\n", 0));
	EXPECT_FALSE(plain(GET, "Content-Length: 1\r\n", 1));
	EXPECT_FALSE(plain(GET, "Transfer-Encoding: chunked\r\n", 5));
	EXPECT_FALSE(plain(GET, "Range: bytes=0-1\r\n", 0));
	EXPECT_FALSE(plain(GET, "Range: nonsense\r\n", 0));
	EXPECT_FALSE(plain(GET, "Connection: Upgrade\r\nUpgrade: websocket\r\n", 0));
}

/* The last request must be the last of what has come. */
TEST(ends)
{
	EXPECT_TRUE(plain(GET, "", 1));
	EXPECT_TRUE(plain(GET, "Connection: close\r\n", 0));
	EXPECT_FALSE(plain(GET, "Connection: close\r\n", 1));
	EXPECT_TRUE(plain("GET /x HTTP/1.0", "", 0));
	EXPECT_FALSE(plain("GET /x HTTP/1.0", "", 1));
	EXPECT_TRUE(plain("GET /x HTTP/1.0", "Connection: keep-alive\r\n", 1));
}

static bool foreign(const char *line, const char *fields)
{
	plain(line, fields, 0);
	return khttpd_request_foreign(&req);
}

TEST(for_a_server)
{
	EXPECT_FALSE(foreign(GET, ""));
	EXPECT_FALSE(foreign("HEAD /x HTTP/1.0", "Connection: close\r\n"));
	EXPECT_FALSE(foreign(GET, "Range: bytes=0-1\r\nContent-Length: 0\r\n"));
	EXPECT_FALSE(foreign(GET, "Connection: Upgrade\r\nUpgrade: h2c\r\n"));
	EXPECT_TRUE(foreign(GET, "Content-Length: 1\r\n"));
	EXPECT_TRUE(foreign(GET, "Transfer-Encoding: chunked\r\n"));
	EXPECT_TRUE(foreign(GET, "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
	EXPECT_TRUE(foreign("POST /x HTTP/1.1", ""));
	EXPECT_TRUE(foreign("OPTIONS * HTTP/1.1", ""));
	EXPECT_TRUE(foreign("BREW /x HTTP/1.1", ""));
}
