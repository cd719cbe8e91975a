/* SPDX-License-Identifier: GPL-2.0 */
/* A hash of a head's bytes. Whoever wants to can make heads of one hash; with a key nobody knows
 * which of many chains a head is in. Pure: see pure.h.
 */
#ifndef _KHTTPD_HEADHASH_H
#define _KHTTPD_HEADHASH_H

#include "pure.h"

/* 2^64 by the golden ratio, odd. */
#define KHTTPD_HEAD_FACTOR	0x9e3779b97f4a7c15ull

static inline u64 khttpd_head_mix(u64 hash, const u8 *bytes)
{
	u64 word;

	memcpy(&word, bytes, sizeof(word));
	return rol64((hash ^ word) * KHTTPD_HEAD_FACTOR, 29);
}

/* Of @len bytes, a word at least. It takes a word at a time, and four side by side, which a
 * processor does at once: half the instructions of xxh64().
 */
static inline u64 khttpd_head_hash(const u8 *head, u32 len, u64 key)
{
	u64 a = key + len, b = a, c = a, d = a;
	const u8 *end = head + len;
	size_t at = 0;

	for (; at + 64 < len; at += 64) {
		a = khttpd_head_mix(khttpd_head_mix(a, head + at), head + at + 32);
		b = khttpd_head_mix(khttpd_head_mix(b, head + at + 8), head + at + 40);
		c = khttpd_head_mix(khttpd_head_mix(c, head + at + 16), head + at + 48);
		d = khttpd_head_mix(khttpd_head_mix(d, head + at + 24), head + at + 56);
	}
	for (; at + 8 < len; at += 8)
		a = khttpd_head_mix(a, head + at);
	a = khttpd_head_mix(a, end - 8);
	a = (a ^ rol64(b, 17)) * KHTTPD_HEAD_FACTOR;
	a = (a ^ rol64(c, 31) ^ rol64(d, 43) ^ a >> 32) * KHTTPD_HEAD_FACTOR;
	return a ^ a >> 32;
}

#endif /* _KHTTPD_HEADHASH_H */
