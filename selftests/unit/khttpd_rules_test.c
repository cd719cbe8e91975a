// SPDX-License-Identifier: GPL-2.0
/* Rules: which lines are taken, which paths they match, in which order. */
#include "unit.h"
#include "../../khttpd/http/access.c"
#include "../../khttpd/http/added.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/hidden.c"
#include "../../khttpd/http/path.c"
#include "../../khttpd/http/prefixes.c"
#include "../../khttpd/http/ruleline.c"
#include "../../khttpd/http/rules.c"
#include "../../khttpd/http/target.c"
#include "../../khttpd/http/ruled.c"

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
		"allow", "block", "allow 1.2.3", "allow 1.2.3.4.5", "allow 1.2.3.256",
		"allow 1.2.3.4/33", "allow 1.2.3.4/", "allow 1.2.3.4/08", "allow 01.2.3.4",
		"allow 1.2.3.4 /x", "block everybody", "block :", "block :::", "block 1::2::3",
		"block 1:2:3:4:5:6:7", "block 1:2:3:4:5:6:7:8:9", "block 1:2:3:4:5:6:7:8::",
		"block 12345::", "block g::", "block ::/129", "block 1:", "block 1::2:",
		"block 1:2:3:4:5:6:7:8/", "block 99999999999.1.1.1", "block /8",
		"redirect 301 /a", "redirect /a /b", "redirect 200 /a /b", "redirect 304 /a /b",
		"redirect 301 a /b", "redirect 301 /a b", "redirect 301 /a //b",
		"redirect 301 /a /\\b", "redirect 301 /a/ //*", "redirect 301 /a /b c",
		"redirect 301 /a /*", "redirect 301 *a /*", "redirect 301 /a*b* /*",
		"redirect 301 /a*/ /*", "redirect 301 /a/ /*/*", "redirect 301 /a https://",
		"redirect 301 /a https:///b", "redirect 301 /a/ https://b*",
		"redirect 301 /a/ https://b*/c", "redirect 301 /a/ https://b?*",
		"redirect 301 /a ftp://b/", "redirect 301 /a javascript:x", "redirect 301 /a /\"",
		"rewrite /a", "rewrite /a b", "rewrite /a /b/../c", "rewrite /a /b//c",
		"rewrite /a /./b", "rewrite /a //", "rewrite /a /b//", "rewrite /a /b /c",
		"rewrite /a /..", "rewrite /a/ /*/*", "fallback /a", "fallback / /b/",
		"fallback / http://b/", "fallback / b",
		"header /a", "header /a X", "header /a X:", "header /a X: ", "header /a : y",
		"header /a X : y", "header /a X y: z", "header a X: y", "header /a X: \x01",
		"header /a Content-Length: 1", "header /a transfer-ENCODING: chunked",
		"header /a Date: x", "header /a Cache-Control: no-cache",
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

/* All fields for a path, a line each. */
static const char *added(const char *name)
{
	static char text[KHTTPD_ADDED_SIZE + 1];
	unsigned int from = 0;
	const char *field;
	size_t len, at = 0;

	text[0] = '\0';
	while ((field = khttpd_added_next(&rules, name, strlen(name), &from, &len)))
		at += snprintf(text + at, sizeof(text) - at, "%.*s\n", (int)len, field);
	return text;
}

TEST(fields)
{
	EXPECT_TRUE(parse("header *.woff2 Access-Control-Allow-Origin: *\n"
			  "header /a/ x-frame-options:DENY\t\n"
			  "header / X-Frame-Options: SAMEORIGIN\n"
			  "serve /\nheader / X-Content-Type-Options: nosniff\n"));
	EXPECT_TRUE(!strcmp(added("b.woff2"),
			    "Access-Control-Allow-Origin: *\nX-Frame-Options: SAMEORIGIN\n"
			    "X-Content-Type-Options: nosniff\n"));
	EXPECT_TRUE(!strcmp(added("a/x"),
			    "x-frame-options:DENY\nX-Content-Type-Options: nosniff\n"));
	EXPECT_TRUE(parse("serve /"));
	EXPECT_TRUE(!*added("a"));
}

TEST(fields_are_bounded)
{
	char text[2 * KHTTPD_ADDED_SIZE + 32 * KHTTPD_ADDED_MAX] = "";
	size_t len, i;

	for (i = 0; i < KHTTPD_ADDED_MAX; i++)
		strcat(text, "header / A: b\n");
	EXPECT_TRUE(parse(text));
	EXPECT_TRUE(!strcmp(added(""), "A: b\n"));
	strcat(text, "header / A: b\n");
	EXPECT_FALSE(parse(text));
	len = sprintf(text, "header / A: ");
	memset(text + len, 'b', KHTTPD_ADDED_SIZE - 2);
	strcpy(text + len + KHTTPD_ADDED_SIZE - 2 - 3, "\nserve /");
	EXPECT_TRUE(parse(text));
	EXPECT_EQ(strlen(added("")), KHTTPD_ADDED_SIZE - 1);
	strcpy(text + len + KHTTPD_ADDED_SIZE - 2 - 3, "b");
	EXPECT_FALSE(parse(text));
	/* One that is longer than another one for its field, before or behind it. */
	strcpy(text + len + KHTTPD_ADDED_SIZE - 2 - 3, "\nheader / a:  b\nheader /x A: c");
	EXPECT_TRUE(parse(text));
	EXPECT_EQ(strlen(added("x")), KHTTPD_ADDED_SIZE - 1);
	strcpy(text + len + KHTTPD_ADDED_SIZE - 2 - 3, "\nheader / B: c");
	EXPECT_FALSE(parse(text));
}

#include <arpa/inet.h>

static bool refused(const char *client)
{
	u8 address[16] = { [10] = 0xff, [11] = 0xff };

	if (strchr(client, ':'))
		EXPECT_EQ(inet_pton(AF_INET6, client, address), 1);
	else
		EXPECT_EQ(inet_pton(AF_INET, client, address + 12), 1);
	return khttpd_access_refuses(&rules, address);
}

TEST(clients)
{
	EXPECT_TRUE(parse("allow 192.0.2.0/25\nblock 192.0.2.0/24\nallow 2001:db8::1\n"
			  "block 2001:db8::/33\nblock ::ffff:0:0/97\nserve /"));
	EXPECT_FALSE(refused("192.0.2.127"));
	EXPECT_TRUE(refused("192.0.2.128"));
	EXPECT_FALSE(refused("2001:db8::1"));
	EXPECT_TRUE(refused("2001:db8::2"));
	EXPECT_TRUE(refused("2001:db8:7fff::"));
	EXPECT_FALSE(refused("2001:db8:8000::"));
	EXPECT_TRUE(refused("127.0.0.1"));
	EXPECT_FALSE(refused("128.0.0.1"));
	EXPECT_TRUE(parse("allow ::1\nallow 10.1.2.3\nblock all"));
	EXPECT_FALSE(refused("::1"));
	EXPECT_FALSE(refused("10.1.2.3"));
	EXPECT_FALSE(refused("::ffff:10.1.2.3"));
	EXPECT_TRUE(refused("10.1.2.4"));
	EXPECT_TRUE(refused("fe80::1"));
	EXPECT_TRUE(parse("allow 10.0.0.0/8"));
	EXPECT_FALSE(refused("11.0.0.1"));
}

TEST(addresses_are_read_as_everywhere)
{
	static const char * const cases[] = {
		"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::8", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::",
		"fe80::aBcD:0012", "0:0:0:0:0:0:0:0", "255.255.255.255", "0.0.0.0",
	};
	u8 is[16], should[16], bits;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool ipv4 = !strchr(cases[i], ':');

		unit_case(cases[i]);
		EXPECT_TRUE(khttpd_access_parse(cases[i], strlen(cases[i]), is, &bits));
		EXPECT_EQ(bits, 128);
		EXPECT_EQ(inet_pton(ipv4 ? AF_INET : AF_INET6, cases[i], should), 1);
		EXPECT_MEM(is + (ipv4 ? 12 : 0), should, ipv4 ? 4 : 16);
	}
}

/* Set @path to what a client has asked for. */
static void asked(struct khttpd_path *path, const char *target)
{
	EXPECT_EQ(khttpd_path_normalise(path, (const u8 *)target, strlen(target)), KHTTPD_PATH_OK);
}

TEST(redirects)
{
	static const struct {
		const char *rule, *target, *location;
		bool query;
	} cases[] = {
		{ "301 /a /b", "/a", "/b", true },
		{ "302 /a /b?", "/a", "/b", false },
		{ "303 /a /b?x=1", "/a", "/b?x=1", false },
		{ "307 /old/ /new/*", "/old/", "/new/", true },
		{ "307 /old/ /new/*", "/old/x/y", "/new/x/y", true },
		{ "308 /old/ /new/*", "/old/x/", "/new/x/", true },
		{ "301 /old* /new/*", "/old/x", "/new/x", true },
		{ "301 /old* /*", "/old/evil.example", "/evil.example", true },
		{ "301 / https://b.example/*", "/", "https://b.example/", true },
		{ "301 / https://b.example/*", "/a%20b%0d%0ac", "https://b.example/a%20b%0D%0Ac",
		  true },
		{ "301 /a/*.htm /a/*.html", "/a/x.htm", "/a/x.html", true },
		{ "301 /a/*.htm /b/*?", "/a/.htm", "/b/", false },
		{ "301 * https://b.example", "/x", "https://b.example", true },
	};
	struct khttpd_path path;
	char text[96], out[64];
	bool query;
	u16 status;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_case(cases[i].rule);
		snprintf(text, sizeof(text), "redirect %s", cases[i].rule);
		EXPECT_TRUE(parse(text));
		asked(&path, cases[i].target);
		EXPECT_EQ(khttpd_ruled_path(&rules, &path), KHTTPD_RULE_REDIRECT);
		len = khttpd_ruled_location(&rules, &path, out, sizeof(out), &query, &status);
		EXPECT_EQ(len, strlen(cases[i].location));
		EXPECT_MEM(out, cases[i].location, len);
		EXPECT_EQ(query, cases[i].query);
		EXPECT_EQ(status, atoi(cases[i].rule));
		EXPECT_EQ(khttpd_ruled_location(&rules, &path, out, len - 1, &query, &status), 0);
	}
}

TEST(rewriting)
{
	static const struct {
		const char *rule, *target, *name;
		int dir;
	} cases[] = {
		{ "/a /b", "/a", "b", 0 }, { "/a /b/", "/a", "b", 1 }, { "/a /", "/a", "", 1 },
		{ "/a /b", "/ab", NULL, 0 }, { "/a /b", "/a/", NULL, 0 },
		{ "/a/ /b/*", "/a/x/y", "b/x/y", 0 }, { "/a/ /b/*", "/a/x/", "b/x", 1 },
		{ "/a/ /b/*", "/a/", "b", 1 }, { "/a/ /*", "/a/", "", 1 },
		{ "/a/ /*", "/a/x", "x", 0 }, { "/long/way/ /*", "/long/way/x", "x", 0 },
		{ "/a/ /much/longer/than/it/*", "/a/x/y", "much/longer/than/it/x/y", 0 },
		{ "/ /site/*", "/x/y", "site/x/y", 0 },
		{ "/v*/x.js /x.js", "/v12/x.js", "x.js", 0 },
		{ "/*.v1.js /*.js", "/d/x.v1.js", "d/x.js", 0 },
		{ "/a/ /b/*/c", "/a/x", "b/x/c", 0 },
		/* What becomes no name of a file. */
		{ "/a/ /b/*/c", "/a/", NULL, 1 }, { "/x* /a/.*", "/x./y", NULL, 1 },
		{ "/x* /a/*.", "/x.", NULL, 1 }, { "/a/ /*/.", "/a/b", NULL, 2 },
	};
	enum khttpd_path_result result;
	struct khttpd_path path;
	char text[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_case(cases[i].rule);
		snprintf(text, sizeof(text), "rewrite %s", cases[i].rule);
		if (cases[i].dir == 2) {
			EXPECT_FALSE(parse(text));
			continue;
		}
		EXPECT_TRUE(parse(text));
		asked(&path, cases[i].target);
		if (!cases[i].name && !cases[i].dir) {
			EXPECT_FALSE(khttpd_ruled_rewrite(&rules, &path, &result));
			EXPECT_EQ(path.len + path.dir, strlen(cases[i].target) - 1);
			continue;
		}
		EXPECT_TRUE(khttpd_ruled_rewrite(&rules, &path, &result));
		EXPECT_EQ(result == KHTTPD_PATH_OK, !!cases[i].name);
		if (result != KHTTPD_PATH_OK)
			continue;
		EXPECT_TRUE(!strcmp(path.name, cases[i].name));
		EXPECT_EQ(path.len, strlen(cases[i].name));
		EXPECT_EQ(path.dir, cases[i].dir);
	}
	EXPECT_TRUE(parse("serve /a/x\nrewrite /a/ /b/*"));
	asked(&path, "/a/x");
	EXPECT_FALSE(khttpd_ruled_rewrite(&rules, &path, &result));
}

TEST(rewriting_stays_in_its_room)
{
	enum khttpd_path_result result;
	struct khttpd_path path;
	char text[2048] = "rewrite /a/ /";
	char target[1024];

	memset(text + strlen(text), 'b', 100);
	strcat(text, "/*");
	EXPECT_TRUE(parse(text));
	strcpy(target, "/a/");
	while (strlen(target) < 930)
		strcat(target, "0123456/");
	asked(&path, target);
	EXPECT_TRUE(khttpd_ruled_rewrite(&rules, &path, &result));
	EXPECT_EQ(result, KHTTPD_PATH_NONE);
	target[900] = '\0';
	asked(&path, target);
	EXPECT_TRUE(khttpd_ruled_rewrite(&rules, &path, &result));
	EXPECT_EQ(result, KHTTPD_PATH_OK);
	EXPECT_EQ(path.len, 998);
}

TEST(standing_in_for_nothing)
{
	struct khttpd_path path;

	EXPECT_TRUE(parse("fallback /docs/ /docs/*.html\nfallback / /index.html"));
	asked(&path, "/docs/a/b");
	EXPECT_TRUE(khttpd_ruled_fallback(&rules, &path, -1));
	EXPECT_TRUE(!strcmp(path.name, "docs/a/b.html"));
	asked(&path, "/x/y");
	EXPECT_TRUE(khttpd_ruled_fallback(&rules, &path, -1));
	EXPECT_TRUE(!strcmp(path.name, "index.html") && path.len == 10);
	/* A directory's index file is not there. */
	asked(&path, "/x/");
	EXPECT_TRUE(khttpd_path_add_index(&path, "i"));
	EXPECT_TRUE(khttpd_ruled_fallback(&rules, &path, 1));
	EXPECT_TRUE(!strcmp(path.name, "index.html"));
	EXPECT_TRUE(parse("fallback /app/ /app/*"));
	asked(&path, "/app/x/");
	EXPECT_FALSE(khttpd_ruled_fallback(&rules, &path, 5));
	asked(&path, "/x");
	EXPECT_FALSE(khttpd_ruled_fallback(&rules, &path, -1));
	EXPECT_FALSE(khttpd_ruled_fallback(NULL, &path, -1));
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
