/* SPDX-License-Identifier: GPL-2.0 */
/* The Range field, RFC 9110 section 14. Pure: see pure.h. */
#ifndef _KHTTPD_RANGE_H
#define _KHTTPD_RANGE_H

#include "pure.h"

/* Most ranges that are answered with parts; with more the whole is sent. */
#define KHTTPD_RANGES_MAX	16

enum khttpd_ranges {
	KHTTPD_RANGES_IGNORE,		/* send the whole file */
	KHTTPD_RANGES_PART,		/* one or more parts: 206 */
	KHTTPD_RANGES_NONE,		/* none of them is in the file: 416 */
};

/**
 * struct khttpd_range - a part of a file, not empty
 * @from: offset of its first byte
 * @end: offset behind its last
 */
struct khttpd_range {
	u64 from;
	u64 end;
};

enum khttpd_ranges khttpd_ranges_parse(const u8 *s, size_t len, u64 size,
				       struct khttpd_range *range,
				       unsigned int *count);

#endif /* _KHTTPD_RANGE_H */
