"""Large files from start to end, against the same reads and writes and against other programs."""

from ..pictures import Panel, Picture, Table, bar_room, bars
from ..quantities import figure, ratio_text, size_text, threads_text, time_text
from .choice import of_kind

TITLE = "Files"
COMMANDS = ("stockade bench file --json",)


def _rate(value):
    return f"{figure(value)} GB/s"


def _look(contender):
    if contender.startswith("stockade"):
        return "stockade"
    return "bound" if contender.startswith("reads") else "others"


def _panel(point, results):
    values = [
        (threads_text(r["contender"], r["threads"]), r["gigabytes_per_second"], _look(r["contender"]))
        for r in results
        if r["gigabytes_per_second"]
    ]

    def draw(axes, styles):
        for name in ("stockade", "bound", "others"):
            styles.number(name)
        bars(axes, styles, values, _rate)
        axes.set_xlabel("GB/s of plaintext")

    return Panel(point, draw, height=26 * len(values) + 8, left=bar_room([v[0] for v in values]), right=30)


def _row(r):
    if not r["measured"]:
        return [r["point"], threads_text(r["contender"], r["threads"]), r.get("reason", "not measured"), "", "", ""]
    rate = r["gigabytes_per_second"]
    ratios = ", ".join(f"{ratio_text(v)} {name}" for name, v in r["ratios"].items() if v and name != r["contender"])
    return [
        r["point"],
        threads_text(r["contender"], r["threads"]),
        time_text(r["seconds_median"]),
        _rate(rate) if rate else "–",
        figure(r["cpu_seconds_per_gigabyte"]) if rate else "–",
        ratios or "–",
    ]


def _picture(run):
    points = {}
    for r in run.measured:
        if r["question"] == "files":
            points.setdefault(r["point"], []).append(r)
    if not points:
        return None
    size = next(iter(points.values()))[0]["bytes"]
    folder = "in memory" if run.json["settings"].get("folder_in_memory") else "on a disk"
    table = Table(
        ["what", "who", "time", "rate", "CPU s/GB", "how many times as fast as"], [_row(r) for r in run.results]
    )
    return Picture(
        f"files-{run.slug}",
        f"A file of {size_text(size)}, {folder}",
        "Plain bars: Stockade. Hatched with strokes: the same reads and writes without a cipher. Cross-hatched: "
        "other programs. The table has the other questions of the benchmark as well.",
        [_panel(point, results) for point, results in points.items()],
        table,
        [run],
    )


def build(runs):
    return [picture for picture in map(_picture, of_kind(runs, "file")) if picture]
