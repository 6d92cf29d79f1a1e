"""Threads per block of a GPU's kernels: rate over block size and length of the message."""

import math

from matplotlib.patches import Rectangle

from ..looks import STEPS
from ..pictures import Panel, Picture, Table
from ..quantities import figure, operation_text, percent, size_text
from .choice import of_kind

TITLE = "Block sizes of a GPU"
COMMANDS = ("stockade bench studies --only s2 --json",)


def _row(gain):
    """What was learned in one half of the rounds and judged in the other."""
    return [
        operation_text(gain["cipher"], gain["operation"]),
        size_text(gain["message_bytes"]),
        str(gain["threads_per_block"]),
        str(gain["built_in_threads_per_block"]),
        f"{figure(gain['message_bytes'] / gain['seconds_median'] / 1e9)} GB/s",
        percent(gain["gain_over_mean"]),
        percent(gain["gain_over_worst"]),
    ]


def _shade(share):
    """The colour for a share of the best, and that of text on it."""
    step = min(int(max(0.0, share - 0.5) * 2 * len(STEPS)), len(STEPS) - 1)
    return STEPS[step], "#111820" if step < 4 else "#fbfbfb"


def _panel(title, results):
    blocks = sorted({r["threads_per_block"] for r in results})
    sizes = sorted({r["message_bytes"] for r in results})
    best = {s: max(r["gigabytes_per_second"] for r in results if r["message_bytes"] == s) for s in sizes}

    def draw(axes, styles):
        del styles
        for r in results:
            share = r["gigabytes_per_second"] / best[r["message_bytes"]]
            colour, text = _shade(share)
            x, y = blocks.index(r["threads_per_block"]), sizes.index(r["message_bytes"])
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, linewidth=0))
            if len(blocks) * 24 < axes.get_position().width * axes.figure.get_size_inches()[0] * 72 or share == 1:
                axes.text(
                    x,
                    y,
                    "best" if share == 1 else f"{share * 100:.0f}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color=text,
                    weight="bold" if share == 1 else "normal",
                )
        axes.set_xlim(-0.5, len(blocks) - 0.5)
        axes.set_ylim(-0.5, len(sizes) - 0.5)
        step = math.ceil(len(blocks) * 34 / (axes.get_position().width * axes.figure.get_size_inches()[0] * 72))
        axes.set_xticks(range(0, len(blocks), step), [str(b) for b in blocks[::step]])
        axes.set_yticks(range(len(sizes)), [size_text(s) for s in sizes])
        axes.grid(False)
        axes.set_xlabel("threads per block")

    return Panel(title, draw, height=26 * len(sizes), left=70, columns=1)


def _picture(run):
    swept = [r for r in run.measured if "threads_per_block" in r]
    groups = {}
    for r in swept:
        groups.setdefault((r["cipher"], r["operation"]), []).append(r)
    if not groups:
        return None
    table = Table(
        [
            "what",
            "message",
            "best block",
            "built in",
            "rate of the best",
            "gain over mean",
            "gain over worst",
        ],
        [_row(gain) for gain in run.json["gains"]],
    )
    return Picture(
        f"launch-{run.slug}",
        "Rate by threads per block",
        "Per cent of the best rate of the same line; darker is faster. The table's best were learned in one half of the "
        "rounds, and their gains are those of the other half: below 0 it was noise.",
        [_panel(operation_text(*key), results) for key, results in groups.items()],
        table,
        [run],
    )


def build(runs):
    return [picture for picture in map(_picture, of_kind(runs, "studies")) if picture]
