/* SPDX-License-Identifier: GPL-2.0 */
/* See random.h. */
#pragma once

#include <linux/random.h>
