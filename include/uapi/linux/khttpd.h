/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Calls on /dev/khttpd: attaching the kernel's web server to the listening
 * socket of a running server; and what /dev/khttpd_log gives. Everything else is
 * in configfs.
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

/**
 * struct khttpd_tls_take - a connection for a TLS handshake
 * @site: out: name of the listener's site, NUL-terminated
 * @fd: out: the connection, a descriptor of the caller's; close-on-exec, non-blocking
 * @id: out: how it is called when it is given back
 * @timeout: out: ms that are left for the handshake
 * @flags: must be 0
 */
struct khttpd_tls_take {
	char site[KHTTPD_NAME_SIZE];
	__s32 fd;
	__u32 id;
	__u32 timeout;
	__u32 flags;
};

/**
 * struct khttpd_tls_done - a handshake that is over
 * @fd: the descriptor that was taken; closed, if the connection is khttpd's again
 * @id: as it was given
 * @failed: 1: it failed, and @fd is for the caller to close
 * @flags: must be 0
 */
struct khttpd_tls_done {
	__s32 fd;
	__u32 id;
	__u32 failed;
	__u32 flags;
};

/* Most bytes of what is said of a connection's TLS. */
#define KHTTPD_TLS_SAYS_MAX	512

/**
 * struct khttpd_tls_says - what a server behind is told of a connection's TLS
 * @id: of the handshake, as it was given
 * @len: bytes of @value, at least 5, at most KHTTPD_TLS_SAYS_MAX
 * @value: address of a value of PP2_TYPE_SSL: client, verify, and what follows by type and length
 *	(proxy-protocol.txt of HAProxy, section 2.2.6)
 */
struct khttpd_tls_says {
	__u32 id;
	__u32 len;
	__u64 value;
};

/**
 * struct khttpd_tls_watch - sites are to be read again
 * @asked: in: what the last call said, now that it is done; ignored by the first one.
 *	out: how often it was asked for
 * @failed: 1: it could not be done; ignored by the first one
 */
struct khttpd_tls_watch {
	__u32 asked;
	__u32 failed;
};

/* BEGIN: this descriptor of /dev/khttpd, which nothing else should share, does handshakes from
 * now on; CAP_NET_ADMIN is needed. It can be polled for connections. When it is closed for the
 * last time, those that it took end. EBUSY: it does already, or watches.
 * TAKE: EAGAIN: there is none. EPERM: without BEGIN.
 * DONE: ENOENT: no such handshake, or its time was over. EBADF: not the connection that was
 * taken; both leave @fd as it is. EBUSY: the connection has other descriptors, or is watched.
 * EINVAL: TLS is not on in both directions. ESHUTDOWN: its listener has gone.
 * SAYS: before DONE, for a site with send_proxy; the last one counts. ENOENT: no such handshake.
 * EINVAL: not of that form. EPERM: without BEGIN. ENOMEM: without memory.
 * CIPHERS: out: KHTTPD_TLS_* of what the kernel can encrypt with; CAP_NET_ADMIN is needed. The
 * first such call, or listener, has modules loaded, which may take seconds.
 * WATCH: this descriptor, which does no handshakes, is readable from now on when a site was
 * started, changed or removed, or ASK was called, since the last WATCH. EBUSY: it does handshakes.
 * EINVAL: @asked is not what the last call said. CAP_NET_ADMIN is needed.
 * ASK: have those who watch read the sites again, and wait until they have, at most the given ms;
 * not at all if there are none. ETIME: it takes longer. EKEYREJECTED: one could not. CAP_NET_ADMIN
 * is needed.
 */
#define KHTTPD_TLS_AES_GCM		(1 << 0)
#define KHTTPD_TLS_CHACHA20_POLY1305	(1 << 1)

#define KHTTPD_IOC_TLS_BEGIN	_IO(0xbc, 0x42)
#define KHTTPD_IOC_TLS_TAKE	_IOWR(0xbc, 0x43, struct khttpd_tls_take)
#define KHTTPD_IOC_TLS_DONE	_IOW(0xbc, 0x44, struct khttpd_tls_done)
#define KHTTPD_IOC_TLS_CIPHERS	_IOR(0xbc, 0x45, __u32)
#define KHTTPD_IOC_TLS_WATCH	_IOWR(0xbc, 0x46, struct khttpd_tls_watch)
#define KHTTPD_IOC_TLS_ASK	_IOW(0xbc, 0x47, __u32)
#define KHTTPD_IOC_TLS_SAYS	_IOW(0xbc, 0x48, struct khttpd_tls_says)

/**
 * struct khttpd_giveback - a connection that a server gives back
 * @listener: descriptor of the listening socket, to which a site is attached
 * @fd: a connection that was accepted from it; closed, if the connection is khttpd's again
 * @head: address of the head of a request: GET or HEAD, no content, its empty line included
 * @head_len: its length, at most 8192 without what a proxy says
 * @flags: must be 0
 *
 * khttpd answers the head as if it had just come, and goes on with the connection. What the client
 * sends next is still in the socket. Paths that a rule passes to the server are files here.
 *
 * Where the site trusts a proxy (proxy_protocol), the server has read a header of the PROXY
 * protocol first. It stands in front of the head here, as it was read, at most 4096 bytes. So
 * limits, rules and the log see the proxy's client again, and a server that gets the connection
 * once more reads the header once more.
 *
 * The call is made on /dev/khttpd_giveback, for which no privilege is needed: a server has its own
 * sockets. EINVAL: no such head, or not a connection of that listener's; no header of a trusted
 * proxy, one of another, or one that was not read. ENOENT: no site is attached to the listener.
 * EBUSY: the connection has other descriptors, is watched by epoll, or used by another thread.
 * ESHUTDOWN: the listener is being detached. ENOTCONN: it is not connected, or one of its halves
 * has ended here. EUSERS, ENOBUFS: over a limit. ENOMEM: without memory. With these @fd is as it
 * was. ECANCELED: another thread has used @fd in this very moment. Then it is closed, and the
 * connection lost.
 */
struct khttpd_giveback {
	__s32 listener;
	__s32 fd;
	__u64 head;
	__u32 head_len;
	__u32 flags;
};

#define KHTTPD_IOC_GIVEBACK	_IOW(0xbc, 0x50, struct khttpd_giveback)

/**
 * struct khttpd_log_record - what /dev/khttpd_log gives for each reply
 * @size: of the record, a multiple of 8; the next one follows
 * @status: of the reply
 * @port: of the client
 * @time: when it was answered, ns since 1970
 * @bytes: length of the reply's content
 * @address: of the client; IPv4 addresses as ::ffff:a.b.c.d
 * @site_len: length of the site's name, the first in @text
 * @host_len: of the host that was asked for
 * @method_len: of the method; 0 if the request could not be understood
 * @target_len: of path and query
 * @referer_len: of Referer
 * @agent_len: of User-Agent
 * @minor: of the HTTP version
 * @pad: 0
 * @text: these texts in that order, as they were received
 *
 * Only one process can have the device open, and only then records are made.
 * read(2) returns whole records, oldest first of each CPU. Records that find
 * their CPU's ring full are lost and counted (log_lost).
 */
struct khttpd_log_record {
	__u32 size;
	__u16 status;
	__u16 port;
	__u64 time;
	__u64 bytes;
	__u8 address[16];
	__u16 site_len;
	__u16 host_len;
	__u16 method_len;
	__u16 target_len;
	__u16 referer_len;
	__u16 agent_len;
	__u16 minor;
	__u16 pad;
	char text[];
};

#endif /* _UAPI_LINUX_KHTTPD_H */
