// SPDX-License-Identifier: GPL-2.0
/* Any bytes as an options header: the walk stays inside and its pointer too. */
#include <linux/types.h>
#include <stdlib.h>

#include "../../net6/core/exthdr_opts.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct net6_opts_limits limits = { .options = 8, .padding = 7 };
	struct net6_opts out;

	if (size < 2 || size > 2048)
		return 0;
	out = net6_opts_parse(data, size, false, &limits);
	if (out.verdict != NET6_OPTS_OK && out.pointer >= size)
		abort();
	out = net6_opts_parse(data, size, true, &limits);
	if (out.verdict != NET6_OPTS_OK && out.pointer >= size)
		abort();
	return 0;
}
