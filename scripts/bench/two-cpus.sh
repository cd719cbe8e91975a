#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The same operations with two CPUs and by the clock: the client has one, the server the
# other. Nothing is counted, and on a shared, emulated machine a figure is worth little;
# what can be seen is the order of the three stacks. By itself:
#
#	scripts/bench/two-cpus.sh
#
# Stacks take turns at each operation, another one first in each round. Medians over ROUNDS
# (15), and of the ratios of single rounds with the number of those in which net6 took less.
set -u

cd "$(dirname "$0")/../.." || exit
rounds=${ROUNDS:-15}
if [ -z "${NET6_OUT:-}" ]; then
	make -s modules tools KDIR="$(scripts/find-kernel --guest)" && mkdir -p build/bench &&
		gcc -O2 -Wall -o build/bench/netbench scripts/bench/netbench.c || exit
	# As measuring.rst says: with ERMS an emulated copy takes a step for each byte.
	exec scripts/guest --cpus 2 --memory 2G --timeout 1800 --log .guest/two-cpus \
		--qemu-arg -cpu --qemu-arg max,-erms,-fsrm --copy build/bench/netbench \
		--copy scripts/bench --copy tools -- \
		env ROUNDS="$rounds" bash -c 'exec bash "$NET6_COPY/bench/two-cpus.sh"'
fi
cd "$NET6_COPY" || exit
# shellcheck source=scripts/bench/lib.sh
. "$NET6_COPY/bench/lib.sh"
begin
NETBENCH=$NET6_COPY/netbench

for module in veth tunnel4 libsha256; do modprobe -q $module || true; done
insmod "$NET6_BUILD/net6/net6.ko" || die "cannot load net6"
make_link
make_link_net6

# What is started from here on keeps to that CPU.
stay_on() { taskset -pc "$1" $$ >/dev/null || die "cannot keep to CPU $1"; }

stay_on 1
start_echo_servers
start_iperf_servers
for stack in ipv4 native net6; do
	background server "$NETBENCH" -f "$(family_of $stack)" -a "$(address_of $stack)" \
		-p 7002 -s 65536 serve-tcp
	wait_for 30 in_client "$NETBENCH" -f "$(family_of $stack)" -a "$(address_of $stack)" \
		-p 7002 -n 1 -s 65536 tcp-rr || die "no echo server on $stack"
done
stay_on 0

# each FUNCTION NAME ARGUMENTS...: once on each stack.
each() {
	local function=$1 name=$2 stack
	shift 2
	for stack in "${order[@]}"; do
		"$function" "$name" "$stack" "$@"
	done
}
order=(ipv4 native net6)
for ((round = 1; round <= rounds; round++)); do
	each bench_iperf "iperf3 TCP, per KB" -t 1 -O 0.2
	each bench_operation "TCP round trip, 1 B" tcp-rr 500 1 7000
	each bench_operation "TCP round trip, 1 KB" tcp-rr 500 1024 7001
	each bench_operation "TCP connect, exchange 1 B, close" crr 200 1 7000
	each bench_operation "socket() + close()" socket 2000 1 7000
	each bench_operation "TCP connect, close" connect 200 1 7000
	each bench_operation "TCP round trip, 64 KB" tcp-rr 100 65536 7002
	order=("${order[@]:1}" "${order[0]}")
	echo "round $round of $rounds done"
done

# One line of each operation and stack, its median in nanoseconds: what is recorded is half of
# them (lib.sh). Then each round by itself: what else the host does changes more slowly.
all=$results results=/tmp/medians.tsv
cp "$all" "$NET6_OUT/results.tsv"
cut -f1,2 "$all" | awk '!seen[$0]++' | while IFS=$'\t' read -r name stack; do
	awk -F'\t' -v n="$name" -v s="$stack" '$1 == n && $2 == s { print 2 * $3 }' "$all" |
		sort -g | awk -v n="$name" -v s="$stack" '{ v[NR] = $1 }
			END { printf "%s\t%s\t%s\tns\n", n, s,
			      (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
done >"$results"
print_table "nanoseconds by the clock, median of $rounds" ipv4 native net6
echo
awk -F'\t' -v rounds="$rounds" '
	{ v[$1, $2, ++n[$1, $2]] = $3; if (!($1 in seen)) { seen[$1] = 1; order[++rows] = $1 } }
	# Sets less and middle: rounds in which net6 took less, the median of the ratios.
	function compare(name, stack,    i, j, ratio, r) {
		less = 0
		for (i = 1; i <= rounds; i++) {
			ratio = v[name, stack, i] / v[name, "net6", i]
			less += ratio > 1
			for (j = i - 1; j && r[j] > ratio; j--)
				r[j + 1] = r[j]
			r[j + 1] = ratio
		}
		middle = (r[int((rounds + 1) / 2)] + r[int(rounds / 2) + 1]) / 2
	}
	END {
		printf "%-44s %15s %9s %15s %9s\n", "round by round, median of " rounds,
		       "ipv4/net6", "net6 less", "native/net6", "net6 less"
		for (k = 1; k <= rows; k++) {
			printf "%-44s", order[k]
			compare(order[k], "ipv4"); printf " %15.2f %9d", middle, less
			compare(order[k], "native"); printf " %15.2f %9d\n", middle, less
		}
	}' "$all"
