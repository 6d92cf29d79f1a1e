"""RSA in batches, and as requests come: operations per second, and how long one waits for them."""

from ..pictures import Panel, Picture, Table, label_room, lines
from ..quantities import figure, ratio_text, threads_text, time_text
from .choice import of_kind

TITLE = "RSA in batches and queues"
COMMANDS = ("stockade bench rsa --json", "stockade bench rsa --queue --json")

MOST_LINES = 8


def _name(r):
    return threads_text(r["contender"], r["threads"])


def _count_text(value):
    return f"{value:,}"


def _panel(title, label, points, x_label):
    """points: {name: [(x, y)]}"""

    def draw(axes, styles):
        lines(axes, styles, points, x_text=_count_text)
        axes.set_ylabel(label)
        axes.set_xlabel(x_label)

    return Panel(title, draw, right=label_room(points))


def _series(results, x, y):
    found = {}
    for r in results:
        found.setdefault(_name(r), []).append((r[x], y(r)))
    # The fastest, and OpenSSL in any case.
    names = sorted(found, key=lambda name: (name.split(",")[0] != "openssl", -max(v for _, v in found[name])))
    return {name: found[name] for name in names[:MOST_LINES]}


def _batches(run):
    groups = {}
    for r in run.measured:
        groups.setdefault((r["bits"], r["operation"]), []).append(r)
    panels = []
    for (bits, operation), results in groups.items():
        rates = _series(results, "batch", lambda r: r["operations_per_second"])
        shown = [r for r in results if _name(r) in rates]
        panels.append(_panel(f"RSA-{bits} {operation}", "operations/s", rates, "operations in a call"))
        panels.append(
            _panel(
                f"RSA-{bits} {operation}: one call",
                "ms",
                _series(shown, "batch", lambda r: r["seconds_median"] * 1e3),
                "operations in a call",
            )
        )
    rows = [
        [
            f"RSA-{r['bits']} {r['operation']}",
            _name(r),
            _count_text(r["batch"]),
            figure(r["operations_per_second"]),
            time_text(r["seconds_median"]),
            ratio_text(r["ratio_to_openssl"]),
        ]
        for r in run.measured
    ]
    if not panels:
        return None
    return Picture(
        f"batches-{run.slug}",
        "Rate, and how long a call takes, by the size of the batch",
        "OpenSSL has no batches: it does one operation at a time, on one thread.",
        panels,
        Table(["what", "who", "batch", "operations/s", "one call", "over OpenSSL"], rows),
        [run],
    )


def _load_text(r):
    if r["clients"]:
        return f"{r['clients']} at a time"
    return f"{figure(r['arrivals_per_second'])}/s at random"


def _queue(run):
    groups = {}
    for r in run.measured:
        if r["clients"]:
            groups.setdefault(r["bits"], []).append(r)
    panels = []
    for bits, results in groups.items():
        panels.append(
            _panel(
                f"RSA-{bits} sign, behind a queue",
                "signatures/s",
                _series(results, "clients", lambda r: r["operations_per_second"]),
                "who ask at a time",
            )
        )
        latency = {}
        for r in results:
            latency.setdefault(f"{r['contender']}, half", []).append((r["clients"], r["latency_seconds_median"] * 1e3))
            latency.setdefault(f"{r['contender']}, 99 %", []).append((r["clients"], r["latency_seconds_p99"] * 1e3))
        panels.append(_panel(f"RSA-{bits} sign: served within", "ms", latency, "who ask at a time"))
    rows = [
        [
            f"RSA-{r['bits']} {r['operation']}",
            _load_text(r),
            _name(r),
            figure(r["operations_per_second"]),
            time_text(r["latency_seconds_median"]),
            time_text(r["latency_seconds_p99"]),
            figure(r.get("mean_batch")),
            ratio_text(r.get("ratio_to_openssl")),
        ]
        for r in run.measured
    ]
    table = Table(
        ["what", "load", "who", "signatures/s", "half within", "99 % within", "mean batch", "over OpenSSL"], rows
    )
    if not panels:
        return (run, "Under load", table) if rows else None
    return Picture(
        f"queue-{run.slug}",
        "Rate and latency under load",
        "A queue that gathers requests as they come, and OpenSSL in a pool of as many threads.",
        panels,
        table,
        [run],
    )


def build(runs):
    found = [_batches(run) for run in of_kind(runs, "rsa")] + [_queue(run) for run in of_kind(runs, "rsa-queue")]
    return [part for part in found if part]
