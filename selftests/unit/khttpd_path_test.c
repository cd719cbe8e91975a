// SPDX-License-Identifier: GPL-2.0
/* Paths: decoded and normalised once, never above the root; and back again. */
#include "unit.h"
#include "../../khttpd/http/path.c"

static const struct {
	const char *in;
	enum khttpd_path_result result;
	const char *out;
	bool dir;
} cases[] = {
	{ "", KHTTPD_PATH_OK, "", true },
	{ "/", KHTTPD_PATH_OK, "", true },
	{ "/a", KHTTPD_PATH_OK, "a", false },
	{ "/a/", KHTTPD_PATH_OK, "a", true },
	{ "/a/b.txt", KHTTPD_PATH_OK, "a/b.txt", false },
	{ "//a", KHTTPD_PATH_OK, "a", false },
	{ "/a//b", KHTTPD_PATH_OK, "a/b", false },
	{ "/./a", KHTTPD_PATH_OK, "a", false },
	{ "/a/.", KHTTPD_PATH_OK, "a", true },
	{ "/a/./", KHTTPD_PATH_OK, "a", true },
	{ "/a/../b", KHTTPD_PATH_OK, "b", false },
	{ "/a/b/../c", KHTTPD_PATH_OK, "a/c", false },
	{ "/a/b/../../c", KHTTPD_PATH_OK, "c", false },
	{ "/a/..", KHTTPD_PATH_OK, "", true },
	{ "/a/b/..", KHTTPD_PATH_OK, "a", true },
	{ "/..", KHTTPD_PATH_BAD, NULL, false },
	{ "/../etc/passwd", KHTTPD_PATH_BAD, NULL, false },
	{ "/%2e%2e/", KHTTPD_PATH_BAD, NULL, false },
	{ "/.%2e/x", KHTTPD_PATH_BAD, NULL, false },
	{ "/a/%2E./../x", KHTTPD_PATH_BAD, NULL, false },
	{ "/a/../../x", KHTTPD_PATH_BAD, NULL, false },
	{ "/a/..%2f../x", KHTTPD_PATH_NONE, NULL, false },
	{ "/...", KHTTPD_PATH_OK, "...", false },
	{ "/..a", KHTTPD_PATH_OK, "..a", false },
	{ "/.hidden", KHTTPD_PATH_OK, ".hidden", false },
	{ "/a~", KHTTPD_PATH_OK, "a~", false },
	{ "/a%2fb", KHTTPD_PATH_NONE, NULL, false },
	{ "/%5c..", KHTTPD_PATH_OK, "\\..", false },
	{ "/\\..", KHTTPD_PATH_OK, "\\..", false },
	{ "/%00", KHTTPD_PATH_BAD, NULL, false },
	{ "/a%00.html", KHTTPD_PATH_BAD, NULL, false },
	{ "/%zz", KHTTPD_PATH_BAD, NULL, false },
	{ "/%", KHTTPD_PATH_BAD, NULL, false },
	{ "/%4", KHTTPD_PATH_BAD, NULL, false },
	{ "/%4g", KHTTPD_PATH_BAD, NULL, false },
	{ "/%252e%252e", KHTTPD_PATH_OK, "%2e%2e", false },
	{ "/%c0%ae%c0%ae/x", KHTTPD_PATH_OK, "\xc0\xae\xc0\xae/x", false },
	{ "/%41%6a", KHTTPD_PATH_OK, "Aj", false },
	{ "/a%0d%0ab", KHTTPD_PATH_OK, "a\r\nb", false },
	{ "/%20", KHTTPD_PATH_OK, " ", false },
};

TEST(every_case)
{
	struct khttpd_path path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].in);
		u8 *copy = malloc(len + 1);

		unit_case(cases[i].in);
		memcpy(copy, cases[i].in, len);
		EXPECT_EQ(khttpd_path_normalise(&path, copy, len),
			  cases[i].result);
		if (cases[i].result == KHTTPD_PATH_OK) {
			EXPECT_STR(path.name, cases[i].out);
			EXPECT_EQ(path.len, strlen(cases[i].out));
			EXPECT_EQ(path.dir, cases[i].dir);
		}
		free(copy);
	}
}

static enum khttpd_path_result fill(const char *unit, size_t count)
{
	size_t len = strlen(unit), i;
	struct khttpd_path path;
	u8 *in = malloc(len * count + 1);
	enum khttpd_path_result result;

	in[0] = '/';
	for (i = 0; i < count; i++)
		memcpy(in + 1 + i * len, unit, len);
	result = khttpd_path_normalise(&path, in, 1 + len * count);
	free(in);
	return result;
}

TEST(long_names_cannot_be_files)
{
	EXPECT_EQ(fill("a", 255), KHTTPD_PATH_OK);
	EXPECT_EQ(fill("a", 256), KHTTPD_PATH_NONE);
	EXPECT_EQ(fill("a/", 500), KHTTPD_PATH_OK);
	EXPECT_EQ(fill("a/", 512), KHTTPD_PATH_NONE);
	EXPECT_EQ(fill("a/", 4000), KHTTPD_PATH_NONE);
	EXPECT_EQ(fill("/", 8000), KHTTPD_PATH_OK);
	EXPECT_EQ(fill("a/../", 1600), KHTTPD_PATH_OK);
	EXPECT_EQ(fill("%61", 2000), KHTTPD_PATH_NONE);
}

TEST(encoding_leaves_no_control_characters)
{
	char out[64];

	EXPECT_EQ(khttpd_path_encode(out, sizeof(out), "a\r\nb/ c", 7), 13);
	EXPECT_MEM(out, "a%0D%0Ab/%20c", 13);
	EXPECT_EQ(khttpd_path_encode(out, sizeof(out), "\xff?#%\"<", 6), 18);
	EXPECT_MEM(out, "%FF%3F%23%25%22%3C", 18);
	EXPECT_EQ(khttpd_path_encode(out, 8, "abcdefghij", 10), 0);
}

TEST(encoding_and_normalising_are_inverse)
{
	struct khttpd_path path;
	char name[256], out[1024];
	size_t len;
	int c, n = 0;

	for (c = 1; c < 256; c++) {
		if (c != '/')
			name[n++] = c;
	}
	out[0] = '/';
	len = khttpd_path_encode(out + 1, sizeof(out) - 1, name, n);
	EXPECT_EQ(khttpd_path_normalise(&path, (u8 *)out, len + 1),
		  KHTTPD_PATH_OK);
	EXPECT_EQ(path.len, n);
	EXPECT_MEM(path.name, name, n);
}
