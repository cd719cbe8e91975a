// SPDX-License-Identifier: GPL-2.0
/* Making, starting and removing sites. */
#include "httpctl.h"

/* "1000" */
static bool is_id(const char *text, unsigned int *id)
{
	unsigned long value;

	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	value = strtoul(text, NULL, 10);
	*id = value;
	return !errno && value < UINT_MAX;
}

/* As whom files are read: names or numbers. Return: NULL, or why they cannot be. */
const char *find_ids(const char *user, const char *group, unsigned int *uid,
		     unsigned int *gid)
{
	struct passwd *entry = getpwnam(user);
	struct group *other;

	*uid = ID_NOBODY;
	if (!entry && !is_id(user, uid) && strcmp(user, "nobody"))
		return "no user of that name";
	if (!entry)
		entry = getpwuid(*uid);
	if (entry)
		*uid = entry->pw_uid;
	*gid = entry ? entry->pw_gid : ID_NOBODY;
	if (group) {
		other = getgrnam(group);
		if (other)
			*gid = other->gr_gid;
		else if (!is_id(group, gid))
			return "no group of that name";
	}
	return *uid && *gid ? NULL : "files are never read as root or its group";
}

static int set_user(const char *dir, const char *user, const char *group)
{
	unsigned int uid, gid;
	const char *why = find_ids(user, group, &uid, &gid);
	char id[16];

	if (why) {
		say("user '%s'%s%s: %s", user, group ? ", group " : "", group ?: "",
		    why);
		return -1;
	}
	snprintf(id, sizeof(id), "%u", uid);
	if (put_or_say(dir, "uid", id))
		return -1;
	snprintf(id, sizeof(id), "%u", gid);
	return put_or_say(dir, "gid", id);
}

const struct listen_option listen_options[LISTEN_OPTIONS] = {
	{ "backlog", "1024", false, 1, 1 << 20 },
	{ "defer_accept", "0", false, 0, 3600 },
	{ "fastopen", "0", false, 0, 1 << 20 },
	{ "reuseport", "0", true, 0, 1 },
	{ "tls", "0", true, 0, 1 },
	{ "redirect", "0", false, 0, 65535 },
};

/* A number as the kernel will show it. */
static const char *digits(const char *number)
{
	while (number[0] == '0' && number[1])
		number++;
	return number;
}

/* What follows the port: "net6", "backlog=4096", "reuseport". */
static int take_option(const char *spec, struct listen *listen, char *word)
{
	char *value = strchr(word, '=');
	int i;

	if (!strcmp(word, "net6")) {
		listen->family = "net6";
		return 0;
	}
	if (value)
		*value++ = '\0';
	for (i = 0; i < LISTEN_OPTIONS; i++) {
		if (strcmp(word, listen_options[i].name))
			continue;
		if (listen_options[i].flag ? !!value : !value || !*value ||
		    value[strspn(value, "0123456789")])
			break;
		listen->option[i] = digits(value ?: "1");
		return 0;
	}
	say("'%s': '%s' may not follow the port", spec, word);
	return -1;
}

static bool wants(const struct listen *listen, const char *name)
{
	int i;

	for (i = 0; strcmp(listen_options[i].name, name); i++)
		;
	return strcmp(listen->option[i], "0");
}

/* "1.2.3.4:80", "[::]:80" or "[::]:80,net6,backlog=4096" */
int split_listen(const char *spec, struct listen *listen)
{
	char *address = listen->text, *port, *rest = listen->text, *word;
	int i;

	for (i = 0; i < LISTEN_OPTIONS; i++)
		listen->option[i] = listen_options[i].otherwise;
	listen->family = "inet";
	snprintf(listen->text, sizeof(listen->text), "%s", spec);
	strsep(&rest, ",");
	while ((word = strsep(&rest, ","))) {
		if (take_option(spec, listen, word))
			return -1;
	}
	if (wants(listen, "tls") && wants(listen, "redirect")) {
		say("'%s': tls and redirect cannot both follow the port", spec);
		return -1;
	}
	port = strrchr(address, ':');
	if (!port || port == address) {
		say("'%s': not of the form ADDRESS:PORT", spec);
		return -1;
	}
	*port++ = '\0';
	if (address[0] == '[') {
		char *close = strchr(address, ']');

		if (!close || close[1]) {
			say("'%s': unbalanced brackets", spec);
			return -1;
		}
		*close = '\0';
		address++;
		if (strcmp(listen->family, "net6"))
			listen->family = "inet6";
	} else if (!strcmp(listen->family, "net6")) {
		say("'%s': net6 takes IPv6 addresses in brackets", spec);
		return -1;
	}
	listen->address = address;
	listen->port = digits(port);
	return 0;
}

/* Is there a listener with TLS? */
bool wants_tls(const struct options *opt)
{
	struct listen listen;
	int i;

	for (i = 0; i < opt->listens; i++) {
		if (!split_listen(opt->listen[i], &listen) && wants(&listen, "tls"))
			return true;
	}
	return false;
}

int make_listener(const char *site, int number, const struct listen *listen)
{
	char dir[PATH_MAX + 16];
	int i;

	snprintf(dir, sizeof(dir), "%s/listen%d", site, number);
	if (mkdir(dir, 0755)) {
		say("%s: %s", dir, strerror(errno));
		return -1;
	}
	if (put_or_say(dir, "family", listen->family) ||
	    put_or_say(dir, "address", listen->address) ||
	    put_or_say(dir, "port", listen->port))
		return -1;
	for (i = 0; i < LISTEN_OPTIONS; i++) {
		if (put_or_say(dir, listen_options[i].name, listen->option[i]))
			return -1;
	}
	return 0;
}

int remove_dir(const char *path, const char *name, void *data)
{
	(void)name;
	(void)data;
	if (!rmdir(path))
		return 0;
	say("%s: %s", path, strerror(errno));
	return -1;
}

/* Disable a site and remove its directory. */
int remove_site(const char *path, const char *name, void *data)
{
	if (put_or_say(path, "enabled", "0"))
		return -1;
	if (each_dir(path, remove_dir, NULL))
		return -1;
	return remove_dir(path, name, data);
}

/* A binary attribute judges its value when it is closed, and cannot say so. */
bool was_taken(const char *dir, const char *name, const char *value,
	       size_t len)
{
	static char now[VALUE_MAX];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_text(path, now, sizeof(now)) == (ssize_t)len &&
	       !memcmp(now, value, len);
}

/* "ATTRIBUTE=VALUE" or "ATTRIBUTE=@FILE" */
int set_attribute(const char *dir, const char *spec)
{
	static char value[VALUE_MAX + 1];
	const char *equals = strchr(spec, '=');
	char name[64];
	ssize_t len;

	if (!equals || equals == spec || equals - spec >= (int)sizeof(name) ||
	    memchr(spec, '/', equals - spec)) {
		say("'%s': not of the form ATTRIBUTE=VALUE", spec);
		return -1;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - spec), spec);
	if (equals[1] != '@')
		return put_or_say(dir, name, equals + 1);
	len = read_text(equals + 2, value, sizeof(value));
	if (len < 0) {
		say("%s: %s", equals + 2, strerror(errno));
		return -1;
	}
	if (len > VALUE_MAX || put_bytes(dir, name, value, len)) {
		say("%s/%s: cannot set to what is in %s: %s", dir, name,
		    equals + 2, strerror(len > VALUE_MAX ? EFBIG : errno));
		return -1;
	}
	if (was_taken(dir, name, value, len))
		return 0;
	say("%s/%s: what is in %s was not taken", dir, name, equals + 2);
	return -1;
}

static int set_attributes(const struct options *opt, const char *dir)
{
	int i;

	for (i = 0; i < opt->sets; i++) {
		if (set_attribute(dir, opt->set[i]))
			return -1;
	}
	return 0;
}

/* @name from the root on. Return: false with errno. */
bool file_path(const char *name, char *path)
{
	size_t len = 0;

	if (name[0] != '/') {
		if (!getcwd(path, PATH_MAX - 1))
			return false;
		len = strlen(path);
		path[len++] = '/';
	}
	if (len + strlen(name) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(path + len, name);
	return true;
}

/* The name of a directory, from the root on. Symbolic links stay: the kernel follows them, also
 * when they change, and those of /proc/PID are not what their text says. Return: false with errno.
 */
bool docroot_path(const char *name, char *path)
{
	struct stat st;

	if (stat(name, &st))
		return false;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return false;
	}
	return file_path(name, path);
}

/* Write the attributes that are asked for. */
int set_site(const struct options *opt, const char *path)
{
	char docroot[PATH_MAX];

	if (!docroot_path(opt->docroot, docroot)) {
		say("%s: %s", opt->docroot, strerror(errno));
		return -1;
	}
	return put_or_say(path, "docroot", docroot) ||
	       (opt->index && put_or_say(path, "index", opt->index)) ||
	       (opt->user && set_user(path, opt->user, opt->group)) ||
	       set_attributes(opt, path) ? -1 : 0;
}

/* Make a site's directory with everything but listeners. */
int make_site(const struct options *opt, char *path, size_t size)
{
	if (!opt->docroot) {
		say("--docroot is missing");
		return -1;
	}
	site_path(path, size, opt->site);
	if (mkdir(path, 0755)) {
		say(errno == EEXIST ? "there is a site '%s' already" :
		    "cannot make site '%s'", opt->site);
		return -1;
	}
	if (set_site(opt, path)) {
		remove_site(path, opt->site, NULL);
		return -1;
	}
	return 0;
}

int enable_site(const char *path, const char *site)
{
	if (!put(path, "enabled", "1"))
		return 0;
	if (errno == EOPNOTSUPP)
		say("cannot start site '%s': a family has not got an option of its listener",
		    site);
	else
		say("cannot start site '%s': %s", site, strerror(errno));
	remove_site(path, site, NULL);
	return -1;
}

/* Is an attribute set to something that begins so? */
static bool sets(const struct options *opt, const char *begin)
{
	int i;

	for (i = 0; i < opt->sets; i++) {
		if (!strncmp(opt->set[i], begin, strlen(begin)))
			return true;
	}
	return false;
}

int serve(const struct options *opt)
{
	char path[PATH_MAX];
	int i;

	if (!opt->listens && !sets(opt, "behind=")) {
		say("--listen is missing");
		return -1;
	}
	if (wants_tls(opt) && !sets(opt, "certificate=/")) {
		say("--certificate is missing");
		return -1;
	}
	if (make_site(opt, path, sizeof(path)))
		return -1;
	for (i = 0; i < opt->listens; i++) {
		struct listen listen;

		if (split_listen(opt->listen[i], &listen) ||
		    make_listener(path, i, &listen)) {
			remove_site(path, opt->site, NULL);
			return -1;
		}
	}
	/* First: connections to a site that khttpd-tlsd does not know are closed. */
	if (wants_tls(opt))
		tls_tell();
	return enable_site(path, opt->site);
}

/* The command: a site that is behind another may have a certificate, too. */
int serve_one(const struct options *opt)
{
	if (serve(opt))
		return -1;
	if (!wants_tls(opt) && sets(opt, "certificate=/"))
		tls_tell();
	return 0;
}

int stop(const struct options *opt)
{
	char path[PATH_MAX];

	if (opt->all)
		return each_dir(ROOT, remove_site, NULL);
	site_path(path, sizeof(path), opt->site);
	if (access(path, F_OK)) {
		say("there is no site '%s'", opt->site);
		return -1;
	}
	return remove_site(path, opt->site, NULL);
}
