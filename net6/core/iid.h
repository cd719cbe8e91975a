/* SPDX-License-Identifier: GPL-2.0 */
/* Interface identifiers that are stable, opaque and ours (RFC 7217). */
#ifndef _NET6_IID_H
#define _NET6_IID_H

#include <linux/siphash.h>
#include <linux/types.h>

void net6_iid_make(const siphash_key_t *secret, const u8 prefix[8], const u8 net_iface[8],
		   u8 dad_counter, u8 iid[8]);
bool net6_iid_reserved(const u8 iid[8]);

#endif /* _NET6_IID_H */
