/* SPDX-License-Identifier: GPL-2.0 */
/* Where kernels from 6.12 on have it. */
#pragma once

#include <asm/unaligned.h>
