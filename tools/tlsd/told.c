// SPDX-License-Identifier: GPL-2.0
/* What a server behind is told of a connection's TLS: the value of PP2_TYPE_SSL, section 2.2.6 of
 * HAProxy's proxy-protocol.txt. The words are those that haproxy itself uses.
 */
#include <string.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>
#include "tlsd.h"

#define CLIENT_SSL	1
#define CLIENT_CERT_CONN	2	/* it was shown in this connection */
#define CLIENT_CERT_SESS	4	/* or in the one whose session is resumed */
#define SSL_VERSION	0x21
#define SSL_CN		0x22
#define SSL_CIPHER	0x23
#define SSL_SIG_ALG	0x24
#define SSL_KEY_ALG	0x25

/* Section 4.1.2.1 of X.520 has 64 characters; of UTF-8 these have up to four bytes. */
#define NAME_MAX_BYTES	256

/* Behind @at of KHTTPD_TLS_SAYS_MAX bytes. What is too long is left out: no name is cut. */
static void put(unsigned char *value, size_t *at, int type, const void *data, size_t len)
{
	if (len > KHTTPD_TLS_SAYS_MAX - 3 || *at > KHTTPD_TLS_SAYS_MAX - 3 - len)
		return;
	value[(*at)++] = type;
	value[(*at)++] = len >> 8;
	value[(*at)++] = len;
	memcpy(value + *at, data, len);
	*at += len;
}

static void put_text(unsigned char *value, size_t *at, int type, const char *text)
{
	if (text)
		put(value, at, type, text, strlen(text));
}

/* A server may put the name into the head of a request, or take NUL for its end. */
static bool is_harmless(const unsigned char *name, int len)
{
	int i;

	for (i = 0; i < len; i++)
		if (name[i] < 0x20 || name[i] == 0x7f)
			return false;
	return true;
}

/* The first common name, in UTF-8. The certificate is an authority's whom the site trusts; what is
 * in it may be the client's choice.
 */
static void put_name(unsigned char *value, size_t *at, const struct shake *shake, const X509 *cert)
{
	X509_NAME *subject = X509_get_subject_name(cert);
	int i = X509_NAME_get_index_by_NID(subject, NID_commonName, -1), len;
	unsigned char *name;

	if (i < 0)
		return;
	len = ASN1_STRING_to_UTF8(&name, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)));
	if (len < 0)
		return;
	if (len > NAME_MAX_BYTES || !is_harmless(name, len))
		say("site %s: a server behind is not told a client's common name: it is too long, "
		    "or no text", shake->site->name);
	else if (len)
		put(value, at, SSL_CN, name, len);
	OPENSSL_free(name);
}

/* "RSA2048", as haproxy has it; of kinds without a size that would say something nothing. */
static void put_key(unsigned char *value, size_t *at, const X509 *cert)
{
	EVP_PKEY *key = X509_get0_pubkey(cert);
	char text[24];

	if (EVP_PKEY_is_a(key, "RSA"))
		snprintf(text, sizeof(text), "RSA%d", EVP_PKEY_get_bits(key));
	else if (EVP_PKEY_is_a(key, "EC"))
		snprintf(text, sizeof(text), "EC%d", EVP_PKEY_get_bits(key));
	else
		return;
	put_text(value, at, SSL_KEY_ALG, text);
}

/* Our own certificate, which the client got: what its key is, and with what it was signed. */
static void put_own(unsigned char *value, size_t *at, const X509 *cert)
{
	const ASN1_OBJECT *algorithm;

	if (!cert)
		return;
	put_key(value, at, cert);
	X509_ALGOR_get0(&algorithm, NULL, NULL, X509_get0_tbs_sigalg(cert));
	put_text(value, at, SSL_SIG_ALG, OBJ_nid2sn(OBJ_obj2nid(algorithm)));
}

/* Without a certificate nothing was verified, which is not 0. Return: length of @value. */
size_t tell(const struct shake *shake, unsigned char value[KHTTPD_TLS_SAYS_MAX])
{
	const X509 *cert = SSL_get0_peer_certificate(shake->ssl);
	long verify = cert ? SSL_get_verify_result(shake->ssl) : 1;
	size_t at = 0;
	int shift;

	value[at++] = CLIENT_SSL;
	for (shift = 24; shift >= 0; shift -= 8)
		value[at++] = verify >> shift;
	put_text(value, &at, SSL_VERSION, SSL_get_version(shake->ssl));
	if (cert) {
		value[0] |= CLIENT_CERT_SESS;
		if (!SSL_session_reused(shake->ssl))
			value[0] |= CLIENT_CERT_CONN;
		put_name(value, &at, shake, cert);
	}
	put_own(value, &at, SSL_get_certificate(shake->ssl));
	put_text(value, &at, SSL_CIPHER, SSL_get_cipher_name(shake->ssl));
	return at;
}
