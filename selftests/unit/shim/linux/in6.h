/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's IPv6 addresses, with the kernel's member names. */
#pragma once

#include <netinet/in.h>
#include <linux/types.h>
#include <asm/byteorder.h>
