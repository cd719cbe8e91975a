/* SPDX-License-Identifier: GPL-2.0 */
/* SipHash-2-4, as the kernel's siphash() and siphash_*u64(). */
#pragma once

#include <string.h>
#include <linux/types.h>

typedef struct {
	u64 key[2];
} siphash_key_t;

#define SHIM_ROTL(x, b)	(((x) << (b)) | ((x) >> (64 - (b))))

static inline void shim_sipround(u64 v[4])
{
	v[0] += v[1];
	v[1] = SHIM_ROTL(v[1], 13) ^ v[0];
	v[0] = SHIM_ROTL(v[0], 32);
	v[2] += v[3];
	v[3] = SHIM_ROTL(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = SHIM_ROTL(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = SHIM_ROTL(v[1], 17) ^ v[2];
	v[2] = SHIM_ROTL(v[2], 32);
}

/* Of @n words and of @last, which ends in the length. */
static inline u64 shim_siphash(const u64 *word, unsigned int n, u64 last,
			       const siphash_key_t *key)
{
	u64 v[4] = {
		0x736f6d6570736575ULL ^ key->key[0], 0x646f72616e646f6dULL ^ key->key[1],
		0x6c7967656e657261ULL ^ key->key[0], 0x7465646279746573ULL ^ key->key[1],
	};
	unsigned int i;

	for (i = 0; i <= n; i++) {
		u64 m = i < n ? word[i] : last;

		v[3] ^= m;
		shim_sipround(v);
		shim_sipround(v);
		v[0] ^= m;
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		shim_sipround(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	const u64 word[] = { a, b, c };

	return shim_siphash(word, 3, 24ULL << 56, key);
}

static inline u64 siphash(const void *bytes, size_t len, const siphash_key_t *key)
{
	u64 word[64], last = (u64)len << 56;

	if (len > sizeof(word))
		__builtin_trap();
	memcpy(word, bytes, len / 8 * 8);
	memcpy(&last, (const u8 *)bytes + len / 8 * 8, len % 8);
	return shim_siphash(word, len / 8, last, key);
}
