// SPDX-License-Identifier: GPL-2.0
/* The configuration file: read as a whole and judged before anything is done;
 * then sites that differ from it are changed while they run, and keep their
 * connections but those of listeners that are not there any more. Sites that it does
 * not name are none of its business. Attachments are not saved: a process id says
 * nothing later on.
 */
#include "httpctl.h"

#define SITES_MAX	64

/* One [site NAME]. */
struct section {
	struct options opt;
	char *rules;		/* "rules=" and its lines, or NULL */
	char *pidfile;		/* of the server to attach to, or NULL */
	bool started;
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
	"max_connections", "head_bytes", "head_fields", "head_timeout",
	"idle_timeout", "send_timeout", "send_rate", "linger_timeout",
	"stop_timeout", "cache_entries", "cache_idle", "handover_queue",
	"max_per_address", "request_rate", "request_burst",
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
	site->opt.fd = -1;
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

/* Is this directory the listener that is meant? */
static bool is_listener(const char *path, const struct listen *listen)
{
	int i;

	for (i = 0; i < LISTEN_OPTIONS; i++) {
		if (!has(path, listen_options[i].name, listen->option[i]))
			return false;
	}
	return has(path, "family", listen->family) &&
	       has(path, "address", listen->address) &&
	       has(path, "port", listen->port);
}

/* The listeners of a site that runs, against those that are wanted. */
struct change {
	const char *dir;
	struct listen want[LISTENERS_MAX];
	bool there[LISTENERS_MAX];
	int wants;
	char *unwanted[LISTENERS_MAX];
	int unwanteds;
};

static int sort_listener(const char *path, const char *name, void *data)
{
	struct change *change = data;
	int i;

	(void)name;
	for (i = 0; i < change->wants; i++) {
		if (!change->there[i] && is_listener(path, &change->want[i])) {
			change->there[i] = true;
			return 0;
		}
	}
	if (change->unwanteds == LISTENERS_MAX) {
		say("%s: too many listeners", change->dir);
		return -1;
	}
	change->unwanted[change->unwanteds++] = copy(path);
	return 0;
}

static int sort_listeners(const char *dir, const struct options *opt,
			  struct change *change)
{
	memset(change, 0, sizeof(*change));
	change->dir = dir;
	for (change->wants = 0; change->wants < opt->listens; change->wants++) {
		if (split_listen(opt->listen[change->wants],
				 &change->want[change->wants]))
			return -1;
	}
	return each_dir(dir, sort_listener, change);
}

static bool has_listeners(const char *dir, const struct options *opt)
{
	struct change change;
	int i;

	if (sort_listeners(dir, opt, &change) || change.unwanteds)
		return false;
	for (i = 0; i < change.wants; i++) {
		if (!change.there[i])
			return false;
	}
	return true;
}

/* No types of its own. A binary attribute cannot be written empty again: then it
 * has an empty line.
 */
static bool has_no_types(const char *path)
{
	return was_taken(path, "types", "", 0) ||
	       was_taken(path, "types", "\n", 1);
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
	if (!len)
		return strcmp(name, "types") ? has(dir, name, "") :
					       has_no_types(dir);
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

/* Was the site that it stands behind not there before? */
static bool front_started(const struct file *file, const struct section *site)
{
	const char *front = setting(site, "behind");
	int i;

	for (i = 0; front && i < file->sites; i++) {
		if (!strcmp(file->site[i].opt.site, front))
			return file->site[i].started;
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

static int clear_types(const char *path)
{
	return has_no_types(path) ? 0 : put_or_say(path, "types", "\n");
}

/* Directories for listeners that are wanted and not there. @made: their paths. */
static int make_listeners(struct change *change, char *made[], int *count)
{
	char path[PATH_MAX + 16];
	int i, number = 0;

	for (i = 0; i < change->wants; i++) {
		if (change->there[i])
			continue;
		do {
			snprintf(path, sizeof(path), "%s/listen%d", change->dir,
				 number++);
		} while (!access(path, F_OK));
		made[(*count)++] = copy(path);
		if (make_listener(change->dir, number - 1, &change->want[i]))
			return -1;
	}
	return 0;
}

/* Everything as the section has it, and what it does not say as it is otherwise. */
static int set_all(const char *path, const struct section *site)
{
	struct options all = site->opt;
	size_t i;

	all.index = site->opt.index ?: "index.html";
	all.user = site->opt.user ?: "nobody";
	all.sets = 0;
	if (set_site(&all, path))
		return -1;
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		const char *is = setting(site, attributes[i].name);
		char *text = join(attributes[i].name,
				  is ?: attributes[i].otherwise);
		int err = !is && !strcmp(attributes[i].name, "types") ?
			  clear_types(path) : set_attribute(path, text);

		free(text);
		if (err)
			return -1;
	}
	return 0;
}

/* A site that runs takes the form that the section gives it. What cannot be leaves
 * it as it is, with the attributes already written.
 */
static int change_site(const char *path, struct section *site)
{
	char *made[LISTENERS_MAX];
	struct change change;
	int i, count = 0, err;

	err = sort_listeners(path, &site->opt, &change) ||
	      make_listeners(&change, made, &count) || set_all(path, site);
	if (!err && put(path, "enabled", "1")) {
		say("cannot change site '%s': %s", site->opt.site, strerror(errno));
		err = 1;
	}
	for (i = 0; i < count; i++) {
		if (err)
			rmdir(made[i]);
		free(made[i]);
	}
	for (i = 0; i < change.unwanteds; i++) {
		if (!err)
			err = remove_dir(change.unwanted[i], NULL, NULL);
		free(change.unwanted[i]);
	}
	return err ? -1 : 0;
}

struct done {
	int started;
	int changed;
	int unchanged;
};

static int start_site(struct section *site)
{
	site->started = true;
	if ((site->opt.listens || setting(site, "behind")) && serve(&site->opt))
		return -1;
	return site->pidfile ? attach_to(site) : 0;
}

static int load_site(const struct file *file, struct section *site,
		     struct done *done)
{
	char path[PATH_MAX];

	site_path(path, sizeof(path), site->opt.site);
	if (!access(path, F_OK) && !has(path, "enabled", "1") &&
	    remove_site(path, site->opt.site, NULL))
		return -1;
	if (access(path, F_OK)) {
		done->started++;
		return start_site(site);
	}
	if (is_same(path, site) && !front_started(file, site)) {
		done->unchanged++;
	} else {
		done->changed++;
		if (change_site(path, site))
			return -1;
	}
	return site->pidfile && has(path, "attached", "0") ? attach_to(site) : 0;
}

int load(const struct options *opt)
{
	struct done done = {};
	static struct file file;
	int i;

	if (read_file(&file, opt->file) || loaded())
		return -1;
	for (i = 0; i < file.limits; i++) {
		if (set_attribute(ROOT, file.limit[i]))
			return -1;
	}
	for (i = 0; i < file.sites; i++) {
		if (load_site(&file, &file.site[i], &done))
			return -1;
	}
	printf("%d started, %d changed, %d unchanged\n", done.started,
	       done.changed, done.unchanged);
	return 0;
}

int check(const struct options *opt)
{
	static struct file file;

	return read_file(&file, opt->file);
}

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
