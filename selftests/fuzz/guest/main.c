// SPDX-License-Identifier: GPL-2.0
/* fuzz: system calls and packets at random, on a host that runs net6.
 *
 *	fuzz --family 19|10 --seconds N --seed S [--threads T]
 *
 * Three processes, each with T threads that share its descriptors: a user without privileges and
 * the machine's root in one network namespace; a user namespace's root in one of its own. A
 * thread more in the latter two is the peer behind the tap device. With T = 1 there is one
 * process, a user namespace's root, with one thread that does all in turn. What it does follows
 * from the seed alone, but for what the kernel answers later. Exit status: 0 all ended, 1 a
 * thread did not.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "fuzz.h"

#define THREADS	8
#define NOBODY	65534

struct thread {
	pthread_t id;
	uint64_t seed;
	bool peer;
	volatile bool ended;
	volatile unsigned long calls;
	unsigned long before;
	const char *volatile at;	/* what it is doing */
};

int family = 19;
enum who role;
int netns_fd[2] = { -1, -1 };
static volatile bool stop;
static bool all_in_turn;
static struct thread threads[THREADS];

static const struct op *draw(void)
{
	static const struct op *const tables[] = { socket_ops, data_ops, option_ops, message_ops,
		uring_ops, netlink_ops, file_ops, device_ops, route_ops, packet_ops, rules_ops,
		program_ops, module_ops, scene_ops };
	unsigned int total = 0, at;

	/* rtnetlink is native's beside native, the peer has a thread of its own. */
	for (int pass = 0; ; pass++) {
		at = pass ? rnd(total) : 0;
		for (size_t i = 0; i < COUNT(tables); i++) {
			if (tables[i] == route_ops && family != AF_INET6)
				continue;
			if (tables[i] == packet_ops && !all_in_turn)
				continue;
			for (const struct op *o = tables[i]; o->weight; o++) {
				if (!(o->who & role))
					continue;
				if (!pass) {
					total += o->weight;
					continue;
				}
				if (at < o->weight)
					return o;
				at -= o->weight;
			}
		}
	}
}

/* One of the thread's next @n allocations in the kernel fails; 0: none. */
static void fail_allocation(unsigned int n)
{
	static __thread int file = -1;
	char text[12];

	if (file < 0)
		file = open("/proc/thread-self/fail-nth", O_WRONLY | O_CLOEXEC);
	if (write(file, text, sprintf(text, "%u", n)) < 0)
		file = -1;	/* others of the fuzzer close at random */
}

static void run(const struct op *o)
{
	/* Devices and rules are made of much that is not net6's. */
	if ((o->who & ALL) != ALL || !one_in(40)) {
		o->run();
		return;
	}
	fail_allocation(1 + rnd(25));
	o->run();
	fail_allocation(0);
}

static void *work(void *arg)
{
	struct thread *t = arg;

	rnd_seed(t->seed);
	while (!stop) {
		if (t->peer) {
			t->at = "packet";
			packet_step();
		} else {
			const struct op *o = draw();

			t->at = o->name;
			run(o);
		}
		t->calls++;
	}
	t->ended = true;
	return NULL;
}

static void woken(int sig)
{
	(void)sig;
}

/* A thread that has not moved for a second waits for something: a signal ends that. It has long
 * to end: the guest may be slow, and the kernel itself tells of tasks that hang.
 */
static int watch(int count, int seconds)
{
	time_t until = time(NULL) + seconds;
	int patience = 600, left;

	do {
		sleep(1);
		if (time(NULL) >= until)
			stop = true;
		left = 0;
		for (int i = 0; i < count; i++) {
			if (threads[i].ended)
				continue;
			left++;
			if (threads[i].calls == threads[i].before)
				pthread_kill(threads[i].id, SIGUSR1);
			threads[i].before = threads[i].calls;
		}
	} while (left && (!stop || patience--));
	return left ? 1 : 0;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

static void become_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY)) {
		perror("setuid");
		exit(2);
	}
	/* /proc/self is root's after that, until the next exec, or this. */
	extern int prctl(int, ...);
	prctl(4 /* PR_SET_DUMPABLE */, 1);
}

static void become_nsroot(void)
{
	become_nobody();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		perror("user namespace");
		exit(2);
	}
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "0 65534 1");
	write_file("/proc/self/gid_map", "0 65534 1");
}

/* What is printed at the end goes where no call at random finds it. */
static int hide_output(void)
{
	int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 900), null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	return kept;
}

static int process(enum who who, uint64_t seed, int seconds, int count)
{
	struct sigaction wake = { .sa_handler = woken };
	static const char *const names[] = { [USER] = "user", [NSROOT] = "namespace's root",
		[ROOT] = "root" };
	unsigned long calls = 0, packets = 0;
	int i, err, output;

	role = who;
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGUSR1, &wake, NULL);
	rnd_seed(seed);
	if (who == USER)
		become_nobody();
	if (who == NSROOT)
		become_nsroot();
	if (who & ADMIN)
		devices_setup();
	if (who & ADMIN && !all_in_turn)
		threads[count++].peer = true;
	output = hide_output();
	for (i = 0; i < count; i++) {
		threads[i].seed = rnd64();
		pthread_create(&threads[i].id, NULL, work, &threads[i]);
	}
	err = watch(count, seconds);
	dup2(output, STDOUT_FILENO);
	for (i = 0; i < count; i++) {
		if (!threads[i].ended)
			printf("fuzz: a thread hangs in %s\n", threads[i].at);
		*(threads[i].peer ? &packets : &calls) += threads[i].calls;
	}
	printf("fuzz: %s: %lu operations, and %lu of the peer\n", names[who], calls, packets);
	fflush(stdout);
	_exit(err);
}

int main(int argc, char **argv)
{
	static const enum who roles[] = { ROOT, USER, NSROOT };
	int seconds = 60, count = 3, status, err = 0;
	struct rlimit files = { 1024, 1024 };
	uint64_t seed = 1;

	for (int i = 1; i + 1 < argc; i += 2) {
		const char *to = argv[i + 1];

		if (!strcmp(argv[i], "--family"))
			family = atoi(to);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = atoi(to);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(to, NULL, 0);
		else if (!strcmp(argv[i], "--threads"))
			count = atoi(to);
		else
			return 2;
	}
	if (count < 1 || count >= THREADS)
		return 2;
	setrlimit(RLIMIT_NOFILE, &files);
	all_in_turn = count == 1;
	rnd_seed(seed);
	/* Without udev nobody has opened this to all. */
	chmod("/dev/net/tun", 0666);
	/* The first two share a namespace that is not the machine's: it ends with them. */
	if (unshare(CLONE_NEWNET)) {
		perror("network namespace");
		return 2;
	}
	for (size_t i = all_in_turn ? 2 : 0; i < COUNT(roles); i++) {
		uint64_t own = rnd64();

		fflush(stdout);
		if (!fork())
			process(roles[i], own, seconds, count);
	}
	while (wait(&status) > 0)
		if (status) {
			printf("fuzz: a process ended with %x\n", status);
			err = 1;
		}
	return err;
}
