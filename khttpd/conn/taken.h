/* SPDX-License-Identifier: GPL-2.0 */
/* How much a peer has taken of what was sent to it, and how much it has room for. The same for
 * every family: net6's connections are a struct tcp_sock too.
 */
#ifndef _KHTTPD_TAKEN_H
#define _KHTTPD_TAKEN_H

#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include "conn.h"

/* Bytes in the socket, FIN included, that the peer has not acknowledged. */
static inline u32 khttpd_unacked(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
}

/* Has the peer room for all that is in the socket (RFC 9293 section 3.3.1, SND.WND)? Then
 * TCP brings it there by itself, as fast as the path allows and whatever the client does.
 */
static inline bool khttpd_offered(const struct sock *sk)
{
	return khttpd_unacked(sk) <= READ_ONCE(tcp_sk(sk)->snd_wnd) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

/* Nobody will look after it any more: TCP itself gives up a peer that takes nothing. */
static inline void khttpd_leave_to_tcp(struct sock *sk)
{
	WRITE_ONCE(inet_csk(sk)->icsk_user_timeout, READ_ONCE(khttpd_limits.send_timeout));
}

#endif /* _KHTTPD_TAKEN_H */
