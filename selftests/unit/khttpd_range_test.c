// SPDX-License-Identifier: GPL-2.0
/* Range fields: what is sent, what is ignored, what is outside the file. */
#include "unit.h"
#include "../../khttpd/http/range.c"

struct range_case {
	const char *value;
	u64 size;
	enum khttpd_ranges wanted;
	const char *parts;	/* "from-end" with end exclusive */
};

#define IGNORE	KHTTPD_RANGES_IGNORE
#define PART	KHTTPD_RANGES_PART
#define NONE	KHTTPD_RANGES_NONE

static const struct range_case cases[] = {
	{ "bytes=10-19", 100, PART, "10-20" },
	{ "bytes=-10", 100, PART, "90-100" },
	{ "bytes=90-", 100, PART, "90-100" },
	{ "bytes=0-0", 100, PART, "0-1" },
	{ "bytes=-1000", 100, PART, "0-100" },
	{ "bytes=50-1000", 100, PART, "50-100" },
	{ "BYTES=0-1", 100, PART, "0-2" },
	{ "bytes=100-", 100, NONE, "" },
	{ "bytes=100-200", 100, NONE, "" },
	{ "bytes=-0", 100, NONE, "" },
	{ "bytes=0-", 0, NONE, "" },
	{ "bytes=-5", 0, IGNORE },
	{ "bytes=-0", 0, NONE, "" },
	{ "bytes=0-,-5", 0, IGNORE },
	{ "bytes=20-10", 100, IGNORE },
	{ "bytes=abc", 100, IGNORE },
	{ "bytes=", 100, IGNORE },
	{ "bytes", 100, IGNORE },
	{ "", 100, IGNORE },
	{ "bytes=,, ,", 100, IGNORE },
	{ "bytes=--1", 100, IGNORE },
	{ "bytes=-", 100, IGNORE },
	{ "bytes=1 -2", 100, IGNORE },
	{ "bytes=1- 2", 100, IGNORE },
	{ "bytes =1-2", 100, IGNORE },
	{ "bytes=+1-2", 100, IGNORE },
	{ "bytes=1-2x", 100, IGNORE },
	{ "lines=1-2", 100, IGNORE },
	{ "bytes= 1-2 ", 100, PART, "1-3" },
	{ "bytes=0-18446744073709551615", 100, PART, "0-100" },
	{ "bytes=18446744073709551615-", 100, NONE, "" },
	{ "bytes=18446744073709551616-18446744073709551617", 100, NONE, "" },
	{ "bytes=-18446744073709551616", 100, PART, "0-100" },
	{ "bytes=0-999999999999999999999999999999", 100, PART, "0-100" },
	{ "bytes=5000000000-5000000001", 6000000000ULL, PART,
	  "5000000000-5000000002" },
	{ "bytes=0-1,4-5", 100, PART, "0-2 4-6" },
	{ "bytes=4-5, ,0-1", 100, PART, "4-6 0-2" },
	{ "bytes=0-1,2-3", 100, PART, "0-2 2-4" },
	{ "bytes=0-1,200-300", 100, PART, "0-2" },
	{ "bytes=200-300,-0", 100, NONE, "" },
	{ "bytes=0-1,2-x", 100, IGNORE },
	{ "bytes=0-99,0-0", 100, IGNORE },
	{ "bytes=0-49,0-49", 100, PART, "0-50 0-50" },
	{ "bytes=0-,0-,0-", 100, IGNORE },
	{ "bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8,9-9,0-0,1-1,2-2,3-3,4-4,5-5,6-6",
	  100, IGNORE },
};

TEST(ranges)
{
	struct khttpd_range range[KHTTPD_RANGES_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct range_case *c = &cases[i];
		size_t len = strlen(c->value);
		u8 *copy = malloc(len ? len : 1);
		unsigned int n = 0, k;
		char parts[256] = "";

		unit_case(c->value);
		memcpy(copy, c->value, len);
		EXPECT_EQ(khttpd_ranges_parse(copy, len, c->size, range, &n),
			  c->wanted);
		free(copy);
		for (k = 0; c->wanted == PART && k < n; k++)
			sprintf(parts + strlen(parts), "%s%llu-%llu",
				k ? " " : "", (unsigned long long)range[k].from,
				(unsigned long long)range[k].end);
		EXPECT_STR(parts, c->parts ?: "");
	}
}
