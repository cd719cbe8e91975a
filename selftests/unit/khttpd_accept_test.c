// SPDX-License-Identifier: GPL-2.0
/* Which coding is chosen for what a client says it takes. */
#include "unit.h"
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/accept.c"

#define BR	BIT(KHTTPD_CODING_BR)
#define ZSTD	BIT(KHTTPD_CODING_ZSTD)
#define GZIP	BIT(KHTTPD_CODING_GZIP)
#define ALL	(BR | ZSTD | GZIP)

static char head[KHTTPD_HEAD_MAX];
static struct khttpd_request req;

static void parse(const char *name, const char *value)
{
	snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: a\r\n%s: %s\r\n\r\n",
		 name, value);
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_parse(&req, (u8 *)head, strlen(head)),
		  KHTTPD_PARSE_DONE);
}

static const char *choose(const char *value, unsigned int available)
{
	struct khttpd_codings codings;

	unit_case(value);
	parse("Accept-Encoding", value);
	khttpd_accept_codings(&req, (u8 *)head, &codings);
	return khttpd_coding_name[khttpd_accept_choose(&codings, available)];
}

TEST(codings)
{
	EXPECT_STR(choose("gzip, deflate, br", ALL), "br");
	EXPECT_STR(choose("gzip, deflate, br, zstd", ZSTD | GZIP), "zstd");
	EXPECT_STR(choose("gzip, deflate", ALL), "gzip");
	EXPECT_STR(choose("GZip", ALL), "gzip");
	EXPECT_STR(choose("x-gzip", ALL), "gzip");
	EXPECT_STR(choose("gzip;q=0", GZIP), "identity");
	EXPECT_STR(choose("gzip;q=0.5, br;q=0.1", ALL), "gzip");
	EXPECT_STR(choose("gzip; q=0.001 ", GZIP), "gzip");
	EXPECT_STR(choose("gzip;q=0.5, identity", ALL), "identity");
	EXPECT_STR(choose("gzip;q=0.5, identity;q=0", GZIP), "gzip");
	EXPECT_STR(choose("*", ALL), "br");
	EXPECT_STR(choose("*;q=0", ALL), "identity");
	EXPECT_STR(choose("*;q=0, gzip", ALL), "gzip");
	EXPECT_STR(choose("identity;q=0", 0), "identity");
	EXPECT_STR(choose(",,", ALL), "identity");
	EXPECT_STR(choose("", ALL), "identity");
	EXPECT_STR(choose(", ,gzip,,", ALL), "gzip");
	EXPECT_STR(choose("gzip;q=2", GZIP), "identity");
	EXPECT_STR(choose("gzip;q=", GZIP), "identity");
	EXPECT_STR(choose("gzip;q=0.0001", GZIP), "identity");
	EXPECT_STR(choose("gzip;x=y;q=1", GZIP), "gzip");
	EXPECT_STR(choose("brr, gzippp", ALL), "identity");
	EXPECT_STR(choose("br", 0), "identity");
}

TEST(a_weight_of_a_thousandth_is_one)
{
	struct khttpd_codings codings;

	parse("Accept-Encoding", "gzip;q=0.001, identity;q=0.001");
	khttpd_accept_codings(&req, (u8 *)head, &codings);
	EXPECT_EQ(codings.weight[KHTTPD_CODING_GZIP], 1);
}

TEST(without_the_field_identity)
{
	struct khttpd_codings codings;

	parse("X", "y");
	khttpd_accept_codings(&req, (u8 *)head, &codings);
	EXPECT_EQ(khttpd_accept_choose(&codings, ALL), KHTTPD_CODING_IDENTITY);
}

TEST(json)
{
	parse("Accept", "application/json");
	EXPECT_TRUE(khttpd_accept_json(&req, (u8 *)head));
	parse("Accept", "text/html, application/json;q=0.9, */*;q=0.8");
	EXPECT_FALSE(khttpd_accept_json(&req, (u8 *)head));
	parse("Accept", "*/*");
	EXPECT_FALSE(khttpd_accept_json(&req, (u8 *)head));
}

static int form(const char *accept)
{
	parse("Accept", accept);
	return khttpd_accept_form(&req, (u8 *)head);
}

TEST(forms)
{
	EXPECT_EQ(form("*/*"), KHTTPD_FORM_HTML);
	EXPECT_EQ(form("text/html,application/xml;q=0.9"), KHTTPD_FORM_HTML);
	EXPECT_EQ(form("application/json"), KHTTPD_FORM_JSON);
	EXPECT_EQ(form("application/json;q=0.5, text/html;q=0.4"), KHTTPD_FORM_JSON);
	EXPECT_EQ(form("application/json, text/html"), KHTTPD_FORM_HTML);
	EXPECT_EQ(form("text/plain"), KHTTPD_FORM_TEXT);
	EXPECT_EQ(form("application/json;q=0, text/plain;q=0"), KHTTPD_FORM_HTML);
	EXPECT_EQ(form("application/openmetrics-text;version=1.0.0;q=0.75,"
		       "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"), KHTTPD_FORM_TEXT);
}
