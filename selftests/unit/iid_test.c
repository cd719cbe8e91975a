// SPDX-License-Identifier: GPL-2.0
/* Interface identifiers by RFC 7217: stable, different where they must be, never
 * reserved ones.
 */
#include "unit.h"
#include <linux/kernel.h>
#include "../../net6/core/iid.c"

static const siphash_key_t key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
static const u8 prefix_a[8] = { 0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2 };
static const u8 prefix_b[8] = { 0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 3 };
static const u8 mac_a[8] = { 0x02, 0, 0, 0xff, 0xfe, 0, 0, 1 };
static const u8 mac_b[8] = { 0x02, 0, 0, 0xff, 0xfe, 0, 0, 2 };

/* The shim must be the function that the kernel has: the vector of 24 bytes of
 * SipHash's reference code (key and input 00 01 02 ...).
 */
TEST(siphash__reference_vector)
{
	EXPECT_EQ(siphash_3u64(0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL,
			       0x1716151413121110ULL, &key), 0xb8ad50c6f649af94ULL);
}

TEST(make__same_inputs_give_the_same_identifier)
{
	u8 one[8], two[8];

	net6_iid_make(&key, prefix_a, mac_a, 0, one);
	net6_iid_make(&key, prefix_a, mac_a, 0, two);
	EXPECT_MEM(one, two, 8);
}

TEST(make__each_input_changes_it)
{
	siphash_key_t other = { { key.key[0], key.key[1] + 1 } };
	u8 base[8], iid[8];

	net6_iid_make(&key, prefix_a, mac_a, 0, base);
	net6_iid_make(&key, prefix_b, mac_a, 0, iid);
	EXPECT_TRUE(memcmp(base, iid, 8));
	net6_iid_make(&key, prefix_a, mac_b, 0, iid);
	EXPECT_TRUE(memcmp(base, iid, 8));
	net6_iid_make(&key, prefix_a, mac_a, 1, iid);
	EXPECT_TRUE(memcmp(base, iid, 8));
	net6_iid_make(&other, prefix_a, mac_a, 0, iid);
	EXPECT_TRUE(memcmp(base, iid, 8));
}

TEST(make__never_reserved_and_all_counters_differ)
{
	static u8 iid[256][8];
	unsigned int i, j;

	for (i = 0; i < 256; i++) {
		net6_iid_make(&key, prefix_a, mac_a, i, iid[i]);
		EXPECT_FALSE(net6_iid_reserved(iid[i]));
		for (j = 0; j < i; j++)
			EXPECT_TRUE(memcmp(iid[i], iid[j], 8));
	}
}

TEST(reserved__by_rfc5453)
{
	static const struct {
		const char *name;
		u8 iid[8];
		bool reserved;
	} cases[] = {
		{ "subnet-router anycast", {}, true },
		{ "one above it", { [7] = 1 }, false },
		{ "below IANA's", { 0x02, 0, 0x5e, 0xff, 0xfd, 0xff, 0xff, 0xff }, false },
		{ "IANA's first", { 0x02, 0, 0x5e, 0xff, 0xfe, 0, 0, 0 }, true },
		{ "IANA's last", { 0x02, 0, 0x5e, 0xff, 0xfe, 0xff, 0xff, 0xff }, true },
		{ "above IANA's", { 0x02, 0, 0x5e, 0xff, 0xff, 0, 0, 0 }, false },
		{ "below anycast", { 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, false },
		{ "anycast first", { 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80 }, true },
		{ "anycast last", { 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, true },
		{ "above anycast", { 0xfe }, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_case(cases[i].name);
		EXPECT_EQ(net6_iid_reserved(cases[i].iid), cases[i].reserved);
	}
}
