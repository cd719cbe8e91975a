/* SPDX-License-Identifier: GPL-2.0 */
/* Units of time, see jiffies.h. */
#pragma once

#include <linux/jiffies.h>
