/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes and offsets of members. */
#pragma once

#include <stddef.h>
#include_next <linux/stddef.h>

#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof_field(type, member))
