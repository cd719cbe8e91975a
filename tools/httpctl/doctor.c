// SPDX-License-Identifier: GPL-2.0
/* khttpdctl doctor: what is in the way of khttpd and its sites, a line each. */
#include "../lib/findings.h"
#include "httpctl.h"
#include <arpa/inet.h>
#include <linux/net6.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

/* File systems whose files may change elsewhere, which no notification tells. */
static const struct {
	unsigned int magic;
	const char *name;
} remote[] = {
	{ 0x6969, "NFS" }, { 0xff534d42, "CIFS" }, { 0xfe534d42, "SMB" }, { 0x517b, "SMB" },
	{ 0x65735546, "FUSE" }, { 0x01021997, "9p" }, { 0x00c36400, "Ceph" },
	{ 0x5346414f, "AFS" }, { 0x01161970, "GFS2" }, { 0x7461636f, "OCFS2" },
	{ 0x0bd00bd0, "Lustre" },
};

/* As the site's user: the first part of the path that it may not use, else that of the index
 * file. The result is written to @to, with an errno in front.
 */
static void look(const char *docroot, const char *index, int to)
{
	char path[PATH_MAX + INDEX_SIZE + 1], part[sizeof(path)], *slash;
	int err = 0;

	snprintf(path, sizeof(path), "%s", docroot);
	for (slash = strchr(path + 1, '/'); !err; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		snprintf(part, sizeof(part), "%s", path);
		if (access(path, X_OK))
			err = errno;
		if (!slash)
			break;
		*slash = '/';
	}
	if (!err && *index) {
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", index);
		/* Without an index file it is a folder like others. */
		if (access(path, R_OK) && errno != ENOENT) {
			err = errno;
			snprintf(part, sizeof(part), "%s", path);
		}
	}
	if (err)
		dprintf(to, "%d %s", err, part);
}

static void check_docroot(const char *site, const char *docroot, const char *index,
			  unsigned int uid, unsigned int gid)
{
	char found[PATH_MAX + 16] = "";
	ssize_t len = 0;
	int ends[2], err;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		if (!setgroups(0, NULL) && !setgid(gid) && !setuid(uid))
			look(docroot, index, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0) {
		len = read(ends[0], found, sizeof(found) - 1);
		waitpid(child, NULL, 0);
	}
	close(ends[0]);
	if (len > 0 && sscanf(found, "%d", &err) == 1)
		fault(site, "user %u cannot use %s: %s", uid, strchr(found, ' ') + 1,
		      strerror(err));
}

static void check_file_system(const char *site, const char *docroot)
{
	struct statfs fs;
	size_t i;

	if (statfs(docroot, &fs))
		return;
	for (i = 0; i < ARRAY_SIZE(remote); i++)
		if ((unsigned int)fs.f_type == remote[i].magic)
			note(site, "%s is on %s: what changes elsewhere is seen late", docroot,
			     remote[i].name);
}

/* Another's? A listener of ours that is closed would have it. */
static void check_port(const char *site, const char *family, const char *address,
		       const char *port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	bool four = !strcmp(family, "inet");
	int one = 1, fd, err;

	fd = socket(four ? AF_INET : !strcmp(family, "net6") ? AF_NET6 : AF_INET6,
		    SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		fault(site, "no socket of family %s: %s%s", family, strerror(errno),
		      strcmp(family, "net6") ? "" : " (modprobe net6)");
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	inet_pton(AF_INET6, address, &in6.sin6_addr);
	inet_pton(AF_INET, address, &in4.sin_addr);
	err = four ? bind(fd, (struct sockaddr *)&in4, sizeof(in4)) :
		     bind(fd, (struct sockaddr *)&in6, sizeof(in6));
	if (!err)
		err = listen(fd, 1);
	if (err)
		fault(site, "%s port %s: %s%s", address, port, strerror(errno),
		      errno == EADDRINUSE ? " (ss -tlnp says by whom; attach goes before it)" : "");
	close(fd);
}

struct site {
	const char *name;
	int listeners;
	int tls;
	int open;
};

/* Of all sites. */
struct sum {
	int sites;
	int tls;	/* listeners */
};

static int check_listener(const char *path, const char *name, void *data)
{
	char family[32] = "", address[64] = "", port[16] = "";
	struct site *site = data;

	(void)name;
	site->listeners++;
	site->tls += has(path, "tls", "1");
	if (has(path, "open", "1")) {
		site->open++;
		return 0;
	}
	get(path, "family", family, sizeof(family));
	get(path, "address", address, sizeof(address));
	get(path, "port", port, sizeof(port));
	check_port(site->name, family, address, port);
	return 0;
}

static void check_certificate(const char *path, const char *name)
{
	char certificate[PATH_MAX];
	const char *why = tls_fault(path, certificate);

	if (why)
		fault(name, "%s: %s", certificate, why);
}

static int check_site(const char *path, const char *name, void *data)
{
	char docroot[PATH_MAX] = "", index[INDEX_SIZE] = "", uid[16] = "", gid[16] = "";
	char behind[KHTTPD_NAME_SIZE] = "";
	struct site site = { .name = name };
	struct sum *sum = data;
	struct stat st;

	sum->sites++;
	get(path, "docroot", docroot, sizeof(docroot));
	get(path, "index", index, sizeof(index));
	get(path, "uid", uid, sizeof(uid));
	get(path, "gid", gid, sizeof(gid));
	get(path, "behind", behind, sizeof(behind));
	if (has(path, "enabled", "0"))
		fault(name, "the site is not enabled");
	else if (has(path, "pending", "1"))
		note(name, "what was written is not in force yet (write 1 to enabled)");
	if (!*docroot || stat(docroot, &st)) {
		fault(name, "%s: %s", *docroot ? docroot : "no docroot", strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		fault(name, "%s is no folder", docroot);
	} else {
		check_docroot(name, docroot, index, strtoul(uid, NULL, 10),
			      strtoul(gid, NULL, 10));
		check_file_system(name, docroot);
	}
	check_certificate(path, name);
	each_dir(path, check_listener, &site);
	sum->tls += site.tls;
	if (!site.listeners && !*behind && has(path, "attached", "0"))
		fault(name, "it has no listener and is attached to none: its server is gone, or "
		      "was never attached");
	return 0;
}

static bool check_module(void)
{
	char version[64] = "", path[PATH_MAX];
	struct utsname kernel;

	if (!access("/sys/module/khttpd", F_OK)) {
		if (get("/sys/module/khttpd", "version", version, sizeof(version)) < 0 ||
		    strcmp(version, NET6_VERSION))
			note("module", "version %s is loaded, this is khttpdctl " NET6_VERSION,
			     *version ? version : "unknown");
		return true;
	}
	uname(&kernel);
	snprintf(path, sizeof(path), "/lib/modules/%s", kernel.release);
	fault("module", "khttpd is not loaded (modprobe khttpd%s)", access(path, F_OK) ?
	      "; nothing is installed for this kernel" : "");
	if (has("/proc/sys/kernel", "modules_disabled", "1"))
		fault("module", "kernel.modules_disabled is 1: no module can be loaded until the "
		      "next boot");
	return false;
}

static void check_clock(void)
{
	time_t now = time(NULL);
	char date[32];
	struct tm tm;

	if (now >= FINDINGS_YOUNGEST || !gmtime_r(&now, &tm))
		return;
	strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	fault("clock", "it is said to be %s: dates of replies are wrong", date);
}

int doctor(const struct options *opt)
{
	struct sum sum = {};

	findings_begin(opt->json ? print_json_text : NULL);
	check_clock();
	if (check_module()) {
		if (access(ROOT, F_OK) && mount("configfs", CONFIG, "configfs", 0, NULL))
			fault("configfs", "it is not mounted on " CONFIG);
		else
			each_dir(ROOT, check_site, &sum);
		if (!sum.sites)
			note("sites", "there is no site (khttpdctl load, serve or attach)");
		if (sum.tls && !tls_workers())
			fault("tls", "khttpd-tlsd does not run: connections to listeners with tls "
			      "are closed");
	}
	return findings_end() ? -1 : 0;
}
