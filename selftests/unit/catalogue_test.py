#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""That the guest tests cat_*.py have a named test for each case of a host's catalogue. Those are
the titles of the IPv6 Ready phase-2 core tests, with their numbers of cases. Nothing is run, names
are read.
"""

import importlib.util
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
LIB, GUEST = HERE + "/../lib", HERE + "/../guest"

# RFC: (title, cases, the names of their tests behind the RFC's number)
CATALOGUE = {
    8200: (
        ("version field", 1, "3: a version"),
        ("traffic class", 1, "3, 7: a traffic class"),
        ("flow label", 1, "3, 6: a flow label"),
        ("payload length, odd and even", 2, "3: an (even|odd) payload length"),
        ("no next header", 1, "4.7: no next header behind the IPv6"),
        ("unrecognised or unexpected next header", 2, "4: an un.* in the IPv6 header"),
        ("hop limit zero", 1, "3: hop limit 0"),
        ("next header zero", 1, "4: next header 0"),
        ("no next header behind an extension header", 1, "4.7: .* behind an extension header"),
        ("the same inside an extension header", 2, "4: an un.* in an extension header"),
        ("order of extension headers", 4, "4.1: "),
        ("order of options", 3, "4.2: "),
        ("hop-by-hop options", 8, "4.3, hop-by-hop: "),
        ("destination options", 8, "4.6, destination: "),
        ("unrecognised routing type", 2, "4.4: routing type 33,"),
        ("routing type 0", 2, "4.4: routing type 0,"),
        ("reassembly", 6, "4.5: (fragments (in order|backw|of two|to two)|a packet of 1500)"),
        ("reassembly time exceeded", 5, "4.5: (fragments .. seconds|only the)"),
        ("M bit with a bad length", 1, "4.5: a fragment that is not the last"),
        ("atomic fragment", 1, "4.5: an atomic"),
    ),
    4861: (
        ("on-link determination", 3, "5.2: a (link-local destination|destination that)"),
        ("resolution queue", 2, "7.2.2: .*packets that wait"),
        ("prefix on-link flag", 1, "6.3.4: L=0"),
        ("prefix list", 2, "6.3..: (an on-link prefix|a prefix of 96)"),
        ("solicitations for resolution", 2, "7.2.2: a .* MAX_MULTICAST_SOLICIT"),
        ("solicitations for reachability", 4, "7.3.3: .*MAX_UNICAST_SOLICIT"),
        ("invalid solicitations", 8, "7.1.1: "),
        ("solicitation, no entry", 3, "7.2.3: no entry"),
        ("solicitation, INCOMPLETE", 3, "7.2.3: INCOMPLETE"),
        ("solicitation, REACHABLE", 4, "7.2.3: REACHABLE"),
        ("solicitation, STALE", 4, "7.2.3: STALE"),
        ("solicitation, PROBE", 4, "7.2.3: PROBE"),
        ("solicitation, IsRouter", 3, "7.2.3: solicitation from the default router"),
        ("invalid advertisements", 7, "7.1.2: "),
        ("advertisement, no entry", 8, "7.2.5: no entry"),
        ("advertisement, INCOMPLETE", 5, "7.2.5: INCOMPLETE"),
        ("advertisement, REACHABLE", 18, "7.2.5: REACHABLE"),
        ("advertisement, STALE", 18, "7.2.5: STALE"),
        ("advertisement, PROBE", 18, "7.2.5: PROBE"),
        ("R bit changes", 8, "7.2.5: R=0"),
        ("router solicitations", 1, "6.3.7: solicitations begin"),
        ("solicited router advertisements", 6, "6.3.7: after"),
        ("a host ignores router solicitations", 3, "6.2.6: "),
        ("default router switch", 1, "6.3.6, 7.3.3: "),
        ("invalid router advertisements", 6, "6.1.2: "),
        ("current hop limit", 2, "6.3.4: current hop limit"),
        ("router lifetime", 3, "6.3..: (router lifetime|a router is one)"),
        ("reachable time", 2, "6.3.2, 6.3.4: "),
        ("times that are not specified", 0, "6.3.4: re.* 0 is unspecified"),
        ("router advertisement, neighbor cache", 11, "6.3.4: .*, advertisement with"),
        ("router advertisement, IsRouter", 3, "6.3.4: an .* makes a neighbor a router"),
        ("next hop", 1, "6.3.6: the default router that"),
        ("nothing on-link without a router", 1, "5.2: without"),
        ("redirect on-link", 4, "8.3: the destination is on-link, valid"),
        ("redirect on-link, suspicious", 3, "8..: the destination is on-link, (an|res|though)"),
        ("redirect on-link, invalid", 9, "8.1: the destination is on-link, .*: discarded"),
        ("redirect to a router", 4, "8.3: another router, valid"),
        ("redirect to a router, suspicious", 2, "8.1: another router, (an|res)"),
        ("redirect to a router, invalid", 9, "8.1: another router, .*: discarded"),
        ("redirect twice", 1, "8.3: redirected twice"),
        ("redirect, invalid option", 3, "8.1: .* is ignored"),
        ("redirect, no destination entry", 1, "8.3: a destination that nothing"),
        ("redirect, no entry", 4, "8.3: target's entry none"),
        ("redirect, INCOMPLETE", 4, "8.3: target's entry incomplete"),
        ("redirect, REACHABLE", 5, "8.3: target's entry reachable"),
        ("redirect, STALE", 5, "8.3: target's entry stale"),
        ("redirect, PROBE", 5, "8.3: target's entry probe"),
        ("invalid redirect, entry", 9, "8.1: the target's entry is not"),
    ),
    4862: (
        ("DAD", 1, "5.4: "),
        ("NS and NA during DAD", 4, "5.4..: .* (another|the tentative) address is (no|a) conflict"),
        ("invalid NS during DAD", 10, "5.4.3: a probe (of 20|with|to|for a group)"),
        ("invalid NA during DAD", 9, "5.4.4: an advertisement (of 20|with|to|of a group)"),
        ("resolution while tentative", 2, "5.4.3: a solicitation"),
        ("global address and DAD", 3, "5....: a global address"),
        ("lifetime expiry", 1, "5.5.4: an address is"),
        ("renumbering", 1, "5.5.4: a network"),
        ("prefix options", 14, "5.5.[34]( .)?: (each|a prefix|the link|pref|life|a new|a valid)"),
    ),
    8201: (
        ("ping sizes", 3, "3: an echo"),
        ("stored path MTU", 1, "4: each destination"),
        ("non-zero code", 1, "4: .* code"),
        ("reduce on-link", 1, "4: .* about a neighbor"),
        ("reduce off-link", 1, "4: .* behind the router"),
        ("below 1280", 2, "4: .*: discarded"),
        ("increase", 2, "4: .*: no increase"),
        ("router advertisement's MTU", 1, "3: a router"),
        ("check for increase", 1, "5.3: "),
        ("multicast", 2, "5.2: a group"),
    ),
    4443: (
        ("echo sent", 1, "4.1: "),
        ("echo replies", 6, "4.2: "),
        ("port unreachable", 2, "3.1: "),
        ("erroneous header", 2, "3.4: an erroneous"),
        ("unrecognised next header", 1, "3.4: an unrecognised"),
        ("unknown informational", 1, r"2.4 \(b\): "),
        ("multicast destination", 3, r"2.4 \(e.3\): "),
        ("unspecified source", 4, r"2.4 \(e.6\): from the unsp"),
        ("multicast source", 4, r"2.4 \(e.6\): from a group"),
    ),
}


def tests():
    """The names of all tests of cat_*.py."""
    names = []

    def register(name):
        names.append(name)
        return lambda function: function

    os.environ["NET6_FULL"] = "1"
    sys.path[:0] = [LIB, GUEST]
    shutil.copy = lambda source, dest: dest		# a tool, not needed here
    import ktap  # pylint: disable=import-outside-toplevel
    ktap.test = register
    ktap.main = lambda **_: None
    for file in sorted(os.listdir(GUEST)):
        if file.startswith("cat_") and file.endswith(".py"):
            spec = importlib.util.spec_from_file_location(file[:-3], f"{GUEST}/{file}")
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return names


def lacks(names, rfc, title, cases, pattern):
    """Why a title is not covered, or None. Takes its names out."""
    found = [name for name in names if re.match(f"{rfc} {pattern}", name)]
    for name in found:
        names.remove(name)
    if len(set(found)) < cases:
        return f"{rfc}, {title}: {len(set(found))} tests for {cases} cases"
    return None


def main():
    """As KTAP."""
    names = tests()
    count, cases, wrong = len(names), 0, []
    for rfc, titles in CATALOGUE.items():
        for title in titles:
            wrong.append(lacks(names, rfc, *title))
            cases += title[1]
    wrong = [text for text in wrong if text] + [f"in no title: {name}" for name in names]
    if cases != 370:
        wrong.append(f"{cases} cases")
    print("KTAP version 1\n1..1")
    for text in wrong:
        print("# " + text)
    print(f"{'not ' if wrong else ''}ok 1 each of {cases} cases has a test of its own, of {count}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
