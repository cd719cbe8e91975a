// SPDX-License-Identifier: GPL-2.0
/* khttpdctl: start, attach, watch and stop the web server in the kernel. All
 * it does is to write the configfs tree and, for attaching, to borrow another
 * process's listening sockets and name them to /dev/khttpd.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/khttpd.h>

#define CONFIG		"/sys/kernel/config"
#define ROOT		CONFIG "/khttpd"
#define DEVICE		"/dev/khttpd"
#define LISTENERS_MAX	16

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* What was asked for on the command line. */
struct options {
	const char *site;
	const char *docroot;
	const char *index;
	const char *user;
	const char *listen[LISTENERS_MAX];
	int listens;
	int pid;
	int port;
	bool json;
	bool all;
};

static void say(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list args;

	fputs("khttpdctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int usage(FILE *to)
{
	fputs("usage: khttpdctl COMMAND [OPTION...]\n"
	      "\n"
	      "  serve   --docroot DIR --listen ADDRESS:PORT[,net6]...\n"
	      "          [--site NAME] [--index FILE] [--user USER]\n"
	      "  attach  --pid PID --port PORT --docroot DIR\n"
	      "          [--site NAME] [--index FILE] [--user USER]\n"
	      "  detach  [--site NAME]\n"
	      "  status  [-j]\n"
	      "  stop    [--site NAME | --all]\n"
	      "\n"
	      "NAME is \"default\" if not given, FILE index.html, USER nobody.\n"
	      "IPv6 addresses stand in brackets. See khttpdctl(8).\n", to);
	return to == stderr ? 2 : 0;
}

/* ---- configfs ---- */

/* Write one attribute. The errno of a failure is explained by the caller. */
static int put(const char *dir, const char *name, const char *value)
{
	size_t len = strlen(value);
	char path[PATH_MAX];
	ssize_t done;
	int fd, error;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	done = write(fd, value, len);
	error = errno;
	close(fd);
	errno = error;
	return done == (ssize_t)len ? 0 : -1;
}

static int put_or_say(const char *dir, const char *name, const char *value)
{
	if (!put(dir, name, value))
		return 0;
	say("%s/%s: cannot set to '%s': %s", dir, name, value, strerror(errno));
	return -1;
}

/* Read one attribute into @buf, without its newline. Return: length or -1. */
static ssize_t get(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return -1;
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return len;
}

/* Call @call for each directory in @dir, the last made first. */
static int each_dir(const char *dir, int (*call)(const char *path,
						 const char *name, void *data),
		    void *data)
{
	struct dirent **entries;
	char path[PATH_MAX];
	struct stat st;
	int n, i, err = 0;

	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		return -1;
	for (i = n - 1; i >= 0; i--) {
		const char *name = entries[i]->d_name;

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (name[0] != '.' && !stat(path, &st) && S_ISDIR(st.st_mode) &&
		    call(path, name, data))
			err = -1;
		free(entries[i]);
	}
	free(entries);
	return err;
}

/* `ip netns exec` covers /sys with a new one, where configfs is not mounted. */
static int loaded(void)
{
	if (!access(ROOT, F_OK))
		return 0;
	if (!mount("configfs", CONFIG, "configfs", 0, NULL) && !access(ROOT, F_OK))
		return 0;
	say(access(CONFIG, F_OK) ? "configfs is not there (modprobe configfs)" :
	    "khttpd is not loaded, or configfs not mounted on " CONFIG);
	return -1;
}

static int bad_name(const char *site)
{
	if (*site && *site != '.' && !strchr(site, '/') &&
	    strlen(site) < KHTTPD_NAME_SIZE)
		return 0;
	say("'%s' cannot be a site's name", site);
	return -1;
}

static void site_path(char *path, size_t size, const char *site)
{
	snprintf(path, size, ROOT "/%s", site);
}

/* ---- sites ---- */

static int set_user(const char *dir, const char *user)
{
	struct passwd *entry = getpwnam(user);
	char id[16];

	if (!entry) {
		say("there is no user '%s'", user);
		return -1;
	}
	snprintf(id, sizeof(id), "%u", entry->pw_uid);
	if (put_or_say(dir, "uid", id))
		return -1;
	snprintf(id, sizeof(id), "%u", entry->pw_gid);
	return put_or_say(dir, "gid", id);
}

/* "1.2.3.4:80", "[::]:80" or "[::]:80,net6" */
static int make_listener(const char *site, int number, const char *spec)
{
	char address[128], dir[PATH_MAX + 16];
	char *family = "inet", *port, *end;

	snprintf(address, sizeof(address), "%s", spec);
	end = strchr(address, ',');
	if (end) {
		*end++ = '\0';
		if (strcmp(end, "net6")) {
			say("'%s': only ',net6' may follow the port", spec);
			return -1;
		}
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
		memmove(address, address + 1, strlen(address));
		family = end ? "net6" : "inet6";
	} else if (end) {
		say("'%s': net6 takes IPv6 addresses in brackets", spec);
		return -1;
	}
	snprintf(dir, sizeof(dir), "%s/listen%d", site, number);
	if (mkdir(dir, 0755)) {
		say("%s: %s", dir, strerror(errno));
		return -1;
	}
	return put_or_say(dir, "family", family) ||
	       put_or_say(dir, "address", address) ||
	       put_or_say(dir, "port", port) ? -1 : 0;
}

static int remove_dir(const char *path, const char *name, void *data)
{
	(void)name;
	(void)data;
	if (!rmdir(path))
		return 0;
	say("%s: %s", path, strerror(errno));
	return -1;
}

/* Disable a site and remove its directory. */
static int remove_site(const char *path, const char *name, void *data)
{
	if (put_or_say(path, "enabled", "0"))
		return -1;
	if (each_dir(path, remove_dir, NULL))
		return -1;
	return remove_dir(path, name, data);
}

/* Make a site's directory with everything but listeners. */
static int make_site(const struct options *opt, char *path, size_t size)
{
	char docroot[PATH_MAX];

	if (!opt->docroot) {
		say("--docroot is missing");
		return -1;
	}
	if (!realpath(opt->docroot, docroot)) {
		say("%s: %s", opt->docroot, strerror(errno));
		return -1;
	}
	site_path(path, size, opt->site);
	if (mkdir(path, 0755)) {
		say(errno == EEXIST ? "there is a site '%s' already" :
		    "cannot make site '%s'", opt->site);
		return -1;
	}
	if (put_or_say(path, "docroot", docroot) ||
	    (opt->index && put_or_say(path, "index", opt->index)) ||
	    (opt->user && set_user(path, opt->user))) {
		remove_site(path, opt->site, NULL);
		return -1;
	}
	return 0;
}

static int enable_site(const char *path, const char *site)
{
	if (!put(path, "enabled", "1"))
		return 0;
	say("cannot start site '%s': %s", site, strerror(errno));
	remove_site(path, site, NULL);
	return -1;
}

static int serve(const struct options *opt)
{
	char path[PATH_MAX];
	int i;

	if (!opt->listens) {
		say("--listen is missing");
		return -1;
	}
	if (make_site(opt, path, sizeof(path)))
		return -1;
	for (i = 0; i < opt->listens; i++) {
		if (make_listener(path, i, opt->listen[i])) {
			remove_site(path, opt->site, NULL);
			return -1;
		}
	}
	return enable_site(path, opt->site);
}

/* ---- attaching ---- */

/* Does @fd listen on the TCP port? */
static bool listens_on(int fd, int port)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int value = 0, type = 0;
	socklen_t size = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) ||
	    type != SOCK_STREAM)
		return false;
	size = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) || !value)
		return false;
	if (getsockname(fd, (struct sockaddr *)&addr, &len))
		return false;
	if (addr.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&addr)->sin_port) == port;
	if (addr.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&addr)->sin6_port) == port;
	return false;
}

/* Borrow descriptor @number of the process and attach it if it is one of the
 * listeners meant. Return: 1 if attached, 0 if not meant, -1 on errors.
 */
static int attach_one(const struct options *opt, int pidfd, int device,
		      int number)
{
	struct khttpd_attach arg = {};
	int result = 0;

	arg.fd = syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (arg.fd < 0) {
		if (errno == EBADF)
			return 0;
		say("descriptor %d of process %d: %s", number, opt->pid,
		    strerror(errno));
		return -1;
	}
	if (listens_on(arg.fd, opt->port)) {
		snprintf(arg.site, sizeof(arg.site), "%s", opt->site);
		if (!ioctl(device, KHTTPD_IOC_ATTACH, &arg)) {
			result = 1;
		} else if (errno != EEXIST) {
			say("cannot attach descriptor %d of process %d: %s",
			    number, opt->pid, strerror(errno));
			result = -1;
		}
	}
	close(arg.fd);
	return result;
}

/* Attach all listeners of the process on that port. Return: how many. */
static int attach_all(const struct options *opt, int device)
{
	int pidfd, result, n = 0;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	pidfd = syscall(SYS_pidfd_open, opt->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/fd", opt->pid);
	dir = pidfd < 0 ? NULL : opendir(path);
	if (!dir) {
		say("process %d: %s", opt->pid, strerror(errno));
		if (pidfd >= 0)
			close(pidfd);
		return -1;
	}
	while ((entry = readdir(dir))) {
		char target[64];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target,
					 sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = '\0';
		if (strncmp(target, "socket:", 7))
			continue;
		result = attach_one(opt, pidfd, device, atoi(entry->d_name));
		if (result < 0) {
			n = -1;
			break;
		}
		n += result;
	}
	closedir(dir);
	close(pidfd);
	return n;
}

static int detach_site(int device, const char *site)
{
	struct khttpd_detach arg = {};

	snprintf(arg.site, sizeof(arg.site), "%s", site);
	return ioctl(device, KHTTPD_IOC_DETACH, &arg) ? -1 : (int)arg.count;
}

static int open_device(void)
{
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (device < 0)
		say(DEVICE ": %s", strerror(errno));
	return device;
}

static int attach(const struct options *opt)
{
	char path[PATH_MAX];
	bool made = false;
	int device, n;

	if (!opt->pid || !opt->port) {
		say("--pid and --port are needed");
		return -1;
	}
	device = open_device();
	if (device < 0)
		return -1;
	site_path(path, sizeof(path), opt->site);
	if (access(path, F_OK)) {
		if (make_site(opt, path, sizeof(path)) ||
		    enable_site(path, opt->site)) {
			close(device);
			return -1;
		}
		made = true;
	}
	n = attach_all(opt, device);
	if (n == 0)
		say("process %d has no listener on port %d that could be attached",
		    opt->pid, opt->port);
	if (n <= 0 && made)
		remove_site(path, opt->site, NULL);
	if (n > 0)
		printf("attached to %d listener%s\n", n, n == 1 ? "" : "s");
	close(device);
	return n > 0 ? 0 : -1;
}

static int count_dir(const char *path, const char *name, void *data)
{
	(void)path;
	(void)name;
	++*(int *)data;
	return 0;
}

static int detach(const struct options *opt)
{
	int device, n, listeners = 0;
	char path[PATH_MAX];

	device = open_device();
	if (device < 0)
		return -1;
	n = detach_site(device, opt->site);
	if (n < 0)
		say("cannot detach site '%s': %s", opt->site, strerror(errno));
	close(device);
	if (n < 0)
		return -1;
	printf("detached from %d listener%s\n", n, n == 1 ? "" : "s");
	/* A site without listeners of its own has nothing left to do. */
	site_path(path, sizeof(path), opt->site);
	each_dir(path, count_dir, &listeners);
	return listeners ? 0 : remove_site(path, opt->site, NULL);
}

static int stop(const struct options *opt)
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

/* ---- status ---- */

struct report {
	bool json;
	int count;
};

static void print_json(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c == 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static int report_listener(const char *path, const char *name, void *data)
{
	char family[32] = "", address[64] = "", port[16] = "";
	struct report *report = data;

	get(path, "family", family, sizeof(family));
	get(path, "address", address, sizeof(address));
	get(path, "port", port, sizeof(port));
	if (report->json) {
		printf("%s{\"name\":", report->count++ ? "," : "");
		print_json(name);
		printf(",\"family\":\"%s\",\"address\":", family);
		print_json(address);
		printf(",\"port\":%s}", port);
	} else {
		printf("  %-8s %s port %s\n", family, address, port);
	}
	return 0;
}

static int report_site(const char *path, const char *name, void *data)
{
	char docroot[PATH_MAX] = "", attached[16] = "0", enabled[8] = "0";
	struct report *report = data, listeners = { .json = report->json };

	get(path, "docroot", docroot, sizeof(docroot));
	get(path, "attached", attached, sizeof(attached));
	get(path, "enabled", enabled, sizeof(enabled));
	if (report->json) {
		printf("%s{\"name\":", report->count++ ? "," : "");
		print_json(name);
		printf(",\"docroot\":");
		print_json(docroot);
		printf(",\"enabled\":%s,\"attached\":%s,\"listeners\":[",
		       enabled[0] == '1' ? "true" : "false", attached);
		each_dir(path, report_listener, &listeners);
		printf("]}");
	} else {
		printf("site %s: %s%s\n", name, docroot,
		       enabled[0] == '1' ? "" : " (disabled)");
		if (strcmp(attached, "0"))
			printf("  attached to %s listener%s\n", attached,
			       strcmp(attached, "1") ? "s" : "");
		each_dir(path, report_listener, &listeners);
	}
	return 0;
}

static void report_stats(char *stats, bool json)
{
	char *line, *value;
	int n = 0;

	for (line = strtok(stats, "\n"); line; line = strtok(NULL, "\n")) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		if (json)
			printf("%s\"%s\":%s", n++ ? "," : "", line, value);
		else
			printf("  %-18s %s\n", line, value);
	}
}

static int status(const struct options *opt)
{
	struct report report = { .json = opt->json };
	static char stats[8192];

	if (get(ROOT, "stats", stats, sizeof(stats)) < 0) {
		say(ROOT "/stats: %s", strerror(errno));
		return -1;
	}
	if (opt->json) {
		printf("{\"sites\":[");
		each_dir(ROOT, report_site, &report);
		printf("],\"counters\":{");
		report_stats(stats, true);
		printf("}}\n");
	} else {
		each_dir(ROOT, report_site, &report);
		printf("counters:\n");
		report_stats(stats, false);
	}
	return 0;
}

/* ---- command line ---- */

static int number(const char *text, int max, const char *what, int *result)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text && !*end && value > 0 && value <= max) {
		*result = value;
		return 0;
	}
	say("'%s' is no %s", text, what);
	return -1;
}

static int parse(struct options *opt, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "site", required_argument, NULL, 's' },
		{ "docroot", required_argument, NULL, 'd' },
		{ "index", required_argument, NULL, 'i' },
		{ "user", required_argument, NULL, 'u' },
		{ "listen", required_argument, NULL, 'l' },
		{ "pid", required_argument, NULL, 'p' },
		{ "port", required_argument, NULL, 'P' },
		{ "json", no_argument, NULL, 'j' },
		{ "all", no_argument, NULL, 'a' },
		{}
	};
	int option;

	while ((option = getopt_long(argc, argv, "j", longs, NULL)) != -1) {
		switch (option) {
		case 's':
			opt->site = optarg;
			break;
		case 'd':
			opt->docroot = optarg;
			break;
		case 'i':
			opt->index = optarg;
			break;
		case 'u':
			opt->user = optarg;
			break;
		case 'l':
			if (opt->listens == LISTENERS_MAX) {
				say("more than %d listeners", LISTENERS_MAX);
				return -1;
			}
			opt->listen[opt->listens++] = optarg;
			break;
		case 'p':
			if (number(optarg, INT_MAX, "process id", &opt->pid))
				return -1;
			break;
		case 'P':
			if (number(optarg, 65535, "port", &opt->port))
				return -1;
			break;
		case 'j':
			opt->json = true;
			break;
		case 'a':
			opt->all = true;
			break;
		default:
			usage(stderr);
			return -1;
		}
	}
	if (optind < argc) {
		say("'%s' was not expected", argv[optind]);
		return -1;
	}
	return bad_name(opt->site);
}

static const struct command {
	const char *name;
	int (*run)(const struct options *opt);
} commands[] = {
	{ "serve", serve },
	{ "attach", attach },
	{ "detach", detach },
	{ "status", status },
	{ "stop", stop },
};

int main(int argc, char **argv)
{
	struct options opt = { .site = "default" };
	size_t i;

	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[1]))
			continue;
		if (parse(&opt, argc - 1, argv + 1))
			return 2;
		if (loaded())
			return 1;
		return commands[i].run(&opt) ? 1 : 0;
	}
	say("unknown command '%s'", argv[1]);
	return usage(stderr);
}
