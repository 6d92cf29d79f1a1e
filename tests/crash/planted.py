"""Side files that a stranger put beside a file before `rekey`: the file must not change but by a rekey that was asked for."""

import os

import sealed
from checks import Trial
from jobs import Violation


class PlantedTrial(Trial):
    def make(self, base_root):
        random, place = self.random, self.place
        os.makedirs(self.root, exist_ok=True)
        for name in os.listdir(self.root):
            os.unlink(os.path.join(self.root, name))
        length = place.header_length
        what = random.choice(["stockade", "armored", "notes.db", "text", "scrypt"])
        victim = {"stockade": lambda: place.rekeyed,
                  "armored": lambda: place.armored,
                  "scrypt": lambda: place.scrypt,
                  "notes.db": lambda: b"SQLite format 3\0" + random.randbytes(9000),
                  "text": lambda: b"notes\n" * 900}[what]()
        # The header of another file, of a key that the owner has or has not, with the victim's own bytes behind it.
        header = random.choice([place.foreign, place.foreign, place.own])
        if random.random() < 0.3:
            header = bytearray(header)
            header[random.randrange(len(header))] ^= 1 << random.randrange(7)
        copy = bytes(header) + victim[len(header):len(header) + sealed.PREAMBLE]
        kind = random.choice(["file"] * 8 + ["fifo", "link", "cut"])
        if kind == "cut":
            copy = copy[:random.randrange(len(copy))]
        self.kind = kind
        self.victim = victim
        self.describe(f"planted beside {what}: {kind} of {len(copy)} bytes, header of {length}")
        return {"file": victim, "copy": copy}

    def go_on(self, state, changed):
        path, side = os.path.join(self.root, "file"), os.path.join(self.root, ".file.stockade-header")
        with open(path, "wb") as file:
            file.write(state["file"])
        target = os.path.join(self.root, "elsewhere") if self.kind == "link" else side
        if self.kind == "fifo":
            os.mkfifo(side, 0o600)
        else:
            with open(os.open(target, os.O_WRONLY | os.O_CREAT, self.random.choice([0o600, 0o600, 0o644])), "wb") as file:
                file.write(state["copy"])
        if self.kind == "link":
            os.symlink(target, side)
        if self.random.random() < 0.3 and os.geteuid() == 0:
            os.chown(side, 65534, 65534, follow_symlinks=False)
            self.describe("of another user")
        keys = ["-k", self.place.key]
        well, _, _ = self.run([["rekey", "-q", *keys, "--add", self.place.new_key, "file"]])
        with open(path, "rb") as file:
            after = file.read()
        if after == self.victim:
            if well:
                raise Violation("wrong-output", "rekey ended well and changed nothing")
            return "refused"
        if not self.job.opens({"file": after}, self.place.keys[1:] if well else self.place.keys):
            raise Violation("overwritten", f"the file was overwritten; exit status {self.said[-1][1].status}")
        return "went on"
