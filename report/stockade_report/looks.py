"""How pictures look: colours for light and dark, and a marker and dashes for each line, so that none needs its colour.

Pictures are drawn in the light colours. On the page these are exchanged for variables of the style sheet, which knows
both.
"""

import re

# name: (light, dark)
COLOURS = {
    "ink": ("#1f2328", "#e6e9ed"),
    "soft": ("#57606a", "#a2acb8"),
    "rule": ("#d5dae0", "#363e48"),
    "paper": ("#fefefe", "#161a20"),
    "card": ("#f5f7f9", "#1d222a"),
    "s0": ("#0b62b8", "#6cb0ff"),
    "s1": ("#b8470b", "#ff9a5c"),
    "s2": ("#0d7a55", "#4fd1a1"),
    "s3": ("#8a3fa0", "#d79be8"),
    "s4": ("#806200", "#e3c04a"),
    "s5": ("#b01e4b", "#ff8aa8"),
    "s6": ("#0a7385", "#5fd0e0"),
    "s7": ("#4a5560", "#c0c9d3"),
}
LIGHT = {name: pair[0] for name, pair in COLOURS.items()}

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ((None, None), (6, 2), (2, 1.5), (7, 2, 1.5, 2), (4, 1.5, 1, 1.5, 1, 1.5), (10, 3), (3, 3), (1, 1))
HATCHES = ("", "///", "xxx", "---", "|||", "\\\\\\", "+++", "//")
SERIES = 8

# From few to many. Cells have their value in them as well; the text's colour goes with the cell, in light and dark.
STEPS = ("#f2f0e4", "#d8e3c0", "#a9d0b4", "#6bb5b0", "#3c91a6", "#2a6b94", "#274778", "#1f2850")


class Styles:
    """A colour, a marker and dashes for each name, in the order in which names come."""

    # Who is measured against keeps one look on all pictures.
    PEERS = {"openssl": ("soft", "x", (3, 2)), "memcpy": ("soft", "+", (1, 2)), "ideal": ("soft", "", (1, 2))}

    def __init__(self):
        self.names = {}

    def number(self, name):
        return self.names.setdefault(name, len(self.names)) % SERIES

    @staticmethod
    def _peer(name):
        return name.split(", ")[0] if name.endswith(" threads") else name

    def colour(self, name):
        peer = self.PEERS.get(self._peer(name))
        return LIGHT[peer[0]] if peer else LIGHT[f"s{self.number(name)}"]

    def line(self, name):
        """What matplotlib wants of a line."""
        if self._peer(name) in self.PEERS:
            _, marker, dashes = self.PEERS[self._peer(name)]
        else:
            marker, dashes = MARKERS[self.number(name)], DASHES[self.number(name)]
        look = {
            "color": self.colour(name),
            "marker": marker,
            "linewidth": 1.8,
            "markersize": 5.5,
            "markerfacecolor": LIGHT["paper"],
            "markeredgewidth": 1.5,
        }
        if dashes[0] is not None:
            look["dashes"] = dashes
        return look

    def bar(self, name):
        colour = self.colour(name)
        return {
            "facecolor": LIGHT["paper"] if self.hatch(name) else colour,
            "edgecolor": colour,
            "hatch": self.hatch(name),
            "linewidth": 1.2,
        }

    def hatch(self, name):
        return HATCHES[self.number(name)]


def style_sheet_colours():
    """The variables, for the style sheet of the page."""

    def block(which):
        return "".join(f"--{name}:{pair[which]};" for name, pair in COLOURS.items())

    return f":root{{color-scheme:light dark;{block(0)}}}@media (prefers-color-scheme:dark){{:root{{{block(1)}}}}}"


def with_variables(svg):
    """The light colours of a picture, as variables of the style sheet."""
    names = {pair[0]: name for name, pair in COLOURS.items()}
    return re.sub(r"#[0-9a-f]{6}\b", lambda m: f"var(--{names[m[0]]})" if m[0] in names else m[0], svg)
