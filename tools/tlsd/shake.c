// SPDX-License-Identifier: GPL-2.0
/* A handshake, done by OpenSSL on the connection itself. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include "tlsd.h"

/* Ciphers that the kernel's record layer can go on with: always, and if it has ChaCha20. */
#define CIPHERS_13	"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"
#define CIPHERS_12	"ECDHE+AESGCM:!PSK:!aNULL"
#define CHACHA_13	"TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:" \
			"TLS_AES_256_GCM_SHA384"
#define CHACHA_12	"ECDHE+AESGCM:ECDHE+CHACHA20:!PSK:!aNULL"

/* RFC 7301: HTTP/1.1 is all there is; who offers other things only is told so. */
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
			   const unsigned char *in, unsigned int in_len, void *data)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *chosen;

	(void)ssl;
	(void)data;
	if (SSL_select_next_proto(&chosen, out_len, ours, sizeof(ours) - 1, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* Is it the listener's site, or behind it? */
static bool belongs(const struct site *site, const struct site *front)
{
	return site->ctx && (site == front || !strcmp(site->behind, front->name));
}

/* The listener's site says who is let in, whoever's certificate the client gets. */
static bool keep_judge(SSL *ssl, const struct site *front)
{
	struct stack_st_X509_NAME *names;

	if (!*front->client_ca)
		return true;
	names = SSL_dup_CA_list(SSL_CTX_get_client_CA_list(front->ctx));
	if (!names)
		return false;
	SSL_set_client_CA_list(ssl, names);
	return SSL_set1_verify_cert_store(ssl, SSL_CTX_get_cert_store(front->ctx)) == 1 &&
	       SSL_set_session_id_context(ssl, (const void *)front->judged,
					  sizeof(front->judged)) == 1;
}

/* RFC 6066 section 3. The site and those behind it are asked in order: the first one counts whose
 * certificate is for that name. For a name that none has it is the listener's own.
 */
static int select_certificate(SSL *ssl, int *alert, void *data)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	const struct shake *shake = SSL_get_app_data(ssl);
	const struct site *site;

	(void)data;
	if (!name)
		return SSL_TLSEXT_ERR_NOACK;
	for (site = shake->sites; site; site = site->next) {
		if (!belongs(site, shake->site) ||
		    X509_check_host(SSL_CTX_get0_certificate(site->ctx), name, 0, 0, NULL) != 1)
			continue;
		if (site == shake->site)
			return SSL_TLSEXT_ERR_OK;
		SSL_set_SSL_CTX(ssl, site->ctx);
		if (keep_judge(ssl, shake->site))
			return SSL_TLSEXT_ERR_OK;
		*alert = SSL_AD_INTERNAL_ERROR;
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	}
	return SSL_TLSEXT_ERR_NOACK;
}

/* Each line of the key log costs as much as a small reply. One is needed, which comes when the
 * client's last message has been read: so it is written from our own last one on.
 */
static void note_step(const SSL *ssl, int where, int ret)
{
	struct shake *shake = SSL_get_app_data(ssl);

	(void)ret;
	if (shake->last || where != SSL_CB_ACCEPT_LOOP || SSL_get_state(ssl) != TLS_ST_SW_FINISHED)
		return;
	shake->last = true;
	SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(ssl), note_secret);
}

void prepare_context(SSL_CTX *ctx, uint32_t ciphers)
{
	bool chacha = ciphers & KHTTPD_TLS_CHACHA20_POLY1305;

	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_ciphersuites(ctx, chacha ? CHACHA_13 : CIPHERS_13);
	SSL_CTX_set_cipher_list(ctx, chacha ? CHACHA_12 : CIPHERS_12);
	SSL_CTX_set_options(ctx, SSL_OP_ENABLE_KTLS | SSL_OP_NO_RENEGOTIATION |
			    SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
			    SSL_OP_PRIORITIZE_CHACHA);
	/* Records one by one: nothing behind the handshake is read. */
	SSL_CTX_set_read_ahead(ctx, 0);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"khttpd", 6);
	SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
	SSL_CTX_set_tlsext_servername_callback(ctx, select_certificate);
	SSL_CTX_set_info_callback(ctx, note_step);
	/* A client that resumes gets another one. */
	SSL_CTX_set_num_tickets(ctx, 1);
}

/* Return: 0, or -1 if it cannot begin. */
int begin_shake(struct shake *shake)
{
	shake->ssl = SSL_new(shake->site->ctx);
	if (!shake->ssl)
		return -1;
	SSL_set_app_data(shake->ssl, shake);
	if (SSL_set_fd(shake->ssl, shake->fd) != 1)
		return -1;
	SSL_set_accept_state(shake->ssl);
	return 0;
}

/* It is done: can the kernel go on with it? */
static int hand_to_kernel(struct shake *shake)
{
	if (SSL_has_pending(shake->ssl)) {
		say("site %s: data came with the handshake", shake->site->name);
		return -1;
	}
	if (!BIO_get_ktls_send(SSL_get_wbio(shake->ssl)) ||
	    (!BIO_get_ktls_recv(SSL_get_rbio(shake->ssl)) && receive_by_kernel(shake))) {
		say("site %s: the kernel does not go on with %s %s: is module tls there?",
		    shake->site->name, SSL_get_version(shake->ssl),
		    SSL_get_cipher(shake->ssl));
		return -1;
	}
	return 0;
}

/* Return: 1 when it is done, 0 to wait for shake->events, -1 if it has failed. */
int continue_shake(struct shake *shake)
{
	int n;

	ERR_clear_error();
	/* It may be another handshake's that comes to its end. */
	SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(shake->ssl), shake->last ? note_secret : NULL);
	n = SSL_do_handshake(shake->ssl);
	if (n == 1)
		return hand_to_kernel(shake) ? -1 : 1;
	switch (SSL_get_error(shake->ssl, n)) {
	case SSL_ERROR_WANT_READ:
		shake->events = EPOLLIN;
		return 0;
	case SSL_ERROR_WANT_WRITE:
		shake->events = EPOLLOUT;
		return 0;
	default:
		return -1;
	}
}

/* The connection is somebody else's business; nothing is sent. */
void end_shake(struct shake *shake)
{
	if (shake->ssl)
		SSL_set_shutdown(shake->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(shake->ssl);
	OPENSSL_cleanse(shake->secret, sizeof(shake->secret));
}
