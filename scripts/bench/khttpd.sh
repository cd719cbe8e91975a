#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a request costs nginx and khttpd, client and server together, in counted
# instructions: files by size on kept connections, a connection a request, and pages of
# nginx's with khttpd in front. In a guest:
#
#	scripts/guest --virtual-time --copy scripts/bench --copy tools \
#		-- bash scripts/bench/khttpd.sh
#
# A ratio above 1 says that khttpd is cheaper. STACKS (ipv4 native net6) and SECONDS_EACH
# of guest time for each measurement (1) may be set.
set -u

stacks=${STACKS:-ipv4 native net6}
seconds=${SECONDS_EACH:-1}
# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
begin

for module in veth tunnel4 libsha256; do modprobe -q $module || true; done
insmod "$NET6_BUILD/net6/net6.ko" || die "cannot load net6"
insmod "$NET6_BUILD/khttpd/khttpd.ko" || die "cannot load khttpd"
make_link
make_link_net6

mkdir -p /srv/www /var/lib/nginx /var/log/nginx 2>/dev/null
for size in 64 1024 4096 65536 1048576; do
	head -c $size /dev/zero | tr '\0' x >/srv/www/$size.html
done
in_server "$KHTTPDCTL" serve --site files --docroot /srv/www --listen 10.1.0.2:8080 \
	--listen "[fd00:1::2]:8080" --listen "[fd00:2::2]:8080,net6" || die "khttpd"
write_nginx_conf native 'listen 10.1.0.2:8000; listen 10.1.0.2:80; listen [fd00:1::2]:8000;
	listen [fd00:1::2]:80;' >/tmp/nginx-native.conf
write_nginx_conf net6 'listen [fd00:2::2]:8000; listen [fd00:2::2]:80;' >/tmp/nginx-net6.conf
background server nginx -c /tmp/nginx-native.conf
background server "$NET6RUN" nginx -c /tmp/nginx-net6.conf
for stack in $stacks; do
	wait_for 30 in_client $(wrap_of "$stack") curl -gsS -o /dev/null \
		"http://$(url_of "$stack"):8000/64.html" || die "nginx does not answer on $stack"
done
for which in native net6; do
	in_server "$KHTTPDCTL" attach --pid "$(cat /tmp/nginx-$which.pid)" --port 80 \
		--docroot /srv/www --site front-$which || die "cannot attach to nginx, $which"
done

# measure NAME STACK PATH [wrk options]: nginx, then khttpd.
measure() {
	local name=$1 stack=$2 path=$3 server
	shift 3
	for server in nginx:8000 khttpd:8080; do
		bench_wrk "$name" "${server%:*}" "$stack" "${server#*:}" "$path" "$seconds" "$@"
	done
}
for stack in $stacks; do
	for size in 64 1024 4096 65536 1048576; do
		measure "keep-alive, $size bytes" "$stack" /$size.html
	done
	measure "connection a request, 1024 bytes" "$stack" /1024.html -H "Connection: close"
	# Here a ratio below 1 is what having khttpd in front costs.
	bench_wrk "handed over, keep-alive" nginx "$stack" 8000 /dynamic "$seconds"
	bench_wrk "handed over, keep-alive" khttpd "$stack" 80 /dynamic "$seconds"
	bench_wrk "handed over, connection a request" nginx "$stack" 8000 /dynamic "$seconds" \
		-H "Connection: close"
	bench_wrk "handed over, connection a request" khttpd "$stack" 80 /dynamic "$seconds" \
		-H "Connection: close"
	bench_wrk "in front, keep-alive, 1024 bytes" nginx "$stack" 8000 /1024.html "$seconds"
	bench_wrk "in front, keep-alive, 1024 bytes" khttpd "$stack" 80 /1024.html "$seconds"
done
print_table "instructions per request, both ends" nginx khttpd
grep soft_ /sys/kernel/config/khttpd/stats
