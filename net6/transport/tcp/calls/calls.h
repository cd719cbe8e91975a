/* SPDX-License-Identifier: GPL-2.0 */
/* What programs, and modules that own connections, ask of TCP. The _locked ones want sk
 * owned.
 */
#ifndef _NET6_TCP_CALLS_H
#define _NET6_TCP_CALLS_H

#include "../tcp.h"

/* stream.c */
extern const struct proto_ops net6_stream_ops;

/* prot.c */
extern struct proto net6_tcp_prot;

int  net6_tcp_sock_init(void);
void net6_tcp_sock_exit(void);
int  net6_tcp_init_sock(struct sock *sk);
void net6_tcp_destroy_sock(struct sock *sk);
void net6_tcp_set_caps(struct sock *sk, const struct net6_dest *dest); /* GSO, checksums */

/* sendmsg.c */
int  net6_tcp_sendmsg(struct sock *sk, struct msghdr *msg, size_t size);
int  net6_tcp_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t size);

/* splice.c */
int  net6_tcp_sendpage(struct sock *sk, struct page *page, int offset, size_t size, int flags);
int  net6_tcp_sendpage_locked(struct sock *sk, struct page *page, int offset, size_t size,
			      int flags);
void net6_tcp_splice_eof(struct sock *sk);
ssize_t net6_tcp_splice_read(struct socket *sock, struct sock *sk, loff_t *ppos,
			     struct pipe_inode_info *pipe, size_t len, unsigned int flags);
int  net6_tcp_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t recv_actor);

/* recvmsg.c */
int  net6_tcp_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len);
int  net6_tcp_peek_len(const struct sock *sk);
int  net6_tcp_set_rcvlowat(struct sock *sk, int val);

/* poll.c */
__poll_t net6_tcp_poll(struct file *file, struct socket *sock, struct sock *sk,
		       struct poll_table_struct *wait);
int  net6_tcp_ioctl(struct sock *sk, int cmd, net6_compat_ioctl_arg arg);

/* tcp_sockopt.c */
int  net6_tcp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
			 unsigned int optlen);
int  net6_tcp_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
			 int __user *optlen);
void net6_tcp_info(struct sock *sk, struct tcp_info *info, struct tcp_sock *copy);

/* inkernel.c */
bool net6_tcp_user_offer(const struct sock *listener, struct sock *child);	/* RCU */
bool net6_tcp_user_joined(const struct sock *listener, struct sock *sk);

/* tcp_md5sig.c */
int  net6_tcp_set_md5sig(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen);

#endif /* _NET6_TCP_CALLS_H */
