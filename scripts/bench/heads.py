# SPDX-License-Identifier: GPL-2.0
"""Request heads as browsers send them, each another client's, 500 to 900 octets long, and wrk's
script that sends them in turn. The same at every call."""
import itertools

HEADS = 100
LEAST, MOST = 500, 900		# octets

LANGUAGES = ("en-US,en;q=0.9", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "fr-FR,fr;q=0.9,en;q=0.8",
             "pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", "ja,en-US;q=0.9,en;q=0.8", "en-GB,en;q=0.9",
             "es-ES,es;q=0.9")
FIREFOX_LANGUAGES = ("en-US,en;q=0.5", "de,en-US;q=0.7,en;q=0.3", "fr,fr-FR;q=0.8,en-US;q=0.5")
CHROME_ACCEPT = ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
                 "image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7")
FIREFOX_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
SAFARI_ACCEPT = FIREFOX_ACCEPT
CODINGS = "gzip, deflate, br, zstd"
# What a browser says of the machine, and Chrome in a field of its own.
CHROME_ON = (("Windows NT 10.0; Win64; x64", "Windows", "?0"),
             ("Macintosh; Intel Mac OS X 10_15_7", "macOS", "?0"),
             ("X11; Linux x86_64", "Linux", "?0"), ("Linux; Android 10; K", "Android", "?1"))
FIREFOX_ON = ("Windows NT 10.0; Win64; x64", "X11; Linux x86_64", "Macintosh; Intel Mac OS X 10.15",
              "X11; Ubuntu; Linux x86_64")
SAFARI_ON = ("Macintosh; Intel Mac OS X 10_15_7", "iPhone; CPU iPhone OS 18_5 like Mac OS X",
             "iPad; CPU OS 17_6 like Mac OS X")
CHROME_VERSIONS, FIREFOX_VERSIONS = (131, 134, 136, 138, 139), (115, 128, 136, 140, 141)
SAFARI_VERSIONS = ("17.6", "18.3", "18.5")


def chrome(n, host):
    system, name, mobile = CHROME_ON[n % len(CHROME_ON)]
    version = CHROME_VERSIONS[n % len(CHROME_VERSIONS)]
    edge = n % 7 == 3
    brand = "Microsoft Edge" if edge else "Google Chrome"
    agent = (f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) "
             f"Chrome/{version}.0.0.0 {'Mobile ' if mobile == '?1' else ''}Safari/537.36"
             f"{f' Edg/{version}.0.0.0' if edge else ''}")
    yield "Connection", "keep-alive"
    if n % 3 == 0:
        yield "Cache-Control", "max-age=0"
    yield "sec-ch-ua", f'"Not)A;Brand";v="8", "Chromium";v="{version}", "{brand}";v="{version}"'
    yield "sec-ch-ua-mobile", mobile
    yield "sec-ch-ua-platform", f'"{name}"'
    yield "Upgrade-Insecure-Requests", "1"
    yield "User-Agent", agent
    yield "Accept", CHROME_ACCEPT
    yield "Sec-Fetch-Site", "none" if n % 2 else "same-origin"
    yield "Sec-Fetch-Mode", "navigate"
    yield "Sec-Fetch-User", "?1"
    yield "Sec-Fetch-Dest", "document"
    if n % 2 == 0:
        yield "Referer", f"http://{host}/"
    yield "Accept-Encoding", CODINGS
    yield "Accept-Language", LANGUAGES[n % len(LANGUAGES)]


def firefox(n, host):
    version = FIREFOX_VERSIONS[n % len(FIREFOX_VERSIONS)]
    yield "User-Agent", (f"Mozilla/5.0 ({FIREFOX_ON[n % len(FIREFOX_ON)]}; rv:{version}.0) "
                         f"Gecko/20100101 Firefox/{version}.0")
    yield "Accept", FIREFOX_ACCEPT
    yield "Accept-Language", FIREFOX_LANGUAGES[n % len(FIREFOX_LANGUAGES)]
    yield "Accept-Encoding", CODINGS
    if n % 2:
        yield "Referer", f"http://{host}/articles/{n}/index.html"
    yield "DNT", "1"
    yield "Sec-GPC", "1"
    yield "Connection", "keep-alive"
    yield "Upgrade-Insecure-Requests", "1"
    yield "Sec-Fetch-Dest", "document"
    yield "Sec-Fetch-Mode", "navigate"
    yield "Sec-Fetch-Site", "same-origin" if n % 2 else "none"
    yield "Sec-Fetch-User", "?1"
    yield "Priority", "u=0, i"


def safari(n, host):
    system, version = SAFARI_ON[n % len(SAFARI_ON)], SAFARI_VERSIONS[n % len(SAFARI_VERSIONS)]
    yield "Upgrade-Insecure-Requests", "1"
    yield "Accept", SAFARI_ACCEPT
    yield "Sec-Fetch-Site", "none"
    yield "Sec-Fetch-Mode", "navigate"
    yield "Sec-Fetch-Dest", "document"
    yield "User-Agent", (f"Mozilla/5.0 ({system}) AppleWebKit/605.1.15 (KHTML, like Gecko) "
                         f"Version/{version} {'Mobile/15E148 ' if 'like' in system else ''}"
                         f"Safari/{'604.1' if 'like' in system else '605.1.15'}")
    yield "Referer", f"http://{host}/"
    yield "Accept-Language", LANGUAGES[n % len(LANGUAGES)]
    yield "Priority", "u=0, i"
    yield "Accept-Encoding", "gzip, deflate"
    yield "Connection", "keep-alive"


def cookies(n):
    """What a site's statistics and its log-in leave, different for each client."""
    number = (n + 1) * 2654435761 % 2 ** 32
    yield f"_ga=GA1.1.{number}.{1700000000 + 7919 * n}"
    yield f"session={number ** 5 % 2 ** 128:032x}"
    yield f"_ga_{number % 10 ** 10:010d}=GS2.1.s{1750000000 + n}$o{n % 9 + 1}$g1$t{1750001000 + n}"
    yield f"consent=necessary%3A1%2Cstatistics%3A{n % 2}%2Cmarketing%3A0"


def heads(host, target):
    """HEADS heads of GET requests for @target at @host."""
    browsers = (chrome, chrome, chrome, safari, firefox, chrome, safari, chrome, firefox, chrome)
    found = []
    for n, browser in zip(range(HEADS), itertools.cycle(browsers)):
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}",
                 *(f"{name}: {value}" for name, value in browser(n, host))]
        some = list(cookies(n))
        whole = lambda count: "\r\n".join(	# pylint: disable=cell-var-from-loop
            lines + [f"Cookie: {'; '.join(some[:count])}"] * bool(count)) + "\r\n\r\n"
        lengths = [count for count in range(len(some) + 1) if LEAST <= len(whole(count)) <= MOST]
        found.append(whole(lengths[n // 2 % len(lengths)]))
    return found


def wrk_script(host, target):
    """Lua: each request has the next head."""
    quoted = ",\n".join(f"[==[\n{head}]==]" for head in heads(host, target))
    return (f"local heads, n = {{\n{quoted} }}, 0\n"
            "for i, head in ipairs(heads) do heads[i] = head:gsub('\\r?\\n', '\\r\\n') end\n"
            "function request()\n\tn = n % #heads + 1\n\treturn heads[n]\nend\n")
