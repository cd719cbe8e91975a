// SPDX-License-Identifier: GPL-2.0
/* Lists of addresses, and the header of the PROXY protocol. */
#include <arpa/inet.h>
#include "unit.h"
#include "../../khttpd/http/prefixes.c"
#include "../../khttpd/http/proxyhead.c"

static struct khttpd_prefixes list;
static struct khttpd_proxyhead head;

static bool has(const char *address)
{
	u8 bytes[16];

	unit_case(address);
	EXPECT_TRUE(khttpd_prefixes_address(address, strlen(address), bytes));
	return khttpd_prefixes_has(&list, bytes);
}

TEST(prefixes)
{
	ASSERT_TRUE(khttpd_prefixes_parse(&list, " 192.0.2.128/25\t2001:db8::/33 ::1\n"
					  "198.51.100.7 "));
	EXPECT_EQ(list.count, 4);
	EXPECT_TRUE(has("192.0.2.128"));
	EXPECT_TRUE(has("192.0.2.255"));
	EXPECT_FALSE(has("192.0.2.127"));
	EXPECT_FALSE(has("192.0.3.128"));
	EXPECT_TRUE(has("198.51.100.7"));
	EXPECT_FALSE(has("198.51.100.8"));
	EXPECT_TRUE(has("2001:db8:7fff::1"));
	EXPECT_FALSE(has("2001:db8:8000::1"));
	EXPECT_TRUE(has("::1"));
	EXPECT_FALSE(has("::2"));
	EXPECT_TRUE(has("::ffff:192.0.2.200"));
}

/* All of one family are none of the other. */
TEST(prefixes_of_families)
{
	ASSERT_TRUE(khttpd_prefixes_parse(&list, "0.0.0.0/0"));
	EXPECT_TRUE(has("203.0.113.1"));
	EXPECT_FALSE(has("2001:db8::1"));
	ASSERT_TRUE(khttpd_prefixes_parse(&list, "::/0"));
	EXPECT_FALSE(has("203.0.113.1"));
	EXPECT_TRUE(has("2001:db8::1"));
	ASSERT_TRUE(khttpd_prefixes_parse(&list, ""));
	EXPECT_FALSE(has("::1"));
}

/* As the C library reads them. */
TEST(addresses)
{
	static const char *const text[] = {
		"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
		"1::8", "1:2::7:8", "fe80::ABCD:ef01", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
		"::ffff:1.2.3.4", "0.0.0.0", "255.255.255.255", "64:ff9b::192.0.2.33",
		/* None of these. */
		"", ":", ":::", "1", "1:", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
		"1::2::3", "1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4::", "::1.2.3.4:5", "::1.2.3",
		"::12345", "::g", "1:::2", "1.2.3.4.", ".1.2.3.4", "1.2.3.256", "01.2.3.4",
		"1.2.3.4 ", " ::1", "1..2.3", "::1.2.3.04", "1:2:3:4:5:6:7:8:", "::1%1", "::/0",
	};
	u8 ours[16], theirs[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(text); i++) {
		bool v6 = strchr(text[i], ':');

		unit_case(text[i]);
		memset(theirs, 0, 10);
		memset(theirs + 10, 0xff, 2);
		EXPECT_EQ(khttpd_prefixes_address(text[i], strlen(text[i]), ours),
			  inet_pton(v6 ? AF_INET6 : AF_INET, text[i], theirs + (v6 ? 0 : 12)) == 1);
		if (khttpd_prefixes_address(text[i], strlen(text[i]), ours))
			EXPECT_MEM(ours, theirs, 16);
	}
}

TEST(no_prefixes)
{
	static const char *const bad[] = {
		"192.0.2", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/08", "192.0.2.0/-1", "/8",
		"::1/129", "2001:db8:::1", "a.example", "10.0.0.0/8,::1", "::1/1/1", "10.0.0.0/1x",
		"unix:", "1.2.3.4.5", "12345:1", "fe80::1%lo",
	};
	char many[40 * 4 + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		unit_case(bad[i]);
		EXPECT_FALSE(khttpd_prefixes_parse(&list, bad[i]));
	}
	for (i = 0; i < 40; i++)
		memcpy(many + 4 * i, "::1 ", 4);
	many[4 * KHTTPD_PREFIXES_MAX] = '\0';
	EXPECT_TRUE(khttpd_prefixes_parse(&list, many));
	many[4 * KHTTPD_PREFIXES_MAX] = ':';
	many[4 * 40] = '\0';
	EXPECT_FALSE(khttpd_prefixes_parse(&list, many));
}

/* Whole, and one byte at a time: never done before its end, and the same then. */
static enum khttpd_proxyhead_result parse(const void *data, size_t len)
{
	enum khttpd_proxyhead_result result = KHTTPD_PROXYHEAD_MORE, whole;
	u8 *copy;
	size_t i;

	for (i = 0; i <= len && result == KHTTPD_PROXYHEAD_MORE; i++) {
		copy = malloc(i ?: 1);
		memcpy(copy, data, i);
		result = khttpd_proxyhead_parse(&head, copy, i);
		free(copy);
	}
	whole = khttpd_proxyhead_parse(&head, data, len);
	EXPECT_EQ(result, whole);
	if (whole == KHTTPD_PROXYHEAD_DONE)
		EXPECT_EQ(head.len, i - 1);
	return whole;
}

static enum khttpd_proxyhead_result line(const char *text)
{
	unit_case(text);
	return parse(text, strlen(text));
}

static void is_client(const char *address, u16 port)
{
	u8 bytes[16];

	EXPECT_TRUE(head.named);
	EXPECT_TRUE(khttpd_prefixes_address(address, strlen(address), bytes));
	EXPECT_MEM(head.client.address, bytes, 16);
	EXPECT_EQ(head.client.port, port);
}

TEST(version_1)
{
	EXPECT_EQ(line("PROXY TCP4 192.0.2.1 192.0.2.2 1025 80\r\nGET / "), KHTTPD_PROXYHEAD_DONE);
	is_client("192.0.2.1", 1025);
	EXPECT_EQ(line("PROXY TCP6 2001:db8::1 ::1 65535 0\r\n"), KHTTPD_PROXYHEAD_DONE);
	is_client("2001:db8::1", 65535);
	EXPECT_EQ(line("PROXY TCP6 ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n"),
		  KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(line("PROXY UNKNOWN\r\n"), KHTTPD_PROXYHEAD_DONE);
	EXPECT_FALSE(head.named);
	EXPECT_EQ(line("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
		       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
		  KHTTPD_PROXYHEAD_DONE);
	EXPECT_EQ(head.len, 107);
	EXPECT_FALSE(head.named);
}

TEST(no_version_1)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\r\n", "PROXY\r\n", "PROXY \r\n",
		"proxy TCP4 1.1.1.1 1.1.1.1 1 1\r\n",
		"PROXY TCP4\r\n", "PROXY TCP5 1.1.1.1 1.1.1.1 1 1\r\n",
		"PROXY TCP4 1.1.1.1 1.1.1.1 1\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 \r\n",
		"PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n", "PROXY TCP4  1.1.1.1 1.1.1.1 1 1\r\n",
		"PROXY TCP4 1.1.1.1 1.1.1.1 65536 1\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1 01\r\n",
		"PROXY TCP4 1.1.1.1 1.1.1.1 -1 1\r\n", "PROXY TCP4 ::1 ::1 1 1\r\n",
		"PROXY TCP6 1.1.1.1 1.1.1.1 1 1\r\n", "PROXY TCP4 1.1.1 1.1.1.1 1 1\r\n",
		"PROXY TCP4 1.1.1.1 1.1.1.1 1 1\n", "PROXY TCP4 1.1.1.1 x 1 1\r\n",
		"PROXY UNKNOWNX\r\n", "PROXY unknown\r\n",
	};
	char longest[KHTTPD_PROXYHEAD_LINE + 3];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(line(bad[i]), KHTTPD_PROXYHEAD_BAD);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "PROXY UNKNOWN ", 14);
	memcpy(longest + KHTTPD_PROXYHEAD_LINE - 1, "\r\n", 3);
	EXPECT_EQ(line(longest), KHTTPD_PROXYHEAD_BAD);
}

static u8 packet[KHTTPD_PROXYHEAD_MAX + 16];

/* Version 2 with @size bytes behind the fixed ones. Return: its length. */
static size_t binary(u8 command, u8 family, u16 size)
{
	size_t i;

	memcpy(packet, "\r\n\r\n\0\r\nQUIT\n", 12);
	packet[12] = command;
	packet[13] = family;
	packet[14] = size >> 8;
	packet[15] = size;
	for (i = 16; i < sizeof(packet); i++)
		packet[i] = i;
	return 16 + size;
}

TEST(version_2)
{
	size_t len = binary(0x21, 0x11, 12);

	EXPECT_EQ(parse(packet, len + 5), KHTTPD_PROXYHEAD_DONE);
	is_client("16.17.18.19", 24 << 8 | 25);
	EXPECT_EQ(head.len, len);
	len = binary(0x21, 0x21, 36 + 7);
	EXPECT_EQ(parse(packet, len), KHTTPD_PROXYHEAD_DONE);
	is_client("1011:1213:1415:1617:1819:1a1b:1c1d:1e1f", 48 << 8 | 49);
	EXPECT_EQ(head.len, len);
	/* The proxy itself, no address, a socket of Unix, and datagrams. */
	EXPECT_EQ(parse(packet, binary(0x20, 0x11, 0)), KHTTPD_PROXYHEAD_DONE);
	EXPECT_FALSE(head.named);
	EXPECT_EQ(parse(packet, binary(0x21, 0x00, 3)), KHTTPD_PROXYHEAD_DONE);
	EXPECT_FALSE(head.named);
	EXPECT_EQ(parse(packet, binary(0x21, 0x31, 216)), KHTTPD_PROXYHEAD_DONE);
	EXPECT_FALSE(head.named);
	EXPECT_EQ(parse(packet, binary(0x21, 0x12, 12)), KHTTPD_PROXYHEAD_DONE);
	EXPECT_FALSE(head.named);
	EXPECT_EQ(parse(packet, binary(0x21, 0x11, KHTTPD_PROXYHEAD_MAX - 16)),
		  KHTTPD_PROXYHEAD_DONE);
}

TEST(no_version_2)
{
	EXPECT_EQ(parse(packet, binary(0x21, 0x11, 11)), KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(parse(packet, binary(0x21, 0x21, 35)), KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(parse(packet, binary(0x22, 0x11, 12)), KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(parse(packet, binary(0x11, 0x11, 12)), KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(parse(packet, binary(0x31, 0x11, 12)), KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(parse(packet, binary(0x21, 0x41, 12)), KHTTPD_PROXYHEAD_BAD);
	EXPECT_EQ(parse(packet, binary(0x21, 0x13, 12)), KHTTPD_PROXYHEAD_BAD);
	binary(0x21, 0x11, KHTTPD_PROXYHEAD_MAX - 15);
	EXPECT_EQ(parse(packet, 16), KHTTPD_PROXYHEAD_BAD);
	binary(0x21, 0x11, 12);
	packet[11] = '\r';
	EXPECT_EQ(parse(packet, 28), KHTTPD_PROXYHEAD_BAD);
}

static struct khttpd_endpoint end_of(const char *address, u16 port)
{
	struct khttpd_endpoint end = { .port = port };

	EXPECT_TRUE(khttpd_prefixes_address(address, strlen(address), end.address));
	return end;
}

TEST(made)
{
	struct khttpd_endpoint client = end_of("192.0.2.1", 1025), server = end_of("192.0.2.2", 80);
	struct khttpd_proxyhead_tls tls = {
		.version = "TLSv1.3", .cipher = "TLS_AES_128_GCM_SHA256",
	};
	u8 made[KHTTPD_PROXYHEAD_MADE];
	size_t len;

	len = khttpd_proxyhead_make(made, &client, &server, NULL);
	EXPECT_EQ(len, 28);
	EXPECT_MEM(made + 12, "\x21\x11\0\x0c\xc0\0\2\1\xc0\0\2\2\4\1\0\x50", 16);
	EXPECT_EQ(parse(made, len), KHTTPD_PROXYHEAD_DONE);
	is_client("192.0.2.1", 1025);

	client = end_of("2001:db8::1", 443);
	len = khttpd_proxyhead_make(made, &client, &server, &tls);
	EXPECT_EQ(len, 16 + 36 + 8 + 3 + 7 + 3 + 22);
	EXPECT_EQ(parse(made, len), KHTTPD_PROXYHEAD_DONE);
	EXPECT_EQ(head.len, len);
	is_client("2001:db8::1", 443);
	EXPECT_MEM(made + 52, "\x20\0\x28\1\0\0\0\1\x21\0\7TLSv1.3\x23\0\x16TLS_", 25);
}

/* What khttpd-tlsd says of TLS is taken as it is, if it fits. */
TEST(made_with_a_value)
{
	struct khttpd_endpoint client = end_of("2001:db8::1", 443);
	static u8 value[KHTTPD_PROXYHEAD_TLS] = "\7\0\0\0\0\x22\1\xf8";
	struct khttpd_proxyhead_tls tls = { .value = value, .len = sizeof(value) };
	u8 made[KHTTPD_PROXYHEAD_MADE];
	size_t len;

	memset(value + 8, 'x', sizeof(value) - 8);
	EXPECT_TRUE(khttpd_proxyhead_tls_good(value, sizeof(value)));
	len = khttpd_proxyhead_make(made, &client, &client, &tls);
	EXPECT_EQ(len, sizeof(made));
	EXPECT_EQ(parse(made, len), KHTTPD_PROXYHEAD_DONE);
	EXPECT_EQ(head.len, len);
	EXPECT_MEM(made + 52, "\x20\2\0\7\0\0\0\0\x22\1\xf8xx", 13);
	EXPECT_MEM(made + len - 2, "xx", 2);
}

static bool good(const char *value, size_t len)
{
	u8 *copy = malloc(len ?: 1);
	bool result;

	memcpy(copy, value, len);
	result = khttpd_proxyhead_tls_good(copy, len);
	free(copy);
	return result;
}

TEST(values_of_tls)
{
	static const char whole[] = "\1\0\0\0\1\x21\0\7TLSv1.3\x22\0\0\x23\0\1x";
	static char lengthy[KHTTPD_PROXYHEAD_TLS + 1] = "\1\0\0\0\1\x22\1\xf9";
	size_t len;

	/* It may end behind client and verify, and behind each of what follows. */
	for (len = 0; len < sizeof(whole); len++)
		EXPECT_EQ(good(whole, len), len == 5 || len == 15 || len == 18 || len == 22);
	EXPECT_TRUE(!good(lengthy, sizeof(lengthy)));
	EXPECT_TRUE(!good(lengthy, sizeof(lengthy) - 1));
	EXPECT_TRUE(!good("\1\0\0\0\1\x22\xff\xffx", 9));
}
