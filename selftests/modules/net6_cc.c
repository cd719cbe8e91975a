// SPDX-License-Identifier: GPL-2.0
/* Congestion control that is Reno's and remembers what it was told, for a test: how often a
 * socket's was started, and what the last ACK's sample said. TCP_CC_INFO shows it.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

/**
 * struct net6_cc - what a socket was told
 * @starts: calls of init
 * @in_flight: of the last ACK, bytes
 */
struct net6_cc {
	u32	starts;
	u32	in_flight;
};

static void net6_cc_init(struct sock *sk)
{
	struct net6_cc *cc = inet_csk_ca(sk);

	cc->starts++;
}

static void net6_cc_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct net6_cc *cc = inet_csk_ca(sk);

	cc->in_flight = sample->in_flight;
}

static size_t net6_cc_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct net6_cc *cc = inet_csk_ca(sk);

	info->vegas.tcpv_enabled = cc->starts;
	info->vegas.tcpv_rttcnt = cc->in_flight;
	*attr = INET_DIAG_VEGASINFO;
	return sizeof(info->vegas);
}

static struct tcp_congestion_ops net6_cc_ops __read_mostly = {
	.init		= net6_cc_init,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.pkts_acked	= net6_cc_pkts_acked,
	.get_info	= net6_cc_get_info,
	.name		= "net6_cc",
	.owner		= THIS_MODULE,
};

static int __init net6_cc_module_init(void)
{
	BUILD_BUG_ON(sizeof(struct net6_cc) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&net6_cc_ops);
}

static void __exit net6_cc_module_exit(void)
{
	tcp_unregister_congestion_control(&net6_cc_ops);
}

module_init(net6_cc_module_init);
module_exit(net6_cc_module_exit);
MODULE_DESCRIPTION("Congestion control that tells what it was told, for a test");
MODULE_LICENSE("GPL");
