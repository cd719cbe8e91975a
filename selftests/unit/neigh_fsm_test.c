// SPDX-License-Identifier: GPL-2.0
/* The neighbor state machine against RFC 4861 appendix C, row by row, and the
 * properties that hold for every state, event and condition.
 */
#include "unit.h"
#include <linux/kernel.h>
#include "../../net6/core/neigh_fsm.c"

#define S(x)	NET6_NEIGH_##x
#define DO(x)	NET6_NEIGH_DO_##x
#define IF(x)	NET6_NEIGH_IF_##x
#define COND_ALL	0x3f

struct row {
	const char *name;
	enum net6_neigh_state from;
	enum net6_neigh_event event;
	u32 cond;
	enum net6_neigh_state to;
	u32 actions;
};

#define SOLICIT	(DO(RESTART) | DO(QUEUE) | DO(MULTICAST) | DO(RETRANS))
#define PROBES	(DO(RESTART) | DO(UNICAST) | DO(RETRANS))
#define CONFIRMED (DO(CONFIRM) | DO(REACHABLE))

static const struct row rows[] = {
	/* packets to send */
	{ "-, packet", S(NONE), S(EV_PACKET), 0, S(INCOMPLETE), SOLICIT },
	{ "failed, packet", S(FAILED), S(EV_PACKET), 0, S(INCOMPLETE), SOLICIT },
	{ "incomplete, packet", S(INCOMPLETE), S(EV_PACKET), 0, S(INCOMPLETE), DO(QUEUE) },
	{ "stale, packet", S(STALE), S(EV_PACKET), 0, S(DELAY), DO(SEND) | DO(DELAY) },
	{ "reachable, packet", S(REACHABLE), S(EV_PACKET), 0, S(REACHABLE), DO(SEND) },
	{ "delay, packet", S(DELAY), S(EV_PACKET), 0, S(DELAY), DO(SEND) },
	{ "probe, packet", S(PROBE), S(EV_PACKET), 0, S(PROBE), DO(SEND) },
	{ "permanent, packet", S(PERMANENT), S(EV_PACKET), 0, S(PERMANENT), DO(SEND) },

	/* timers */
	{ "incomplete, retransmit, less than N", S(INCOMPLETE), S(EV_TIMER), 0,
	  S(INCOMPLETE), DO(MULTICAST) | DO(RETRANS) },
	{ "incomplete, retransmit, N or more", S(INCOMPLETE), S(EV_TIMER), IF(LAST),
	  S(FAILED), DO(FAIL) },
	{ "reachable, timeout", S(REACHABLE), S(EV_TIMER), 0, S(STALE), 0 },
	{ "delay, timeout", S(DELAY), S(EV_TIMER), 0, S(PROBE), PROBES },
	{ "delay, timeout, count of old", S(DELAY), S(EV_TIMER), IF(LAST), S(PROBE), PROBES },
	{ "probe, retransmit, less than N", S(PROBE), S(EV_TIMER), 0, S(PROBE),
	  DO(UNICAST) | DO(RETRANS) },
	{ "probe, retransmit, N or more", S(PROBE), S(EV_TIMER), IF(LAST), S(FAILED), DO(FAIL) },
	{ "stale, timer", S(STALE), S(EV_TIMER), 0, S(STALE), 0 },
	{ "failed, a minute is over", S(FAILED), S(EV_TIMER), 0, S(FAILED), DO(RECHOOSE) },
	{ "failed, it is wanted", S(FAILED), S(EV_TIMER), IF(WANTED), S(INCOMPLETE),
	  DO(RESTART) | DO(MULTICAST) | DO(RETRANS) },

	/* upper-layer reachability confirmation */
	{ "incomplete, confirmation", S(INCOMPLETE), S(EV_CONFIRM), 0, S(INCOMPLETE), 0 },
	{ "none, confirmation", S(NONE), S(EV_CONFIRM), 0, S(NONE), 0 },
	{ "failed, confirmation", S(FAILED), S(EV_CONFIRM), 0, S(FAILED), 0 },
	{ "reachable, confirmation", S(REACHABLE), S(EV_CONFIRM), 0, S(REACHABLE), DO(CONFIRM) },
	{ "stale, confirmation", S(STALE), S(EV_CONFIRM), 0, S(REACHABLE), CONFIRMED },
	{ "delay, confirmation", S(DELAY), S(EV_CONFIRM), 0, S(REACHABLE), CONFIRMED },
	{ "probe, confirmation", S(PROBE), S(EV_CONFIRM), 0, S(REACHABLE), CONFIRMED },

	/* NS, RS, RA, Redirect */
	{ "-, NS", S(NONE), S(EV_LLADDR), IF(LLADDR) | IF(DIFFERS), S(STALE),
	  DO(LLADDR) | DO(STOP) | DO(FLUSH) },
	{ "incomplete, NS", S(INCOMPLETE), S(EV_LLADDR), IF(LLADDR) | IF(DIFFERS), S(STALE),
	  DO(LLADDR) | DO(STOP) | DO(FLUSH) },
	{ "failed, NS, known address", S(FAILED), S(EV_LLADDR), IF(LLADDR), S(STALE),
	  DO(LLADDR) | DO(STOP) | DO(FLUSH) },
	{ "reachable, NS, different", S(REACHABLE), S(EV_LLADDR), IF(LLADDR) | IF(DIFFERS),
	  S(STALE), DO(LLADDR) | DO(STOP) },
	{ "probe, NS, different", S(PROBE), S(EV_LLADDR), IF(LLADDR) | IF(DIFFERS), S(STALE),
	  DO(LLADDR) | DO(STOP) },
	{ "reachable, NS, same", S(REACHABLE), S(EV_LLADDR), IF(LLADDR), S(REACHABLE), 0 },
	{ "probe, NS, same", S(PROBE), S(EV_LLADDR), IF(LLADDR), S(PROBE), 0 },
	{ "incomplete, RA without address", S(INCOMPLETE), S(EV_LLADDR), 0, S(INCOMPLETE), 0 },
	{ "permanent, NS, different", S(PERMANENT), S(EV_LLADDR), IF(LLADDR) | IF(DIFFERS),
	  S(PERMANENT), 0 },

	/* NA while INCOMPLETE: Override has no meaning */
	{ "incomplete, NA, no address", S(INCOMPLETE), S(EV_NA), IF(SOLICITED) | IF(OVERRIDE),
	  S(INCOMPLETE), 0 },
	{ "incomplete, NA, S=0", S(INCOMPLETE), S(EV_NA), IF(LLADDR) | IF(DIFFERS), S(STALE),
	  DO(LLADDR) | DO(ROUTER) | DO(FLUSH) | DO(STOP) },
	{ "incomplete, NA, S=1", S(INCOMPLETE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED), S(REACHABLE),
	  DO(LLADDR) | DO(ROUTER) | DO(FLUSH) | CONFIRMED },
	{ "incomplete, NA, S=0 O=1", S(INCOMPLETE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(OVERRIDE), S(STALE),
	  DO(LLADDR) | DO(ROUTER) | DO(FLUSH) | DO(STOP) },

	/* NA otherwise */
	{ "stale, NA, S=1 O=0, same", S(STALE), S(EV_NA), IF(LLADDR) | IF(SOLICITED),
	  S(REACHABLE), DO(ROUTER) | CONFIRMED },
	{ "reachable, NA, S=1 O=0, different", S(REACHABLE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED), S(STALE), DO(STOP) },
	{ "stale, NA, S=1 O=0, different", S(STALE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED), S(STALE), 0 },
	{ "probe, NA, S=1 O=0, different", S(PROBE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED), S(PROBE), 0 },
	{ "delay, NA, S=0 O=0, different", S(DELAY), S(EV_NA), IF(LLADDR) | IF(DIFFERS),
	  S(DELAY), 0 },
	{ "reachable, NA, S=0 O=0, different", S(REACHABLE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS), S(STALE), DO(STOP) },
	{ "probe, NA, S=1 O=1, same", S(PROBE), S(EV_NA),
	  IF(LLADDR) | IF(SOLICITED) | IF(OVERRIDE), S(REACHABLE), DO(ROUTER) | CONFIRMED },
	{ "probe, NA, S=1 O=1, different", S(PROBE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED) | IF(OVERRIDE), S(REACHABLE),
	  DO(LLADDR) | DO(ROUTER) | CONFIRMED },
	{ "probe, NA, S=1, no address", S(PROBE), S(EV_NA), IF(SOLICITED), S(REACHABLE),
	  DO(ROUTER) | CONFIRMED },
	{ "probe, NA, S=0, no address", S(PROBE), S(EV_NA), 0, S(PROBE), DO(ROUTER) },
	{ "reachable, NA, S=0 O=1, same", S(REACHABLE), S(EV_NA), IF(LLADDR) | IF(OVERRIDE),
	  S(REACHABLE), DO(ROUTER) },
	{ "reachable, NA, S=0 O=1, different", S(REACHABLE), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(OVERRIDE), S(STALE), DO(LLADDR) | DO(ROUTER) | DO(STOP) },
	{ "none, NA", S(NONE), S(EV_NA), IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED) | IF(OVERRIDE),
	  S(NONE), 0 },
	{ "failed, NA", S(FAILED), S(EV_NA), IF(LLADDR) | IF(SOLICITED) | IF(OVERRIDE),
	  S(FAILED), 0 },
	{ "permanent, NA", S(PERMANENT), S(EV_NA),
	  IF(LLADDR) | IF(DIFFERS) | IF(SOLICITED) | IF(OVERRIDE), S(PERMANENT), 0 },
};

TEST(appendix_c__every_row)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct net6_neigh_step step = net6_neigh_fsm(r->from, r->event, r->cond);

		unit_case(r->name);
		EXPECT_EQ(step.state, r->to);
		EXPECT_EQ(step.actions, r->actions);
	}
}

#define FOR_ALL(state, event, cond)						\
	for (state = 0; state < NET6_NEIGH_STATES; state++)			\
		for (event = 0; event < NET6_NEIGH_EVENTS; event++)		\
			for (cond = 0; cond <= COND_ALL; cond++)

TEST(always__state_is_one_of_the_table)
{
	u32 state, event, cond;

	FOR_ALL(state, event, cond)
		EXPECT_LT(net6_neigh_fsm(state, event, cond).state, NET6_NEIGH_STATES);
}

TEST(always__permanent_stays)
{
	u32 event, cond;

	for (event = 0; event < NET6_NEIGH_EVENTS; event++)
		for (cond = 0; cond <= COND_ALL; cond++)
			EXPECT_EQ(net6_neigh_fsm(S(PERMANENT), event, cond).state, S(PERMANENT));
}

TEST(always__at_most_one_timer)
{
	u32 timers = DO(RETRANS) | DO(DELAY) | DO(REACHABLE) | DO(STOP);
	u32 state, event, cond;

	FOR_ALL(state, event, cond)
		EXPECT_LE(__builtin_popcount(net6_neigh_fsm(state, event, cond).actions & timers),
			  1);
}

TEST(always__waiting_states_have_their_timer)
{
	u32 state, event, cond;

	/* Whoever enters such a state anew must start its timer, or it never ends. */
	FOR_ALL(state, event, cond) {
		struct net6_neigh_step step = net6_neigh_fsm(state, event, cond);

		if (step.state == state && event != S(EV_TIMER))
			continue;
		if (step.state == S(INCOMPLETE) || step.state == S(PROBE))
			if (event == S(EV_TIMER) || step.state != state)
				EXPECT_TRUE(step.actions & DO(RETRANS));
		if (step.state == S(DELAY) && step.state != state)
			EXPECT_TRUE(step.actions & DO(DELAY));
		if (step.state == S(REACHABLE) && step.state != state)
			EXPECT_TRUE(step.actions & DO(REACHABLE));
	}
}

TEST(always__an_address_is_taken_only_from_a_message_that_has_one)
{
	u32 state, event, cond;

	FOR_ALL(state, event, cond) {
		if (net6_neigh_fsm(state, event, cond).actions & DO(LLADDR)) {
			EXPECT_TRUE(cond & IF(LLADDR));
			EXPECT_TRUE(event == S(EV_LLADDR) || event == S(EV_NA));
		}
	}
}

TEST(always__without_override_a_known_address_is_not_replaced)
{
	static const enum net6_neigh_state known[] = {
		S(REACHABLE), S(STALE), S(DELAY), S(PROBE)
	};
	unsigned int i;
	u32 cond;

	for (i = 0; i < 4; i++)
		for (cond = 0; cond <= COND_ALL; cond++)
			if (!(cond & IF(OVERRIDE)))
				EXPECT_FALSE(net6_neigh_fsm(known[i], S(EV_NA), cond).actions &
					     DO(LLADDR));
}

TEST(always__only_solicited_answers_and_progress_confirm)
{
	u32 state, event, cond;

	FOR_ALL(state, event, cond) {
		struct net6_neigh_step step = net6_neigh_fsm(state, event, cond);

		if (step.actions & DO(CONFIRM))
			EXPECT_TRUE(event == S(EV_CONFIRM) ||
				    (event == S(EV_NA) && (cond & IF(SOLICITED))));
		if (step.state == S(REACHABLE) && state != S(REACHABLE))
			EXPECT_TRUE(step.actions & DO(CONFIRM));
	}
}

TEST(always__queued_packets_leave_incomplete_one_way_or_the_other)
{
	u32 event, cond;

	for (event = 0; event < NET6_NEIGH_EVENTS; event++) {
		for (cond = 0; cond <= COND_ALL; cond++) {
			struct net6_neigh_step step = net6_neigh_fsm(S(INCOMPLETE), event, cond);

			if (step.state != S(INCOMPLETE))
				EXPECT_TRUE(step.actions & (DO(FLUSH) | DO(FAIL)));
		}
	}
}
