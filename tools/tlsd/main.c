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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <openssl/rand.h>
#include "tlsd.h"

#define WORKERS_MAX	64
/* How long workers may take until they are ready, in ms. */
#define READY		10000

struct parent {
	int workers;
	uid_t uid;
	gid_t gid;
	uint32_t ciphers;	/* KHTTPD_TLS_* */
	uint64_t mark;		/* of the certificates that the workers have */
	uint64_t bad;		/* of those with which they could not begin */
	pid_t worker[WORKERS_MAX];
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

/* Ends the process. @ready is told when connections are taken. */
static void run_worker(const struct parent *parent, int ready)
{
	struct site *sites = read_sites();
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);

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
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	_exit(work(sites, device) ? 1 : 0);
}

/* Return: the process, which takes connections now; or -1. */
static pid_t start_worker(struct parent *parent)
{
	struct pollfd wait = { .events = POLLIN };
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		run_worker(parent, ready[1]);
	close(ready[1]);
	wait.fd = ready[0];
	if (pid > 0 && (poll(&wait, 1, READY) != 1 || read(ready[0], &byte, 1) != 1)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

/* What can the kernel go on with? It may look for modules now, and nobody waits for a worker. */
static int ask_kernel(struct parent *parent)
{
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);
	int err = device < 0 ? -1 : ioctl(device, KHTTPD_IOC_TLS_CIPHERS, &parent->ciphers);

	if (err)
		say("%s: %s", DEVICE, strerror(errno));
	else if (!(parent->ciphers & KHTTPD_TLS_AES_GCM))
		say("the kernel has no TLS: it has not got AES-GCM");
	if (device >= 0)
		close(device);
	return err || !(parent->ciphers & KHTTPD_TLS_AES_GCM) ? -1 : 0;
}

/* Workers with the certificates of now take the place of the others. Return: -1 if one cannot
 * begin: then the others go on.
 */
static int renew(struct parent *parent)
{
	struct site *sites = read_sites();
	uint64_t mark = sites_mark(sites);
	pid_t fresh[WORKERS_MAX];
	int i;

	free_sites(sites);
	for (i = 0; i < parent->workers; i++) {
		fresh[i] = start_worker(parent);
		if (fresh[i] > 0)
			continue;
		while (i--)
			kill(fresh[i], SIGTERM);
		parent->bad = mark;
		return -1;
	}
	for (i = 0; i < parent->workers; i++) {
		if (parent->worker[i] > 0)
			kill(parent->worker[i], SIGTERM);
		parent->worker[i] = fresh[i];
	}
	parent->mark = mark;
	parent->bad = 0;
	return 0;
}

/* Are the certificates others than those that were tried last? */
static bool changed(const struct parent *parent)
{
	struct site *sites = read_sites();
	uint64_t mark = sites_mark(sites);

	free_sites(sites);
	return mark != (parent->bad ?: parent->mark);
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
			parent->worker[i] = start_worker(parent);
		}
	}
}

static void supervise(struct parent *parent)
{
	const struct timespec second = { .tv_sec = 1 };
	sigset_t set;
	int i, sig;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	for (;;) {
		sig = sigtimedwait(&set, NULL, &second);
		if (sig == SIGTERM || sig == SIGINT)
			return;
		bury(parent);
		if ((sig == SIGHUP || changed(parent)) && renew(parent))
			say("the certificates are not changed");
		for (i = 0; i < parent->workers && sig < 0; i++) {
			if (parent->worker[i] < 0)
				parent->worker[i] = start_worker(parent);
		}
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
	struct parent parent = { .workers = 2 };
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
	if (ask_kernel(&parent) || renew(&parent))
		return 1;
	supervise(&parent);
	for (i = 0; i < parent.workers; i++) {
		if (parent.worker[i] > 0)
			kill(parent.worker[i], SIGTERM);
	}
	return 0;
}
