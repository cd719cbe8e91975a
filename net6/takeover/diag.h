/* SPDX-License-Identifier: GPL-2.0 */
/* sock_diag in takeover mode: between what is told of sockets (diag.c) and who asks
 * (diag_request.c).
 */
#ifndef _NET6_DIAG_H
#define _NET6_DIAG_H

#include <linux/types.h>

struct inet_diag_req_v2;
struct netlink_callback;
struct nlmsghdr;
struct sk_buff;
struct sock;
struct tcp_sock;
struct user_namespace;

/**
 * struct net6_diag - an answer
 * @skb: message
 * @nlh: header of the request
 * @portid: who asks
 * @flags: of each message, NLM_F_*
 * @req: what is asked for
 * @userns: user namespace that ids are told in
 * @copy: for net6_tcp_info(), if that is asked for
 * @net_admin: the requester may see marks
 */
struct net6_diag {
	struct sk_buff			*skb;
	const struct nlmsghdr		*nlh;
	u32				portid;
	u16				flags;
	const struct inet_diag_req_v2	*req;
	struct user_namespace		*userns;
	struct tcp_sock			*copy;
	bool				net_admin;
};

int net6_diag_init_one(struct net6_diag *d, struct sk_buff *skb, struct sk_buff *to,
		       const struct nlmsghdr *nlh, const struct inet_diag_req_v2 *req);
int net6_diag_tcp(struct sock *sk, void *arg);
int net6_diag_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* _NET6_DIAG_H */
