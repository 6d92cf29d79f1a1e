"""Two runs of one benchmark, measurement by measurement."""

import math
from dataclasses import dataclass

from .noise import bound
from .provenance import disturbance
from .quantities import axes_text, percent, time_text
from .reader import Refused, measurements

# Code that is not Stockade's: where its version is the same in both runs, it tells how far times move by themselves.
PEERS = {"openssl", "openssl, loop", "memcpy", "reads and writes", "reads", "age", "pyca/cryptography", "sh"}
# Of the whole comparison: how often it may report a difference where there is none.
ERROR = 0.05


@dataclass(frozen=True)
class Difference:
    axes: tuple
    before: float  # seconds
    after: float
    change: float  # of the time: 0.1 for a tenth more
    noise: float | None  # how large a change has to be to count; None where no spread is known
    peer: bool = False

    @property
    def slower(self):
        return self.noise is not None and self.change > self.noise

    @property
    def faster(self):
        # As a factor the bound is the same in both directions.
        return self.noise is not None and 1 / (1 + self.change) - 1 > self.noise


@dataclass(frozen=True)
class Comparison:
    before: object  # Run
    after: object
    differences: list
    gone: list  # axes
    added: list
    drift: float  # what every bound is at least
    moved: float  # the largest change of a peer, as a factor less 1; 0 where no peer can tell

    @property
    def regressions(self):
        return [d for d in self.differences if d.slower and not d.peer]


def _is_peer(axes):
    return any(name in ("contender", "layers") and value in PEERS for name, value in axes)


def _movement(before, after, pairs):
    """The largest factor, less 1, between the times of a peer in the two runs; 0 with different peers."""
    if any(before.json.get(name) != after.json.get(name) for name in ("peer", "peers")):
        return 0.0
    logs = [abs(math.log(b.seconds / a.seconds)) for a, b in pairs if _is_peer(a.axes)]
    return math.exp(max(logs)) - 1 if logs else 0.0


def compare(before, after, drift):
    """`drift`: a change below this share of the time never counts, because machines drift between runs."""
    if before.kind != after.kind:
        raise Refused(
            f"{before.path} holds results of '{before.kind}' and {after.path} of '{after.kind}': "
            "there is nothing to compare"
        )
    old = {m.axes: m for m in measurements(before)}
    new = {m.axes: m for m in measurements(after)}
    pairs = [(old[axes], new[axes]) for axes in old if axes in new]
    if not pairs:
        raise Refused(f"{before.path} and {after.path} have no measurement in common")
    moved = _movement(before, after, pairs)
    least = max(drift, moved)
    # Two-sided: half of the error for either direction.
    share = ERROR / 2 / len(pairs)
    differences = []
    for a, b in pairs:
        chance = bound(a, b, share)
        noise = None if chance is None else max(least, math.exp(min(chance, 50.0)) - 1)
        differences.append(Difference(a.axes, a.seconds, b.seconds, b.seconds / a.seconds - 1, noise, _is_peer(a.axes)))
    gone = [axes for axes in old if axes not in new]
    added = [axes for axes in new if axes not in old]
    return Comparison(before, after, differences, gone, added, least, moved)


def _lines(title, differences):
    if not differences:
        return []
    lines = ["", f"{title}: {len(differences)}", f"  {'before':>10}{'after':>10}{'time':>9}{'bound':>9}"]
    for d in differences:
        lines.append(
            f"  {time_text(d.before):>10}{time_text(d.after):>10}{percent(d.change):>9}"
            f"{percent(d.noise) if d.noise is not None else 'none':>9}  {axes_text(d.axes)}"
        )
    return lines


def _head(name, run):
    return f"{name:<8}{run.path}: {run.machine['cpu']}, {run.date}, {run.commit or 'commit not recorded'}"


def _notes(result):
    before, after = result.before, result.after
    notes = []
    if (before.machine["cpu"], before.machine["cores"]) != (after.machine["cpu"], after.machine["cores"]):
        notes.append("these are two machines: a difference may be theirs")
    for run in (before, after):
        if disturbance(run):
            notes.append(f"{run.path}: {disturbance(run)}; bounds are wide")
    for name, axes in (("gone", result.gone), ("new", result.added)):
        if axes:
            notes.append(f"{name}, and not compared: {len(axes)}, such as {axes_text(axes[0])}")
    return [f"note: {note}" for note in notes]


def _explanation(result):
    lines = [
        "The bound is what the spread of both runs allows, so that of 20 comparisons without change one reports any,",
        f"and at least {percent(result.drift)}.",
    ]
    if result.moved:
        lines.append(
            f"The peers, the same code in both runs, moved by up to {percent(result.moved)}; less never counts."
        )
    lines.append(
        "What hits all rounds of a point alike is in no spread: measure again before you believe a difference."
    )
    return lines


def text(result):
    """The comparison for a terminal."""
    differences = sorted((d for d in result.differences if not d.peer), key=lambda d: d.change)
    slower = [d for d in reversed(differences) if d.slower]
    faster = [d for d in differences if d.faster]
    unjudged = [d for d in differences if d.noise is None]
    within = len(differences) - len(slower) - len(faster) - len(unjudged)
    lines = [
        _head("before", result.before),
        _head("after", result.after),
        *_notes(result),
        *_lines("slower, beyond the bound", slower),
        *_lines("faster, beyond the bound", faster),
        *_lines("not judged, because the files hold no spread", unjudged),
        "",
        f"{len(slower)} slower, {len(faster)} faster, {within} within the bound, {len(unjudged)} not judged",
        *_explanation(result),
    ]
    return "\n".join(lines) + "\n"
