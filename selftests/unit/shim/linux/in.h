/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's protocol numbers. */
#pragma once

#include <netinet/in.h>
