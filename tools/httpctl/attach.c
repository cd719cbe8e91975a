// SPDX-License-Identifier: GPL-2.0
/* Borrowing another process's listening sockets and giving them back. */
#include "httpctl.h"

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

/* Name a descriptor of ours to the kernel; @number is what it is called.
 * Return: 1 if attached, 0 if it was attached already, -1 on errors.
 */
static int attach_fd(const struct options *opt, int device, int fd, int number)
{
	struct khttpd_attach arg = { .fd = fd };

	snprintf(arg.site, sizeof(arg.site), "%s", opt->site);
	if (!ioctl(device, KHTTPD_IOC_ATTACH, &arg))
		return 1;
	if (errno == EEXIST)
		return 0;
	if (opt->pid)
		say("cannot attach descriptor %d of process %d: %s", number,
		    opt->pid, strerror(errno));
	else
		say("cannot attach descriptor %d: %s", number, strerror(errno));
	return -1;
}

/* Borrow descriptor @number of the process and attach it if it is one of the
 * listeners meant. Return: 1 if attached, 0 if not meant, -1 on errors.
 */
static int attach_one(const struct options *opt, int pidfd, int device,
		      int number)
{
	int fd = syscall(SYS_pidfd_getfd, pidfd, number, 0), result = 0;

	if (fd < 0) {
		if (errno == EBADF && opt->fd < 0)
			return 0;
		say("descriptor %d of process %d: %s", number, opt->pid,
		    strerror(errno));
		return -1;
	}
	if (opt->fd >= 0 || listens_on(fd, opt->port))
		result = attach_fd(opt, device, fd, number);
	close(fd);
	return result;
}

/* --fd: one descriptor of the process, or one that we inherited. */
static int attach_named(const struct options *opt, int device)
{
	int pidfd, result;

	if (!opt->pid)
		return attach_fd(opt, device, opt->fd, opt->fd);
	pidfd = syscall(SYS_pidfd_open, opt->pid, 0);
	if (pidfd < 0) {
		say("process %d: %s", opt->pid, strerror(errno));
		return -1;
	}
	result = attach_one(opt, pidfd, device, opt->fd);
	close(pidfd);
	return result;
}

/* Attach the listeners of the process on that port that are not. Return: how many. */
static int attach_those(const struct options *opt, int device)
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

/* Attach all listeners of the process on that port. Return: how many. The kernel sees to those
 * that come when one is attached; one that came while we looked is there when we look again.
 */
static int attach_all(const struct options *opt, int device)
{
	int n = attach_those(opt, device), more = n;

	while (more > 0) {
		more = attach_those(opt, device);
		n = more < 0 ? more : n + more;
	}
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

/* Attach a site that there is to what is meant and not attached yet. Return: how
 * many listeners that were, or -1.
 */
int attach_more(const struct options *opt)
{
	int device = open_device(), n;

	if (device < 0)
		return -1;
	n = opt->fd < 0 ? attach_all(opt, device) : attach_named(opt, device);
	close(device);
	return n;
}

/* Is the attribute among those of --set? */
static bool is_set(const struct options *opt, const char *name)
{
	size_t len = strlen(name);
	int i;

	for (i = 0; i < opt->sets; i++) {
		if (!strncmp(opt->set[i], name, len) && opt->set[i][len] == '=')
			return true;
	}
	return false;
}

int attach_site(const struct options *opt, bool until_closed)
{
	bool made = false, again = false;
	char path[PATH_MAX];
	int n;

	if (opt->fd < 0 ? !opt->pid || !opt->port : opt->port) {
		say("--pid and --port, or --fd, are needed");
		return -1;
	}
	site_path(path, sizeof(path), opt->site);
	if (access(path, F_OK)) {
		if (make_site(opt, path, sizeof(path)))
			return -1;
		made = true;
		if (until_closed)
			put(path, "until_closed", "1");
		if (enable_site(path, opt->site))
			return -1;
	} else if (has(path, "until_closed", "1") && has(path, "enabled", "0")) {
		/* It has ended with the server that it was attached to. */
		if (put_or_say(path, "enabled", "1"))
			return -1;
		again = true;
	}
	n = attach_more(opt);
	if (n == 0 && opt->fd >= 0)
		say("descriptor %d is attached already", opt->fd);
	else if (n == 0)
		say("process %d has no listener on port %d that could be attached",
		    opt->pid, opt->port);
	if (n <= 0 && made)
		remove_site(path, opt->site, NULL);
	else if (n <= 0 && again)
		put(path, "enabled", "0");
	if (n > 0)
		printf("attached to %d listener%s\n", n, n == 1 ? "" : "s");
	return n > 0 ? 0 : -1;
}

int attach(const struct options *opt)
{
	return attach_site(opt, !is_set(opt, "until_closed"));
}

int detach(const struct options *opt)
{
	char path[PATH_MAX];
	int device, n;

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
	return count_dirs(path) ? 0 : remove_site(path, opt->site, NULL);
}
