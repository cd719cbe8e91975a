// SPDX-License-Identifier: GPL-2.0
/* Any sequence of fragments of one packet, against a map of its octets. What is taken fits
 * in a payload, and the packet is whole when the map says so and not before. What comes again is
 * told from what overlaps. The map says what is there, as the kernel's inet_frag does.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../net6/core/reasm_rules.c"

static u8 map[65536];
static struct net6_reasm_piece taken[8192];

static void need(bool condition)
{
	if (!condition)
		abort();
}

/* Are all octets up to the end of the last piece there? */
static bool complete(unsigned int end)
{
	return end && !memchr(map, 0, end);
}

static bool came(const struct net6_reasm_piece *piece, unsigned int n)
{
	while (n--)
		if (taken[n].offset == piece->offset && taken[n].len == piece->len &&
		    taken[n].more == piece->more)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct net6_reasm_whole whole = { 0 };
	struct net6_reasm_piece piece;
	unsigned int end = 0, last = 0, n = 0;

	memset(map, 0, sizeof(map));
	for (; size >= 5; data += 5, size -= 5) {
		piece.front = data[0] & 0xf8;
		piece.offset = (data[1] << 8 | data[2]) & 0xfff8;
		piece.len = data[3] << 8 | data[4];
		piece.more = data[0] & 1;
		if (data[0] & 2)	/* most of a packet's pieces are small */
			piece.offset &= 0xff, piece.len &= 0x3f;
		if (net6_reasm_judge(&piece) != NET6_REASM_FINE)
			continue;
		end = piece.offset + piece.len;
		need(piece.len && end <= 65535 && (!piece.more || end % 8 == 0));
		if (!net6_reasm_grow(&whole, &piece)) {
			/* Two ends, or something behind the end. */
			need(last || !piece.more);
			return 0;
		}
		need(whole.len >= end);
		if (!memchr(map + piece.offset, 0, piece.len)) {
			need(net6_reasm_again(&whole, &piece) == came(&piece, n));
			if (!came(&piece, n))
				return 0;
			continue;
		}
		if (memchr(map + piece.offset, 1, piece.len))
			return 0;
		if (!piece.more)
			last = end;
		memset(map + piece.offset, 1, piece.len);
		taken[n++] = piece;
		if (net6_reasm_take(&whole, &piece)) {
			need(last && whole.len == last && complete(last));
			return 0;
		}
		need(!last || (whole.len == last && !complete(last)));
	}
	return 0;
}
