// SPDX-License-Identifier: GPL-2.0
/* Outer and inner header of a tunnel packet, and a 6over4 option behind them: whatever
 * is let through keeps the promises of tunnel_rules.h.
 */
#include <stdlib.h>
#include "../../net6/tunnel/tunnel_rules.c"

static void packet(const u8 *data)
{
	enum net6_tunnel_kind kind = data[0] % NET6_TUNNEL_KINDS;
	struct net6_tunnel_inner in = { .saddr = data + 12, .daddr = data + 28 };
	int tclass = net6_tunnel_ecn_in(data[1], data[2]);
	__be32 compatible;

	memcpy(&in.osaddr, data + 4, 4);
	memcpy(&in.odaddr, data + 8, 4);
	if (tclass >= 0 && ((tclass ^ data[2]) & ~3))
		abort();
	if (net6_tunnel_check(kind, &in) != NET6_TUNNEL_GOOD)
		return;
	if (!net6_tunnel_v4_unicast(in.osaddr) || in.saddr[0] == 0xff)
		abort();
	if (net6_tunnel_v4_compatible(in.saddr, &compatible) && !net6_tunnel_v4_unicast(compatible))
		abort();
	if (kind == NET6_TUNNEL_AUTOMATIC && compatible != in.osaddr)
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct net6_tunnel_fit fit;
	__be32 addr;
	u32 mtu;

	if (size < 44)
		return 0;
	packet(data);
	memcpy(&mtu, data + 4, 4);
	fit = net6_tunnel_fit(mtu, data[0] & 1, 1480);
	if (fit.mtu < 1280 || fit.mtu > 1480 || (fit.df && fit.mtu + 20 > mtu))
		abort();
	net6_tunnel_error(data[2], data[3]);
	if (!net6_6over4_read_option(data + 44, size - 44, &addr) && !net6_tunnel_v4_unicast(addr))
		abort();
	return 0;
}
