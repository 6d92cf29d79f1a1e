"""Runs every benchmark that this machine can run, and keeps what each prints, with the command and the commit.

Needs nothing but Python itself, so that it works on any machine that has the built commands.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from .quantities import slug
from .reader import Refused, read

# What the file is called, and what is asked for.
BENCHMARKS = (
    ("aes", ("bench", "aes")),
    ("rsa", ("bench", "rsa")),
    ("rsa-ablation", ("bench", "rsa", "--ablation")),
    ("rsa-queue", ("bench", "rsa", "--queue")),
    ("rsa-keys", ("bench", "rsa", "--keys")),
    ("file", ("bench", "file")),
    ("gpu", ("bench", "aes", "--engine", "cuda")),
    ("studies", ("bench", "studies")),
)
# Open MPI runs nothing for root, as in containers, unless it is told to.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# What stockade answers where the GPU that was asked for is not there.
UNAVAILABLE = 5


def commit_of(folder):
    """The commit that is checked out, with a word on changes; "" where there is no git."""

    def git(*arguments):
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    if not shutil.which("git"):
        return ""
    commit = git("rev-parse", "--short=12", "HEAD")
    # Results and what is drawn from them are no change of what was measured.
    changed = git("status", "--porcelain", "--", ":/", ":(top,exclude)bench/results", ":(top,exclude)docs")
    return f"{commit} with changes" if commit and changed else commit


def _skip(what, reason):
    print(f"{what}: skipped, {reason}", file=sys.stderr)


def _knows(program, arguments):
    """Whether the program has this benchmark, with all of these options."""
    done = subprocess.run([str(program), *arguments[:2], "--help"], capture_output=True, text=True, check=False)
    # The help of an unknown command is that of the one above it.
    wanted = [f"usage: stockade {' '.join(arguments[:2])} ", *(word for word in arguments if word.startswith("--"))]
    return done.returncode == 0 and all(text in done.stdout for text in wanted)


def _mpi(program, quick):
    """The command over MPI with as many ranks as there are cores, or None where it cannot run."""
    command, launcher = pathlib.Path(program).with_name("stockade-mpi"), shutil.which("mpirun")
    if not command.exists():
        return _skip("mpi", f"there is no {command}")
    if launcher is None:
        return _skip("mpi", "there is no mpirun")
    ranks = len(os.sched_getaffinity(0))
    return [launcher, "-n", str(ranks), str(command), "bench", "--json", *(["--quick"] if quick else [])]


def _commands(program, quick, only):
    """What each benchmark is called, and its command; of those that are wanted and that the program has."""
    for name, arguments in BENCHMARKS:
        if only and name not in only:
            continue
        if _knows(program, arguments):
            yield name, [str(program), *arguments, "--json", *(["--quick"] if quick else [])]
        else:
            _skip(name, f"{pathlib.Path(program).name} has no '{' '.join(arguments)}'")
    mpi = _mpi(program, quick) if not only or "mpi" in only else None
    if mpi:
        yield "mpi", mpi


def _shown(command):
    """The command without the folders of its programs."""
    return " ".join(pathlib.Path(word).name if "/" in word else word for word in command)


def _laid_out(json_value):
    """A line for each member, and for each result, so that changes can be read."""

    def text(value):
        if isinstance(value, list) and value:
            return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"
        return json.dumps(value, ensure_ascii=False)

    return "{\n" + ",\n".join(f"{json.dumps(name)}: {text(value)}" for name, value in json_value.items()) + "\n}\n"


def _keep(text, path, command, commit):
    """Writes what a benchmark has printed, if it can be read, and replaces the file in one step."""
    json_value = json.loads(text)
    json_value["collected"] = {"command": command, "commit": commit}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_laid_out(json_value))
        read(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return json_value


def machine_name(json_value):
    """Such as amd-epyc-9b45-16: the processor and its cores."""
    machine = json_value["machine"]
    return slug(f"{machine['cpu']} {machine['cores']}")


def collect(program, folder, quick, commit, only=(), name=None):
    """Writes FOLDER/MACHINE-WHAT.json for each benchmark that there is. True if none failed."""
    names = [*(name for name, _ in BENCHMARKS), "mpi"]
    for what in only:
        if what not in names:
            raise Refused(f"there is no benchmark '{what}': there are {', '.join(names)}")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    good = True
    for what, command in _commands(program, quick, only):
        print(f"{what}: {_shown(command)}", file=sys.stderr, flush=True)
        environment = {**os.environ, **MPI_ENVIRONMENT} if what in ("mpi", "studies") else None
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
        if done.returncode == UNAVAILABLE and what == "gpu":
            print(f"{what}: not on this machine", file=sys.stderr)
            continue
        if done.returncode != 0:
            print(f"{what}: failed with status {done.returncode}", file=sys.stderr)
            good = False
            continue
        try:
            # Later benchmarks may see fewer cores, as under mpirun: the first one names the machine.
            name = name or machine_name(json.loads(done.stdout))
            _keep(done.stdout, folder / f"{name}-{what}.json", _shown(command), commit)
        except (Refused, ValueError, KeyError) as error:
            print(f"{what}: {error}", file=sys.stderr)
            good = False
    return good
