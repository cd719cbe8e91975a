// SPDX-License-Identifier: GPL-2.0
/* The system calls that a worker may make, once it has the keys and all descriptors but its
 * connections': EPERM for all others. A filter of seccomp needs no library for so few.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include "tlsd.h"

#if defined(__x86_64__)
#define ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH	AUDIT_ARCH_AARCH64
#endif

#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, what)
#define DENY		RETURN(SECCOMP_RET_ERRNO | EPERM)
/* Of an argument the low half, which comes first. */
#define LOAD(member)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
/* Skip so many if it is @value, or else. */
#define IF(value, yes, no)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_BITS(bits, yes, no)	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define ALLOW(call)	IF(__NR_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)

#ifdef ARCH
static const struct sock_filter filter[] = {
	LOAD(arch),
	IF(ARCH, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	/* Connections. */
	ALLOW(read),
	ALLOW(write),
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	ALLOW(setsockopt),
	ALLOW(close),
	ALLOW(epoll_ctl),
	ALLOW(epoll_pwait),
#ifdef __NR_epoll_wait
	ALLOW(epoll_wait),
#endif
	/* Memory, time, chance. OpenSSL asks whether it was forked. */
	ALLOW(brk),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(clock_gettime),
	ALLOW(gettimeofday),
	ALLOW(getrandom),
	ALLOW(getpid),
	/* Its end. */
	ALLOW(exit_group),
	ALLOW(restart_syscall),
	ALLOW(rt_sigreturn),
	/* Memory that is no code. */
	IF(__NR_mmap, 0, 4),
	LOAD(args[2]),
	IF_BITS(PROT_EXEC, 1, 0),
	RETURN(SECCOMP_RET_ALLOW),
	DENY,
	/* The device's calls, those of a worker. */
	IF(__NR_ioctl, 0, 5),
	LOAD(args[1]),
	IF(KHTTPD_IOC_TLS_TAKE, 2, 0),
	IF(KHTTPD_IOC_TLS_SAYS, 1, 0),
	IF(KHTTPD_IOC_TLS_DONE, 0, 1),
	RETURN(SECCOMP_RET_ALLOW),
	DENY,
};
#endif

/* Return: 0, also where there is no such thing, which is said; or -1. */
int enter_sandbox(void)
{
#ifdef ARCH
	struct sock_fprog program = {
		.len = ARRAY_SIZE(filter),
		.filter = (struct sock_filter *)filter,
	};

	if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 0;
	if (errno != EINVAL) {
		say("seccomp: %s", strerror(errno));
		return -1;
	}
#endif
	say("there is no sandbox: the kernel has no seccomp, or the processor is not known");
	return 0;
}
