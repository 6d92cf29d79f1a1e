#!/usr/bin/env python3
"""The crash harness: what a power cut, altered storage or a stranger may leave, gone on from and checked.

Each job runs once over the recording layer (record.c), which logs what it does to files and names. From the log come the
states of the model of storage (storage.py): a prefix of the events, the operations that no sync covers kept, lost, zeroed
or torn, names ahead of their data. Scenarios beside a power cut:

  altered  synced output or journal flipped, zeroed or cut off; the journal or the output alone set back to an earlier state
  changed  the input has other content, and stat says that it is as it was (a dirty mapping that was lost with the power)
  moved    a copy of a changed input, as `cp -p` makes it, on a machine with another boot id and device number
  planted  a stranger's side file beside the file of rekey

Each state is gone on from with the same commands (checks.py), some runs being killed and cut once more. What is checked:

  A  Exit status 0 means that the output opens, by a reader of its own over pyca/cryptography (sealed.py), to the input,
     or is the plaintext byte by byte. Behind an equal identity each chunk must be of one of the two inputs. A name that
     a job gives at its end is never seen without its content, and after exit status 0 the result survives a power cut.
     A plain power cut ends well: by the same command, or by starting over as documented; both are counted.
  B  No byte of a sealed chunk had two values under one salt, over every write of the whole job (sealed.Ledger).
  And no hang, no signal, no sanitizer's report, no refusal without a message.

All is repeated by the seed that is printed: state N of a run depends on the seed and N alone (and on how the threads of the
recorded job were scheduled). Exit status 1: a violation, whose folder is kept.
"""

import argparse
import collections
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time

try:
    import cryptography  # noqa: F401, the reader's
except ImportError:
    print("crash: pyca/cryptography is missing")
    sys.exit(1 if os.environ.get("STOCKADE_REQUIRE_PEERS") else 77)

import jobs
import recording
from checks import RekeyTrial, Trial
from planted import PlantedTrial

# Where each planted fault shows: jobs, scenarios, kinds of violation.
FAULTS = {
    "rekey_trusts_side_file": (["rekey"], ["planted"], ["overwritten"]),
    "resume_trusts_output": (["encrypt", "decrypt"], ["altered"], ["wrong-output"]),
    "zeros_are_never_written": (["encrypt", "parts-encrypt"], ["changed"], ["reuse"]),
    "identity_by_boot_id": (["parts-encrypt"], ["moved"], ["reuse", "identity"]),
}
WEIGHTS = {"power": 5, "altered": 3, "changed": 2, "moved": 1, "planted": 3}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--command", required=True, help="the stockade command")
    parser.add_argument("--layer", required=True, help="the recording layer, a shared library")
    parser.add_argument("--states", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", action="append", help="a job: " + ", ".join(job.name for job in jobs.ALL))
    parser.add_argument("--scenario", action="append", help=", ".join(WEIGHTS))
    parser.add_argument("--state", type=int, help="this state alone")
    parser.add_argument("--expect-fault", choices=FAULTS, help="succeed only if this fault is found")
    parser.add_argument("--keep-going", action="store_true", help="count violations instead of ending at the first")
    parser.add_argument("--size", type=int, default=1258291, help="bytes of input")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count()))
    parser.add_argument("--folder", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    return parser.parse_args()


class Harness:
    def __init__(self, options):
        self.options = options
        self.seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
        names, scenarios = options.only, options.scenario
        if options.expect_fault:
            names, scenarios, self.expected = FAULTS[options.expect_fault]
        self.folder = tempfile.mkdtemp(prefix="stockade-crash-", dir=options.folder)
        self.runner = recording.Runner(options.command, options.layer, options.expect_fault)
        self.place = jobs.Place(self.make("inputs"), self.runner, random.Random(self.seed), options.size)
        chosen = [job(self.place) for job in jobs.ALL if not names or job.name in names]
        self.cases = [(job, scenario) for job in chosen for scenario in job.scenarios
                      if not scenarios or scenario in scenarios]
        self.logs = {job.name: self.record(job) for job in chosen}

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def record(self, job):
        root, log = self.make("base-" + job.name), os.path.join(self.folder, job.name + ".log")
        for name, data in job.before().items():
            with open(os.path.join(root, name), "wb") as file:
                file.write(data)
        for line in job.first():
            outcome = self.runner.run(line, root, log, delay=job.delay)
            if not outcome.ok:
                raise RuntimeError(f"{line}: {outcome.text}")
        return recording.read_log(log)

    def one(self, number, folder):
        chance = random.Random(f"{self.seed} {number}")
        job, scenario = chance.choices(self.cases, [WEIGHTS[scenario] for _, scenario in self.cases])[0]
        kind = PlantedTrial if scenario == "planted" else RekeyTrial if isinstance(job, jobs.Rekey) else Trial
        trial = kind(job, self.logs[job.name], self.place, self.runner, folder, chance, scenario)
        try:
            return job.name, scenario, trial.run_trial(os.path.join(self.folder, "base-" + job.name)), trial
        except jobs.Violation as violation:
            return job.name, scenario, violation, trial

    def work(self, worker, workers, results, stop):
        folder = self.make(f"worker{worker}")
        for number in range(worker, self.options.states, workers):
            if stop.is_set():
                break
            try:
                name, scenario, end, trial = self.one(number, folder)
            except Exception as error:  # the harness itself has failed
                results.put((number, "harness", "", "harness-error", repr(error)))
                raise
            if not isinstance(end, jobs.Violation):
                results.put((number, name, scenario, end, None))
                continue
            kept = os.path.join(self.folder, f"violation-{number}")
            if not stop.is_set():
                shutil.rmtree(kept, ignore_errors=True)
                if not self.options.keep_going:
                    shutil.copytree(folder, kept, ignore=lambda base, names: [
                        name for name in names if not os.path.isfile(os.path.join(base, name))
                        and not os.path.isdir(os.path.join(base, name))], symlinks=True)
            text = "\n".join([f"{end}", *trial.notes,
                              *(f"{outcome.status}: stockade {' '.join(line)}: {outcome.text.strip()}"
                                for line, outcome in trial.said)])
            results.put((number, name, scenario, "violation " + end.kind, text))
        results.put(None)

    def repeat(self, number):
        again = [sys.executable, *sys.argv, "--seed", self.seed, "--state", number]
        return " ".join(str(word) for word in again)


def run(harness):
    options, counts, found = harness.options, collections.Counter(), []
    results, stop = multiprocessing.Queue(), multiprocessing.Event()
    workers = [multiprocessing.Process(target=harness.work, args=(i, options.jobs, results, stop), daemon=True)
               for i in range(options.jobs)]
    for worker in workers:
        worker.start()
    left = len(workers)
    while left > 0:
        result = results.get()
        if result is None:
            left -= 1
            continue
        number, name, scenario, end, text = result
        counts[name, scenario, end] += 1
        if end == "harness-error":
            stop.set()
            left -= 1
        if text is not None:
            found.append((number, name, scenario, end, text))
            wanted = options.expect_fault and end.removeprefix("violation ") in harness.expected
            if wanted or (not options.expect_fault and not options.keep_going):
                stop.set()
    for worker in workers:
        worker.join()
    return counts, found


def main():
    options = arguments()
    begun = time.monotonic()
    harness = Harness(options)
    print(f"crash: seed {harness.seed}, {options.states} states", flush=True)
    keep = False
    try:
        if options.state is not None:
            name, scenario, end, trial = harness.one(options.state, harness.make("worker0"))
            print(f"{name}, {scenario}: {end}", *trial.notes, sep="\n  ")
            for line, outcome in trial.said:
                print(f"  {outcome.status}: stockade {' '.join(line)}: {outcome.text.strip()}")
            keep = isinstance(end, jobs.Violation)
            return 1 if keep else 0
        counts, found = run(harness)
        for (name, scenario, end), count in sorted(counts.items()):
            print(f"  {name:14} {scenario:8} {end:24} {count:6}")
        print(f"crash: {sum(counts.values())} states in {time.monotonic() - begun:.0f} s")
        if options.expect_fault:
            right = [one for one in found if one[3].removeprefix("violation ") in harness.expected]
            for number, name, scenario, _, text in right[:1]:
                print(f"found as it should be, state {number}: {name}, {scenario}: {text}")
            if not right:
                print(f"the planted fault {options.expect_fault} was NOT found")
            return 0 if right else 1
        for number, name, scenario, _, text in found[:5]:
            print(f"VIOLATION in state {number}: {name}, {scenario}: {text}\n  repeat: {harness.repeat(number)}")
        keep = bool(found)
        return 1 if found else 0
    finally:
        if keep:
            print(f"kept: {harness.folder}")
        else:
            shutil.rmtree(harness.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
