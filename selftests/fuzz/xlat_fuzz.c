// SPDX-License-Identifier: GPL-2.0
/* A packet of either IP through the translator, and what comes out back again. Whatever is taken
 * is well-formed; IPv4 comes back as it was, but for what RFC 7915 has no place for in IPv6.
 */
#include <stdlib.h>
#include <stdio.h>
#include "../unit/xlat_flat.h"

static u8 there[FLAT_MAX], back[FLAT_MAX];
static struct net6_xlat_eam eams[2] = {
	{ { .s6_addr = { 0x20, 1, 0xd, 0xb8, 0, 1 } }, 0, 64, 1 },
	{ { .s6_addr = { 0x20, 1, 0xd, 0xb8, 0, 2 } }, 0, 120, 24 },
};

static struct net6_xlat_node by4[2], by6[2];
static struct net6_xlat_map map = {
	.prefix = { .s6_addr = { 0x20, 1, 0xd, 0xb8, 0, 64 } }, .plen = 96, .pool4_len = 24,
	.n = 2, .eams = eams, .by4 = by4, .by6 = by6,
};

static const struct net6_xlat_ctx ctx = { .map = &map, .mtu = 1500 };

/* What is to be true of a header that was written. */
static void well_formed(bool six, const u8 *packet, unsigned int len)
{
	if (six && (packet[0] >> 4 != 6 || get_unaligned_be16(packet + 4) + 40 != len))
		abort();
	if (!six && (packet[0] != 0x45 || get_unaligned_be16(packet + 2) != len ||
		     flat_checksum(packet, 20, 0)))
		abort();
}

/* The bytes of IPv4's header that RFC 7915 keeps: not the options, nor the Identification and
 * flags of a packet in one piece.
 */
static void same(const u8 *in, const u8 *out, unsigned int out_len)
{
	unsigned int ihl = (in[0] & 15) * 4, total = get_unaligned_be16(in + 2);
	bool fragment = get_unaligned_be16(in + 6) & 0x3fff;
	unsigned int at = net6_xlat_checksum_at(in[9]), i;

	if (out_len != total - ihl + 20 || in[1] != out[1] || memcmp(in + 8, out + 8, 2) ||
	    memcmp(in + 12, out + 12, 8))
		abort();
	if (fragment && (get_unaligned_be16(in + 4) != get_unaligned_be16(out + 4) ||
			 (get_unaligned_be16(in + 6) & 0x3fff) != get_unaligned_be16(out + 6)))
		abort();
	for (i = 20; i < out_len; i++) {
		/* Zeros and ones are the same sum; UDP's may have been missing. */
		if (at && (i - 20 == at || i - 20 == at + 1))
			continue;
		if (in[9] == NET6_XLAT_ICMP && (i == 22 || i == 23))
			continue;
		if (in[ihl + i - 20] != out[i])
			abort();
	}
}

static void from_four(const u8 *in, unsigned int len)
{
	unsigned int there_len, back_len;
	bool error;

	if (flat_translate(&ctx, true, in, len, there, &there_len) != NET6_XLAT_GOOD)
		return;
	well_formed(true, there, there_len);
	error = in[9] == NET6_XLAT_ICMP && net6_xlat_icmp_is_error4(in[(in[0] & 15) * 4]);
	if (flat_translate(&ctx, false, there, there_len, back, &back_len) != NET6_XLAT_GOOD) {
		if (!error)
			abort();
		return;
	}
	well_formed(false, back, back_len);
	if (!error)
		same(in, back, back_len);
}

static void from_six(const u8 *in, unsigned int len)
{
	unsigned int there_len, back_len;

	if (flat_translate(&ctx, false, in, len, there, &there_len) != NET6_XLAT_GOOD)
		return;
	well_formed(false, there, there_len);
	if (flat_translate(&ctx, true, there, there_len, back, &back_len) == NET6_XLAT_GOOD)
		well_formed(true, back, back_len);
}

/* The fuzzer does not find checksums by itself: that of an ICMP error is put right. */
static void seal(u8 *packet, unsigned int len)
{
	struct net6_xlat_plan plan = { .payload = len };
	bool four = len && packet[0] >> 4 == 4;
	enum net6_xlat_verdict verdict;
	u8 *l4;

	verdict = four ? net6_xlat_plan46(&ctx, packet, len, &plan) :
			 net6_xlat_plan64(&ctx, packet, len, 0, &plan);
	l4 = packet + plan.old_len;
	if (verdict != NET6_XLAT_GOOD || plan.payload < 8 ||
	    !net6_xlat_is_error(&plan, four, l4, plan.payload))
		return;
	put_unaligned_be16(0, l4 + 2);
	put_unaligned_be16(flat_checksum(l4, plan.payload, four ? 0 : plan.pseudo6 + plan.payload),
			   l4 + 2);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool built;
	u8 *packet;

	if (!built) {
		eams[0].addr4 = htonl(0x80000000);
		eams[1].addr4 = htonl(0xc6336400);
		if (net6_xlat_map_build(&map))
			abort();
		built = true;
	}
	if (size < 2 || size > 4096)
		return 0;
	/* In memory of its own, so that a byte behind it is found. */
	packet = malloc(size - 1);
	memcpy(packet, data + 1, size - 1);
	if (data[0] & 1)
		seal(packet, size - 1);
	from_four(packet, size - 1);
	from_six(packet, size - 1);
	free(packet);
	return 0;
}
