/* SPDX-License-Identifier: GPL-2.0 */
/* The header of the PROXY protocol, versions 1 and 2. Pure: see pure.h. */
#ifndef _KHTTPD_PROXYHEAD_H
#define _KHTTPD_PROXYHEAD_H

#include "pure.h"

/* Longest header that is read; nginx has the same limit. */
#define KHTTPD_PROXYHEAD_MAX	4096
/* Longest value of PP2_TYPE_SSL. */
#define KHTTPD_PROXYHEAD_TLS	512
/* Longest that is made: with addresses of IPv6 and that value. */
#define KHTTPD_PROXYHEAD_MADE	(16 + 36 + 3 + KHTTPD_PROXYHEAD_TLS)

enum khttpd_proxyhead_result {
	KHTTPD_PROXYHEAD_MORE,	/* may be one, and is not whole */
	KHTTPD_PROXYHEAD_DONE,
	KHTTPD_PROXYHEAD_BAD,	/* is none */
};

/**
 * struct khttpd_endpoint - one end of a connection
 * @address: of IPv6, or of IPv4 mapped into it
 * @port: in host byte order
 */
struct khttpd_endpoint {
	u8 address[16];
	u16 port;
};

/**
 * struct khttpd_proxyhead - what a proxy says
 * @len: bytes of the header
 * @named: it says for whom it speaks; if not, it speaks for itself
 * @client: who connected to the proxy
 */
struct khttpd_proxyhead {
	u32 len;
	bool named;
	struct khttpd_endpoint client;
};

/**
 * struct khttpd_proxyhead_tls - what is said of TLS
 * @value: a whole value of PP2_TYPE_SSL, or NULL; then the others count
 * @len: its length
 * @version: name of the version
 * @cipher: name of the cipher, or NULL
 */
struct khttpd_proxyhead_tls {
	const u8 *value;
	size_t len;
	const char *version;
	const char *cipher;
};

enum khttpd_proxyhead_result khttpd_proxyhead_parse(struct khttpd_proxyhead *head, const u8 *data,
						    size_t len);
bool khttpd_proxyhead_tls_good(const u8 *value, size_t len);
size_t khttpd_proxyhead_make(u8 *to, const struct khttpd_endpoint *client,
			     const struct khttpd_endpoint *server,
			     const struct khttpd_proxyhead_tls *tls);

#endif /* _KHTTPD_PROXYHEAD_H */
