// SPDX-License-Identifier: GPL-2.0
/* The TCP of the peer behind the tap device. It acknowledges, selectively too, loses segments,
 * has timestamps, Fast Open cookies and ECN, and now and then does what it should not.
 */
#include <netinet/tcp.h>

#include "fuzz.h"

#define FLOWS	16
#define ECE	0x40
#define CWR	0x80

/* A connection as last seen in a segment of the host. */
struct flow {
	struct in6_addr us, host;
	uint16_t port, host_port;
	uint32_t seq, ack;		/* ours, and what we acknowledge */
	uint32_t sack_from, sack_to;	/* what came beyond that, or again */
	uint32_t echo;			/* the host's timestamp */
	bool stamps;
};

/* What the options of the host's segment say. */
struct seen {
	uint32_t stamp;
	bool stamped;
	uint8_t cookie[16], cookie_len;
};

static struct flow flows[FLOWS];
static uint32_t now;			/* our timestamps */
static struct in6_addr cookie_us;	/* whom the host gave a cookie */
static uint8_t cookie[16], cookie_len;

static void read_options(const uint8_t *tcp, struct seen *seen)
{
	size_t end = (tcp[12] >> 4) * 4, at = 20;

	memset(seen, 0, sizeof(*seen));
	while (at + 1 < end && tcp[at]) {
		size_t len = tcp[at] == 1 ? 1 : tcp[at + 1];

		if (!len || at + len > end)
			break;
		if (tcp[at] == 8 && len == 10) {
			seen->stamped = true;
			get32(tcp + at + 2, &seen->stamp);
		}
		if (tcp[at] == 34 && len > 2 && len <= 18) {
			seen->cookie_len = len - 2;
			memcpy(seen->cookie, tcp + at + 2, len - 2);
		}
		at += len;
	}
}

static size_t put_cookie(uint8_t *to, const void *data, size_t len)
{
	size_t n = 2 + len;

	to[0] = 34;
	to[1] = n;
	memcpy(to + 2, data, len);
	while (n & 3)
		to[n++] = 1;
	return n;
}

/* TCP options that fit the segment. */
static size_t tcp_options(uint8_t *to, unsigned int flags, const struct flow *f)
{
	uint8_t fake[8];
	size_t n = 0;

	if (flags & TH_SYN) {
		memcpy(to, "\2\4\5\xa0\4\2\3\3\7\1\1\1", 12);
		n = 12;
		if (one_in(4))		/* without selective acknowledgments */
			memcpy(to + 4, "\1\1", 2);
		fill(fake, sizeof(fake));
		if (!(flags & TH_ACK) && cookie_len && IN6_ARE_ADDR_EQUAL(&f->us, &cookie_us))
			n += put_cookie(to + n, cookie, cookie_len > 8 ? 8 : cookie_len);
		else if (one_in(3))	/* one is wanted, or it is not the host's */
			n += put_cookie(to + n, fake, one_in(2) ? 0 : 8);
	}
	if (f->stamps ? !one_in(60) : one_in(40)) {
		memcpy(to + n, "\1\1\x8\xa", 4);
		put32(to + n + 4, one_in(60) ? (uint32_t)rnd64() : now++);
		put32(to + n + 8, one_in(60) ? (uint32_t)rnd64() : f->echo);
		n += 12;
	}
	if (!(flags & TH_SYN) && (f->sack_from != f->sack_to || one_in(20))) {
		bool fake_block = f->sack_from == f->sack_to || one_in(30);

		memcpy(to + n, "\1\1\5\xa", 4);
		put32(to + n + 4, fake_block ? f->ack + rnd(4000) : f->sack_from);
		put32(to + n + 8, fake_block ? f->ack + 4000 + rnd(9000) : f->sack_to);
		n += 12;
	}
	return n;
}

static void segment(struct flow *f, unsigned int flags, size_t data, unsigned int odd)
{
	uint8_t body[60 + 1500] = { };
	size_t opts = tcp_options(body + 20, flags, f);
	struct packet p;

	put16(body, f->port);
	put16(body + 2, f->host_port);
	put32(body + 4, f->seq);
	put32(body + 8, f->ack);
	body[12] = (20 + opts) << 2;
	body[13] = flags;
	put16(body + 14, one_in(12) ? 0 : one_in(4) ? rnd(65536) : 60000);
	put16(body + 18, one_in(2) ? rnd(200) : 0);
	fill(body + 20 + opts, data);
	wire_start(&p, &f->us, &f->host, IPPROTO_TCP, body, 20 + opts + data);
	if (one_in(15))		/* congestion was experienced */
		p.frame[15] |= 0x30;
	wire_checksum(&p);
	send_packet(&p, odd);
}

static void answer_syn(struct flow *f, unsigned int flags, bool stamped)
{
	unsigned int ecn = (flags & (ECE | CWR)) == (ECE | CWR) && one_in(2) ? ECE : 0;

	f->seq = rnd64();
	f->stamps = stamped && !one_in(5);
	segment(f, one_in(12) ? TH_RST | TH_ACK :
		one_in(12) ? TH_SYN : TH_SYN | TH_ACK | ecn, 0, 20);
	f->seq++;
}

/* What a segment of @data octets at @seq does to what we have. */
static void take(struct flow *f, uint32_t seq, uint32_t end)
{
	int32_t beyond = seq - f->ack;

	if (beyond > 0) {	/* a hole before it */
		if (f->sack_to != seq || f->sack_from == f->sack_to)
			f->sack_from = seq;
		f->sack_to = end;
		return;
	}
	if (beyond < 0 && (int32_t)(end - f->ack) <= 0 && end != seq) {
		f->sack_from = seq;	/* again: RFC 2883 */
		f->sack_to = end;
		return;
	}
	f->ack = end;
	if ((int32_t)(f->sack_to - f->ack) > 0 && (int32_t)(f->sack_from - f->ack) <= 0)
		f->ack = f->sack_to;
	f->sack_from = 0;
	f->sack_to = 0;
}

/* The peer's answer to a segment of the host. */
void flow_answer(const uint8_t *ip, const uint8_t *tcp, size_t len)
{
	struct flow *f = &flows[(tcp[1] ^ tcp[3]) % FLOWS];
	uint16_t port = tcp[2] << 8 | tcp[3], host_port = tcp[0] << 8 | tcp[1];
	size_t head = (tcp[12] >> 4) * 4, data = len - head;
	bool same = f->port == port && f->host_port == host_port;
	struct seen seen;
	uint32_t seq, ack;

	if (head < 20 || head > len)
		return;
	read_options(tcp, &seen);
	get32(tcp + 4, &seq);
	get32(tcp + 8, &ack);
	if (!same)
		memset(f, 0, sizeof(*f));
	memcpy(&f->us, ip + 24, 16);
	memcpy(&f->host, ip + 8, 16);
	f->port = port;
	f->host_port = host_port;
	if (tcp[13] & TH_RST)
		return;
	if (seen.stamped)
		f->echo = seen.stamp;
	if (tcp[13] & TH_SYN || !same) {
		f->ack = seq;
		f->sack_from = 0;
		f->sack_to = 0;
		f->stamps = seen.stamped;
	}
	if ((tcp[13] & (TH_SYN | TH_ACK)) == TH_SYN) {
		f->ack = seq + 1 + (one_in(2) ? data : 0);
		answer_syn(f, tcp[13], seen.stamped);
		return;
	}
	f->seq = ack;
	if (tcp[13] & TH_SYN && seen.cookie_len) {
		cookie_us = f->us;
		cookie_len = seen.cookie_len;
		memcpy(cookie, seen.cookie, cookie_len);
	}
	if (one_in(10))		/* lost on the way */
		return;
	take(f, seq, seq + data + !!(tcp[13] & (TH_SYN | TH_FIN)));
	if (data || tcp[13] & (TH_SYN | TH_FIN) || one_in(8))
		segment(f, TH_ACK | (one_in(16) ? TH_FIN : 0) | (one_in(12) ? ECE : 0),
			one_in(3) ? rnd(1200) : 0, 30);
}

static void fresh_flow(struct flow *f)
{
	memset(f, 0, sizeof(*f));
	peer_address(&f->us);
	if (cookie_len && one_in(2))
		f->us = cookie_us;
	host_address(&f->host);
	f->port = 2000 + rnd(2000);
	f->host_port = PORT_BASE + rnd(PORTS);
	f->seq = rnd64();
	f->stamps = one_in(2);
}

/* Connections that the host did not start, and what does not fit those that it has. */
void flow_unasked(void)
{
	struct flow *f = &flows[rnd(FLOWS)], fresh = *f;

	if (one_in(2) || !f->port) {
		fresh_flow(&fresh);
		segment(&fresh, TH_SYN | (one_in(4) ? ECE | CWR : 0), one_in(3) ? rnd(100) : 0, 30);
		return;
	}
	switch (rnd(9)) {
	case 0:
		fresh.seq += one_in(2) ? 0 : rnd(5000);
		segment(&fresh, TH_RST | (one_in(2) ? TH_ACK : 0), 0, 10);
		break;
	case 1:		/* out of order */
		fresh.seq += rnd(8000);
		segment(&fresh, TH_ACK, 1 + rnd(1200), 16);
		break;
	case 2:		/* again */
		fresh.seq -= rnd(3000);
		segment(&fresh, TH_ACK, rnd(1200), 16);
		break;
	case 3:
		segment(&fresh, TH_ACK | TH_FIN, 0, 16);
		break;
	case 4:
		segment(&fresh, TH_ACK | TH_URG, rnd(300), 10);
		break;
	case 5:		/* duplicate acknowledgments */
		for (int i = 0; i < 4; i++)
			segment(&fresh, TH_ACK, 0, 60);
		break;
	case 6:
		fresh.ack += value() % 65536;
		segment(&fresh, rnd(256), rnd(100), 10);
		break;
	case 7:		/* a new connection in the place of this one */
		fresh.seq += 100000;
		segment(&fresh, TH_SYN, 0, 30);
		break;
	default:
		segment(&fresh, TH_ACK | (one_in(3) ? TH_PUSH : 0), rnd(1400), 20);
		f->seq = fresh.seq + 1;
	}
}

/* More connections at once than a listener keeps: cookies, or what is dropped instead. */
void flow_flood(void)
{
	uint16_t to = PORT_BASE + rnd(PORTS);
	struct flow f;

	for (unsigned int n = 20 + rnd(40); n; n--) {
		fresh_flow(&f);
		f.host_port = to;
		segment(&f, TH_SYN, 0, 200);
	}
	/* An acknowledgment of what was never sent. */
	f.ack = rnd64();
	segment(&f, TH_ACK, rnd(50), 60);
}
