#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What tlsfuzzer and testssl.sh find at khttpd's listener with TLS they find at nginx's, which has
# the same certificate, ciphers and library, but for what is named here. testssl.sh is Debian's.
# tlsfuzzer is in no package: NET6_TLSFUZZER=DIR says where its tree is, with what its requirements.txt
# names installed into it (pip install --target DIR).
#
#	[ tlsfuzzer, testssl.sh, khttpd, khttpd-tlsd and nginx on lo ]
#
# guest: full
# timeout: 1800
# pylint: disable=missing-function-docstring
import importlib
import json
import os
import re
import shutil
import sys

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
# For HTTP servers. Without those of client certificates, early data, timing, DHE and RSA key
# exchange, and those that can do nothing with a server that has no CBC.
SCRIPTS = """ccs client-compatibility connection-abort conversation early-application-data
	extended-master-secret-extension extensions fuzzed-ciphertext fuzzed-plaintext
	hello-request-by-client interleaved-application-data-in-renegotiation
	invalid-cipher-suites invalid-client-hello invalid-client-hello-w-record-overflow
	invalid-compression-methods invalid-content-type invalid-server-name-extension
	invalid-session-id invalid-version lengths message-skipping point-extension
	record-layer-fragmentation renegotiation-disabled signature-algorithms sslv2-connection
	sslv2hello-protocol truncating-of-client-hello version-numbers zero-length-data
	tls13-0rtt-garbage tls13-ccs tls13-connection-abort tls13-conversation tls13-count-tickets
	tls13-crfg-curves tls13-ecdhe-curves tls13-empty-alert tls13-finished
	tls13-finished-plaintext tls13-hrr tls13-invalid-ciphers tls13-keyshare-omitted
	tls13-keyupdate tls13-legacy-version tls13-lengths tls13-multiple-ccs-messages
	tls13-nociphers tls13-obsolete-curves tls13-pkcs-signature tls13-record-layer-limits
	tls13-record-padding tls13-rsa-signatures tls13-session-resumption
	tls13-shuffled-extentions tls13-signature-algorithms tls13-symetric-ciphers
	tls13-unencrypted-alert tls13-unrecognised-groups tls13-version-negotiation
	tls13-zero-content-type tls13-zero-length-data""".split()
CIPHER = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
# Of conversations a script has thousands of; so many are drawn, with the first and the last.
DRAWN = 10
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
    """What fails with khttpd and not with nginx, and does both times."""
    count, nginx = fuzz(script, "nginx")
    found = fuzz(script, "khttpd")[1] - nginx - KNOWN.get(script, set())
    if found:
        # What was not drawn the first time is not known of nginx.
        found &= fuzz(script, "khttpd")[1] - fuzz(script, "nginx")[1]
    ktap.diag(f"{script}: {count} conversations, {len(nginx)} fail with nginx"
              + (f", and with khttpd only: {sorted(found)}" if found else ""))
    return found


@ktap.test
def tlsfuzzer_finds_what_it_finds_at_nginx():
    if not os.path.isdir(f"{FUZZER}/tlsfuzzer"):
        raise ktap.Skip("tlsfuzzer is not there, set NET6_TLSFUZZER=DIR")
    sys.path[:0] = [FUZZER]
    wrong = {}
    for script in os.environ.get("NET6_SCRIPTS", "").split() or SCRIPTS:
        found = compare(script)
        if found:
            wrong[script] = sorted(found)
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
