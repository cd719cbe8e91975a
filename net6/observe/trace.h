/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of net6: state changes, with fields that can be filtered. They are
 * found under events/net6/ in tracefs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM net6

#if !defined(_NET6_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NET6_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>

#include "drop.h"

#define net6_trace_neigh_states						\
	{ 0, "NONE" }, { 1, "INCOMPLETE" }, { 2, "REACHABLE" },		\
	{ 3, "STALE" }, { 4, "DELAY" }, { 5, "PROBE" },			\
	{ 6, "FAILED" }, { 7, "PERMANENT" }

#define net6_trace_addr_states						\
	{ 0, "TENTATIVE" }, { 1, "PREFERRED" }, { 2, "DEPRECATED" },	\
	{ 3, "DUPLICATE" }, { 4, "GONE" }

#define net6_trace_events						\
	{ 0, "new" }, { 1, "change" }, { 2, "del" }

#define net6_trace_dad_events						\
	{ 0, "probe" }, { 1, "looped" }, { 2, "conflict" }, { 3, "done" }

#define net6_trace_tcp_states						\
	{ 1, "ESTABLISHED" }, { 2, "SYN_SENT" }, { 3, "SYN_RECV" },	\
	{ 4, "FIN_WAIT1" }, { 5, "FIN_WAIT2" }, { 6, "TIME_WAIT" },	\
	{ 7, "CLOSE" }, { 8, "CLOSE_WAIT" }, { 9, "LAST_ACK" },		\
	{ 10, "LISTEN" }, { 11, "CLOSING" }, { 12, "NEW_SYN_RECV" }

TRACE_EVENT(net6_neigh_state,
	TP_PROTO(int ifindex, const struct in6_addr *addr, int was, int now, int probes),
	TP_ARGS(ifindex, addr, was, now, probes),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, was)
		__field(int, now)
		__field(int, probes)
		__array(__u8, addr, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->was = was;
		__entry->now = now;
		__entry->probes = probes;
		memcpy(__entry->addr, addr, sizeof(*addr));
	),
	TP_printk("ifindex=%d addr=%pI6c %s -> %s probes=%d", __entry->ifindex, __entry->addr,
		  __print_symbolic(__entry->was, net6_trace_neigh_states),
		  __print_symbolic(__entry->now, net6_trace_neigh_states), __entry->probes)
);

TRACE_EVENT(net6_addr,
	TP_PROTO(int ifindex, const struct in6_addr *addr, int plen, int event, int state),
	TP_ARGS(ifindex, addr, plen, event, state),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, plen)
		__field(int, event)
		__field(int, state)
		__array(__u8, addr, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->plen = plen;
		__entry->event = event;
		__entry->state = state;
		memcpy(__entry->addr, addr, sizeof(*addr));
	),
	TP_printk("ifindex=%d addr=%pI6c/%d %s %s", __entry->ifindex, __entry->addr,
		  __entry->plen, __print_symbolic(__entry->event, net6_trace_events),
		  __print_symbolic(__entry->state, net6_trace_addr_states))
);

TRACE_EVENT(net6_dad,
	TP_PROTO(int ifindex, const struct in6_addr *addr, int event, int left),
	TP_ARGS(ifindex, addr, event, left),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, event)
		__field(int, left)
		__array(__u8, addr, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->event = event;
		__entry->left = left;
		memcpy(__entry->addr, addr, sizeof(*addr));
	),
	TP_printk("ifindex=%d addr=%pI6c %s left=%d", __entry->ifindex, __entry->addr,
		  __print_symbolic(__entry->event, net6_trace_dad_events), __entry->left)
);

TRACE_EVENT(net6_router,
	TP_PROTO(int ifindex, const struct in6_addr *addr, int event, int preference,
		 u32 lifetime),
	TP_ARGS(ifindex, addr, event, preference, lifetime),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, event)
		__field(int, preference)
		__field(u32, lifetime)
		__array(__u8, addr, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->event = event;
		__entry->preference = preference;
		__entry->lifetime = lifetime;
		memcpy(__entry->addr, addr, sizeof(*addr));
	),
	TP_printk("ifindex=%d addr=%pI6c %s preference=%d lifetime=%u", __entry->ifindex,
		  __entry->addr, __print_symbolic(__entry->event, net6_trace_events),
		  __entry->preference, __entry->lifetime)
);

TRACE_EVENT(net6_prefix,
	TP_PROTO(int ifindex, const struct in6_addr *prefix, int plen, int event, u32 valid),
	TP_ARGS(ifindex, prefix, plen, event, valid),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, plen)
		__field(int, event)
		__field(u32, valid)
		__array(__u8, prefix, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->plen = plen;
		__entry->event = event;
		__entry->valid = valid;
		memcpy(__entry->prefix, prefix, sizeof(*prefix));
	),
	TP_printk("ifindex=%d prefix=%pI6c/%d %s valid=%u", __entry->ifindex, __entry->prefix,
		  __entry->plen, __print_symbolic(__entry->event, net6_trace_events),
		  __entry->valid)
);

TRACE_EVENT(net6_route,
	TP_PROTO(int ifindex, const struct in6_addr *prefix, int plen,
		 const struct in6_addr *gateway, int event, int preference, u32 lifetime),
	TP_ARGS(ifindex, prefix, plen, gateway, event, preference, lifetime),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, plen)
		__field(int, event)
		__field(int, preference)
		__field(u32, lifetime)
		__array(__u8, prefix, sizeof(struct in6_addr))
		__array(__u8, gateway, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->plen = plen;
		__entry->event = event;
		__entry->preference = preference;
		__entry->lifetime = lifetime;
		memcpy(__entry->prefix, prefix, sizeof(*prefix));
		memcpy(__entry->gateway, gateway, sizeof(*gateway));
	),
	TP_printk("ifindex=%d prefix=%pI6c/%d gateway=%pI6c %s preference=%d lifetime=%u",
		  __entry->ifindex, __entry->prefix, __entry->plen, __entry->gateway,
		  __print_symbolic(__entry->event, net6_trace_events), __entry->preference,
		  __entry->lifetime)
);

TRACE_EVENT(net6_tcp_state,
	TP_PROTO(const void *skaddr, const struct in6_addr *laddr, u16 lport,
		 const struct in6_addr *raddr, u16 rport, int was, int now),
	TP_ARGS(skaddr, laddr, lport, raddr, rport, was, now),
	TP_STRUCT__entry(
		__field(const void *, skaddr)
		__field(u16, lport)
		__field(u16, rport)
		__field(int, was)
		__field(int, now)
		__array(__u8, laddr, sizeof(struct in6_addr))
		__array(__u8, raddr, sizeof(struct in6_addr))
	),
	TP_fast_assign(
		__entry->skaddr = skaddr;
		__entry->lport = lport;
		__entry->rport = rport;
		__entry->was = was;
		__entry->now = now;
		memcpy(__entry->laddr, laddr, sizeof(*laddr));
		memcpy(__entry->raddr, raddr, sizeof(*raddr));
	),
	TP_printk("sk=%p [%pI6c]:%u [%pI6c]:%u %s -> %s", __entry->skaddr, __entry->laddr,
		  __entry->lport, __entry->raddr, __entry->rport,
		  __print_symbolic(__entry->was, net6_trace_tcp_states),
		  __print_symbolic(__entry->now, net6_trace_tcp_states))
);

TRACE_EVENT(net6_tunnel_drop,
	TP_PROTO(int ifindex, int reason),
	TP_ARGS(ifindex, reason),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, reason)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->reason = reason;
	),
	TP_printk("ifindex=%d reason=%s", __entry->ifindex, net6_drop_name(__entry->reason))
);

TRACE_EVENT(net6_tunnel_error,
	TP_PROTO(int ifindex, int type, int code, u32 info),
	TP_ARGS(ifindex, type, code, info),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, type)
		__field(int, code)
		__field(u32, info)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->type = type;
		__entry->code = code;
		__entry->info = info;
	),
	TP_printk("ifindex=%d type=%d code=%d info=%u", __entry->ifindex, __entry->type,
		  __entry->code, __entry->info)
);

#endif /* _NET6_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH observe
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
