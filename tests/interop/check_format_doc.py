#!/usr/bin/env python3
"""Holds docs/format.md to its word: its examples, its script, its table of values and its names of statuses.

usage: check_format_doc.py FORMAT.md [STOCKADE]
With the stockade command as well, that opens the examples too, and refuses them when they are damaged.
Exit status 1 for anything on the page that is not so.
"""

import base64
import hashlib
import hmac
import importlib.util
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from cryptography import cobblestone
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# What each example is opened with, and what is in it: said here as well, so that the page cannot just agree with itself.
KEY = bytes(range(32))
PASSPHRASE = "correct horse battery staple"
LETTER = b"A stockade is a wall of posts set side by side.\n"
NOTE = b"Nothing may stand before or after.\n"
MEMO = b"Only the owner of the key reads this.\n"
MEMO_FILE_KEY, MEMO_SEED, MEMO_SALT = bytes(range(0xA0, 0xC0)), bytes(range(0xC0, 0xE0)), bytes(range(0xE0, 0xF8))
# Statuses that say what is wrong with a file: from the first to the last of these, but for what is no part of a file.
FIRST_STATUS, LAST_STATUS = 21, 36


def require(condition, complaint):
    if not condition:
        raise SystemExit(f"check_format_doc: {complaint}")


def blocks_of(page):
    """Fenced blocks by the name behind their language, or by the language."""
    blocks = {}
    for words, text in re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        name = words.split()[-1]
        require(name not in blocks, f"two blocks are called {name}")
        blocks[name] = text
    return blocks


def parse_dump(dump):
    data = bytes.fromhex("".join(line[10:49] for line in dump.splitlines()))
    require(dump.splitlines() == list(format_dump(data)), "letter.xxd is not what xxd prints of its bytes")
    return data


def format_dump(data):
    """As xxd does without options."""
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
        yield f"{start:08x}: {pairs:<39}  {''.join(chr(c) if 32 <= c < 127 else '.' for c in row)}"


def load(path):
    spec = importlib.util.spec_from_file_location("open_stockade", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_session(session, folder):
    """The commands of the console block, and that they print what stands there."""
    steps = re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", session, re.MULTILINE)
    require(len(steps) >= 2, "the console block has fewer than two commands")
    for command, expected in steps:
        words = shlex.split(command)
        require(words[0] == "python3", f"{words[0]} is not run here")
        done = subprocess.run([sys.executable, "-B", *words[1:]], cwd=folder, capture_output=True, check=False)
        require(done.returncode == 0, f"{command}: {done.stderr.decode()}")
        require(done.stdout == expected.encode(), f"{command}: printed {done.stdout!r}")
    return len(steps)


def expand(key, info, length):
    """One or two blocks of HKDF-Expand, written out once more."""
    first = hmac.digest(key, info + b"\x01", "sha512")
    return (first + hmac.digest(key, first + info + b"\x02", "sha512"))[:length]


def values_of(letter, file_key):
    """Every value that the page's table names, from the file and the keys alone."""
    mac_line = letter.index(b"\n--- ") + 1
    payload = letter[letter.index(b"\n", mac_line) + 1 :]
    stanza_salt = bytes(range(0x40, 0x50))
    mac_key = expand(file_key, b"stockade/v1 header", 32)
    input_key = expand(file_key, b"stockade/v1 payload cobblestone-256", 32)
    label = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"
    material = expand(input_key, label + payload[:24], 76)
    values = {
        "key": KEY,
        "file key": file_key,
        "key id": hashlib.sha256(b"stockade/v1 key id" + KEY).digest()[:8],
        "stanza salt": stanza_salt,
        "wrap key": expand(KEY, b"stockade/v1 key wrap" + stanza_salt, 32),
        "header MAC key": mac_key,
        "header MAC": hmac.digest(mac_key, letter[: mac_line + 3], "sha256"),
        "input key": input_key,
        "payload salt": payload[:24],
        "payload key": material[:32],
        "base nonce": material[32:44],
        "commitment": material[44:],
    }
    require(payload[24:56] == material[44:], "the letter's commitment is another one")
    opened = AESGCM(material[:32]).decrypt(material[32:44], payload[56:], None)
    require(opened == LETTER, "the letter's only chunk holds something else")
    return values


def check_values(page, letter):
    table = dict(re.findall(r"^\| ([a-zA-Z ]+) \| `([0-9a-f]+)` \|$", page, re.MULTILINE))
    require("file key" in table, "the page has no table of values")
    values = values_of(letter, bytes.fromhex(table["file key"]))
    require(set(values) == set(table), f"the table of values has {sorted(set(values) ^ set(table))} or lacks it")
    for name, value in values.items():
        require(table[name] == value.hex(), f"{name}: the page says {table[name]}, it is {value.hex()}")
    return len(values)


def masked(data, seed):
    """data XOR MGF1 with SHA-256 (RFC 8017 B.2.1)."""
    mask = b"".join(hashlib.sha256(seed + i.to_bytes(4, "big")).digest() for i in range(len(data) // 32 + 1))
    return bytes(a ^ b for a, b in zip(data, mask))


def oaep(message, label, seed, length):
    """RFC 8017 7.1.1 step 2, with SHA-256 throughout."""
    start = hashlib.sha256(label).digest()
    block = masked(start + bytes(length - len(message) - 2 * 32 - 2) + b"\1" + message, seed)
    return b"\0" + masked(seed, block) + block


def base64_of(data):
    return base64.b64encode(data).rstrip(b"=")


def make_memo(key):
    """The file for the RSA key, from its numbers and from what was random."""
    public = key.public_key()
    info = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    e, n = public.public_numbers().e, public.public_numbers().n
    block = oaep(MEMO_FILE_KEY, b"stockade/v1", MEMO_SEED, public.key_size // 8)
    body = base64_of(pow(int.from_bytes(block, "big"), e, n).to_bytes(len(block), "big"))
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    head = b"\n".join([b"stockade/v1", b"cipher cobblestone-256",
                       b"-> rsa-oaep-sha256 " + base64_of(hashlib.sha256(info).digest()[:16]), *lines, b"---"])
    mac = hmac.digest(expand(MEMO_FILE_KEY, b"stockade/v1 header", 32), head, "sha256")
    input_key = expand(MEMO_FILE_KEY, b"stockade/v1 payload cobblestone-256", 32)
    label = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"
    material = expand(input_key, label + MEMO_SALT, 76)
    sealed = AESGCM(material[:32]).encrypt(material[32:44], MEMO, None)
    return head + b" " + base64_of(mac) + b"\n" + MEMO_SALT + material[44:] + sealed


def check_memo(script, memo, key):
    """Every byte of the file for the RSA key, and its file key by what cryptography says OAEP is."""
    file = script.remove_armor(memo)
    made = make_memo(key)
    require(file == made, f"memo.asc is another file than its key and its random bytes make: {made.hex()}")
    body = file[file.index(b"\n", file.index(b"-> rsa-oaep-sha256 ")) : file.index(b"\n---")].replace(b"\n", b"")
    wrapped = base64.b64decode(body + b"=" * (-len(body) % 4), validate=True)
    scheme = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"stockade/v1")
    require(key.decrypt(wrapped, scheme) == MEMO_FILE_KEY, "memo.asc wraps another file key")
    return len(file)


def check_oracle(script, letter, note, memo):
    """The payloads by an implementation that is neither ours nor the page's."""
    for name, file, bits, file_key, expected in (
        ("letter", letter, 256, bytes(range(0x20, 0x40)), LETTER),
        ("note", script.remove_armor(note), 128, bytes(range(0x80, 0xA0)), NOTE),
        ("memo", script.remove_armor(memo), 256, MEMO_FILE_KEY, MEMO),
    ):
        payload = file[file.index(b"\n", file.index(b"\n--- ") + 1) + 1 :]
        input_key = expand(file_key, b"stockade/v1 payload cobblestone-%d" % bits, bits // 8)
        machine = getattr(cobblestone, f"Cobblestone{bits}Decryptor")(input_key, b"")
        require(machine.update(payload) + machine.finalize() == expected, f"cryptography.cobblestone: {name}")


def damaged_forms(data):
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit} changed", bytes(changed)
    for length in range(len(data)):
        yield f"cut to {length} bytes", data[:length]
    yield "one byte more", data + b"\0"
    yield "the file twice", data + data


def check_refusals(script, letter, note, memo, key):
    count = 0
    identities = {"key": KEY}, {"passphrase": PASSPHRASE.encode()}, {"rsa_key": key}
    for data, identity in zip((letter, note, memo), identities):
        for name, damaged in damaged_forms(data):
            try:
                script.open_file(damaged, **identity)
            except (ValueError, InvalidTag):
                count += 1
            else:
                require(False, f"open_stockade.py opens an example with {name}")
    return count


def check_statuses(page, header):
    declared = dict(re.findall(r"^ *(STOCKADE_ERROR_\w+) = (\d+)", header.read_text(), re.MULTILINE))
    require(len(declared) > LAST_STATUS, f"{header} does not declare the statuses")
    named = set(re.findall(r"`(STOCKADE_ERROR_\w+)`", page))
    require(named <= set(declared), f"no such status: {sorted(named - set(declared))}")
    wanted = {name for name, value in declared.items() if FIRST_STATUS <= int(value) <= LAST_STATUS}
    require(wanted <= named, f"the page does not name {sorted(wanted - named)}")
    return len(named)


def check_program(program, folder, letter, memo):
    """The command opens all examples, and no damaged one."""
    (folder / "letter.key").write_bytes(KEY)
    environment = {**os.environ, "STOCKADE_PASSPHRASE": PASSPHRASE}

    def decrypt(options, name):
        return subprocess.run([program, "decrypt", *options, "-o", "-", folder / name], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)

    by_key, by_rsa = ["-k", folder / "letter.key"], ["-i", folder / "memo.pem"]
    for options, name, expected in ((by_key, "letter.stk", LETTER), ([], "note.asc", NOTE), (by_rsa, "memo.asc", MEMO)):
        done = decrypt(options, name)
        require(done.returncode == 0, f"stockade, {name}: {done.stderr.decode()}")
        require(done.stdout == expected, f"stockade, {name}: {done.stdout!r}")
    refused = 0
    for options, example in ((by_key, letter), (by_rsa, memo)):
        for name, damaged in list(damaged_forms(example))[::97]:
            (folder / "damaged.stk").write_bytes(damaged)
            done = decrypt(options, "damaged.stk")
            require(done.returncode != 0 and done.stdout == b"", f"stockade opens an example with {name}")
            require(done.stderr.startswith(b"stockade: error: "), f"stockade, {name}: {done.stderr!r}")
            refused += 1
    return refused


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    os.umask(0o077)  # of keys that others may read the command warns
    path = pathlib.Path(sys.argv[1])
    page = path.read_text(encoding="utf-8")
    blocks = blocks_of(page)
    for name in ("letter.xxd", "note.asc", "memo.asc", "memo.pem", "open_stockade.py", "console"):
        require(name in blocks, f"the page has no block {name}")
    letter, note, memo = parse_dump(blocks["letter.xxd"]), blocks["note.asc"].encode(), blocks["memo.asc"].encode()
    key = serialization.load_pem_private_key(blocks["memo.pem"].encode(), None)
    with tempfile.TemporaryDirectory(prefix="stockade-format-") as name:
        folder = pathlib.Path(name)
        (folder / "letter.stk").write_bytes(letter)
        (folder / "note.asc").write_bytes(note)
        (folder / "memo.asc").write_bytes(memo)
        (folder / "memo.pem").write_text(blocks["memo.pem"])
        (folder / "memo.pem").chmod(0o600)
        (folder / "open_stockade.py").write_text(blocks["open_stockade.py"])
        print(f"{run_session(blocks['console'], folder)} commands of the page print what it says")
        script = load(folder / "open_stockade.py")
        print(f"{check_values(page, letter)} values of the table are right")
        print(f"{check_memo(script, memo, key)} bytes of the file for the RSA key are right")
        check_oracle(script, letter, note, memo)
        print("cryptography.cobblestone opens all payloads")
        print(f"the page's script refuses {check_refusals(script, letter, note, memo, key)} damaged examples")
        print(f"{check_statuses(page, path.parent.parent / 'include' / 'stockade' / 'stockade.h')} statuses are named")
        if len(sys.argv) == 3:
            program = pathlib.Path(sys.argv[2]).resolve()
            refused = check_program(program, folder, letter, memo)
            print(f"stockade opens all examples and refuses {refused} damaged ones")
    return 0


if __name__ == "__main__":
    sys.exit(main())
