#!/usr/bin/env python3
"""Makes all files of the testkit in the folder that is named, or in testkit/files. The same run gives the same bytes."""
import hashlib
import os
import shutil
import sys
import zlib

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

import reader as r

HERE = os.path.dirname(os.path.abspath(__file__))
KEY, KEY2 = bytes(range(32)), bytes(range(100, 132))
FK, FK2 = hashlib.sha256(b"file key").digest(), hashlib.sha256(b"other file key").digest()
SALT, PSALT = bytes(range(16)), bytes(range(24))
RSA = {n: r.serialization.load_pem_private_key(open(f"{HERE}/keys/{n}.pem", "rb").read(), None)
       for n in ("rsa2048", "rsa2048b", "rsa3072", "rsa4096")}
C = "cobblestone-256"
OUT = sys.argv[1] if len(sys.argv) > 1 else HERE + "/files"


def put(name, expect, data, comment, plain=b"", **head):
    """One file. `head` names what the reader has at hand; the default is the key."""
    head = head or {"key": KEY.hex()}
    lines = ["expect: " + expect] + ([f"sha256: {hashlib.sha256(plain).hexdigest()}"] if expect == "SUCCESS" else [])
    for k, v in head.items():
        lines += [f"{k.replace('_', '-')}: {x}" for x in (v if isinstance(v, list) else [v]) if x != ""]
    if len(data) > 6000:
        lines, data = lines + ["compressed: zlib"], zlib.compress(data, 9)
    with open(f"{OUT}/{name}", "xb") as f:
        f.write("\n".join(lines + ["comment: " + comment]).encode() + b"\n\n" + data)


def mgf(seed, n):
    return b"".join(hashlib.sha256(seed + i.to_bytes(4, "big")).digest() for i in range(n // 32 + 1))[:n]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def rsa_body(key, message, label=b"stockade/v1", first=0, middle=1):
    """OAEP with a fixed seed."""
    size = key.key_size // 8
    db = hashlib.sha256(label).digest() + bytes(size - len(message) - 66) + bytes([middle]) + message
    seed = hashlib.sha256(b"seed").digest()
    db = xor(db, mgf(seed, len(db)))
    em = bytes([first]) + xor(seed, mgf(db, 32)) + db
    n = key.public_key().public_numbers()
    return pow(int.from_bytes(em, "big"), n.e, n.n).to_bytes(size, "big")


def rid(key):
    return r.encode64(r.rsa_id(key.public_key()))


def rsa(key, message=FK, **more):
    return r.stanza(b"rsa-oaep-sha256", [rid(key)], rsa_body(key, message, **more))


def flip(data, at, bit=1):
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1:]


K, K2 = r.key_stanza(KEY, FK, SALT), r.key_stanza(KEY2, FK, SALT)
PAD = r.stanza(b"pad", (), bytes(3))
TEXT = b"posts set side by side\n"
PAY = r.encrypt_payload(TEXT, FK, C, PSALT)


def file(*stanzas, payload=PAY, cipher=C, fk=FK):
    return r.make_header(fk, cipher, stanzas, False) + payload


def raw(text, fk=FK, payload=PAY):
    """A header of any text, with the right MAC."""
    text += b"---"
    return text + b" " + r.encode64(r.header_mac(fk, text)) + b"\n" + payload


TOP = b"stockade/v1\ncipher cobblestone-256\n"
BASE = file(K)
HLEN = len(BASE) - len(PAY)


def header():
    put("header_plain", "SUCCESS", BASE, "one key stanza", TEXT)
    put("header_padded", "SUCCESS", r.make_header(FK, C, [K]) + PAY, "padded to 1024 bytes", TEXT)
    for name, status, first in (
            ("v2", "VERSION", b"stockade/v2"), ("v10", "VERSION", b"stockade/v10"), ("v01", "VERSION", b"stockade/v01"),
            ("v_none", "VERSION", b"stockade/v"), ("v1_blank", "HEADER", b"stockade/v1 "),
            ("v1_cr", "HEADER", b"stockade/v1\r"), ("upper", "MAGIC", b"Stockade/v1"), ("bom", "MAGIC", b"\xef\xbb\xbfstockade/v1"),
            ("blank_first", "MAGIC", b" stockade/v1"), ("age", "MAGIC", b"age-encryption.org/v1"), ("lf_first", "MAGIC", b"\nstockade/v1")):
        put("first_line_" + name, status, first + BASE[11:], f"first line {first!r}")
    for i, line in enumerate((b"cipher cobblestone-512", b"cipher Cobblestone-256", b"cipher x", b"cipher aes-256-gcm")):
        put(f"cipher_unknown_{i}", "CIPHER", b"stockade/v1\n" + line + b"\n" + BASE[len(TOP):], f"{line!r}")
    for i, line in enumerate((b"cypher cobblestone-256", b"Cipher cobblestone-256", b"", b"\tcipher cobblestone-256", b"-> pad")):
        put(f"cipher_line_{i}", "HEADER", b"stockade/v1\n" + line + b"\n" + BASE[len(TOP):], f"{line!r}")
    bad = [b"->pad\n\n", b"->  pad\n\n", b"-> pad \n\n", b"-> \n\n", b"->\n\n", b"-> p\tq\n\n", b"-> a  b\n\n", b"-> a\r\n\n", b"-> \x7f\n\n",
           b"-> \xc3\xa9\n\n", b"-> a\0\n\n", b"\n", b"# comment\n", b" -> a\n\n", b"--> a\n\n", b"-- \n", b"-> a\nAAAA \n", b"-> a\nAAAA\r\n",
           b"-> a\nAA=\n", b"-> a\nAAA-\n", b"-> a\nAAA_\n", b"-> a\nA\n", b"-> a\nAB\n", b"-> a\nAAB\n", b"-> a\n" + b"A" * 65 + b"\n",
           b"-> a\n" + b"A" * 64 + b"\n" + b"A" * 65 + b"\n", b"-> a\nAAAA\nAAAA\n", b"-> a\n\n\n", b"-> a\nAA AA\n", b"-> a\n\tAAA\n"]
    for i, s in enumerate(bad):
        put(f"grammar_{i:02}", "HEADER", raw(TOP + K + s), f"the stanza {s[:40]!r}")
        put(f"grammar_first_{i:02}", "HEADER", raw(TOP + s + K), f"the stanza {s[:40]!r} before the right one")
    good = [b"-> a\n\n", b"-> a b c\nAAAA\n", b"-> !~ #\nAA\n", b"-> Pad x\n\n", b"-> -> ---\n\n", b"-> a\n" + b"A" * 64 + b"\n\n", b"-> KEY\nAAA\n",
            b"-> " + b"x" * 4000 + b"\n\n"]
    for i, s in enumerate(good):
        put(f"unknown_{i}", "SUCCESS", file(s, K), "an unknown kind is passed over", TEXT)
        put(f"unknown_mac_{i}", "HEADER_MAC", file(s, K).replace(s, s.replace(b"-> ", b"-> z", 1), 1), "an unknown kind is covered by the MAC")
    for n in range(0, 64, 3):
        put(f"pad_{n:02}", "SUCCESS", file(K, r.stanza(b"pad", (), bytes(range(n)))), "any pad", TEXT)
    mac = BASE[HLEN - 44:HLEN - 1]
    for i, m in enumerate((mac[:-1], mac + b"A", mac + b"=", mac[:-1] + b"B", b"", mac + b" ", mac + b"\r", b" " + mac, b"?" + mac[1:])):
        put(f"mac_line_{i}", "HEADER", BASE[:HLEN - 44] + m + b"\n" + PAY, "a malformed last line")
    for n in (1, 20, 42):
        put(f"mac_wrong_{n}", "HEADER_MAC", flip(BASE, HLEN - 44 + n, 1) if n < 42 and
            chr(BASE[HLEN - 44 + n] ^ 1).isalnum() else BASE[:HLEN - 44] + r.encode64(bytes([n] * 32)) + b"\n" + PAY, "a wrong MAC")
    for n in (12, 15, 20, 35, 38, 60, 80, 120, HLEN - 30, HLEN - 1):
        put(f"cut_header_{n:04}", "TRUNCATED", BASE[:n], "the file ends within the header")
    put("stanzas_1024", "SUCCESS", file(*[b"-> a\n\n"] * 1023, K), "1024 stanzas", TEXT)
    put("stanzas_1025", "HEADER_TOO_LONG", file(K, *[b"-> a\n\n"] * 1024), "1025 stanzas")
    big = r.stanza(b"pad", (), bytes(500000))
    room = (1 << 20) - (HLEN + len(big) + 6)
    put("header_1mib", "SUCCESS", file(K, big, b"-> " + b"x" * (room + 1) + b"\n\n"), "a header of 1048576 bytes", TEXT)
    put("header_1mib_1", "HEADER_TOO_LONG", file(K, big, b"-> " + b"x" * (room + 2) + b"\n\n"), "one byte more")


def stanzas():
    a, b = r.encode64(r.key_id(KEY)), r.encode64(SALT)
    body = r.AESGCM(bytes(32)).encrypt(bytes(12), FK, None)
    for i, args in enumerate(([], [a], [a, b, b], [b, a], [a[:-1], b], [a, b[:-1]], [a + b"A", b], [a, b + b"="])):
        put(f"key_args_{i}", "HEADER", file(r.stanza(b"key", args, body)), "arguments of key")
    for n in (0, 47, 49, 96):
        put(f"key_body_{n}", "HEADER", file(r.stanza(b"key", [a, b], bytes(n))), "length of a key's body")
        put(f"scrypt_body_{n}", "HEADER", file(r.stanza(b"scrypt", [b, b"1"], bytes(n))), "length of a body", passphrase="x")
    put("key_wrong_body", "HEADER_MAC", file(r.stanza(b"key", [a, b], body)), "the id of the key, does not open")
    put("key_second_opens", "SUCCESS", file(r.stanza(b"key", [a, b], body), K), "the second of the key's stanzas opens", TEXT)
    put("key_other", "NO_IDENTITY", file(K2), "another key")
    put("key_two", "SUCCESS", file(K2, K, PAD), "two recipients", TEXT)
    put("no_stanza", "NO_IDENTITY", file(), "a header without recipient")
    put("pad_args", "HEADER", file(K, b"-> pad x\n\n"), "pad has no arguments")
    s = r.scrypt_stanza(b"pass", FK, SALT, 2)
    p = {"passphrase": "pass"}
    put("scrypt", "SUCCESS", file(s), "work factor 2", TEXT, **p)
    put("scrypt_pad", "SUCCESS", file(PAD, s, PAD), "pads beside", TEXT, **p)
    put("scrypt_wrong", "PASSPHRASE", file(s), "wrong passphrase", passphrase="Pass")
    put("scrypt_none", "NO_IDENTITY", file(s), "no passphrase at hand")
    for i, o in enumerate((K, s, b"-> unknown\n\n", rsa(RSA["rsa2048"]))):
        put(f"scrypt_beside_{i}", "SCRYPT_NOT_ALONE", file(s, o), "another stanza beside", **p)
        put(f"scrypt_behind_{i}", "SCRYPT_NOT_ALONE", file(o, s), "another stanza before", **p)
    for w in ("0", "64", "01", "+1", "-1", "1.0", "100", "x", "18446744073709551617"):
        put(f"scrypt_factor_{w}", "HEADER", file(r.stanza(b"scrypt", [b, w.encode()], body)), "malformed work factor", **p)
    for w, m in ((21, 20), (63, 20), (3, 2)):
        put(f"scrypt_over_{w}", "WORK_FACTOR", file(r.stanza(b"scrypt", [b, b"%d" % w], body)), "above the limit", **p, max_work_factor=m)
    for n, k in RSA.items():
        put(f"rsa_{n}", "SUCCESS", file(rsa(k)), "an RSA key", TEXT, identity=n)
        put(f"rsa_{n}_label", "HEADER_MAC", file(rsa(k, label=b"")), "another label", identity=n)
        put(f"rsa_{n}_first", "HEADER_MAC", file(rsa(k, middle=2)), "bad padding", identity=n)
        put(f"rsa_{n}_short", "HEADER_MAC", file(rsa(k, message=FK[:31])), "31 bytes within", identity=n)
    k = RSA["rsa2048"]
    for n in (255, 0, 2049):
        put(f"rsa_body_{n}", "HEADER", file(r.stanza(b"rsa-oaep-sha256", [rid(k)], bytes(n))), "length", identity="rsa2048")
    for n in (257, 384, 2048):
        put(f"rsa_body_{n}", "HEADER_MAC", file(r.stanza(b"rsa-oaep-sha256", [rid(k)], bytes(n))), "not the key's length", identity="rsa2048")
    put("rsa_other", "NO_IDENTITY", file(rsa(RSA["rsa2048b"])), "another RSA key", identity="rsa2048")
    put("rsa_duplicate", "HEADER", file(rsa(k), rsa(k)), "a second stanza with the same id", identity="rsa2048")
    put("rsa_duplicate_key", "HEADER", file(K, rsa(k), PAD, rsa(k, label=b"")), "refused for other keys too")
    put("rsa_two", "SUCCESS", file(rsa(RSA["rsa2048b"]), rsa(k)), "two RSA keys", TEXT, identity="rsa2048")


def multiply(a, b):
    """The product in the field of GCM (SP 800-38D 6.3), of numbers that are big-endian blocks."""
    z = 0
    for i in range(127, -1, -1):
        z ^= b if a >> i & 1 else 0
        b = b >> 1 ^ (0xE1 << 120 if b & 1 else 0)
    return z


def two_keys():
    """A payload of FK whose only chunk is authentic under FK2 too: its second block solves the linear equation of the tags."""
    parts = []
    for fk in (FK, FK2):
        key, base, _ = r.payload_keys(fk, C, PSALT)
        block = Cipher(AES(key), ECB()).encryptor().update
        h, e = (int.from_bytes(block(x), "big") for x in (bytes(16), base + b"\0\0\0\1"))
        parts.append((h, multiply(h, h), e))
    (h, h2, e), (g, g2, f) = parts
    first, length = int.from_bytes(b"the first block.", "big"), 256
    right = e ^ f ^ multiply(first, multiply(h2, h) ^ multiply(g2, g)) ^ multiply(length, h ^ g)
    inverse, power = 1 << 127, h2 ^ g2
    for _ in range(127):  # to the power of 2^128 - 2
        power = multiply(power, power)
        inverse = multiply(inverse, power)
    second = multiply(right, inverse)
    tag = multiply(first, multiply(h2, h)) ^ multiply(second, h2) ^ multiply(length, h) ^ e
    chunk = b"".join(x.to_bytes(16, "big") for x in (first, second, tag))
    for fk in (FK, FK2):
        key, base, _ = r.payload_keys(fk, C, PSALT)
        r.AESGCM(key).decrypt(base, chunk, None)
    return PSALT + r.payload_keys(FK, C, PSALT)[2] + chunk


def payload():
    for c in r.CIPHERS:
        for n in (0, 1, 16383, 16384, 16385, 32768):
            t = bytes(n)
            f = file(K, payload=r.encrypt_payload(t, FK, c, PSALT), cipher=c)
            put(f"length_{n}_{c[-3:]}", "SUCCESS", f, "length of plaintext", t)
    for n in (0, 1, 24, 55, 56, 57, 71):
        put(f"cut_payload_{n}", "TRUNCATED", BASE[:HLEN + n], "the file ends")
    for n in (72, 80, len(PAY) - 1):
        put(f"cut_chunk_{n}", "CHUNK", BASE[:HLEN + n], "cut within a chunk")
    for n in (0, 23, 24, 55):
        put(f"commitment_{n}", "COMMITMENT", flip(BASE, HLEN + n), "salt or commitment changed")
    put("commitment_key", "COMMITMENT", file(K, payload=r.encrypt_payload(TEXT, FK2, C, PSALT)), "a payload of another file key")
    p = two_keys()
    put("equivocation_first", "SUCCESS", file(K, payload=p), "a payload whose chunk is authentic under two file keys: its own",
        r.decrypt_payload(p, FK, C))
    put("equivocation_second", "COMMITMENT", file(r.key_stanza(KEY2, FK2, SALT), payload=p, fk=FK2),
        "the same payload behind a header of the other file key: a reader that skips the commitment opens it", key=KEY2.hex())
    put("equivocation_header", "HEADER_MAC", file(K, r.key_stanza(KEY2, FK2, SALT), payload=p),
        "both file keys in one header: the MAC is right for the other one", key=KEY2.hex())
    t = bytes(16384) + bytes([1]) * 16384 + b"end"
    p = r.encrypt_payload(t, FK, C, PSALT)
    h, x, y, z = p[:56], p[56:16456], p[16456:32856], p[32856:]
    for n, s, d in (("swap", "CHUNK", h + y + x + z), ("drop0", "CHUNK", h + y + z), ("drop1", "CHUNK", h + x + z), ("dup", "CHUNK", h + x + x + y + z),
                    ("dup_last", "TRAILING_DATA", p + z), ("append", "TRAILING_DATA", p + b"\n"),
                    ("append_chunk", "TRAILING_DATA", p + bytes(20000)), ("cut1", "TRUNCATED", h + x), ("cut2", "TRUNCATED", h + x + y),
                    ("cut15", "TRUNCATED", h + x + y + z[:15]), ("cut16", "CHUNK", h + x + y + z[:16]), ("tag", "CHUNK", flip(p, 16455)),
                    ("last_tag", "CHUNK", flip(p, len(p) - 1))):
        put("chunks_" + n, s, file(K, payload=d), "three chunks: " + n)


def armor():
    a = r.armor(BASE)
    put("armor", "SUCCESS", a, "armored", TEXT)
    n = len(r.BEGIN)
    for name, status, d in (
            ("behind", "TRAILING_DATA", a + b"\n"), ("crlf", "MAGIC", a.replace(b"\n", b"\r\n")), ("before", "MAGIC", b"\n" + a),
            ("label", "MAGIC", a.replace(b"STOCKADE", b"stockade")), ("blank", "ARMOR", a[:n + 64] + b" " + a[n + 64:]),
            ("empty", "ARMOR", a[:n] + b"\n" + a[n:]), ("short", "ARMOR", a[:n + 60] + b"\n" + a[n + 60:]), ("none", "ARMOR", r.BEGIN + r.END), ("empty_end", "ARMOR", a.replace(r.END, b"\n" + r.END)),
            ("empty_full", "ARMOR", r.armor(BASE + bytes(-len(BASE) % 48)).replace(r.END, b"\n" + r.END)),
            ("end", "ARMOR", a.replace(b"-----END", b"----END")), ("end_blank", "ARMOR", a[:-1] + b" \n"), ("url", "ARMOR", a[:n] + b"_" + a[n + 1:]),
            ("cr", "ARMOR", a[:n + 64] + b"\r" + a[n + 64:]), ("cut_line", "TRUNCATED", a[:n + 130]), ("cut_end", "TRUNCATED", a[:-len(r.END)]),
            ("cut_begin", "TRUNCATED", r.BEGIN), ("order", "VERSION", r.armor(b"stockade/v2" + BASE[11:])[:-1] + b"x\n"),
            ("magic", "MAGIC", r.armor(b"x" + BASE)), ("twice", "MAGIC", r.armor(a))):
        put("armor_" + name, status, d, "armor: " + name)


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    for part in (header, stanzas, payload, armor):
        part()
    print(len(os.listdir(OUT)), "files")
