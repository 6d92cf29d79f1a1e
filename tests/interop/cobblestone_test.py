#!/usr/bin/env python3
"""Payloads of the stockade command against those of pyca/cryptography, in both directions.

usage: cobblestone_test.py STOCKADE [OPTION OF unittest ...]
environment: STOCKADE_TEST_SEED repeats the content and the choices of a run; salts and file keys stay random
"""

import base64
import hashlib
import hmac
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import cryptography
from cryptography import cobblestone
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

CHUNK, SEALED_CHUNK, PREAMBLE = 16384, 16400, 56
MIB = 1 << 20
# Around the border of a chunk; enough chunks for a second byte of the counter; many runs of a worker.
SIZES = (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * MIB, 100 * MIB)
INSTANCES = {
    128: (cobblestone.Cobblestone128Encryptor, cobblestone.Cobblestone128Decryptor, 16),
    256: (cobblestone.Cobblestone256Encryptor, cobblestone.Cobblestone256Decryptor, 32),
}
# What the command returns for a damaged input, and for one that another key may have made.
DAMAGED, NO_KEY = 3, 4

program = None
seed = int(os.environ.get("STOCKADE_TEST_SEED") or random.SystemRandom().getrandbits(32))


class Tally:
    """What has been compared, for the last line: a run that compared nothing has to fail."""

    def __init__(self):
        self.ours = self.theirs = self.refused = 0


tally = Tally()


def stockade(*arguments, stdin=b""):
    """Runs the command; stdin and stdout are pipes."""
    return subprocess.run([program, *map(str, arguments)], input=stdin, capture_output=True, timeout=300, check=False)


def in_pieces(data, rng):
    """The data in pieces of uneven sizes, empty ones among them."""
    position, view = 0, memoryview(data)
    while position < len(data):
        piece = rng.choice((0, 1, 55, CHUNK, SEALED_CHUNK, rng.randrange(1 << 16), rng.randrange(8 * MIB)))
        yield view[position : position + piece]
        position += piece


def pyca(machine, data, rng):
    return b"".join([machine.update(piece) for piece in in_pieces(data, rng)] + [machine.finalize()])


def pyca_seal(bits, key, context, data, rng):
    return pyca(INSTANCES[bits][0](key, context), data, rng)


def pyca_open(bits, key, context, payload, rng):
    return pyca(INSTANCES[bits][1](key, context), payload, rng)


def payload_length(length):
    return PREAMBLE + length + 16 * (length // CHUNK + 1)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stockade-interop-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rng = random.Random(f"{seed} {self.id()}")

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def same(self, found, expected, what):
        # Not assertEqual, which would print megabytes.
        if found != expected:
            differ = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), "the end of one")
            self.fail(f"{what}: {len(found)} bytes for {len(expected)}, the first difference at {differ}")

    def through_files(self, arguments, data):
        """Exit status and output (None where no file is left) of a command with -o OUT IN."""
        source, target = self.write("in", data), self.folder / "out"
        target.unlink(missing_ok=True)
        done = stockade(*arguments, "-o", target, source)
        return done.returncode, target.read_bytes() if target.exists() else None, done.stderr.decode()

    def through_pipes(self, arguments, data):
        done = stockade(*arguments, stdin=data)
        return done.returncode, done.stdout, done.stderr.decode()

    def run_command(self, way, arguments, data):
        status, output, complaint = way(arguments, data)
        self.assertEqual(status, 0, f"{arguments}: {complaint}")
        return output

    def refused_by_stockade(self, arguments, data, plaintext, statuses=(DAMAGED,)):
        status, output, complaint = self.through_files(arguments, data)
        self.assertIn(status, statuses, complaint)
        self.assertIsNone(output, "a file was left behind")
        self.assertTrue(complaint.startswith("stockade: error: "), complaint)
        status, output, complaint = self.through_pipes(arguments, data)
        self.assertIn(status, statuses, complaint)
        self.assertTrue(output == plaintext[: len(output)], "what left the pipe is no part of the plaintext")
        self.assertEqual(len(output) % CHUNK, 0, "what left the pipe is not whole chunks")
        tally.refused += 2

    def refused_by_pyca(self, bits, key, context, payload):
        with self.assertRaises(InvalidTag):
            pyca_open(bits, key, context, payload, self.rng)


class Payloads(Case):
    """Whole payloads: `stockade cobblestone` to pyca and back."""

    def both_ways(self, bits, context, data):
        key = self.rng.randbytes(INSTANCES[bits][2])
        options = ["--key-file", self.write("key", key), "--bits", bits]
        if context:
            options += ["--context", context.hex()]
        for way in (self.through_files, self.through_pipes):
            payload = self.run_command(way, ["cobblestone", "encrypt", *options], data)
            self.assertEqual(len(payload), payload_length(len(data)))
            self.same(pyca_open(bits, key, context, payload, self.rng), data, "pyca of ours")
            tally.ours += 1
        for way in (self.through_files, self.through_pipes):
            payload = pyca_seal(bits, key, context, data, self.rng)
            self.same(self.run_command(way, ["cobblestone", "decrypt", *options], payload), data, "ours of pyca")
            tally.theirs += 1

    def every_size(self, bits, context):
        content = self.rng.randbytes(max(SIZES))
        for size in SIZES:
            with self.subTest(bits=bits, context=len(context), size=size):
                self.both_ways(bits, context, content[:size])
                print(f"cobblestone-{bits}, context of {len(context)} bytes, {size} bytes: both ways, files and pipes")

    def test_128(self):
        self.every_size(128, b"")

    def test_128_with_context(self):
        self.every_size(128, self.rng.randbytes(self.rng.randrange(1, 200)))

    def test_256(self):
        self.every_size(256, b"")

    def test_256_with_context(self):
        self.every_size(256, self.rng.randbytes(self.rng.randrange(1, 200)))

    def test_default_is_256(self):
        key = self.rng.randbytes(32)
        payload = self.run_command(
            self.through_files, ["cobblestone", "encrypt", "--key-file", self.write("key", key)], b"default"
        )
        self.same(pyca_open(256, key, b"", payload, self.rng), b"default", "pyca of ours")


def flipped(payload, position):
    changed = bytearray(payload)
    changed[position] ^= 1 << position % 8
    return bytes(changed)


def chunks_of(payload):
    return [payload[i : i + SEALED_CHUNK] for i in range(PREAMBLE, len(payload), SEALED_CHUNK)]


def damages(payload):
    """Names and damaged forms of a payload of at least three chunks; after "preamble" it looks like another key's."""
    end, chunks = len(payload), chunks_of(payload)
    for name, position in {
        "preamble: first byte of the salt": 0,
        "preamble: last byte of the salt": 23,
        "preamble: first byte of the commitment": 24,
        "preamble: last byte of the commitment": 55,
        "first byte of the first chunk": PREAMBLE,
        "tag of the first chunk": PREAMBLE + SEALED_CHUNK - 1,
        "middle of the second chunk": PREAMBLE + SEALED_CHUNK * 3 // 2,
        "first byte of the last chunk": end - len(chunks[-1]),
        "last byte": end - 1,
    }.items():
        yield name, flipped(payload, position)
    for length in (0, 1, 55, PREAMBLE, PREAMBLE + 15, PREAMBLE + 16, PREAMBLE + SEALED_CHUNK - 1,
                   PREAMBLE + SEALED_CHUNK, PREAMBLE + SEALED_CHUNK + 1, PREAMBLE + SEALED_CHUNK + 15,
                   PREAMBLE + SEALED_CHUNK + 16, PREAMBLE + 2 * SEALED_CHUNK, end - 1, end - 16):
        if length < end:
            yield f"cut to {length} bytes", payload[:length]

    def assembled(parts):
        return payload[:PREAMBLE] + b"".join(parts)

    yield "one byte more", payload + b"\0"
    yield "a tag more", payload + bytes(16)
    yield "twice the last chunk", assembled([*chunks, chunks[-1]])
    yield "twice the first chunk", assembled([chunks[0], *chunks])
    yield "first and second chunk exchanged", assembled([chunks[1], chunks[0], *chunks[2:]])
    yield "without the first chunk", assembled(chunks[1:])
    yield "without the last chunk", assembled(chunks[:-1])
    yield "the payload twice", payload + payload


class Damage(Case):
    """What is damaged or cut short is refused by both, whoever made it."""

    def refused(self, bits, length):
        key, context, data = self.rng.randbytes(bits // 8), self.rng.randbytes(9), self.rng.randbytes(length)
        options = ["--key-file", self.write("key", key), "--bits", bits, "--context", context.hex()]
        ours = self.run_command(self.through_files, ["cobblestone", "encrypt", *options], data)
        count = 0
        for maker, payload in (("ours", ours), ("pyca's", pyca_seal(bits, key, context, data, self.rng))):
            for name, damaged in damages(payload):
                with self.subTest(bits=bits, length=length, maker=maker, damage=name):
                    statuses = (DAMAGED, NO_KEY) if name.startswith("preamble") else (DAMAGED,)
                    self.refused_by_pyca(bits, key, context, damaged)
                    self.refused_by_stockade(["cobblestone", "decrypt", *options], damaged, data, statuses)
                    count += 1
        print(f"cobblestone-{bits}, {length} bytes: {count} damaged payloads refused by both, files and pipes")

    def test_128(self):
        self.refused(128, 2 * CHUNK + 7000)

    def test_256(self):
        self.refused(256, 2 * CHUNK + 7000)

    def test_empty_last_chunk(self):
        self.refused(256, 3 * CHUNK)

    def test_wrong_key_and_context(self):
        key, context, data = self.rng.randbytes(32), b"context", self.rng.randbytes(CHUNK + 1)
        payload = pyca_seal(256, key, context, data, self.rng)
        for name, other_key, other_context in (
            ("key", flipped(key, 31), context),
            ("context", key, flipped(context, 0)),
            ("shorter context", key, context[:-1]),
            ("no context", key, b""),
        ):
            with self.subTest(wrong=name):
                options = ["--key-file", self.write("key", other_key), "--context", other_context.hex()]
                if not other_context:
                    options = options[:2]
                self.refused_by_pyca(256, other_key, other_context, payload)
                self.refused_by_stockade(["cobblestone", "decrypt", *options], payload, b"", (DAMAGED, NO_KEY))
                print(f"cobblestone-256, wrong {name}: refused by both")


def expand(key, info, length):
    """HKDF-Expand with SHA-512 (RFC 5869 2.3), for at most one block of it."""
    assert length <= 64
    return hmac.digest(key, info + b"\x01", "sha512")[:length]


def unpadded_base64(text):
    data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    assert base64.b64encode(data).decode().rstrip("=") == text, "base64 is not canonical"
    return data


def to_unpadded_base64(data):
    return base64.b64encode(data).decode().rstrip("=")


class Header:
    """The text header of a Stockade file, read with nothing of Stockade's."""

    def __init__(self, file):
        mac_line = file.index(b"\n--- ") + 1
        self.length = file.index(b"\n", mac_line) + 1
        self.authenticated = file[: mac_line + 3]
        self.mac = unpadded_base64(file[mac_line + 4 : self.length - 1].decode())
        magic, cipher, *lines = file[:mac_line].decode("ascii").splitlines()
        assert magic == "stockade/v1", magic
        self.cipher = cipher.removeprefix("cipher ")
        self.stanzas = []
        for line in lines:
            if line.startswith("-> "):
                self.stanzas.append([line.split(" ")[1:], ""])
            else:
                self.stanzas[-1][1] += line

    def file_key(self, key):
        """The file key, if the header was made for `key` and not changed since."""
        key_id = hashlib.sha256(b"stockade/v1 key id" + key).digest()[:8]
        for (kind, *arguments), body in self.stanzas:
            if kind != "key" or unpadded_base64(arguments[0]) != key_id:
                continue
            wrap_key = expand(key, b"stockade/v1 key wrap" + unpadded_base64(arguments[1]), 32)
            file_key = AESGCM(wrap_key).decrypt(bytes(12), unpadded_base64(body), None)
            mac_key = expand(file_key, b"stockade/v1 header", 32)
            assert hmac.compare_digest(hmac.digest(mac_key, self.authenticated, "sha256"), self.mac), "header MAC"
            return file_key
        raise AssertionError("no stanza for this key")


def input_key(file_key, cipher):
    length = {"cobblestone-256": 32, "cobblestone-128": 16}[cipher]
    return expand(file_key, b"stockade/v1 payload " + cipher.encode(), length)


def make_header(key, file_key, cipher, rng):
    """A header for one symmetric key, as another writer could make it: without a pad."""
    salt, key_id = rng.randbytes(16), hashlib.sha256(b"stockade/v1 key id" + key).digest()[:8]
    wrapped = AESGCM(expand(key, b"stockade/v1 key wrap" + salt, 32)).encrypt(bytes(12), file_key, None)
    body = to_unpadded_base64(wrapped)
    lines = ["stockade/v1", f"cipher {cipher}", f"-> key {to_unpadded_base64(key_id)} {to_unpadded_base64(salt)}"]
    # The last line of a body is shorter than 64 columns, here it is empty.
    lines += [body[i : i + 64] for i in range(0, len(body) + 1, 64)]
    head = ("\n".join(lines) + "\n---").encode()
    mac = hmac.digest(expand(file_key, b"stockade/v1 header", 32), head, "sha256")
    return head + b" " + to_unpadded_base64(mac).encode() + b"\n"


class Files(Case):
    """Stockade files: the header read and written in Python, the payload by pyca."""

    def test_payload_of_a_stockade_file(self):
        key_path = self.folder / "file.key"
        done = stockade("keygen", "--symmetric", "-o", key_path)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        for bits in INSTANCES:
            for size in (0, CHUNK, 5 * MIB + 1):
                for way in (self.through_files, self.through_pipes):
                    with self.subTest(bits=bits, size=size, way=way.__name__):
                        self.payload_of_a_file(bits, key_path, self.rng.randbytes(size), way)
                print(f"cobblestone-{bits}, {size} bytes: header of our file read in Python, payload opened by pyca")

    def payload_of_a_file(self, bits, key_path, data, way):
        file = self.run_command(way, ["encrypt", "-k", key_path, "--cipher", f"cobblestone-{bits}"], data)
        header = Header(file)
        self.assertEqual(header.length % 1024, 0)
        self.assertEqual(header.cipher, f"cobblestone-{bits}")
        payload = file[header.length :]
        payload_key = input_key(header.file_key(bytes.fromhex(key_path.read_text())), header.cipher)
        self.same(pyca_open(bits, payload_key, b"", payload, self.rng), data, "pyca of our file")
        tally.ours += 1
        for damaged in (flipped(payload, len(payload) - 1), payload[:-1]):
            self.refused_by_pyca(bits, payload_key, b"", damaged)
            self.refused_by_stockade(["decrypt", "-k", key_path], file[: header.length] + damaged, data)

    def test_stockade_file_made_elsewhere(self):
        key = self.rng.randbytes(32)
        key_path = self.write("file.key", key)
        for bits in INSTANCES:
            for size in (0, 3 * CHUNK, 5 * MIB + 1):
                with self.subTest(bits=bits, size=size):
                    data, file_key = self.rng.randbytes(size), self.rng.randbytes(32)
                    cipher = f"cobblestone-{bits}"
                    header = make_header(key, file_key, cipher, self.rng)
                    file = header + pyca_seal(bits, input_key(file_key, cipher), b"", data, self.rng)
                    for way in (self.through_files, self.through_pipes):
                        self.same(self.run_command(way, ["decrypt", "-k", key_path], file), data, "ours of Python's")
                        tally.theirs += 1
                    print(f"{cipher}, {size} bytes: file of Python and pyca opened by stockade")


def main():
    global program
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    os.umask(0o077)  # of keys that others may read the command warns
    sys.stdout.reconfigure(line_buffering=True)
    print(f"pyca/cryptography {cryptography.__version__}; seed {seed}")
    outcome = unittest.main(exit=False, verbosity=1).result
    print(f"{tally.ours} payloads of ours opened by pyca, {tally.theirs} of pyca's by stockade, "
          f"{tally.refused} damaged ones refused")
    selected = len(sys.argv) > 1
    compared = tally.ours > 0 and tally.theirs > 0 and tally.refused > 0
    return 0 if outcome.wasSuccessful() and (compared or selected) else 1


if __name__ == "__main__":
    sys.exit(main())
