// SPDX-License-Identifier: GPL-2.0
/* What there is, as a configuration file. Attachments are not saved: a process id says
 * nothing later on. A site that would not be the same without is there as comment.
 */
#include "conf.h"

static void save_listener(const char *path, const char *mark)
{
	char family[16], address[128], port[16], value[16];
	const struct listen_option *option;

	if (get(path, "family", family, sizeof(family)) < 0 ||
	    get(path, "address", address, sizeof(address)) < 0 ||
	    get(path, "port", port, sizeof(port)) < 0)
		return;
	if (!strcmp(family, "inet"))
		printf("%slisten = %s:%s", mark, address, port);
	else
		printf("%slisten = [%s]:%s%s", mark, address, port,
		       strcmp(family, "net6") ? "" : ",net6");
	for (option = listen_options;
	     option < listen_options + LISTEN_OPTIONS; option++) {
		if (has(path, option->name, option->otherwise) ||
		    get(path, option->name, value, sizeof(value)) < 0)
			continue;
		printf(",%s%s%s", option->name, option->flag ? "" : "=",
		       option->flag ? "" : value);
	}
	putchar('\n');
}

/* In the order in which they were made, as a rule. */
static void save_listeners(const char *path, const char *mark)
{
	char dir[PATH_MAX + 256];
	struct dirent **entries;
	int n, i;

	n = scandir(path, &entries, NULL, versionsort);
	for (i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			save_listener(dir, mark);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void save_rules(const char *path, const char *mark)
{
	char rules[PATH_MAX + 1], *next = rules, *rule;

	if (get(path, "rules", rules, sizeof(rules)) <= 0)
		return;
	while ((rule = strsep(&next, "\n"))) {
		rule = trim(rule);
		if (*rule && *rule != '#')
			printf("%srule = %s\n", mark, rule);
	}
}

/* Names where there are, else numbers; the group, if it is not the user's. */
static void save_user(const char *path, const char *mark)
{
	unsigned int uid, gid, users_uid, users_gid;
	char uid_text[16], gid_text[16];
	struct passwd *user;
	struct group *group;
	const char *name;

	if (get(path, "uid", uid_text, sizeof(uid_text)) < 0 ||
	    get(path, "gid", gid_text, sizeof(gid_text)) < 0)
		return;
	uid = strtoul(uid_text, NULL, 10);
	gid = strtoul(gid_text, NULL, 10);
	user = getpwuid(uid);
	name = user ? user->pw_name : uid_text;
	printf("%suser = %s\n", mark, name);
	if (!find_ids(name, NULL, &users_uid, &users_gid) && users_gid == gid)
		return;
	group = getgrgid(gid);
	printf("%sgroup = %s\n", mark, group ? group->gr_name : gid_text);
}

/* A setting for each line. */
static void save_lines(const char *path, const char *name, const char *mark)
{
	char lines[PATH_MAX], line[PATH_MAX];
	unsigned int i;

	if (get(path, name, lines, sizeof(lines)) < 0)
		return;
	for (i = 0; get_line(lines, i, line); i++)
		printf("%s%s = %s\n", mark, name, line);
}

/* Why it cannot be loaded again as it is, or NULL. */
static const char *why_not(const char *path)
{
	char front[KHTTPD_NAME_SIZE], front_path[PATH_MAX];

	if (!has(path, "enabled", "1"))
		return "disabled";
	if (count_dirs(path))
		return NULL;
	if (get(path, "behind", front, sizeof(front)) <= 0)
		return "without \"attach = PIDFILE PORT\" it has no listener";
	site_path(front_path, sizeof(front_path), front);
	if (!has(front_path, "enabled", "1") || !count_dirs(front_path))
		return "the site in front is not there";
	return NULL;
}

static void save_texts(const char *path, const char *mark)
{
	static const char *const texts[] = {
		"docroot", "index", "listing", "precompressed", "etag_version", "names",
		"behind", "client_ca", "hsts", "proxy_protocol", "send_proxy",
	};
	char value[PATH_MAX + 1], *newline;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		if (get(path, texts[i], value, sizeof(value)) < 0 ||
		    (!*value && strcmp(texts[i], "index")))
			continue;
		/* It separates names as well as a space does. */
		while ((newline = strchr(value, '\n')))
			*newline = ' ';
		printf("%s%s = %s\n", mark, texts[i], value);
	}
}

static int save_site(const char *path, const char *name, void *data)
{
	const bool *behind = data;
	const char *why = why_not(path);
	const char *mark = why ? "# " : "";
	char value[2];

	if (*behind == has(path, "behind", ""))
		return 0;
	putchar('\n');
	if (why)
		printf("# %s:\n", why);
	printf("%s[site %s]\n", mark, name);
	save_texts(path, mark);
	save_lines(path, "certificate", mark);
	save_lines(path, "key", mark);
	save_user(path, mark);
	save_listeners(path, mark);
	save_rules(path, mark);
	if (get(path, "types", value, sizeof(value)) > 0)
		printf("# types: a file of its own, see khttpdctl(8)\n");
	return 0;
}

int save(const struct options *opt)
{
	bool behind = false;
	char value[64];
	size_t i;

	(void)opt;
	printf("[limits]\n");
	for (i = 0; i < LIMITS; i++) {
		if (get(ROOT, limits[i].name, value, sizeof(value)) >= 0)
			printf("%s = %s\n", limits[i].name, value);
	}
	/* First those that others stand behind. */
	if (each_dir(ROOT, save_site, &behind))
		return -1;
	behind = true;
	return each_dir(ROOT, save_site, &behind);
}
