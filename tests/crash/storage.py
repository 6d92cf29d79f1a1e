"""The model of storage: which states of a folder a power cut may leave behind, given the log of a job.

- Operations on one file: a write, a truncation. One is durable once a sync of its file (fsync, fdatasync, or syncfs of the
  file system) that began after it has ended well. Each operation that is not durable is, on its own and in any
  combination, kept, lost, extended with zeros in place of its data, or torn at sectors of 512 bytes.
- Operations on names: create, rename, link, unlink. They become durable in their order, up to any point that is not before
  the last sync of a folder. They do not wait for data: a rename may be durable while the file is empty.
- A file without a name is gone.

A sync of a file makes nothing durable of its name. That is stricter than most file systems.
"""

import os
from dataclasses import dataclass, field

import recording as rec

SECTOR = 512


@dataclass
class File:
    base: bytes = b""
    operations: list = field(default_factory=list)  # (index, event)
    durable: int = -1  # operations with a smaller index are


class Cut:
    """The first `count` events of a log over a folder that held `before`: {path: (inode, bytes)}."""

    def __init__(self, events, count, before, root):
        self.root = root
        self.files, self.names, self.directory = {}, {}, []
        self.durable_names = -1
        for path, (inode, content) in before.items():
            self.files[inode] = File(content)
            self.names[path] = self.files[inode]
        begun = {}
        for index, event in enumerate(events[:count]):
            self._apply(index, event, begun)

    def _apply(self, index, event, begun):
        file = self.files.get(event.inode)
        if event.kind == rec.CREATE:
            file = self.files[event.inode] = File()
            if event.path:
                self.directory.append((index, "link", event.path, None, file))
        elif event.kind in (rec.WRITE, rec.TRUNCATE, rec.ALLOCATE):
            file.operations.append((index, event))
        elif event.kind == rec.RENAME:
            self.directory.append((index, "rename", event.second, event.path, file))
        elif event.kind == rec.LINK:
            self.directory.append((index, "link", event.second, None, file))
        elif event.kind == rec.UNLINK:
            self.directory.append((index, "unlink", event.path, None, file))
        elif event.kind == rec.SYNC_BEGIN:
            begun[event.offset] = index
        elif event.kind == rec.SYNC_END and event.result == 0:
            begin = begun.get(event.offset, -1)
            if event.inode == 0:
                for one in self.files.values():
                    one.durable = max(one.durable, begin)
                self.durable_names = max(self.durable_names, begin)
            elif file is not None:
                file.durable = max(file.durable, begin)
            else:  # of a folder
                self.durable_names = max(self.durable_names, begin)
        elif event.kind == rec.OPAQUE:
            raise ValueError(f"the model does not know {event.second} of {event.path}")

    def state(self, random, mode):
        """{name relative to the root: bytes}. `mode`: kept, lost, zero, torn or random."""
        at_least = sum(1 for index, *_ in self.directory if index < self.durable_names)
        total = len(self.directory)
        if mode == "kept":
            taken = total
        elif mode == "lost":
            taken = at_least
        else:
            taken = random.choice([total, total, at_least, random.randint(at_least, total)])
        names = dict(self.names)
        for _, what, path, old, file in self.directory[:taken]:
            if what == "rename":
                names.pop(old, None)
            if what == "unlink":
                names.pop(path, None)
            else:
                names[path] = file
        # One file at a time in some states, so that a loss in one of two files is seen as well.
        victim = random.choice(list(self.files.values()) or [None]) if random.random() < 0.4 else None
        return {os.path.relpath(path, self.root): content(file, random, mode if victim in (None, file) else "kept")
                for path, file in names.items() if file is not None}


def content(file, random, mode):
    result = bytearray(file.base)
    bias = random.choice([0.1, 0.5, 0.9]) if mode == "random" else 1
    for index, event in file.operations:
        fate = "kept"
        if index >= file.durable and random.random() < bias:
            fate = random.choice(["kept", "lost", "zero", "torn"]) if mode == "random" else mode
        perform(result, event, fate, random)
    return bytes(result)


def perform(result, event, fate, random):
    if event.kind == rec.TRUNCATE:
        if fate != "lost":
            del result[event.offset:]
            result.extend(bytes(event.offset - len(result)))
        return
    if event.kind == rec.ALLOCATE:
        if fate != "lost":
            result.extend(bytes(max(0, event.offset - len(result))))
        return
    if fate == "lost":
        return
    end = event.offset + len(event.data)
    result.extend(bytes(max(0, end - len(result))))
    if fate == "kept":
        result[event.offset:end] = event.data
    elif fate == "zero":
        result[event.offset:end] = bytes(len(event.data))
    else:  # torn: a stretch of sectors is there, or each by chance
        sectors = list(range(event.offset - event.offset % SECTOR, end, SECTOR))
        if random.random() < 0.5:
            cut = random.randrange(len(sectors) + 1)
            sectors = sectors[:cut] if random.random() < 0.5 else sectors[cut:]
        else:
            sectors = [one for one in sectors if random.random() < 0.5]
        for sector in sectors:
            first, last = max(sector, event.offset), min(sector + SECTOR, end)
            result[first:last] = event.data[first - event.offset:last - event.offset]


def materialize(state, folder):
    """Writes a state into an empty folder; stretches of zeros become holes. Returns {path: (inode, bytes)}."""
    before = {}
    for name, data in state.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        step = 1 << 16
        for at in range(0, len(data), step):
            piece = data[at:at + step]
            if piece.count(0) != len(piece):
                os.pwrite(fd, piece, at)
        os.ftruncate(fd, len(data))
        before[path] = (os.fstat(fd).st_ino, data)
        os.close(fd)
    return before


def snapshot(folder):
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = (os.fstat(file.fileno()).st_ino, file.read())
    return found
