# SPDX-License-Identifier: GPL-2.0
"""Neighbor Advertisements that others may send as well, RFC 4861 7.2.7 and 7.2.8: tests of how
they wait (core/answer.c), played on anycast and on proxied addresses.

    answers.tests(here)

Registers them. Once set up is done, here() says where: a Here.
"""

import collections
import threading
import time

import ktap
import nd

# ns: net6's namespace; wire: who asks, as peer; ours: an address of net6 that is no answer's
# target; target: the address; there: a context manager, in which it is answered for.
Here = collections.namedtuple("Here", "ns wire ours peer target there")
MOST = 8		# wait at a time, NET6_ANSWERS_MAX


class Place:
    """What tests do in a Here."""

    def __init__(self, here):
        self.here = here()
        self.wire, self.target = self.here.wire, self.here.target
        self.wire.flush()

    def ask(self, source, target=None):
        self.wire.send(nd.ns(source, target or self.target,
                             slla=None if source == nd.ANY else self.wire.mac))

    def advert(self, dest, target=None):
        return lambda f: (f.type == nd.NA and nd.same(f.target, target or self.target)
                          and nd.same(f.dest, dest))

    def timed(self, source):
        """Seconds from a question to its answer. Another is answered at once, by which one
        knows when the question was there.
        """
        self.ask(source, self.here.ours)
        self.ask(source)
        first = self.wire.expect(self.advert(source, self.here.ours), "advertisement at once")
        return self.wire.expect(self.advert(source), "advertisement").time - first.time


def delay(here):
    """MAX_ANYCAST_DELAY_TIME is a second."""
    place = Place(here)
    with place.here.there():
        gaps = [place.timed(f"2001:db8:1::b:{number + 1:x}") for number in range(6)]
    ktap.true(all(gap <= 1 + ktap.SCALE for gap in gaps), f"a second at most: {gaps}")
    ktap.true(max(gaps) > 0.02, f"not at once: {gaps}")


def one_question(here):
    """Asked again while the answer waits. It comes between two questions now and then."""
    place = Place(here)
    with place.here.there():
        for _ in range(5 * MOST):
            place.ask(place.here.peer)
        place.wire.expect(place.advert(place.here.peer), "advertisement")
        more = len(place.wire.collect(place.advert(place.here.peer), 1.5))
    ktap.true(more < 2 * MOST, f"{1 + more} answers to {5 * MOST} questions")


def many(here):
    """More than can wait: the rest is answered at once."""
    place = Place(here)
    sources = [f"2001:db8:1::c:{n:x}" for n in range(5 * MOST)]
    with place.here.there():
        for source in sources:
            place.ask(source)
        left = set(sources)
        while left:
            frame = place.wire.expect(lambda f: f.type == nd.NA and nd.same(
                f.target, place.target) and f.dest in left, f"advertisements for {len(left)}")
            left.remove(frame.dest)


def probe_to_all(here):
    """7.2.4: to a source of :: by all-nodes, Solicited flag clear."""
    place = Place(here)
    with place.here.there():
        place.ask(nd.ANY)
        frame = place.wire.expect(place.advert(nd.ALL_NODES), "advertisement")
        ktap.equal((frame.source, frame.flags, frame.option(nd.TLLA)),
                   (nd.linklocal(place.here.ns), 0, nd.mac_bytes(place.wire.peer)),
                   "advertisement")


def over(here):
    """Questions come on and on until the address is gone, so that there is always an answer that
    waits.
    """
    place, stop = Place(here), threading.Event()

    def answer(frame):
        return frame.type == nd.NA and nd.same(frame.target, place.target)

    def keep_asking():
        number = 0
        while not stop.wait(0.01):
            number += 1
            place.ask(f"2001:db8:1::d:{number % 64 + 1:x}")

    asking = threading.Thread(target=keep_asking)
    asking.start()
    try:
        with place.here.there():
            for _ in range(3 * MOST):
                place.wire.expect(answer, "advertisement")
        # Who leaves an anycast address is not waited for.
        ktap.wait_for(5, "the address is gone", lambda: not nd.find(
            place.here.ns, "groups", nd.solicited_node(place.target)))
        gone = time.time() + 0.2		# with what was being sent
    finally:
        stop.set()
        asking.join()
    late = [frame for frame in place.wire.collect(answer, 1.5) if frame.time > gone]
    ktap.equal(late, [], "advertisements in the end")


def tests(here):
    """Registers them under the names that say what is so."""
    for name, function in (
            ("the delay is random and a second at most", delay),
            ("one question one answer", one_question),
            ("many questions are all answered", many),
            ("a probe of another node is answered to all", probe_to_all),
            ("what waits is not sent when it is over", over)):
        ktap.test(name)(lambda function=function: function(here))
