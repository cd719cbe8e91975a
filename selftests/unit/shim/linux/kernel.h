/* SPDX-License-Identifier: GPL-2.0 */
/* What everybody takes from kernel.h. */
#pragma once

#include <stdio.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define ARRAY_SIZE(arr)	(sizeof(arr) / sizeof((arr)[0]))
