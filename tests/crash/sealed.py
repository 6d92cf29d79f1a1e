"""The Stockade file as docs/format.md has it, over pyca/cryptography, and the ledger of all that was ever sealed."""

import base64
import hashlib
import hmac

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

CHUNK, SEALED = 16384, 16400
PREAMBLE = 24 + 32


def expand(key, info, length):
    out, last, counter = b"", b"", 1
    while len(out) < length:
        last = hmac.digest(key, last + info + bytes([counter]), "sha512")
        out += last
        counter += 1
    return out[:length]


def decode(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


def read_key(path):
    with open(path, encoding="ascii") as file:
        return bytes.fromhex(file.read().strip())


def header_length(data):
    if not data.startswith(b"stockade/v1\n"):
        return None
    end = data.find(b"\n--- ")
    line = data.find(b"\n", end + 1) if end >= 0 else -1
    return line + 1 if line >= 0 else None


def open_header(data, keys):
    """(header length, file key) for the first of the keys that opens it. ValueError if none does."""
    length = header_length(data)
    if length is None:
        raise ValueError("no header")
    lines = data[:length].decode("ascii").split("\n")
    for key in keys:
        key_id = base64.b64encode(hashlib.sha256(b"stockade/v1 key id" + key).digest()[:8]).decode().rstrip("=")
        for at, line in enumerate(lines):
            words = line.split(" ")
            if words[:3] != ["->", "key", key_id]:
                continue
            wrap = expand(key, b"stockade/v1 key wrap" + decode(words[3]), 32)
            file_key = AESGCM(wrap).decrypt(bytes(12), decode(lines[at + 1]), None)
            covered = data[:data.find(b"\n--- ") + 4]
            mac = hmac.digest(expand(file_key, b"stockade/v1 header", 32), covered, "sha256")
            if mac != decode(lines[-2][4:]):
                raise ValueError("header MAC")
            return length, file_key
    raise ValueError("no identity")


def open_chunks(data, keys):
    """The plaintext of every chunk. ValueError or InvalidTag if anything is not authentic."""
    length, file_key = open_header(data, keys)
    salt, commitment = data[length:length + 24], data[length + 24:length + PREAMBLE]
    payload = expand(file_key, b"stockade/v1 payload cobblestone-256", 32)
    derived = expand(payload, b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0" + salt, 76)
    if derived[44:] != commitment:
        raise ValueError("commitment")
    cipher, nonce = AESGCM(derived[:32]), int.from_bytes(derived[32:44], "big")
    body = memoryview(data)[length + PREAMBLE:]
    count = len(body) // SEALED + 1
    if len(body) % SEALED < 16:
        raise ValueError("truncated")
    return [cipher.decrypt((nonce ^ k).to_bytes(12, "big"), body[k * SEALED:(k + 1) * SEALED], None)
            for k in range(count)]


class Ledger:
    """Every byte that was ever written to a sealed output, by salt and chunk: guarantee B.

    Two values for one byte under one salt are two plaintexts under one key and nonce, for a chunk's ciphertext is a
    function of them. A chunk's share of a write that is all zeros was not sealed: something wiped it."""

    def __init__(self, length):
        self.length = length  # of the header, where a file lost it
        self.fragments = {}
        self.reused = set()

    def copy(self):
        other = Ledger(self.length)
        other.fragments = {place: list(found) for place, found in self.fragments.items()}
        return other

    def add(self, salt, offset, data):
        at = 0
        while at < len(data):
            chunk, inside = divmod(offset + at, SEALED)
            piece = data[at:at + SEALED - inside]
            at += len(piece)
            if piece.count(0) != len(piece):
                self._add(salt, chunk, inside, piece)

    def _add(self, salt, chunk, begin, piece):
        known = self.fragments.setdefault((salt, chunk), [])
        for other_begin, other in known:
            first, last = max(begin, other_begin), min(begin + len(piece), other_begin + len(other))
            if first < last and piece[first - begin:last - begin] != other[first - other_begin:last - other_begin]:
                self.reused.add((salt, chunk))
        if (begin, piece) not in known:
            known.append((begin, piece))

    def record(self, events, before, kinds, is_output):
        """Adds the writes of a log. `before`: {path: (inode, bytes)} of the folder when it began."""
        contents, outputs = {}, set()
        for path, (inode, data) in before.items():
            contents[inode] = bytearray(data)
            if is_output(path):
                outputs.add(inode)
        waiting, salts = {}, {}
        for event in events:
            if event.kind == kinds.CREATE:
                contents[event.inode] = bytearray()
                salts.pop(event.inode, None)
                outputs.discard(event.inode)
                if not event.path or is_output(event.path):
                    outputs.add(event.inode)
            elif event.inode in outputs and event.kind == kinds.TRUNCATE:
                data = contents[event.inode]
                del data[event.offset:]
                data.extend(bytes(event.offset - len(data)))
            elif event.inode in outputs and event.kind == kinds.WRITE:
                data = contents[event.inode]
                end = event.offset + len(event.data)
                data.extend(bytes(max(0, end - len(data))))
                data[event.offset:end] = event.data
                length = header_length(bytes(data[:8192])) or self.length
                begin = length + PREAMBLE
                salt = bytes(data[length:length + 24])
                if salt.startswith(b"stockade journal"):
                    # A plan under its temporary name: its header is followed by terms, not by chunks.
                    outputs.discard(event.inode)
                    waiting.pop(event.inode, None)
                    continue
                waiting.setdefault(event.inode, []).append((event.offset - begin, event.data))
                if len(salt) == 24 and any(salt):
                    self._settle(waiting.pop(event.inode), salt)
        for inode, writes in waiting.items():
            self._settle(writes, b"unknown")

    def _settle(self, writes, salt):
        for offset, data in writes:
            if offset + len(data) > 0:
                self.add(salt, max(offset, 0), data[max(0, -offset):])
