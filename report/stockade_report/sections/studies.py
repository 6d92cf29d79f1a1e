"""The tables of the five studies that Stockade stands on, with what is here."""

from ..pictures import Panel, Picture, Table, label_room, lines
from ..quantities import figure, size_text, threads_text, time_text
from .ablation import ablation_picture, parts_table
from .choice import of_kind

TITLE = "Five studies"
COMMANDS = ("stockade bench studies --json",)

# What each table asks, by study and name; the launch sweep of S2 has a section of its own.
CAPTIONS = {
    ("s1", "modes"): "S1: textbook code, one core, all cores and a GPU, with the key's set-up and both transfers",
    ("s3", "engines"): "S3: serial, threads, MPI, a GPU and OpenSSL, from memory to memory",
    ("s3", "profile"): "S3: where the time goes on a GPU, and counter mode without the copy in",
    ("s3", "tables"): "S3: products from a table of 64 KB, T-tables and AES instructions, on one core",
    ("s4", "stages"): "S4: a file, stage by stage",
    ("s5", "sums"): "S5: sums of numbers of 2,048 bits",
}
# Those that are drawn; the others are tables.
DRAWN = {("s1", "modes"), ("s3", "engines"), ("s3", "tables")}


def _tables(run):
    """{(study, table): {title: [result]}}"""
    found = {}
    for r in run.results:
        found.setdefault((r["study"], r["table"]), {}).setdefault(r["title"], []).append(r)
    return found


def _name(r):
    name = threads_text(r["contender"], r["threads"])
    return f"{name}: {r['stage']}" if r["stage"] else name


def _cell(r):
    if not r["measured"]:
        return "–"
    ratio = r.get("ratio")
    if not ratio or r["contender"] == r["yardstick"]:
        return time_text(r["seconds_median"])
    return f"{time_text(r['seconds_median'])} ({'~' if r['ratio_scaled'] else ''}{figure(ratio)}×)"


def _column(r):
    return f"{r['numbers']:,}" if "numbers" in r else size_text(r["message_bytes"])


def _table(titles):
    """Of all titles of a table; a line for each contender, with why it has no figure where it has none."""
    sizes, rows = {}, {}
    for title, results in titles.items():
        for r in results:
            sizes[r["message_bytes"]] = _column(r)
            line = rows.setdefault((title, r["contender"], r["stage"]), {"name": _name(r), "cells": {}, "why": {}})
            line["cells"][r["message_bytes"]] = _cell(r)
            if not r["measured"]:
                line["why"][r["reason"]] = None
    order = sorted(sizes)
    yardstick = next((r["yardstick"] for rs in titles.values() for r in rs if r.get("yardstick")), "")
    header = ["what", f"who (× over {yardstick})" if yardstick else "who", *(sizes[s] for s in order), "–: why"]
    return Table(
        header,
        [
            [
                title.split(":")[0].split(",")[0],
                line["name"],
                *(line["cells"].get(s, "–") for s in order),
                "; ".join(line["why"]),
            ]
            for (title, _, _), line in rows.items()
        ],
    )


def _panel(title, results, value, label):
    series = {}
    for r in sorted(results, key=lambda r: r["message_bytes"]):
        if r["measured"] and value(r):
            series.setdefault(r["contender"], []).append((r["message_bytes"], value(r)))
    if not series:
        return None

    def draw(axes, styles):
        lines(axes, styles, series)
        axes.set_ylabel(label)

    return Panel(title, draw, left=74, right=label_room(series))


def _panels(titles):
    panels = []
    for title, results in titles.items():
        short = title.split(",")[0]
        yardstick = next((r["yardstick"] for r in results if r.get("yardstick")), "")
        panels.append(_panel(f"{short}: time", results, lambda r: r["seconds_median"] * 1e3, "ms"))
        panels.append(_panel(f"{short}: speed-up", results, lambda r: r["ratio"], f"times {yardstick}"))
    return [panel for panel in panels if panel]


def _part(run, key, titles):
    caption = CAPTIONS.get(key, f"{key[0].upper()}: {key[1]}")
    table = _table(titles)
    panels = _panels(titles) if key in DRAWN else []
    if not panels:
        return run, caption, table
    scaled = any(r.get("ratio_scaled") for results in titles.values() for r in results)
    note = (
        " ~: the textbook's time is that of its largest size, multiplied; it would take too long." if scaled else ""
    )
    return Picture(f"studies-{'-'.join(key)}-{run.slug}", caption, f"Both axes are logarithmic.{note}", panels, table, [run])


def build(runs):
    found = []
    for run in of_kind(runs, "studies"):
        for key, titles in _tables(run).items():
            if key != ("s2", "launch"):
                found.append(_part(run, key, titles))
        if "ablation" in run.json:
            ablation = run.json["ablation"]
            if any(layer["measured"] for layer in ablation["layers"]):
                found.append(ablation_picture(run, ablation, "studies-s5-ablation", "S5: "))
            if ablation["parts"]:
                found.append((run, "S5: the parts of a decryption, on one thread", parts_table(ablation)))
    return found
