// SPDX-License-Identifier: GPL-2.0
/* TCP_MD5SIG and TCP_MD5SIG_EXT: keys for segments that are signed (RFC 2385).
 *
 * Limits: no keys for IPv4 peers of an IPv6 socket, and none of one device (no VRF).
 */
#include "../conn/md5.h"
#include "../engine/entry.h"
#include "calls.h"

/* Whose the key is; the length of its prefix, or -errno. */
static int net6_tcp_md5sig_peer(int optname, const struct tcp_md5sig *cmd, struct in6_addr *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)&cmd->tcpm_addr;
	int len = 128;

	if (sin6->sin6_family != AF_INET6)
		return -EINVAL;
	if (ipv6_addr_v4mapped(&sin6->sin6_addr))
		return -EAFNOSUPPORT;
	if (optname == TCP_MD5SIG_EXT) {
		/* No device here has tables of its own. */
		if (cmd->tcpm_flags & TCP_MD5SIG_FLAG_IFINDEX)
			return -EINVAL;
		if (cmd->tcpm_flags & TCP_MD5SIG_FLAG_PREFIX)
			len = cmd->tcpm_prefixlen;
		if (len > 128)
			return -EINVAL;
	}
	ipv6_addr_prefix(addr, &sin6->sin6_addr, len);
	return len;
}

/* From now on its segments leave one by one, and their data have less room. sk owned. */
static void net6_tcp_md5sig_resize(struct sock *sk)
{
	WRITE_ONCE(sk->sk_gso_max_segs, 1);
	tcp_sk(sk)->gso_segs = 1;
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN)))
		net6_tcp_sync_mss(sk, inet_csk(sk)->icsk_pmtu_cookie);
}

static int net6_tcp_md5sig_set(struct sock *sk, int optname, const struct tcp_md5sig *cmd)
{
	struct in6_addr addr;
	int len, err = 0;

	len = net6_tcp_md5sig_peer(optname, cmd, &addr);
	if (len < 0)
		return len;
	if (cmd->tcpm_keylen > TCP_MD5SIG_MAXKEYLEN)
		return -EINVAL;
	if (cmd->tcpm_keylen)
		err = net6_tcp_md5_start();
	if (err)
		return err;
	lock_sock(sk);
	if (cmd->tcpm_keylen)
		err = net6_tcp_md5_add(sk, &addr, len, cmd->tcpm_key, cmd->tcpm_keylen, GFP_KERNEL);
	else
		err = net6_tcp_md5_del(sk, &addr, len);
	if (!err)
		net6_tcp_md5sig_resize(sk);
	release_sock(sk);
	return err;
}

/**
 * net6_tcp_set_md5sig() - TCP_MD5SIG and TCP_MD5SIG_EXT: a key for a peer or a prefix of peers
 * @sk: socket
 * @optname: which of the two
 * @optval: a struct tcp_md5sig; without a key the peer's is taken away
 * @optlen: its length
 *
 * Context: process.
 * Return: 0, -EFAULT, -EINVAL, -EAFNOSUPPORT for an IPv4 peer, -ENOENT: no key to take away,
 * -ENOMEM: too many keys, or what the kernel says if it has no MD5.
 */
int net6_tcp_set_md5sig(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	struct tcp_md5sig cmd;
	int err;

	if (optlen < sizeof(cmd))
		return -EINVAL;
	if (copy_from_sockptr(&cmd, optval, sizeof(cmd)))
		return -EFAULT;
	err = net6_tcp_md5sig_set(sk, optname, &cmd);
	memzero_explicit(&cmd, sizeof(cmd));
	return err;
}
