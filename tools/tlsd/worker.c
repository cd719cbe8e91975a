// SPDX-License-Identifier: GPL-2.0
/* A worker: takes connections from khttpd, does many handshakes at once, gives them back. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "tlsd.h"

/* Connections that are taken before the others have their turn. */
#define TAKE_MAX	16
#define EVENTS		64
/* Until it is tried again to take one for which there was no descriptor, in ms. */
#define PAUSE		100
/* After khttpd's time for a handshake, which counts it, in ms. */
#define GRACE		250

struct worker {
	const struct site *sites;
	int device;
	int epoll;
	int signals;
	int alive;		/* closed when no more are taken: the parent's pipe */
	bool ending;		/* takes no more */
	bool paused;		/* the same, for a while */
	struct shake list;	/* head of a ring */
};

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Watched or not, the device stays there. */
static void watch_device(struct worker *worker, bool watch)
{
	struct epoll_event event = { .events = watch ? EPOLLIN : 0, .data.ptr = NULL };

	epoll_ctl(worker->epoll, EPOLL_CTL_MOD, worker->device, &event);
}

/* What a server behind is told is said before khttpd has it again. Return: 0; also if the kernel's
 * khttpd is one that does not ask. Else the connection is better closed than told wrong.
 */
static int say_what_is_known(const struct worker *worker, const struct shake *shake)
{
	unsigned char value[KHTTPD_TLS_SAYS_MAX];
	struct khttpd_tls_says says = {
		.id = shake->id, .len = tell(shake, value), .value = (uintptr_t)value,
	};

	return ioctl(worker->device, KHTTPD_IOC_TLS_SAYS, &says) && errno != ENOTTY ? -1 : 0;
}

/* khttpd has it again, or it is closed. What OpenSSL has of it goes first. */
static void finish(struct worker *worker, struct shake *shake, bool failed)
{
	struct khttpd_tls_done done = { .fd = shake->fd, .id = shake->id };

	if (!failed && shake->site->send_proxy)
		failed = say_what_is_known(worker, shake);
	done.failed = failed;
	/* khttpd does not take what is watched. */
	epoll_ctl(worker->epoll, EPOLL_CTL_DEL, shake->fd, NULL);
	end_shake(shake);
	if (ioctl(worker->device, KHTTPD_IOC_TLS_DONE, &done) ? errno == ENOENT || errno == EBADF :
							       failed)
		close(shake->fd);
	shake->prev->next = shake->next;
	shake->next->prev = shake->prev;
	free(shake);
}

static void go_on(struct worker *worker, struct shake *shake)
{
	struct epoll_event event = { .data.ptr = shake };
	uint32_t before = shake->events;
	int step = continue_shake(shake);

	if (step) {
		finish(worker, shake, step < 0);
		return;
	}
	event.events = shake->events;
	if (shake->events != before &&
	    epoll_ctl(worker->epoll, EPOLL_CTL_MOD, shake->fd, &event))
		finish(worker, shake, true);
}

/* The list is in the order of deadlines: all have the same time. */
static void add(struct worker *worker, struct shake *shake)
{
	shake->prev = worker->list.prev;
	shake->next = &worker->list;
	shake->prev->next = shake;
	worker->list.prev = shake;
}

static void begin(struct worker *worker, const struct khttpd_tls_take *take)
{
	struct shake *shake = calloc(1, sizeof(*shake));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = shake };
	struct khttpd_tls_done done = { .fd = take->fd, .id = take->id, .failed = 1 };

	if (!shake) {
		ioctl(worker->device, KHTTPD_IOC_TLS_DONE, &done);
		close(take->fd);
		return;
	}
	shake->fd = take->fd;
	shake->id = take->id;
	shake->events = event.events;
	shake->deadline = now() + take->timeout + GRACE;
	shake->sites = worker->sites;
	shake->site = find_site(worker->sites, take->site);
	add(worker, shake);
	if (!shake->site || !shake->site->ctx) {
		say("site %s: there is no certificate", take->site);
		finish(worker, shake, true);
	} else if (begin_shake(shake) ||
		   epoll_ctl(worker->epoll, EPOLL_CTL_ADD, shake->fd, &event)) {
		finish(worker, shake, true);
	} else {
		go_on(worker, shake);
	}
}

static void take(struct worker *worker)
{
	struct khttpd_tls_take arg;
	int i;

	for (i = 0; i < TAKE_MAX; i++) {
		memset(&arg, 0, sizeof(arg));
		if (!ioctl(worker->device, KHTTPD_IOC_TLS_TAKE, &arg)) {
			begin(worker, &arg);
			continue;
		}
		if (errno == EAGAIN || errno == EINTR)
			return;
		worker->paused = true;
		watch_device(worker, false);
		return;
	}
}

/* What khttpd forgot by now is closed here. Return: ms until the next, or -1. */
static int expire(struct worker *worker)
{
	struct shake *shake;
	int64_t left;

	while ((shake = worker->list.next) != &worker->list) {
		left = shake->deadline - now();
		if (left > 0)
			return worker->paused && left > PAUSE ? PAUSE : left;
		finish(worker, shake, true);
	}
	return worker->paused ? PAUSE : -1;
}

static void handle(struct worker *worker, const struct epoll_event *event)
{
	struct signalfd_siginfo info;

	if (event->data.ptr == worker) {
		if (read(worker->signals, &info, sizeof(info)) < 0)
			return;
		if (!worker->ending)
			close(worker->alive);
		worker->ending = true;
		watch_device(worker, false);
	} else if (event->data.ptr) {
		go_on(worker, event->data.ptr);
	} else if (!worker->ending) {
		take(worker);
	}
}

static int prepare(struct worker *worker)
{
	struct epoll_event signals = { .events = EPOLLIN, .data.ptr = worker };
	struct epoll_event device = { .events = EPOLLIN, .data.ptr = NULL };
	sigset_t set;

	worker->list.next = &worker->list;
	worker->list.prev = &worker->list;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_SETMASK, &set, NULL);
	worker->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	worker->epoll = epoll_create1(EPOLL_CLOEXEC);
	return worker->signals < 0 || worker->epoll < 0 ||
	       epoll_ctl(worker->epoll, EPOLL_CTL_ADD, worker->signals, &signals) ||
	       epoll_ctl(worker->epoll, EPOLL_CTL_ADD, worker->device, &device);
}

/* Until SIGTERM, and then until the handshakes under way are over. @alive is told when connections
 * are taken, and closed when no more are.
 */
int work(const struct site *sites, int device, int alive)
{
	struct worker worker = { .sites = sites, .device = device, .alive = alive };
	struct epoll_event events[EVENTS];
	int timeout, n, i;

	if (prepare(&worker) || enter_sandbox() || write(alive, "", 1) != 1)
		return -1;
	for (;;) {
		timeout = expire(&worker);
		if (worker.ending && worker.list.next == &worker.list)
			return 0;
		n = epoll_wait(worker.epoll, events, EVENTS, timeout);
		if (worker.paused && !worker.ending)
			watch_device(&worker, true);
		worker.paused = false;
		/* Each is about another connection, so none that follows is gone. */
		for (i = 0; i < n; i++)
			handle(&worker, &events[i]);
	}
}
