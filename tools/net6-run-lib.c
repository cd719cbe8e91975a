// SPDX-License-Identifier: GPL-2.0
/* libnet6-run.so, loaded by net6-run in front of the C library. With it socket() of family
 * AF_INET6 makes a net6 socket. With NET6_RUN_MAP set AF_INET makes one, too, with addresses
 * translated both ways. The C library's own sockets (name service) are out of reach.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/net6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FDS		1048576	/* descriptors that we can remember */
#define MAX_NAMES	1024		/* addresses that we can translate */

/* Peers that the table does not name get names of their own: 240.0.0.1, ... (RFC 1112
 * class E, never on the wire).
 */
#define FIRST_FREE_NAME	0xf0000001U

struct name {
	struct in_addr	v4;
	struct in6_addr	v6;
	unsigned int	scope;
};

static struct name names[MAX_NAMES];
static _Atomic int n_names;		/* those below it do not change */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static bool mapping;			/* NET6_RUN_MAP is set */
static _Atomic unsigned char is_mapped[MAX_FDS];	/* an IPv4 socket to the program */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The C library's functions that we stand in front of. */
#define FUNCTIONS(X)							\
	X(socket) X(bind) X(connect) X(accept4) X(getsockname)		\
	X(getpeername) X(sendto) X(recvfrom) X(sendmsg) X(recvmsg)	\
	X(sendmmsg) X(recvmmsg) X(setsockopt) X(getsockopt)		\
	X(dup) X(dup2) X(dup3)

#define X(name)	static __typeof__(name) *real_##name;
FUNCTIONS(X)
#undef X

static void add_name(const char *v4, char *v6)
{
	struct name *n = &names[n_names];
	char *zone = strchr(v6, '%');

	if (zone) {
		*zone++ = '\0';
		n->scope = if_nametoindex(zone);
	}
	if (n_names < MAX_NAMES && inet_pton(AF_INET, v4, &n->v4) == 1 &&
	    inet_pton(AF_INET6, v6, &n->v6) == 1)
		n_names++;
}

static void read_map(const char *env)
{
	char *copy = strdup(env), *save, *item, *eq;
	char any[] = "::", loopback[] = "::1";

	if (!copy)
		return;
	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		eq = strchr(item, '=');
		if (!eq)
			continue;
		*eq = '\0';
		add_name(item, eq + 1);
	}
	free(copy);
	add_name("0.0.0.0", any);
	add_name("127.0.0.1", loopback);
	mapping = true;
}

static void init(void)
{
	const char *env = getenv("NET6_RUN_MAP");

#define X(name)	real_##name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);
	FUNCTIONS(X)
#undef X
	if (env && *env)
		read_map(env);
}

/* Other libraries' constructors may call us before ours would run. */
static void ready(void)
{
	pthread_once(&once, init);
}

static bool fd_is_mapped(int fd)
{
	return mapping && fd >= 0 && fd < MAX_FDS && is_mapped[fd];
}

static void remember(int fd, bool value)
{
	if (fd >= 0 && fd < MAX_FDS)
		is_mapped[fd] = value;
}

/* The address that the kernel is to see instead of an IPv4 one. Addresses of other families pass
 * as they are: the kernel refuses them with the right error. Returns false, with errno set, for
 * an IPv4 address that nobody has mapped.
 */
static bool to_v6(const struct sockaddr **addr, socklen_t *len, struct sockaddr_in6 *sin6)
{
	const struct sockaddr_in *sin = (const void *)*addr;
	int i;

	if (!*addr || *len < sizeof(*sin) || sin->sin_family != AF_INET)
		return true;
	for (i = 0; i < n_names; i++)
		if (names[i].v4.s_addr == sin->sin_addr.s_addr)
			break;
	if (i == n_names) {
		errno = ENETUNREACH;
		return false;
	}
	memset(sin6, 0, sizeof(*sin6));
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = sin->sin_port;
	sin6->sin6_addr = names[i].v6;
	sin6->sin6_scope_id = names[i].scope;
	*addr = (const void *)sin6;
	*len = sizeof(*sin6);
	return true;
}

static int find_v6(const struct sockaddr_in6 *sin6)
{
	int i;

	for (i = 0; i < n_names; i++)
		if (IN6_ARE_ADDR_EQUAL(&names[i].v6, &sin6->sin6_addr) &&
		    names[i].scope == sin6->sin6_scope_id)
			return i;
	return -1;
}

/* The IPv4 name of an IPv6 address; a new one if it has none. */
static struct in_addr name_of(const struct sockaddr_in6 *sin6)
{
	struct in_addr v4 = { htonl(INADDR_BROADCAST) };
	int i = find_v6(sin6);

	if (i >= 0)
		return names[i].v4;
	pthread_mutex_lock(&names_lock);
	i = find_v6(sin6);
	if (i < 0 && n_names < MAX_NAMES) {
		i = n_names;
		names[i].v4.s_addr = htonl(FIRST_FREE_NAME + i);
		names[i].v6 = sin6->sin6_addr;
		names[i].scope = sin6->sin6_scope_id;
		n_names = i + 1;
	}
	pthread_mutex_unlock(&names_lock);
	return i < 0 ? v4 : names[i].v4;
}

/* Give the program an IPv4 address for what the kernel said. */
static void to_v4(const struct sockaddr_in6 *sin6, socklen_t got, struct sockaddr *addr,
		  socklen_t *len)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	if (!addr || !len)
		return;
	if (got < sizeof(*sin6)) {
		*len = 0;
		return;
	}
	sin.sin_port = sin6->sin6_port;
	sin.sin_addr = name_of(sin6);
	memcpy(addr, &sin, *len < sizeof(sin) ? *len : sizeof(sin));
	*len = sizeof(sin);
}

static bool ours(int type, int protocol)
{
	type &= ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (type == SOCK_STREAM)
		return !protocol || protocol == IPPROTO_TCP;
	return type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP);
}

int socket(int domain, int type, int protocol)
{
	const int on = 1;
	bool v4;
	int fd;

	ready();
	v4 = domain == AF_INET && mapping && ours(type, protocol);
	/* A socket that net6 has not got (a raw one) fails: it must not go native unnoticed. */
	if (v4 || domain == AF_INET6)
		domain = AF_NET6;
	fd = real_socket(domain, type, protocol);
	remember(fd, v4);
	/* A socket that such a program takes for IPv4 is to be IPv6. */
	if (v4 && fd >= 0)
		real_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	return fd;
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_in6 sin6;
	struct sockaddr_in any;

	ready();
	if (fd_is_mapped(fd)) {
		/* Linux' IPv4 takes AF_UNSPEC for AF_INET here; httperf relies on it. */
		if (addr && len >= sizeof(any) && addr->sa_family == AF_UNSPEC) {
			memcpy(&any, addr, sizeof(any));
			any.sin_family = AF_INET;
			if (any.sin_addr.s_addr == htonl(INADDR_ANY))
				addr = (const void *)&any;
		}
		if (!to_v6(&addr, &len, &sin6)) {
			errno = EADDRNOTAVAIL;
			return -1;
		}
	}
	return real_bind(fd, addr, len);
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_in6 sin6;

	ready();
	if (fd_is_mapped(fd) && !to_v6(&addr, &len, &sin6))
		return -1;
	return real_connect(fd, addr, len);
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	struct sockaddr_in6 sin6;
	socklen_t got = sizeof(sin6);
	int child;

	ready();
	if (!fd_is_mapped(fd)) {
		child = real_accept4(fd, addr, len, flags);
		remember(child, false);
		return child;
	}
	child = real_accept4(fd, (struct sockaddr *)&sin6, &got, flags);
	if (child >= 0) {
		remember(child, true);
		to_v4(&sin6, got, addr, len);
	}
	return child;
}

int accept(int fd, struct sockaddr *addr, socklen_t *len)
{
	return accept4(fd, addr, len, 0);
}

int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_in6 sin6;
	socklen_t got = sizeof(sin6);

	ready();
	if (!fd_is_mapped(fd))
		return real_getsockname(fd, addr, len);
	if (real_getsockname(fd, (struct sockaddr *)&sin6, &got))
		return -1;
	to_v4(&sin6, got, addr, len);
	return 0;
}

int getpeername(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_in6 sin6;
	socklen_t got = sizeof(sin6);

	ready();
	if (!fd_is_mapped(fd))
		return real_getpeername(fd, addr, len);
	if (real_getpeername(fd, (struct sockaddr *)&sin6, &got))
		return -1;
	to_v4(&sin6, got, addr, len);
	return 0;
}

ssize_t sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *addr,
	       socklen_t len)
{
	struct sockaddr_in6 sin6;

	ready();
	if (addr && fd_is_mapped(fd) && !to_v6(&addr, &len, &sin6))
		return -1;
	return real_sendto(fd, buf, size, flags, addr, len);
}

ssize_t recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
		 socklen_t *len)
{
	struct sockaddr_in6 sin6;
	socklen_t got = sizeof(sin6);
	ssize_t n;

	ready();
	if (!addr || !fd_is_mapped(fd))
		return real_recvfrom(fd, buf, size, flags, addr, len);
	n = real_recvfrom(fd, buf, size, flags, (struct sockaddr *)&sin6, &got);
	if (n >= 0)
		to_v4(&sin6, got, addr, len);
	return n;
}

/* What _FORTIFY_SOURCE makes of recvfrom(). */
ssize_t __recvfrom_chk(int fd, void *buf, size_t size, size_t room, int flags,
		       struct sockaddr *addr, socklen_t *len)
{
	if (size > room)
		abort();
	return recvfrom(fd, buf, size, flags, addr, len);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct msghdr copy = *msg;
	const struct sockaddr *addr = msg->msg_name;
	socklen_t len = msg->msg_namelen;
	struct sockaddr_in6 sin6;

	ready();
	if (!addr || !fd_is_mapped(fd))
		return real_sendmsg(fd, msg, flags);
	if (!to_v6(&addr, &len, &sin6))
		return -1;
	copy.msg_name = (void *)addr;
	copy.msg_namelen = len;
	return real_sendmsg(fd, &copy, flags);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr *addr = msg->msg_name;
	socklen_t room = msg->msg_namelen;
	struct sockaddr_in6 sin6;
	ssize_t n;

	ready();
	if (!addr || !fd_is_mapped(fd))
		return real_recvmsg(fd, msg, flags);
	msg->msg_name = &sin6;
	msg->msg_namelen = sizeof(sin6);
	n = real_recvmsg(fd, msg, flags);
	if (n >= 0)
		to_v4(&sin6, msg->msg_namelen, addr, &room);
	msg->msg_name = addr;
	msg->msg_namelen = room;
	return n;
}

/* One by one: mapped programs are not what these two calls are for. */
int sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	unsigned int i;
	ssize_t sent;

	ready();
	if (!fd_is_mapped(fd))
		return real_sendmmsg(fd, msgs, n, flags);
	for (i = 0; i < n; i++) {
		sent = sendmsg(fd, &msgs[i].msg_hdr, flags);
		if (sent < 0)
			return i ? (int)i : -1;
		msgs[i].msg_len = sent;
	}
	return n;
}

int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *timeout)
{
	unsigned int i;
	ssize_t got;

	ready();
	if (!fd_is_mapped(fd))
		return real_recvmmsg(fd, msgs, n, flags, timeout);
	for (i = 0; i < n; i++) {
		got = recvmsg(fd, &msgs[i].msg_hdr,
			      (flags & ~MSG_WAITFORONE) |
			      (i && (flags & MSG_WAITFORONE) ? MSG_DONTWAIT : 0));
		if (got < 0)
			return i ? (int)i : -1;
		msgs[i].msg_len = got;
	}
	return n;
}

/* The IPv6 option of the same meaning and type, or -1. */
static int option_of(int optname)
{
	switch (optname) {
	case IP_TOS:		return IPV6_TCLASS;
	case IP_TTL:		return IPV6_UNICAST_HOPS;
	case IP_MTU_DISCOVER:	return IPV6_MTU_DISCOVER;
	case IP_RECVERR:	return IPV6_RECVERR;
	case IP_FREEBIND:	return IPV6_FREEBIND;
	default:		return -1;
	}
}

int setsockopt(int fd, int level, int optname, const void *val, socklen_t len)
{
	ready();
	if (fd_is_mapped(fd) && level == IPPROTO_IP && option_of(optname) >= 0) {
		level = IPPROTO_IPV6;
		optname = option_of(optname);
	}
	return real_setsockopt(fd, level, optname, val, len);
}

int getsockopt(int fd, int level, int optname, void *val, socklen_t *len)
{
	int domain = AF_INET;

	ready();
	if (!fd_is_mapped(fd))
		return real_getsockopt(fd, level, optname, val, len);
	if (level == SOL_SOCKET && optname == SO_DOMAIN && *len >= sizeof(domain)) {
		memcpy(val, &domain, sizeof(domain));
		*len = sizeof(domain);
		return 0;
	}
	if (level == IPPROTO_IP && option_of(optname) >= 0) {
		level = IPPROTO_IPV6;
		optname = option_of(optname);
	}
	return real_getsockopt(fd, level, optname, val, len);
}

int dup(int fd)
{
	int copy;

	ready();
	copy = real_dup(fd);
	remember(copy, fd_is_mapped(fd));
	return copy;
}

int dup2(int fd, int to)
{
	int copy;

	ready();
	copy = real_dup2(fd, to);
	remember(copy, fd_is_mapped(fd));
	return copy;
}

int dup3(int fd, int to, int flags)
{
	int copy;

	ready();
	copy = real_dup3(fd, to, flags);
	remember(copy, fd_is_mapped(fd));
	return copy;
}
