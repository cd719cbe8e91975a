// SPDX-License-Identifier: GPL-2.0
/* The PROXY protocol. A proxy that the site trusts says in front of the first byte who its client
 * is. That is read before anything else, a TLS handshake too. Whoever is not trusted is not asked.
 * A server in front of which khttpd is gets the header again, as it came. A server behind a
 * listener of our own gets one of ours, if the site says so.
 */
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "../conn/conn.h"
#include "../conn/ktls.h"
#include "../files/site.h"
#include "../observe/far.h"
#include "peer.h"
#include "proxied.h"

static void khttpd_proxied_far(struct khttpd_endpoint *end, const struct sock *sk)
{
	struct in6_addr address;

	khttpd_far(sk, &address);
	memcpy(end->address, &address, sizeof(end->address));
	end->port = ntohs(sk->sk_dport);
}

static void khttpd_proxied_near(struct khttpd_endpoint *end, const struct sock *sk)
{
	struct in6_addr address;

	if (sk->sk_family == AF_INET)
		ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &address);
	else
		address = sk->sk_v6_rcv_saddr;
	memcpy(end->address, &address, sizeof(end->address));
	end->port = sk->sk_num;
}

/**
 * khttpd_proxied_trusts() - does a connection come from a proxy that the site trusts?
 * @listener: where it came from
 * @sk: the connection
 *
 * Context: any.
 */
bool khttpd_proxied_trusts(const struct khttpd_listener *listener, const struct sock *sk)
{
	const struct khttpd_prefixes *trusted;
	struct khttpd_endpoint proxy;
	bool trusts = false;

	rcu_read_lock();
	trusted = &rcu_dereference(listener->site)->options.proxies;
	if (unlikely(trusted->count)) {
		khttpd_proxied_far(&proxy, sk);
		trusts = khttpd_prefixes_has(trusted, proxy.address);
	}
	rcu_read_unlock();
	return trusts;
}

/* Limits by address are the client's. @client is set on failure, too, if it can be. Return: its
 * peer, which may be NULL, or an error.
 */
static struct khttpd_peer *khttpd_proxied_meet(const struct sock *sk,
					       const struct khttpd_proxyhead *head, bool tls,
					       struct khttpd_endpoint **client)
{
	if (!head->named)
		return khttpd_peer_get(sk, tls);
	*client = kmemdup(&head->client, sizeof(head->client), GFP_KERNEL);
	if (!*client) {
		khttpd_count(no_memory);
		return ERR_PTR(-ENOMEM);
	}
	return khttpd_peer_get_for(sk, head->client.address, tls);
}

/* The header is whole, in the thread's buffer: take it out of the socket. */
static enum khttpd_step khttpd_proxied_take(struct khttpd_conn *conn,
					    const struct khttpd_proxyhead *head)
{
	u8 *buf = conn->thread->buf;
	struct khttpd_peer *peer;

	if (conn->listener->attached) {
		conn->first = khttpd_transport_hold(conn->sock->sk, buf, head->len);
		if (!conn->first) {
			khttpd_count(no_memory);
			return KHTTPD_STEP_ABORT;
		}
	}
	if (khttpd_transport_discard(conn->sock, buf, KHTTPD_BUFFER_SIZE, head->len)) {
		khttpd_count(lost);
		return KHTTPD_STEP_CLOSE;
	}
	conn->proxy = false;
	peer = khttpd_proxied_meet(conn->sock->sk, head, conn->listener->tls, &conn->client);
	if (IS_ERR(peer)) {
		if (peer == ERR_PTR(-EUSERS))
			khttpd_count(address_full);
		return KHTTPD_STEP_ABORT;
	}
	conn->peer = peer;
	khttpd_count(proxied);
	return conn->listener->tls ? KHTTPD_STEP_SHAKE : KHTTPD_STEP_WAIT;
}

static enum khttpd_step khttpd_proxied_bad(void)
{
	khttpd_count(proxied_bad);
	return KHTTPD_STEP_CLOSE;
}

/**
 * khttpd_proxied_begin() - look for a trusted proxy's header
 * @conn: a connection with @conn->proxy set, which has ended when it has been read
 *
 * Until it is whole it is only looked at.
 *
 * Context: its thread.
 * Return: what to wait for, or how to go on; KHTTPD_STEP_CLOSE if it begins otherwise.
 */
enum khttpd_step khttpd_proxied_begin(struct khttpd_conn *conn)
{
	struct sock *sk = conn->sock->sk;
	struct khttpd_proxyhead head;
	bool over;
	int n;

	/* Before the look: it sees all that has come until then. */
	over = READ_ONCE(sk->sk_err) || READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN;
	n = khttpd_transport_recv(conn->sock, conn->thread->buf, KHTTPD_PROXYHEAD_MAX, true);
	if (n < 0 && n != -EAGAIN) {
		khttpd_count(lost);
		return KHTTPD_STEP_CLOSE;
	}
	/* One who looks whether there is a server says nothing. */
	if (n <= 0)
		return n && !over ? KHTTPD_STEP_WAIT : KHTTPD_STEP_CLOSE;
	/* Urgent data would be in the way when bytes are put back. */
	if (READ_ONCE(tcp_sk(sk)->urg_data))
		return khttpd_proxied_bad();
	switch (khttpd_proxyhead_parse(&head, conn->thread->buf, n)) {
	case KHTTPD_PROXYHEAD_DONE:
		return khttpd_proxied_take(conn, &head);
	case KHTTPD_PROXYHEAD_MORE:
		if (!over)
			return KHTTPD_STEP_WAIT;
		fallthrough;
	default:
		return khttpd_proxied_bad();
	}
}

/**
 * khttpd_proxied_given() - a server gives a connection back with what a proxy said in front of it
 * @given: the connection; its peer, client and first bytes are set, with an error perhaps some
 * @sk: the same
 * @head: what the proxy said; of length 0 if none is trusted there
 *
 * The header is in front of @given->head. A server to which the connection comes again reads it
 * again, as with each connection.
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -EUSERS: the client must not have one more connection.
 */
int khttpd_proxied_given(struct khttpd_given *given, struct sock *sk,
			 const struct khttpd_proxyhead *head)
{
	struct khttpd_peer *peer;

	if (head->len) {
		given->first = khttpd_transport_hold(sk, given->head, head->len);
		if (!given->first) {
			khttpd_count(no_memory);
			return -ENOMEM;
		}
	}
	peer = khttpd_proxied_meet(sk, head, false, &given->client);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	given->peer = peer;
	return 0;
}

/**
 * khttpd_proxied_sends() - is a server behind told for whom a connection is?
 * @listener: one of our own
 *
 * Context: any.
 */
bool khttpd_proxied_sends(const struct khttpd_listener *listener)
{
	bool sends;

	rcu_read_lock();
	sends = rcu_dereference(listener->site)->options.send_proxy;
	rcu_read_unlock();
	return sends;
}

/**
 * khttpd_proxied_header() - what a server behind is told
 * @sk: a connection
 * @client: for whom a trusted proxy speaks, or NULL
 * @tls: what is to be said of TLS, or NULL
 *
 * Context: process.
 * Return: the header, charged to the connection, or NULL without memory, which is counted.
 */
struct sk_buff *khttpd_proxied_header(struct sock *sk, const struct khttpd_endpoint *client,
				      const struct khttpd_proxyhead_tls *tls)
{
	struct khttpd_endpoint far, near;
	u8 head[KHTTPD_PROXYHEAD_MADE];
	struct sk_buff *skb;

	khttpd_proxied_far(&far, sk);
	khttpd_proxied_near(&near, sk);
	skb = khttpd_transport_hold(sk, head,
				    khttpd_proxyhead_make(head, client ?: &far, &near, tls));
	if (!skb)
		khttpd_count(no_memory);
	return skb;
}

/**
 * khttpd_proxied_announce() - have a server told for whom a connection is, if the site says so
 * @conn: a connection of a listener of our own that is to go to the server; in no list
 *
 * What khttpd-tlsd has said of TLS is in @conn->first already.
 *
 * Context: its thread.
 * Return: false without memory.
 */
bool khttpd_proxied_announce(struct khttpd_conn *conn)
{
	struct khttpd_proxyhead_tls tls = {};
	struct sock *sk = conn->sock->sk;

	if (likely(!khttpd_proxied_sends(conn->listener))) {
		/* It did when the handshake ended. */
		if (unlikely(conn->first))
			khttpd_transport_forget(sk, conn->first);
		conn->first = NULL;
		return true;
	}
	if (conn->first)
		return true;
	if (conn->tls)
		khttpd_ktls_says(sk, &tls);
	conn->first = khttpd_proxied_header(sk, conn->client, conn->tls ? &tls : NULL);
	return conn->first;
}
