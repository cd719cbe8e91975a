// SPDX-License-Identifier: GPL-2.0
/* khttpd-tlsd: does the TLS handshakes of khttpd's listeners, by OpenSSL. The parent starts
 * workers, one after another if they end, and all anew when a certificate has changed: the old
 * ones finish what they have.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <openssl/rand.h>
#include "tlsd.h"

#define WORKERS_MAX	64
/* How long workers may take until they are ready, and until they take no more, in ms. */
#define READY		10000
/* How often what cannot be waited for is tried, in ms. */
#define LOOK		1000
/* How long files that change are left alone, in ms: they are written in parts, and are two. */
#define SETTLE		100
/* In place of a process: it said that its certificates are no good. */
#define UNFIT		(-2)

struct parent {
	int workers;
	uid_t uid;
	gid_t gid;
	uint32_t ciphers;	/* KHTTPD_TLS_* */
	uint64_t mark;		/* of the certificates that the workers have */
	uint64_t bad;		/* of those that are no good: they are not tried again */
	bool failed;		/* the last ones that were tried are not used */
	int device;		/* tells when sites change */
	uint32_t asked;		/* how often it did */
	int files;		/* tells when files change */
	int mounts;		/* tells when others may be in their places */
	bool unwatched;		/* nobody tells of all that */
	int signals;
	pid_t worker[WORKERS_MAX];
	int pipe[WORKERS_MAX];	/* at its end when the worker takes no more; with a worker only */
	unsigned char tickets[TICKET_SIZE];
};

void say(const char *format, ...)
{
	static time_t second;
	static int said;
	time_t t = time(NULL);
	va_list args;

	/* Strangers cause some of it. */
	if (t != second)
		said = 0;
	second = t;
	if (said++ >= 10)
		return;
	fprintf(stderr, "khttpd-tlsd: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* Nobody, without a file system, without a way to become somebody. */
static int drop_privileges(const struct parent *parent)
{
	char dir[] = "/tmp/khttpd-tlsd.XXXXXX";
	struct rlimit none = {}, files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	setrlimit(RLIMIT_CORE, &none);
	/* Nothing can be made in a directory that has been removed. */
	if (!mkdtemp(dir) || chdir(dir) || rmdir(dir) || chroot(".") || setgroups(0, NULL) ||
	    setresgid(parent->gid, parent->gid, parent->gid) ||
	    setresuid(parent->uid, parent->uid, parent->uid) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	setrlimit(RLIMIT_NPROC, &none);
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Ends the process. @ready is told when connections are taken, and closed when no more are. */
static void run_worker(const struct parent *parent, int ready)
{
	struct site *sites;
	int device;

	/* Nothing else of the parent's, who would seem to live as long as the worker. */
	if (dup2(ready, STDERR_FILENO + 1) < 0 || close_range(STDERR_FILENO + 2, ~0U, 0))
		_exit(1);
	ready = STDERR_FILENO + 1;
	if (read_sites(&sites)) {
		say(CONFIG ": %s", strerror(errno));
		_exit(1);
	}
	device = open(DEVICE, O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (load_certificates(sites, parent->tickets, parent->ciphers))
		_exit(EXIT_CERTIFICATES);
	if (device < 0 || ioctl(device, KHTTPD_IOC_TLS_BEGIN)) {
		say("%s: %s", DEVICE, strerror(errno));
		_exit(1);
	}
	if (drop_privileges(parent)) {
		say("cannot give up privileges: %s", strerror(errno));
		_exit(1);
	}
	/* An id that changes takes the signal of a parent's death away. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	_exit(work(sites, device, ready) ? 1 : 0);
}

/* Return: the process, which takes connections now, and its pipe; -1, or UNFIT if it could not use
 * its certificates.
 */
static pid_t start_worker(const struct parent *parent, int *end)
{
	struct pollfd wait = { .events = POLLIN };
	pid_t pid, none = -1;
	int ready[2], status;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		run_worker(parent, ready[1]);
	close(ready[1]);
	wait.fd = ready[0];
	*end = ready[0];
	if (pid > 0 && poll(&wait, 1, READY) == 1 && read(ready[0], &byte, 1) == 1)
		return pid;
	if (pid > 0) {
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		    WEXITSTATUS(status) == EXIT_CERTIFICATES)
			none = UNFIT;
	}
	close(ready[0]);
	return none;
}

/* What can the kernel go on with? It may look for modules now, and nobody waits for a worker. */
static int ask_kernel(struct parent *parent)
{
	struct khttpd_tls_watch watch = {};
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (device < 0 || ioctl(device, KHTTPD_IOC_TLS_CIPHERS, &parent->ciphers)) {
		say("%s: %s", DEVICE, strerror(errno));
		return -1;
	}
	if (!(parent->ciphers & KHTTPD_TLS_AES_GCM)) {
		say("the kernel has no TLS: it has not got AES-GCM");
		return -1;
	}
	/* A module from before that call does not tell. Then sites are looked at each second. */
	if (ioctl(device, KHTTPD_IOC_TLS_WATCH, &watch)) {
		close(device);
		device = -1;
	}
	parent->device = device;
	parent->asked = watch.asked;
	return 0;
}

/* They end with their last handshake, and take no more when this returns. */
static void retire(const pid_t *worker, const int *end, int workers)
{
	struct pollfd wait = { .events = POLLIN };
	int i;

	for (i = 0; i < workers; i++) {
		if (worker[i] > 0)
			kill(worker[i], SIGTERM);
	}
	for (i = 0; i < workers; i++) {
		if (worker[i] <= 0)
			continue;
		wait.fd = end[i];
		poll(&wait, 1, READY);
		close(end[i]);
	}
}

/* Workers with the certificates of now take the place of the others. Return: -1 if one cannot
 * begin: then the others go on. What is not the certificates' fault is tried again.
 */
static int renew(struct parent *parent)
{
	pid_t fresh[WORKERS_MAX];
	int end[WORKERS_MAX], i;
	struct site *sites;
	uint64_t mark;

	if (read_sites(&sites)) {
		if (!parent->failed)
			say(CONFIG ": %s", strerror(errno));
		parent->bad = 0;
		parent->failed = true;
		return -1;
	}
	mark = sites_mark(sites);
	free_sites(sites);
	for (i = 0; i < parent->workers; i++) {
		fresh[i] = start_worker(parent, &end[i]);
		if (fresh[i] > 0)
			continue;
		retire(fresh, end, i);
		parent->bad = fresh[i] == UNFIT ? mark : 0;
		parent->failed = true;
		return -1;
	}
	retire(parent->worker, parent->pipe, parent->workers);
	memcpy(parent->worker, fresh, sizeof(fresh));
	memcpy(parent->pipe, end, sizeof(end));
	parent->mark = mark;
	parent->bad = 0;
	parent->failed = false;
	return 0;
}

/* Are the certificates others than the workers', and than those that are no good? What comes after
 * this look is told of.
 */
static bool changed(struct parent *parent)
{
	struct site *sites;
	const char *fault;
	uint64_t mark;
	int err;

	err = read_sites(&sites);
	fault = watch_sites(sites, &parent->files);
	if (fault && !parent->unwatched)
		say("%s: %s: files are looked at each second", fault, strerror(errno));
	parent->unwatched = fault;
	mark = sites_mark(sites);
	free_sites(sites);
	/* An error is renew()'s to say. */
	return err || mark != (parent->bad ?: parent->mark);
}

/* One that has ended is replaced; those that were to end are not known any more. */
static void bury(struct parent *parent)
{
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < parent->workers; i++) {
			if (parent->worker[i] != pid)
				continue;
			say("worker %d ended, status %#x", pid, status);
			close(parent->pipe[i]);
			parent->worker[i] = start_worker(parent, &parent->pipe[i]);
		}
	}
}

/* All that was asked for is done. Return: true if it was asked for again meanwhile. */
static bool answer(struct parent *parent)
{
	struct khttpd_tls_watch watch = { .asked = parent->asked, .failed = parent->failed };
	uint32_t before = parent->asked;

	if (ioctl(parent->device, KHTTPD_IOC_TLS_WATCH, &watch))
		return false;
	parent->asked = watch.asked;
	return watch.asked != before;
}

/* Return: for how long there is nothing to do unless somebody tells; -1 if for ever. */
static int patience(const struct parent *parent)
{
	bool again = parent->device < 0 || parent->unwatched || (parent->failed && !parent->bad);
	int i;

	for (i = 0; i < parent->workers; i++)
		again |= parent->worker[i] < 0;
	return again ? LOOK : -1;
}

/* Return: a signal, or 0 after some time, or when sites or files change. */
static int wait_for_news(const struct parent *parent, int timeout)
{
	struct pollfd fds[] = {
		{ .fd = parent->signals, .events = POLLIN },
		{ .fd = parent->device, .events = POLLIN },
		{ .fd = parent->files, .events = POLLIN },
		{ .fd = parent->mounts, .events = POLLPRI },
	};
	struct signalfd_siginfo info;

	poll(fds, ARRAY_SIZE(fds), timeout);
	if (fds[2].revents || fds[3].revents)
		poll(fds, 2, SETTLE);
	return read(parent->signals, &info, sizeof(info)) == sizeof(info) ? info.ssi_signo : 0;
}

static void supervise(struct parent *parent)
{
	bool again = true, told, other;
	int i, sig;

	for (;;) {
		/* After answer(): a SIGHUP that came before an ASK is seen to with it. */
		sig = wait_for_news(parent, again ? 0 : patience(parent));
		if (sig == SIGTERM || sig == SIGINT)
			return;
		bury(parent);
		/* One that is tried each second is told of once. */
		told = parent->failed && !parent->bad && sig != SIGHUP;
		other = changed(parent);
		if ((sig == SIGHUP || other) && renew(parent) && (parent->bad || !told))
			say("the certificates are not changed");
		for (i = 0; i < parent->workers && !sig; i++) {
			if (parent->worker[i] < 0)
				parent->worker[i] = start_worker(parent, &parent->pipe[i]);
		}
		again = answer(parent);
	}
}

static int usage(FILE *to)
{
	fputs("usage: khttpd-tlsd [--workers NUMBER] [--user USER]\n"
	      "       khttpd-tlsd --help | --version\n"
	      "\n"
	      "Does the TLS handshakes of khttpd's listeners. SIGHUP: read the certificates\n"
	      "again. See khttpd-tlsd(8).\n", to);
	return to == stderr ? 2 : 0;
}

static int parse(struct parent *parent, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "user", required_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{}
	};
	const char *user = "nobody";
	struct passwd *entry;
	int option;

	while ((option = getopt_long(argc, argv, "hV", longs, NULL)) != -1) {
		if (option == 'w') {
			parent->workers = atoi(optarg);
		} else if (option == 'u') {
			user = optarg;
		} else if (option == 'V') {
			puts("khttpd-tlsd " NET6_VERSION);
			exit(0);
		} else {
			exit(usage(option == 'h' ? stdout : stderr));
		}
	}
	if (optind < argc || parent->workers < 1 || parent->workers > WORKERS_MAX)
		return usage(stderr);
	entry = getpwnam(user);
	if (!entry || !entry->pw_uid || !entry->pw_gid) {
		say("user '%s': not a user other than root", user);
		return 2;
	}
	parent->uid = entry->pw_uid;
	parent->gid = entry->pw_gid;
	return 0;
}

int main(int argc, char **argv)
{
	struct parent parent = { .workers = 2, .files = -1 };
	sigset_t set;
	int err, i;

	err = parse(&parent, argc, argv);
	if (err)
		return err;
	if (RAND_bytes(parent.tickets, sizeof(parent.tickets)) != 1)
		return 1;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	parent.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	parent.mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (parent.signals < 0)
		return 1;
	if (ask_kernel(&parent) || find_sites() || renew(&parent))
		return 1;
	supervise(&parent);
	for (i = 0; i < parent.workers; i++) {
		if (parent.worker[i] > 0)
			kill(parent.worker[i], SIGTERM);
	}
	return 0;
}
