"""What more threads and more ranks bring."""

from ..pictures import Panel, Picture, Table, label_room, lines
from ..quantities import figure, operation_text, size_text, time_text
from .choice import mode_of, of_kind, rows_by_speed, telling

TITLE = "Scaling over threads and ranks"
COMMANDS = (
    "stockade bench aes --threads 1,2,4,N --json",
    "stockade bench rsa --json",
    "mpirun -n 4 stockade-mpi bench --json",
)


def _count_text(value):
    return f"{value:,}"


def _panel(title, series, x_label):
    """Speed-ups, with the line where each further one brings as much as the first."""
    most = max(x for points in series.values() for x, _ in points)
    shown = {"ideal": [(1, 1), (most, most)], **series}

    def draw(axes, styles):
        lines(axes, styles, shown, x_text=_count_text)
        axes.set_xlabel(x_label)
        axes.set_ylabel("times one")

    return Panel(title, draw, right=label_room(shown))


def _aes_threads(run):
    """At the largest size: {operation: [(threads, speed-up)]}."""
    series = {}
    for (cipher, operation, streams), results in telling(run.measured):
        rows = rows_by_speed(results)
        here = [r for r in results if rows and r["contender"] == rows[0]]
        size = max((r["message_bytes"] for r in here), default=0)
        times = {r["threads"]: r["seconds_median"] for r in here if r["message_bytes"] == size}
        if 1 in times and len(times) > 1:
            series[f"{operation_text(mode_of(cipher), operation, streams)}, {size_text(size)}"] = [
                (threads, times[1] / seconds) for threads, seconds in sorted(times.items())
            ]
    return series


def _rsa_threads(run):
    """With the largest batch."""
    series = {}
    for bits, operation in dict.fromkeys((r["bits"], r["operation"]) for r in run.measured):
        ours = [
            r for r in run.measured if (r["bits"], r["operation"]) == (bits, operation) and r["contender"] != "openssl"
        ]
        batch = max((r["batch"] for r in ours), default=0)
        here = [r for r in ours if r["batch"] == batch]
        row = max(here, key=lambda r: r["operations_per_second"])["contender"] if here else ""
        times = {r["threads"]: r["seconds_median"] for r in here if r["contender"] == row}
        if 1 in times and len(times) > 1:
            series[f"RSA-{bits} {operation}, {batch}"] = [(t, times[1] / s) for t, s in sorted(times.items())]
    return series


def _threads(run, series, what):
    if not series:
        return None
    counts = sorted({threads for points in series.values() for threads, _ in points})
    rows = [
        [name, *(f"{figure(dict(points)[count])}×" if count in dict(points) else "–" for count in counts)]
        for name, points in series.items()
    ]
    return Picture(
        f"threads-{run.slug}",
        f"{what} over threads",
        "The best row; dashed: as many times as there are threads.",
        [_panel(f"{what} over threads", series, "threads")],
        Table(["speed-up", *(f"{count} thread{'s' * (count > 1)}" for count in counts)], rows),
        [run],
    )


def _mpi_series(run, scaling):
    """Speed-ups over one rank at the largest size, without points that have more threads than cores."""
    series = {}
    for form, threads in dict.fromkeys((r["form"], r["threads"]) for r in run.measured):
        here = [
            r
            for r in run.measured
            if (r["form"], r["threads"]) == (form, threads)
            and not r["oversubscribed"]
            and r["scaling"] in (scaling, "strong")
            and r["speedup"]
        ]

        # The one rank is where both kinds of scaling begin; in weak scaling the bytes count by rank.
        def load(r):
            return r["bytes"] // r["ranks"] if scaling == "weak" else r["bytes"]

        points = {}
        for r in here:
            if r["ranks"] == 1 or r["scaling"] == scaling:
                points.setdefault(load(r), []).append((r["ranks"], r["speedup"]))
        full = {size: found for size, found in points.items() if len(found) > 1}
        if full:
            name = f"{form}, {threads} thread{'s' * (threads > 1)}"
            series[name] = sorted(full[max(full)])
    return series


def _mpi(run):
    panels = []
    for scaling in ("strong", "weak"):
        series = _mpi_series(run, scaling)
        if series:
            panels.append(_panel(f"{scaling} scaling over ranks", series, "ranks"))
    rows = [
        [
            r["form"],
            r["scaling"],
            str(r["ranks"]),
            str(r["threads"]),
            size_text(r["bytes"]),
            time_text(r["seconds_median"]),
            f"{figure(r['gigabytes_per_second'])} GB/s",
            f"{figure(r['speedup'])}×" if r["speedup"] else "–",
            f"{r['efficiency'] * 100:.0f} %" if r.get("efficiency") else "–",
            "more threads than cores" if r["oversubscribed"] else "",
        ]
        for r in run.measured
    ]
    table = Table(
        ["form", "scaling", "ranks", "threads", "bytes", "time", "rate", "speed-up", "efficiency", "note"], rows
    )
    if not panels:
        return run, "AES over MPI ranks", table
    return Picture(
        f"ranks-{run.slug}",
        "AES over MPI ranks",
        "At the largest size. Strong: the same bytes for any number of ranks; weak: as many for each. distributed: "
        "every rank has its piece; root: rank 0 has all; file: all see one file.",
        panels,
        table,
        [run],
    )


def _models(run):
    rows = []
    for model in run.json.get("models", []):
        for guess in model.get("predictions", []):
            rows.append(
                [
                    model["form"],
                    str(model["threads"]),
                    guess["scaling"],
                    f"{guess['ranks']:,.0f}",
                    size_text(int(guess["bytes"])),
                    time_text(guess["seconds"]),
                    f"{guess['efficiency'] * 100:.0f} %",
                    f"{model['error_mean'] * 100:.0f} %, at worst {model['error_worst'] * 100:.0f} %",
                ]
            )
    return (
        Table(
            [
                "predicted form",
                "threads",
                "scaling",
                "ranks",
                "bytes",
                "time",
                "efficiency",
                "the model misses its points by",
            ],
            rows,
        )
        if rows
        else None
    )


def build(runs):
    found = [_threads(run, _aes_threads(run), "AES") for run in of_kind(runs, "aes")]
    found += [_threads(run, _rsa_threads(run), "RSA") for run in of_kind(runs, "rsa")]
    for run in of_kind(runs, "mpi"):
        found.append(_mpi(run))
        models = _models(run)
        found.append((run, "What many ranks would do, by the model of the run", models) if models else None)
    return [part for part in found if part]
