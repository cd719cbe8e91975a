// SPDX-License-Identifier: GPL-2.0
/* Types, codes, pointers and path MTUs of ICMP. */
#include <asm/byteorder.h>
#include <linux/kernel.h>

#include "icmp.h"

/* RFC 792, RFC 1122, RFC 1812 */
enum {
	NET6_XLAT_ECHOREPLY4	= 0,
	NET6_XLAT_UNREACH4	= 3,
	NET6_XLAT_QUENCH4	= 4,
	NET6_XLAT_REDIRECT4	= 5,
	NET6_XLAT_ECHO4		= 8,
	NET6_XLAT_TIME4		= 11,
	NET6_XLAT_PROBLEM4	= 12,
};

/* RFC 4443 */
enum {
	NET6_XLAT_UNREACH6	= 1,
	NET6_XLAT_BIG6		= 2,
	NET6_XLAT_TIME6		= 3,
	NET6_XLAT_PROBLEM6	= 4,
	NET6_XLAT_ECHO6		= 128,
	NET6_XLAT_ECHOREPLY6	= 129,
};

#define NET6_XLAT_FRAG_NEEDED	4	/* code of NET6_XLAT_UNREACH4 */
#define NET6_XLAT_PROTO4	2	/* code: protocol unreachable */
#define NET6_XLAT_NEXT6		1	/* code of NET6_XLAT_PROBLEM6: unrecognised Next Header */
#define NET6_XLAT_NO		0xff	/* nothing corresponds */

/**
 * net6_xlat_icmp_is_error4() - does a message of this type quote a packet?
 * @type: of ICMPv4
 *
 * Context: any. Return: true if it does.
 */
bool net6_xlat_icmp_is_error4(u8 type)
{
	return type == NET6_XLAT_UNREACH4 || type == NET6_XLAT_QUENCH4 ||
	       type == NET6_XLAT_REDIRECT4 || type == NET6_XLAT_TIME4 ||
	       type == NET6_XLAT_PROBLEM4;
}

/**
 * net6_xlat_icmp_echo() - the type of an echo message in the other ICMP
 * @to6: to ICMPv6
 * @type: in the one
 * @other: set to it
 *
 * Context: any. Return: false if it is none.
 */
bool net6_xlat_icmp_echo(bool to6, u8 type, u8 *other)
{
	static const u8 four[] = { NET6_XLAT_ECHO4, NET6_XLAT_ECHOREPLY4 };
	static const u8 six[] = { NET6_XLAT_ECHO6, NET6_XLAT_ECHOREPLY6 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (type == (to6 ? four : six)[i]) {
			*other = (to6 ? six : four)[i];
			return true;
		}
	}
	return false;
}

/* RFC 1191 section 7: of a router that does not say its MTU "the greatest plateau value that is
 * less than the returned Total Length field" (RFC 7915 4.2).
 */
static u32 net6_xlat_plateau(unsigned int len)
{
	static const u16 plateaus[] = { 65535, 32000, 17914, 8166, 4352, 2002, 1492, 1280 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plateaus); i++)
		if (plateaus[i] < len)
			return plateaus[i];
	return NET6_XLAT_MIN_MTU - NET6_XLAT_IPV6 + NET6_XLAT_IPV4;
}

/* RFC 7915, figure 3. */
static u8 net6_xlat_pointer46(u8 pointer)
{
	static const u8 to[20] = {
		0, 1, 4, 4, NET6_XLAT_NO, NET6_XLAT_NO, NET6_XLAT_NO, NET6_XLAT_NO, 7, 6,
		NET6_XLAT_NO, NET6_XLAT_NO, 8, 8, 8, 8, 24, 24, 24, 24,
	};

	return pointer < ARRAY_SIZE(to) ? to[pointer] : NET6_XLAT_NO;
}

/* RFC 7915, figure 6. */
static u8 net6_xlat_pointer64(u32 pointer)
{
	static const u8 to[8] = { 0, 1, NET6_XLAT_NO, NET6_XLAT_NO, 2, 2, 9, 8 };

	if (pointer < ARRAY_SIZE(to))
		return to[pointer];
	if (pointer < NET6_XLAT_IPV6)
		return pointer < 24 ? 12 : 16;
	return NET6_XLAT_NO;
}

/* Destination Unreachable; RFC 7915 4.2 */
static bool net6_xlat_unreach46(struct net6_xlat_icmp *icmp, unsigned int quoted_len, u32 mtu)
{
	static const u8 codes[] = {
		[0] = 0, [1] = 0, [2] = NET6_XLAT_NO, [3] = 4, [4] = NET6_XLAT_NO,
		[5] = 0, [6] = 0, [7] = 0, [8] = 0, [9] = 1, [10] = 1,
		[11] = 0, [12] = 0, [13] = 1, [14] = NET6_XLAT_NO, [15] = 1,
	};
	u32 fits;

	if (icmp->code == NET6_XLAT_FRAG_NEEDED) {
		fits = icmp->value & 0xffff ?: net6_xlat_plateau(quoted_len);
		fits = min(fits + NET6_XLAT_IPV6 - NET6_XLAT_IPV4, mtu);
		icmp->type = NET6_XLAT_BIG6;
		icmp->code = 0;
		icmp->value = max_t(u32, fits, NET6_XLAT_MIN_MTU);
		return true;
	}
	icmp->value = 0;
	if (icmp->code == NET6_XLAT_PROTO4) {
		icmp->type = NET6_XLAT_PROBLEM6;
		icmp->code = NET6_XLAT_NEXT6;
		icmp->value = 6;	/* the Next Header field */
		return true;
	}
	if (icmp->code >= ARRAY_SIZE(codes) || codes[icmp->code] == NET6_XLAT_NO)
		return false;
	icmp->type = NET6_XLAT_UNREACH6;
	icmp->code = codes[icmp->code];
	return true;
}

/**
 * net6_xlat_icmp46() - what an ICMPv4 error says, in ICMPv6's words
 * @icmp: changed
 * @quoted_len: Total Length of the packet that it quotes
 * @mtu: what the translator itself takes
 *
 * Context: any. Return: false if there are no words for it.
 */
bool net6_xlat_icmp46(struct net6_xlat_icmp *icmp, unsigned int quoted_len, u32 mtu)
{
	u8 pointer;

	switch (icmp->type) {
	case NET6_XLAT_UNREACH4:
		return net6_xlat_unreach46(icmp, quoted_len, mtu);
	case NET6_XLAT_TIME4:
		icmp->type = NET6_XLAT_TIME6;
		icmp->value = 0;
		return true;
	case NET6_XLAT_PROBLEM4:
		/* Code 0: where the pointer says; 2: bad length. Both become code 0. */
		pointer = net6_xlat_pointer46(icmp->value >> 24);
		if ((icmp->code != 0 && icmp->code != 2) || pointer == NET6_XLAT_NO)
			return false;
		icmp->type = NET6_XLAT_PROBLEM6;
		icmp->code = 0;
		icmp->value = pointer;
		return true;
	}
	return false;
}

static bool net6_xlat_problem64(struct net6_xlat_icmp *icmp)
{
	u8 pointer;

	if (icmp->code == NET6_XLAT_NEXT6) {
		icmp->type = NET6_XLAT_UNREACH4;
		icmp->code = NET6_XLAT_PROTO4;
		icmp->value = 0;
		return true;
	}
	pointer = net6_xlat_pointer64(icmp->value);
	if (icmp->code || pointer == NET6_XLAT_NO)
		return false;
	icmp->type = NET6_XLAT_PROBLEM4;
	icmp->value = pointer << 24;
	return true;
}

/**
 * net6_xlat_icmp64() - what an ICMPv6 error says, in ICMPv4's words
 * @icmp: changed
 * @fragment: the packet that it quotes has a Fragment header
 * @mtu: what the translator itself takes
 *
 * Context: any. Return: false if there are no words for it.
 */
bool net6_xlat_icmp64(struct net6_xlat_icmp *icmp, bool fragment, u32 mtu)
{
	static const u8 codes[] = { 1, 10, 1, 1, 3 };
	u32 fits, less = NET6_XLAT_IPV6 - NET6_XLAT_IPV4 + (fragment ? NET6_XLAT_FRAG : 0);

	switch (icmp->type) {
	case NET6_XLAT_UNREACH6:
		if (icmp->code >= ARRAY_SIZE(codes))
			return false;
		icmp->type = NET6_XLAT_UNREACH4;
		icmp->code = codes[icmp->code];
		icmp->value = 0;
		return true;
	case NET6_XLAT_BIG6:
		/* RFC 8201 section 4: less than 1280 is nothing that a link has. */
		fits = clamp_t(u32, min(icmp->value, mtu), NET6_XLAT_MIN_MTU, 65535);
		icmp->type = NET6_XLAT_UNREACH4;
		icmp->code = NET6_XLAT_FRAG_NEEDED;
		icmp->value = fits - less;
		return true;
	case NET6_XLAT_TIME6:
		icmp->type = NET6_XLAT_TIME4;
		icmp->value = 0;
		return true;
	case NET6_XLAT_PROBLEM6:
		return net6_xlat_problem64(icmp);
	}
	return false;
}
