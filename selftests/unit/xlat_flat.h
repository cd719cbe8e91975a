/* SPDX-License-Identifier: GPL-2.0 */
/* Whole packets through the translator's pure code, in flat memory: what the module does with
 * buffers of the kernel's. For unit tests and for fuzzing.
 */
#ifndef XLAT_FLAT_H
#define XLAT_FLAT_H

#include <linux/string.h>

#include "../../xlat/map.c"
#include "../../xlat/icmp.c"
#include "../../xlat/header.c"
#include "../../xlat/quote.c"

#define FLAT_MAX	(65535 + 40 + 8)

static u16 flat_checksum(const u8 *data, unsigned int len, u32 sum)
{
	return ~net6_xlat_fold(net6_xlat_sum(data, len, sum));
}

/* The packet in @in becomes one in @out, which has FLAT_MAX bytes. */
static enum net6_xlat_verdict flat_translate(const struct net6_xlat_ctx *ctx, bool to6,
					     const u8 *in, unsigned int len, u8 *out,
					     unsigned int *out_len)
{
	struct net6_xlat_plan plan = { .payload = len };
	enum net6_xlat_verdict verdict;
	unsigned int n;
	u32 pseudo;
	u8 *l4;

	verdict = to6 ? net6_xlat_plan46(ctx, in, len, &plan) :
			net6_xlat_plan64(ctx, in, len, 0, &plan);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	in += plan.old_len;
	l4 = out + plan.new_len;
	n = plan.payload;
	if (net6_xlat_is_error(&plan, to6, in, n)) {
		pseudo = to6 ? 0 : plan.pseudo6 + n;
		if (flat_checksum(in, n, pseudo))
			return NET6_XLAT_ICMP_CSUM;
		verdict = net6_xlat_error(ctx, &plan, to6, in, n, l4, &n);
	} else {
		memcpy(l4, in, n);
		verdict = net6_xlat_transport(&plan, to6, l4, n, false);
	}
	if (verdict != NET6_XLAT_GOOD)
		return verdict;
	memcpy(out, plan.header, plan.new_len);
	*out_len = plan.new_len + n;
	if (plan.no_checksum) {
		pseudo = net6_xlat_sum(out + 8, 32, NET6_XLAT_UDP) + n;
		put_unaligned_be16(flat_checksum(l4, n, pseudo) ?: 0xffff, l4 + 6);
	}
	return NET6_XLAT_GOOD;
}

/* Is the transport's checksum right? True for those that have none. */
static bool flat_checksum_right(bool six, u8 proto, const u8 *packet, const u8 *l4,
				unsigned int len)
{
	u32 pseudo = six ? net6_xlat_sum(packet + 8, 32, len) : net6_xlat_sum(packet + 12, 8, len);

	if (proto == NET6_XLAT_ICMP)
		return !flat_checksum(l4, len, 0);
	if (proto == NET6_XLAT_UDP && !six && len >= 8 && !l4[6] && !l4[7])
		return true;
	if (proto != NET6_XLAT_ICMPV6 && !net6_xlat_checksum_at(proto))
		return true;
	return !flat_checksum(l4, len, pseudo + proto);
}

#endif /* XLAT_FLAT_H */
