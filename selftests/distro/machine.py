#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a Debian machine does on its network: scripts/distro runs this in a guest, as a unit of
systemd. distro.role= on the kernel's command line makes it the router, or says that it is tried;
distro.areas= names the areas. Each test prints "ok AREA: NAME" or "not ok AREA: NAME # why".
"""
import os
import sys
import time

import areas
import containers  # pylint: disable=unused-import  # its tests
import devices  # pylint: disable=unused-import  # its tests
import router
from common import Failed, parameter, run, say


def main():
    run("systemctl", "stop", "NetworkManager", check=False)
    if parameter("role") == "router":
        try:
            router.run_router()
        finally:
            time.sleep(5)	# until what it says is out
    for name in os.listdir("/sys/class/net"):
        run("ip", "link", "set", name, "up")
    chosen = [name for name in parameter("areas").split(",") if name]
    for area, tests in areas.TESTS.items():
        if chosen and area not in chosen:
            continue
        for test in tests:
            name = f"{area}: {test.__name__.replace('_', ' ')}"
            try:
                test()
                say(f"ok {name}")
            except Failed as error:
                say(f"not ok {name} # {' '.join(str(error).split())[:300]}")
            except Exception as error:  # pylint: disable=broad-except
                say(f"not ok {name} # {type(error).__name__}: {' '.join(str(error).split())[:300]}")
        areas.end(area)
    log = run("dmesg", "--level", "emerg,alert,crit,err,warn", check=False)
    # That it is a module from outside is no fault.
    bad = [line for line in log.splitlines() if "taint" not in line and
           ("net6" in line or "BUG" in line or "WARN" in line)]
    say("ok log: clean" if not bad else f"not ok log: clean # {' '.join(bad)[:300]}")
    say("all done")


if __name__ == "__main__":
    sys.exit(main())
