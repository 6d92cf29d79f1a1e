"""Runs a command over the recording layer and reads its log."""

import os
import struct
import subprocess
from dataclasses import dataclass

WRITE, TRUNCATE, CREATE, RENAME, LINK, UNLINK, SYNC_BEGIN, SYNC_END, ALLOCATE, OPAQUE = range(1, 11)
RECORD = struct.Struct("<IIQqQIIii")
MAGIC = 0x48535243


@dataclass(slots=True)
class Event:
    kind: int
    inode: int
    offset: int
    data: bytes
    path: str
    second: str
    result: int


@dataclass
class Outcome:
    status: int  # negative: a signal; None: it hung
    text: str

    @property
    def ok(self):
        return self.status == 0

    def fault(self):
        """Why no state excuses this outcome, or None."""
        if self.status is None:
            return "the command hangs"
        if self.status < 0 or self.status > 125:
            return f"the command ended by signal or abort ({self.status})"
        if "Sanitizer" in self.text or "runtime error:" in self.text:
            return "a sanitizer reports"
        if self.status != 0 and not self.text.strip():
            return "a refusal without a message"
        return None


def read_log(path):
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        raw = file.read()
    events, at = [], 0
    while at < len(raw):
        magic, kind, inode, offset, length, first, second, result, _ = RECORD.unpack_from(raw, at)
        if magic != MAGIC:
            raise ValueError("the log is damaged")
        at += RECORD.size
        data = raw[at:at + length]
        at += length
        path1 = os.fsdecode(raw[at:at + first])
        at += first
        path2 = os.fsdecode(raw[at:at + second])
        at += second
        events.append(Event(kind, inode, offset, data, path1, path2, result))
    return events


class Runner:
    def __init__(self, command, layer, fault=None, timeout=20):
        self.command, self.layer, self.fault, self.timeout = command, layer, fault, timeout

    def run(self, arguments, folder, log=None, **options):
        """`options`: kill, delay, same, device, boot_id, as in record.c."""
        environment = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": self.layer, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
                       "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        if self.fault:
            environment["STOCKADE_PLANTED_FAULT"] = self.fault
        if log:
            environment |= {"CRASH_ROOT": folder, "CRASH_LOG": log}
        environment |= {"CRASH_" + name.upper(): str(value) for name, value in options.items() if value is not None}
        process = subprocess.Popen([self.command, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, close_fds=False)
        try:
            text = process.communicate(timeout=self.timeout)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Outcome(None, "")
        return Outcome(process.returncode, text.decode("utf-8", "replace"))
