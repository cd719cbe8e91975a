// SPDX-License-Identifier: GPL-2.0
/* RFC 4861 appendix C, with the table of section 7.2.5 for advertisements: one
 * function per event, no time, no memory. The caller does what comes back.
 */
#include <linux/types.h>

#include "neigh_fsm.h"

static struct net6_neigh_step net6_neigh_stay(enum net6_neigh_state state)
{
	return (struct net6_neigh_step){ .state = state };
}

static struct net6_neigh_step net6_neigh_go(enum net6_neigh_state state, u32 actions)
{
	return (struct net6_neigh_step){ .state = state, .actions = actions };
}

static struct net6_neigh_step net6_neigh_packet(enum net6_neigh_state state)
{
	switch (state) {
	case NET6_NEIGH_NONE:
	case NET6_NEIGH_FAILED:
		/* RFC 4861 7.2.2: make the entry, solicit, queue the packet */
		return net6_neigh_go(NET6_NEIGH_INCOMPLETE,
				     NET6_NEIGH_DO_RESTART | NET6_NEIGH_DO_QUEUE |
				     NET6_NEIGH_DO_MULTICAST | NET6_NEIGH_DO_RETRANS);
	case NET6_NEIGH_INCOMPLETE:
		return net6_neigh_go(state, NET6_NEIGH_DO_QUEUE);
	case NET6_NEIGH_STALE:
		/* RFC 4861 7.3.3: the first packet starts the delay */
		return net6_neigh_go(NET6_NEIGH_DELAY,
				     NET6_NEIGH_DO_SEND | NET6_NEIGH_DO_DELAY);
	default:
		return net6_neigh_go(state, NET6_NEIGH_DO_SEND);
	}
}

static struct net6_neigh_step net6_neigh_timer(enum net6_neigh_state state, u32 cond)
{
	switch (state) {
	case NET6_NEIGH_INCOMPLETE:
		if (cond & NET6_NEIGH_IF_LAST)
			return net6_neigh_go(NET6_NEIGH_FAILED, NET6_NEIGH_DO_FAIL);
		return net6_neigh_go(state, NET6_NEIGH_DO_MULTICAST | NET6_NEIGH_DO_RETRANS);
	case NET6_NEIGH_REACHABLE:
		return net6_neigh_go(NET6_NEIGH_STALE, 0);
	case NET6_NEIGH_DELAY:
		return net6_neigh_go(NET6_NEIGH_PROBE,
				     NET6_NEIGH_DO_RESTART | NET6_NEIGH_DO_UNICAST |
				     NET6_NEIGH_DO_RETRANS);
	case NET6_NEIGH_PROBE:
		if (cond & NET6_NEIGH_IF_LAST)
			return net6_neigh_go(NET6_NEIGH_FAILED, NET6_NEIGH_DO_FAIL);
		return net6_neigh_go(state, NET6_NEIGH_DO_UNICAST | NET6_NEIGH_DO_RETRANS);
	case NET6_NEIGH_FAILED:
		/* RFC 4191 3.5: one may be sent again, but not without a packet that wants it */
		if (!(cond & NET6_NEIGH_IF_WANTED))
			return net6_neigh_go(state, NET6_NEIGH_DO_RECHOOSE);
		return net6_neigh_go(NET6_NEIGH_INCOMPLETE,
				     NET6_NEIGH_DO_RESTART | NET6_NEIGH_DO_MULTICAST |
				     NET6_NEIGH_DO_RETRANS);
	default:
		return net6_neigh_stay(state);
	}
}

/* RFC 4861 7.3.1: "!INCOMPLETE, upper-layer reachability confirmation". */
static struct net6_neigh_step net6_neigh_confirmed(enum net6_neigh_state state)
{
	switch (state) {
	case NET6_NEIGH_REACHABLE:
		return net6_neigh_go(state, NET6_NEIGH_DO_CONFIRM);
	case NET6_NEIGH_STALE:
	case NET6_NEIGH_DELAY:
	case NET6_NEIGH_PROBE:
		return net6_neigh_go(NET6_NEIGH_REACHABLE,
				     NET6_NEIGH_DO_CONFIRM | NET6_NEIGH_DO_REACHABLE);
	default:
		return net6_neigh_stay(state);
	}
}

/* NS, RS, RA, Redirect: RFC 4861 7.2.3, 6.3.4, 8.3. A message without the address
 * says nothing.
 */
static struct net6_neigh_step net6_neigh_heard(enum net6_neigh_state state, u32 cond)
{
	if (!(cond & NET6_NEIGH_IF_LLADDR) || state == NET6_NEIGH_PERMANENT)
		return net6_neigh_stay(state);

	switch (state) {
	case NET6_NEIGH_NONE:
	case NET6_NEIGH_FAILED:
	case NET6_NEIGH_INCOMPLETE:
		return net6_neigh_go(NET6_NEIGH_STALE,
				     NET6_NEIGH_DO_LLADDR | NET6_NEIGH_DO_STOP |
				     NET6_NEIGH_DO_FLUSH);
	default:
		if (cond & NET6_NEIGH_IF_DIFFERS)
			return net6_neigh_go(NET6_NEIGH_STALE,
					     NET6_NEIGH_DO_LLADDR | NET6_NEIGH_DO_STOP);
		return net6_neigh_stay(state);
	}
}

static struct net6_neigh_step net6_neigh_advert_incomplete(u32 cond)
{
	u32 actions = NET6_NEIGH_DO_LLADDR | NET6_NEIGH_DO_ROUTER | NET6_NEIGH_DO_FLUSH;

	/* RFC 4861 7.2.5: without the address the advertisement is of no use. */
	if (!(cond & NET6_NEIGH_IF_LLADDR))
		return net6_neigh_stay(NET6_NEIGH_INCOMPLETE);
	if (cond & NET6_NEIGH_IF_SOLICITED)
		return net6_neigh_go(NET6_NEIGH_REACHABLE,
				     actions | NET6_NEIGH_DO_CONFIRM | NET6_NEIGH_DO_REACHABLE);
	return net6_neigh_go(NET6_NEIGH_STALE, actions | NET6_NEIGH_DO_STOP);
}

static struct net6_neigh_step net6_neigh_advert(enum net6_neigh_state state, u32 cond)
{
	bool differs = (cond & NET6_NEIGH_IF_LLADDR) && (cond & NET6_NEIGH_IF_DIFFERS);
	u32 actions = NET6_NEIGH_DO_ROUTER;

	switch (state) {
	case NET6_NEIGH_NONE:
	case NET6_NEIGH_FAILED:
		/* RFC 4861 7.2.5: nobody asked; no entry is made */
	case NET6_NEIGH_PERMANENT:
		return net6_neigh_stay(state);
	case NET6_NEIGH_INCOMPLETE:
		return net6_neigh_advert_incomplete(cond);
	default:
		break;
	}

	/* RFC 4861 7.2.5 I: Override clear and another address: doubt, no more. */
	if (differs && !(cond & NET6_NEIGH_IF_OVERRIDE)) {
		if (state == NET6_NEIGH_REACHABLE)
			return net6_neigh_go(NET6_NEIGH_STALE, NET6_NEIGH_DO_STOP);
		return net6_neigh_stay(state);
	}

	/* RFC 4861 7.2.5 II */
	if (differs)
		actions |= NET6_NEIGH_DO_LLADDR;
	if (cond & NET6_NEIGH_IF_SOLICITED)
		return net6_neigh_go(NET6_NEIGH_REACHABLE,
				     actions | NET6_NEIGH_DO_CONFIRM | NET6_NEIGH_DO_REACHABLE);
	if (differs)
		return net6_neigh_go(NET6_NEIGH_STALE, actions | NET6_NEIGH_DO_STOP);
	return net6_neigh_go(state, actions);
}

/**
 * net6_neigh_fsm() - what an event makes of a neighbor
 * @state: its state
 * @event: what has happened
 * @cond: NET6_NEIGH_IF_* that hold
 *
 * Context: any. Return: the new state, and what is to be done.
 */
struct net6_neigh_step net6_neigh_fsm(enum net6_neigh_state state,
				      enum net6_neigh_event event, u32 cond)
{
	switch (event) {
	case NET6_NEIGH_EV_PACKET:
		return net6_neigh_packet(state);
	case NET6_NEIGH_EV_TIMER:
		return net6_neigh_timer(state, cond);
	case NET6_NEIGH_EV_CONFIRM:
		return net6_neigh_confirmed(state);
	case NET6_NEIGH_EV_LLADDR:
		return net6_neigh_heard(state, cond);
	case NET6_NEIGH_EV_NA:
		return net6_neigh_advert(state, cond);
	default:
		return net6_neigh_stay(state);
	}
}
