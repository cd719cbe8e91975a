/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Calls on /dev/khttpd: attaching the kernel's web server to the listening
 * socket of a running server. Everything else is in configfs.
 */
#ifndef _UAPI_LINUX_KHTTPD_H
#define _UAPI_LINUX_KHTTPD_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Longest site name, NUL included. */
#define KHTTPD_NAME_SIZE	64

/**
 * struct khttpd_attach - a listening socket and the site it gets
 * @site: name of an enabled site, NUL-terminated
 * @fd: descriptor of a listening TCP socket of any family
 * @flags: must be 0
 */
struct khttpd_attach {
	char site[KHTTPD_NAME_SIZE];
	__s32 fd;
	__u32 flags;
};

/**
 * struct khttpd_detach - a site that gives its listening sockets back
 * @site: name of an enabled site, NUL-terminated
 * @count: out: how many there were
 * @flags: must be 0
 */
struct khttpd_detach {
	char site[KHTTPD_NAME_SIZE];
	__u32 count;
	__u32 flags;
};

/* ENOENT: no such site, or not enabled. EEXIST: the socket is attached. EINVAL:
 * it does not listen. EPROTONOSUPPORT: not TCP. EPERM: CAP_NET_ADMIN is needed
 * in the socket's network namespace.
 */
#define KHTTPD_IOC_ATTACH	_IOW(0xbc, 0x40, struct khttpd_attach)
#define KHTTPD_IOC_DETACH	_IOWR(0xbc, 0x41, struct khttpd_detach)

#endif /* _UAPI_LINUX_KHTTPD_H */
