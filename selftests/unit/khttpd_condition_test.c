// SPDX-License-Identifier: GPL-2.0
/* Conditional requests: entity tag lists, the three forms of dates, and which
 * field counts when several are there.
 */
#include <time.h>
#include "unit.h"
#include "../../khttpd/http/parse.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/date.c"
#include "../../khttpd/http/condition.c"

#define NOW	1800000000LL	/* 15 January 2027 */
#define MTIME	784111777LL	/* the example of RFC 9110 section 5.6.7 */
#define DATE	"Sun, 06 Nov 1994 08:49:37 GMT"
#define EARLIER	"Sun, 06 Nov 1994 08:49:36 GMT"
#define LATER	"Sun, 06 Nov 1994 08:49:38 GMT"

static const struct khttpd_validators strong = {
	.tag = "\"a,b\"", .tag_len = 5, .mtime = MTIME, .now = NOW,
};

static const struct khttpd_validators weak = {
	.tag = "\"a,b\"", .tag_len = 5, .weak = true, .mtime = MTIME, .now = NOW,
};

static char head[KHTTPD_HEAD_MAX];
static struct khttpd_request req;

static void parse(const char *fields)
{
	snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n",
		 fields);
	khttpd_request_reset(&req);
	EXPECT_EQ(khttpd_parse(&req, (u8 *)head, strlen(head)),
		  KHTTPD_PARSE_DONE);
}

static void check(const struct khttpd_validators *is, const char *fields,
		  enum khttpd_condition wanted)
{
	unit_case(fields);
	parse(fields);
	EXPECT_EQ(khttpd_condition(&req, (u8 *)head, is), wanted);
}

#define GO		KHTTPD_CONDITION_TRUE
#define UNCHANGED	KHTTPD_CONDITION_UNCHANGED
#define FAILED		KHTTPD_CONDITION_FAILED

TEST(if_none_match)
{
	static const struct {
		const char *fields;
		enum khttpd_condition wanted;
	} cases[] = {
		{ "If-None-Match: *\r\n", UNCHANGED },
		{ "If-None-Match: \"a,b\"\r\n", UNCHANGED },
		{ "If-None-Match: W/\"a,b\"\r\n", UNCHANGED },
		{ "if-none-match: \"x\" , ,, \"a,b\"\r\n", UNCHANGED },
		{ "If-None-Match: \"x\"\r\nIf-None-Match: \"a,b\"\r\n", UNCHANGED },
		{ "If-None-Match: \"a\"\r\n", GO },
		{ "If-None-Match: a,b\r\n", GO },
		{ "If-None-Match: \"a,b\r\n", GO },
		{ "If-None-Match: \"a,b\"x\r\n", GO },
		{ "If-None-Match: w/\"a,b\"\r\n", GO },
		{ "If-None-Match: W/ \"a,b\"\r\n", GO },
		{ "If-None-Match:\r\n", GO },
		{ "If-None-Match: ,,,,,,,,,\r\n", GO },
		{ "If-None-Match: W/\r\n", GO },
		{ "If-None-Match: \"\r\n", GO },
		/* The date does not count beside it. */
		{ "If-None-Match: \"x\"\r\nIf-Modified-Since: " DATE "\r\n", GO },
		{ "If-Modified-Since: " EARLIER "\r\nIf-None-Match: *\r\n",
		  UNCHANGED },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check(&strong, cases[i].fields, cases[i].wanted);
	check(&weak, "If-None-Match: \"a,b\"\r\n", UNCHANGED);
}

TEST(if_match_needs_strong_tags)
{
	check(&strong, "If-Match: \"a,b\"\r\n", GO);
	check(&strong, "If-Match: *\r\n", GO);
	check(&strong, "If-Match: \"x\"\r\n", FAILED);
	check(&strong, "If-Match: W/\"a,b\"\r\n", FAILED);
	check(&strong, "If-Match: nonsense\r\n", FAILED);
	check(&weak, "If-Match: \"a,b\"\r\n", FAILED);
	check(&weak, "If-Match: *\r\n", GO);
	check(&strong, "If-Match: \"a,b\"\r\nIf-None-Match: \"a,b\"\r\n",
	      UNCHANGED);
	check(&strong, "If-Match: \"a,b\"\r\nIf-Unmodified-Since: " EARLIER
	      "\r\n", GO);
}

TEST(dates_in_conditions)
{
	check(&strong, "If-Modified-Since: " DATE "\r\n", UNCHANGED);
	check(&strong, "If-Modified-Since: " LATER "\r\n", UNCHANGED);
	check(&strong, "If-Modified-Since: " EARLIER "\r\n", GO);
	check(&strong, "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\r\n",
	      UNCHANGED);
	check(&strong, "If-Modified-Since: Sun Nov  6 08:49:37 1994\r\n",
	      UNCHANGED);
	check(&strong, "If-Modified-Since: yesterday\r\n", GO);
	check(&strong, "If-Modified-Since: " DATE "\r\nIf-Modified-Since: "
	      DATE "\r\n", GO);
	check(&strong, "If-Unmodified-Since: " DATE "\r\n", GO);
	check(&strong, "If-Unmodified-Since: " EARLIER "\r\n", FAILED);
	check(&strong, "If-Unmodified-Since: garbage\r\n", GO);
}

static bool ranged(const struct khttpd_validators *is, const char *fields)
{
	parse(fields);
	return khttpd_condition_range(&req, (u8 *)head, is);
}

TEST(if_range)
{
	struct khttpd_validators fresh = strong;

	EXPECT_TRUE(ranged(&strong, ""));
	EXPECT_TRUE(ranged(&strong, "If-Range: \"a,b\"\r\n"));
	EXPECT_FALSE(ranged(&strong, "If-Range: W/\"a,b\"\r\n"));
	EXPECT_FALSE(ranged(&strong, "If-Range: \"x\"\r\n"));
	EXPECT_FALSE(ranged(&weak, "If-Range: \"a,b\"\r\n"));
	EXPECT_TRUE(ranged(&strong, "If-Range: " DATE "\r\n"));
	EXPECT_FALSE(ranged(&strong, "If-Range: " LATER "\r\n"));
	EXPECT_FALSE(ranged(&strong, "If-Range: junk\r\n"));
	EXPECT_FALSE(ranged(&strong, "If-Range:\r\n"));
	EXPECT_FALSE(ranged(&strong, "If-Range: \"a,b\"\r\nIf-Range: \"a,b\"\r\n"));
	fresh.now = MTIME + 59;
	EXPECT_FALSE(ranged(&fresh, "If-Range: " DATE "\r\n"));
}

static bool date(const char *text, s64 *time)
{
	size_t len = strlen(text);
	u8 *copy = malloc(len ? len : 1);
	bool good;

	memcpy(copy, text, len);
	good = khttpd_date_parse(copy, len, NOW, time);
	free(copy);
	return good;
}

TEST(dates_that_are_none)
{
	static const char * const bad[] = {
		"", "0", "Sun, 06 Nov 1994 08:49:37 CET",
		"Sun, 06 Nov 1994 08:49:37 GMT ", "Son, 06 Nov 1994 08:49:37 GMT",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
		"Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
		"Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
		"Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
		"Sun, 06 nov 1994 08:49:37 GMT", "Sun  06 Nov 1994 08:49:37 GMT",
		"Sunday, 06 Nov 94 08:49:37 GMT", "Sunda, 06-Nov-94 08:49:37 GMT",
		"Sun Nov 06 08:49:37 94  ", "Sun Nov  6 08:49:3x 1994",
		"Sun, 06 Nov 1994 08-49-37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
	};
	size_t i;
	s64 time;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		unit_case(bad[i]);
		EXPECT_FALSE(date(bad[i], &time));
	}
}

TEST(dates_come_back)
{
	char text[KHTTPD_DATE_LEN + 1] = "";
	s64 when, time;

	for (when = 0; when < 253402300800LL; when += 86400 * 3 + 3607) {
		khttpd_date_format(text, when);
		ASSERT_TRUE(date(text, &time));
		ASSERT_EQ(time, when);
	}
	EXPECT_TRUE(date("Thursday, 01-Jan-70 00:00:00 GMT", &time));
	EXPECT_EQ(time, 3155760000LL);	/* 2070 is not 50 years away */
	EXPECT_TRUE(date("Friday, 01-Jan-77 00:00:00 GMT", &time));
	EXPECT_TRUE(time > NOW);
	EXPECT_TRUE(date("Friday, 01-Jan-78 00:00:00 GMT", &time));
	EXPECT_TRUE(time < NOW);
	EXPECT_TRUE(date("Sun, 29 Feb 2004 23:59:60 GMT", &time));
}
