"""The jobs that are interrupted: what is run at first, what goes on from a state, and what the end must be."""

import os

import sealed


class Violation(Exception):
    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Place:
    """The inputs of all jobs, which stand outside the folders that are cut."""

    def __init__(self, folder, runner, random, size):
        self.folder = folder
        self.key, self.new_key = self.path("key"), self.path("new.key")
        for path in (self.key, self.new_key, *(self.path(f"more{i}.key") for i in range(12))):
            self._do(runner, "keygen", "--symmetric", "-q", "-o", path)
        self.keys = [sealed.read_key(self.key), sealed.read_key(self.new_key)]
        self.plain = random.randbytes(size)
        self.changed = random.randbytes(size)
        self.input = self.write("input", self.plain)
        # The same name, size and times; what else stat says is for the layer, or differs as for any copy.
        self.other_input = self.write("changed", self.changed)
        facts = os.stat(self.input)
        os.utime(self.other_input, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        self.sealed = self.path("sealed")
        self._do(runner, "encrypt", "-q", "-k", self.key, "-o", self.sealed, self.input)
        self.small = {f"file{i}": random.randbytes(20000 * i + i) for i in range(4)} | {"file9": self.plain[:300000]}
        for name, data in self.small.items():
            self._do(runner, "encrypt", "-q", "-k", self.key, "-o", self.path(name + ".stk"), self.write(name, data))
        self.boot_id = self.write("boot_id", b"01234567-89ab-cdef-0123-456789abcdef\n")
        with open(self.path("file9.stk"), "rb") as file:
            self.rekeyed = file.read()
        self.header_length = sealed.header_length(self.rekeyed)
        passphrase = self.write("passphrase", b"correct horse\n")
        self.armored = self.make(runner, "-a", "-k", self.key)
        self.scrypt = self.make(runner, "--passphrase-file", passphrase, "--work-factor", "2")
        self.foreign = self.head(self.make(runner, "-k", self.path("more0.key")))
        self.own = self.head(self.make(runner, "-k", self.key))

    def make(self, runner, *options):
        self._do(runner, "encrypt", "-q", "-f", *options, "-o", self.path("made"), self.path("file1"))
        with open(self.path("made"), "rb") as file:
            return file.read()

    @staticmethod
    def head(data):
        return data[:sealed.header_length(data)]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def _do(self, runner, *arguments):
        outcome = runner.run(arguments, self.folder)
        if not outcome.ok:
            raise RuntimeError(f"{arguments}: {outcome.text}")


class Job:
    scenarios = ("power", "altered")
    delay = None
    seals = False

    def __init__(self, place):
        self.place = place

    def before(self):
        """What stands in the folder when the job begins: {name: bytes}."""
        return {}

    def check_state(self, state):
        """What must hold in every state after a power cut before anything is run."""

    def is_output(self, path):
        return not self.is_journal(path)

    def is_journal(self, path):
        return path.endswith("-journal") or os.path.basename(path) == "plan" or path.endswith("-header")

    def is_done(self, names):
        return "out" in names

    def open(self, data):
        return sealed.open_chunks(data, self.place.keys)

    def check_output(self, data, changed):
        """Guarantee A. Behind an equal identity a chunk may be of either input, but of no third."""
        try:
            chunks = self.open(data)
        except Exception as error:  # whatever it is, the output does not open
            raise Violation("wrong-output", f"the output does not open: {error!r}") from error
        size = sealed.CHUNK
        inputs = [self.place.plain] + ([self.place.changed] if changed else [])
        for k, chunk in enumerate(chunks):
            if not any(chunk == one[k * size:(k + 1) * size] for one in inputs):
                raise Violation("wrong-output", f"chunk {k} of the output is not of the input")
        if sum(map(len, chunks)) != len(self.place.plain):
            raise Violation("wrong-output", "the output has another length")

    def check_end(self, files, changed):
        if "out" not in files:
            raise Violation("wrong-output", "exit status 0 without output")
        self.check_output(files["out"], changed)
        return any(name.startswith(".") for name in files)


class Encrypt(Job):
    name = "encrypt"
    scenarios = ("power", "altered", "changed")
    delay = 90000
    seals = True
    verb = "encrypt"

    def source(self, changed):
        return self.place.other_input if changed else self.place.input

    def line(self, *options, changed=False):
        return [self.verb, "-q", "--resume", *options, "-k", self.place.key, "-o", "out", self.source(changed)]

    def first(self):
        return [self.line("-T", "1")]

    def again(self, names, changed):
        return [self.line("-T", "2", changed=changed)]

    def afresh(self, folder, changed):
        return [self.line("--force", "-T", "1", changed=changed)]

    def check_state(self, state):
        if "out" in state:
            self.check_output(state["out"], False)


class Plaintext:
    """What a decryption has written is compared byte by byte."""

    verb = "decrypt"
    seals = False
    scenarios = ("power", "altered")

    def source(self, changed):
        return self.place.sealed

    def check_output(self, data, changed):
        if data != self.place.plain:
            raise Violation("wrong-output", "the output is not the plaintext")


class Decrypt(Plaintext, Encrypt):
    name = "decrypt"
    delay = 90000


class Parts(Encrypt):
    name = "parts-encrypt"
    scenarios = ("power", "altered", "changed", "moved")
    delay = 40000

    def plan(self, changed):
        return ["plan", self.verb, "-q", "-k", self.place.key, "--plan", "plan", "--slice", "256KiB", "-o", "out",
                self.source(changed)]

    def part(self, which, changed):
        return [self.verb, "-q", "--part", which, "--plan", "plan", "-k", self.place.key, "-T", "1", "-o", "out",
                self.source(changed)]

    def join(self):
        return ["join", "-q", "--plan", "plan", "-k", self.place.key, "-o", "out"]

    def first(self):
        return [self.plan(False), self.part("1/2", False), self.part("2/2", False), self.join()]

    def again(self, names, changed):
        if "plan" not in names:
            return None
        return [self.part("1/2", changed), self.part("2/2", changed), self.join()]

    def afresh(self, folder, changed):
        for name in ("plan", ".out.stockade-parts"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                os.unlink(path)
        return [self.plan(changed), self.part("1/1", changed), self.join()]


class PartsDecrypt(Plaintext, Parts):
    name = "parts-decrypt"


class Many(Job):
    """Many files are made durable by one syncfs and then get their names."""

    name = "many-encrypt"
    verb = "encrypt"
    scenarios = ("power",)

    def results(self):
        return {name + ".stk": data for name, data in self.place.small.items()}

    def sources(self):
        return [self.place.path(name) for name in self.place.small]

    def first(self):
        return [[self.verb, "-q", "-k", self.place.key, "--output-dir", ".", *self.sources()]]

    def again(self, names, changed):
        return [[self.verb, "-q", "--force", "-k", self.place.key, "--output-dir", ".", *self.sources()]]

    afresh = again

    def is_done(self, names):
        return False

    def one(self, data):
        return b"".join(sealed.open_chunks(data, self.place.keys))

    def check_state(self, state):
        for name, wanted in self.results().items():
            if name not in state:
                continue
            try:
                found = self.one(state[name])
            except Exception as error:
                raise Violation("wrong-output", f"{name} has its name and does not open: {error!r}") from error
            if found != wanted:
                raise Violation("wrong-output", f"{name} has its name and other content")

    def check_end(self, files, changed):
        if not set(self.results()) <= set(files):
            raise Violation("wrong-output", "exit status 0, and an output is missing")
        self.check_state(files)
        return any(name.startswith(".") for name in files)


class ManyDecrypt(Many):
    name = "many-decrypt"
    verb = "decrypt"

    def results(self):
        return self.place.small

    def sources(self):
        return [self.place.path(name + ".stk") for name in self.place.small]

    def one(self, data):
        return data


class Rekey(Job):
    name = "rekey"
    scenarios = ("power", "planted")

    def before(self):
        return {"file": self.place.rekeyed}

    def first(self):
        return [["rekey", "-q", "-k", self.place.key, "--add", self.place.new_key, "file"]]

    def again(self, names, changed):
        return [["rekey", "-q", "-k", self.place.key, "-k", self.place.new_key, "--add", self.place.new_key, "file"]]

    afresh = again

    def is_done(self, names):
        return False

    def is_output(self, path):
        return False

    def opens(self, files, keys):
        data = files.get("file", b"")
        try:
            return b"".join(sealed.open_chunks(data, keys)) == self.place.small["file9"]
        except Exception:
            return False

    def check_end(self, files, changed):
        if not self.opens(files, self.place.keys[1:]):
            raise Violation("wrong-output", "rekey ended well, and the new key does not open the file")
        return any(name.endswith("-header") for name in files)


class RekeyCopy(Rekey):
    name = "rekey-copy"
    scenarios = ("power",)

    def first(self):
        more = [word for i in range(12) for word in ("--add", self.place.path(f"more{i}.key"))]
        return [[*super().first()[0][:-1], *more, "file"]]

    def again(self, names, changed):
        return self.first()


ALL = [Encrypt, Decrypt, Parts, PartsDecrypt, Rekey, RekeyCopy, Many, ManyDecrypt]
