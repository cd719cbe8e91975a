/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners of Multipath TCP (mptcp.c). */
#ifndef _KHTTPD_MPTCP_H
#define _KHTTPD_MPTCP_H

#include "../conn/conn.h"

struct sock *khttpd_mptcp_first(const struct socket *sock);
const struct proto_ops *khttpd_mptcp_ops(const struct socket *sock);
bool khttpd_mptcp_next(struct sock *sk);
bool khttpd_mptcp_refused(const struct khttpd_listener *listener);

#endif /* _KHTTPD_MPTCP_H */
