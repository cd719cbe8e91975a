/* SPDX-License-Identifier: GPL-2.0 */
/* Byte order; user space runs on a little-endian machine. */
#pragma once

#include <arpa/inet.h>
#include <endian.h>
#include_next <asm/byteorder.h>
#include <linux/types.h>

#define cpu_to_be16(x)	((__be16)htobe16(x))
#define cpu_to_be32(x)	((__be32)htobe32(x))
#define cpu_to_be64(x)	((__be64)htobe64(x))
#define be16_to_cpu(x)	be16toh(x)
#define be32_to_cpu(x)	be32toh(x)
#define be64_to_cpu(x)	be64toh(x)
#define cpu_to_le32(x)	htole32(x)
#define le32_to_cpu(x)	le32toh(x)
