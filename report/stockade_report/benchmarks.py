"""Brings docs/benchmarks.md to what the result files say.

The page belongs to whoever writes it, but for blocks between `<!-- generated: NAME from FILE -->` and `<!-- end -->`:
each is one result file, NAME is MACHINE-WHAT as the file is called. Text may stand between blocks, and stays. A file
that has no block yet gets one behind the last of its machine, or in a section of its own at the line `<!-- machines -->`.
"""

import os
import pathlib
import re

from . import provenance, tables
from .reader import Refused

BLOCK = re.compile(r"<!-- generated: (\S+) from [^\n]*? -->\n.*?<!-- end -->\n", re.DOTALL)
PLACE = "<!-- machines -->\n"


def machine_of(run):
    """MACHINE of a file MACHINE-WHAT.json; what follows WHAT tells several of a kind apart."""
    stem = run.path.stem
    place = stem.find(f"-{run.kind}")
    return stem[:place] if place > 0 else stem


def _heading(runs):
    machine = runs[0].machine
    gpus = sorted({gpu.get("name", "") for run in runs for gpu in run.json.get("gpus", []) if isinstance(gpu, dict)})
    return ", ".join([machine["cpu"], f"{machine['cores']} cores", *gpus])


def _source(run):
    peers = run.json.get("peer") or ", ".join(
        f"{name} {version}" for name, version in run.json.get("peers", {}).items() if version != "not installed"
    )
    parts = [*provenance.facts(run), *([peers] if peers else [])]
    if run.json["environment"]:
        parts.append(" ".join(run.json["environment"]))
    parts.append(f"`{run.command}`" if run.command else "command not recorded")
    lines = [" · ".join(parts)]
    if "--quick" in run.command.split():
        lines.append("A quick run: few and short samples, so coarse.")
    if provenance.disturbance(run):
        lines.append(f"Not to be relied on: something else ran meanwhile, and it {provenance.disturbance(run)}.")
    return "  \n".join(lines)


def block(run, root):
    """What stands in the page for a run; `root` is the folder that names of files begin at."""
    stem = run.path.stem
    name = pathlib.PurePath(os.path.relpath(run.path, root)).as_posix()
    variant = stem.partition(f"-{run.kind}")[2].strip("-").replace("-", " ")
    title = tables.title_of(run.kind) + (f": {variant}" if variant else "")
    parts = [f"### {title}", _source(run)]
    for table in tables.tables_of(run):
        parts += [*([f"{table.title}:"] if table.title else []), tables.markdown(table)]
    body = "\n\n".join(parts)
    return f"<!-- generated: {stem} from {name} -->\n{body}\n<!-- end -->\n"


def _in_order(runs):
    order = list(tables.KINDS)
    return sorted(runs, key=lambda run: (order.index(run.kind), run.path.stem))


def _machines(runs):
    """Runs by machine, in the order of the kinds."""
    found = {}
    for run in sorted(runs, key=lambda run: run.path.stem):
        found.setdefault(machine_of(run), []).append(run)
    return {name: _in_order(some) for name, some in found.items()}


def _insert(page, blocks, runs):
    """The page with a block for each of these runs of one machine."""
    there = list(BLOCK.finditer(page))
    names = {run.path.stem for run in runs}
    missing = "\n".join(blocks[run.path.stem] for run in runs if f"<!-- generated: {run.path.stem} from " not in page)
    if not missing:
        return page
    own = [found for found in there if found[1] in names]
    if own:
        at = own[-1].end()
        return page[:at] + "\n" + missing + page[at:]
    at = page.index(PLACE)
    return page[:at] + f"## {_heading(runs)}\n\n{missing}\n" + page[at:]


def rewritten(page, runs, root):
    """The text of the page with every run in it. Throws Refused."""
    stems = [run.path.stem for run in runs]
    twice = {stem for stem in stems if stems.count(stem) > 1}
    if twice:
        raise Refused(f"two result files are called {', '.join(sorted(twice))}")
    if PLACE not in page:
        raise Refused(f"the page has no line '{PLACE.strip()}', where sections of further machines go")
    if page.count("<!-- generated: ") != len(BLOCK.findall(page)):
        raise Refused("a block of the page has no '<!-- end -->', or its first line is damaged")
    blocks = {run.path.stem: block(run, root) for run in runs}
    for name in BLOCK.findall(page):
        if name not in blocks:
            raise Refused(f"the page has a block of '{name}', and no such result file was given: take it out")
    page = BLOCK.sub(lambda found: blocks[found[1]], page)
    for some in _machines(runs).values():
        page = _insert(page, blocks, some)
    return page
