/* SPDX-License-Identifier: GPL-2.0 */
/* A hash of bytes with a key; another one than the kernel's, FNV-1a. */
#pragma once

#include <linux/types.h>

static inline u64 xxh64(const void *bytes, size_t len, u64 key)
{
	u64 hash = 0xcbf29ce484222325ULL ^ key;
	const u8 *byte = bytes;

	while (len--)
		hash = (hash ^ *byte++) * 0x100000001b3ULL;
	return hash ^ hash >> 32;
}
