// SPDX-License-Identifier: GPL-2.0
/* The configuration file: read as a whole and judged before anything is done. */
#include "conf.h"

const char *const limit_names[] = {
	"max_connections", "head_bytes", "head_fields", "head_timeout",
	"idle_timeout", "send_timeout", "send_rate", "linger_timeout",
	"stop_timeout", "cache_entries", "cache_idle", "handover_queue",
	"max_per_address", "request_rate", "request_burst", NULL
};

const struct attribute attributes[ATTRIBUTES] = {
	{ "listing", "0" }, { "precompressed", "0" }, { "names", "" },
	{ "behind", "" }, { "types", "" }, { "rules", "" },
};

static int wrong(const struct file *file, const char *what, const char *word)
{
	say("%s:%d: %s: %s", file->path, file->line, what, word);
	return -1;
}

char *join(const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s=%s", name, value) < 0)
		exit(1);
	return text;
}

char *copy(const char *text)
{
	char *result = strdup(text);

	if (!result)
		exit(1);
	return result;
}

char *trim(char *text)
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

	for (i = 0; limit_names[i]; i++) {
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
	if (!strcmp(name, "user") || !strcmp(name, "group")) {
		site->user_line = file->line;
		*(*name == 'u' ? &site->opt.user : &site->opt.group) = copy(value);
		return 0;
	}
	if (!strcmp(name, "rule"))
		return add_rule(site, value);
	if (!strcmp(name, "index")) {
		site->opt.index = copy(value);
		return 0;
	}
	for (i = 0; i < ATTRIBUTES; i++) {
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
const char *setting(const struct section *site, const char *name)
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

/* Together they can be what neither is. */
static int judge_user(struct file *file, struct section *site)
{
	unsigned int uid, gid;
	const char *why;

	site->opt.user = site->opt.user ?: "nobody";
	why = find_ids(site->opt.user, site->opt.group, &uid, &gid);
	if (!why)
		return 0;
	file->line = site->user_line ?: file->line;
	return wrong(file, why, site->opt.group ?: site->opt.user);
}

/* The file has been read: is each section whole? */
static int judge(struct file *file)
{
	int i;

	for (i = 0; i < file->sites; i++) {
		struct section *site = &file->site[i];

		if (judge_user(file, site))
			return -1;
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

int read_file(struct file *file, const char *path)
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

int check(const struct options *opt)
{
	static struct file file;

	return read_file(&file, opt->file);
}
