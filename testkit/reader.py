#!/usr/bin/env python3
"""A second reader and writer of the Stockade file, version 1, written from docs/format.md alone.

It needs Python 3.8 and the package `cryptography`. It holds whole files in memory and is made to be read and to be compared
with, not to be fast. It does not hide its timing and does not wipe secrets: do not use it for real ones.

    python3 reader.py decrypt (--key HEX | --passphrase TEXT | --rsa FILE.pem)... [--max-work-factor N] < in > out
"""
import argparse, base64, hashlib, hmac, os, re, sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

CIPHERS = {"cobblestone-256": (32, b"AEAD_AES_256_GCM"), "cobblestone-128": (16, b"AEAD_AES_128_GCM")}
HEADER_LIMIT, STANZA_LIMIT, CHUNK, CHUNK_LIMIT = 1 << 20, 1024, 16384, 1 << 38
BEGIN, END = b"-----BEGIN STOCKADE FILE-----\n", b"-----END STOCKADE FILE-----\n"
OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"stockade/v1")
ZERO_NONCE = bytes(12)

class Refused(Exception):
    """The file is refused. `status` is the name in stockade.h without STOCKADE_ERROR_, such as "HEADER_MAC"."""

    def __init__(self, status, detail=""):
        super().__init__(status + (": " + detail if detail else ""))
        self.status = status

def expand(key, info, length):
    """HKDF-Expand of RFC 5869 with SHA-512."""
    return HKDFExpand(hashes.SHA512(), length, info).derive(key)

def encode64(data):
    """Canonical base64 without padding."""
    return base64.b64encode(data).rstrip(b"=")

def decode64(text):
    """The bytes of canonical base64 without padding, or None."""
    if not re.fullmatch(rb"[A-Za-z0-9+/]*", text) or len(text) % 4 == 1: return None
    data = base64.b64decode(text + b"=" * (-len(text) % 4))
    return data if encode64(data) == text else None

def scrypt_key(passphrase, salt, log_n):
    """The wrap key of a passphrase."""
    return hashlib.scrypt(passphrase, salt=b"stockade/v1 scrypt" + salt, n=1 << log_n, r=8, p=1, dklen=32,
                          maxmem=(1 << (log_n + 10)) + (1 << 24))

def key_id(key):
    """The 8 bytes by which a symmetric key is called."""
    return hashlib.sha256(b"stockade/v1 key id" + key).digest()[:8]

def rsa_id(public):
    """The 16 bytes by which an RSA key is called."""
    return hashlib.sha256(public.public_bytes(serialization.Encoding.DER,
                                              serialization.PublicFormat.SubjectPublicKeyInfo)).digest()[:16]

def payload_keys(file_key, cipher, salt):
    """Key, base nonce and commitment of a payload."""
    size, aead = CIPHERS[cipher]
    input_key = expand(file_key, b"stockade/v1 payload " + cipher.encode(), size)
    out = expand(input_key, b"c2sp.org/chunked-encryption@v1+" + aead + b"\0" + salt, size + 44)
    return out[:size], out[size:size + 12], out[size + 12:]

def nonce(base, index):
    """The nonce of a chunk."""
    return (int.from_bytes(base, "big") ^ index).to_bytes(12, "big")

def header_mac(file_key, text):
    """The MAC of the header's bytes up to the three hyphens."""
    return hmac.digest(expand(file_key, b"stockade/v1 header", 32), text, "sha256")

# ---- reading
class Keyring:
    """What a reader has at hand: symmetric keys of 32 bytes, private RSA keys, at most one passphrase, and a limit."""

    def __init__(self, keys=(), rsa=(), passphrase=None, max_work_factor=20):
        self.keys = {key_id(k): k for k in keys}
        self.rsa = {rsa_id(k.public_key()): k for k in rsa}
        self.passphrase, self.max_work_factor = passphrase, max_work_factor

class Header:
    """cipher, stanzas as (kind, arguments, body), mac, length in bytes, and the text that the MAC covers."""

def unarmor(data):
    """(bytes of the file, status of the fault behind them or None). Binary files are returned as they are.

    A fault of the armor counts only once all before it is read: the first fault of a file is the one to be reported."""
    if not data.startswith(BEGIN): return data, None
    out, at, short = [], len(BEGIN), False
    while True:
        stop = data.find(b"\n", at)
        line = data[at:] if stop < 0 else data[at:stop]
        if stop < 0:
            prefix = END.startswith(line) and out or not short and re.fullmatch(rb"[A-Za-z0-9+/]{0,64}={0,2}", line)
            return b"".join(out), "TRUNCATED" if prefix and len(line) <= 64 else "ARMOR"
        at = stop + 1
        if line + b"\n" == END and out: return b"".join(out), "TRAILING_DATA" if at < len(data) else None
        text = line.rstrip(b"=")
        part = decode64(text)
        if short or not part or len(line) > 64 or len(line) % 4 or len(line) - len(text) != -len(text) % 4:
            return b"".join(out), "ARMOR"
        out.append(part)
        short = len(line) < 64 or text != line

def check_arguments(kind, args, rsa_ids):
    """Whether a stanza of a known kind has the arguments that it must have."""
    sizes = [len(decode64(a) or b"") for a in args]
    if kind == b"key": return sizes == [8, 16]
    if kind == b"rsa-oaep-sha256":
        if sizes != [16] or args[0] in rsa_ids: return False
        rsa_ids.add(args[0])
    if kind == b"scrypt":
        return len(args) == 2 and sizes[0] == 16 and bool(re.fullmatch(rb"[1-9][0-9]?", args[1])) and int(args[1]) < 64
    return kind != b"pad" or not args

def parse_header(data, fault=None):
    """Parses the header at the front of a binary file. `fault` is what follows behind `data` in place of its end."""
    at = 0
    def line():
        nonlocal at
        stop = data.find(b"\n", at, HEADER_LIMIT)
        if stop < 0: raise Refused("HEADER_TOO_LONG" if len(data) >= HEADER_LIMIT else fault or "TRUNCATED")
        text, at = data[at:stop], stop + 1
        return text
    def need(condition, detail):
        if not condition: raise Refused("HEADER", detail)
    header = Header()
    header.stanzas, rsa_ids = [], set()
    if not data.startswith(b"stockade/v"): raise Refused(fault if fault and b"stockade/v".startswith(data) else "MAGIC")
    version = line()[len(b"stockade/v"):]
    need(version[:2] not in (b"1 ", b"1\r"), "first line")
    if version != b"1": raise Refused("VERSION")
    found = re.fullmatch(rb"cipher ([!-~]+)", line())
    need(found, "cipher line")
    header.cipher = found[1].decode()
    if header.cipher not in CIPHERS: raise Refused("CIPHER")
    while True:
        start = at
        text = line()
        if text.startswith(b"--- "):
            header.mac = decode64(text[4:])
            need(header.mac is not None and len(header.mac) == 32, "MAC line")
            header.length, header.text = at, data[:start + 3]
            break
        need(re.fullmatch(rb"->( [!-~]+)+", text), "stanza line")
        if len(header.stanzas) == STANZA_LIMIT: raise Refused("HEADER_TOO_LONG")
        kind, *args = text[3:].split(b" ")
        need(check_arguments(kind, args, rsa_ids), "arguments")
        body = b""
        while True:
            part = line()
            need(re.fullmatch(rb"[A-Za-z0-9+/]{0,64}", part), "body line")
            body += part
            if len(part) < 64: break
        body = decode64(body)
        need(body is not None, "base64 of a body")
        need(kind not in (b"key", b"scrypt") or len(body) == 48, "length of a body")
        need(kind != b"rsa-oaep-sha256" or 256 <= len(body) <= 2048, "length of a body")
        header.stanzas.append((kind, args, body))
    kinds = [s[0] for s in header.stanzas]
    if b"scrypt" in kinds and len(kinds) - kinds.count(b"pad") > 1: raise Refused("SCRYPT_NOT_ALONE")
    return header

def unseal(wrap, body):
    """The file key in a body of 48 bytes, or None."""
    try:
        return AESGCM(wrap).decrypt(ZERO_NONCE, body, None)
    except InvalidTag:
        return None

def unwrap(header, ring):
    """The file key of a header, by whatever of the keyring opens it; checks the MAC."""
    met, file_key = False, None
    for kind, args, body in header.stanzas:
        if kind == b"scrypt":
            if ring.passphrase is None: raise Refused("NO_IDENTITY")
            if int(args[1]) > ring.max_work_factor: raise Refused("WORK_FACTOR")
            file_key = unseal(scrypt_key(ring.passphrase, decode64(args[0]), int(args[1])), body)
            if file_key is None: raise Refused("PASSPHRASE")
        elif kind == b"key" and decode64(args[0]) in ring.keys:
            met = True
            wrap = expand(ring.keys[decode64(args[0])], b"stockade/v1 key wrap" + decode64(args[1]), 32)
            file_key = unseal(wrap, body)
        elif kind == b"rsa-oaep-sha256" and decode64(args[0]) in ring.rsa:
            met = True
            try:
                file_key = ring.rsa[decode64(args[0])].decrypt(body, OAEP)
            except ValueError:
                file_key = None
            file_key = file_key if file_key is not None and len(file_key) == 32 else None
        if file_key is not None: break
    if file_key is None: raise Refused("HEADER_MAC" if met else "NO_IDENTITY")
    if not hmac.compare_digest(header_mac(file_key, header.text), header.mac): raise Refused("HEADER_MAC")
    return file_key

def opens(aead, iv, chunk):
    """Whether a chunk is authentic."""
    try:
        return aead.decrypt(iv, chunk, None) is not None
    except InvalidTag: return False

def decrypt_payload(data, file_key, cipher, fault=None):
    """The plaintext of salt, commitment and chunks."""
    if len(data) < 56: raise Refused(fault or "TRUNCATED")
    key, base, commitment = payload_keys(file_key, cipher, data[:24])
    if not hmac.compare_digest(commitment, data[24:56]): raise Refused("COMMITMENT")
    out, aead, at = [], AESGCM(key), 56
    for index in range(CHUNK_LIMIT):
        chunk = data[at:at + CHUNK + 16]
        if len(chunk) < CHUNK + 16 and fault or len(chunk) < 16: raise Refused(fault or "TRUNCATED")
        try:
            out.append(aead.decrypt(nonce(base, index), chunk, None))
        except InvalidTag:
            behind = any(opens(aead, nonce(base, index), chunk[:n]) for n in range(16, len(chunk)))
            raise Refused("TRAILING_DATA" if behind else "CHUNK", str(index)) from None
        if len(chunk) < CHUNK + 16: return b"".join(out)
        at += len(chunk)
    raise Refused("TOO_MANY_CHUNKS")

def decrypt(data, ring):
    """The plaintext of a Stockade file, binary or armored; raises Refused with the status of the first fault."""
    data, fault = unarmor(data)
    header = parse_header(data, fault)
    return decrypt_payload(data[header.length:], unwrap(header, ring), header.cipher, fault)

# ---- writing
def stanza(kind, args=(), body=b""):
    """The bytes of one stanza."""
    text = encode64(body)
    lines = [text[i:i + 64] for i in range(0, len(text) + 1, 64)]
    return b"-> " + b" ".join([kind, *args]) + b"\n" + b"\n".join(lines) + b"\n"

def key_stanza(key, file_key, salt):
    """Wraps a file key for a symmetric key."""
    wrap = expand(key, b"stockade/v1 key wrap" + salt, 32)
    return stanza(b"key", [encode64(key_id(key)), encode64(salt)], AESGCM(wrap).encrypt(ZERO_NONCE, file_key, None))

def scrypt_stanza(passphrase, file_key, salt, log_n=17):
    """Wraps a file key for a passphrase."""
    body = AESGCM(scrypt_key(passphrase, salt, log_n)).encrypt(ZERO_NONCE, file_key, None)
    return stanza(b"scrypt", [encode64(salt), b"%d" % log_n], body)

def rsa_stanza(public, file_key):
    """Wraps a file key for an RSA key; OAEP draws its own random seed."""
    return stanza(b"rsa-oaep-sha256", [encode64(rsa_id(public))], public.encrypt(file_key, OAEP))

def pad_stanzas(length):
    """One or two pad stanzas, or none, that bring a header of `length` bytes to a multiple of 1,024."""
    one = {len(stanza(b"pad", (), bytes(n))): stanza(b"pad", (), bytes(n)) for n in range(1600)}
    for total in range(-length % 1024, 2048, 1024):
        for first in (b"", one[8], one[10], one[11]):
            if total == len(first) or total - len(first) in one: return first + one.get(total - len(first), b"")

def make_header(file_key, cipher, stanzas, pad=True):
    """A header around stanzas that are bytes already."""
    text = b"stockade/v1\ncipher " + cipher.encode() + b"\n" + b"".join(stanzas)
    text += (pad_stanzas(len(text) + 48) if pad else b"") + b"---"
    return text + b" " + encode64(header_mac(file_key, text)) + b"\n"

def encrypt_payload(plaintext, file_key, cipher, salt):
    """Salt, commitment and chunks."""
    key, base, commitment = payload_keys(file_key, cipher, salt)
    chunks = [AESGCM(key).encrypt(nonce(base, i // CHUNK), plaintext[i:i + CHUNK], None)
              for i in range(0, len(plaintext) + 1, CHUNK)]
    return salt + commitment + b"".join(chunks)

def armor(data):
    """The file as text."""
    text = base64.b64encode(data)
    return BEGIN + b"".join(text[i:i + 64] + b"\n" for i in range(0, len(text), 64)) + END

def encrypt(plaintext, cipher="cobblestone-256", keys=(), rsa=(), passphrase=None, log_n=17):
    """A new file for these recipients, with a random file key."""
    file_key = os.urandom(32)
    stanzas = [key_stanza(k, file_key, os.urandom(16)) for k in keys] + [rsa_stanza(k, file_key) for k in rsa]
    stanzas += [scrypt_stanza(passphrase, file_key, os.urandom(16), log_n)] if passphrase is not None else []
    return make_header(file_key, cipher, stanzas) + encrypt_payload(plaintext, file_key, cipher, os.urandom(24))

def main():
    """decrypt: exit 1 and the status on stderr where a file is refused."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("action", choices=["decrypt"])
    p.add_argument("--key", type=bytes.fromhex, action="append", default=[])
    p.add_argument("--rsa", action="append", default=[])
    p.add_argument("--passphrase", type=os.fsencode)
    p.add_argument("--max-work-factor", type=int, default=20)
    a = p.parse_args()
    rsa = [serialization.load_pem_private_key(open(f, "rb").read(), None) for f in a.rsa]
    try:
        ring = Keyring(a.key, rsa, a.passphrase, a.max_work_factor)
        sys.stdout.buffer.write(decrypt(sys.stdin.buffer.read(), ring))
    except Refused as refused:
        sys.exit(str(refused))

if __name__ == "__main__":
    main()
