# SPDX-License-Identifier: GPL-2.0
"""Certificates for any name: OpenSSL's own tools and libraries of Python refuse the odd ones."""

# pylint: disable=missing-function-docstring
import base64
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import ktap  # pylint: disable=wrong-import-position

# X.690: tags, and algorithms' names in their encoding.
SEQUENCE, SET, INTEGER, BITS, OID, TIME = 0x30, 0x31, 2, 3, 6, 0x17
COMMON_NAME, ECDSA_SHA256 = b"\x55\x04\x03", b"\x2a\x86\x48\xce\x3d\x04\x03\x02"


def _der(tag, *parts):
    value = b"".join(parts)
    if len(value) < 128:
        return bytes([tag, len(value)]) + value
    size = (len(value).bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + len(value).to_bytes(size, "big") + value


def utf8(text):
    """Type and value of an UTF8String."""
    return 12, text.encode()


def name(*values):
    """A DistinguishedName of common names, each with its string's type."""
    return _der(SEQUENCE, *(_der(SET, _der(SEQUENCE, _der(OID, COMMON_NAME), _der(*value)))
                            for value in values))


def _openssl(*words, data=None):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True,
                          timeout=60 * ktap.SCALE).stdout


def authority(path):
    """At @path.pem and @path.key; what it issues has the key @path.own."""
    _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "30", "-subj", "/CN=ca", "-keyout", f"{path}.key", "-out", f"{path}.pem")
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-out", f"{path}.own")


def issue(path, out, subject):
    """A certificate of the authority @path, at @out.pem and @out.key."""
    algorithm = _der(SEQUENCE, _der(OID, ECDSA_SHA256))
    content = _der(
        SEQUENCE, _der(0xa0, _der(INTEGER, b"\2")), _der(INTEGER, b"\1"), algorithm,
        name(utf8("ca")), _der(SEQUENCE, _der(TIME, b"200101000000Z"), _der(TIME, b"491231235959Z")),
        subject, _openssl("pkey", "-in", f"{path}.own", "-pubout", "-outform", "DER"))
    signature = _openssl("dgst", "-sha256", "-sign", f"{path}.key", data=content)
    whole = _der(SEQUENCE, content, algorithm, _der(BITS, b"\0", signature))
    with open(f"{out}.pem", "wb") as file:
        file.write(b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(whole) +
                   b"-----END CERTIFICATE-----\n")
    with open(f"{out}.key", "wb") as file, open(f"{path}.own", "rb") as key:
        file.write(key.read())
