/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet. */
#pragma once

#include_next <linux/if_ether.h>
