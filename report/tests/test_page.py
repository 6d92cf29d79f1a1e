"""The page: every section from small files, in one file, with a table for each picture."""

import html.parser
import re
import xml.etree.ElementTree

import pytest
import results

from stockade_report import page, pictures, reader, sections
from stockade_report.__main__ import main


def runs_of(tmp_path, kinds):
    return [reader.read(results.write(tmp_path, kind, results.KINDS[kind]())) for kind in kinds]


@pytest.fixture(name="whole", scope="module")
def fixture_whole(tmp_path_factory):
    return page.make(runs_of(tmp_path_factory.mktemp("results"), results.KINDS))


class Outline(html.parser.HTMLParser):
    """Elements with their attributes, and whether all are closed in their order."""

    VOID = {"meta", "br", "link", "img"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.ids = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


# What is drawn from which kind alone.
PICTURES = {
    "aes": ["ratios-", "throughput-aes", "speedup-aes", "threads-aes"],
    "gpu": ["throughput-device-gpu", "throughput-host-gpu", "speedup-gpu-gpu", "stages-gpu"],
    "rsa": ["ratios-", "batches-rsa", "threads-rsa"],
    "rsa-queue": ["queue-rsa-queue"],
    "rsa-keys": [],
    "rsa-ablation": ["ablation-rsa-ablation"],
    "file": ["ratios-", "files-file"],
    "mpi": ["ranks-mpi"],
    "studies": [
        "launch-studies",
        "studies-s1-modes-studies",
        "studies-s3-engines-studies",
        "studies-s3-tables-studies",
        "studies-s5-ablation-studies",
    ],
}
TABLES = {"rsa-keys": "Making keys, and loading them", "rsa-ablation": "The parts of a decryption", "mpi": "many ranks", "studies": "S4: a file, stage by stage"}


@pytest.mark.parametrize("kind", results.KINDS)
def test_sections_of_each_kind(tmp_path, kind):
    made = page.make(runs_of(tmp_path, [kind]))
    assert len(made.pictures) == len(PICTURES[kind])
    for picture, start in zip(made.pictures, PICTURES[kind]):
        assert picture.name.startswith(start)
    assert TABLES.get(kind, "") in made.html
    # The other sections are named; the machines have a heading of the same kind.
    shown = made.html.count('<h2 id="') - 1
    assert shown > 0
    assert made.html.count('class="missing"') == len(sections.SECTIONS) - shown


def test_all_sections_together(whole):
    assert [p.name.split("-")[0] for p in whole.pictures] == [
        "ratios",
        "throughput",
        "throughput",
        "throughput",
        "speedup",
        "speedup",
        "launch",
        "stages",
        "files",
        "ablation",
        "batches",
        "queue",
        "threads",
        "threads",
        "ranks",
        "studies",
        "studies",
        "studies",
        "studies",
    ]
    assert "What is not here" not in whole.html


def test_missing_sections_name_their_commands(tmp_path):
    made = page.make(runs_of(tmp_path, ["aes"]))
    for command in (
        "stockade bench file --json",
        "stockade bench rsa --ablation --json",
        "stockade bench aes --engine cuda --only stages --json",
        "stockade bench studies --json",
        "stockade bench studies --only s2 --json",
    ):
        assert f"<code>{command}</code>" in made.html


def test_every_picture_has_a_table_of_its_figures(whole):
    figures = re.findall(r"<figure.*?</figure>", whole.html, flags=re.DOTALL)
    assert len(figures) == len(whole.pictures)
    for text, picture in zip(figures, whole.pictures):
        assert text.count("<svg") == 2 and text.count('role="img"') == 2
        assert text.count("<table>") == 1
        assert text.count("<tr>") == len(picture.table.rows) + 1 > 1
        assert all(len(row) == len(picture.table.header) for row in picture.table.rows)


def test_every_figure_names_its_run(whole):
    for text in re.findall(r"<figure.*?</figure>", whole.html, flags=re.DOTALL):
        assert "2026-03-01 12:00 UTC" in text and "commit abcdef012345" in text and "Test &lt;CPU&gt;" in text


def test_the_page_needs_nothing_else(whole):
    outline = Outline(whole.html)
    loading = {"src", "srcset", "data", "poster", "action", "background", "xlink:href"}
    for tag, attributes in outline.elements:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base"}
        assert not loading & set(attributes)
        if tag != "a" and "href" in attributes:
            assert attributes["href"].startswith("#")
    assert "@import" not in whole.html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", whole.html))
    assert not re.findall(r"https?://", re.sub(r'<a href="https?://[^"]*"', "", whole.html))


def test_the_page_is_well_formed_and_its_references_hold(whole):
    outline = Outline(whole.html)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    targets = re.findall(r'href="#([^"]*)"', whole.html) + re.findall(r"url\(#([^)]*)\)", whole.html)
    assert targets and set(targets) <= set(outline.ids)


def test_texts_of_files_are_never_markup(tmp_path):
    value = results.aes()
    evil = '<script>alert("x")</script>'
    value["machine"]["cpu"] = evil
    value["peer"] = evil
    value["collected"]["command"] = evil
    for result in value["results"]:
        if result["contender"] == "vaes512":
            result["contender"] = evil
    made = page.make([reader.read(results.write(tmp_path, "evil", value))])
    assert "<script" not in made.html
    assert "&lt;script&gt;" in made.html


def test_light_dark_and_narrow(whole):
    assert "prefers-color-scheme:dark" in whole.html
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in whole.html
    assert "overflow-x:auto" in whole.html and "max-width:640px" in whole.html
    # Ink, paper and the colours of lines are variables inside of the pictures.
    for element in re.findall(r"<svg.*?</svg>", whole.html, flags=re.DOTALL):
        assert "var(--ink)" in element and "var(--paper)" in element
        assert "#1f2328" not in element


def test_colours_have_contrast():
    """WCAG 2.1: 4.5 for text, on paper and in both schemes."""
    from stockade_report.looks import COLOURS

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name, pair in COLOURS.items():
        if name in ("rule", "paper", "card"):
            continue
        for scheme in (0, 1):
            light, dark = sorted((luminance(pair[scheme]), luminance(COLOURS["paper"][scheme])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, scheme)


def test_no_two_lines_or_bars_look_alike_without_colour():
    from stockade_report.looks import DASHES, HATCHES, MARKERS, SERIES

    assert len(set(zip(MARKERS, DASHES))) == len(set(DASHES)) == len(set(MARKERS)) == len(set(HATCHES)) == SERIES


def test_a_disturbed_run_is_marked(tmp_path):
    value = results.aes()
    for result in value["results"]:
        if result["measured"]:
            result["on_core"] = 0.5
    assert "had its core for 50 % of the time" in page.make([reader.read(results.write(tmp_path, "busy", value))]).html
    assert "Not to be relied on" not in page.make(runs_of(tmp_path, ["aes"])).html


def test_two_files_of_one_name(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        results.write(tmp_path / folder, "same", results.aes())
    made = page.make([reader.read(tmp_path / folder / "same.json") for folder in ("a", "b")])
    names = [picture.name for picture in made.pictures]
    assert len(set(names)) == len(names)


def test_losses_are_shown(whole):
    ratios = whole.pictures[0].table
    what, ratio, outcome = (ratios.header.index(name) for name in ("what", "ratio", "Stockade is"))
    found = {row[what]: (row[ratio], row[outcome]) for row in ratios.rows}
    assert found["AES-256-CBC encrypt"] == ("0.909×", "slower")
    assert found["AES-256-GCM seal"][1] == "faster"


def test_gain_of_the_best_block_over_the_mean(whole):
    table = next(p for p in whole.pictures if p.name == "launch-studies").table
    assert [row[table.header.index("best block")] for row in table.rows] == ["512"] * 5
    assert [row[table.header.index("gain over mean")] for row in table.rows] == ["+12.0 %"] * 5
    assert [row[table.header.index("gain over worst")] for row in table.rows] == ["-1.0 %"] * 5


def test_studies_keep_the_lines_of_what_is_not_there(whole):
    table = next(p for p in whole.pictures if p.name == "studies-s1-modes-studies").table
    lines = {row[1]: row[2:] for row in table.rows}
    assert table.header[2:] == ["256 B", "16 KiB", "1 MiB", "–: why"]
    assert lines["cuda"] == ["–", "–", "–", "not available: no GPU is present"]
    assert lines["textbook"] == ["3.20 µs", "205 µs", "–", "would take 9000 ms; the limit is 500 ms"]
    assert lines["one core"][0] == "128 ns (7.50×)" and lines["one core"][2] == "117 µs (~7.50×)"
    assert "all cores, 4 threads" in lines
    for text in (
        "S3: where the time goes on a GPU",
        "S3: serial, threads, MPI",
        "S4: a file, stage by stage",
        "S5: sums of numbers",
        "S5: the parts of a decryption",
        "S5: RSA-2048 decryption",
    ):
        assert text in whole.html


def test_a_study_without_a_gpu_has_its_tables(tmp_path):
    value = results.studies()
    value["results"] = [r for r in value["results"] if r["study"] == "s3" and r["table"] == "profile"]
    del value["ablation"], value["gains"]
    made = page.make([reader.read(results.write(tmp_path, "none", value))])
    assert not made.pictures
    assert "not available: no GPU is present" in made.html


def test_pictures_are_the_same_each_time(whole):
    picture = whole.pictures[0]
    svg, png = pictures.files(picture)
    assert (svg, png) == pictures.files(picture)
    assert xml.etree.ElementTree.fromstring(svg).tag.endswith("svg")
    assert png.startswith(b"\x89PNG")
    assert "var(" not in svg


# ---- the command ----


def test_writes_page_and_pictures(tmp_path):
    source = results.write(tmp_path, "rsa-ablation", results.rsa_ablation())
    out, folder = tmp_path / "deep" / "page.html", tmp_path / "pictures"
    assert main([str(source), "-o", str(out), "--pictures", str(folder)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert sorted(p.name for p in folder.iterdir()) == ["ablation-rsa-ablation.png", "ablation-rsa-ablation.svg"]


@pytest.mark.parametrize("bad", ["{", '{"schema": "stockade-bench-aes/9"}', '{"schema": "unknown"}', "{}"])
def test_a_bad_file_among_good_ones_writes_nothing(tmp_path, capsys, bad):
    good, damaged = results.write(tmp_path, "good", results.rsa()), results.write(tmp_path, "bad", bad)
    out, folder = tmp_path / "page.html", tmp_path / "pictures"
    out.write_text("old", encoding="utf-8")
    assert main([str(good), str(damaged), "-o", str(out), "--pictures", str(folder)]) == 1
    assert str(damaged) in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "old"
    assert not folder.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "good.json", "page.html"]


def test_a_page_that_cannot_be_written(tmp_path, capsys):
    source = results.write(tmp_path, "rsa", results.rsa())
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main([str(source), "-o", str(tmp_path / "file" / "page.html")]) == 1
    assert "error:" in capsys.readouterr().err


def test_no_files_is_a_wrong_command_line():
    with pytest.raises(SystemExit) as end:
        main(["-o", "page.html"])
    assert end.value.code == 2
