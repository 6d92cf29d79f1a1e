"""A picture: panels that matplotlib draws, in two widths, and the table of what they show."""

import contextlib
import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from . import provenance
from .looks import LIGHT, Styles, with_variables
from .quantities import figure as figure_text
from .quantities import size_text

# One unit is a point of matplotlib and, at full size, a pixel of the page.
WIDE, NARROW = 960, 350
TOP, BOTTOM = 34, 46
NO_TITLE = 8
FOOTER = 15
CHARACTER = 6.1

SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "stockade",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.edgecolor": LIGHT["soft"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.facecolor": LIGHT["paper"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LIGHT["rule"],
    "grid.linewidth": 0.8,
    "xtick.color": LIGHT["soft"],
    "ytick.color": LIGHT["soft"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "text.color": LIGHT["ink"],
    "hatch.linewidth": 1.0,
}


@dataclass
class Panel:
    title: str
    draw: Callable  # (axes, styles)
    height: int = 190  # without title and labels
    left: int = 56
    right: int = 16
    columns: int = 2  # on a wide page, of all panels of the picture


@dataclass
class Table:
    header: list
    rows: list  # of texts


@dataclass
class Picture:
    name: str  # of its files
    title: str
    caption: str
    panels: list
    table: Table
    runs: list = field(default_factory=list)  # that its figures come from


def _figure(picture, width, columns, footer=()):
    """`footer`: lines of text below the panels."""
    panels = picture.panels
    rows = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    tops = [TOP if any(p.title for p in row) else NO_TITLE for row in rows]
    heights = [max(p.height for p in row) + top + BOTTOM for row, top in zip(rows, tops)]
    total = sum(heights) + FOOTER * len(footer)
    figure = Figure(figsize=(width / 72, total / 72), facecolor=LIGHT["paper"])
    FigureCanvasAgg(figure)
    styles = Styles()
    above = total
    for row, top, height in zip(rows, tops, heights):
        cell = width / columns
        for column, panel in enumerate(row):
            x, inner = column * cell + panel.left, cell - panel.left - panel.right
            axes = figure.add_axes(
                (x / width, (above - top - panel.height) / total, inner / width, panel.height / total)
            )
            panel.draw(axes, styles)
            axes.text(
                4 - panel.left,
                panel.height + 12,
                panel.title,
                transform=_units(figure, axes),
                weight="bold",
                clip_on=False,
            )
        above -= height
    for place, text in enumerate(reversed(footer)):
        figure.text(4 / width, (5 + FOOTER * place) / total, text, fontsize=9, color=LIGHT["soft"])
    return figure


def _units(figure, axes):
    """From units, counted from the lower left corner of the axes."""
    corner = axes.get_position()
    width, height = figure.get_size_inches() * 72
    return (
        matplotlib.transforms.Affine2D().scale(1 / width, 1 / height).translate(corner.x0, corner.y0)
        + figure.transFigure
    )


def _svg(figure):
    file = io.StringIO()
    figure.savefig(file, format="svg", facecolor=LIGHT["paper"], metadata={"Date": None, "Creator": None})
    return file.getvalue()


def _for_page(svg, prefix):
    """A standalone SVG as an element of the page: names of its own, colours from the style sheet, no name spaces."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}\1"', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    svg = re.sub(r'(<svg\b[^>]*?)\swidth="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?)\sheight="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
    return with_variables(re.sub(r"\n\s*", "\n", svg))


@contextlib.contextmanager
def _settings():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def files(picture):
    """The picture by itself, with a line on each of its runs: (SVG, PNG)."""
    with _settings():
        footer = [provenance.line(run) for run in picture.runs]
        figure = _figure(picture, WIDE, picture.panels[0].columns, footer)
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=144, facecolor=LIGHT["paper"], metadata={"Software": None})
        return _svg(figure), png.getvalue()


def elements(picture):
    """The picture for the page: (wide, narrow), both SVG elements."""
    with _settings():
        return (
            _for_page(_svg(_figure(picture, WIDE, picture.panels[0].columns)), f"{picture.name}-w-"),
            _for_page(_svg(_figure(picture, NARROW, 1)), f"{picture.name}-n-"),
        )


# ---- what panels are made of ----


def label_room(names):
    """Units for names beside the ends of lines."""
    return int(max(map(len, names)) * CHARACTER) + 16


def short_number(value):
    """20000: "20 k", for the narrow space beside an axis."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.6g}{name}"
    return f"{value:.6g}"


def plain_log(axis):
    """A logarithmic axis with 0.1, 1, 10 at it, and 2 and 5 between them where it is short."""
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.2 else (1,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def wide_enough(axis, least=4.0):
    """At least this factor from one end of a logarithmic axis to the other, so that noise does not look like hills."""
    low, high = sorted(axis.get_view_interval())
    if high / low < least:
        middle, half = math.sqrt(low * high), math.sqrt(least)
        axis.set_view_interval(middle / half, middle * half, ignore=True)


def size_axis(axes, sizes, text=size_text):
    """Sizes on a logarithmic axis, as many of them labelled as there is room for."""
    axes.set_xscale("log", base=2)
    sizes = sorted(set(sizes))
    room = max(2, int(axes.get_position().width * axes.figure.get_size_inches()[0] * 72 / 58))
    step = math.ceil(len(sizes) / room)
    axes.xaxis.set_major_locator(FixedLocator(sizes[::step]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(int(value))))


def label_ends(axes, ends, styles, gap=13.0):
    """Names to the right of the axes, each as close to the end of its line as the others let it.

    ends: (y in data, name)
    """
    height = axes.get_position().height * axes.figure.get_size_inches()[1] * 72
    to_axes = axes.transData + axes.transAxes.inverted()
    x = sum(axes.get_xlim()) / 2
    places = sorted((to_axes.transform((x, y))[1] * height, name) for y, name in ends)
    ys = [place for place, _ in places]
    for _ in range(200):
        moved = False
        for i in range(1, len(ys)):
            overlap = gap - (ys[i] - ys[i - 1])
            if overlap > 0.01:
                ys[i - 1] -= overlap / 2
                ys[i] += overlap / 2
                moved = True
        shift = max(0.0, -4 - ys[0])
        ys = [y + shift for y in ys]
        if not moved:
            break
    width = axes.get_position().width * axes.figure.get_size_inches()[0] * 72
    for (_, name), y in zip(places, ys):
        axes.annotate(
            name,
            (1 + 8 / width, y / height),
            xycoords="axes fraction",
            va="center",
            fontsize=10,
            color=styles.colour(name),
            annotation_clip=False,
        )


def lines(axes, styles, series, x_text=size_text, spread=None):
    """Lines on two logarithmic axes with their names at their ends.

    series: {name: [(x, y), ...]}; spread: {name: [(low, high), ...]} in y, drawn as thin strokes.
    """
    axes.set_yscale("log")
    for name, points in series.items():
        points = sorted(points)
        axes.plot([x for x, _ in points], [y for _, y in points], **styles.line(name))
    low, high = axes.get_ylim()
    for name, strokes in (spread or {}).items():
        for (x, _), (bottom, top) in zip(series[name], strokes):
            axes.plot([x, x], [max(bottom, low), min(top, high)], color=styles.colour(name), linewidth=0.8, alpha=0.55)
    axes.set_ylim(low, high)
    size_axis(axes, [x for points in series.values() for x, _ in points], x_text)
    wide_enough(axes.yaxis)
    plain_log(axes.yaxis)
    label_ends(axes, [(max(points)[1], name) for name, points in series.items()], styles)


def bars(axes, styles, values, label):
    """Horizontal bars from 0 with their values behind them, the first on top.

    values: [(name, value, look)], where look picks colour and hatch
    """
    _rows_of_bars(axes, styles, values, label, 0)
    axes.set_xlim(0, max(value for _, value, _ in values) * 1.22)


def ratio_bars(axes, styles, values, label):
    """The same on a logarithmic axis from 1: to the right what is more, to the left what is less."""
    axes.set_xscale("log")
    _rows_of_bars(axes, styles, values, label, 1)
    ratios = [value for _, value, _ in values]
    axes.set_xlim(min(0.8, *ratios) / 1.25, max(1.25, *ratios) * 1.7)
    plain_log(axes.xaxis)
    axes.axvline(1, color=LIGHT["ink"], linewidth=1.2)


def _rows_of_bars(axes, styles, values, label, start):
    count = len(values)
    for place, (_, value, look) in enumerate(values):
        y = count - 1 - place
        axes.barh(y, value - start, left=start, height=0.66, **styles.bar(look))
        axes.annotate(
            label(value),
            (max(value, start), y),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
            annotation_clip=False,
        )
    axes.set_ylim(-0.6, count - 0.4)
    axes.set_yticks([count - 1 - place for place in range(count)], [name for name, _, _ in values])
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def bar_room(names):
    """Units for names in front of bars."""
    return int(max(map(len, names)) * CHARACTER) + 22


def times_text(value):
    return f"{figure_text(value)}×"
