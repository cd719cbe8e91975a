#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What tlsfuzzer and testssl.sh find at khttpd's listener with TLS they find at nginx's, which has
# the same certificate, ciphers and library, but for what is named here. testssl.sh is Debian's.
# tlsfuzzer is in no package: NET6_TLSFUZZER=DIR says where its tree is, with what its requirements.txt
# names installed into it (pip install --target DIR). NET6_SCRIPTS="SCRIPT..." names some of its
# scripts, without testssl.sh, and NET6_DRAWN=N so many conversations of each.
#
#	[ tlsfuzzer, testssl.sh, khttpd, khttpd-tlsd and nginx on lo ]
#
# guest: full
# timeout: 1800
# pylint: disable=missing-function-docstring
import importlib
import json
import os
import random
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

FUZZER = os.environ.get("NET6_TLSFUZZER", "")
PORTS = {"khttpd": https.PORT, "nginx": 8444}
DIR = "/tmp/fuzzed"
NGINX = """worker_processes 2;
user root;
pid {dir}/pid;
error_log {dir}/log;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
	uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
	server {{
		listen 127.0.0.1:{port} ssl;
		ssl_certificate {tls}/localhost.pem; ssl_certificate_key {tls}/localhost.key;
		ssl_protocols TLSv1.2 TLSv1.3;
		ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;
		ssl_prefer_server_ciphers on;
		ssl_conf_command Options PrioritizeChaCha;
		ssl_session_tickets on;
		root {www};
	}}
}}
"""
# For HTTP servers, by what is odd in them. Without those of client certificates, early data, timing,
# DHE and RSA key exchange, and those that can do nothing with a server that has no CBC.
SCRIPTS = {
    "TLS 1.2, hellos": """client-compatibility extended-master-secret-extension extensions
        invalid-cipher-suites invalid-client-hello invalid-client-hello-w-record-overflow
        invalid-compression-methods invalid-server-name-extension invalid-session-id
        invalid-version point-extension signature-algorithms sslv2-connection
        sslv2hello-protocol truncating-of-client-hello version-numbers""".split(),
    "TLS 1.2, handshakes": """ccs connection-abort conversation early-application-data
        hello-request-by-client interleaved-application-data-in-renegotiation
        message-skipping renegotiation-disabled""".split(),
    "TLS 1.2, records": """fuzzed-ciphertext invalid-content-type lengths
        record-layer-fragmentation zero-length-data""".split(),
    "TLS 1.3, hellos": """tls13-0rtt-garbage tls13-crfg-curves tls13-ecdhe-curves
        tls13-invalid-ciphers tls13-keyshare-omitted tls13-legacy-version tls13-nociphers
        tls13-obsolete-curves tls13-pkcs-signature tls13-rsa-signatures
        tls13-shuffled-extentions tls13-signature-algorithms tls13-symetric-ciphers
        tls13-unrecognised-groups tls13-version-negotiation""".split(),
    "TLS 1.3, handshakes": """tls13-ccs tls13-connection-abort tls13-conversation
        tls13-count-tickets tls13-finished tls13-hrr tls13-keyupdate
        tls13-multiple-ccs-messages tls13-session-resumption""".split(),
    "TLS 1.3, records": """tls13-empty-alert tls13-finished-plaintext tls13-lengths
        tls13-record-layer-limits tls13-record-padding tls13-unencrypted-alert
        tls13-zero-content-type tls13-zero-length-data""".split(),
}
CIPHER = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
# Of conversations a script has thousands of; so many are drawn, the same for both servers, with the
# first and the last. 0 for all.
DRAWN = int(os.environ.get("NET6_DRAWN") or 10)
# A server may go on after a renegotiation that it refuses, as nginx does, or end.
OPTIONS = {("renegotiation-disabled", "khttpd"): ["--no-renego-close"]}
# {script: conversations that fail with khttpd and not with nginx}. Linux's record layer tries to
# decrypt what should not be there at all: the alert is bad_record_mac, not unexpected_message.
KNOWN = {
    "tls13-ccs": {"'CCS message after Finished message'"},
    "tls13-zero-content-type": {"'zero content type after handshake'",
                                "'zero content type with padding after handshake'",
                                "'zero content type during application data'",
                                "'zero content type and padding during application data'"},
}


def setup():
    # Most of tlsfuzzer's scripts want RSA's.
    https.setup("localhost", key="rsa:2048")
    khttpd.write("index.html", b"hello\n")
    khttpd.limit("tls_per_address", 0)
    # nginx's. tlsfuzzer encrypts in Python, which takes seconds on the checking kernel.
    for name in ("tls_timeout", "head_timeout"):
        khttpd.limit(name, 60_000)
    os.makedirs(DIR, exist_ok=True)
    with open(f"{DIR}/conf", "w", encoding="ascii") as file:
        file.write(NGINX.format(dir=DIR, port=PORTS["nginx"], tls=https.DIR, www=khttpd.WWW))
    ktap.run("nginx", "-e", f"{DIR}/first", "-c", f"{DIR}/conf")
    ktap.at_exit(ktap.run, "nginx", "-e", f"{DIR}/first", "-c", f"{DIR}/conf", "-s", "stop")


def fuzz(script, server):
    """Runs a script of tlsfuzzer in a process of its own, which need not import it again.
    Return: how many conversations there were, and which failed.
    """
    module = importlib.import_module(f"tlsfuzzer._apps.test_{script.replace('-', '_')}")
    out = f"{DIR}/out"
    pid = os.fork()
    if not pid:
        fd = os.open(out, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        with open(module.__file__, encoding="utf-8") as file:
            text = file.read()
        # Most have CBC and RSA key exchange unless they are told, where they can be.
        cipher = ["-C", CIPHER] if '" -C ' in text else ["-d"] if '" -d ' in text else []
        sys.argv = [script, "-h", "localhost", "-p", str(PORTS[server]), "-n", str(DRAWN),
                    *cipher, *OPTIONS.get((script, server), ())]
        random.seed(script)
        status = 1
        try:
            module.main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.waitpid(pid, 0)
    with open(out, encoding="utf-8", errors="replace") as file:
        text = file.read()
    count = re.search(r"^TOTAL: (\d+)$", text, re.M)
    ktap.true(count, f"{script}: it comes to its end: {text[-500:]}")
    failed = re.search(r"^FAILED:\n((?:\t.*\n?)*)", text, re.M)
    return int(count.group(1)), set(re.findall(r"^\t(.*)$", failed.group(1) if failed else "", re.M))


def compare(script):
    """How many conversations there are, and which fail with nginx, with khttpd, and with khttpd only
    although it is known of none: these do both times.
    """
    began = time.monotonic()
    count, nginx = fuzz(script, "nginx")
    ours = fuzz(script, "khttpd")[1]
    worse = ours - nginx - KNOWN.get(script, set())
    # A cipher that the kernel has not got is not offered; nginx does without the kernel.
    if not https.has_chacha():
        worse = {name for name in worse if "CHACHA20" not in name}
    if worse:
        worse &= fuzz(script, "khttpd")[1] - fuzz(script, "nginx")[1]
    ktap.diag(f"{script}: {count} conversations in {time.monotonic() - began:.0f} s, {len(nginx)} "
              f"fail with nginx, {len(ours)} with khttpd"
              + (f", with both: {sorted(ours & nginx)}" if ours & nginx else "")
              + (f", with khttpd only: {sorted(ours - nginx)}" if ours - nginx else "")
              + (f", with nginx only: {sorted(nginx - ours)}" if nginx - ours else ""))
    return count, nginx, ours, worse


@ktap.test
def tlsfuzzer_finds_what_it_finds_at_nginx():
    if not os.path.isdir(f"{FUZZER}/tlsfuzzer"):
        raise ktap.Skip("tlsfuzzer is not there, set NET6_TLSFUZZER=DIR")
    sys.path[:0] = [FUZZER]
    chosen = os.environ.get("NET6_SCRIPTS", "").split()
    wrong = {}
    for group, scripts in {"chosen": chosen}.items() if chosen else SCRIPTS.items():
        # Hellos are read by OpenSSL only: there is nothing for the kernel's checkers to see.
        if ktap.CHECKING and group.endswith("hellos"):
            continue
        total = [0, 0, 0]
        for script in scripts:
            count, nginx, ours, worse = compare(script)
            total = [one + more for one, more in zip(total, (count, len(nginx), len(ours)))]
            if worse:
                wrong[script] = sorted(worse)
        ktap.diag(f"{group}: {len(scripts)} scripts, {total[0]} conversations, {total[1]} fail with "
                  f"nginx, {total[2]} with khttpd")
    ktap.equal(wrong, {}, "what fails with khttpd only")
    https.at_rest()


# What testssl.sh says of HTTP, and what differs each time.
NOT_TLS = ("HTTP", "HSTS", "HPKP", "banner", "cookie", "security_headers", "service", "scanTime",
           "engine_problem", "TLS_timestamp", "cert_serial", "BREACH", "ip", "clientsimulation")


def graded(server):
    """What it says of a server: {what: (severity, finding)}."""
    path = f"{DIR}/{server}.json"
    ktap.run("testssl", "--quiet", "--color", "0", "--warnings", "off", "--nodns", "none", "--ip",
             "127.0.0.1", "--openssl", "/usr/bin/openssl", "--protocols", "--std", "--fs",
             "--server-defaults", "--vulnerable", "--jsonfile", path,
             f"localhost:{PORTS[server]}", check=False, timeout=1500,
             env={**os.environ, "TERM": "dumb"})
    with open(path, encoding="utf-8") as file:
        return {line["id"]: (line["severity"], line["finding"]) for line in json.load(file)
                if not line["id"].startswith(NOT_TLS)}


@ktap.test
def testssl_says_what_it_says_of_nginx():
    if not shutil.which("testssl"):
        raise ktap.Skip("no testssl")
    if os.environ.get("NET6_SCRIPTS"):
        raise ktap.Skip("only scripts of tlsfuzzer are wanted")
    if ktap.CHECKING:
        raise ktap.Skip("it asks what OpenSSL offers, by thousands of programs")
    nginx, ours = graded("nginx"), graded("khttpd")
    ktap.true(len(nginx) > 30, f"it has found out something: {nginx}")
    for name in sorted(nginx.keys() | ours.keys()):
        ktap.diag(f"{name}: {nginx.get(name)}" + ("" if nginx.get(name) == ours.get(name) else
                                                  f", khttpd {ours.get(name)}"))
    ktap.equal({name for name, (severity, _) in ours.items()
                if severity in ("MEDIUM", "HIGH", "CRITICAL") and
                nginx.get(name, [""])[0] != severity}, set(), "what is worse than nginx's")
    https.at_rest()


ktap.main(setup)
