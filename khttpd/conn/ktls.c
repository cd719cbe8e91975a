// SPDX-License-Identifier: GPL-2.0
/* TLS on a connection whose handshake is done: the kernel's record layer encrypts what is
 * sent and decrypts what is received. Records that are not data come as control messages.
 */
#include <crypto/aead.h>
#include <linux/khttpd.h>
#include <linux/kmod.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tls.h>
#include "../http/proxyhead.h"
#include "../observe/stats.h"
#include "ktls.h"

/* Types of records and alerts: RFC 8446 sections 5.1 and 6, RFC 5246 section 7.2. */
#define KHTTPD_TLS_ALERT	21
#define KHTTPD_TLS_HANDSHAKE	22
#define KHTTPD_TLS_DATA		23
#define KHTTPD_TLS_WARNING	1
#define KHTTPD_TLS_FATAL	2
#define KHTTPD_TLS_CLOSE_NOTIFY	0
#define KHTTPD_TLS_UNEXPECTED	10
#define KHTTPD_TLS_BAD_MAC	20
#define KHTTPD_TLS_OVERFLOW	22
#define KHTTPD_TLS_ILLEGAL	47
#define KHTTPD_TLS_DECODE	50
#define KHTTPD_TLS_VERSION	70
#define KHTTPD_TLS_NO_RENEGOTIATION	100
/* A handshake message of TLS 1.3: RFC 8446 section 4. */
#define KHTTPD_TLS_KEY_UPDATE	24
#define KHTTPD_TLS_MESSAGE	4	/* its type and length */
/* Records that may wait, decrypted, for who reads what was only looked at. */
#define KHTTPD_TLS_RECORDS	256

/**
 * khttpd_ktls_possible() - can connections of this listener have TLS?
 * @sk: the listening socket
 *
 * The record layer of native TCP works on nothing else.
 */
bool khttpd_ktls_possible(const struct sock *sk)
{
	return READ_ONCE(sk->sk_prot)->sendmsg == tcp_sendmsg;
}

/**
 * khttpd_ktls_prepare() - have the modules loaded that connections with TLS will need
 *
 * The daemon that does the handshakes has no privileges. It would wait for the modules while
 * clients wait for it. That holds for a cipher that is missing, too: it must not even be
 * offered. They are looked for once, since each missing one costs three runs of modprobe.
 *
 * Context: process, an administrator's.
 * Return: KHTTPD_TLS_*, the ciphers that there are.
 */
u32 khttpd_ktls_prepare(void)
{
	static const struct {
		const char *name;
		u32 bit;
	} ciphers[] = {
		{ "gcm(aes)", KHTTPD_TLS_AES_GCM },
		{ "rfc7539(chacha20,poly1305)", KHTTPD_TLS_CHACHA20_POLY1305 },
	};
	static DEFINE_MUTEX(lock);
	static bool asked;
	static u32 found;
	struct crypto_aead *aead;
	u32 result;
	int i;

	mutex_lock(&lock);
	if (!asked)
		request_module("tcp-ulp-tls");
	for (i = 0; i < ARRAY_SIZE(ciphers) && !asked; i++) {
		aead = crypto_alloc_aead(ciphers[i].name, 0, 0);
		if (IS_ERR(aead))
			continue;
		found |= ciphers[i].bit;
		crypto_free_aead(aead);
	}
	asked = true;
	result = found;
	mutex_unlock(&lock);
	return result;
}

/**
 * khttpd_ktls_on() - has somebody switched TLS on, in both directions?
 * @sk: a connection, which is locked
 */
bool khttpd_ktls_on(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tls_context *ctx;

	if (sk->sk_user_data || !icsk->icsk_ulp_ops || strcmp(icsk->icsk_ulp_ops->name, "tls"))
		return false;
	ctx = tls_get_ctx(sk);
	return ctx && (ctx->tx_conf == TLS_SW || ctx->tx_conf == TLS_HW) &&
	       (ctx->rx_conf == TLS_SW || ctx->rx_conf == TLS_HW);
}

/**
 * khttpd_ktls_begin() - a connection with TLS becomes khttpd's
 * @sk: the connection, which is locked
 *
 * The receive buffer stays as it is. It bounds what one call has to decrypt, and the memory for
 * records that are looked at.
 */
void khttpd_ktls_begin(struct sock *sk)
{
	sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	/* Nobody's close() may wait. */
	sock_reset_flag(sk, SOCK_LINGER);
}

/**
 * khttpd_ktls_leave() - it becomes a server's
 * @sk: the connection, which is locked
 */
void khttpd_ktls_leave(struct sock *sk)
{
	sk->sk_userlocks &= ~SOCK_RCVBUF_LOCK;
}

/**
 * khttpd_ktls_unread() - put bytes in front of those that were decrypted
 * @sk: the connection, which is locked
 * @skb: from khttpd_transport_hold(); the record layer's
 *
 * They are a record of data that was looked at and not taken.
 */
void khttpd_ktls_unread(struct sock *sk, struct sk_buff *skb)
{
	struct tls_sw_context_rx *ctx = tls_sw_ctx_rx(tls_get_ctx(sk));
	struct strp_msg *record = strp_msg(skb);

	record->offset = 0;
	record->full_len = skb->len;
	((struct sk_skb_cb *)skb->cb)->tls.control = KHTTPD_TLS_DATA;
	__skb_queue_head(&ctx->rx_list, skb);
}

/**
 * khttpd_ktls_says() - what TLS is on a connection?
 * @sk: the connection
 * @says: set to it. Of TLS 1.2 the record layer does not know the whole name of the cipher
 */
void khttpd_ktls_says(struct sock *sk, struct khttpd_proxyhead_tls *says)
{
	const struct tls_crypto_info *info = &tls_get_ctx(sk)->crypto_recv.info;

	says->version = "TLSv1.2";
	if (info->version != TLS_1_3_VERSION)
		return;
	says->version = "TLSv1.3";
	/* RFC 8446 appendix B.4 */
	if (info->cipher_type == TLS_CIPHER_AES_GCM_128)
		says->cipher = "TLS_AES_128_GCM_SHA256";
	else if (info->cipher_type == TLS_CIPHER_AES_GCM_256)
		says->cipher = "TLS_AES_256_GCM_SHA384";
	else
		says->cipher = "TLS_CHACHA20_POLY1305_SHA256";
}

/* What is wrong with a handshake message of TLS 1.3? A key update has one byte, 0 or 1 (RFC 8446
 * section 4.6.3). Good ones come at the wrong time, here: always. Return: an alert.
 */
static u8 khttpd_ktls_wrong(const u8 *message, int len)
{
	if (len < KHTTPD_TLS_MESSAGE || message[0] != KHTTPD_TLS_KEY_UPDATE)
		return KHTTPD_TLS_UNEXPECTED;
	if (message[1] || message[2] || message[3] != 1)
		return KHTTPD_TLS_DECODE;
	if (len > KHTTPD_TLS_MESSAGE && message[KHTTPD_TLS_MESSAGE] > 1)
		return KHTTPD_TLS_ILLEGAL;
	return KHTTPD_TLS_UNEXPECTED;
}

/* A record that is not data. Return: 0 if it is the end, as RFC 8446 section 6.1 has it. A
 * handshake message would need user space once more (key update, section 4.6.3). Other alerts are
 * not answered.
 */
static int khttpd_ktls_control(const struct sock *sk, u8 type, const u8 *record, int len, u8 *alert)
{
	u16 version = tls_get_ctx(sk)->crypto_recv.info.version;

	if (type == KHTTPD_TLS_ALERT && len == 2 && record[1] == KHTTPD_TLS_CLOSE_NOTIFY)
		return 0;
	khttpd_count(tls_records);
	if (type == KHTTPD_TLS_HANDSHAKE && version != TLS_1_3_VERSION)
		*alert = KHTTPD_TLS_NO_RENEGOTIATION;
	else if (type == KHTTPD_TLS_HANDSHAKE)
		*alert = khttpd_ktls_wrong(record, len);
	else if (type != KHTTPD_TLS_ALERT || len != 2)
		*alert = KHTTPD_TLS_UNEXPECTED;
	return -EPROTO;
}

/* The record layer could make nothing of a record. It is an error of the socket, which can send as
 * before. Return: @err
 */
static int khttpd_ktls_bad(struct sock *sk, int err, u8 *alert)
{
	if (err == -EBADMSG)
		*alert = KHTTPD_TLS_BAD_MAC;
	else if (err == -EMSGSIZE)
		*alert = KHTTPD_TLS_OVERFLOW;
	else if (err == -EINVAL)
		*alert = KHTTPD_TLS_VERSION;
	else
		return err;
	sock_error(sk);
	return err;
}

/**
 * khttpd_ktls_recv() - take or look at received data, without waiting
 * @sock: a connection with TLS
 * @buf: where to
 * @len: at most, at least 2
 * @peek: leave it in the socket
 * @alert: set to what is to be said at the end, if it is a record that must not be
 *
 * Return: bytes, or 0 at the end, which is the peer's close_notify or FIN. Else a negative errno:
 * -EAGAIN if there is nothing, -EPROTO after a record that khttpd has no use for.
 */
int khttpd_ktls_recv(struct socket *sock, void *buf, size_t len, bool peek, u8 *alert)
{
	union {
		struct cmsghdr head;
		u8 room[CMSG_SPACE(sizeof(u8))];
	} control = {};
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = {
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct tls_context *ctx = tls_get_ctx(sock->sk);
	u8 type;
	int n;

	n = kernel_recvmsg(sock, &msg, &vec, 1, len, MSG_DONTWAIT | (peek ? MSG_PEEK : 0));
	if (n < 0)
		return khttpd_ktls_bad(sock->sk, n, alert);
	if (control.head.cmsg_level != SOL_TLS || control.head.cmsg_type != TLS_GET_RECORD_TYPE)
		return n ? -EPROTO : 0;
	type = *(u8 *)CMSG_DATA(&control.head);
	if (type != KHTTPD_TLS_DATA)
		return khttpd_ktls_control(sock->sk, type, buf, n, alert);
	/* Each costs more memory than it has bytes. */
	if (peek && skb_queue_len(&tls_sw_ctx_rx(ctx)->rx_list) > KHTTPD_TLS_RECORDS) {
		khttpd_count(tls_records);
		return -EPROTO;
	}
	/* A record of data may be empty. */
	return n ?: -EAGAIN;
}

/**
 * khttpd_ktls_readable() - is there a whole record?
 * @sk: a connection with TLS
 */
bool khttpd_ktls_readable(struct sock *sk)
{
	return sk_is_readable(sk);
}

/**
 * khttpd_ktls_flushed() - has TCP got all that was sent?
 * @sk: a connection with TLS, with a socket
 *
 * If not, there is a wake-up when it may have.
 */
bool khttpd_ktls_flushed(struct sock *sk)
{
	const struct tls_context *ctx = tls_get_ctx(sk);

	/* TCP wakes whoever has found no room. */
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Before the look: what goes after it wakes us. */
	smp_mb__after_atomic();
	if (READ_ONCE(sk->sk_state) == TCP_CLOSE)
		return true;
	return !READ_ONCE(ctx->partially_sent_record) &&
	       !READ_ONCE(ctx->pending_open_record_frags) &&
	       (ctx->tx_conf != TLS_SW ||
		list_empty_careful(&tls_sw_ctx_tx(ctx)->tx_list));
}

static int khttpd_ktls_alert(struct socket *sock, u8 what)
{
	union {
		struct cmsghdr head;
		u8 room[CMSG_SPACE(sizeof(u8))];
	} control = {};
	bool warning = what == KHTTPD_TLS_CLOSE_NOTIFY || what == KHTTPD_TLS_NO_RENEGOTIATION;
	u8 alert[] = { warning ? KHTTPD_TLS_WARNING : KHTTPD_TLS_FATAL, what };
	struct kvec vec = { .iov_base = alert, .iov_len = sizeof(alert) };
	struct msghdr msg = {
		.msg_control = &control,
		.msg_controllen = sizeof(control),
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
	};
	int n;

	control.head.cmsg_level = SOL_TLS;
	control.head.cmsg_type = TLS_SET_RECORD_TYPE;
	control.head.cmsg_len = CMSG_LEN(sizeof(u8));
	*(u8 *)CMSG_DATA(&control.head) = KHTTPD_TLS_ALERT;
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, sizeof(alert));
	n = sock->ops->sendmsg(sock, &msg, sizeof(alert));
	return min(n, 0);
}

/**
 * khttpd_ktls_bye() - say that nothing follows: close_notify, or what was wrong
 * @sock: a connection with TLS
 * @alert: from khttpd_ktls_recv(), or 0; what is left to say
 *
 * Return: 0; -EAGAIN if there is no room for it yet; or another error, with which it is
 * no use to try again.
 */
int khttpd_ktls_bye(struct socket *sock, u8 *alert)
{
	int err = 0;

	/* That one is a warning: the end is said, too. */
	if (*alert == KHTTPD_TLS_NO_RENEGOTIATION) {
		err = khttpd_ktls_alert(sock, *alert);
		if (!err)
			*alert = KHTTPD_TLS_CLOSE_NOTIFY;
	}
	return err ?: khttpd_ktls_alert(sock, *alert);
}
