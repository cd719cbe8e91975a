/* SPDX-License-Identifier: GPL-2.0 */
/* Part of kernel.h here. */
#pragma once

#include <linux/kernel.h>
