// SPDX-License-Identifier: GPL-2.0
/* Interface identifiers by RFC 7217: a keyed function of prefix, interface and
 * DAD_Counter. Network_ID is not used: an Ethernet has none. Pure.
 */
#include <linux/types.h>

#include "../compat/unaligned.h"
#include "iid.h"

/* Reserved identifiers, RFC 5453 section 3. */
#define NET6_IID_ANYCAST_ROUTER	0x0000000000000000ULL	/* RFC 4291 2.6.1 */
#define NET6_IID_IANA_FIRST	0x02005efffe000000ULL	/* made from IANA's OUI */
#define NET6_IID_IANA_LAST	0x02005efffeffffffULL
#define NET6_IID_ANYCAST_FIRST	0xfdffffffffffff80ULL	/* RFC 2526 */
#define NET6_IID_ANYCAST_LAST	0xfdffffffffffffffULL

/**
 * net6_iid_reserved() - is this identifier set aside by RFC 5453?
 * @iid: 8 bytes
 *
 * Context: any. Return: true if no interface may use it.
 */
bool net6_iid_reserved(const u8 iid[8])
{
	u64 id = get_unaligned_be64(iid);

	return id == NET6_IID_ANYCAST_ROUTER ||
	       (id >= NET6_IID_IANA_FIRST && id <= NET6_IID_IANA_LAST) ||
	       (id >= NET6_IID_ANYCAST_FIRST && id <= NET6_IID_ANYCAST_LAST);
}

/**
 * net6_iid_make() - RID = F(Prefix, Net_Iface, DAD_Counter, secret_key)
 * @secret: secret_key, 128 bits
 * @prefix: upper half of the address
 * @net_iface: Net_Iface: the interface's modified EUI-64 identifier, so that the
 *	result stays with the hardware and not with its name or index
 * @dad_counter: how many identifiers for this prefix were duplicates before
 * @iid: result, 8 bytes
 *
 * F is SipHash-2-4, a pseudorandom function of 64 bits. Its output is the whole identifier;
 * without the key it is neither computable nor reversible (RFC 7217 section 5). A reserved result
 * is passed over by a further round (section 5, step 4), which is counted apart from DAD_Counter.
 * Context: any.
 */
void net6_iid_make(const siphash_key_t *secret, const u8 prefix[8], const u8 net_iface[8],
		   u8 dad_counter, u8 iid[8])
{
	unsigned int round = 0;

	do {
		put_unaligned_be64(siphash_3u64(get_unaligned_be64(prefix),
						get_unaligned_be64(net_iface),
						(u64)round++ << 8 | dad_counter, secret), iid);
	} while (net6_iid_reserved(iid));
}
