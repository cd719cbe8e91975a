// SPDX-License-Identifier: GPL-2.0
/* Programs of BPF, by the bare system call: of a control group, of sockets and of socket maps.
 * They do little by themselves; what counts is where they are called, and when they come and go.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fuzz.h"

#define HELD		8	/* programs that are attached at a time */
#define GROUPS		"/run/fuzz-group"

#define INSN(c, d, s, o, i)	((struct bpf_insn){ c, d, s, o, i })
#define MOV(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define COPY(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define FRAME(d, o)		COPY(d, 10), INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, o)
#define STORE(o, i)		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, o, i)
#define STORE16(o, i)		INSN(BPF_ST | BPF_MEM | BPF_H, 10, 0, o, i)
#define HELPER(n)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, n)
#define RETURN(i)		MOV(0, i), INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

struct attached {
	int program, where, type;
};

static volatile int group_fd = -1;
static struct attached *held[HELD];

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int load(int type, int attach, const struct bpf_insn *code, size_t count)
{
	union bpf_attr a = { .prog_type = type, .insn_cnt = count, .insns = (uintptr_t)code,
		.license = (uintptr_t)"GPL", .expected_attach_type = attach };

	return bpf(BPF_PROG_LOAD, &a);
}

/* Lets everything pass, or not. */
static int plain(int type, int attach)
{
	const struct bpf_insn code[] = { RETURN(!one_in(6)) };

	return load(type, attach, code, COUNT(code));
}

/* Binds a socket that is being connected. */
static int binds(int type, int attach)
{
	const struct bpf_insn code[] = {
		STORE(-8, 0), STORE(-16, 0), STORE(-24, 0), STORE(-32, 0),
		STORE16(-32, AF_INET6), STORE16(-10, 0),
		FRAME(2, -32), MOV(3, 28), HELPER(BPF_FUNC_bind), RETURN(1),
	};

	return load(type, attach, code, COUNT(code));
}

/* Sets an option and reads one. */
static int options(int type, int attach)
{
	const struct bpf_insn code[] = {
		COPY(6, 1), STORE(-8, (int)rnd(256)),
		MOV(2, IPPROTO_IPV6), MOV(3, one_in(2) ? IPV6_TCLASS : 70 /* AUTOFLOWLABEL */),
		FRAME(4, -8), MOV(5, 4), HELPER(BPF_FUNC_setsockopt),
		COPY(1, 6), MOV(2, IPPROTO_IPV6), MOV(3, IPV6_TCLASS),
		FRAME(4, -8), MOV(5, 4), HELPER(BPF_FUNC_getsockopt), RETURN(1),
	};

	return load(type, attach, code, COUNT(code));
}

/* Looks a datagram socket up. */
static int looks(int type, int attach)
{
	const struct bpf_insn code[] = {
		STORE(-8, 0), STORE(-16, 0), STORE(-24, 0), STORE(-32, 0), STORE(-40, 0),
		STORE16(-6, htons(PORT_BASE)), STORE16(-8, htons(PORT_BASE + 1)),
		FRAME(2, -40), MOV(3, 36), MOV(4, -1), MOV(5, 0),
		HELPER(BPF_FUNC_sk_lookup_udp),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0),
		COPY(1, 0), HELPER(BPF_FUNC_sk_release), RETURN(1),
	};

	return load(type, attach, code, COUNT(code));
}

static const struct {
	int type, attach;
	int (*make)(int type, int attach);
} kinds[] = {
	{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, plain },
	{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_RELEASE, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET6_POST_BIND, plain },
	{ BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_BIND, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, binds },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, options },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, looks },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_BIND, options },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETPEERNAME, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETSOCKNAME, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_SENDMSG, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_RECVMSG, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_GETSOCKOPT, plain },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, plain },
	{ BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, plain },
	{ BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, plain },
};

/* Every process of the fuzzer is below the root of the groups. */
static int group(void)
{
	if (group_fd < 0) {
		mkdir(GROUPS, 0755);
		mount("cgroup2", GROUPS, "cgroup2", 0, NULL);
		group_fd = open(GROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return group_fd;
}

static void detach(struct attached *a)
{
	union bpf_attr attr = { .target_fd = a->where, .attach_bpf_fd = a->program,
		.attach_type = a->type };

	bpf(BPF_PROG_DETACH, &attr);
	close(a->program);
	if (a->where != group_fd)
		close(a->where);
	free(a);
}

/* The oldest goes when a new one comes. */
static void do_attach(void)
{
	static unsigned int next;
	unsigned int i = rnd(COUNT(kinds)), at;
	struct attached *a = malloc(sizeof(*a)), *old;
	union bpf_attr attr = { .attach_type = kinds[i].attach,
		.attach_flags = BPF_F_ALLOW_MULTI };

	if (!a)
		return;
	a->type = kinds[i].attach;
	a->where = kinds[i].attach == BPF_SK_LOOKUP ?
		   open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC) : group();
	a->program = kinds[i].make(kinds[i].type, kinds[i].attach);
	if (kinds[i].attach == BPF_SK_LOOKUP)
		attr.attach_flags = 0;
	attr.target_fd = a->where;
	attr.attach_bpf_fd = a->program;
	bpf(BPF_PROG_ATTACH, &attr);
	at = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % HELD;
	old = __atomic_exchange_n(&held[at], a, __ATOMIC_SEQ_CST);
	if (old)
		detach(old);
}

/* Most of the time there are none: what they refuse would hide the rest. */
static void do_detach(void)
{
	struct attached *old;

	for (int i = 0; i < HELD; i++) {
		old = __atomic_exchange_n(&held[i], NULL, __ATOMIC_SEQ_CST);
		if (old)
			detach(old);
	}
}

/* Of one socket: a filter, or the choice of a group that shares a port. */
static void do_socket_program(void)
{
	static const int names[] = { SO_ATTACH_BPF, 52 /* SO_ATTACH_REUSEPORT_EBPF */ };
	const struct bpf_insn code[] = { RETURN(one_in(4) ? (int)rnd(4) : 0xffff) };
	int fd = load(BPF_PROG_TYPE_SOCKET_FILTER, 0, code, COUNT(code));

	if (fd < 0)
		return;
	setsockopt(fd_any(), SOL_SOCKET, PICK(names), &fd, sizeof(fd));
	close(fd);
}

/* A map of sockets, with a program that lets its data pass; gone when another comes. */
static void do_map(void)
{
	static const int types[] = { BPF_MAP_TYPE_SOCKMAP, BPF_MAP_TYPE_SOCKMAP,
		BPF_MAP_TYPE_REUSEPORT_SOCKARRAY };
	static const int verdicts[] = { BPF_SK_SKB_STREAM_VERDICT, BPF_SK_SKB_VERDICT };
	const struct bpf_insn pass[] = { RETURN(1) };
	union bpf_attr make = { .map_type = PICK(types), .key_size = 4, .value_size = 4,
		.max_entries = 8 };
	int map = bpf(BPF_MAP_CREATE, &make), program;
	uint32_t key, value;

	if (map < 0)
		return;
	program = load(BPF_PROG_TYPE_SK_SKB, 0, pass, COUNT(pass));
	if (one_in(2)) {
		union bpf_attr attr = { .target_fd = map, .attach_bpf_fd = program,
			.attach_type = PICK(verdicts) };

		bpf(BPF_PROG_ATTACH, &attr);
	}
	for (int i = 0; i < 6; i++) {
		union bpf_attr attr = { .map_fd = map, .key = (uintptr_t)&key,
			.value = (uintptr_t)&value };

		key = rnd(8);
		value = fd_any();
		bpf(one_in(4) ? BPF_MAP_DELETE_ELEM : BPF_MAP_UPDATE_ELEM, &attr);
	}
	if (program >= 0)
		close(program);
	fd_put(map);
}

/* A connection cut into messages, which it gives back in the end, or is closed with. */
static void do_kcm(void)
{
	const struct bpf_insn code[] = { RETURN(1 + (int)rnd(200)) };
	int kcm = socket(41 /* AF_KCM */, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct { int fd, bpf_fd; } arg = { .bpf_fd = load(BPF_PROG_TYPE_SOCKET_FILTER, 0, code,
							  COUNT(code)) };
	int pair[2] = { -1, -1 };

	if (one_in(4) || !connection(pair))
		pair[0] = fd_any();
	arg.fd = pair[0];
	ioctl(kcm, 0x89e0 /* SIOCKCMATTACH */, &arg);
	for (int i = 0; i < 4; i++) {
		send(pair[1], area(), rnd(2000), MSG_DONTWAIT | MSG_NOSIGNAL);
		send(kcm, area(), rnd(200), MSG_DONTWAIT | MSG_NOSIGNAL);
		recv(kcm, area(), 4000, MSG_DONTWAIT);
	}
	if (one_in(3))
		ioctl(kcm, 0x89e1 /* SIOCKCMUNATTACH */, &arg.fd);
	if (arg.bpf_fd >= 0)
		close(arg.bpf_fd);
	if (pair[1] >= 0) {
		fd_put(pair[0]);
		fd_put(pair[1]);
	}
	fd_put(kcm);
}

const struct op program_ops[] = {
	{ "bpf_attach", 8, ROOT, do_attach },
	{ "bpf_detach", 2, ROOT, do_detach },
	{ "bpf_socket", 3, ROOT, do_socket_program },
	{ "bpf_map", 3, ROOT, do_map },
	{ "kcm", 6, ROOT, do_kcm },
	{ },
};
