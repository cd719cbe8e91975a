/* SPDX-License-Identifier: GPL-2.0 */
/* TCP options: what they mean, apart from their bytes. Pure, also compiled in user
 * space.
 */
#ifndef _NET6_TCP_OPTIONS_H
#define _NET6_TCP_OPTIONS_H

#include <linux/types.h>

/* Kinds and lengths: RFC 9293 3.2, RFC 7323 2.2 and 3.2, RFC 2018 2 and 3. */
#define NET6_TCPOPT_EOL			0
#define NET6_TCPOPT_NOP			1
#define NET6_TCPOPT_MSS			2
#define NET6_TCPOPT_WSCALE		3
#define NET6_TCPOPT_SACK_PERMITTED	4
#define NET6_TCPOPT_SACK		5
#define NET6_TCPOPT_TIMESTAMPS		8
#define NET6_TCPOPT_MD5			19	/* RFC 2385 3.0 */
#define NET6_TCPOPT_FASTOPEN		34	/* RFC 7413 4.1.1 */

#define NET6_TCPOLEN_MSS		4
#define NET6_TCPOLEN_WSCALE		3
#define NET6_TCPOLEN_SACK_PERMITTED	2
#define NET6_TCPOLEN_SACK_BASE		2
#define NET6_TCPOLEN_SACK_BLOCK		8
#define NET6_TCPOLEN_TIMESTAMPS		10
#define NET6_TCPOLEN_MD5		18
#define NET6_TCPOLEN_MD5_ALIGNED	20	/* two NOPs in front */
#define NET6_TCP_MD5_SIZE		16	/* the hash in it */
#define NET6_TCP_MD5_AT			4	/* before the hash, where it comes first */
#define NET6_TCPOLEN_FASTOPEN_BASE	2

/* RFC 7323 appendix A: how everybody lays it out, two NOPs in front. */
#define NET6_TCPOLEN_TIMESTAMPS_ALIGNED	12
#define NET6_TCPOPT_TIMESTAMPS_ALIGNED	(NET6_TCPOPT_NOP << 24 | NET6_TCPOPT_NOP << 16 |	\
					 NET6_TCPOPT_TIMESTAMPS << 8 | NET6_TCPOLEN_TIMESTAMPS)

#define NET6_TCP_MAX_WSCALE		14	/* RFC 7323 2.3 */
#define NET6_TCP_MAX_SACKS		4	/* what fits 40 bytes of options */
#define NET6_TCP_SYN_OPTIONS_MAX	40	/* what net6_tcp_write_syn_options() writes */

/* RFC 7413 4.1.1: a Fast Open cookie has an even number of bytes. */
#define NET6_TCP_FASTOPEN_MIN		4
#define NET6_TCP_FASTOPEN_MAX		16

/**
 * struct net6_tcp_opts - the options of one received segment, parsed once
 * @mss: MSS option, bytes, 0 if absent (SYN only)
 * @wscale: shift 0..14, meaningful if @wscale_ok
 * @wscale_ok: window scale option seen (SYN only)
 * @sack_ok: SACK-permitted seen (SYN only)
 * @tstamp_ok: timestamps option seen
 * @fastopen_ok: Fast Open option seen (SYN only)
 * @md5: room for a signature is wanted; for writing only
 * @n_sacks: SACK blocks in @sack (at most 4), not seen in a SYN
 * @fastopen_len: bytes of the cookie in @fastopen, 0 asks for one
 * @tsval: host byte order, meaningful if @tstamp_ok
 * @tsecr: host byte order, meaningful if @tstamp_ok
 * @sack: left and right edges as received, host byte order, not validated
 * @fastopen: Fast Open cookie
 */
struct net6_tcp_opts {
	u16	mss;
	u8	wscale;
	bool	wscale_ok : 1;
	bool	sack_ok : 1;
	bool	tstamp_ok : 1;
	bool	fastopen_ok : 1;
	bool	md5 : 1;
	u8	n_sacks;
	u8	fastopen_len;
	u32	tsval;
	u32	tsecr;
	struct { u32 start, end; } sack[NET6_TCP_MAX_SACKS];
	u8	fastopen[NET6_TCP_FASTOPEN_MAX];
};

/* opt/len: bytes behind the fixed header. Returns 0, or -EINVAL when an option's
 * length is impossible (the options before it count, as RFC 9293 MUST-7 asks for
 * robustness).
 */
int net6_tcp_parse_options(const u8 *opt, unsigned int len, bool syn, struct net6_tcp_opts *o);
const u8 *net6_tcp_find_md5(const u8 *opt, unsigned int len);
unsigned int net6_tcp_write_syn_options(u8 *buf, const struct net6_tcp_opts *o);

#endif /* _NET6_TCP_OPTIONS_H */
