# SPDX-License-Identifier: GPL-2.0
"""Which program is tested where; Documentation/programs.rst is the same for people."""
from programs_data import memcached, postgresql, redis, rsync, sftp
from programs_lang import asyncio, go, go_is_refused, java, node
from programs_name import chrony, dig_dnsmasq, resolved
from programs_net import (iperf3, mtr, ncat, nuttcp, ping, socat, tcpdump, tracepath,
                          traceroute)
from programs_web import (ab, chromium, curl_lighttpd, curl_nginx, h2load, httperf, wget_python,
                          wrk)

# Every day, in takeover mode.
FEW = (ping, traceroute, tracepath, curl_nginx, wget_python, iperf3, socat, dig_dnsmasq)
# What runs in both modes besides.
MORE = (mtr, tcpdump, ncat, nuttcp, rsync, sftp, redis, memcached, postgresql, wrk, ab, h2load,
        httperf, curl_lighttpd, resolved, chrony, asyncio, node, java, chromium)
TAKEOVER = (go,)
SIDE = (go_is_refused,)
