// SPDX-License-Identifier: GPL-2.0
/* TCP_INFO in the words of ss(8), as one line for people and as an object for programs. */
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"

#define OPTIONS(info, bit)	((info)->tcpi_options & (bit))
#define NO_SSTHRESH		0x7fffffff

/* A newer kernel's may be longer, an older one's shorter. */
static void get_info(const struct nlattr *attr, struct tcp_info *to)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memset(to, 0, sizeof(*to));
	memcpy(to, mnl_attr_get_payload(attr), len < sizeof(*to) ? len : sizeof(*to));
}

static void rate(FILE *to, const char *name, uint64_t bits)
{
	static const char *const units[] = { "", "K", "M", "G", "T", NULL };
	double value = bits;
	int i = 0;

	while (value >= 1000 && units[i + 1]) {
		value /= 1000;
		i++;
	}
	fprintf(to, " %s %.3g%sbps", name, value, units[i]);
}

static void counted(FILE *to, const char *name, uint64_t value)
{
	if (value)
		fprintf(to, " %s:%" PRIu64, name, value);
}

static void ms(FILE *to, const char *name, uint32_t us)
{
	if (us)
		fprintf(to, " %s:%g", name, us / 1000.0);
}

static void limited(FILE *to, const char *name, uint64_t us, uint64_t busy)
{
	if (us)
		fprintf(to, " %s:%" PRIu64 "ms(%.1f%%)", name, us / 1000,
			busy ? 100.0 * us / busy : 0.0);
}

static void options(FILE *to, const struct tcp_info *i)
{
	fprintf(to, "%s%s%s%s%s", OPTIONS(i, TCPI_OPT_TIMESTAMPS) ? "ts " : "",
		OPTIONS(i, TCPI_OPT_SACK) ? "sack " : "", OPTIONS(i, TCPI_OPT_ECN) ? "ecn " : "",
		OPTIONS(i, TCPI_OPT_ECN_SEEN) ? "ecnseen " : "",
		OPTIONS(i, TCPI_OPT_SYN_DATA) ? "fastopen " : "");
}

static void congestion(FILE *to, const char *name, const struct nlattr *attr)
{
	union tcp_cc_info cc = {};
	uint64_t bw;

	if (!attr)
		return;
	memcpy(&cc, mnl_attr_get_payload(attr),
	       mnl_attr_get_payload_len(attr) < sizeof(cc) ? mnl_attr_get_payload_len(attr) :
	       sizeof(cc));
	if (!strcmp(name, "bbr")) {
		bw = (uint64_t)cc.bbr.bbr_bw_hi << 32 | cc.bbr.bbr_bw_lo;
		fprintf(to, " bbr:(");
		rate(to, "bw", 8 * bw);
		fprintf(to, " mrtt:%g pacing_gain:%g cwnd_gain:%g)", cc.bbr.bbr_min_rtt / 1000.0,
			cc.bbr.bbr_pacing_gain / 256.0, cc.bbr.bbr_cwnd_gain / 256.0);
	} else if (!strcmp(name, "dctcp")) {
		fprintf(to, " dctcp:(ce_state:%u alpha:%u ab_ecn:%u ab_tot:%u)",
			cc.dctcp.dctcp_ce_state, cc.dctcp.dctcp_alpha, cc.dctcp.dctcp_ab_ecn,
			cc.dctcp.dctcp_ab_tot);
	}
}

static void sender(FILE *to, const struct tcp_info *i)
{
	fprintf(to, " cwnd:%u", i->tcpi_snd_cwnd);
	if (i->tcpi_snd_ssthresh < NO_SSTHRESH)
		fprintf(to, " ssthresh:%u", i->tcpi_snd_ssthresh);
	counted(to, "bytes_sent", i->tcpi_bytes_sent);
	counted(to, "bytes_retrans", i->tcpi_bytes_retrans);
	counted(to, "bytes_acked", i->tcpi_bytes_acked);
	counted(to, "bytes_received", i->tcpi_bytes_received);
	counted(to, "segs_out", i->tcpi_segs_out);
	counted(to, "segs_in", i->tcpi_segs_in);
	counted(to, "data_segs_out", i->tcpi_data_segs_out);
	counted(to, "data_segs_in", i->tcpi_data_segs_in);
}

static void rates(FILE *to, const struct tcp_info *i)
{
	if (i->tcpi_rtt)
		rate(to, "send", 8000000ULL * i->tcpi_snd_cwnd * i->tcpi_snd_mss / i->tcpi_rtt);
	counted(to, "lastsnd", i->tcpi_last_data_sent);
	counted(to, "lastrcv", i->tcpi_last_data_recv);
	counted(to, "lastack", i->tcpi_last_ack_recv);
	if (i->tcpi_pacing_rate && i->tcpi_pacing_rate != UINT64_MAX)
		rate(to, "pacing_rate", 8 * i->tcpi_pacing_rate);
	if (i->tcpi_max_pacing_rate && i->tcpi_max_pacing_rate != UINT64_MAX)
		rate(to, "max_pacing_rate", 8 * i->tcpi_max_pacing_rate);
	if (i->tcpi_delivery_rate)
		rate(to, "delivery_rate", 8 * i->tcpi_delivery_rate);
	counted(to, "delivered", i->tcpi_delivered);
	counted(to, "delivered_ce", i->tcpi_delivered_ce);
	if (i->tcpi_delivery_rate_app_limited)
		fprintf(to, " app_limited");
	if (i->tcpi_busy_time)
		fprintf(to, " busy:%" PRIu64 "ms", (uint64_t)i->tcpi_busy_time / 1000);
	limited(to, "rwnd_limited", i->tcpi_rwnd_limited, i->tcpi_busy_time);
	limited(to, "sndbuf_limited", i->tcpi_sndbuf_limited, i->tcpi_busy_time);
}

static void recovery(FILE *to, const struct tcp_info *i)
{
	counted(to, "unacked", i->tcpi_unacked);
	if (i->tcpi_retrans || i->tcpi_total_retrans)
		fprintf(to, " retrans:%u/%u", i->tcpi_retrans, i->tcpi_total_retrans);
	counted(to, "lost", i->tcpi_lost);
	counted(to, "sacked", i->tcpi_sacked);
	counted(to, "dsack_dups", i->tcpi_dsack_dups);
	if (i->tcpi_reordering != 3)
		fprintf(to, " reordering:%u", i->tcpi_reordering);
	counted(to, "reord_seen", i->tcpi_reord_seen);
}

/**
 * tcp_info_text() - a connection's line, below its row
 * @to: where it goes
 * @attrs: the socket's attributes, NET6_A_SOCK_INFO among them
 */
void tcp_info_text(FILE *to, const struct nlattr **attrs)
{
	const char *name = "-";
	struct tcp_info i;

	get_info(attrs[NET6_A_SOCK_INFO], &i);
	if (attrs[NET6_A_SOCK_CONGESTION])
		name = mnl_attr_get_str(attrs[NET6_A_SOCK_CONGESTION]);
	options(to, &i);
	fprintf(to, "%s", name);
	if (OPTIONS(&i, TCPI_OPT_WSCALE))
		fprintf(to, " wscale:%u,%u", i.tcpi_snd_wscale, i.tcpi_rcv_wscale);
	ms(to, "rto", i.tcpi_rto);
	counted(to, "backoff", i.tcpi_backoff);
	if (i.tcpi_rtt)
		fprintf(to, " rtt:%g/%g", i.tcpi_rtt / 1000.0, i.tcpi_rttvar / 1000.0);
	ms(to, "ato", i.tcpi_ato);
	counted(to, "mss", i.tcpi_snd_mss);
	counted(to, "pmtu", i.tcpi_pmtu);
	counted(to, "rcvmss", i.tcpi_rcv_mss);
	counted(to, "advmss", i.tcpi_advmss);
	sender(to, &i);
	congestion(to, name, attrs[NET6_A_SOCK_CC_INFO]);
	rates(to, &i);
	recovery(to, &i);
	ms(to, "rcv_rtt", i.tcpi_rcv_rtt);
	counted(to, "rcv_space", i.tcpi_rcv_space);
	counted(to, "rcv_ssthresh", i.tcpi_rcv_ssthresh);
	counted(to, "notsent", i.tcpi_notsent_bytes);
	if (i.tcpi_min_rtt != UINT32_MAX)
		ms(to, "minrtt", i.tcpi_min_rtt);
	counted(to, "rcv_ooopack", i.tcpi_rcv_ooopack);
	counted(to, "snd_wnd", i.tcpi_snd_wnd);
}

#define FIELD(name)	{ #name, offsetof(struct tcp_info, tcpi_##name), \
			  sizeof(((struct tcp_info *)NULL)->tcpi_##name) }

static const struct field {
	const char	*name;
	size_t		at;
	size_t		size;
} fields[] = {
	FIELD(state), FIELD(ca_state), FIELD(retransmits), FIELD(probes), FIELD(backoff),
	FIELD(options), FIELD(rto), FIELD(ato), FIELD(snd_mss), FIELD(rcv_mss), FIELD(unacked),
	FIELD(sacked), FIELD(lost), FIELD(retrans), FIELD(last_data_sent),
	FIELD(last_data_recv), FIELD(last_ack_recv), FIELD(pmtu), FIELD(rcv_ssthresh),
	FIELD(rtt), FIELD(rttvar), FIELD(snd_ssthresh), FIELD(snd_cwnd), FIELD(advmss),
	FIELD(reordering), FIELD(rcv_rtt), FIELD(rcv_space), FIELD(total_retrans),
	FIELD(pacing_rate), FIELD(max_pacing_rate), FIELD(bytes_acked), FIELD(bytes_received),
	FIELD(segs_out), FIELD(segs_in), FIELD(notsent_bytes), FIELD(min_rtt),
	FIELD(data_segs_in), FIELD(data_segs_out), FIELD(delivery_rate), FIELD(busy_time),
	FIELD(rwnd_limited), FIELD(sndbuf_limited), FIELD(delivered), FIELD(delivered_ce),
	FIELD(bytes_sent), FIELD(bytes_retrans), FIELD(dsack_dups), FIELD(reord_seen),
	FIELD(rcv_ooopack), FIELD(snd_wnd),
};

static uint64_t value_of(const struct tcp_info *i, const struct field *f)
{
	const void *at = (const char *)i + f->at;
	uint32_t u32;
	uint64_t u64;

	if (f->size == sizeof(uint8_t))
		return *(const uint8_t *)at;
	if (f->size == sizeof(u32)) {
		memcpy(&u32, at, sizeof(u32));
		return u32;
	}
	memcpy(&u64, at, sizeof(u64));
	return u64;
}

/**
 * tcp_info_json() - the same as an object, fields by their names in struct tcp_info
 * @to: where it goes
 * @attr: NET6_A_SOCK_INFO
 */
void tcp_info_json(FILE *to, const struct nlattr *attr)
{
	struct tcp_info i;
	size_t n;

	get_info(attr, &i);
	fprintf(to, "{\"snd_wscale\":%u,\"rcv_wscale\":%u,\"delivery_rate_app_limited\":%s",
		i.tcpi_snd_wscale, i.tcpi_rcv_wscale,
		i.tcpi_delivery_rate_app_limited ? "true" : "false");
	for (n = 0; n < ARRAY_SIZE(fields); n++)
		fprintf(to, ",\"%s\":%" PRIu64, fields[n].name, value_of(&i, &fields[n]));
	putc('}', to);
}
