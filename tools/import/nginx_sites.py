# SPDX-License-Identifier: GPL-2.0
"""What of nginx's servers khttpd can serve as nginx does, as sites with rules.

A directive that is not known here makes what it is in nginx's, as does what cannot be said in
khttpd's rules. So the rules may serve less than nginx's text would allow, and never more.
"""
import ipaddress
import itertools
import re

MAX_RULES, MAX_TEXT, MAX_NAMES = 256, 4095, 1023
MAX_ADDED, MAX_FIELDS = 64, 512
# Names that nginx may have rules for, and that khttpd's serve rules would show: nginx's to judge.
CAREFUL = ("*/.*", "*.php", "*~")

# What changes nothing of a static file's reply, or only what khttpd has limits of its own for.
HARMLESS = set("""access_log absolute_redirect aio alias autoindex_exact_size
    autoindex_format autoindex_localtime chunked_transfer_encoding dav_access dav_methods
    connection_pool_size create_full_put_path directio directio_alignment error_log
    error_page geo http2 http2_max_concurrent_streams ignore_invalid_headers include
    keepalive_disable keepalive_requests keepalive_time keepalive_timeout large_client_header_buffers
    limit_conn_log_level limit_conn_zone limit_req_log_level limit_req_zone lingering_close
    lingering_time lingering_timeout listen log_format log_not_found log_subrequest map
    map_hash_bucket_size map_hash_max_size max_headers min_delete_depth msie_padding
    msie_refresh output_buffers port_in_redirect postpone_output read_ahead real_ip_header
    real_ip_recursive recursive_error_pages request_pool_size reset_timedout_connection resolver
    resolver_timeout send_lowat send_timeout sendfile sendfile_max_chunk server server_name
    server_name_in_redirect server_names_hash_bucket_size server_names_hash_max_size server_tokens
    set_real_ip_from split_clients subrequest_output_buffer_size tcp_nodelay tcp_nopush
    types_hash_bucket_size types_hash_max_size underscores_in_headers upstream
    variables_hash_bucket_size variables_hash_max_size location root index expires add_header
    try_files autoindex default_type types charset charset_types gzip_static""".split())
HARMLESS_PREFIX = ("proxy_", "fastcgi_", "uwsgi_", "scgi_", "grpc_", "memcached_", "ssl_", "gzip",
                   "client_", "open_file_cache", "open_log_file_cache", "http2_", "brotli", "quic_")
UNIT = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "M": 2592000, "y": 31536000}
# Fields that khttpd writes itself, as rules of its header kind must not.
OWN_FIELDS = set("""accept-ranges allow cache-control connection content-encoding content-length
    content-range content-type date etag expires keep-alive last-modified location retry-after server
    strict-transport-security te trailer transfer-encoding upgrade""".split())
CHARSET_TYPES = ["text/html", "text/xml", "text/plain", "text/vnd.wap.wml",
                 "application/javascript", "application/rss+xml"]


def seconds(text):
    """nginx's time. Return: seconds, or None if it is none."""
    if text == "max":
        return 315360000
    parts = re.findall(r"(\d+)(y|M|w|d|h|m|s|)", text)
    if not text or "".join(n + u for n, u in parts) != text.replace(" ", ""):
        return None
    return sum(int(n) * UNIT[u] for n, u in parts)


class Context:
    """What counts in a block: its own directives, and those of the blocks around it."""

    def __init__(self, block, outer=None):
        self.values = dict(outer.values) if outer else {}
        self.why = outer.why if outer else None
        self.values.pop("try_files", None)
        self.headers_here = self.trusted_here = False
        for d in block:
            self._take(d["directive"], d)

    def _take(self, name, d):
        if name == "add_header":
            # nginx: those of the blocks around count only where there are none.
            if not self.headers_here:
                self.values[name] = []
            self.headers_here = True
            self.values[name] = self.values[name] + [d["args"]]
        elif name == "set_real_ip_from":
            # The same.
            if not self.trusted_here:
                self.values[name] = []
            self.trusted_here = True
            self.values[name] = self.values[name] + d["args"]
        elif name == "types":
            self.values[name] = d["block"]
        elif name in ("etag", "merge_slashes") and d["args"] == ["on"]:
            pass
        elif name == "if_modified_since" and d["args"] == ["exact"]:
            pass
        elif name in ("auth_basic", "auth_request", "ssi", "sub_filter") and d["args"] == ["off"]:
            pass
        elif name in ("satisfy", "auth_basic_user_file"):
            pass
        elif not self._harmless(name):
            self.why = self.why or f"{name}, line {d.get('line', '?')}"
        else:
            self.values[name] = d["args"]

    @staticmethod
    def _harmless(name):
        return name in HARMLESS or (name.startswith(HARMLESS_PREFIX) and
                                    not name.endswith("_pass"))

    def root(self, prefix=""):
        """The document root, if it is one that khttpd can have."""
        alias = self.values.get("alias", [""])[0]
        if alias:
            return alias[:-len(prefix)] or "/" if alias.endswith(prefix) and prefix else None
        root = self.values.get("root", [""])[0]
        return root.rstrip("/") or "/" if root.startswith("/") and "$" not in root else None

    def trusted(self):
        """Proxies whose PROXY protocol is believed; None if that cannot be said."""
        words = self.values.get("set_real_ip_from", [])
        if self.values.get("real_ip_header") != ["proxy_protocol"] or not 0 < len(words) <= 32:
            return None
        try:
            for word in words:
                ipaddress.ip_network(word, strict=False)
        except ValueError:
            return None
        return " ".join(words)

    def index(self):
        first = self.values.get("index", ["index.html"])[0]
        return first if re.fullmatch(r"[^/$\s]+", first) and not first.endswith(".php") else ""

    def caching(self):
        """Return: (seconds of Expires or None, Cache-Control or None), or a reason against it."""
        expires, control = None, []
        words = self.values.get("expires", ["off"])
        if words != ["off"]:
            expires = seconds(words[0]) if len(words) == 1 else None
            if expires is None or expires > 315360000:
                return f"expires {' '.join(words)}"
            control.append(f"max-age={expires}")
        for args in self.values.get("add_header", []):
            if args[0].lower() == "cache-control" and "$" not in args[1]:
                control.append(args[1])
        text = ", ".join(control)
        return "Cache-Control is too long" if len(text) > 96 else (expires, text or None)


    def fields(self):
        """What header rules say: {name: "Name: value"}, or a reason against it."""
        found = {}
        for args in self.values.get("add_header", []):
            name = args[0].lower()
            if name == "cache-control" and "$" not in args[1] and args[2:] in ([], ["always"]):
                continue
            if name in OWN_FIELDS or name in found or args[2:] not in ([], ["always"]) or \
                    not re.fullmatch(r"[\w!#%&'*+.^`|~-]+", args[0], re.ASCII) or \
                    not re.fullmatch(r"[!-#%-~](?:[ -#%-~]*[!-#%-~])?", args[1]):
                return f"add_header {args[0]}"
            found[name] = f"{args[0]}: {args[1]}"
        return found


class Region:
    """A location, or what no location of a server matches."""

    def __init__(self, kind, text, context, nested):
        self.kind, self.text = kind, text
        self.context = context
        self.why = context.why
        self.expires = self.cache = None
        if nested:
            self.why = self.why or "locations inside it"
        words = context.values.get("try_files")
        if words and words[0] != "$uri":
            self.why = self.why or "try_files " + " ".join(words)
        self.directories = not words or "$uri/" in words
        caching = context.caching()
        if isinstance(caching, str):
            self.why = self.why or caching
        else:
            self.expires, self.cache = caching
        self.fields = context.fields()
        if isinstance(self.fields, str):
            self.why = self.why or self.fields
            self.fields = {}
        self.root = context.root(text if kind in ("", "^~") else "")
        if not self.root:
            self.why = self.why or "no root that is one directory"

    def name(self):
        return f"location {self.kind} {self.text}".replace("  ", " ") if self.kind is not None \
            else "what no location matches"

    def patterns(self):
        """khttpd's patterns for it, or None if there are none that are equal to it."""
        if self.kind is None:
            return ["/"]
        if self.kind in ("~", "~*"):
            equal = suffixes(self.text, self.kind == "~*")
            return equal if equal or not self.why else [covering(self.text, self.kind == "~*")]
        if re.search(r"[\s*]", self.text):
            return None
        if self.kind == "=":
            return None if self.text.endswith("/") else [self.text]
        return [self.text if self.text.endswith("/") else self.text + "*"]


def suffixes(regex, any_case):
    """The patterns of a regular expression that is about the end of a path, else None."""
    match = re.fullmatch(r"(?:\.\*|\^\.\*|)\\\.(?:\((?:\?:)?([\w|]+)\)|(\w+))\$", regex)
    if not match:
        return None
    words = (match[1] or match[2]).split("|")
    if not all(words):
        return None
    if not any_case:
        return ["*." + w for w in words]
    if sum(2 ** sum(c.isalpha() for c in w) for w in words) > MAX_RULES:
        return None
    return ["*." + "".join(letters) for w in words for letters in
            itertools.product(*(sorted({c.lower(), c.upper()}, reverse=True) for c in w))]


def covering(regex, any_case):
    """A pattern of khttpd's that matches whatever a regular expression does, or more."""
    if re.search(r"(?<!\\)\|(?![^(]*\))", regex):
        return "/"
    done, rest = "" if regex.startswith("^") else "*", regex.lstrip("^")
    while rest and rest != "$":
        token = re.match(r"\\(\W)|\\\w|\[[^\]]*\]|\((?:[^()\\]|\\.)*\)|[^()\[\\]", rest)
        if not token:
            return "/"
        rest = rest[token.end():]
        literal = token[1] or (token[0] if re.fullmatch(r"[\w/~=:%,;@!&'-]", token[0]) else "*")
        if any_case and literal.isalpha():
            literal = "*"
        quantifier = re.match(r"[*+?]\??|\{[^}]*\}", rest)
        if quantifier:
            literal, rest = "*", rest[quantifier.end():]
        done += literal
    done = re.sub(r"\*+", "*", done + ("" if rest == "$" else "*"))
    return "/" if done in ("*", "") else done


def ordered(server, outer):
    """The regions of a server, in the order in which nginx looks for the one of a path."""
    context = Context(server["block"], outer)
    found = []
    for d in server["block"]:
        if d["directive"] != "location" or d["args"][0].startswith("@"):
            continue
        kind, text = d["args"] if len(d["args"]) == 2 else ("", d["args"][0])
        if not kind and re.match(r"[=~^]", text):
            kind, text = re.fullmatch(r"(=|~\*?|\^~)(.*)", text).groups()
        found.append(Region(kind, text, Context(d["block"], context),
                            any(i["directive"] == "location" for i in d["block"])))
    prefixes = sorted((r for r in found if r.kind in ("^~", "")), key=lambda r: -len(r.text))
    for r in prefixes:
        if r.kind == "^~" and any(o.kind == "" and o.text.startswith(r.text) for o in prefixes):
            r.why = r.why or "a longer location, which is subject to regular expressions"
    done = [r for r in found if r.kind == "="]
    done += [r for r in prefixes if r.kind == "^~"]
    done += [r for r in found if r.kind in ("~", "~*")]
    done += [r for r in prefixes if r.kind == ""]
    if not any(r.text == "/" for r in prefixes):
        done.append(Region(None, "", context, False))
    return done


def overlap(first, later):
    """May a path of the first one be matched by the other's patterns?"""
    if first.kind == "=" and later.patterns():
        return any(re.fullmatch(".*".join(map(re.escape, p.split("*"))) +
                                (".*" if p.endswith("/") else ""), first.text)
                   for p in later.patterns())
    if later.kind is None or "~" in (later.kind + "|" + (first.kind or ""))[:2] or \
            first.kind in ("~", "~*"):
        return True
    return first.text.startswith(later.text) or later.text.startswith(first.text)


class Site:
    """A server of nginx's, as a site of khttpd's."""

    def __init__(self, server, outer):
        self.regions = ordered(server, outer)
        self.notes = []
        self._agree()
        self.rules = self._rules()

    def static(self):
        return [r for r in self.regions if not r.why]

    def _agree(self):
        """A site has one root and one table of types: what has another one is nginx's."""
        last = self.regions[-1]
        roots = [r.root for r in self.static()]
        self.root = last.root if last in self.static() else \
            max(roots, key=roots.count, default=last.root)
        for key in ("types", "charset", "charset_types", "default_type"):
            same = last.context.values.get(key)
            for r in self.static():
                if r.context.values.get(key) != same:
                    r.why = f"another {key}"
        for r in self.static():
            if r.root != self.root:
                r.why = f"another root, {r.root}"
        for i, r in enumerate(self.regions):
            later = [o for o in self.regions[i + 1:] if not o.why and overlap(r, o)]
            if not r.why and any((o.cache and not r.cache) or
                                 (o.expires is not None and r.expires is None) for o in later):
                r.why = "no Expires or Cache-Control where later ones have it"
            if not r.why and any(set(o.fields) - set(r.fields) for o in later):
                r.why = "no header field where later ones have it"
        indexes = {r.context.index() if r.directories else "" for r in self.static()}
        self.index = indexes.pop() if len(indexes) == 1 else ""
        zipped = {tuple(r.context.values.get("gzip_static", ["off"])) for r in self.static()}
        self.precompressed = zipped == {("on",)}
        self.values = last.context.values

    def _rules(self):
        rules, shows = [], False
        for i, r in enumerate(self.regions):
            patterns = r.patterns()
            if r.why:
                self.notes.append(f"{r.name()}: {r.why}")
            if patterns is None and r.kind == "=":
                # A directory: whoever asks for one asks nginx.
                self.index = ""
                continue
            if patterns is None:
                if not r.why:
                    self.notes.append(f"{r.name()}: a pattern that khttpd has not got")
                rules.append("pass /")
                break
            if r.why:
                rules += ["pass " + p for p in patterns]
                continue
            if r.kind == "~*":
                patterns = [p for p in patterns if p in (p.lower(), p.upper())]
            if any(o.why or o.patterns() is None for o in self.regions[i + 1:]):
                rules += ["serve " + p for p in patterns]
                shows = True
            rules += [f"cache {p} {r.cache}" for p in patterns if r.cache]
            rules += [f"expires {p} {r.expires}" for p in patterns if r.expires is not None]
            rules += [f"header {p} {field}" for p in patterns for field in r.fields.values()]
        if not self.static() or rules[:1] == ["pass /"]:
            return ["pass /"]
        if shows:
            rules = ["pass " + p for p in CAREFUL] + rules
        longest = {}
        for field in (f for r in self.static() for f in r.fields.items()):
            longest[field[0]] = max(longest.get(field[0], 0), len(field[1]) + 2)
        if len(rules) > MAX_RULES or sum(len(r) + 1 for r in rules) > MAX_TEXT or \
                sum(r.startswith("header ") for r in rules) > MAX_ADDED or \
                sum(longest.values()) > MAX_FIELDS:
            self.notes.append("more rules than a site can have")
            return ["pass /"]
        return rules

    def all_passed(self):
        return self.rules == ["pass /"]

    def types(self):
        """A table in the form of mime.types, None for khttpd's own."""
        charset = self.values.get("charset", ["off"])[0]
        of = self.values.get("charset_types", CHARSET_TYPES)
        lines = []
        for d in self.values.get("types", []):
            kind = d["directive"]
            if charset != "off" and ("*" in of or kind in of or kind == "text/html"):
                kind += ";charset=" + charset
            lines.append(" ".join([kind] + d["args"]))
        return "\n".join(lines) + "\n" if lines else None


class Listen:
    """Where a server listens."""

    def __init__(self, args):
        match = re.fullmatch(r"(?:(\[.*\]|[^:]*):)?(\d+)|(\[.*\]|[^:]+)", args[0])
        self.unix = args[0].startswith("unix:") or not match
        if not self.unix:
            self.host = match[1] or match[3] or "*"
            self.port = int(match[2] or 80)
        self.default = bool({"default_server", "default"} & set(args[1:]))
        self.foreign = {"ssl", "quic"} & set(args[1:])
        self.proxy = "proxy_protocol" in args[1:]


def names_of(server):
    """Return: (names that khttpd can have, is there one that it cannot?)."""
    names, odd = [], False
    for d in server["block"]:
        if d["directive"] != "server_name":
            continue
        for name in d["args"]:
            name = name.lower()
            if name == "_":
                continue
            if re.fullmatch(r"\.[a-z0-9-][a-z0-9.-]*[a-z0-9]", name):
                names += [name[1:], "*" + name]
            elif len(name) < 256 and re.fullmatch(r"(\*\.)?[a-z0-9-]([a-z0-9.-]*[a-z0-9])?", name):
                names.append(name)
            else:
                odd = True
    return names, odd


def lines(names):
    """The names in texts that a site can have."""
    text = ""
    for name in names:
        if text and len(text) + 1 + len(name) > MAX_NAMES:
            yield text
            text = ""
        text += (" " if text else "") + name
    yield text


class Port:
    """The servers of a port: a front site, and the others behind it."""

    def __init__(self, port, servers, outer):
        self.port, self.sites, self.notes = port, [], []
        listens = {id(s): [li for li in s["listens"] if not li.unix and li.port == port]
                   for s in servers}
        hosts = {li.host for of in listens.values() for li in of}
        foreign = {word for of in listens.values() for li in of for word in li.foreign}
        self.trusted = self._trusted(servers, [li for of in listens.values() for li in of], outer)
        if self.trusted is None:
            foreign.add("proxy_protocol without one list of set_real_ip_from for all")
        if foreign:
            self.notes.append(f"port {port} is nginx's: {', '.join(sorted(foreign))}")
            return
        defaults = set()
        for host in hosts:
            of = [(s, li) for s in servers for li in listens[id(s)] if li.host == host]
            defaults.add(id(next((s for s, li in of if li.default), of[0][0])))
        made = {id(s): Site(s, outer) for s in servers}
        front = made[defaults.pop()]
        if defaults:
            self._leave(front, "another default server on each address")
        taken = {}
        for s in servers:
            names, odd = names_of(s)
            site = made[id(s)]
            if odd and site is not front:
                self._leave(front, "a name that khttpd has not got: of another server")
            if {li.host for li in listens[id(s)]} != hosts:
                self._leave(site, "a server of some addresses only")
            site.names = []
            for name in names:
                if taken.get(name) is site:
                    continue
                if name in taken:
                    self._leave(taken[name], f"{name}: the name of several servers")
                else:
                    taken[name] = site
                    site.names.append(name)
        self._overlapping(taken)
        self.sites = [front] + [made[id(s)] for s in servers
                                if made[id(s)] is not front and made[id(s)].names]
        wild = any(n.startswith("*") for site in self.sites[1:] for n in site.names)
        if wild and front.names:
            self.sites.append(front)

    @staticmethod
    def _trusted(servers, listens, outer):
        """Proxies that say who the client is, "" if none has to, None if khttpd has not got it."""
        proxied = {li.host for li in listens if li.proxy}
        if not proxied:
            return ""
        trusted = {Context(s["block"], outer).trusted() for s in servers}
        return trusted.pop() if proxied == {li.host for li in listens} and len(trusted) == 1 \
            else None

    def _overlapping(self, taken):
        """nginx takes the longest wildcard, khttpd the first site's with one."""
        wild = [name for name in taken if name.startswith("*")]
        for one, other in itertools.permutations(wild, 2):
            if one.endswith(other[1:]) and taken[one] is not taken[other]:
                self._leave(taken[one], f"{one}: another server has {other}")
                self._leave(taken[other], f"{other}: another server has {one}")

    @staticmethod
    def _leave(site, why):
        site.rules = ["pass /"]
        site.notes.append(why)
