/* SPDX-License-Identifier: GPL-2.0 */
/* The IPv6 header and the headers beside it. */
#pragma once

#include <linux/in6.h>
#include_next <linux/ipv6.h>
