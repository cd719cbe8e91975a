/* SPDX-License-Identifier: GPL-2.0 */
/* Socket option bits of struct inet_sock and struct ipv6_pinfo: bit fields until 6.6,
 * numbered bits of inet_flags from 6.7 on. Ends when 6.1 is no longer supported.
 */
#ifndef _NET6_COMPAT_INET_SOCK_H
#define _NET6_COMPAT_INET_SOCK_H

#include <linux/ipv6.h>
#include <linux/version.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)

#define NET6_OPT_FREEBIND(sk)		inet_sk(sk)->freebind
#define NET6_OPT_TRANSPARENT(sk)	inet_sk(sk)->transparent
#define NET6_OPT_DEFER_CONNECT(sk)	inet_sk(sk)->defer_connect
#define NET6_OPT_HDRINCL(sk)		inet_sk(sk)->hdrincl
#define NET6_OPT_IS_ICSK(sk)		inet_sk(sk)->is_icsk
#define NET6_OPT_BIND_ADDRESS_NO_PORT(sk) inet_sk(sk)->bind_address_no_port
#define NET6_OPT_RECVERR(sk)		inet_sk(sk)->recverr
#define NET6_OPT_RECVERR_RFC4884(sk)	inet_sk(sk)->recverr_rfc4884
#define NET6_OPT_RECVERR6(sk)		inet_sk(sk)->pinet6->recverr
#define NET6_OPT_RECVERR6_RFC4884(sk)	inet_sk(sk)->pinet6->recverr_rfc4884
#define NET6_OPT_SNDFLOW(sk)		inet_sk(sk)->pinet6->sndflow
#define NET6_OPT_DONTFRAG(sk)		inet_sk(sk)->pinet6->dontfrag
#define NET6_OPT_AUTOFLOWLABEL(sk)	inet_sk(sk)->pinet6->autoflowlabel
#define NET6_OPT_AUTOFLOWLABEL_SET(sk)	inet_sk(sk)->pinet6->autoflowlabel_set
#define NET6_OPT_MC6_LOOP(sk)		inet_sk(sk)->pinet6->mc_loop
#define NET6_OPT_MC6_ALL(sk)		inet_sk(sk)->pinet6->mc_all

#define net6_compat_set_addr_preferences __ip6_sock_set_addr_preferences
#define net6_opt(sk, bit)		(!!NET6_OPT_##bit(sk))
#define net6_opt_set(sk, bit, value)	(NET6_OPT_##bit(sk) = !!(value))

#else

#define net6_compat_set_addr_preferences ip6_sock_set_addr_preferences
#define net6_opt(sk, bit) \
	test_bit(INET_FLAGS_##bit, &inet_sk(sk)->inet_flags)
#define net6_opt_set(sk, bit, value) \
	assign_bit(INET_FLAGS_##bit, &inet_sk(sk)->inet_flags, value)

#endif

#endif /* _NET6_COMPAT_INET_SOCK_H */
