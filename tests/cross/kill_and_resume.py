#!/usr/bin/env python3
"""Kills `stockade encrypt --resume` and `stockade decrypt --resume` with SIGKILL at random moments and starts them again,
until each is done; then the plaintext must be back, and nothing but the files that were asked for be left.

usage: kill_and_resume.py STOCKADE [KILLS]      KILLS: how many kills there must have been at least, 50 by default
"""

import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

MEBIBYTE = 1 << 20


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Job:
    """One command that is killed until it gets through."""

    def __init__(self, command, environment):
        self.command, self.environment = command, environment
        self.kills = self.resumed = 0

    def attempt(self, seconds):
        """True if the command ended by itself before `seconds` were over."""
        process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
            self.kills += process.returncode == -9
            ended = process.returncode == 0
        else:
            ended = True
            # Killed behind its last step, and done all the same.
            was_done = self.kills != 0 and "exists" in said and not any("stockade-" in name for name in os.listdir("."))
            if process.returncode != 0 and not was_done:
                sys.exit(f"{' '.join(self.command)}: exit status {process.returncode}\n{said}")
        self.resumed += "done before" in said
        return ended

    def persist(self, duration):
        """Attempts whose patience grows, so that it ends; `duration` is how long the whole takes undisturbed."""
        for tries in range(1000):
            if self.attempt(random.uniform(0, duration * (0.7 + tries / 20))):
                return
        sys.exit("never done")


def main():
    stockade, wanted = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(os.environ.get("STOCKADE_TEST_SEED", random.randrange(1 << 32)))
    print(f"STOCKADE_TEST_SEED={seed}")
    random.seed(seed)
    # The row that every machine has is slow enough to be killed on the way. On a disk the system would sync for seconds.
    environment = dict(os.environ, STOCKADE_FORCE="gcm:portable")
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    kills = rounds = resumed = 0
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        os.chdir(scratch)
        subprocess.run([stockade, "keygen", "--symmetric", "-q", "-o", "key"], check=True)
        while kills < wanted or (resumed < wanted // 10 and rounds < 100):
            size = random.randrange(80 * MEBIBYTE, 160 * MEBIBYTE)
            pathlib.Path("text").write_bytes(random.randbytes(MEBIBYTE) * (size // MEBIBYTE) + random.randbytes(size % MEBIBYTE))
            jobs = [Job([stockade, "encrypt", "-v", "--resume", "-T", "2", "-k", "key", "-o", "sealed", "text"], environment),
                    Job([stockade, "decrypt", "-v", "--resume", "-T", "2", "-k", "key", "-o", "back", "sealed"], environment)]
            started = time.monotonic()
            subprocess.run([stockade, "encrypt", "-T", "2", "-k", "key", "-o", "once", "text"], env=environment, check=True)
            duration = time.monotonic() - started
            for job in jobs:
                job.persist(duration)
                kills += job.kills
                resumed += job.resumed
            if sha256("text") != sha256("back"):
                sys.exit(f"round {rounds}: the plaintext did not come back")
            left = sorted(os.listdir("."))
            if left != ["back", "key", "once", "sealed", "text"]:
                sys.exit(f"round {rounds}: files are left: {left}")
            for name in ("back", "once", "sealed", "text"):
                os.unlink(name)
            rounds += 1
    print(f"{kills} kills in {rounds} rounds, {resumed} times something had been done before; the plaintext came back each time")
    if resumed < wanted // 10:
        sys.exit("the kills came too early to test anything")


if __name__ == "__main__":
    main()
