/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's socket addresses. */
#pragma once

#include <sys/socket.h>
#include_next <linux/socket.h>
