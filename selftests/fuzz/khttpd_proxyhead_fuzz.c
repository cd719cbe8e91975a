// SPDX-License-Identifier: GPL-2.0
/* The header of the PROXY protocol: whatever comes in front decides, what follows does not. A
 * list of addresses: what is taken has its own addresses.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../khttpd/http/prefixes.c"
#include "../../khttpd/http/proxyhead.c"

static void need(bool condition)
{
	if (!condition)
		abort();
}

/* What is an address here is one to the C library, and the same. */
static void check_address(const uint8_t *input, size_t len)
{
	char text[INET6_ADDRSTRLEN + 1] = "";
	u8 ours[16], theirs[16] = { [10] = 0xff, [11] = 0xff };
	bool v6, is;

	if (len >= sizeof(text) || memchr(input, '\0', len))
		return;
	memcpy(text, input, len);
	v6 = strchr(text, ':');
	is = khttpd_prefixes_address(text, len, ours);
	need(is == (inet_pton(v6 ? AF_INET6 : AF_INET, text, theirs + (v6 ? 0 : 12)) == 1));
	need(!is || !memcmp(ours, theirs, sizeof(ours)));
}

static void check_list(const uint8_t *input, size_t len)
{
	static struct khttpd_prefixes list;
	char *text = malloc(len + 1);
	unsigned int i;

	memcpy(text, input, len);
	text[len] = '\0';
	if (khttpd_prefixes_parse(&list, text)) {
		need(list.count <= KHTTPD_PREFIXES_MAX);
		for (i = 0; i < list.count; i++)
			need(list.prefix[i].bits <= 128 &&
			     khttpd_prefixes_has(&list, list.prefix[i].address));
	}
	free(text);
}

/* The first @len bytes of @input, with nothing behind them. */
static enum khttpd_proxyhead_result parse(struct khttpd_proxyhead *head, const uint8_t *input,
					  size_t len)
{
	enum khttpd_proxyhead_result result;
	u8 *data = malloc(len ? len : 1);

	memcpy(data, input, len);
	result = khttpd_proxyhead_parse(head, data, len);
	free(data);
	return result;
}

/* What is said of TLS: if it is good it is in the header that is made, which is good, too. */
static void check_tls(const uint8_t *input, size_t len)
{
	static const struct khttpd_endpoint end;
	struct khttpd_proxyhead_tls tls = { .len = len };
	struct khttpd_proxyhead head;
	u8 made[KHTTPD_PROXYHEAD_MADE], *value = malloc(len ? len : 1);
	size_t size;

	memcpy(value, input, len);
	if (khttpd_proxyhead_tls_good(value, len)) {
		need(len >= 5 && len <= KHTTPD_PROXYHEAD_TLS);
		tls.value = value;
		size = khttpd_proxyhead_make(made, &end, &end, &tls);
		need(size <= sizeof(made) && !memcmp(made + size - len, value, len));
		need(parse(&head, made, size) == KHTTPD_PROXYHEAD_DONE && head.len == size);
	}
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct khttpd_proxyhead head, again;
	enum khttpd_proxyhead_result result;
	u8 made[KHTTPD_PROXYHEAD_MADE];

	check_list(input, len);
	check_address(input, len);
	check_tls(input, len);
	result = parse(&head, input, len);
	need(result != KHTTPD_PROXYHEAD_MORE || len < KHTTPD_PROXYHEAD_MAX);
	if (result != KHTTPD_PROXYHEAD_DONE)
		return 0;
	need(head.len <= len && head.len <= KHTTPD_PROXYHEAD_MAX);
	need(parse(&again, input, head.len) == KHTTPD_PROXYHEAD_DONE);
	need(!memcmp(&head, &again, sizeof(head)));
	need(parse(&again, input, head.len - 1) == KHTTPD_PROXYHEAD_MORE);
	if (!head.named)
		return 0;
	len = khttpd_proxyhead_make(made, &head.client, &head.client, NULL);
	need(len <= sizeof(made) && parse(&again, made, len) == KHTTPD_PROXYHEAD_DONE);
	need(!memcmp(&head.client, &again.client, sizeof(head.client)));
	return 0;
}
