// SPDX-License-Identifier: GPL-2.0
/* What a proxy says of its client in front of the first byte: "The PROXY protocol, versions 1 & 2"
 * by Willy Tarreau, proxy-protocol.txt of HAProxy. Sections are that document's.
 */
#include "prefixes.h"
#include "proxyhead.h"

/* Section 2.1: the longest line, CRLF included. */
#define KHTTPD_PROXYHEAD_LINE	107
/* Section 2.2: signature, version and command, family and protocol, length. */
#define KHTTPD_PROXYHEAD_FIXED	16
/* Type and length of what may follow the addresses. */
#define KHTTPD_PROXYHEAD_TLV	3

#define KHTTPD_PROXYHEAD_LOCAL	0x20
#define KHTTPD_PROXYHEAD_PROXY	0x21
#define KHTTPD_PROXYHEAD_TCP4	0x11
#define KHTTPD_PROXYHEAD_TCP6	0x21
/* Section 2.2.6 */
#define KHTTPD_PROXYHEAD_SSL		0x20
#define KHTTPD_PROXYHEAD_SSL_VERSION	0x21
#define KHTTPD_PROXYHEAD_SSL_CIPHER	0x23
#define KHTTPD_PROXYHEAD_CLIENT_SSL	0x01
/* Bytes of client and verify. */
#define KHTTPD_PROXYHEAD_VERIFIED	5

static const u8 khttpd_proxyhead_signature[12] = "\r\n\r\n\0\r\nQUIT\n";
static const u8 khttpd_proxyhead_v4[12] = { [10] = 0xff, [11] = 0xff };

/* The next word of a line. Return: its length, 0 if there is none. */
static size_t khttpd_proxyhead_word(const char **at, const char *end, const char **word)
{
	const char *space;

	*word = *at;
	space = memchr(*at, ' ', end - *at);
	if (!space) {
		*at = end;
		return end - *word;
	}
	*at = space + 1;
	return space - *word;
}

/* Section 2.1: no leading zeros. */
static bool khttpd_proxyhead_port(const char *text, size_t len, u16 *port)
{
	u32 value = 0;
	size_t i;

	if (!len || len > 5 || (len > 1 && *text == '0'))
		return false;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = 10 * value + text[i] - '0';
	}
	*port = value;
	return value <= 0xffff;
}

static bool khttpd_proxyhead_address(const char *text, size_t len, bool v6, u8 *address)
{
	return len && !memchr(text, ':', len) == !v6 &&
	       khttpd_prefixes_address(text, len, address);
}

/* What follows "PROXY ", without CRLF: "TCP4 192.0.2.1 192.0.2.2 1025 80". */
static bool khttpd_proxyhead_line(struct khttpd_proxyhead *head, const char *at, const char *end)
{
	u16 server_port;
	u8 server[16];
	const char *word;
	size_t len;
	bool v6;

	len = khttpd_proxyhead_word(&at, end, &word);
	/* Section 2.1: the rest of the line is not looked at. */
	if (len == 7 && !memcmp(word, "UNKNOWN", 7))
		return true;
	if (len != 4 || memcmp(word, "TCP", 3) || (word[3] != '4' && word[3] != '6'))
		return false;
	v6 = word[3] == '6';
	len = khttpd_proxyhead_word(&at, end, &word);
	if (!khttpd_proxyhead_address(word, len, v6, head->client.address))
		return false;
	len = khttpd_proxyhead_word(&at, end, &word);
	if (!khttpd_proxyhead_address(word, len, v6, server))
		return false;
	len = khttpd_proxyhead_word(&at, end, &word);
	if (!khttpd_proxyhead_port(word, len, &head->client.port))
		return false;
	/* The last word: a space behind it would be part of it. */
	head->named = khttpd_proxyhead_port(at, end - at, &server_port);
	return head->named;
}

static enum khttpd_proxyhead_result khttpd_proxyhead_text(struct khttpd_proxyhead *head,
							  const u8 *data, size_t len)
{
	size_t seen = min_t(size_t, len, KHTTPD_PROXYHEAD_LINE);
	const u8 *end;

	if (memcmp(data, "PROXY ", min_t(size_t, len, 6)))
		return KHTTPD_PROXYHEAD_BAD;
	end = memchr(data, '\n', seen);
	if (!end)
		return len < KHTTPD_PROXYHEAD_LINE ? KHTTPD_PROXYHEAD_MORE : KHTTPD_PROXYHEAD_BAD;
	/* The shortest is "PROXY UNKNOWN\r\n". */
	if (end - data < 14 || end[-1] != '\r')
		return KHTTPD_PROXYHEAD_BAD;
	head->len = end + 1 - data;
	return khttpd_proxyhead_line(head, (const char *)data + 6, (const char *)end - 1) ?
	       KHTTPD_PROXYHEAD_DONE : KHTTPD_PROXYHEAD_BAD;
}

static u16 khttpd_proxyhead_get16(const u8 *data)
{
	return data[0] << 8 | data[1];
}

/* Section 2.2: an address of a family that is not TCP's is left out. Return: false if there is
 * less of it than its family has.
 */
static bool khttpd_proxyhead_block(struct khttpd_proxyhead *head, u8 family, const u8 *data,
				   size_t len)
{
	struct khttpd_endpoint *client = &head->client;

	if (family >> 4 > 3 || (family & 0xf) > 2)
		return false;
	if (family == KHTTPD_PROXYHEAD_TCP4) {
		if (len < 12)
			return false;
		memcpy(client->address, khttpd_proxyhead_v4, sizeof(khttpd_proxyhead_v4));
		memcpy(client->address + 12, data, 4);
		client->port = khttpd_proxyhead_get16(data + 8);
	} else if (family == KHTTPD_PROXYHEAD_TCP6) {
		if (len < 36)
			return false;
		memcpy(client->address, data, 16);
		client->port = khttpd_proxyhead_get16(data + 32);
	} else {
		return true;
	}
	head->named = true;
	return true;
}

static enum khttpd_proxyhead_result khttpd_proxyhead_binary(struct khttpd_proxyhead *head,
							    const u8 *data, size_t len)
{
	size_t size;

	if (memcmp(data, khttpd_proxyhead_signature,
		   min(len, sizeof(khttpd_proxyhead_signature))))
		return KHTTPD_PROXYHEAD_BAD;
	if (len < KHTTPD_PROXYHEAD_FIXED)
		return KHTTPD_PROXYHEAD_MORE;
	if (data[12] != KHTTPD_PROXYHEAD_LOCAL && data[12] != KHTTPD_PROXYHEAD_PROXY)
		return KHTTPD_PROXYHEAD_BAD;
	size = khttpd_proxyhead_get16(data + 14);
	if (size > KHTTPD_PROXYHEAD_MAX - KHTTPD_PROXYHEAD_FIXED)
		return KHTTPD_PROXYHEAD_BAD;
	head->len = KHTTPD_PROXYHEAD_FIXED + size;
	if (len < head->len)
		return KHTTPD_PROXYHEAD_MORE;
	if (data[12] == KHTTPD_PROXYHEAD_LOCAL)
		return KHTTPD_PROXYHEAD_DONE;
	return khttpd_proxyhead_block(head, data[13], data + KHTTPD_PROXYHEAD_FIXED, size) ?
	       KHTTPD_PROXYHEAD_DONE : KHTTPD_PROXYHEAD_BAD;
}

/**
 * khttpd_proxyhead_parse() - read a header
 * @head: set if it is whole
 * @data: the first bytes of a connection
 * @len: how many have come
 *
 * Whatever version 2 says besides the client's address is stepped over.
 *
 * Return: enum khttpd_proxyhead_result; never _MORE if there are KHTTPD_PROXYHEAD_MAX bytes.
 */
enum khttpd_proxyhead_result khttpd_proxyhead_parse(struct khttpd_proxyhead *head, const u8 *data,
						    size_t len)
{
	memset(head, 0, sizeof(*head));
	if (!len)
		return KHTTPD_PROXYHEAD_MORE;
	return *data == 'P' ? khttpd_proxyhead_text(head, data, len) :
			      khttpd_proxyhead_binary(head, data, len);
}

static u8 *khttpd_proxyhead_put16(u8 *to, u16 value)
{
	*to++ = value >> 8;
	*to++ = value;
	return to;
}

/* Section 2.2: type, length, value. */
static u8 *khttpd_proxyhead_put_text(u8 *to, u8 type, const char *text)
{
	size_t len = strlen(text);

	*to++ = type;
	to = khttpd_proxyhead_put16(to, len);
	memcpy(to, text, len);
	return to + len;
}

/**
 * khttpd_proxyhead_tls_good() - can this be said of TLS?
 * @value: a value of PP2_TYPE_SSL
 * @len: its length
 *
 * Section 2.2.6: client and verify, then further ones up to the end. What they say is not looked
 * at.
 *
 * Return: true if it is not too long, and each of those is whole.
 */
bool khttpd_proxyhead_tls_good(const u8 *value, size_t len)
{
	const u8 *at = value + KHTTPD_PROXYHEAD_VERIFIED, *end = value + len;
	size_t size;

	if (len < KHTTPD_PROXYHEAD_VERIFIED || len > KHTTPD_PROXYHEAD_TLS)
		return false;
	while (at < end) {
		if (end - at < KHTTPD_PROXYHEAD_TLV)
			return false;
		size = khttpd_proxyhead_get16(at + 1);
		at += KHTTPD_PROXYHEAD_TLV;
		if (size > end - at)
			return false;
		at += size;
	}
	return true;
}

/* Section 2.2.6: without a client's certificate none has been verified. */
static u8 *khttpd_proxyhead_put_tls_known(u8 *to, const struct khttpd_proxyhead_tls *tls)
{
	static const u8 unverified[KHTTPD_PROXYHEAD_VERIFIED] = {
		KHTTPD_PROXYHEAD_CLIENT_SSL, 0, 0, 0, 1
	};

	memcpy(to, unverified, sizeof(unverified));
	to = khttpd_proxyhead_put_text(to + sizeof(unverified), KHTTPD_PROXYHEAD_SSL_VERSION,
				       tls->version);
	if (tls->cipher)
		to = khttpd_proxyhead_put_text(to, KHTTPD_PROXYHEAD_SSL_CIPHER, tls->cipher);
	return to;
}

static u8 *khttpd_proxyhead_put_tls(u8 *to, const struct khttpd_proxyhead_tls *tls)
{
	u8 *length = to + 1, *value = to + KHTTPD_PROXYHEAD_TLV;

	*to = KHTTPD_PROXYHEAD_SSL;
	if (tls->value) {
		memcpy(value, tls->value, tls->len);
		to = value + tls->len;
	} else {
		to = khttpd_proxyhead_put_tls_known(value, tls);
	}
	khttpd_proxyhead_put16(length, to - value);
	return to;
}

static bool khttpd_proxyhead_is_v4(const struct khttpd_endpoint *end)
{
	return !memcmp(end->address, khttpd_proxyhead_v4, sizeof(khttpd_proxyhead_v4));
}

/**
 * khttpd_proxyhead_make() - write a header of version 2
 * @to: where to, KHTTPD_PROXYHEAD_MADE bytes
 * @client: for whom the connection is
 * @server: whom it had connected to
 * @tls: what is to be said of TLS, or NULL; its texts are not longer than 32 bytes, and a value
 *	is good (khttpd_proxyhead_tls_good())
 *
 * Return: how many bytes.
 */
size_t khttpd_proxyhead_make(u8 *to, const struct khttpd_endpoint *client,
			     const struct khttpd_endpoint *server,
			     const struct khttpd_proxyhead_tls *tls)
{
	bool v4 = khttpd_proxyhead_is_v4(client) && khttpd_proxyhead_is_v4(server);
	size_t skip = v4 ? sizeof(khttpd_proxyhead_v4) : 0, size = 16 - skip;
	u8 *at = to;

	memcpy(at, khttpd_proxyhead_signature, sizeof(khttpd_proxyhead_signature));
	at += sizeof(khttpd_proxyhead_signature);
	*at++ = KHTTPD_PROXYHEAD_PROXY;
	*at = v4 ? KHTTPD_PROXYHEAD_TCP4 : KHTTPD_PROXYHEAD_TCP6;
	/* The length comes last. */
	at += 3;
	memcpy(at, client->address + skip, size);
	memcpy(at + size, server->address + skip, size);
	at = khttpd_proxyhead_put16(at + 2 * size, client->port);
	at = khttpd_proxyhead_put16(at, server->port);
	if (tls)
		at = khttpd_proxyhead_put_tls(at, tls);
	khttpd_proxyhead_put16(to + 14, at - to - KHTTPD_PROXYHEAD_FIXED);
	return at - to;
}
