# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Modules and network namespaces for shell tests. Source it after ktap.sh.
# Everything made here is removed at the end of the test.

: "${NET6_BUILD:?the folder of the built modules, set by scripts/guest}"
netns_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
PATH=$netns_top/tools:$PATH
export PATH AF_NET6=19

# kmod NAME...: loads modules of the guest's own kernel.
# Fails when one is neither built in nor there.
kmod() {
	local name
	for name in "$@"; do
		[ -d "/sys/module/$name" ] && continue
		# What is built in often leaves no folder in /sys/module.
		modprobe -q "$name" || [ "$NET6_KERNEL" = checking ] || return 1
	done
}

# net6_load [PARAMETER=VALUE...], khttpd_load: as above; unloaded at the end.
net6_load() {
	kmod libsha256 >/dev/null 2>&1
	insmod "$NET6_BUILD/net6/net6.ko" "$@" || return 1
	at_exit net6_unload
}

khttpd_load() {
	kmod configfs >/dev/null 2>&1
	insmod "$NET6_BUILD/khttpd/khttpd.ko" "$@" || return 1
	at_exit khttpd_unload
}

net6_unload() { [ ! -d /sys/module/net6 ] || rmmod net6; }
khttpd_unload() { [ ! -d /sys/module/khttpd ] || rmmod khttpd; }

# netns NAME...: makes namespaces NAME-PID and sets the variable NAME to that.
netns() {
	local name
	for name in "$@"; do
		printf -v "$name" '%s' "$name-$$"
		ip netns add "${!name}" || return 1
		at_exit "netns_del ${!name}"
		ip -n "${!name}" link set lo up
	done
}

netns_del() {
	local pids
	pids=$(ip netns pids "$1" 2>/dev/null)
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -9 $pids
	ip netns del "$1"
}

# nsx NAME COMMAND...: runs in the namespace that netns NAME made.
nsx() {
	local name=$1
	shift
	nsenter --net="/run/netns/${!name}" "$@"
}

# veth NAME DEV NAME DEV: a cable between two namespaces, both ends up. MAC
# addresses are derived from the device names, so that captures repeat.
veth() {
	kmod veth
	ip link add "$2" netns "${!1}" address "$(netns_mac "$2")" type veth \
		peer name "$4" netns "${!3}" address "$(netns_mac "$4")" &&
	ip -n "${!1}" link set "$2" up &&
	ip -n "${!3}" link set "$4" up
}

netns_mac() {
	printf '02:00:%s\n' "$(printf %s "$1" | md5sum | sed 's/\(..\)\(..\)\(..\)\(..\).*/\1:\2:\3:\4/')"
}

# netns_pair: the smallest topology, A with device a0, B with device b0:
#
#	A [a0] ------ [b0] B
netns_pair() {
	netns A B && veth A a0 B b0
}

# native_addr NAME DEV ADDRESS/LEN...: addresses of the native stack, no DAD.
native_addr() {
	local name=$1 dev=$2 address
	shift 2
	for address in "$@"; do
		case $address in
		*:*)	ip -n "${!name}" addr add "$address" dev "$dev" nodad ;;
		*)	ip -n "${!name}" addr add "$address" dev "$dev" ;;
		esac || return 1
	done
}

# listening NAME PROTO PORT: is there a native listener (t or u)?
listening() {
	nsx "$1" ss -Hln"$2" "sport = :$3" | grep -q .
}
