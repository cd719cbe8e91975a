#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a kilobyte through a tunnel over IPv4 costs: net6's configured tunnel beside the
# kernel's sit, between the same namespaces, in counted instructions. In a guest:
#
#	scripts/guest --virtual-time --copy scripts/bench --copy tools \
#		-- bash scripts/bench/tunnel.sh
#
# Prints a table; a ratio above 1 says that net6 is cheaper. SECONDS_EACH: of guest time for
# each measurement (2).
set -u

seconds_each=${SECONDS_EACH:-2}
# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
begin

for module in veth sit tunnel4 libsha256; do modprobe -q $module || true; done
insmod "$NET6_BUILD/net6/net6.ko" attach=manual || die "cannot load net6"
make_link

# The native tunnel carries fd00:3::/64, ours fd00:4::/64.
for end in client:1:2 server:2:1; do
	IFS=: read -r ns n other <<<"$end"
	ip -n "$ns" tunnel add native mode sit local 10.1.0.$n remote 10.1.0.$other pmtudisc
	ip -n "$ns" link set native up
	ip -n "$ns" addr add fd00:3::$n/64 dev native nodad
done

# One IPv4 pair has one tunnel: ours gets addresses of its own.
for end in client:1:2 server:2:1; do
	IFS=: read -r ns n other <<<"$end"
	dev=c1; [ "$ns" = server ] && dev=s1
	ip -n "$ns" addr add 10.2.0.$n/24 dev $dev
done
for end in client:1:2 server:2:1; do
	IFS=: read -r ns n other <<<"$end"
	ip netns exec "$ns" "$NET6CTL" tunnel add net6 remote 10.2.0.$other local 10.2.0.$n ||
		die "no tunnel in $ns"
	ip netns exec "$ns" "$NET6CTL" add address fd00:4::$n/64 dev net6
	wait_for 20 address_ready "$ns" fd00:4::$n || die "no address in $ns"
done

address_of() { case $1 in native) echo fd00:3::2 ;; net6) echo fd00:4::2 ;; esac; }
for stack in native net6; do
	background server $(wrap_of $stack) iperf3 -s -B "$(address_of $stack)" \
		-p "$(iperf_port $stack)"
done
for stack in native net6; do
	wait_for 30 in_client $(wrap_of $stack) iperf3 -c "$(address_of $stack)" \
		-p "$(iperf_port $stack)" -n 64K || die "no iperf3 server on $stack"
done

for _ in 1 2; do
	for stack in native net6; do
		bench_iperf "iperf3 TCP through a tunnel, client to server, per KB" $stack \
			-t "$seconds_each"
		bench_iperf "iperf3 TCP through a tunnel, server to client, per KB" $stack \
			-t "$seconds_each" -R
	done
done
print_table "instructions per KB, both ends" native net6
awk -F'\t' '{ n[$2]++; sum[$2] += $3 }
	END { r = sum["native"] / n["native"] / (sum["net6"] / n["net6"])
	      printf "sit/net6: %.2f\n", r; exit !(r >= 1) }' "$results"
