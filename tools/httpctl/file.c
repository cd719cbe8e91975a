// SPDX-License-Identifier: GPL-2.0
/* The configuration file: read as a whole and judged before anything is done. */
#include "conf.h"
#include "judge.h"

/* Times are in ms; most is the kernel's, see khttpd/admin/configfs.c. */
#define MOST	(INT_MAX / 2)

const struct limit limits[LIMITS] = {
	{ "max_connections", 0, MOST }, { "head_bytes", 64, 8192 },
	{ "head_fields", 1, 100 }, { "head_timeout", 1, MOST },
	{ "idle_timeout", 1, MOST }, { "send_timeout", 1, MOST },
	{ "send_rate", 0, MOST }, { "linger_timeout", 1, MOST },
	{ "linger_time", 1, MOST }, { "stop_timeout", 0, MOST },
	{ "cache_entries", 1, MOST },
	{ "cache_idle", 1, MOST }, { "handover_queue", 0, MOST },
	{ "max_per_address", 0, MOST }, { "request_rate", 0, MOST },
	{ "request_burst", 1, MOST }, { "tls_timeout", 1, MOST },
	{ "tls_handshakes", 0, MOST }, { "tls_per_address", 0, MOST },
};

const struct attribute attributes[ATTRIBUTES] = {
	{ "listing", "0" }, { "precompressed", "0" }, { "etag_version", "0" },
	{ "until_closed", "0" }, { "names", "" }, { "behind", "" }, { "certificate", "" },
	{ "key", "" }, { "client_ca", "" }, { "hsts", "" }, { "proxy_protocol", "" },
	{ "send_proxy", "0" }, { "types", "" }, { "rules", "" },
};

static int wrong(const struct file *file, const char *what, const char *word)
{
	say("%s:%d: %s: %s", file->path, file->line, what, word);
	return -1;
}

static int wrong_at(struct file *file, int line, const char *what,
		    const char *word)
{
	file->line = line;
	return wrong(file, what, word);
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
	site->line = file->line;
	site->opt.site = copy(name);
	site->opt.fd = -1;
	return 0;
}

static int add_limit(struct file *file, const char *name, const char *value)
{
	const char *why;
	size_t i;

	for (i = 0; i < LIMITS; i++) {
		if (strcmp(name, limits[i].name))
			continue;
		why = judge_number(value, limits[i].least, limits[i].most);
		if (why)
			return wrong(file, why, value);
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
	const char *why;

	if (site->opt.listens == LISTENERS_MAX)
		return wrong(file, "too many listeners", spec);
	if (split_listen(spec, &listen))
		return wrong(file, "not a listener", spec);
	why = judge_listen(&listen);
	if (why)
		return wrong(file, why, spec);
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
	if (!docroot_path(value, path))
		return wrong(file, strerror(errno), value);
	site->opt.docroot = copy(path);
	return 0;
}

static int add_rule(struct file *file, struct section *site, const char *rule)
{
	const char *why = judge_rules(rule, strlen(rule));
	char *rules;

	if (why)
		return wrong(file, why, rule);
	if (asprintf(&rules, "%s%s\n", site->rules ?: "", rule) < 0)
		exit(1);
	free(site->rules);
	site->rules = rules;
	return 0;
}

static int add_index(struct file *file, struct section *site, const char *name)
{
	const char *why = judge_index(name);

	if (why)
		return wrong(file, why, name);
	site->opt.index = copy(name);
	return 0;
}

static int add_attribute(struct file *file, struct section *site,
			 const char *name, const char *value)
{
	const char *why;

	if (!strcmp(name, "listing") || !strcmp(name, "precompressed") ||
	    !strcmp(name, "etag_version") || !strcmp(name, "until_closed") ||
	    !strcmp(name, "send_proxy"))
		why = judge_switch(&value);
	else
		why = judge_attribute(name, value);
	if (why)
		return wrong(file, why, value);
	if (!strcmp(name, "behind"))
		site->behind_line = file->line;
	if (add_pem_line(&site->opt, name, value))
		return 0;
	return add_set(file, site, join(name, value));
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
		return add_rule(file, site, value);
	if (!strcmp(name, "index"))
		return add_index(file, site, value);
	for (i = 0; i < ATTRIBUTES; i++) {
		if (!strcmp(name, attributes[i].name))
			return add_attribute(file, site, name, value);
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
	return wrong_at(file, site->user_line ?: site->line, why,
			site->opt.group ?: site->opt.user);
}

/* May it stand behind that site, which the file has before it or which runs? */
static const char *judge_front(const struct file *file,
			       const struct section *site, const char *front)
{
	const struct section *other;
	char path[PATH_MAX];

	for (other = file->site; other < file->site + file->sites; other++) {
		if (strcmp(other->opt.site, front))
			continue;
		if (other >= site)
			return "is not before it in the file";
		return *(setting(other, "behind") ?: "") ?
		       "is behind another one itself" : NULL;
	}
	site_path(path, sizeof(path), front);
	if (bad_name(front) || loaded() || !has(path, "enabled", "1"))
		return "neither in the file nor running";
	return has(path, "behind", "") ? NULL : "is behind another one itself";
}

static int judge_site(struct file *file, struct section *site)
{
	const char *front = setting(site, "behind") ?: "", *why;
	const char *name = site->opt.site;
	int err = judge_user(file, site);

	if (site->rules) {
		err |= add_set(file, site, join("rules", site->rules));
		if (judge_rules(site->rules, strlen(site->rules)))
			err |= wrong_at(file, site->line, "too many rules", name);
	}
	if (!site->opt.docroot)
		err |= wrong_at(file, site->line, "site without docroot", name);
	if (!site->opt.listens && !site->pidfile && !*front)
		err |= wrong_at(file, site->line,
				"site without listen, attach and behind", name);
	if (wants_tls(&site->opt) && !*(setting(site, "certificate") ?: ""))
		err |= wrong_at(file, site->line, "listener with tls, and no certificate", name);
	if (*front && *(setting(site, "client_ca") ?: ""))
		err |= wrong_at(file, site->line, "client_ca is for the site with the listener",
				name);
	why = *front ? judge_front(file, site, front) : NULL;
	if (why)
		err |= wrong_at(file, site->behind_line, why, front);
	return err;
}

/* The file has been read: is each section whole? */
static int judge(struct file *file)
{
	int i, err = 0;

	for (i = 0; i < file->sites; i++)
		err |= judge_site(file, &file->site[i]);
	return err;
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
	/* A mistake there may be why a section is not whole. */
	return err ? -1 : judge(file);
}

int check(const struct options *opt)
{
	static struct file file;

	return read_file(&file, opt->file);
}
