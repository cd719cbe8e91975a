// SPDX-License-Identifier: GPL-2.0
/* Where a client is sent, and what a site says of HTTPS. */
#include "unit.h"
#include "../../khttpd/http/https.c"

static int host(const char *text)
{
	size_t len = strlen(text);
	u8 *copy = malloc(len ? len : 1);
	int result;

	memcpy(copy, text, len);
	result = khttpd_https_host(copy, len);
	free(copy);
	return result;
}

TEST(host)
{
	EXPECT_EQ(host("a.example"), 9);
	EXPECT_EQ(host("a.example:8080"), 9);
	EXPECT_EQ(host("A-b_c.EXAMPLE.:"), 14);
	EXPECT_EQ(host("192.0.2.1:80"), 9);
	EXPECT_EQ(host("[2001:DB8::1]"), 13);
	EXPECT_EQ(host("[::ffff:192.0.2.1]:80"), 18);
	EXPECT_EQ(host(""), 0);
	EXPECT_EQ(host(":80"), 0);
	EXPECT_EQ(host("["), 0);
	EXPECT_EQ(host("[]"), 0);
	EXPECT_EQ(host("[::1"), 0);
	EXPECT_EQ(host("[::1]x"), 0);
	EXPECT_EQ(host("[fe80::1%25eth0]"), 0);
	EXPECT_EQ(host("[v1.a]"), 0);
	EXPECT_EQ(host("user@a.example"), 0);
	EXPECT_EQ(host("a%2eexample"), 0);
	EXPECT_EQ(host("a!b"), 0);
	EXPECT_EQ(host("a/b"), 0);
	EXPECT_EQ(host("a\\b"), 0);
	EXPECT_EQ(host("a\r\nb"), 0);
	EXPECT_EQ(host("\xc3\xa4.example"), 0);
}

TEST(hsts)
{
	EXPECT_TRUE(khttpd_https_hsts_valid(""));
	EXPECT_TRUE(khttpd_https_hsts_valid("\n"));
	EXPECT_TRUE(khttpd_https_hsts_valid("max-age=0"));
	EXPECT_TRUE(khttpd_https_hsts_valid("max-age=31536000\n"));
	EXPECT_TRUE(khttpd_https_hsts_valid("max-age=9999999999; includeSubDomains; preload\n"));
	EXPECT_TRUE(khttpd_https_hsts_valid("max-age=1; preload; includeSubDomains"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age="));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=1x"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=99999999999"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=1; preload; preload"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=1; other"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=1\r\nX: y"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=1\nX: y"));
	EXPECT_FALSE(khttpd_https_hsts_valid("max-age=1; "));
	EXPECT_FALSE(khttpd_https_hsts_valid("includeSubDomains; max-age=1"));
	EXPECT_FALSE(khttpd_https_hsts_valid(" max-age=1"));
}
