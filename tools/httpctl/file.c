// SPDX-License-Identifier: GPL-2.0
/* The configuration file: read as a whole and judged before anything is done;
 * then sites that differ from it are replaced, and the others left alone, with
 * their connections. Sites that it does not name are none of its business.
 * Attachments are not saved: a process id says nothing later on.
 */
#include "httpctl.h"

#define SITES_MAX	64

/* One [site NAME]. */
struct section {
	struct options opt;
	char *rules;		/* "rules=" and its lines, or NULL */
	char *pidfile;		/* of the server to attach to, or NULL */
	bool replaced;
};

struct file {
	const char *path;
	int line;
	struct section site[SITES_MAX];
	int sites;
	char *limit[SETS_MAX];	/* "NAME=VALUE" */
	int limits;
	bool in_limits;
};

static const char *const limit_names[] = {
	"max_connections", "head_timeout", "idle_timeout", "send_timeout",
	"send_rate", "linger_timeout", "cache_entries", "cache_idle",
	"handover_queue", "max_per_address", "request_rate", "request_burst",
};

/* Attributes that are set as they stand there, and what they are otherwise. */
static const struct {
	const char *name;
	const char *otherwise;
} attributes[] = {
	{ "listing", "0" }, { "precompressed", "0" }, { "names", "" },
	{ "behind", "" }, { "types", "" }, { "rules", "" },
};

static int wrong(const struct file *file, const char *what, const char *word)
{
	say("%s:%d: %s: %s", file->path, file->line, what, word);
	return -1;
}

static char *join(const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s=%s", name, value) < 0)
		exit(1);
	return text;
}

static char *copy(const char *text)
{
	char *result = strdup(text);

	if (!result)
		exit(1);
	return result;
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static int open_section(struct file *file, char *name)
{
	struct section *site;
	int i;

	file->in_limits = !strcmp(name, "limits");
	if (file->in_limits)
		return 0;
	if (strncmp(name, "site ", 5))
		return wrong(file, "neither [limits] nor [site NAME]", name);
	name = trim(name + 5);
	if (bad_name(name))
		return wrong(file, "not a name", name);
	for (i = 0; i < file->sites; i++) {
		if (!strcmp(file->site[i].opt.site, name))
			return wrong(file, "a second site of that name", name);
	}
	if (file->sites == SITES_MAX)
		return wrong(file, "too many sites", name);
	site = &file->site[file->sites++];
	site->opt.site = copy(name);
	return 0;
}

static int add_limit(struct file *file, const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limit_names); i++) {
		if (strcmp(name, limit_names[i]))
			continue;
		if (!*value || value[strspn(value, "0123456789")])
			return wrong(file, "not a number", value);
		if (file->limits == SETS_MAX)
			return wrong(file, "too many limits", name);
		file->limit[file->limits++] = join(name, value);
		return 0;
	}
	return wrong(file, "not a limit", name);
}

static int add_set(struct file *file, struct section *site, char *text)
{
	if (site->opt.sets == SETS_MAX)
		return wrong(file, "too many settings", text);
	site->opt.set[site->opt.sets++] = text;
	return 0;
}

static int add_listen(struct file *file, struct section *site,
		      const char *spec)
{
	struct listen listen;

	if (site->opt.listens == LISTENERS_MAX)
		return wrong(file, "too many listeners", spec);
	if (split_listen(spec, &listen))
		return wrong(file, "not a listener", spec);
	site->opt.listen[site->opt.listens++] = copy(spec);
	return 0;
}

/* "PIDFILE PORT" */
static int add_attach(struct file *file, struct section *site,
		      const char *value)
{
	const char *space = strrchr(value, ' ');
	int port = space ? atoi(space + 1) : 0;

	if (port <= 0 || port > 65535 || value[0] != '/' || site->pidfile)
		return wrong(file, "not 'PIDFILE PORT', or a second one", value);
	site->pidfile = copy(value);
	site->pidfile[space - value] = '\0';
	trim(site->pidfile);
	site->opt.port = port;
	return 0;
}

static int add_docroot(struct file *file, struct section *site,
		       const char *value)
{
	char path[PATH_MAX];

	/* As the kernel will show it, to be compared. */
	if (!realpath(value, path))
		return wrong(file, strerror(errno), value);
	site->opt.docroot = copy(path);
	return 0;
}

static int add_user(struct file *file, struct section *site, const char *value)
{
	if (!getpwnam(value))
		return wrong(file, "no user of that name", value);
	site->opt.user = copy(value);
	return 0;
}

static int add_rule(struct section *site, const char *rule)
{
	char *rules;

	if (asprintf(&rules, "%s%s\n", site->rules ?: "", rule) < 0)
		exit(1);
	free(site->rules);
	site->rules = rules;
	return 0;
}

static int add_setting(struct file *file, char *name, char *value)
{
	struct section *site = &file->site[file->sites - 1];
	size_t i;

	if (file->in_limits)
		return add_limit(file, name, value);
	if (!file->sites)
		return wrong(file, "before any section", name);
	if (!strcmp(name, "listen"))
		return add_listen(file, site, value);
	if (!strcmp(name, "attach"))
		return add_attach(file, site, value);
	if (!strcmp(name, "docroot"))
		return add_docroot(file, site, value);
	if (!strcmp(name, "user"))
		return add_user(file, site, value);
	if (!strcmp(name, "rule"))
		return add_rule(site, value);
	if (!strcmp(name, "index")) {
		site->opt.index = copy(value);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (!strcmp(name, attributes[i].name))
			return add_set(file, site, join(name, value));
	}
	return wrong(file, "not a setting", name);
}

static int read_line(struct file *file, char *line)
{
	char *text = trim(line), *value;
	size_t len = strlen(text);

	if (!len || text[0] == '#')
		return 0;
	if (text[0] == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		return open_section(file, trim(text + 1));
	}
	value = strchr(text, '=');
	if (!value)
		return wrong(file, "neither [SECTION] nor NAME = VALUE", text);
	*value++ = '\0';
	return add_setting(file, trim(text), trim(value));
}

/* What @site says of an attribute, or NULL. */
static const char *setting(const struct section *site, const char *name)
{
	size_t len = strlen(name);
	int i;

	for (i = site->opt.sets - 1; i >= 0; i--) {
		if (!strncmp(site->opt.set[i], name, len) &&
		    site->opt.set[i][len] == '=')
			return site->opt.set[i] + len + 1;
	}
	return NULL;
}

/* The file has been read: is each section whole? */
static int judge(struct file *file)
{
	int i;

	for (i = 0; i < file->sites; i++) {
		struct section *site = &file->site[i];

		if (site->rules && add_set(file, site, join("rules", site->rules)))
			return -1;
		if (!site->opt.docroot)
			return wrong(file, "site without docroot", site->opt.site);
		if (!site->opt.listens && !site->pidfile &&
		    !setting(site, "behind"))
			return wrong(file, "site without listen, attach and behind",
				     site->opt.site);
	}
	return 0;
}

static int read_file(struct file *file, const char *path)
{
	char *line = NULL;
	size_t size = 0;
	FILE *in;
	int err = 0;

	file->path = path;
	in = fopen(path, "r");
	if (!in) {
		say("%s: %s", path, strerror(errno));
		return -1;
	}
	while (getline(&line, &size, in) >= 0) {
		file->line++;
		err |= read_line(file, line);
	}
	free(line);
	fclose(in);
	return err ? -1 : judge(file);
}

static bool has(const char *dir, const char *name, const char *value)
{
	char now[PATH_MAX + 1];

	return get(dir, name, now, sizeof(now)) >= 0 && !strcmp(now, value);
}

static bool has_user(const char *dir, const char *user)
{
	struct passwd *entry = getpwnam(user ?: "nobody");
	char uid[16] = "65534", gid[16] = "65534";

	if (entry) {
		snprintf(uid, sizeof(uid), "%u", entry->pw_uid);
		snprintf(gid, sizeof(gid), "%u", entry->pw_gid);
	}
	return has(dir, "uid", uid) && has(dir, "gid", gid);
}

static int count_one(const char *path, const char *name, void *data)
{
	(void)path;
	(void)name;
	++*(int *)data;
	return 0;
}

static bool has_listeners(const char *dir, const struct options *opt)
{
	char path[PATH_MAX + 16];
	struct listen listen;
	int i, n = 0;

	each_dir(dir, count_one, &n);
	if (n != opt->listens)
		return false;
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/listen%d", dir, i);
		if (split_listen(opt->listen[i], &listen) ||
		    !has(path, "family", listen.family) ||
		    !has(path, "address", listen.address) ||
		    !has(path, "port", listen.port))
			return false;
	}
	return true;
}

static bool has_attribute(const char *dir, const struct section *site,
			  const char *name, const char *otherwise)
{
	static char value[VALUE_MAX + 1];
	const char *is = setting(site, name) ?: otherwise;
	size_t len = strlen(is);
	FILE *file;

	if (is[0] == '@') {
		file = fopen(is + 1, "r");
		if (!file)
			return false;
		len = fread(value, 1, sizeof(value), file);
		fclose(file);
		is = value;
	} else if (len && is[len - 1] != '\n' && strcmp(name, "types")) {
		return has(dir, name, is);
	}
	if (!len && strcmp(name, "types"))
		return has(dir, name, "");
	return was_taken(dir, name, is, len);
}

/* Does the running site differ in nothing? */
static bool is_same(const char *dir, const struct section *site)
{
	size_t i;

	if (!has(dir, "enabled", "1") ||
	    !has(dir, "docroot", site->opt.docroot) ||
	    !has(dir, "index", site->opt.index ?: "index.html") ||
	    !has_user(dir, site->opt.user) || !has_listeners(dir, &site->opt))
		return false;
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (!has_attribute(dir, site, attributes[i].name,
				   attributes[i].otherwise))
			return false;
	}
	return true;
}

/* Was the site that it stands behind replaced, and forgot it? */
static bool front_replaced(const struct file *file, const struct section *site)
{
	const char *front = setting(site, "behind");
	int i;

	for (i = 0; front && i < file->sites; i++) {
		if (!strcmp(file->site[i].opt.site, front))
			return file->site[i].replaced;
	}
	return false;
}

static int attach_to(struct section *site)
{
	FILE *file = fopen(site->pidfile, "r");
	int n = file ? fscanf(file, "%d", &site->opt.pid) : 0;

	if (file)
		fclose(file);
	if (n == 1 && site->opt.pid > 0)
		return attach(&site->opt);
	say("%s: no process id there", site->pidfile);
	return -1;
}

/* Return: 1 if it was started, 0 if it ran already, -1 on errors. */
static int load_site(const struct file *file, struct section *site)
{
	char path[PATH_MAX];

	site_path(path, sizeof(path), site->opt.site);
	if (!access(path, F_OK)) {
		if (is_same(path, site) && !front_replaced(file, site)) {
			if (site->pidfile && has(path, "attached", "0"))
				return attach_to(site);
			return 0;
		}
		if (remove_site(path, site->opt.site, NULL))
			return -1;
	}
	site->replaced = true;
	if ((site->opt.listens || setting(site, "behind")) && serve(&site->opt))
		return -1;
	return site->pidfile && attach_to(site) ? -1 : 1;
}

int load(const struct options *opt)
{
	static struct file file;
	int i, n, started = 0;

	if (read_file(&file, opt->file) || loaded())
		return -1;
	for (i = 0; i < file.limits; i++) {
		if (set_attribute(ROOT, file.limit[i]))
			return -1;
	}
	for (i = 0; i < file.sites; i++) {
		n = load_site(&file, &file.site[i]);
		if (n < 0)
			return -1;
		started += n;
	}
	printf("%d started, %d unchanged\n", started, file.sites - started);
	return 0;
}

int check(const struct options *opt)
{
	static struct file file;

	return read_file(&file, opt->file);
}

static void save_listener(const char *path)
{
	char family[16], address[128], port[16];

	if (get(path, "family", family, sizeof(family)) < 0 ||
	    get(path, "address", address, sizeof(address)) < 0 ||
	    get(path, "port", port, sizeof(port)) < 0)
		return;
	if (!strcmp(family, "inet"))
		printf("listen = %s:%s\n", address, port);
	else
		printf("listen = [%s]:%s%s\n", address, port,
		       strcmp(family, "net6") ? "" : ",net6");
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
	char value[PATH_MAX + 1], dir[PATH_MAX + 16];
	const bool *behind = data;
	struct passwd *user;
	size_t i;
	int n;

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
	for (n = 0; n < LISTENERS_MAX; n++) {
		snprintf(dir, sizeof(dir), "%s/listen%d", path, n);
		if (!access(dir, F_OK))
			save_listener(dir);
	}
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
	for (i = 0; i < ARRAY_SIZE(limit_names); i++) {
		if (get(ROOT, limit_names[i], value, sizeof(value)) >= 0)
			printf("%s = %s\n", limit_names[i], value);
	}
	/* First those that others stand behind. */
	if (each_dir(ROOT, save_site, &behind))
		return -1;
	behind = true;
	return each_dir(ROOT, save_site, &behind);
}
