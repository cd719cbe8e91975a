// SPDX-License-Identifier: GPL-2.0
/* Does what the configuration file says. Sites that differ from it are changed while they run,
 * and keep their connections, except those of listeners that are not there any more. Sites that
 * it does not name are none of its business.
 */
#include "conf.h"

static bool has_user(const char *dir, const struct options *opt)
{
	char uid_text[16], gid_text[16];
	unsigned int uid, gid;

	if (find_ids(opt->user, opt->group, &uid, &gid))
		return false;
	snprintf(uid_text, sizeof(uid_text), "%u", uid);
	snprintf(gid_text, sizeof(gid_text), "%u", gid);
	return has(dir, "uid", uid_text) && has(dir, "gid", gid_text);
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
	ssize_t len = strlen(is);

	if (is[0] == '@') {
		len = read_text(is + 1, value, sizeof(value));
		if (len < 0)
			return false;
		is = value;
	} else if (len && is[len - 1] != '\n' && strcmp(name, "types")) {
		return has(dir, name, is);
	}
	if (!len)
		return strcmp(name, "types") ? has(dir, name, "") :
					       has_no_types(dir);
	return was_taken(dir, name, is, len);
}

/* Does the running site differ in nothing? Values that were written, but could not take effect,
 * are in its attributes all the same.
 */
static bool is_same(const char *dir, const struct section *site)
{
	size_t i;

	if (!has(dir, "enabled", "1") || !has(dir, "pending", "0") ||
	    !has(dir, "docroot", site->opt.docroot) ||
	    !has(dir, "index", site->opt.index ?: "index.html") ||
	    !has_user(dir, &site->opt) ||
	    !has_listeners(dir, &site->opt))
		return false;
	for (i = 0; i < ATTRIBUTES; i++) {
		if (!has_attribute(dir, site, attributes[i].name,
				   attributes[i].otherwise))
			return false;
	}
	return true;
}

static int find_server(struct section *site)
{
	FILE *file = fopen(site->pidfile, "r");
	int n = file ? fscanf(file, "%d", &site->opt.pid) : 0;

	if (file)
		fclose(file);
	if (n == 1 && site->opt.pid > 0)
		return 0;
	say("%s: no process id there", site->pidfile);
	return -1;
}

/* A server may have got listeners since. Return: how many, or -1. */
static int follow_server(const char *path, struct section *site)
{
	int n;

	if (!site->pidfile)
		return 0;
	if (find_server(site))
		return -1;
	n = attach_more(&site->opt);
	if (n || !has(path, "attached", "0"))
		return n;
	say("process %d has no listener on port %d that could be attached",
	    site->opt.pid, site->opt.port);
	return -1;
}

static int clear_types(const char *path)
{
	return has_no_types(path) ? 0 : put_or_say(path, "types", "\n");
}

/* Everything as the section has it, and what it does not say as it is otherwise. */
static int set_all(const char *path, const struct section *site)
{
	struct options all = site->opt;
	size_t i;

	all.index = site->opt.index ?: "index.html";
	all.sets = 0;
	if (set_site(&all, path))
		return -1;
	for (i = 0; i < ATTRIBUTES; i++) {
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

/* A site that runs takes the form that the section gives it. If it cannot, it stays as it is,
 * with the attributes already written. Listeners in the place of others come last. If they cannot
 * be opened, the others are again. Those that are not wanted any more are removed when all sites
 * have their form.
 */
static int change_site(const struct file *file, const char *path,
		       struct section *site)
{
	struct change change;
	int err;

	err = sort_listeners(file, path, site, &change) ||
	      make_listeners(&change, false) || set_all(path, site);
	if (!err && wants_tls(&site->opt))
		tls_tell();
	if (!err && put(path, "enabled", "1")) {
		say("cannot change site '%s': %s", site->opt.site, strerror(errno));
		err = 1;
	}
	if (err)
		unmake_listeners(&change, false);
	else
		err = replace_listeners(&change);
	free_change(&change);
	site->changed = !err;
	site->kept = err;
	return err ? -1 : 0;
}

struct done {
	int started;
	int changed;
	int unchanged;
	int failed;
};

/* Other sites give up what it has from now on. */
static int serve_instead(const struct file *file, const char *path,
			 struct section *site)
{
	struct change change;
	int err;

	err = sort_listeners(file, path, site, &change) ||
	      open_blocking(&change, "0");
	if (!err && serve(&site->opt)) {
		open_blocking(&change, "1");
		err = -1;
	}
	free_change(&change);
	return err;
}

static int start_site(const struct file *file, const char *path,
		      struct section *site)
{
	if ((site->opt.listens || setting(site, "behind")) &&
	    serve_instead(file, path, site))
		return -1;
	return site->pidfile && (find_server(site) || attach_site(&site->opt, false)) ? -1 : 0;
}

static int load_site(const struct file *file, struct section *site,
		     struct done *done)
{
	char path[PATH_MAX];
	bool same;
	int more;

	site_path(path, sizeof(path), site->opt.site);
	if (!access(path, F_OK) && !has(path, "enabled", "1") &&
	    remove_site(path, site->opt.site, NULL))
		return -1;
	if (access(path, F_OK)) {
		if (start_site(file, path, site))
			return -1;
		done->started++;
		return 0;
	}
	same = is_same(path, site);
	if (!same && change_site(file, path, site))
		return -1;
	more = follow_server(path, site);
	if (more < 0)
		return -1;
	if (same && !more)
		done->unchanged++;
	else
		done->changed++;
	return 0;
}

/* One that fails, perhaps because its server is not there, is no reason to leave out the
 * others.
 */
static void load_sites(struct file *file, struct done *done)
{
	int i;

	for (i = 0; i < file->sites; i++) {
		if (!load_site(file, &file->site[i], done))
			continue;
		say("site '%s' is not what the file says", file->site[i].opt.site);
		done->failed++;
	}
}

/* Not before all sites have what they want. So a port that goes from one to another is closed
 * only for as long as the other one takes to open it.
 */
static int clear_sites(const struct file *file)
{
	char path[PATH_MAX];
	int i, err = 0;

	for (i = 0; i < file->sites; i++) {
		site_path(path, sizeof(path), file->site[i].opt.site);
		if (file->site[i].changed &&
		    remove_unwanted(path, &file->site[i].opt))
			err = -1;
	}
	return err;
}

/* Those that stand behind others, or have another one: all at once. */
static void tell_certificates(const struct file *file)
{
	int i;

	for (i = 0; i < file->sites; i++) {
		if (!*(setting(&file->site[i], "certificate") ?: ""))
			continue;
		tls_tell();
		return;
	}
}

int load(const struct options *opt)
{
	struct done done = {};
	static struct file file;
	int i, err;

	if (read_file(&file, opt->file) || loaded())
		return -1;
	for (i = 0; i < file.limits; i++) {
		if (set_attribute(ROOT, file.limit[i]))
			return -1;
	}
	load_sites(&file, &done);
	err = clear_sites(&file);
	if (done.started + done.changed)
		tell_certificates(&file);
	printf("%d started, %d changed, %d unchanged", done.started,
	       done.changed, done.unchanged);
	if (done.failed)
		printf(", %d failed", done.failed);
	putchar('\n');
	return done.failed ? -1 : err;
}
