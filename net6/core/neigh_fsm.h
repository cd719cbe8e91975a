/* SPDX-License-Identifier: GPL-2.0 */
/* The neighbor state machine of RFC 4861 section 7.3.3 and appendix C as a pure
 * function: (state, event) to (state, actions). No time, no memory, no kernel.
 */
#ifndef _NET6_NEIGH_FSM_H
#define _NET6_NEIGH_FSM_H

#include <linux/types.h>

enum net6_neigh_state {
	NET6_NEIGH_NONE,	/* just made, nothing asked yet */
	NET6_NEIGH_INCOMPLETE,
	NET6_NEIGH_REACHABLE,
	NET6_NEIGH_STALE,
	NET6_NEIGH_DELAY,
	NET6_NEIGH_PROBE,
	NET6_NEIGH_FAILED,	/* probes ran out; the next packet starts over */
	NET6_NEIGH_PERMANENT,	/* set by the administrator or the link */
	NET6_NEIGH_STATES
};

enum net6_neigh_event {
	NET6_NEIGH_EV_PACKET,	/* a packet is to be sent */
	NET6_NEIGH_EV_TIMER,	/* the state's timer has run out */
	NET6_NEIGH_EV_CONFIRM,	/* forward progress seen by an upper protocol */
	NET6_NEIGH_EV_LLADDR,	/* NS, RS, RA or Redirect with its link-layer address */
	NET6_NEIGH_EV_NA,	/* Neighbor Advertisement */
	NET6_NEIGH_EVENTS
};

/* Conditions that go with an event. */
#define NET6_NEIGH_IF_LLADDR	0x01	/* the message has a link-layer address */
#define NET6_NEIGH_IF_DIFFERS	0x02	/* and it is not the one we know */
#define NET6_NEIGH_IF_SOLICITED	0x04	/* NA: Solicited flag */
#define NET6_NEIGH_IF_OVERRIDE	0x08	/* NA: Override flag */
#define NET6_NEIGH_IF_LAST	0x10	/* timer: this state's solicitations are all sent */
#define NET6_NEIGH_IF_WANTED	0x20	/* timer: packets would go to it if it answered */

/* What the caller has to do, in this order. */
#define NET6_NEIGH_DO_LLADDR	0x0001	/* take over the link-layer address */
#define NET6_NEIGH_DO_ROUTER	0x0002	/* set IsRouter from the NA's Router flag */
#define NET6_NEIGH_DO_CONFIRM	0x0004	/* reachability is confirmed as of now */
#define NET6_NEIGH_DO_RESTART	0x0008	/* count this state's solicitations from 0 */
#define NET6_NEIGH_DO_QUEUE	0x0010	/* keep the packet for later */
#define NET6_NEIGH_DO_MULTICAST	0x0020	/* solicit by multicast, count it */
#define NET6_NEIGH_DO_UNICAST	0x0040	/* solicit by unicast, count it */
#define NET6_NEIGH_DO_RETRANS	0x0080	/* timer: RetransTimer */
#define NET6_NEIGH_DO_DELAY	0x0100	/* timer: DELAY_FIRST_PROBE_TIME */
#define NET6_NEIGH_DO_REACHABLE	0x0200	/* timer: ReachableTime */
#define NET6_NEIGH_DO_STOP	0x0400	/* no timer */
#define NET6_NEIGH_DO_FLUSH	0x0800	/* send what is queued */
#define NET6_NEIGH_DO_FAIL	0x1000	/* answer what is queued with unreachable; next-hop
					 * determination starts over (RFC 4861 7.3.3)
					 */
#define NET6_NEIGH_DO_SEND	0x2000	/* send the packet */
#define NET6_NEIGH_DO_RECHOOSE	0x4000	/* next-hop determination starts over */

/* RFC 4861 section 10 */
#define NET6_MAX_MULTICAST_SOLICIT	3

/**
 * struct net6_neigh_step - the outcome of an event
 * @state: the new state
 * @actions: NET6_NEIGH_DO_*
 */
struct net6_neigh_step {
	enum net6_neigh_state	state;
	u32			actions;
};

struct net6_neigh_step net6_neigh_fsm(enum net6_neigh_state state,
				      enum net6_neigh_event event, u32 cond);

#endif /* _NET6_NEIGH_FSM_H */
