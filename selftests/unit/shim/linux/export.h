/* SPDX-License-Identifier: GPL-2.0 */
/* Part of compiler.h here. */
#pragma once

#include <linux/compiler.h>
