/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers at any address. */
#pragma once

#include <asm/byteorder.h>
#include <string.h>

#define __SHIM_UNALIGNED(bits, order, conv_in, conv_out)			\
static inline u##bits get_unaligned_##order##bits(const void *p)	\
{									\
	u##bits v;							\
									\
	memcpy(&v, p, sizeof(v));					\
	return conv_in(v);						\
}									\
									\
static inline void put_unaligned_##order##bits(u##bits val, void *p)	\
{									\
	u##bits v = conv_out(val);					\
									\
	memcpy(p, &v, sizeof(v));					\
}

__SHIM_UNALIGNED(16, be, be16toh, htobe16)
__SHIM_UNALIGNED(32, be, be32toh, htobe32)
__SHIM_UNALIGNED(64, be, be64toh, htobe64)
__SHIM_UNALIGNED(16, le, le16toh, htole16)
__SHIM_UNALIGNED(32, le, le32toh, htole32)
__SHIM_UNALIGNED(64, le, le64toh, htole64)
#undef __SHIM_UNALIGNED

#define get_unaligned(ptr) ({			\
	__typeof__(*(ptr)) __v;			\
	memcpy(&__v, ptr, sizeof(__v));		\
	__v; })
#define put_unaligned(val, ptr) do {		\
	__typeof__(*(ptr)) __v = (val);		\
	memcpy(ptr, &__v, sizeof(__v));		\
} while (0)
