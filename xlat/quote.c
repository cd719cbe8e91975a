// SPDX-License-Identifier: GPL-2.0
/* ICMP errors, whose packets inside are translated, too: RFC 7915 4.3 and 5.3, RFC 4884. An error
 * is written anew; it is short, and not many come.
 */
#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "../net6/compat/unaligned.h"
#include "icmp.h"

#define NET6_XLAT_QUOTE_LEAST	128	/* RFC 4884 section 4: before an extension, bytes */

/**
 * struct net6_xlat_quote - the parts of an ICMP error
 * @data: packet that it quotes
 * @len: bytes of it
 * @ext: extension behind it
 * @ext_len: bytes of it
 */
struct net6_xlat_quote {
	const u8	*data;
	unsigned int	len;
	const u8	*ext;
	unsigned int	ext_len;
};

/* RFC 4884: a length in words of 32 or 64 bits says where an extension begins. */
static void net6_xlat_quote_split(struct net6_xlat_quote *quote, bool to6, const u8 *data,
				  unsigned int len)
{
	unsigned int words = to6 ? data[5] * 4 : data[4] * 8;
	bool may = to6 ? data[0] == 3 || data[0] == 11 || data[0] == 12 :
			 data[0] == 1 || data[0] == 3;

	quote->data = data + NET6_XLAT_ICMP_HEADER;
	quote->len = len - NET6_XLAT_ICMP_HEADER;
	quote->ext_len = 0;
	if (!may || !words || words >= quote->len)
		return;
	quote->ext = quote->data + words;
	quote->ext_len = quote->len - words;
	quote->len = words;
}

/* The packet inside, @room bytes of it at most. */
static enum net6_xlat_verdict net6_xlat_quote_packet(const struct net6_xlat_ctx *ctx, bool to6,
						     const struct net6_xlat_quote *quote,
						     struct net6_xlat_plan *plan, u8 *out,
						     unsigned int room, unsigned int *out_len)
{
	enum net6_xlat_verdict verdict;
	unsigned int len;

	*plan = (struct net6_xlat_plan){ .quoted = true, .payload = quote->len };
	if (to6)
		verdict = net6_xlat_plan46(ctx, quote->data, quote->len, plan);
	else
		verdict = net6_xlat_plan64(ctx, quote->data, quote->len, 0, plan);
	/* RFC 792: "the first 64 bits of the original datagram's data" */
	if (verdict != NET6_XLAT_GOOD || quote->len < plan->old_len + 8)
		return NET6_XLAT_ICMP_QUOTE;
	len = min(quote->len - plan->old_len, room - plan->new_len);
	memcpy(out, plan->header, plan->new_len);
	memcpy(out + plan->new_len, quote->data + plan->old_len, len);
	*out_len = plan->new_len + len;
	return net6_xlat_transport(plan, to6, out + plan->new_len, len, false);
}

/* Makes room for an extension: where the packet ends is said in words. */
static unsigned int net6_xlat_quote_pad(unsigned int word, u8 *out, unsigned int len)
{
	unsigned int padded = max_t(unsigned int, NET6_XLAT_QUOTE_LEAST,
				    (len + word - 1) / word * word);

	memset(out + len, 0, padded - len);
	return padded;
}

/**
 * net6_xlat_error() - translate an ICMP error
 * @ctx: mappings
 * @plan: of the headers in front of it; its payload, and length and checksum in its header, are
 *	set anew
 * @to6: to ICMPv6
 * @data: the message, from its type on, with a right checksum
 * @len: bytes of it
 * @out: written to: NET6_XLAT_ERROR6_MAX or NET6_XLAT_ERROR4_MAX bytes
 * @out_len: set to their number
 *
 * Context: any. Return: NET6_XLAT_GOOD, or why not.
 */
enum net6_xlat_verdict net6_xlat_error(const struct net6_xlat_ctx *ctx,
				       struct net6_xlat_plan *plan, bool to6, const u8 *data,
				       unsigned int len, u8 *out, unsigned int *out_len)
{
	unsigned int room = (to6 ? NET6_XLAT_ERROR6_MAX : NET6_XLAT_ERROR4_MAX) -
			    NET6_XLAT_ICMP_HEADER;
	u8 *inner = out + NET6_XLAT_ICMP_HEADER;
	unsigned int word = to6 ? 8 : 4;
	struct net6_xlat_plan quoted;
	struct net6_xlat_quote quote;
	struct net6_xlat_icmp icmp;
	enum net6_xlat_verdict verdict;
	unsigned int n;
	bool said;

	if (len < NET6_XLAT_ICMP_HEADER)
		return NET6_XLAT_SHORT;
	net6_xlat_quote_split(&quote, to6, data, len);
	/* RFC 7915 4.2: an extension that does not fit "SHOULD be simply truncated". A part of
	 * one has a wrong checksum and is of no use, so nothing is left of it.
	 */
	if (quote.ext_len > room - NET6_XLAT_QUOTE_LEAST)
		quote.ext_len = 0;
	if (quote.ext_len)
		room = (room - quote.ext_len) / word * word;
	verdict = net6_xlat_quote_packet(ctx, to6, &quote, &quoted, inner, room, &n);
	if (verdict != NET6_XLAT_GOOD)
		return verdict;

	icmp = (struct net6_xlat_icmp){
		.type	= data[0],
		.code	= data[1],
		.value	= get_unaligned_be32(data + 4),
	};
	said = to6 ? net6_xlat_icmp46(&icmp, quoted.payload + quoted.old_len, ctx->mtu) :
		     net6_xlat_icmp64(&icmp, quoted.fragment, ctx->mtu);
	if (!said)
		return NET6_XLAT_ICMP_TYPE;
	put_unaligned_be32(icmp.value, out + 4);
	/* Types that ICMPv6 gives no extension: Packet Too Big, Parameter Problem. */
	if (quote.ext_len && !(to6 && (icmp.type == 2 || icmp.type == 4))) {
		n = net6_xlat_quote_pad(word, inner, n);
		out[to6 ? 4 : 5] = n / word;
		memcpy(inner + n, quote.ext, quote.ext_len);
		n += quote.ext_len;
	}
	n += NET6_XLAT_ICMP_HEADER;
	out[0] = icmp.type;
	out[1] = icmp.code;
	put_unaligned_be16(0, out + 2);
	put_unaligned_be16(~net6_xlat_fold(net6_xlat_sum(out, n, to6 ? plan->pseudo6 + n : 0)),
			   out + 2);
	net6_xlat_plan_resize(plan, to6, n);
	*out_len = n;
	return NET6_XLAT_GOOD;
}
