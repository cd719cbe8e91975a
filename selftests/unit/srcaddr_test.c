// SPDX-License-Identifier: GPL-2.0
/* Source address selection: the rules of RFC 6724 section 5 one by one, its examples
 * of section 10.1, and that the comparison is an order.
 */
#include <arpa/inet.h>

#include "unit.h"
#include "../../net6/core/srcaddr_rules.c"

static struct in6_addr ip(const char *text)
{
	struct in6_addr addr;

	if (inet_pton(AF_INET6, text, &addr) != 1)
		abort();
	return addr;
}

static int chosen(struct net6_srcaddr *a, struct net6_srcaddr *b, const struct in6_addr *daddr,
		  const struct net6_policy *policy)
{
	struct net6_srcaddr_want want;

	net6_srcaddr_want(&want, daddr, policy);
	net6_srcaddr_judge(a, &want);
	net6_srcaddr_judge(b, &want);
	return net6_srcaddr_cmp(a, b, &want);
}

static struct net6_srcaddr candidate(const char *text)
{
	return (struct net6_srcaddr) { .addr = ip(text), .plen = 64, .outgoing = true };
}

static int cmp(const char *a, const char *b, const char *daddr)
{
	struct net6_srcaddr x = candidate(a), y = candidate(b);
	struct in6_addr d = ip(daddr);
	int forth = chosen(&x, &y, &d, &net6_policy_default);
	int back = chosen(&y, &x, &d, &net6_policy_default);

	bool agree = forth > 0 ? back < 0 : forth < 0 ? back > 0 : !back;

	if (!agree)
		unit_fail("%s and %s for %s: %d one way, %d the other", a, b, daddr, forth, back);
	return forth;
}

TEST(scope__of_all_kinds)
{
	struct in6_addr a;

	a = ip("fe80::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 2);
	a = ip("febf::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 2);
	a = ip("fec0::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 5);
	a = ip("::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 2);
	a = ip("2001:db8::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 14);
	a = ip("fd00::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 14);
	a = ip("ff02::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 2);
	a = ip("ff1e::1"); EXPECT_EQ(net6_srcaddr_scope(&a), 14);
}

TEST(label__default_policy_table)
{
	static const struct { const char *addr; u32 label; } t[] = {
		{ "::1", 0 }, { "::2", 3 }, { "::", 3 }, { "::1.2.3.4", 3 },
		{ "::ffff:1.2.3.4", 4 }, { "2001::1", 5 }, { "2001:0:ffff::1", 5 },
		{ "2001:db8::1", 1 }, { "2002:102:304::1", 2 }, { "fc00::1", 13 },
		{ "fdff::1", 13 }, { "fe00::1", 1 }, { "fec0::1", 11 }, { "3ffe::1", 12 },
		{ "fe80::1", 1 }, { "ff02::1", 1 }, { "2a00::1", 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct in6_addr a = ip(t[i].addr);

		unit_case(t[i].addr);
		EXPECT_EQ(net6_policy_label(&net6_policy_default, &a), t[i].label);
	}
}

TEST(judged__common_bits_scope_and_label)
{
	static const struct { const char *addr; u8 common, scope; bool labelled; } t[] = {
		{ "2001:db8::", 128, 14, true }, { "2001:db8:0:1::", 63, 14, true },
		{ "a001:db8::", 0, 14, true }, { "2001:db8::1", 127, 14, true },
		{ "2002::1", 14, 14, false }, { "fe80::1", 0, 2, true },
	};
	struct in6_addr d = ip("2001:db8::");
	struct net6_srcaddr_want want;
	unsigned int i;

	net6_srcaddr_want(&want, &d, &net6_policy_default);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct net6_srcaddr a = candidate(t[i].addr);

		unit_case(t[i].addr);
		net6_srcaddr_judge(&a, &want);
		EXPECT_EQ(a.common, t[i].common);
		EXPECT_EQ(a.scope, t[i].scope);
		EXPECT_EQ(a.labelled, t[i].labelled);
	}
}

TEST(rule1__same_address)
{
	EXPECT_GT(cmp("2001:db8::1", "2001:db8::2", "2001:db8::1"), 0);
	/* it goes before all other rules */
	EXPECT_GT(cmp("fe80::1", "2001:db8::2", "fe80::1"), 0);
}

TEST(rule2__appropriate_scope)
{
	/* RFC 6724 10.1, first to third example */
	EXPECT_LT(cmp("fe80::1", "2001:db8:3::1", "2001:db8:1::1"), 0);
	EXPECT_GT(cmp("fe80::1", "2001:db8:3::1", "fe80::2"), 0);
	EXPECT_GT(cmp("2001:db8:1::2", "fe80::1", "ff05::1"), 0);
	EXPECT_LT(cmp("2001:db8:1::2", "fe80::1", "ff02::1"), 0);
	EXPECT_LT(cmp("2001:db8::1", "fec0::1", "fec0::2"), 0);
}

TEST(rule7__temporary_or_public_as_configured)
{
	struct net6_srcaddr a = candidate("2001:db8:1::2"), b = candidate("2001:db8:1::3");
	struct in6_addr d = ip("2001:db8:1::3:0");

	a.privacy = true;
	EXPECT_GT(chosen(&a, &b, &d, &net6_policy_default), 0);
	EXPECT_LT(chosen(&b, &a, &d, &net6_policy_default), 0);
	a.deprecated = true;	/* rule 3 goes before */
	EXPECT_LT(chosen(&a, &b, &d, &net6_policy_default), 0);
}

TEST(rule3__avoid_deprecated)
{
	struct net6_srcaddr a = candidate("2001:db8:1::2"), b = candidate("2001:db8:3::2");
	struct in6_addr d = ip("2001:db8:1::1");

	EXPECT_GT(chosen(&a, &b, &d, &net6_policy_default), 0);
	a.deprecated = true;
	EXPECT_LT(chosen(&a, &b, &d, &net6_policy_default), 0);
	b.deprecated = true;
	EXPECT_GT(chosen(&a, &b, &d, &net6_policy_default), 0);
}

TEST(rule5__outgoing_interface)
{
	struct net6_srcaddr a = candidate("2001:db8:1::2"), b = candidate("2001:db8:3::2");
	struct in6_addr d = ip("2001:db8:1::1");

	a.outgoing = false;
	EXPECT_LT(chosen(&a, &b, &d, &net6_policy_default), 0);
}

TEST(rule5_5__a_prefix_that_the_next_hop_has_told)
{
	/* by rule 8 it would be a */
	struct net6_srcaddr a = candidate("2001:db8:1::2"), b = candidate("2001:db8:3::2");
	struct in6_addr d = ip("2001:db8:1::1");
	int told;

	a.told = -1;
	b.told = 1;
	EXPECT_LT(chosen(&a, &b, &d, &net6_policy_default), 0);
	EXPECT_GT(chosen(&b, &a, &d, &net6_policy_default), 0);
	/* what nobody has told is not worse, and not better */
	for (told = -1; told <= 1; told++) {
		a.told = 0;
		b.told = told;
		EXPECT_GT(chosen(&a, &b, &d, &net6_policy_default), 0);
		a.told = told;
		EXPECT_GT(chosen(&a, &b, &d, &net6_policy_default), 0);
	}
	/* rule 3 goes before it */
	a.told = -1;
	b.told = 1;
	b.deprecated = true;
	EXPECT_GT(chosen(&a, &b, &d, &net6_policy_default), 0);
}

TEST(rule6__matching_label)
{
	/* RFC 6724 10.1: 2002::/16 to 2002::/16, native to native */
	EXPECT_GT(cmp("2002:c633:6401::d5e3:7953:13eb:22e8", "2001:db8:1::2", "2002:c633:6401::1"),
		  0);
	EXPECT_LT(cmp("2002:c633:6401::2", "2001:db8:1::2", "2001:db8:2::1"), 0);
	EXPECT_GT(cmp("fd00::1", "2001:db8::1", "fd11::1"), 0);
}

TEST(policy__precedences_of_the_default_table)
{
	static const struct { const char *addr; u32 precedence; } t[] = {
		{ "::1", 50 }, { "2001:db8::1", 40 }, { "::ffff:1.2.3.4", 35 }, { "2002::1", 30 },
		{ "2001::1", 5 }, { "fd00::1", 3 }, { "::2", 1 }, { "fec0::1", 1 },
		{ "3ffe::1", 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct in6_addr a = ip(t[i].addr);

		unit_case(t[i].addr);
		EXPECT_EQ(net6_policy_match(&net6_policy_default, &a)->precedence,
			  t[i].precedence);
	}
}

TEST(policy__default_table_is_in_order)
{
	u32 i;

	EXPECT_EQ(net6_policy_default.n, 9);
	for (i = 1; i < net6_policy_default.n; i++)
		EXPECT_GE(net6_policy_default.entries[i - 1].plen,
			  net6_policy_default.entries[i].plen);
}

static const struct net6_policy other_policy = {
	.n = 3,
	.entries = {
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 1 },	48, 7, 9 },
		{ { 0x20, 0x01, 0x0d, 0xb8 },		32, 6, 8 },
		{ { 0x20, 0x01, 0x0d, 0xb8 },		30, 5, 7 },
	},
};

TEST(policy__longest_prefix_and_none)
{
	static const struct { const char *addr; u32 label; } t[] = {
		{ "2001:db8:1::1", 7 }, { "2001:db8:1:ffff::1", 7 }, { "2001:db8:2::1", 6 },
		{ "2001:dbb::1", 5 }, { "2001:dbc::1", NET6_POLICY_NO_LABEL },
	};
	struct net6_policy empty = { .n = 0 };
	struct in6_addr a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		a = ip(t[i].addr);
		unit_case(t[i].addr);
		EXPECT_EQ(net6_policy_label(&other_policy, &a), t[i].label);
	}
	EXPECT_EQ(net6_policy_label(&empty, &a), NET6_POLICY_NO_LABEL);
	EXPECT_TRUE(!net6_policy_match(&empty, &a));
}

TEST(rule6__by_another_table)
{
	struct net6_srcaddr a = candidate("2001:db8:1::2"), b = candidate("2001:db8:2::2");
	struct in6_addr d = ip("2001:db8:1::1:0");

	EXPECT_GT(chosen(&a, &b, &d, &other_policy), 0);
	EXPECT_LT(chosen(&b, &a, &d, &other_policy), 0);
	/* rule 8 alone would have it the other way */
	d = ip("2001:db8:0:4000::1");
	a = candidate("2001:db8:0:4000::2");
	EXPECT_GT(chosen(&a, &b, &d, &other_policy), 0);
	b = candidate("2001:db8:1::2");
	d = ip("2001:db8:1:8000::1");
	EXPECT_LT(chosen(&a, &b, &d, &other_policy), 0);
	/* rule 3 goes before */
	b.deprecated = true;
	EXPECT_GT(chosen(&a, &b, &d, &other_policy), 0);
}

TEST(rule8__longest_matching_prefix)
{
	/* RFC 6724 10.1, "Longest matching prefix" */
	EXPECT_GT(cmp("2001:db8:1::2", "2001:db8:3::2", "2001:db8:1::1"), 0);
	/* section 2.2: bits of the interface identifier do not count */
	EXPECT_EQ(cmp("2001:db8:1::2", "2001:db8:1::ff00", "2001:db8:1::3"), 0);
}

TEST(order__transitive_over_all_triples)
{
	static const char * const a[] = {
		"::1", "fe80::1", "fe80::2", "fec0::1", "fd00::1", "2001:db8::1", "2001:db8:1::2",
		"2002:102:304::1", "2001::1", "2a00::1", "3ffe::1",
	};
	static const char * const d[] = {
		"::1", "fe80::9", "ff02::1", "ff05::2", "ff1e::3", "fd11::1", "2001:db8:1::1",
		"2002:102:304::9", "2a00:1::1", "fec0::9", "2001:0:1::1",
	};
	unsigned int i, j, k, l;

	for (l = 0; l < ARRAY_SIZE(d); l++)
		for (i = 0; i < ARRAY_SIZE(a); i++)
			for (j = 0; j < ARRAY_SIZE(a); j++)
				for (k = 0; k < ARRAY_SIZE(a); k++)
					if (cmp(a[i], a[j], d[l]) >= 0 &&
					    cmp(a[j], a[k], d[l]) >= 0)
						EXPECT_GE(cmp(a[i], a[k], d[l]), 0);
}
