// SPDX-License-Identifier: GPL-2.0
/* Rules: which lines are taken, which paths they match, in which order. */
#include "unit.h"
#include "../../khttpd/http/hidden.c"
#include "../../khttpd/http/ruleline.c"
#include "../../khttpd/http/rules.c"

static struct khttpd_rules rules;

static bool parse(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	bool good;

	memcpy(copy, text, len);
	good = khttpd_rules_parse(&rules, copy, len);
	free(copy);
	return good;
}

static int action(const char *name)
{
	return khttpd_rules_action(&rules, name, strlen(name));
}

TEST(patterns)
{
	static const struct {
		const char *pattern;
		const char *name;
		bool match;
	} cases[] = {
		{ "/a", "a", true }, { "/a", "ab", false }, { "/a", "", false },
		{ "/a", "a/b", false }, { "/", "", true }, { "/", "a/b", true },
		{ "/a/", "a/b", true }, { "/a/", "a/b/c", true },
		{ "/a/", "a", false }, { "/a/", "ab/c", false },
		{ "*", "", true }, { "*", "x/y", true },
		{ "*.php", "a.php", true }, { "*.php", "d/e.php", true },
		{ "*.php", "a.php5", false }, { "*.php", ".php", true },
		{ "/a*b*c", "axxbyyc", true }, { "/a*b*c", "axxbyy", false },
		{ "/a*", "a", true }, { "/a**", "a", true },
		{ "*/x/", "d/x/y", true }, { "*/x/", "d/x", false },
		{ "/*a*a*a*b", "aaaaaaaaaaaaaaaaaaaa", false },
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "deny %s", cases[i].pattern);
		unit_case(cases[i].pattern);
		EXPECT_TRUE(parse(text));
		EXPECT_EQ(action(cases[i].name) == KHTTPD_RULE_DENY,
			  cases[i].match);
	}
}

TEST(the_first_that_matches_counts)
{
	EXPECT_TRUE(parse("# comment\n\n  serve /a/b.php\t\n\tpass *.php\n"
			  "deny /a/\npass /"));
	EXPECT_EQ(action("a/b.php"), KHTTPD_RULE_SERVE);
	EXPECT_EQ(action("a/c.php"), KHTTPD_RULE_PASS);
	EXPECT_EQ(action("a/c"), KHTTPD_RULE_DENY);
	EXPECT_EQ(action("x"), KHTTPD_RULE_PASS);
	EXPECT_TRUE(parse(""));
	EXPECT_EQ(action("x"), KHTTPD_RULE_SERVE);
	EXPECT_EQ(khttpd_rules_action(NULL, "x", 1), KHTTPD_RULE_SERVE);
}

TEST(hidden_names)
{
	static const struct {
		const char *name;
		bool hidden;
	} cases[] = {
		{ "", false }, { "a", false }, { "a.html", false }, { "a/b", false },
		{ ".git", true }, { ".git/config", true }, { "a/.env", true }, { "a/.b/c", true },
		{ ".well-known/acme/x", false }, { ".well-known/", false },
		{ ".well-known", true },
		{ ".well-known/.x", true }, { ".well-knownx/y", true },
		{ "a/.well-known/x", true },
		{ "index.php", true }, { "a/Index.PHP", true }, { "php", false },
		{ "a.php/b", false },
		{ "a.php.txt", false }, { "a.txt.php", true }, { "x.d/php", false },
		{ "example.pl/index.html", false }, { "a.bak", true }, { "a.html~", true },
		{ "~user/a", false }, { "a~/b", false }, { "a.", false }, { "a..php", true },
		{ "a.php5", true }, { "a.ph", false }, { "a.phpx", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].name);
		char *copy = malloc(len ? len : 1);

		unit_case(cases[i].name);
		memcpy(copy, cases[i].name, len);
		EXPECT_EQ(khttpd_hidden(copy, len), cases[i].hidden);
		free(copy);
	}
}

TEST(hidden_directories)
{
	EXPECT_TRUE(khttpd_hidden_dir(".git", 4));
	EXPECT_TRUE(khttpd_hidden_dir("a/.b/c", 6));
	EXPECT_TRUE(!khttpd_hidden_dir("example.pl", 10));
	EXPECT_TRUE(!khttpd_hidden_dir(".well-known/a", 13));
	EXPECT_TRUE(!khttpd_hidden_dir("", 0));
}

TEST(a_rule_serves_what_is_hidden)
{
	EXPECT_TRUE(parse("serve /a/\ndeny *.php\nserve /b/"));
	EXPECT_TRUE(khttpd_rules_serve(&rules, "a/x.php", 7));
	EXPECT_TRUE(!khttpd_rules_serve(&rules, "b/x.php", 7));
	EXPECT_TRUE(khttpd_rules_serve(&rules, "b/.x", 4));
	EXPECT_TRUE(!khttpd_rules_serve(&rules, "c", 1));
	EXPECT_TRUE(!khttpd_rules_serve(NULL, "a/x", 3));
}

TEST(what_is_no_rule_is_refused)
{
	static const char * const bad[] = {
		"frobnicate /a", "deny", "deny a", "deny /a b", "cache /a",
		"cookie", "cookie a b", "error 404", "error 200 /x",
		"error 4x4 /x", "error 404 x", "error 404 *", "error 404 /x y",
		"cache /a max-age=1\r", "cache /a \x01", "Deny /a",
		"expires /a", "expires /a x", "expires /a -1", "expires /a 1 2",
		"expires /a 315360001", "expires /a 99999999999", "expires a 1",
		"method", "method GET HEAD", "status", "status x", "status /x y",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		unit_case(bad[i]);
		EXPECT_FALSE(parse(bad[i]));
	}
}

static bool cookie(const char *value)
{
	return khttpd_rules_cookie(&rules, (const u8 *)value, strlen(value));
}

TEST(cookies)
{
	EXPECT_TRUE(parse("cookie session\ncookie id"));
	EXPECT_TRUE(cookie("session=1"));
	EXPECT_TRUE(cookie("a=b; session=1"));
	EXPECT_TRUE(cookie("a=b;;id"));
	EXPECT_FALSE(cookie("a=session; b=id"));
	EXPECT_FALSE(cookie("sessions=1; Id=2; =id"));
	EXPECT_FALSE(cookie(""));
}

TEST(values)
{
	const char *value;
	size_t len = 0;

	EXPECT_TRUE(parse("cache /static/ public, max-age=60\t\ncache * no-cache\n"
			  "error 404 /errors/none.html\n"));
	value = khttpd_rules_cache(&rules, "static/x", 8, &len);
	EXPECT_EQ(len, 18);
	EXPECT_MEM(value, "public, max-age=60", 18);
	value = khttpd_rules_cache(&rules, "x", 1, &len);
	EXPECT_EQ(len, 8);
	value = khttpd_rules_error(&rules, 404, &len);
	EXPECT_EQ(len, 17);
	EXPECT_MEM(value, "/errors/none.html", 17);
	EXPECT_TRUE(!khttpd_rules_error(&rules, 403, &len));
}

static bool method(const char *name)
{
	return khttpd_rules_method(&rules, (const u8 *)name, strlen(name));
}

TEST(methods)
{
	EXPECT_TRUE(parse("method HEAD\nmethod OPTIONS"));
	EXPECT_TRUE(method("HEAD"));
	EXPECT_TRUE(method("OPTIONS"));
	EXPECT_FALSE(method("GET"));
	EXPECT_FALSE(method("head"));
	EXPECT_FALSE(method("HEADS"));
	EXPECT_TRUE(parse("serve /"));
	EXPECT_FALSE(method("HEAD"));
}

TEST(the_status_page_is_a_path_like_others)
{
	EXPECT_TRUE(parse("deny /a/\nstatus /a/status\nstatus /status\npass /"));
	EXPECT_EQ(action("a/status"), KHTTPD_RULE_DENY);
	EXPECT_EQ(action("status"), KHTTPD_RULE_STATUS);
	EXPECT_EQ(action("status/"), KHTTPD_RULE_PASS);
}

TEST(expiry)
{
	u32 seconds = 1;

	EXPECT_TRUE(parse("expires /a/ 0\nexpires *.css 86400\t\n"
			  "expires / 315360000"));
	EXPECT_TRUE(khttpd_rules_expires(&rules, "a/b.css", 7, &seconds));
	EXPECT_EQ(seconds, 0);
	EXPECT_TRUE(khttpd_rules_expires(&rules, "b.css", 5, &seconds));
	EXPECT_EQ(seconds, 86400);
	EXPECT_TRUE(khttpd_rules_expires(&rules, "x", 1, &seconds));
	EXPECT_EQ(seconds, KHTTPD_EXPIRES_MAX);
	EXPECT_TRUE(parse("expires /a/ 1"));
	EXPECT_FALSE(khttpd_rules_expires(&rules, "x", 1, &seconds));
	EXPECT_FALSE(khttpd_rules_expires(NULL, "x", 1, &seconds));
}
