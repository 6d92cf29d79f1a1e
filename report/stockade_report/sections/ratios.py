"""Where Stockade stands against its peers: one line for each operation."""

from typing import NamedTuple

from ..pictures import Panel, Picture, Table, bar_room, ratio_bars, times_text
from ..quantities import figure, operation_text, ratio_text, size_text, slug, threads_text
from .choice import OTHERS, near, of_kind

TITLE = "Against its peers"
COMMANDS = ("stockade bench aes --json", "stockade bench rsa --json", "stockade bench file --json")

MESSAGE = 16 << 10


class Row(NamedTuple):
    run: object
    what: str
    of: str  # how large
    who: str
    rate: str
    peer: str
    peer_rate: str
    ratio: float | None


def _aes(run):
    groups = {}
    for result in run.measured:
        groups.setdefault((result["cipher"], result["operation"], result["streams"]), []).append(result)
    for (cipher, operation, streams), results in groups.items():
        size = near([r["message_bytes"] for r in results], MESSAGE)
        here = [r for r in results if r["message_bytes"] == size]
        ours = [r for r in here if r["contender"] not in OTHERS and r["threads"] == 1]
        peer = [r for r in here if r["contender"] == "openssl" and r["threads"] == 1]
        if not ours:
            continue
        best = max(ours, key=lambda r: r["gigabytes_per_second"])
        yield Row(
            run,
            operation_text(cipher, operation, streams),
            size_text(size),
            best["contender"],
            f"{figure(best['gigabytes_per_second'])} GB/s",
            run.json.get("peer", "OpenSSL"),
            f"{figure(peer[0]['gigabytes_per_second'])} GB/s" if peer else "–",
            best["ratio_to_openssl"],
        )


def _rsa(run):
    groups = {}
    for result in run.measured:
        groups.setdefault((result["bits"], result["operation"]), []).append(result)
    for (bits, operation), results in groups.items():
        ours = [r for r in results if r["contender"] != "openssl" and r["threads"] == 1]
        peer = [r for r in results if r["contender"] == "openssl"]
        if not ours:
            continue
        best = max(ours, key=lambda r: r["operations_per_second"])
        yield Row(
            run,
            f"RSA-{bits} {operation}",
            f"batch of {best['batch']}",
            best["contender"],
            f"{figure(best['operations_per_second'])}/s",
            run.json.get("peer", "OpenSSL"),
            f"{figure(peer[0]['operations_per_second'])}/s" if peer else "–",
            best["ratio_to_openssl"],
        )


def _file(run):
    points = {}
    for result in run.measured:
        if result["question"] == "files":
            points.setdefault(result["point"], []).append(result)
    for point, results in points.items():
        ours = [r for r in results if r["contender"].startswith("stockade")]
        peer = [r for r in results if r["contender"] == "openssl"]
        if not ours or not peer:
            continue
        best = max(ours, key=lambda r: r["gigabytes_per_second"] or 0)
        yield Row(
            run,
            f"file {point}",
            size_text(best["bytes"]),
            threads_text(best["contender"], best["threads"]),
            f"{figure(best['gigabytes_per_second'])} GB/s",
            "openssl enc -aes-256-ctr, unauthenticated",
            f"{figure(peer[0]['gigabytes_per_second'])} GB/s",
            best["ratios"].get("openssl"),
        )


READERS = {"aes": _aes, "rsa": _rsa, "file": _file}


def _outcome(ratio):
    if ratio is None:
        return "no peer measured"
    return "faster" if ratio > 1.005 else "slower" if ratio < 0.995 else "even"


def _picture(cpu, cores, rows):
    values = [(row.what, row.ratio, "ahead" if row.ratio >= 1 else "behind") for row in rows if row.ratio is not None]
    table = Table(
        ["what", "ratio", "Stockade is", "of", "Stockade", "peer's rate", "who", "peer", "source"],
        [
            [
                row.what,
                ratio_text(row.ratio),
                _outcome(row.ratio),
                row.of,
                row.rate,
                row.peer_rate,
                row.who,
                row.peer,
                f"[{row.run.number}]",
            ]
            for row in rows
        ],
    )

    def draw(axes, styles):
        for look in ("ahead", "behind"):
            styles.number(look)
        ratio_bars(axes, styles, values, times_text)
        axes.set_xlabel("times the peer's rate")

    panels = [Panel("", draw, height=22 * len(values) + 8, left=bar_room([v[0] for v in values]), columns=1)]
    return Picture(
        f"ratios-{slug(f'{cpu} {cores}')}",
        f"{cpu}, {cores} cores",
        "To the right of 1: faster than the peer; to the left, and hatched: slower. Ciphers and RSA on one thread with "
        "the best row, files on every core, each against the peer in the same run.",
        panels,
        table,
        list({id(row.run): row.run for row in rows}.values()),
    )


def build(runs):
    machines = {}
    for kind, reader in READERS.items():
        for run in of_kind(runs, kind):
            machine = (run.machine["cpu"], run.machine["cores"])
            machines.setdefault(machine, []).extend(reader(run))
    return [
        _picture(*machine, rows) for machine, rows in machines.items() if any(row.ratio is not None for row in rows)
    ]
