"""One state: made, gone on from, and checked against guarantees A and B."""

import os
import shutil

import recording as rec
import sealed
import storage
from jobs import Violation


class Trial:
    def __init__(self, job, log, place, runner, folder, random, scenario):
        self.job, self.events, self.place, self.runner = job, log, place, runner
        self.folder, self.random, self.scenario = folder, random, scenario
        self.root, self.log = os.path.join(folder, "state"), os.path.join(folder, "log")
        self.said, self.notes = [], []
        self.started_over = False
        self.ledger = sealed.Ledger(place.header_length)

    def describe(self, text):
        self.notes.append(text)

    # ---- Making the state

    def make(self, base_root):
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)
        count = self.random.choice([self.random.randint(0, len(self.events)), len(self.events)]
                                   if self.random.random() < 0.2 else [self.random.randint(0, len(self.events))])
        before = {os.path.join(base_root, name): (-1 - at, data)
                  for at, (name, data) in enumerate(self.job.before().items())}
        # A file that stood there keeps its inode number in the log.
        before = self.with_inodes(before, base_root)
        cut = storage.Cut(self.events, count, before, base_root)
        mode = self.random.choice(["kept", "lost", "zero", "torn", "random", "random"])
        if self.scenario in ("altered", "moved") and self.random.random() < 0.7:
            mode = "kept"
        back = None
        share = {"altered": 0.4, "changed": 0.7, "moved": 0.4}.get(self.scenario, 0)
        if self.random.random() < share:
            back = self.random.choice(["journal", "output"])
            mode = "kept"  # else both could be back together, which no local record covers
        state = cut.state(self.random, mode)
        self.describe(f"event {count} of {len(self.events)}, unsynced operations: {mode}")
        if count == len(self.events) and self.scenario == "power":
            self.check_durable(cut)
        if self.scenario == "power":
            self.job.check_state(state)
        self.record(self.events[:count], before)
        if back:
            self.set_back(state, back, count, before, base_root)
        elif self.scenario == "altered":
            self.alter(state)
        return state

    def with_inodes(self, before, base_root):
        seen = [event for event in self.events if event.kind in (rec.WRITE, rec.TRUNCATE, rec.SYNC_BEGIN, rec.RENAME)]
        created = {event.inode for event in self.events if event.kind == rec.CREATE}
        result = {}
        for path, (inode, data) in before.items():
            found = [event.inode for event in seen if event.path == path and event.inode not in created]
            result[path] = (found[0] if found else inode, data)
        return result

    def check_durable(self, cut):
        """The job has ended with 0: what is not durable now never needed to be."""
        lost = cut.state(self.random, "lost")
        try:
            self.job.check_end(lost, False)
        except Violation as violation:
            raise Violation("not-durable", f"after exit status 0 and a power cut: {violation}") from violation

    def set_back(self, state, what, count, before, base_root):
        at = self.random.randint(0, count)
        earlier = storage.Cut(self.events, at, before, base_root).state(self.random, "kept")
        chosen = self.job.is_journal if what == "journal" else self.job.is_output
        for name in [name for name in state if chosen(name) and name in earlier]:
            state[name] = earlier[name]
        self.describe(f"the {what} is set back to event {at}")

    def alter(self, state):
        names = [name for name, data in state.items() if self.job.is_output(name) and data and name != "out"]
        if self.random.random() < 0.15:
            names = [name for name, data in state.items() if self.job.is_journal(name) and data] or names
        if not names:
            return
        name = self.random.choice(sorted(names))
        data = bytearray(state[name])
        length = min(len(data), self.random.choice([1, 512, 4096, 40000, 40000, 300000]))
        begin = self.random.randint(0, len(data) - length)
        what = self.random.choice(["flipped", "zeroed", "cut off"])
        if what == "flipped":
            data[begin:begin + length] = bytes(byte ^ 0xFF for byte in data[begin:begin + length])
        elif what == "zeroed":
            data[begin:begin + length] = bytes(length)
        else:
            del data[begin:]
        state[name] = bytes(data)
        self.describe(f"{name}: {length} bytes at {begin} {what}")

    # ---- Going on

    def record(self, events, before):
        if not self.job.seals:
            return
        self.ledger.record(events, before, rec, self.job.is_output)
        if self.ledger.reused:
            salt, chunk = sorted(self.ledger.reused)[0]
            raise Violation("reuse", f"{len(self.ledger.reused)} chunks sealed twice, chunk {chunk} first")

    def options(self):
        if self.scenario == "changed":
            return {"same": f"{self.place.other_input}:{self.place.input}"}
        if self.scenario == "moved":
            return {"boot_id": self.place.boot_id, "device": 77}
        return {}

    def run(self, lines, kill=None):
        """Whether all lines ended well. Every write is recorded, whatever the end."""
        for line in lines:
            if os.path.exists(self.log):
                os.unlink(self.log)
            before = storage.snapshot(self.root)
            outcome = self.runner.run(line, self.root, self.log, kill=kill, **self.options())
            self.said.append((line, outcome))
            events = rec.read_log(self.log)
            self.record(events, before)
            killed = kill is not None and outcome.status == -9
            if not killed and (fault := outcome.fault()):
                kind = "hang" if outcome.status is None else "crash"
                raise Violation(kind, f"{fault}: {' '.join(line[:4])}: {outcome.text[-500:]}")
            if not outcome.ok:
                return False, events, before
        return True, events, before

    def names(self):
        return {os.path.relpath(path, self.root): data for path, (_, data) in storage.snapshot(self.root).items()}

    def go_on(self, state, changed):
        storage.materialize(state, self.root)
        power = self.scenario == "power"
        if power and self.random.random() < 0.25 and self.job.again(state, changed):
            self.interrupt_again(changed)
        for attempt in range(2):
            names = self.names()
            if self.job.is_done(names):
                if power:
                    self.job.check_end(names, changed)
                return "done"
            lines = self.job.again(names, changed)
            if lines is not None:
                well, _, _ = self.run(lines)
                if well:
                    self.finish(changed)
                    return "went on"
            if not power:
                break
        if not power and self.random.random() < 0.8:
            return "refused"
        return self.start_over(changed)

    def start_over(self, changed):
        self.started_over = True
        well, _, _ = self.run(self.job.afresh(self.root, changed))
        if not well:
            raise Violation("no-end", f"starting over is refused: {self.said[-1][1].text}")
        self.finish(changed)
        return "started over"

    def interrupt_again(self, changed):
        """The run that goes on is killed, and a second power cut follows."""
        kill = self.random.randint(1, 40)
        lines = self.job.again(self.names(), changed)
        _, events, before = self.run(lines[:self.random.randint(1, len(lines))], kill)
        cut = storage.Cut(events, len(events), before, self.root)
        mode = self.random.choice(["kept", "lost", "random"])
        state = cut.state(self.random, mode)
        self.describe(f"killed before event {kill}, then: {mode}")
        self.job.check_state(state)
        shutil.rmtree(self.root)
        os.makedirs(self.root)
        storage.materialize(state, self.root)

    def finish(self, changed):
        if self.scenario == "moved" and changed and not self.started_over:
            raise Violation("identity", "a copy with another inode and ctime was taken for the input")
        self.job.check_end(self.names(), changed)

    def run_trial(self, base_root):
        changed = self.scenario == "changed" or (self.scenario == "moved" and self.random.random() < 0.8)
        state = self.make(base_root)
        return self.go_on(state, changed)


class RekeyTrial(Trial):
    """rekey has no starting over: the file opens with one of the keys in the end, whatever happened."""

    def go_on(self, state, changed):
        storage.materialize(state, self.root)
        for _ in range(2):
            well, _, _ = self.run(self.job.again(state, changed))
            if well:
                self.job.check_end(self.names(), changed)
                return "went on"
        if not self.job.opens(self.names(), self.place.keys):
            raise Violation("no-end", f"the file opens no more: {self.said[-1][1].text}")
        return "done"
