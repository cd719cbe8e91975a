// SPDX-License-Identifier: GPL-2.0
/* How the kernel judges rules, names, types, HSTS and addresses: its own files, compiled for user
 * space as for their unit tests. They bring the kernel's headers; httpctl.h cannot be here.
 */
#include "../../khttpd/http/access.c"
#include "../../khttpd/http/https.c"
#include "../../khttpd/http/mime.c"
#include "../../khttpd/http/names.c"
#include "../../khttpd/http/path.c"
#include "../../khttpd/http/ruleline.c"
#include "../../khttpd/http/prefixes.c"
#include "../../khttpd/http/rules.c"
#include "../../khttpd/http/target.c"
#include "judge.h"

const char *judge_rules(const char *text, size_t len)
{
	static struct khttpd_rules rules;

	return !memchr(text, '\0', len) &&
	       khttpd_rules_parse(&rules, text, len) ? NULL : "not a rule";
}

/* @text ends in a NUL. */
const char *judge_names(const char *text, size_t len)
{
	return strlen(text) == len && len < KHTTPD_NAMES_SIZE &&
	       khttpd_names_valid(text) ? NULL : "not names";
}

const char *judge_hsts(const char *text)
{
	return khttpd_https_hsts_valid(text) ? NULL :
	       "not max-age=SECONDS, perhaps with \"; includeSubDomains\" and \"; preload\"";
}

const char *judge_prefixes(const char *text)
{
	static struct khttpd_prefixes list;

	return khttpd_prefixes_parse(&list, text) ? NULL : "not addresses";
}

const char *judge_types(const char *text, size_t len)
{
	return khttpd_mime_valid(text, len, TYPE_MAX) ? NULL : "not types";
}
