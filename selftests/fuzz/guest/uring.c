// SPDX-License-Identifier: GPL-2.0
/* io_uring on sockets, by its bare system calls: a ring for each thread, with registered and
 * provided buffers and registered files, entries linked and drained, rings that come and go.
 */
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "fuzz.h"

#define ENTRIES	16
#define GROUP	7	/* of provided buffers */

struct ring {
	int fd;
	struct io_uring_params p;
	uint8_t *sq, *cq;
	struct io_uring_sqe *sqes;
	size_t sq_len, cq_len;
};

static __thread struct ring ring = { .fd = -1 };

static int enter(unsigned int submit, unsigned int wait, unsigned int flags)
{
	return syscall(__NR_io_uring_enter, ring.fd, submit, wait, flags, NULL, 0);
}

static int reg(unsigned int op, const void *arg, unsigned int n)
{
	return syscall(__NR_io_uring_register, ring.fd, op, arg, n);
}

static void ring_end(void)
{
	if (ring.fd < 0)
		return;
	munmap(ring.sq, ring.sq_len);
	munmap(ring.cq, ring.cq_len);
	munmap(ring.sqes, ring.p.sq_entries * sizeof(*ring.sqes));
	close(ring.fd);
	ring.fd = -1;
}

static void register_some(void)
{
	struct iovec iov[4];
	int files[8];

	for (size_t i = 0; i < COUNT(iov); i++) {
		iov[i].iov_base = (uint8_t *)area() + i * 65536;
		iov[i].iov_len = 65536;
	}
	reg(IORING_REGISTER_BUFFERS, iov, COUNT(iov));
	for (size_t i = 0; i < COUNT(files); i++)
		files[i] = one_in(3) ? -1 : fd_any();
	reg(IORING_REGISTER_FILES, files, COUNT(files));
}

static bool ring_start(void)
{
	static const unsigned int flags[] = { 0, 0, IORING_SETUP_COOP_TASKRUN, IORING_SETUP_CLAMP,
		IORING_SETUP_SUBMIT_ALL };
	struct io_uring_params *p = &ring.p;

	if (ring.fd >= 0)
		return true;
	memset(p, 0, sizeof(*p));
	p->flags = PICK(flags);
	ring.fd = syscall(__NR_io_uring_setup, ENTRIES, p);
	if (ring.fd < 0)
		return false;
	ring.sq_len = p->sq_off.array + p->sq_entries * 4;
	ring.cq_len = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	ring.sq = mmap(NULL, ring.sq_len, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
		       IORING_OFF_SQ_RING);
	ring.cq = mmap(NULL, ring.cq_len, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
		       IORING_OFF_CQ_RING);
	ring.sqes = mmap(NULL, p->sq_entries * sizeof(*ring.sqes), PROT_READ | PROT_WRITE,
			 MAP_SHARED, ring.fd, IORING_OFF_SQES);
	/* Another thread may have closed the descriptor, or put something else in its place. */
	if (ring.sq == MAP_FAILED || ring.cq == MAP_FAILED || ring.sqes == MAP_FAILED) {
		ring_end();
		return false;
	}
	register_some();
	return true;
}

/* What of an entry's fields an operation reads, other than memory and its length. */

static void fields_recv(struct io_uring_sqe *e)
{
	if (one_in(3)) {
		e->flags |= IOSQE_BUFFER_SELECT;
		e->buf_group = GROUP;
		if (e->opcode == IORING_OP_RECV && one_in(2)) {
			e->ioprio |= IORING_RECV_MULTISHOT;
			e->len = 0;
		}
	}
	e->msg_flags = message_flags(false);
}

static void fields_send(struct io_uring_sqe *e)
{
	e->msg_flags = message_flags(true);
}

static void fields_message(struct io_uring_sqe *e)
{
	bool send = e->opcode != IORING_OP_RECVMSG;
	static __thread struct msghdr msg;

	message_make(&msg, send);
	e->addr = (uintptr_t)&msg;
	e->len = 1;
	e->msg_flags = message_flags(send);
}

static void fields_fixed(struct io_uring_sqe *e)
{
	e->buf_index = rnd(5);
	e->addr = (uintptr_t)area() + e->buf_index * 65536;
	e->len = rnd(65536);
}

static __thread struct sockaddr_storage to;

static void fields_send_zc(struct io_uring_sqe *e)
{
	e->msg_flags = message_flags(true);
	if (one_in(2)) {
		e->ioprio |= IORING_RECVSEND_FIXED_BUF;
		fields_fixed(e);
	}
	if (one_in(3)) {
		e->addr_len = name(&to);
		e->addr2 = (uintptr_t)&to;
	}
}

static void fields_accept(struct io_uring_sqe *e)
{
	e->addr = 0;
	e->len = 0;
	e->accept_flags = SOCK_NONBLOCK;
	if (one_in(3))
		e->ioprio |= IORING_ACCEPT_MULTISHOT;
}

static void fields_connect(struct io_uring_sqe *e)
{
	e->off = name(&to);
	e->addr = (uintptr_t)&to;
	e->len = 0;
}

static void fields_poll(struct io_uring_sqe *e)
{
	e->poll32_events = rnd64();
	e->addr = 0;
	e->len = one_in(3);
}

static void fields_cancel(struct io_uring_sqe *e)
{
	e->addr = rnd(8);
	e->len = 0;
}

static void fields_shutdown(struct io_uring_sqe *e)
{
	e->addr = 0;
	e->len = rnd(3);
}

static void fields_close(struct io_uring_sqe *e)
{
	if (e->fd < 3)
		e->fd = 200;
	e->addr = 0;
	e->len = 0;
}

static void fields_splice(struct io_uring_sqe *e)
{
	e->splice_fd_in = fd_any();
	e->splice_off_in = -1;
	e->off = -1;
}

static void fields_vector(struct io_uring_sqe *e)
{
	static __thread struct msghdr msg;

	message_make(&msg, e->opcode == IORING_OP_WRITEV);
	e->addr = (uintptr_t)msg.msg_iov;
	e->len = msg.msg_iovlen;
}

static void fields_provide(struct io_uring_sqe *e)
{
	e->fd = 8;
	e->len = 4096;
	e->addr = (uintptr_t)area();
	e->buf_group = GROUP;
}

static void fields_remove(struct io_uring_sqe *e)
{
	e->fd = rnd(9);
	e->addr = 0;
	e->len = 0;
	e->buf_group = GROUP;
}

static void fields_socket(struct io_uring_sqe *e)
{
	e->fd = family;
	e->off = one_in(2) ? SOCK_STREAM : SOCK_DGRAM;
	e->addr = 0;
	e->len = 0;
}

static void fields_timeout(struct io_uring_sqe *e)
{
	static __thread struct __kernel_timespec soon = { 0, 1000000 };

	e->fd = -1;
	e->addr = (uintptr_t)&soon;
	e->len = 1;
}

static void fields_update(struct io_uring_sqe *e)
{
	e->fd = -1;
	*(int *)area() = fd_any();
	e->addr = (uintptr_t)area();
	e->len = 1;
	e->off = rnd(8);
}

static const struct {
	uint8_t opcode;
	void (*fields)(struct io_uring_sqe *e);
} operations[] = {
	{ IORING_OP_SEND, fields_send }, { IORING_OP_SEND, fields_send },
	{ IORING_OP_RECV, fields_recv }, { IORING_OP_RECV, fields_recv },
	{ IORING_OP_SENDMSG, fields_message }, { IORING_OP_RECVMSG, fields_message },
	{ IORING_OP_ACCEPT, fields_accept }, { IORING_OP_CONNECT, fields_connect },
	{ IORING_OP_POLL_ADD, fields_poll }, { IORING_OP_POLL_REMOVE, fields_cancel },
	{ IORING_OP_SHUTDOWN, fields_shutdown }, { IORING_OP_CLOSE, fields_close },
	{ IORING_OP_SPLICE, fields_splice }, { IORING_OP_READ, fields_recv },
	{ IORING_OP_WRITE, NULL }, { IORING_OP_READV, fields_vector },
	{ IORING_OP_WRITEV, fields_vector }, { IORING_OP_READ_FIXED, fields_fixed },
	{ IORING_OP_WRITE_FIXED, fields_fixed }, { IORING_OP_ASYNC_CANCEL, fields_cancel },
	{ IORING_OP_PROVIDE_BUFFERS, fields_provide },
	{ IORING_OP_REMOVE_BUFFERS, fields_remove }, { IORING_OP_SOCKET, fields_socket },
	{ IORING_OP_LINK_TIMEOUT, fields_timeout }, { IORING_OP_SEND_ZC, fields_send_zc },
	{ IORING_OP_SENDMSG_ZC, fields_message }, { IORING_OP_FILES_UPDATE, fields_update },
	{ IORING_OP_NOP, NULL },
};

static void entry(struct io_uring_sqe *e)
{
	unsigned int i = rnd(COUNT(operations));
	size_t len = length();

	memset(e, 0, sizeof(*e));
	e->opcode = operations[i].opcode;
	e->fd = fd_any();
	if (one_in(6)) {
		e->flags |= IOSQE_FIXED_FILE;
		e->fd = rnd(9);
	}
	if (one_in(5))
		e->flags |= IOSQE_IO_LINK;
	if (one_in(8))
		e->flags |= IOSQE_ASYNC;
	if (one_in(30))
		e->flags |= IOSQE_IO_DRAIN;
	e->addr = (uintptr_t)memory(len);
	e->len = len;
	e->user_data = rnd(8);
	if (operations[i].fields)
		operations[i].fields(e);
}

static void reap(void)
{
	unsigned int *head = (void *)(ring.cq + ring.p.cq_off.head);
	unsigned int *tail = (void *)(ring.cq + ring.p.cq_off.tail);

	__atomic_store_n(head, __atomic_load_n(tail, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

static void do_uring(void)
{
	unsigned int *tail, *array, n, i;

	if (!ring_start())
		return;
	tail = (void *)(ring.sq + ring.p.sq_off.tail);
	array = (void *)(ring.sq + ring.p.sq_off.array);
	n = 1 + rnd(6);
	for (i = 0; i < n; i++) {
		unsigned int at = (*tail + i) & (ring.p.sq_entries - 1);

		entry(&ring.sqes[at]);
		array[at] = at;
	}
	__atomic_store_n(tail, *tail + n, __ATOMIC_RELEASE);
	enter(n, 0, IORING_ENTER_GETEVENTS);
	reap();
	if (one_in(60))
		ring_end();
	else if (one_in(20))
		reg(one_in(2) ? IORING_UNREGISTER_BUFFERS : IORING_UNREGISTER_FILES, NULL, 0);
	else if (one_in(20))
		register_some();
}

const struct op uring_ops[] = {
	{ "uring", 60, ALL, do_uring },
	{ },
};
