/* SPDX-License-Identifier: GPL-2.0 */
/* The TCP header as the kernel lays it out. */
#pragma once

#include <linux/types.h>
#include <asm/byteorder.h>
#include <linux/socket.h>
#include_next <linux/tcp.h>

struct tcp_sack_block {
	u32	start_seq;
	u32	end_seq;
};
