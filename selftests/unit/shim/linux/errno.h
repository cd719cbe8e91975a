/* SPDX-License-Identifier: GPL-2.0 */
/* Error numbers. */
#pragma once

#include_next <linux/errno.h>
