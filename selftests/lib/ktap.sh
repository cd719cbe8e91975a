# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# KTAP for shell tests: results with names, waiting on states, one clean-up.
# Source it first; it ends the test by itself (results printed, jobs killed,
# clean-up run). A test that dies half-way fails, as its plan is not met.
#
#	#!/bin/bash
#	# SPDX-License-Identifier: GPL-2.0
#	# What this test proves, and a drawing of its topology.
#	# guest: both			(stock, checking or both; both if not said)
#	# timeout: 60			(seconds on the stock kernel; 120 if not said)
#	# guest-append: ipv6.disable=1	(kernel parameters: gets a boot of its own)
#	# guest-options: --virtual-time	(options of scripts/guest, as above)
#	. "$(dirname "$0")/../lib/ktap.sh"
#	. "$(dirname "$0")/../lib/netns.sh"
#	plan 3
#	check "module loads" net6_load
#	check "ping is answered" nsx B ping -6 -c 1 -W 5 fd00::1
#	wait_for 10 "address is no longer tentative" addr_is_valid A
#	ok "address became valid"
#
# In the guest: NET6_KERNEL is stock or checking, NET6_SCALE what time-outs are
# multiplied by there (wait_for does it itself), NET6_OUT a folder to leave
# captures in.

ktap_n=0 ktap_failed=0 ktap_plan=0 ktap_skipped=0
ktap_cleanup=()
: "${NET6_SCALE:=1}"
ktap_tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktap.XXXXXX")

echo "KTAP version 1"

# plan N: the number of results to come.
plan() {
	ktap_plan=$1
	echo "1..$1"
}

# ok NAME
ok() {
	ktap_n=$((ktap_n + 1))
	echo "ok $ktap_n $1"
}

# fail NAME [WHY]
fail() {
	ktap_n=$((ktap_n + 1))
	ktap_failed=$((ktap_failed + 1))
	[ -z "${2:-}" ] || diag "$2"
	echo "not ok $ktap_n $1"
}

# skip NAME WHY: what cannot be tested here.
skip() {
	ktap_n=$((ktap_n + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_n $1 # SKIP $2"
}

# skip_all WHY: the whole file cannot run here.
skip_all() {
	ktap_n=0 ktap_plan=0
	echo "1..0 # SKIP $1"
	exit 4
}

# diag TEXT...: a note, or a file's content with diag <file.
diag() {
	if [ $# -gt 0 ]; then printf '%s\n' "$*"; else cat; fi | sed 's/^/# /'
}

# check NAME COMMAND...: ok when the command succeeds, its output when not.
check() {
	local name=$1 rc
	shift
	"$@" >"$ktap_tmp/check" 2>&1
	rc=$?
	if [ $rc -eq 0 ]; then
		ok "$name"
	else
		tail -30 "$ktap_tmp/check" | diag
		fail "$name" "status $rc of: $*"
	fi
	return $rc
}

# check_not NAME COMMAND...: ok when the command fails.
check_not() {
	local name=$1
	shift
	if "$@" >"$ktap_tmp/check" 2>&1; then
		tail -30 "$ktap_tmp/check" | diag
		fail "$name" "succeeded: $*"
		return 1
	fi
	ok "$name"
}

# check_eq NAME SEEN WANTED
check_eq() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1" "got '$2', wanted '$3'"
		return 1
	fi
}

# wait_for SECONDS WHAT COMMAND...: polls until the command succeeds. Says what
# was waited for when it does not happen. Seconds are scaled by NET6_SCALE.
wait_for() {
	local end=$((SECONDS + $1 * NET6_SCALE + 1)) what=$2
	shift 2
	until "$@" >"$ktap_tmp/wait" 2>&1; do
		if [ $SECONDS -ge $end ]; then
			diag "waited in vain until $what: $*"
			tail -10 "$ktap_tmp/wait" | diag
			return 1
		fi
		sleep 0.1
	done
}

# bail WHY: nothing more can be learned; the results that are missing fail.
bail() {
	diag "giving up: $1"
	exit 1
}

# at_exit COMMAND: run at the end, last given first.
at_exit() {
	ktap_cleanup=("$1" "${ktap_cleanup[@]}")
}

ktap_exit() {
	local rc=$? command jobs
	trap - EXIT INT TERM
	jobs=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$jobs" ] || { kill $jobs; wait $jobs; } 2>/dev/null
	for command in "${ktap_cleanup[@]}"; do
		eval "$command" >/dev/null 2>&1
	done
	rm -rf "$ktap_tmp"
	[ $rc -ne 4 ] || exit 4
	[ "$ktap_plan" -ne 0 ] || echo "1..$ktap_n"
	if [ "$ktap_plan" -ne 0 ] && [ "$ktap_n" -ne "$ktap_plan" ]; then
		diag "planned $ktap_plan results, had $ktap_n"
		exit 1
	fi
	[ $ktap_failed -eq 0 ] || exit 1
	exit $rc
}
trap ktap_exit EXIT
trap 'exit 1' INT TERM
