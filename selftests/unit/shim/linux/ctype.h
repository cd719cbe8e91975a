/* SPDX-License-Identifier: GPL-2.0 */
/* Character classes. */
#pragma once

#include <ctype.h>
