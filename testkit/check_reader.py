#!/usr/bin/env python3
"""check_reader.py files | reproduce | writer STOCKADE: checks the second reader, make.py and the second writer."""
import hashlib
import os
import subprocess
import sys
import tempfile
import zlib

import reader as r

HERE = os.path.dirname(os.path.abspath(__file__))


def files():
    names, bad = sorted(os.listdir(HERE + "/files")), 0
    for name in names:
        head, data = open(f"{HERE}/files/{name}", "rb").read().split(b"\n\n", 1)
        h = {}
        for line in head.decode().split("\n"):
            k, v = line.split(": ", 1)
            h.setdefault(k, []).append(v)
        data = zlib.decompress(data) if "compressed" in h else data
        pems = [r.serialization.load_pem_private_key(open(f"{HERE}/keys/{n}.pem", "rb").read(), None) for n in h.get("identity", [])]
        ring = r.Keyring([bytes.fromhex(k) for k in h.get("key", [])], pems, h["passphrase"][0].encode() if "passphrase" in h else None,
                         int(h.get("max-work-factor", [20])[0]))
        try:
            out = r.decrypt(data, ring)
            got = "SUCCESS" if hashlib.sha256(out).hexdigest() == h["sha256"][0] else "other plaintext"
        except r.Refused as e:
            got = e.status
        except KeyError:
            got = "SUCCESS, not expected"
        if got != h["expect"][0]:
            bad += 1
            print(f"{name}: expected {h['expect'][0]}, got {got}")
    print(len(names), "files,", bad, "wrong")
    return bad or len(names) < 200


def reproduce():
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([sys.executable, HERE + "/make.py", d + "/files"], check=True)
        return subprocess.run(["diff", "-r", d + "/files", HERE + "/files"]).returncode


def writer(command):
    with tempfile.TemporaryDirectory() as d:
        key, count = os.urandom(32), 0
        open(d + "/key", "wb").write(key)
        open(d + "/pass", "wb").write(b"pass")
        os.chmod(d + "/key", 0o600)
        pem = HERE + "/keys/rsa2048.pem"
        rsa = r.serialization.load_pem_private_key(open(pem, "rb").read(), None).public_key()
        for cipher in r.CIPHERS:
            for n in (0, 1, 16383, 16384, 16385, 32768):
                t = os.urandom(n)
                for f, arg in ((r.encrypt(t, cipher, [key], [rsa]), ["-k", d + "/key"]), (r.encrypt(t, cipher, [key], [rsa]), ["-i", pem]),
                               (r.encrypt(t, cipher, passphrase=b"pass", log_n=4), ["--passphrase-file", d + "/pass"])):
                    for data in (f, r.armor(f)):
                        run = subprocess.run([command, "decrypt", *arg], input=data, capture_output=True)
                        count += 1
                        if run.returncode or run.stdout != t:
                            print(cipher, n, arg, run.returncode, run.stderr)
                            return 1
        print(count, "files opened")
        return 0


if __name__ == "__main__":
    sys.exit(int({"files": files, "reproduce": reproduce, "writer": writer}[sys.argv[1]](*sys.argv[2:])))
