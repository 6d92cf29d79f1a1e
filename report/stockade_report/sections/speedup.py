"""How many times as fast, over the size of a message."""

from ..pictures import Panel, Picture, Table, label_room, lines
from ..quantities import operation_text, ratio_text, size_text
from .choice import bits_of, mode_of, of_kind, rows_by_speed, telling

TITLE = "Speed-up"
COMMANDS = ("stockade bench aes --json", "stockade bench aes --engine cuda --only host --json")


def _panel(title, series, label):
    def draw(axes, styles):
        lines(axes, styles, series)
        axes.axhline(1, color=styles.colour("openssl"), linewidth=1, linestyle=(0, (3, 2)))
        axes.set_ylabel(label)

    return Panel(title, draw, right=label_room(series))


def _table(groups):
    """groups: {group: {name: [(size, ratio)]}}"""
    sizes = sorted({size for series in groups.values() for points in series.values() for size, _ in points})
    rows = []
    for group, series in groups.items():
        for name, points in series.items():
            ratios = dict(points)
            rows.append([group, name, *(ratio_text(ratios.get(size)) for size in sizes)])
    return Table(["speed-up", "of", *map(size_text, sizes)], rows)


def _short(cipher, operation, streams):
    return operation_text(mode_of(cipher), operation, streams)


def _aes(run):
    groups = {}
    chosen = telling(run.measured)
    most = max((r["threads"] for r in run.measured), default=1)
    for threads in sorted({1, most}):
        series = {}
        for key, results in chosen:
            rows = rows_by_speed(results)
            points = [
                (r["message_bytes"], r["ratio_to_openssl"])
                for r in results
                if rows and r["contender"] == rows[0] and r["threads"] == threads and r["ratio_to_openssl"]
            ]
            if points:
                series[_short(*key)] = points
        if series:
            groups["one thread" if threads == 1 else f"{threads} threads"] = series
    if not groups:
        return None
    bits = max(bits_of(key[0]) for key, _ in chosen)
    return Picture(
        f"speedup-{run.slug}",
        f"The best row over OpenSSL, AES-{bits}",
        "OpenSSL has one thread in both pictures; the dashed line is its rate.",
        [_panel(f"over OpenSSL, {name}", series, "times OpenSSL") for name, series in groups.items()],
        _table(groups),
        [run],
    )


def _gpu(run):
    host = [r for r in run.measured if r["question"] == "host"]
    groups = {}
    for cipher in dict.fromkeys(r["cipher"] for r in host):
        here = [r for r in host if r["cipher"] == cipher]
        alone = {r["message_bytes"]: r["seconds_median"] for r in here if r["gpus"] == 0}
        series = {}
        for r in here:
            if r["gpus"] > 0 and r["message_bytes"] in alone:
                series.setdefault(r["form"], []).append(
                    (r["message_bytes"], alone[r["message_bytes"]] / r["seconds_median"])
                )
        if series:
            groups[operation_text(cipher, here[0]["operation"])] = series
    if not groups:
        return None
    return Picture(
        f"speedup-gpu-{run.slug}",
        "GPUs over all cores of the processor, from host memory to host memory",
        "Transfers included; below the dashed line the processor alone is faster.",
        [_panel(name, series, "times the processor") for name, series in groups.items()],
        _table(groups),
        [run],
    )


def build(runs):
    found = [_aes(run) for run in of_kind(runs, "aes")] + [_gpu(run) for run in of_kind(runs, "gpu")]
    return [picture for picture in found if picture]
