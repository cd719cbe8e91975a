// SPDX-License-Identifier: GPL-2.0
/* "import": khttpd.conf from another server's own configuration. A program of its own does it,
 * beside this one or where make install puts it.
 */
#include <limits.h>
#include "httpctl.h"

/**
 * import() - become the program that reads a server's configuration
 * @argc: number of words
 * @argv: "import", whose configuration it is, and what that program is to be told
 *
 * Return: exit status, if it cannot be started.
 */
int import(int argc, char **argv)
{
	static const char * const places[] = { "import", "../lib/net6" };
	char dir[PATH_MAX], path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	size_t i;

	if (argc < 2 || strcmp(argv[1], "nginx")) {
		say("import whose configuration? nginx's can be");
		return 2;
	}
	if (len < 0) {
		say("/proc/self/exe: %s", strerror(errno));
		return 1;
	}
	dir[len] = '\0';
	*strrchr(dir, '/') = '\0';
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (snprintf(path, sizeof(path), "%s/%s/khttpd-import-nginx", dir, places[i]) <
		    (int)sizeof(path) && !access(path, X_OK)) {
			execv(path, argv + 1);
			say("%s: %s", path, strerror(errno));
			return 1;
		}
	}
	say("khttpd-import-nginx is neither in %s/import nor in %s/../lib/net6", dir, dir);
	return 1;
}
