// SPDX-License-Identifier: GPL-2.0
/* Which host belongs to which names. */
#include "unit.h"
#include "../../khttpd/http/names.c"

static int match(const char *names, const char *host)
{
	size_t len = strlen(host);
	u8 *copy = malloc(len ? len : 1);
	int result;

	memcpy(copy, host, len);
	result = khttpd_names_match(names, copy, len);
	free(copy);
	return result;
}

TEST(names)
{
	EXPECT_EQ(match("a.example", "a.example"), 2);
	EXPECT_EQ(match("a.example", "A.Example.:8080"), 2);
	EXPECT_EQ(match("b A.EXAMPLE\n", "a.example:80"), 2);
	EXPECT_EQ(match("a.example", "b.example"), 0);
	EXPECT_EQ(match("a.example", "a.example.org"), 0);
	EXPECT_EQ(match("*.example", "a.example"), 1);
	EXPECT_EQ(match("*.example", "b.a.example:1"), 1);
	EXPECT_EQ(match("*.example", "example"), 0);
	EXPECT_EQ(match("*.example", ".example"), 0);
	EXPECT_EQ(match("*.example a.example", "a.example"), 2);
	EXPECT_EQ(match("", "a"), 0);
	EXPECT_EQ(match("a", ""), 0);
	EXPECT_EQ(match("a", ":80"), 0);
	EXPECT_EQ(match("[::1]", "[::1]:80"), 2);
	EXPECT_EQ(match("[::1]", "[::1]"), 2);
	EXPECT_EQ(match("127.0.0.1", "127.0.0.1:8080"), 2);
	EXPECT_EQ(match("[2001:db8::80]", "[2001:db8::80]"), 2);
}

TEST(validity)
{
	EXPECT_TRUE(khttpd_names_valid(""));
	EXPECT_TRUE(khttpd_names_valid("a.example *.b.example\n[::1]\t1.2.3.4"));
	EXPECT_FALSE(khttpd_names_valid("*"));
	EXPECT_FALSE(khttpd_names_valid("a.*.b"));
	EXPECT_FALSE(khttpd_names_valid("*."));
	EXPECT_FALSE(khttpd_names_valid("a/b"));
	/* They would match nothing: a host is compared without its port and last dot. */
	EXPECT_FALSE(khttpd_names_valid("a.example:80"));
	EXPECT_FALSE(khttpd_names_valid("a.example."));
	EXPECT_FALSE(khttpd_names_valid("*.a.example."));
	EXPECT_FALSE(khttpd_names_valid("[::1]:80"));
	EXPECT_FALSE(khttpd_names_valid("::1"));
	EXPECT_FALSE(khttpd_names_valid("[::1"));
	EXPECT_FALSE(khttpd_names_valid("b a[1]"));
	EXPECT_FALSE(khttpd_names_valid("a\rb"));
}
