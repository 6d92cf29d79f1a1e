#!/usr/bin/env python3
"""Runs the parts of `stockade encrypt --part` and `stockade decrypt --part` side by side, kills them with SIGKILL at
random moments, and runs them again, each time cut into another number of parts, until `stockade join` says that all is
there. Then the plaintext must be back, and nothing but the files that were asked for be left.

usage: kill_parts.py STOCKADE [KILLS]      KILLS: how many kills there must have been at least, 40 by default
"""

import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

MEBIBYTE = 1 << 20


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Job:
    """A file that is made, or opened, in parts."""

    def __init__(self, stockade, verb, source, target, environment):
        self.stockade, self.verb, self.source, self.target = stockade, verb, source, target
        self.environment = environment
        self.kills = 0
        self.last_missing, self.advances = None, 0

    def begin(self, slice_size):
        subprocess.run([self.stockade, "plan", self.verb, "-k", "key", "--plan", "plan", "--slice", slice_size,
                        "-o", self.target, self.source], env=self.environment, check=True)

    def start(self, part):
        command = [self.stockade, self.verb, "-q", "-T", "1", "--part", part, "--plan", "plan", "-k", "key",
                   "-o", self.target, self.source]
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run_parts(self, count, patience):
        """All parts at once; what is not done after some seconds is killed, each part at its own moment."""
        processes = [self.start(f"{i}/{count}") for i in range(1, count + 1)]
        moments = sorted((random.uniform(0, patience), process) for process in processes)
        started = time.monotonic()
        for moment, process in moments:
            try:
                process.wait(timeout=max(0.0, moment - (time.monotonic() - started)))
            except subprocess.TimeoutExpired:
                process.kill()
        for process in processes:
            _, said = process.communicate()
            self.kills += process.returncode == -9
            if process.returncode not in (0, -9):
                sys.exit(f"{' '.join(process.args)}: exit status {process.returncode}\n{said}")

    def join(self):
        """Whether all was there."""
        process = subprocess.run([self.stockade, "join", "--plan", "plan", "-k", "key", "-o", self.target],
                                 env=self.environment, capture_output=True, text=True)
        if process.returncode == 0:
            return True
        found = re.search(r"(\d+) of \d+ slices", process.stderr)
        if process.returncode != 1 or not found:
            sys.exit(f"join: exit status {process.returncode}\n{process.stderr}")
        missing = int(found[1])
        if self.last_missing is not None:
            if missing > self.last_missing:
                sys.exit(f"{self.last_missing} slices were missing, and now it is {missing}")
            self.advances += missing < self.last_missing
        self.last_missing = missing
        return False

    def persist(self, duration):
        """Attempts whose patience grows, so that it ends; `duration` is how long the whole takes undisturbed."""
        for tries in range(1000):
            if self.join():
                return
            self.run_parts(random.randint(1, 5), duration * (0.8 + tries / 20))
        sys.exit("never done")


def main():
    stockade, wanted = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(os.environ.get("STOCKADE_TEST_SEED", random.randrange(1 << 32)))
    print(f"STOCKADE_TEST_SEED={seed}")
    random.seed(seed)
    # The row that every machine has is slow enough to be killed on the way. On a disk the system would sync for
    # seconds.
    environment = dict(os.environ, STOCKADE_FORCE="gcm:portable")
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    kills = rounds = advances = 0
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        os.chdir(scratch)
        subprocess.run([stockade, "keygen", "--symmetric", "-q", "-o", "key"], check=True)
        while kills < wanted or (advances < wanted // 20 and rounds < 100):
            size = random.randrange(60 * MEBIBYTE, 120 * MEBIBYTE)
            text = random.randbytes(MEBIBYTE) * (size // MEBIBYTE) + random.randbytes(size % MEBIBYTE)
            pathlib.Path("text").write_bytes(text)
            started = time.monotonic()
            subprocess.run([stockade, "encrypt", "-T", "2", "-k", "key", "-o", "once", "text"], env=environment,
                           check=True)
            duration = time.monotonic() - started
            for verb, source, target in (("encrypt", "text", "sealed"), ("decrypt", "sealed", "back")):
                job = Job(stockade, verb, source, target, environment)
                job.begin(random.choice(["256KiB", "1MiB", "4MiB"]))
                job.persist(duration)
                kills += job.kills
                advances += job.advances
            if sha256("text") != sha256("back"):
                sys.exit(f"round {rounds}: the plaintext did not come back")
            left = sorted(os.listdir("."))
            if left != ["back", "key", "once", "sealed", "text"]:
                sys.exit(f"round {rounds}: files are left: {left}")
            for name in ("back", "once", "sealed", "text"):
                os.unlink(name)
            rounds += 1
    print(f"{kills} kills in {rounds} rounds, {advances} times some slices were done in spite of them; the plaintext came "
          "back each time")
    if advances < wanted // 20:
        sys.exit("the kills came too early to test anything")


if __name__ == "__main__":
    main()
