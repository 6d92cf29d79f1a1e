"""Throughput over the size of a message, by who computes it."""

from ..pictures import Panel, Picture, Table, label_room, lines
from ..quantities import figure, operation_text, size_text, threads_text
from .choice import bits_of, mode_of, of_kind, rows_by_speed, telling

TITLE = "Throughput over size"
COMMANDS = ("stockade bench aes --json", "stockade bench aes --engine cuda --json")

# More lines than these cannot be told apart.
MOST_ROWS = 5


def _spread(result):
    """Of a rate, from that of the times."""
    rate, middle = result["gigabytes_per_second"], result["seconds_median"]
    return rate * middle / result["seconds_high"], rate * middle / result["seconds_low"]


def _panel(title, results, name_of):
    series, spread = {}, {}
    for result in sorted(results, key=lambda r: r["message_bytes"]):
        name = name_of(result)
        series.setdefault(name, []).append((result["message_bytes"], result["gigabytes_per_second"]))
        spread.setdefault(name, []).append(_spread(result))

    def draw(axes, styles):
        lines(axes, styles, series, spread=spread)
        axes.set_ylabel("GB/s")

    return Panel(title, draw, right=label_room(series))


def _table(named):
    """named: [(group, name, result)] with sizes as columns."""
    sizes = sorted({result["message_bytes"] for _, _, result in named})
    rows = {}
    for group, name, result in named:
        rows.setdefault((group, name), {})[result["message_bytes"]] = figure(result["gigabytes_per_second"])
    return Table(
        ["GB/s", "who", *map(size_text, sizes)],
        [[group, name, *(cells.get(size, "–") for size in sizes)] for (group, name), cells in rows.items()],
    )


def _aes_name(result):
    return threads_text(result["contender"], result["threads"])


def _aes(run):
    panels, named = [], []
    for (cipher, operation, streams), results in telling(run.measured):
        rows = rows_by_speed(results)
        most = max(r["threads"] for r in results)
        wanted = [("openssl", 1), ("memcpy", 1), *((row, 1) for row in rows[:MOST_ROWS])]
        if rows and most > 1:
            wanted.append((rows[0], most))
        shown = [r for r in results if (r["contender"], r["threads"]) in wanted]
        title = operation_text(cipher, operation, streams)
        panels.append(_panel(title, shown, _aes_name))
        named += [(title, _aes_name(r), r) for r in shown]
    if not panels:
        return None
    return Picture(
        f"throughput-{run.slug}",
        "AES on the processor",
        "Both axes are logarithmic. Thin strokes go from the slowest to the fastest round. × 16: sixteen messages "
        "a call.",
        panels,
        _table(named),
        [run],
    )


def _gpu_name(result):
    form = result["form"]
    return f"{mode_of(result['cipher']).upper()} {result['operation']}{', ' + form if form else ''}"


def _device(run):
    device = [r for r in run.measured if r["question"] == "device" and r["gigabytes_per_second"]]
    titles = list(dict.fromkeys(r["title"] for r in device))
    panels, named = [], []
    for title in titles:
        results = [r for r in device if r["title"] == title]
        # Eight lines are what can be told apart; the table has all.
        names = []
        for r in sorted(results, key=lambda r: -r["gigabytes_per_second"]):
            if _gpu_name(r) not in names:
                names.append(_gpu_name(r))
        panels.append(_panel(title, [r for r in results if _gpu_name(r) in names[:8]], _gpu_name))
        named += [(title, _gpu_name(r), r) for r in results]
    if not panels:
        return None
    return Picture(
        f"throughput-device-{run.slug}",
        "AES in the memory of a GPU",
        "By the GPU's own clock. At most the eight fastest have a line; the table has all.",
        [_wide(panel) for panel in panels],
        _table(named),
        [run],
    )


def _host(run):
    host = [r for r in run.measured if r["question"] == "host" and r["gigabytes_per_second"]]
    bits = max((bits_of(r["cipher"]) for r in host), default=0)
    panels, named = [], []
    for cipher in dict.fromkeys(r["cipher"] for r in host if bits_of(r["cipher"]) == bits):
        results = [r for r in host if r["cipher"] == cipher]
        title = operation_text(cipher, results[0]["operation"])
        panels.append(_panel(title, results, lambda r: r["form"]))
        named += [(title, r["form"], r) for r in results]
    if not panels:
        return None
    return Picture(
        f"throughput-host-{run.slug}",
        "AES by engine, from host memory to host memory",
        "Whole calls, transfers included. threads: the processor alone; cuda: the GPUs alone; hybrid: both.",
        panels,
        _table(named),
        [run],
    )


def _wide(panel):
    panel.columns, panel.height = 1, 260
    return panel


def build(runs):
    found = [_aes(run) for run in of_kind(runs, "aes")]
    for run in of_kind(runs, "gpu"):
        found += [_device(run), _host(run)]
    return [picture for picture in found if picture]
