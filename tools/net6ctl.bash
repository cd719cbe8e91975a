# SPDX-License-Identifier: GPL-2.0
# Bash completion of net6ctl: the words of its grammar, devices and namespaces.
# shellcheck shell=bash

# begin: scripts/netlink-gen words
_net6ctl_dev="mtu hop-limit dad-transmits accept-ra autoconf reachable retrans
	use-tempaddr temp-valid temp-preferred ndisc-notify forwarding optimistic-dad proxy-ndp
	accept-ra-defrtr accept-ra-pinfo accept-ra-mtu accept-ra-rtr-pref accept-ra-min-hop-limit
	accept-ra-min-lft accept-ra-rt-info-min-plen accept-ra-rt-info-max-plen
	accept-ra-from-local accept-redirects router-solicitations router-solicitation-delay
	router-solicitation-interval router-solicitation-max-interval disable-ipv6 accept-dad
	enhanced-dad addr-gen-mode regen-max-retry max-desync-factor use-optimistic
	keep-addr-on-down force-tllao ndisc-tclass suppress-frag-ndisc drop-unsolicited-na
	force-mld-version mldv1-unsolicited-report-interval mldv2-unsolicited-report-interval
	mcast-solicit ucast-solicit delay-first-probe-time anycast-delay router-probe-interval
	ra-defrtr-metric accept-untracked-na ndisc-evict-nocarrier ignore-routes-with-linkdown"
_net6ctl_limits="max-addrs max-prefixes max-routers max-neighs max-dests neigh-queue
	icmp-rate max-routes max-ra-routes max-exthdrs max-dst-options max-padding frag-memory
	frag-timeout max-proxies max-hbh-options max-dst-length max-hbh-length
	unknown-dst-options unknown-hbh-options max-manual max-groups max-tables max-rules"

# What may follow a word, if that is one of a few.
_net6ctl_values() {
	case $1 in
	accept-ra)
		echo on off 2 ;;
	autoconf|ndisc-notify|forwarding|optimistic-dad|proxy-ndp|accept-ra-defrtr|\
	accept-ra-pinfo|accept-ra-mtu|accept-ra-rtr-pref|accept-ra-from-local|\
	accept-redirects|disable-ipv6|enhanced-dad|use-optimistic|force-tllao|\
	suppress-frag-ndisc|drop-unsolicited-na|ndisc-evict-nocarrier)
		echo on off ;;
	use-tempaddr|accept-dad|force-mld-version|accept-untracked-na)
		echo 0 1 2 ;;
	addr-gen-mode)
		echo 0 1 2 3 ;;
	keep-addr-on-down)
		echo -1 0 1 ;;
	ignore-routes-with-linkdown)
		echo 1 ;;
	unknown-dst-options|unknown-hbh-options)
		echo 0 1 ;;
	esac
}
# end: scripts/netlink-gen

# Behind the first $1 words: a word of $2, or the values of the last one.
_net6ctl_setting() {
	local first=$1

	if [[ ${_words[first]} == defaults ]]; then
		((first++))
	fi
	if (((${#_words[@]} - first) % 2)); then
		_net6ctl_values "${_words[-1]}"
	elif ((${#_words[@]} == $1)); then
		echo "defaults $2"
	else
		echo "$2"
	fi
}

_net6ctl_words() {
	local -n _words=$1
	local show="interfaces addresses groups neighbors routers routes rules prefixes pref64 proxies
		destinations sockets tunnels xlat counters drops limits policy"
	local tunnel="remote local ttl tos pmtu router"

	# What follows the words before, most of which are said at most once.
	case "${_words[*]}" in
	"")			echo show sockets add del flush tunnel xlat attach detach set save load monitor \
					doctor ;;
	show)			echo "$show" ;;
	"show sockets"|sockets)	echo -i tcp udp icmp ;;
	"show counters"|"show drops") echo all ;;
	"show neighbors dev "*)	echo all ;;
	"show neighbors")	echo dev all ;;
	"show policy"*|"show limits"*|"show sockets"*|sockets*|"show counters"*|"show drops"*) ;;
	"show xlat"|"xlat del")	net6ctl -j show xlat 2>/dev/null |
					sed -n 's/.*"dev": *"\([^"]*\)".*/\1/p' ;;
	"show rules"*|"show xlat "*" "*) ;;
	"show xlat "*)		echo hosts ;;
	"show "*" dev"*)	;;
	"show "*)		echo dev ;;
	add)			echo address neighbor route rule prefix policy proxy ;;
	del)			echo address neighbor route rule prefix policy proxy socket ;;
	"del socket")		echo orphan local lport remote rport dev ;;
	"del socket "*)		echo local lport remote rport dev ;;
	"add policy "*\ label|"add policy "*\ precedence) ;;
	"add policy "*)		echo label precedence ;;
	"del policy"*|"add policy") ;;
	"add rule "*\ lookup|"del rule "*\ lookup) echo local main ;;
	"add rule "*\ [io]if|"del rule "*\ [io]if) ls /sys/class/net 2>/dev/null ;;
	"add rule "*\ ipproto|"del rule "*\ ipproto) echo tcp udp ipv6-icmp ;;
	"add rule "*\ from|"add rule "*\ to|"add rule "*\ fwmark|"add rule "*\ uidrange) ;;
	"add rule "*\ [sd]port|"add rule "*\ tos|"add rule "*\ pref|"add rule "*\ goto) ;;
	"add rule"*|"del rule"*) echo not from to iif oif fwmark uidrange ipproto sport dport tos pref \
					lookup goto unreachable prohibit blackhole nop \
					suppress_prefixlength ;;
	"add route"|"del route") echo default ;;
	"add route default"|"del route default") echo via ;;
	"add route "*" dev "*" preference") echo high medium low ;;
	"add route "*" dev "*" features") echo ecn ;;
	"add route "*" dev "*" congctl"|"add route "*" dev "*" congctl lock")
		cat /proc/sys/net/ipv4/tcp_available_congestion_control 2>/dev/null ;;
	"add route "*" nexthop"|"del route "*" nexthop") echo via ;;
	"add route "*" weight"|"add route "*" src"|"add route "*" table"|"del route "*" table") ;;
	"del route "*" dev "*)	echo table ;;
	"add route "*" dev "*)	echo nexthop weight preference table src mtu advmss hoplimit window initrwnd initcwnd rto_min \
					quickack congctl fastopen_no_cookie rtt rttvar ssthresh cwnd \
					reordering features ;;
	"add proxy "*\ router)	echo on off ;;
	"add proxy "*" dev "*" router "*) ;;
	"add proxy "*" dev "*)	echo router ;;
	"add address "*" dev "*) echo valid preferred ;;
	"add neighbor "*" lladdr "*" dev "*) ;;
	"add neighbor "*" lladdr "*) echo dev ;;
	"add neighbor "*)	echo lladdr dev ;;
	"add "*" dev"*|"del "*" dev"*) ;;
	"add "*" "*|"del "*" "*) echo dev ;;
	tunnel)			echo add set del ;;
	"tunnel set"|"tunnel del") net6ctl -j show tunnels 2>/dev/null |
					sed -n 's/.*"dev": *"\([^"]*\)".*/\1/p' ;;
	"tunnel add "*\ tos|"tunnel set "*\ tos) echo inherit ;;
	"tunnel "*\ pmtu|"tunnel "*\ router) echo on off ;;
	"tunnel set "*\ local)	echo any ;;
	"tunnel "*\ remote|"tunnel "*\ local|"tunnel "*\ ttl) ;;
	"tunnel add "*|"tunnel set "*) echo "$tunnel" ;;
	xlat)			echo add del ;;
	"xlat add")		echo siit nat64 ;;
	"xlat add "*\ prefix64|"xlat add "*\ pool4|"xlat add "*\ map[46]) ;;
	"xlat add "*\ inside4|"xlat add "*\ per64|"xlat add "*\ idle) ;;
	"xlat add nat64 "*)	[[ ${_words[-2]} = map4 ]] && echo map6 ||
					echo prefix64 inside4 per64 idle pool4 map4 ;;
	"xlat add siit "*)	[[ ${_words[-2]} = map4 ]] && echo map6 || echo prefix64 pool4 map4 ;;
	flush)			echo neighbors addresses destinations policy ;;
	"flush neighbors"|"flush addresses"|attach|detach) echo dev ;;
	set)			echo dev limits secret ;;
	"set dev "*)		_net6ctl_setting 3 "$_net6ctl_dev" ;;
	"set limits"*)		_net6ctl_setting 2 "$_net6ctl_limits" ;;
	esac
}

_net6ctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	local -a before=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-N)	((i++)) ;;
		-*)	;;
		*)	before+=("${COMP_WORDS[i]}") ;;
		esac
	done
	case ${before[0]} in
	save|load)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	esac
	case $prev in
	dev)	mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/net 2>/dev/null)" -- "$cur") ;;
	-N)	mapfile -t COMPREPLY < <(compgen -W "$(ls /run/netns 2>/dev/null)" -- "$cur") ;;
	*)	if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "-j -N --help --version" -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -W "$(_net6ctl_words before)" -- "$cur")
		fi ;;
	esac
}
complete -F _net6ctl net6ctl
