/* SPDX-License-Identifier: GPL-2.0 */
/* The ICMPv6 header. */
#pragma once

#include <linux/in6.h>
#include_next <linux/icmpv6.h>
