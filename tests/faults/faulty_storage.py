#!/usr/bin/env python3
"""Runs jobs on storage that reports errors: none may end with exit 0, and each says what it leaves."""
import argparse
import errno
import os
import subprocess
import sys
import tempfile

NAME_MAY_BE_LOST = "what was made in it is complete, but a power failure may lose its name"


class Folder:
    """A scratch folder and the command that runs in it."""

    def __init__(self, arguments, root):
        self.command, self.layer = os.path.abspath(arguments.command), os.path.abspath(arguments.layer)
        self.root, self.failures = root, 0

    def path(self, name):
        return os.path.join(self.root, name)

    def make(self, name, length):
        with open(self.path(name), "wb") as file:
            file.write(os.urandom(length))

    def run(self, *words, **faults):
        environment = dict(os.environ, LC_ALL="C", **{f"FAULT_{name}": str(value) for name, value in faults.items()})
        if faults:
            environment["LD_PRELOAD"] = self.layer
        done = subprocess.run([self.command, *words], cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def good(self, *words, **faults):
        status, text = self.run(*words, **faults)
        self.expect(status == 0, f"{' '.join(words)} {faults}: exit {status}\n{text}")

    def fails(self, *words, says=(), **faults):
        status, text = self.run(*words, **faults)
        self.expect(status == 1 and all(part in text for part in says),
                    f"{' '.join(words)} {faults}: exit {status}, expected 1 and {says}\n{text}")

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print(f"FAILED: {what}")

    def exist(self, *names):
        for name in names:
            self.expect(os.path.exists(self.path(name)), f"{name} is missing")

    def absent(self, *names):
        for name in names:
            self.expect(not os.path.exists(self.path(name)), f"{name} was left behind")

    def side_files(self):
        return sorted(name for name in os.listdir(self.root) if name.startswith("."))


def one_file(folder):
    folder.make("plain", 100_000)
    folder.fails("encrypt", "-k", "key", "plain", SYNC="file", says=["cannot write 'plain.stk'", "input/output error"])
    folder.absent("plain.stk")
    folder.fails("encrypt", "-k", "key", "plain", SYNC="folder",
                 says=["cannot write the folder '.'", "input/output error", NAME_MAY_BE_LOST])
    folder.good("verify", "-k", "key", "plain.stk")
    folder.fails("decrypt", "-k", "key", "-o", "again", "plain.stk", SYNC="folder", ERRNO=errno.ENOSPC,
                 says=["cannot write the folder '.'", "no space left on device"])
    # What only says that the folder cannot be synchronised is no error.
    for error in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EROFS):
        folder.good("encrypt", "-f", "-k", "key", "plain", SYNC="folder", ERRNO=error)
    folder.fails("encrypt", "-f", "-k", "key", "plain", SYNC="folder", TMPFILE="none", says=[NAME_MAY_BE_LOST])
    folder.fails("keygen", "--symmetric", "-o", "other", SYNC="folder", says=[NAME_MAY_BE_LOST])


def many_files(folder):
    names = [f"many{i}" for i in range(20)]
    sealed = [name + ".stk" for name in names]
    for name in names:
        folder.make(name, 5000)
    # The first of the calls, of the file system, succeeds: the files themselves have to be asked.
    folder.fails("encrypt", "-k", "key", *names, SYNC="file", AFTER=1,
                 says=["cannot write 'many7.stk': input/output error", "20 of 20 files failed"])
    folder.absent(*sealed)
    folder.fails("encrypt", "-k", "key", *names, SYNC="file", AFTER=11, says=["10 of 20 files failed"])
    folder.expect(sum(os.path.exists(folder.path(name)) for name in sealed) == 10, "10 of 20 outputs")
    folder.fails("encrypt", "-f", "-k", "key", *names, SYNC="folder", says=["cannot write the folder", NAME_MAY_BE_LOST])
    folder.good("verify", "-k", "key", *sealed)
    # A folder that fails does not keep the large files, which come after the small ones, from being done.
    folder.make("large", 20_000_000)
    folder.fails("encrypt", "-f", "-k", "key", *names, "large", SYNC="folder", says=["cannot write the folder"])
    folder.exist("large.stk")


def resume(folder):
    folder.make("big", 20_000_000)
    resumed = ("encrypt", "--resume", "-k", "key", "big")
    folder.fails(*resumed, SYNC="folder",
                 says=["cannot write the folder '.'", "an interrupted run could not be taken up"])
    folder.absent("big.stk")
    folder.expect(folder.side_files() == [], f"left behind: {folder.side_files()}")
    folder.fails(*resumed, SYNC="folder", AFTER=1, says=["cannot write the folder '.'", NAME_MAY_BE_LOST])
    folder.good("verify", "-k", "key", "big.stk")
    os.unlink(folder.path("big.stk"))
    folder.fails(*resumed, SYNC="file", says=["input/output error"])
    folder.absent("big.stk")
    folder.good(*resumed)
    folder.good("verify", "-k", "key", "big.stk")


def rekey(folder):
    folder.good("keygen", "--symmetric", "-q", "-o", "second")
    folder.make("renewed", 300_000)
    folder.good("encrypt", "-k", "key", "renewed")
    old = open(folder.path("renewed.stk"), "rb").read()
    change = ("rekey", "-k", "key", "--add", "second", "--remove", "key", "renewed.stk")
    # The copy of the header has no name that lasts, so the file stays as it is.
    folder.fails(*change, SYNC="folder", says=["cannot write the folder '.'", "the file is unchanged"])
    folder.expect(open(folder.path("renewed.stk"), "rb").read() == old, "rekey changed the file without a copy that lasts")
    folder.expect(folder.side_files() == [], f"left behind: {folder.side_files()}")
    # The copy is gone, but perhaps not for good.
    folder.fails(*change, SYNC="folder", AFTER=1,
                 says=["cannot write the folder '.'", "may bring back '.renewed.stk.stockade-header'"])
    folder.good("verify", "-k", "second", "renewed.stk")
    folder.fails("rekey", "-k", "second", "--add", "key", "--remove", "second", "renewed.stk", SYNC="file", says=["input/output error"])


def modes(folder):
    """An output has the mode that the umask leaves, however it was made."""
    folder.make("open", 1000)
    before = os.umask(0o027)
    try:
        for fault in ("none", "umask"):
            folder.good("encrypt", "-f", "-k", "key", "open", TMPFILE=fault)
            mode = os.stat(folder.path("open.stk")).st_mode & 0o777
            folder.expect(mode == 0o640, f"TMPFILE={fault}: the output has mode {mode:o}, not 640")
    finally:
        os.umask(before)


def no_links(folder):
    """What is complete gets its name also where a file without a name cannot be linked, and replaces nothing unasked."""
    folder.make("linked", 3_000_000)
    plain = open(folder.path("linked"), "rb").read()
    before = os.umask(0o027)
    for error in (errno.EPERM, errno.EXDEV, errno.ENOENT, errno.EOPNOTSUPP):
        folder.good("encrypt", "-f", "-k", "key", "linked", LINK=error)
        folder.good("decrypt", "-f", "-k", "key", "-o", "opened", "linked.stk", LINK=error)
        folder.expect(open(folder.path("opened"), "rb").read() == plain, f"LINK={error}: other bytes")
        modes = [os.stat(folder.path(name)).st_mode & 0o777 for name in ("linked.stk", "opened")]
        folder.expect(modes == [0o640, 0o600], f"LINK={error}: modes {modes}")
        os.unlink(folder.path("linked.stk"))
        folder.good("encrypt", "-k", "key", "linked", LINK=error)
        folder.good("verify", "-k", "key", "linked.stk")
    os.umask(before)
    folder.fails("encrypt", "-f", "-k", "key", "linked", LINK=errno.ENOSPC, says=["cannot create 'linked.stk': no space"])
    folder.good("verify", "-k", "key", "linked.stk")
    folder.fails("encrypt", "-f", "-k", "key", "linked", LINK=errno.EPERM, SYNC="file", AFTER=1,
                 says=["cannot write 'linked.stk'", "input/output error"])
    folder.good("verify", "-k", "key", "linked.stk")
    folder.expect(folder.side_files() == [], f"left behind: {folder.side_files()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the program under test")
    parser.add_argument("--layer", required=True, help="the library with the faults")
    arguments = parser.parse_args()
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="stockade-faults.") as root:
        folder = Folder(arguments, root)
        folder.good("keygen", "--symmetric", "-q", "-o", "key")
        for part in (one_file, many_files, resume, rekey, modes, no_links):
            part(folder)
        print(f"{folder.failures} failures")
        return 1 if folder.failures else 0


if __name__ == "__main__":
    sys.exit(main())
