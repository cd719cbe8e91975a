// SPDX-License-Identifier: GPL-2.0
/* Before 3.2 OpenSSL leaves receiving to the kernel with TLS 1.2 only. For TLS 1.3 the key is
 * asked for by its public interface: the secret of the key log, and its own derivation.
 */
#include <ctype.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/tcp.h>
#include <linux/tls.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include "tlsd.h"

#ifndef SOL_TLS
#define SOL_TLS	282
#endif

/* All kinds that the kernel knows of those that we offer. */
union key {
	struct tls_crypto_info info;
	struct tls12_crypto_info_aes_gcm_128 aes128;
	struct tls12_crypto_info_aes_gcm_256 aes256;
	struct tls12_crypto_info_chacha20_poly1305 chacha;
};

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* "CLIENT_TRAFFIC_SECRET_0 RANDOM SECRET", both in hexadecimal */
void note_secret(const SSL *ssl, const char *line)
{
	static const char label[] = "CLIENT_TRAFFIC_SECRET_0 ";
	struct shake *shake = SSL_get_app_data(ssl);
	const char *hex;

	if (strncmp(line, label, sizeof(label) - 1))
		return;
	hex = strrchr(line, ' ') + 1;
	shake->secret_len = 0;
	while (isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]) &&
	       shake->secret_len < sizeof(shake->secret)) {
		shake->secret[shake->secret_len++] = digit(hex[0]) << 4 | digit(hex[1]);
		hex += 2;
	}
}

/* RFC 8446 section 7.1, HKDF-Expand-Label without context. */
static bool derive(const struct shake *shake, const EVP_MD *md, const char *label,
		   unsigned char *out, size_t len)
{
	int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						 (char *)EVP_MD_get0_name(md), 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)shake->secret,
						  shake->secret_len),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, (void *)"tls13 ", 6),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, (void *)label,
						  strlen(label)),
		OSSL_PARAM_construct_end(),
	};
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS13-KDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	bool done = ctx && EVP_KDF_derive(ctx, out, len, params) == 1;

	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return done;
}

/* Return: length of what the kernel wants, or 0. */
static size_t fill(union key *key, const SSL_CIPHER *cipher, const unsigned char *secret,
		   const unsigned char *iv)
{
	key->info.version = TLS_1_3_VERSION;
	switch (SSL_CIPHER_get_protocol_id(cipher)) {
	case 0x1301:
		key->info.cipher_type = TLS_CIPHER_AES_GCM_128;
		memcpy(key->aes128.key, secret, sizeof(key->aes128.key));
		memcpy(key->aes128.salt, iv, sizeof(key->aes128.salt));
		memcpy(key->aes128.iv, iv + sizeof(key->aes128.salt), sizeof(key->aes128.iv));
		return sizeof(key->aes128);
	case 0x1302:
		key->info.cipher_type = TLS_CIPHER_AES_GCM_256;
		memcpy(key->aes256.key, secret, sizeof(key->aes256.key));
		memcpy(key->aes256.salt, iv, sizeof(key->aes256.salt));
		memcpy(key->aes256.iv, iv + sizeof(key->aes256.salt), sizeof(key->aes256.iv));
		return sizeof(key->aes256);
	case 0x1303:
		key->info.cipher_type = TLS_CIPHER_CHACHA20_POLY1305;
		memcpy(key->chacha.key, secret, sizeof(key->chacha.key));
		memcpy(key->chacha.iv, iv, sizeof(key->chacha.iv));
		return sizeof(key->chacha);
	default:
		return 0;
	}
}

/* Have the kernel decrypt what comes. OpenSSL has read none of it: it takes each record by
 * itself. So the next one is the first that has this key, number 0.
 */
int receive_by_kernel(const struct shake *shake)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(shake->ssl);
	const EVP_MD *md = cipher ? SSL_CIPHER_get_handshake_digest(cipher) : NULL;
	unsigned char secret[32], iv[12];
	union key key = {};
	int err = -1;
	size_t len;

	if (!md || !shake->secret_len || SSL_version(shake->ssl) != TLS1_3_VERSION)
		return -1;
	len = SSL_CIPHER_get_protocol_id(cipher) == 0x1301 ? 16 : sizeof(secret);
	if (derive(shake, md, "key", secret, len) && derive(shake, md, "iv", iv, sizeof(iv))) {
		len = fill(&key, cipher, secret, iv);
		if (len)
			err = setsockopt(shake->fd, SOL_TLS, TLS_RX, &key, len);
	}
	OPENSSL_cleanse(&key, sizeof(key));
	OPENSSL_cleanse(secret, sizeof(secret));
	OPENSSL_cleanse(iv, sizeof(iv));
	return err;
}
