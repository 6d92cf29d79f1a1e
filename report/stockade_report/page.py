"""The page: one HTML file with everything in it."""

import html
from dataclasses import dataclass

from . import provenance
from .looks import style_sheet_colours
from .pictures import Picture, elements
from .quantities import date_text, figure, size_text, slug
from .sections import SECTIONS

# Longer tables are closed at first.
OPEN_ROWS = 12
STYLE = """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}
main{max-width:1000px;margin:0 auto;padding:1.5rem 20px 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:.4rem 0 .6rem}
h2{font-size:1.4rem;margin:3rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--rule)}
h3{font-size:1.08rem;margin:1.8rem 0 .4rem}
p{margin:.4rem 0 .8rem;max-width:46rem}
a{color:var(--s0)}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;padding:0;margin:.8rem 0}
code{font:.9em ui-monospace,Menlo,Consolas,monospace;background:var(--card);padding:.1em .3em;border-radius:3px;
overflow-wrap:anywhere}
code span{white-space:nowrap}
figure{margin:1rem 0 1.6rem}
figcaption,.source,.missing{color:var(--soft);font-size:.92rem}
.source{margin:.2rem 0 .6rem;max-width:none}
svg{display:block;width:100%;height:auto}
.narrow{display:none}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px;margin:.5rem 0}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .7rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--rule)}
tr:last-child td{border-bottom:0}
th{background:var(--card);font-weight:600}
td.number,th.number{text-align:right}
.facts td{white-space:normal;overflow-wrap:anywhere;min-width:9rem;vertical-align:top}
.facts th{vertical-align:top}
details summary{cursor:pointer;color:var(--s0);font-size:.92rem}
.warning{border-left:4px solid var(--s1);background:var(--card);padding:.6rem .9rem;margin:.8rem 0;max-width:46rem}
.missing{border-left:4px solid var(--rule);padding:.3rem .9rem;margin:.6rem 0}
@media (max-width:640px){main{padding:1rem 14px 3rem}h1{font-size:1.5rem}.wide{display:none}.narrow{display:block}
h2{font-size:1.2rem}}
@media print{.wide{display:block}.narrow{display:none}}
"""

# The page loads nothing; this makes browsers hold it to that.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass
class Page:
    html: str
    pictures: list  # of Picture


def _e(text):
    return html.escape(str(text))


def _is_number(text):
    return text in ("", "–") or text[:1].isdigit() or (text[:1] in "+-[" and text[1:2].isdigit())


def _table(table, title=""):
    columns = len(table.header)
    numeric = [i > 0 and all(_is_number(row[i]) for row in table.rows) for i in range(columns)]

    def cell(tag, i, text):
        return f"<{tag}{' class=number' if numeric[i] else ''}>{_e(text)}</{tag}>"

    head = "".join(
        f'<th scope="col"{" class=number" if numeric[i] else ""}>{_e(text)}</th>' for i, text in enumerate(table.header)
    )
    rows = "".join(
        "<tr>" + "".join(cell("td", i, text) for i, text in enumerate(row)) + "</tr>\n" for row in table.rows
    )
    label = f' aria-label="{_e(title)}"' if title else ""
    return (
        f'<div class="scroll" tabindex="0" role="region"{label}><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _with_data(table, title):
    opened = " open" if len(table.rows) <= OPEN_ROWS else ""
    return (
        f"<details{opened}><summary>The figures: {len(table.rows)} rows</summary>"
        f"{_table(table, 'figures of ' + title)}</details>"
    )


def _source(run):
    # Lines break between words, not at the hyphens of options.
    words = " ".join(f"<span>{_e(word)}</span>" for word in run.command.split())
    command = f"<code>{words}</code>" if words else _e(run.path.name)
    return f'<a href="#run-{run.number}">[{run.number}]</a> {_e(" · ".join(provenance.facts(run)))} · {command}'


def _sources(runs):
    return "".join(f'<p class="source">{_source(run)}</p>' for run in runs)


def _picture(picture):
    title = _e(picture.title)
    wide, narrow = elements(picture)

    def svg(text, kind):
        return text.replace(
            "<svg", f'<svg class="{kind}" role="img" aria-label="{title}; its figures follow as a table"', 1
        )

    return (
        f'<figure id="{_e(picture.name)}"><h3>{title}</h3>{_sources(picture.runs)}{svg(wide, "wide")}'
        f"{svg(narrow, 'narrow')}<figcaption>{_e(picture.caption)}</figcaption>"
        f"{_with_data(picture.table, picture.title)}</figure>"
    )


def _bare_table(run, title, table):
    return f"<h3>{_e(title)}</h3>{_sources([run])}{_with_data(table, title)}"


def _missing(commands):
    return " or ".join(f"<code>{_e(c)}</code>" if c.startswith(("stockade", "mpirun")) else _e(c) for c in commands)


def _disturbed(runs):
    lines = [f"[{run.number}] {provenance.disturbance(run)}" for run in runs if provenance.disturbance(run)]
    if not lines:
        return ""
    return (
        f'<p class="warning"><strong>Not to be relied on.</strong> Something else ran on the machine meanwhile: '
        f"{_e('; '.join(lines))}. Its rates are too low, and even its ratios are doubtful.</p>"
    )


def _setting(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _facts_of(run):
    machine, library = run.machine, run.json["library"]
    caches = ", ".join(
        f"{name} {size_text(machine[key])}"
        for key, name in (("l1d", "L1d"), ("l2", "L2"), ("l3", "L3"))
        if machine[key]
    )
    clock = machine["clock_hz"]
    chosen = ", ".join(f"{row['primitive']}: {row['name']}" for row in run.json["rows"] if row["chosen"])
    facts = [
        ("file", run.path.name),
        ("date", date_text(run.date)),
        ("commit", run.commit or "not recorded"),
        ("command", run.command or "not recorded"),
        ("processor", f"{machine['cpu']}, {machine['cores']} cores"),
        ("threads", str(machine["threads"])),
        ("caches", caches or "unknown"),
        ("clock", f"{figure(clock / 1e9)} GHz, measured" if clock else "unknown"),
        ("system", machine["kernel"]),
        ("stockade", library["version"]),
        ("build", library["build"]),
        ("rows chosen", chosen or "none"),
    ]
    for gpu in run.json.get("gpus", []):
        facts.append(("GPU", ", ".join(f"{k} {v}" for k, v in gpu.items() if v is not None)))
    for name in ("peer", "driver", "cuda", "peers", "mpi"):
        value = run.json.get(name)
        if value:
            facts.append(
                (
                    name,
                    ", ".join(f"{k} {figure(v) if isinstance(v, float) else v}" for k, v in value.items())
                    if isinstance(value, dict)
                    else str(value),
                )
            )
    if run.json["environment"]:
        facts.append(("environment", " ".join(map(str, run.json["environment"]))))
    facts.append(("settings", ", ".join(f"{name} {_setting(value)}" for name, value in run.json["settings"].items())))
    share = run.share_on_core()
    if share is not None:
        facts.append(("had its core for", f"{share * 100:.0f} % of the time"))
    return facts


def _machines(runs):
    parts = []
    for run in runs:
        rows = "".join(
            f'<tr><th scope="row">{_e(name)}</th><td>{_e(value)}</td></tr>' for name, value in _facts_of(run)
        )
        parts.append(
            f'<h3 id="run-{run.number}">[{run.number}] {_e(run.kind)}: {_e(run.path.name)}</h3>'
            f'<div class="scroll facts"><table><tbody>{rows}</tbody></table></div>'
        )
    return "".join(parts)


def _number(runs):
    """Gives every run its number, and a short name that no other has."""
    used = set()
    for number, run in enumerate(runs, 1):
        run.number = number
        name = slug(run.path.stem) or "run"
        run.slug = name if name not in used else f"{name}-{number}"
        used.add(run.slug)


def make(runs):
    """The page of these runs."""
    _number(runs)
    body, titles, missing, pictures = [], [], [], []
    for section in SECTIONS:
        parts = section.build(runs)
        if not parts:
            missing.append(
                f'<p class="missing">Not here: {_e(section.TITLE.lower())}. It needs what '
                f"{_missing(section.COMMANDS)} prints.</p>"
            )
            continue
        name = slug(section.TITLE)
        titles.append((name, section.TITLE))
        body.append(f'<h2 id="{name}">{_e(section.TITLE)}</h2>')
        for part in parts:
            if isinstance(part, Picture):
                pictures.append(part)
                body.append(_picture(part))
            else:
                body.append(_bare_table(*part))
    titles.append(("machines", "Machines and runs"))
    links = "".join(f'<li><a href="#{name}">{_e(title)}</a></li>' for name, title in titles)
    text = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>Stockade: benchmark report</title>
<style>{style_sheet_colours()}{STYLE}</style></head>
<body><main>
<h1>Stockade: benchmark report</h1>
<p>Every figure was measured by <code>stockade bench</code> beside its peers in the same run; a number in brackets
says which run, and <a href="#machines">below</a> is on which machine, when and from which commit. GB is
10<sup>9</sup> bytes.</p>
{_disturbed(runs)}
<nav aria-label="Sections"><ul>{links}</ul></nav>
{"".join(body)}
<h2 id="machines">Machines and runs</h2>
{_machines(runs)}
{"<h2>What is not here</h2>" + "".join(missing) if missing else ""}
</main></body></html>
"""
    return Page(text, pictures)
