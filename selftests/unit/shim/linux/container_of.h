/* SPDX-License-Identifier: GPL-2.0 */
/* From a member to its structure. */
#pragma once

#include <linux/types.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
