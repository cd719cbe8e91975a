// SPDX-License-Identifier: GPL-2.0
/* The path normaliser: what it lets through names something beneath the root,
 * is normalised, and survives encoding and a second normalising unchanged.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../khttpd/http/path.c"

static void need(bool condition)
{
	if (!condition)
		abort();
}

static void check_parts(const struct khttpd_path *path)
{
	const char *part = path->name, *end;

	need(path->len < KHTTPD_PATH_MAX && !path->name[path->len]);
	need(strlen(path->name) == path->len);
	if (!path->len)
		return;
	for (;; part = end + 1) {
		end = strchrnul(part, '/');
		need(end > part && end - part <= KHTTPD_NAME_MAX);
		need(!(end - part == 1 && part[0] == '.'));
		need(!(end - part == 2 && part[0] == '.' && part[1] == '.'));
		if (!*end)
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char encoded[3 * KHTTPD_PATH_MAX + 8];
	static struct khttpd_path path, again;
	size_t n;

	if (khttpd_path_normalise(&path, data, len) != KHTTPD_PATH_OK)
		return 0;
	check_parts(&path);
	encoded[0] = '/';
	n = khttpd_path_encode(encoded + 1, sizeof(encoded) - 1, path.name,
			       path.len);
	need(n || !path.len);
	need(khttpd_path_normalise(&again, (u8 *)encoded, n + 1) ==
	     KHTTPD_PATH_OK);
	need(again.len == path.len && !memcmp(again.name, path.name, path.len));
	return 0;
}
