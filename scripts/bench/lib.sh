# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The two namespaces in which stacks are compared, and the measurements, for scripts
# that run in a guest. Every result is a line "NAME STACK VALUE UNIT" in $results.
#
#   client (c1) ------------- veth ------------- (s1) server
#     native IPv4 10.1.0.1/24                     10.1.0.2
#     native IPv6 fd00:1::1/64                    fd00:1::2
#     net6        fd00:2::1/64                    fd00:2::2

results=${results:-/tmp/results.tsv}
pids=()

in_client() { ip netns exec client "$@"; }
in_server() { ip netns exec server "$@"; }
die() { echo "error: $*" >&2; exit 1; }

# begin: the opening of a script that a guest runs by itself. Tools are taken from where
# --copy has put them: in virtual time, waiting for the host's files would be measured.
begin() {
	local tools
	for tools in "${NET6_COPY:-/nowhere}/tools" "$(dirname "${BASH_SOURCE[0]}")/../../tools"; do
		[ -x "$tools/net6ctl" ] && break
	done
	NET6CTL=$tools/net6ctl NET6RUN=$tools/net6-run KHTTPDCTL=$tools/khttpdctl
	trap stop_all EXIT
	: >"$results"
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails when time is up. Counted
# in tries of a tenth: in virtual time, waiting for the host's files makes the clock jump.
wait_for() {
	local tries=$(($1 * 10)); shift
	until "$@" >/dev/null 2>&1; do
		[ $((tries--)) -gt 0 ] || { echo "error: time-out waiting for: $*" >&2; return 1; }
		sleep 0.1
	done
}

# background NAMESPACE COMMAND...: stopped by stop_all.
background() {
	local ns=$1; shift
	ip netns exec "$ns" "$@" </dev/null >>/tmp/background.log 2>&1 &
	pids+=($!)
}

stop_all() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	pids=()
	wait 2>/dev/null
}

make_link() {
	ip netns add client
	ip netns add server
	ip link add c1 netns client type veth peer name s1 netns server
	for end in client:c1:1 server:s1:2; do
		IFS=: read -r ns dev n <<<"$end"
		ip -n "$ns" link set lo up
		ip -n "$ns" link set "$dev" up
		ip -n "$ns" addr add 10.1.0.$n/24 dev "$dev"
		ip -n "$ns" addr add fd00:1::$n/64 dev "$dev" nodad
	done
}

# Needs net6 loaded.
make_link_net6() {
	for end in client:c1:1 server:s1:2; do
		IFS=: read -r ns dev n <<<"$end"
		ip netns exec "$ns" "$NET6CTL" add address fd00:2::$n/64 dev "$dev"
		wait_for 20 address_ready "$ns" fd00:2::$n
	done
}

# An address has passed Duplicate Address Detection.
address_ready() {
	ip netns exec "$1" "$NET6CTL" show addresses | grep -F "$2" | grep -q preferred
}

record() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$results"; }

# Stack name to netbench's family number and the server's address.
family_of() { case $1 in ipv4) echo 2 ;; native) echo 10 ;; net6) echo 19 ;; esac; }
address_of() {
	case $1 in ipv4) echo 10.1.0.2 ;; native) echo fd00:1::2 ;; net6) echo fd00:2::2 ;; esac
}
# As it stands in a URL, and the wrapper that brings a program there.
url_of() { case $1 in ipv4) echo 10.1.0.2 ;; *) echo "[$(address_of "$1")]" ;; esac; }
wrap_of() { [ "$1" != net6 ] || echo "$NET6RUN"; }

# One instruction is two nanoseconds of guest time (QEMU's -icount shift=1) on one
# CPU that is never idle while a measurement runs.
instructions() { awk -v ns="$1" 'BEGIN { printf "%.0f", ns / 2 }'; }

# netbench NAME STACK MODE COUNT BYTES PORT: instructions per operation, both ends.
bench_operation() {
	local line
	line=$(in_client "$NETBENCH" -f "$(family_of "$2")" -a "$(address_of "$2")" \
		-n "$4" -s "$5" -p "$6" "$3") || die "$1 over $2 failed"
	record "$1" "$2" "$(instructions "${line##* }")" instructions
}

# Echo servers of every stack on ports 7000 (1 byte), 7001 (1 KB); UDP on 7000 too.
start_echo_servers() {
	local stack
	for stack in ipv4 native net6; do
		set -- -f "$(family_of $stack)" -a "$(address_of $stack)"
		background server "$NETBENCH" "$@" -p 7000 -s 1 serve-tcp
		background server "$NETBENCH" "$@" -p 7001 -s 1024 serve-tcp
		background server "$NETBENCH" "$@" -p 7000 serve-udp
	done
	for stack in ipv4 native net6; do
		wait_for 20 in_client "$NETBENCH" -f "$(family_of $stack)" \
			-a "$(address_of $stack)" -p 7000 -n 1 tcp-rr || die "no echo server on $stack"
		wait_for 20 in_client "$NETBENCH" -f "$(family_of $stack)" \
			-a "$(address_of $stack)" -p 7001 -n 1 -s 1024 tcp-rr || die "no echo server on $stack"
	done
}

# bench_iperf NAME STACK [iperf3 options]: instructions per kilobyte received.
bench_iperf() {
	local name=$1 stack=$2 json rate
	shift 2
	json=$(in_client $(wrap_of "$stack") iperf3 -J -c "$(address_of "$stack")" \
		-p "$(iperf_port "$stack")" "$@" 2>/dev/null) || die "iperf3 $* over $stack failed: $json"
	rate=$(echo "$json" | awk -F'[:,]' '/"sum_received"/ { r = 1 } /"sum"[ \t]*:/ { s = 1 }
		(r || s) && /bits_per_second/ { v = $2; if (r) exit } END { print v + 0 }')
	[ "${rate%%.*}" -gt 0 ] || die "iperf3 $* over $stack moved nothing"
	record "$name" "$stack" "$(awk -v r="$rate" 'BEGIN { printf "%.0f", 1024 * 8e9 / r / 2 }')" instructions
}
iperf_port() { case $1 in ipv4) echo 5204 ;; native) echo 5206 ;; net6) echo 5219 ;; esac; }

start_iperf_servers() {
	local stack
	for stack in ipv4 native net6; do
		background server $(wrap_of $stack) iperf3 -s -B "$(address_of $stack)" \
			-p "$(iperf_port $stack)"
	done
	for stack in ipv4 native net6; do
		wait_for 30 in_client $(wrap_of $stack) iperf3 -c "$(address_of $stack)" \
			-p "$(iperf_port $stack)" -n 64K || die "no iperf3 server on $stack"
	done
}

# write_nginx_conf NAME LISTEN-DIRECTIVES [PAGE]: files of /srv/www, and /dynamic made by nginx.
write_nginx_conf() {
	cat <<CONF
worker_processes 1;
daemon off;
user root;
pid /tmp/nginx-$1.pid;
error_log /tmp/nginx-$1.log;
events { worker_connections 1024; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 1000000000;
	keepalive_timeout 300;
	open_file_cache max=1000 inactive=300s;
	client_body_temp_path /tmp/nginx-$1-body;
	proxy_temp_path /tmp/nginx-$1-proxy;
	fastcgi_temp_path /tmp/nginx-$1-fastcgi;
	uwsgi_temp_path /tmp/nginx-$1-uwsgi;
	scgi_temp_path /tmp/nginx-$1-scgi;
	server {
		$2
		root /srv/www;
		location /dynamic { return 200 "${3-nginx made this page for \$remote_addr: \$request_uri}\n"; }
	}
}
CONF
}

# bench_wrk NAME SERVER STACK PORT PATH SECONDS [wrk options]: instructions per
# request, client and server together.
bench_wrk() {
	local name=$1 server=$2 stack=$3 port=$4 path=$5 seconds=$6 out rate
	shift 6
	out=$(in_client $(wrap_of "$stack") wrk -t1 -c4 -d "$seconds" "$@" \
		"http://$(url_of "$stack"):$port$path") || die "wrk on $name over $stack: $out"
	if echo "$out" | grep -qE 'Non-2xx|Socket errors'; then
		die "wrk on $name over $stack: $(echo "$out" | grep -E 'Non-2xx|Socket errors')"
	fi
	rate=$(echo "$out" | awk '/Requests\/sec/ { print $2 }')
	record "$name over $stack" "$server" "$(awk -v r="$rate" 'BEGIN { printf "%.0f", 5e8 / r }')" instructions
}

# print_table TITLE FIRST SECOND [THIRD]: one row per name with the mean cost on each
# stack and the ratios of cost FIRST/last and SECOND/last: above 1 the last is cheaper.
print_table() {
	awk -F'\t' -v title="$1" -v names="$2 $3 ${4:-}" '
	BEGIN { cols = split(names, stack, " "); for (i = 1; i <= cols; i++) wanted[stack[i]] = 1 }
	!($2 in wanted) { next }
	{ sum[$1, $2] += $3; n[$1, $2]++; if (!($1 in seen)) { seen[$1] = 1; order[++rows] = $1 } }
	function mean(name, s) { return n[name, s] ? sum[name, s] / n[name, s] : 0 }
	END {
		printf "%-44s", title
		for (i = 1; i <= cols; i++) printf " %13s", stack[i]
		for (i = 1; i < cols; i++) printf " %15s", stack[i] "/" stack[cols]
		printf "\n"
		for (r = 1; r <= rows; r++) {
			printf "%-44s", order[r]
			for (i = 1; i <= cols; i++) {
				v = mean(order[r], stack[i])
				printf " %13s", v ? sprintf("%.0f", v) : "-"
			}
			base = mean(order[r], stack[cols])
			for (i = 1; i < cols; i++) {
				v = mean(order[r], stack[i])
				printf " %15s", v && base ? sprintf("%.2f", v / base) : "-"
			}
			printf "\n"
		}
	}' "$results"
}
