// SPDX-License-Identifier: GPL-2.0
/* The listeners of a site that runs are made those that are wanted. They may take the place of
 * those of another site, which does not want them any more.
 */
#include <arpa/inet.h>
#include "conf.h"

/* Is this directory the listener that is meant? */
static bool is_listener(const char *path, const struct listen *listen)
{
	int i;

	for (i = 0; i < LISTEN_OPTIONS; i++) {
		if (!has(path, listen_options[i].name, listen->option[i]))
			return false;
	}
	return has(path, "open", "1") && has(path, "family", listen->family) &&
	       has(path, "address", listen->address) &&
	       has(path, "port", listen->port);
}

/* Is that address the one of all? */
static bool is_any(const char *family, const char *address)
{
	unsigned char bytes[sizeof(struct in6_addr)] = {};
	static const unsigned char any[sizeof(bytes)];

	return inet_pton(strcmp(family, "inet") ? AF_INET6 : AF_INET, address,
			 bytes) == 1 && !memcmp(bytes, any, sizeof(any));
}

/* Are both texts the same address? */
static bool is_address(const char *family, const char *one, const char *two)
{
	unsigned char bytes[2][sizeof(struct in6_addr)] = {};
	int af = strcmp(family, "inet") ? AF_INET6 : AF_INET;

	if (!strcmp(one, two))
		return true;
	return inet_pton(af, one, bytes[0]) == 1 &&
	       inet_pton(af, two, bytes[1]) == 1 &&
	       !memcmp(bytes[0], bytes[1], sizeof(bytes[0]));
}

/* Is it one of several sockets with the same address? */
static bool shares(const struct listen *listen)
{
	int i;

	for (i = 0; strcmp(listen_options[i].name, "reuseport"); i++)
		;
	return !strcmp(listen->option[i], "1");
}

/* Can the listener not be opened as long as the one of that directory is? Those of
 * IPv6 have nothing to do with IPv4, those of net6 with neither.
 */
static bool is_blocked(const struct listen *listen, const char *path)
{
	char address[128];

	if (!has(path, "open", "1") || !has(path, "family", listen->family) ||
	    !has(path, "port", listen->port) ||
	    get(path, "address", address, sizeof(address)) < 0)
		return false;
	/* Sockets that share an address do so before and after. */
	if (has(path, "reuseport", "1") && shares(listen))
		return false;
	return is_any(listen->family, address) ||
	       is_any(listen->family, listen->address) ||
	       is_address(listen->family, address, listen->address);
}

static int sort_listener(const char *path, const char *name, void *data)
{
	struct change *change = data;
	int i;

	(void)name;
	for (i = 0; i < change->wants; i++) {
		struct want *want = &change->want[i];

		if (!want->there && is_listener(path, &want->listen)) {
			want->there = true;
			return 0;
		}
	}
	if (change->unwanteds == LISTENERS_MAX) {
		say("%s: too many listeners", change->dir);
		return -1;
	}
	change->unwanted[change->unwanteds++].path = copy(path);
	return 0;
}

/* Which ones stand in the way of which? */
static void sort_blocked(struct change *change)
{
	int i, j;

	for (i = 0; i < change->wants; i++) {
		struct want *want = &change->want[i];

		for (j = 0; j < change->unwanteds && !want->there; j++) {
			if (!is_blocked(&want->listen, change->unwanted[j].path))
				continue;
			want->blocked = true;
			change->unwanted[j].blocks = true;
		}
	}
}

static int sort_own(const char *dir, const struct options *opt,
		    struct change *change)
{
	memset(change, 0, sizeof(*change));
	change->dir = dir;
	for (change->wants = 0; change->wants < opt->listens; change->wants++) {
		if (split_listen(opt->listen[change->wants],
				 &change->want[change->wants].listen))
			return -1;
	}
	return access(dir, F_OK) ? 0 : each_dir(dir, sort_listener, change);
}

/* Listeners that the file's other sites have and do not want any more. Those that go on as they
 * were want all of it.
 */
static int sort_others(const struct file *file, const struct section *site,
		       struct change *change)
{
	static struct change other;
	char path[PATH_MAX];
	int i, j;

	for (i = 0; i < file->sites; i++) {
		if (&file->site[i] == site || file->site[i].kept)
			continue;
		site_path(path, sizeof(path), file->site[i].opt.site);
		if (sort_own(path, &file->site[i].opt, &other)) {
			free_change(&other);
			return -1;
		}
		for (j = 0; j < other.unwanteds; j++)
			change->unwanted[change->unwanteds++] = other.unwanted[j];
	}
	return 0;
}

int sort_listeners(const struct file *file, const char *dir,
		   const struct section *site, struct change *change)
{
	if (sort_own(dir, &site->opt, change) ||
	    sort_others(file, site, change))
		return -1;
	sort_blocked(change);
	return 0;
}

void free_change(struct change *change)
{
	int i;

	for (i = 0; i < change->wants; i++)
		free(change->want[i].made);
	for (i = 0; i < change->unwanteds; i++)
		free(change->unwanted[i].path);
}

bool has_listeners(const char *dir, const struct options *opt)
{
	struct change change;
	bool same;
	int i;

	same = !sort_own(dir, opt, &change) && !change.unwanteds;
	for (i = 0; i < change.wants; i++)
		same &= change.want[i].there;
	free_change(&change);
	return same;
}

/* Directories for listeners that are wanted and not there: those that are @blocked,
 * or the others.
 */
int make_listeners(struct change *change, bool blocked)
{
	char path[PATH_MAX + 16];
	int i, number = 0;

	for (i = 0; i < change->wants; i++) {
		struct want *want = &change->want[i];

		if (want->there || want->blocked != blocked)
			continue;
		do {
			snprintf(path, sizeof(path), "%s/listen%d", change->dir,
				 number++);
		} while (!access(path, F_OK));
		want->made = copy(path);
		if (make_listener(change->dir, number - 1, &want->listen))
			return -1;
	}
	return 0;
}

void unmake_listeners(struct change *change, bool blocked)
{
	int i;

	for (i = 0; i < change->wants; i++) {
		if (change->want[i].made && change->want[i].blocked == blocked)
			rmdir(change->want[i].made);
	}
}

/* Close or open those that stand in the way. */
int open_blocking(const struct change *change, const char *value)
{
	int i, err = 0;

	for (i = 0; i < change->unwanteds; i++) {
		if (change->unwanted[i].blocks)
			err |= put_or_say(change->unwanted[i].path, "open", value);
	}
	return err;
}

static int open_blocked(const struct change *change)
{
	int i;

	for (i = 0; i < change->wants; i++) {
		const struct want *want = &change->want[i];

		if (!want->blocked || !put(want->made, "open", "1"))
			continue;
		say("cannot listen at %s port %s: %s", want->listen.address,
		    want->listen.port, strerror(errno));
		return -1;
	}
	return 0;
}

/* Those that are blocked take the place of those that stand in their way. The latter are closed,
 * but replies under way there go on until their directories are removed.
 */
int replace_listeners(struct change *change)
{
	if (!make_listeners(change, true) && !open_blocking(change, "0") &&
	    !open_blocked(change))
		return 0;
	unmake_listeners(change, true);
	open_blocking(change, "1");
	return -1;
}

/* Replies under way there may still be sent: that takes its time. */
int remove_unwanted(const char *dir, const struct options *opt)
{
	struct change change;
	int i, err;

	err = sort_own(dir, opt, &change);
	for (i = 0; i < change.unwanteds && !err; i++)
		err = remove_dir(change.unwanted[i].path, NULL, NULL);
	free_change(&change);
	return err;
}
