"""Where the time of a file goes that is encrypted on a GPU."""

from matplotlib.patches import Rectangle

from ..pictures import Panel, Picture, Table
from ..quantities import operation_text, size_text, time_text
from .choice import of_kind

TITLE = "A file, stage by stage"
COMMANDS = ("stockade bench aes --engine cuda --only stages --json",)

STAGES = ("load", "copy in", "kernel", "copy out", "store")


def _by_size(results):
    sizes = {}
    for r in results:
        sizes.setdefault(r["message_bytes"], {})[r["form"]] = r["seconds_median"]
    return {size: times for size, times in sorted(sizes.items()) if all(stage in times for stage in STAGES)}


def _panel(sizes):
    def draw(axes, styles):
        names = []
        for place, (size, times) in enumerate(reversed(sizes.items())):
            total, start = sum(times[stage] for stage in STAGES), 0.0
            for stage in STAGES:
                share = times[stage] / total * 100
                axes.barh(place, share, left=start, height=0.62, **styles.bar(stage))
                start += share
            overlapped = times.get("overlapped")
            note = f"{time_text(total)}" + (f"; overlapped {time_text(overlapped)}" if overlapped else "")
            axes.annotate(note, (0, place + 0.31), xytext=(0, 3), textcoords="offset points", fontsize=9.5, va="bottom")
            names.append(size_text(size))
        axes.set_xlim(0, 100)
        axes.set_ylim(-0.5, len(sizes) - 0.3)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.set_xlabel("per cent of the time, one stage after the other")
        _legend(axes, styles)

    return Panel("", draw, height=54 * len(sizes) + 8, left=64, right=104, columns=1)


def _legend(axes, styles):
    """The stages beside the bars, in their order."""
    height = axes.get_position().height * axes.figure.get_size_inches()[1] * 72
    width = axes.get_position().width * axes.figure.get_size_inches()[0] * 72
    for place, stage in enumerate(STAGES):
        y = 1 - (20 + 20 * place) / height
        axes.add_patch(
            Rectangle(
                (1 + 14 / width, y - 5 / height),
                16 / width,
                11 / height,
                transform=axes.transAxes,
                clip_on=False,
                **styles.bar(stage),
            )
        )
        axes.annotate(
            stage, (1 + 36 / width, y), xycoords="axes fraction", va="center", fontsize=10, annotation_clip=False
        )


def _picture(run):
    results = [r for r in run.measured if r["question"] == "stages"]
    sizes = _by_size(results)
    if not sizes:
        return None
    header = ["file", *STAGES, "sum", "overlapped"]
    rows = [
        [
            size_text(size),
            *(time_text(times[stage]) for stage in STAGES),
            time_text(sum(times[stage] for stage in STAGES)),
            time_text(times["overlapped"]) if "overlapped" in times else "–",
        ]
        for size, times in sizes.items()
    ]
    first = results[0]
    return Picture(
        f"stages-{run.slug}",
        operation_text(first["cipher"], first["operation"]) + " on one GPU",
        "Each stage waits for the one before. Overlapped: the same file by 'stockade raw encrypt --engine cuda', "
        "which runs them side by side.",
        [_panel(sizes)],
        Table(header, rows),
        [run],
    )


def build(runs):
    return [picture for picture in map(_picture, of_kind(runs, "gpu")) if picture]
