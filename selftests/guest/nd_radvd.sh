#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A real router: radvd on a native stack configures net6; prefix and route are used.
#
#	A [a0 net6] ------ [b0 native, radvd] B
# guest: both
# timeout: 90
. "$(dirname "$0")/../lib/ktap.sh"
. "$(dirname "$0")/../lib/netns.sh"

plan 5

shows() { nsx A net6ctl show "$1" | grep -q "$2"; }

check "module loads" net6_load
netns_pair
native_addr B b0 fd00:77::1/64
nsx B ip -6 addr add 2001:db8:77::1/128 dev lo nodad
nsx B sysctl -qw net.ipv6.conf.all.forwarding=1
cat >"$ktap_tmp/radvd.conf" <<'EOF'
interface b0 {
	AdvSendAdvert on;
	MinRtrAdvInterval 3;
	MaxRtrAdvInterval 4;
	AdvLinkMTU 1400;
	AdvCurHopLimit 44;
	prefix fd00:77::/64 { AdvValidLifetime 600; AdvPreferredLifetime 300; };
};
EOF
chmod 755 "$ktap_tmp"
nsx B radvd -n -C "$ktap_tmp/radvd.conf" -p "$ktap_tmp/radvd.pid" -m stderr -u root \
	>"$ktap_tmp/radvd.log" 2>&1 &

wait_for 15 "an address in the prefix is preferred" shows addresses 'fd00:77::.*/64.*preferred' &&
	ok "address by autoconfiguration" ||
	fail "address by autoconfiguration" "$(cat "$ktap_tmp/radvd.log"; nsx A net6ctl show addresses)"
check "default router" shows routers fe80::
check "MTU and hop limit of the advertisement" shows interfaces '1400.*44'
address=$(nsx A net6ctl show addresses | grep -o 'fd00:77::[0-9a-f:]*' | head -1)
check "native pings the address through the router's other one" \
	nsx B ping -6 -c 3 -i 0.2 -W 5 -I 2001:db8:77::1 "$address"
