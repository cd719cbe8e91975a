// SPDX-License-Identifier: GPL-2.0
/* SYN cookies (RFC 4987 section 3.6): a listener whose queue is full keeps nothing and finds what
 * it needs in the third segment. The number has 5 bits of time, 3 bits that name an MSS, and 24
 * bits of a keyed hash. Window scale, SACK and ECN ride in the low bits of our timestamp, if the
 * peer has timestamps.
 */
#include <linux/siphash.h>

#include "../../../compat/tcp.h"
#include "conn.h"

/* One tick of the cookie clock is 2^6 s; a cookie is good in this tick and the next. */
#define NET6_TCP_COOKIE_TICK	6
#define NET6_TCP_COOKIE_AGE	1

#define NET6_TCP_COOKIE_TS_BITS	6
#define NET6_TCP_COOKIE_NO_WSCALE 0xf
#define NET6_TCP_COOKIE_SACK	BIT(4)
#define NET6_TCP_COOKIE_ECN	BIT(5)

/* What peers announce most, smallest first: default, minimum MTU, tunnels, PPPoE,
 * Ethernet, jumbo frames.
 */
static const u16 net6_tcp_cookie_mss[8] = { 536, 1220, 1340, 1380, 1420, 1440, 4312, 8940 };

static u32 net6_tcp_cookie_now(void)
{
	return (u32)(ktime_get_seconds() >> NET6_TCP_COOKIE_TICK) & 0x1f;
}

static u32 net6_tcp_cookie_mac(const struct net6_net *nn, const struct sk_buff *skb, u32 isn,
			       u32 top)
{
	const struct tcphdr *th = tcp_hdr(skb);
	const struct {
		struct in6_addr	saddr;
		struct in6_addr	daddr;
		u64		ports;
		u64		numbers;
	} __aligned(SIPHASH_ALIGNMENT) in = {
		.saddr		= ipv6_hdr(skb)->saddr,
		.daddr		= ipv6_hdr(skb)->daddr,
		.ports		= 1ULL << 32 | (u64)(__force u16)th->source << 16 |
				  (__force u16)th->dest,
		.numbers	= (u64)isn << 32 | top,
	};

	return (u32)siphash(&in, sizeof(in), &nn->secret) & 0xffffff;
}

/**
 * net6_tcp_cookie_make() - our initial sequence number for a SYN that we forget
 * @nn: namespace
 * @skb: the SYN, TCP_SKB_CB filled
 * @mss: what the peer announced
 *
 * Context: softirq.
 * Return: the cookie.
 */
u32 net6_tcp_cookie_make(const struct net6_net *nn, const struct sk_buff *skb, u16 mss)
{
	u32 i, top;

	for (i = ARRAY_SIZE(net6_tcp_cookie_mss) - 1; i; i--)
		if (mss >= net6_tcp_cookie_mss[i])
			break;
	top = net6_tcp_cookie_now() << 27 | i << 24;
	return top | net6_tcp_cookie_mac(nn, skb, TCP_SKB_CB(skb)->seq, top);
}

/**
 * net6_tcp_cookie_check() - does this ACK answer one of our cookies?
 * @nn: namespace
 * @skb: segment with ACK and without SYN, TCP_SKB_CB filled
 *
 * Context: softirq.
 * Return: the peer's MSS, rounded down, or -1.
 */
int net6_tcp_cookie_check(const struct net6_net *nn, const struct sk_buff *skb)
{
	u32 cookie = TCP_SKB_CB(skb)->ack_seq - 1;
	u32 top = cookie & 0xff000000;

	if (((net6_tcp_cookie_now() - (cookie >> 27)) & 0x1f) > NET6_TCP_COOKIE_AGE)
		return -1;
	if ((cookie & 0xffffff) !=
	    net6_tcp_cookie_mac(nn, skb, TCP_SKB_CB(skb)->seq - 1, top))
		return -1;
	return net6_tcp_cookie_mss[(cookie >> 24) & 7];
}

/**
 * net6_tcp_cookie_ts() - a timestamp that carries the options of a forgotten SYN
 * @req: what was agreed
 * @now: net6_compat_tcp_ts()
 *
 * Return: a value not above @now, less than 2^6 ms before it; the offset is not added.
 */
u32 net6_tcp_cookie_ts(const struct net6_tcp_request *req, u32 now)
{
	u32 options = req->wscale_ok ? req->snd_wscale : NET6_TCP_COOKIE_NO_WSCALE;
	u32 ts;

	if (req->sack_ok)
		options |= NET6_TCP_COOKIE_SACK;
	if (req->ecn_ok)
		options |= NET6_TCP_COOKIE_ECN;
	ts = (now & ~(BIT(NET6_TCP_COOKIE_TS_BITS) - 1)) | options;
	if (ts > now)
		ts -= BIT(NET6_TCP_COOKIE_TS_BITS);
	return ts;
}

/**
 * net6_tcp_cookie_ts_decode() - the options out of an echoed timestamp
 * @req: gets wscale, SACK and ECN
 * @ts: the echo, offset taken off
 */
void net6_tcp_cookie_ts_decode(struct net6_tcp_request *req, u32 ts)
{
	req->snd_wscale = ts & 0xf;
	req->wscale_ok = req->snd_wscale <= TCP_MAX_WSCALE;
	if (!req->wscale_ok)
		req->snd_wscale = 0;
	req->sack_ok = ts & NET6_TCP_COOKIE_SACK;
	req->ecn_ok = ts & NET6_TCP_COOKIE_ECN;
}
