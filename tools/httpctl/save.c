// SPDX-License-Identifier: GPL-2.0
/* What there is, as a configuration file. Attachments are not saved: a process id says
 * nothing later on.
 */
#include "conf.h"

static void save_listener(const char *path)
{
	char family[16], address[128], port[16], value[16];
	const struct listen_option *option;

	if (get(path, "family", family, sizeof(family)) < 0 ||
	    get(path, "address", address, sizeof(address)) < 0 ||
	    get(path, "port", port, sizeof(port)) < 0)
		return;
	if (!strcmp(family, "inet"))
		printf("listen = %s:%s", address, port);
	else
		printf("listen = [%s]:%s%s", address, port,
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
static void save_listeners(const char *path)
{
	char dir[PATH_MAX + 256];
	struct dirent **entries;
	int n, i;

	n = scandir(path, &entries, NULL, versionsort);
	for (i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			save_listener(dir);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void save_rules(const char *path)
{
	char rules[PATH_MAX + 1], *next = rules, *rule;

	if (get(path, "rules", rules, sizeof(rules)) <= 0)
		return;
	while ((rule = strsep(&next, "\n"))) {
		rule = trim(rule);
		if (*rule && *rule != '#')
			printf("rule = %s\n", rule);
	}
}

static int save_site(const char *path, const char *name, void *data)
{
	static const char *const texts[] = {
		"docroot", "index", "listing", "precompressed", "names",
		"behind",
	};
	const bool *behind = data;
	char value[PATH_MAX + 1];
	struct passwd *user;
	size_t i;

	if (*behind == has(path, "behind", ""))
		return 0;
	printf("\n[site %s]\n", name);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		if (get(path, texts[i], value, sizeof(value)) >= 0 &&
		    (*value || !strcmp(texts[i], "index")))
			printf("%s = %s\n", texts[i], value);
	}
	if (get(path, "uid", value, sizeof(value)) >= 0) {
		user = getpwuid(atoi(value));
		if (user)
			printf("user = %s\n", user->pw_name);
	}
	save_listeners(path);
	save_rules(path);
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
	for (i = 0; limit_names[i]; i++) {
		if (get(ROOT, limit_names[i], value, sizeof(value)) >= 0)
			printf("%s = %s\n", limit_names[i], value);
	}
	/* First those that others stand behind. */
	if (each_dir(ROOT, save_site, &behind))
		return -1;
	behind = true;
	return each_dir(ROOT, save_site, &behind);
}
