// SPDX-License-Identifier: GPL-2.0
/* Media types by name, and dates against the C library's. */
#include <time.h>
#include "unit.h"
#include "../../khttpd/http/date.c"
#include "../../khttpd/http/mime.c"

static const char *table;

static const char *type(const char *name)
{
	static char out[128];
	const char *found;
	size_t len;

	found = khttpd_mime_find(table, table ? strlen(table) : 0, name,
				 strlen(name), &len);
	snprintf(out, sizeof(out), "%.*s", (int)len, found);
	return out;
}

TEST(types)
{
	EXPECT_STR(type("a.html"), "text/html");
	EXPECT_STR(type("dir.d/a.HTM"), "text/html");
	EXPECT_STR(type("a.tar.gz"), "application/gzip");
	EXPECT_STR(type("a.woff2"), "font/woff2");
	EXPECT_STR(type("a"), "application/octet-stream");
	EXPECT_STR(type(""), "application/octet-stream");
	EXPECT_STR(type("html"), "application/octet-stream");
	EXPECT_STR(type("x.html/file"), "application/octet-stream");
	EXPECT_STR(type("a."), "application/octet-stream");
	EXPECT_STR(type("a.htmlx"), "application/octet-stream");
	EXPECT_STR(type(".css"), "text/css");
}

TEST(types_that_nginx_knows_are_known)
{
	EXPECT_STR(type("a.mov"), "video/quicktime");
	EXPECT_STR(type("a.m3u8"), "application/vnd.apple.mpegurl");
	EXPECT_STR(type("a.ts"), "video/mp2t");
	EXPECT_STR(type("a.docx"),
		   "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
	EXPECT_STR(type("a.rpm"), "application/x-redhat-package-manager");
	EXPECT_STR(type("a.webmanifest"), "application/manifest+json");
}

TEST(own_types_come_first)
{
	table = "# comment html\n\ntext/x-own\thtml  HTM\nx/y\n a/b\tz";
	EXPECT_STR(type("a.html"), "text/x-own");
	EXPECT_STR(type("a.htm"), "text/x-own");
	EXPECT_STR(type("a.css"), "text/css");
	EXPECT_STR(type("a.z"), "a/b");
	EXPECT_STR(type("a.y"), "application/octet-stream");
	EXPECT_STR(type("html"), "application/octet-stream");
	table = NULL;
	EXPECT_TRUE(khttpd_mime_valid("a/b c\n", 6, 3));
	EXPECT_TRUE(khttpd_mime_valid("", 0, 3));
	EXPECT_FALSE(khttpd_mime_valid("a/b\r\n", 5, 3));
	EXPECT_FALSE(khttpd_mime_valid("a/bc", 4, 3));
	EXPECT_FALSE(khttpd_mime_valid("a/b\n\na/bc", 9, 3));
}

static void check_date(s64 when)
{
	char mine[KHTTPD_DATE_LEN + 1] = "", theirs[64];
	time_t t = when;

	khttpd_date_format(mine, when);
	strftime(theirs, sizeof(theirs), "%a, %d %b %Y %H:%M:%S GMT",
		 gmtime(&t));
	EXPECT_STR(mine, theirs);
}

TEST(dates_agree_with_the_library)
{
	u64 seed = 1;
	s64 day;
	int i;

	check_date(784111777);	/* the example of RFC 9110 section 5.6.7 */
	check_date(0);
	check_date(253402300799LL);
	for (day = 0; day < 366 * 500; day++)
		check_date(day * 86400 + day % 86400);
	for (i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		check_date(seed % 253402300800ULL);
	}
}

TEST(dates_outside_are_clamped)
{
	char out[KHTTPD_DATE_LEN];

	khttpd_date_format(out, -1);
	EXPECT_MEM(out, "Thu, 01 Jan 1970 00:00:00 GMT", KHTTPD_DATE_LEN);
	khttpd_date_format(out, 1LL << 62);
	EXPECT_MEM(out, "Fri, 31 Dec 9999 23:59:59 GMT", KHTTPD_DATE_LEN);
}
