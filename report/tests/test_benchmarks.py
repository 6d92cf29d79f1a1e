"""`benchmarks`: the page is what the result files say, and the text between its tables is nobody's but its writer's."""

import pathlib

import pytest
import results

from stockade_report import benchmarks, reader, tables
from stockade_report.__main__ import main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
START = "# Page\n\nBefore.\n\n<!-- machines -->\n\n## Recorded earlier\n\nAfter.\n"


@pytest.fixture(name="place")
def fixture_place(tmp_path):
    """A folder as the project's: docs/page.md and bench/results/."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "bench" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "page.md").write_text(START, encoding="utf-8")
    return tmp_path


def keep(place, name, value):
    return results.write(place / "bench" / "results", name, value)


def update(place, *options):
    files = sorted(map(str, (place / "bench" / "results").iterdir()))
    return main(["benchmarks", *files, "--page", str(place / "docs" / "page.md"), *options])


def page_of(place):
    return (place / "docs" / "page.md").read_text(encoding="utf-8")


def test_the_page_of_the_project_is_what_its_results_say():
    files = sorted(map(str, (ROOT / "bench" / "results").glob("*.json")))
    assert files
    page = ROOT / "docs" / "benchmarks.md"
    assert main(["benchmarks", *files, "--page", str(page), "--check"]) == 0, "run 'make benchmarks'"
    assert "<!-- generated: " in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", results.KINDS)
def test_every_kind_has_a_table(place, kind):
    keep(place, f"box-4-{kind}", results.KINDS[kind]())
    assert update(place) == 0
    page = page_of(place)
    assert f"<!-- generated: box-4-{kind} from bench/results/box-4-{kind}.json -->\n### {tables.title_of(kind)}" in page
    assert " · 2026-03-01 12:00 UTC · commit abcdef012345" in page
    assert "`stockade bench test --json`" in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) > 2
    assert update(place, "--check") == 0


def test_every_kind_that_is_read_has_a_title():
    assert tables.KINDS.keys() >= reader.KEYS.keys()


def test_figures_are_those_of_the_file(place):
    keep(place, "box-4-aes", results.aes())
    keep(place, "box-4-rsa", results.rsa())
    update(place)
    page = page_of(place)
    seal = next(r for r in results.aes()["results"] if r["contender"] == "vaes512" and r["message_bytes"] == 1024)
    ratio = f"{seal['gigabytes_per_second']:.1f} | {seal['ratio_to_openssl']:.2f}×"
    assert f"| AES-256-GCM seal | vaes512 | {ratio} |" in page
    assert "| 4 threads | 1 MiB: GB/s | ratio | over one thread |" in page
    assert "| RSA-2048 sign | ifma | 2,500 | 3,120 (1.25×) | 8,930 (3.57×) | 35,700 (14.3×) |" in page
    # What was not measured is in no table.
    assert "reference" not in page


def test_a_machine_has_one_section_with_its_kinds_in_order(place):
    for kind in ("rsa-keys", "rsa", "aes", "rsa-queue"):
        keep(place, f"box-4-{kind}", results.KINDS[kind]())
    keep(place, "other-2-rsa", results.rsa())
    assert update(place) == 0
    page = page_of(place)
    assert page.count("\n## Test <CPU> & $co$, 4 cores\n") == 2
    order = ["box-4-aes", "box-4-rsa ", "box-4-rsa-queue", "box-4-rsa-keys", "other-2-rsa", "<!-- machines -->", "After."]
    places = [page.index(name if name[0] in "<A" else f"<!-- generated: {name.strip()} ") for name in order]
    assert places == sorted(places)


def test_text_stays_and_figures_change(place):
    keep(place, "box-4-rsa", results.rsa())
    update(place)
    page = page_of(place)
    written = page.replace("<!-- end -->\n", "<!-- end -->\n\nWhy it is so.\n").replace("## Test", "## My box, Test")
    (place / "docs" / "page.md").write_text(written, encoding="utf-8")
    assert update(place, "--check") == 0
    value = results.rsa()
    for result in value["results"]:
        result["operations_per_second"] *= 2
    keep(place, "box-4-rsa", value)
    assert update(place, "--check") == 1
    assert page_of(place) == written
    assert update(place) == 0
    assert "| RSA-2048 sign | ifma | 5,000 |" in page_of(place)
    assert "\nWhy it is so.\n" in page_of(place) and "## My box, Test" in page_of(place)
    # A further file of the machine goes to its section, before the text of others.
    keep(place, "box-4-aes", results.aes())
    keep(place, "box-4-file-disk", results.file())
    assert update(place) == 0
    page = page_of(place)
    assert page.index("box-4-rsa ") < page.index("box-4-aes ") < page.index("<!-- machines -->")
    assert page.count("\n## ") == 2
    assert "### Files: disk\n" in page
    assert update(place, "--check") == 0


def test_a_quick_or_disturbed_run_says_so(place):
    value = results.rsa()
    value["collected"]["command"] += " --quick"
    for result in value["results"]:
        result["on_core"] = 0.5
    keep(place, "box-4-rsa", value)
    update(place)
    assert "A quick run" in page_of(place) and "had its core for 50 % of the time" in page_of(place)


def test_a_block_without_its_file_is_refused(place, capsys):
    keep(place, "box-4-rsa", results.rsa())
    keep(place, "box-4-aes", results.aes())
    update(place)
    (place / "bench" / "results" / "box-4-aes.json").unlink()
    before = page_of(place)
    assert update(place) == 1
    assert "'box-4-aes'" in capsys.readouterr().err
    assert page_of(place) == before


@pytest.mark.parametrize(
    "damage, words",
    [
        (("<!-- machines -->\n", ""), "no line '<!-- machines -->'"),
        (("<!-- end -->\n", ""), "no '<!-- end -->'"),
        ((" from bench/results/box-4-rsa.json -->", ""), "damaged"),
    ],
)
def test_a_damaged_page_is_refused(place, capsys, damage, words):
    keep(place, "box-4-rsa", results.rsa())
    update(place)
    page = page_of(place).replace(*damage)
    (place / "docs" / "page.md").write_text(page, encoding="utf-8")
    assert update(place) == 1
    assert words in capsys.readouterr().err
    assert page_of(place) == page


def test_other_kinds_of_files_are_left_out_and_named(place, capsys):
    keep(place, "box-4-rsa", results.rsa())
    keep(place, "box-4-tune", {**results.rsa(), "schema": "stockade-tune/1"})
    assert update(place) == 0
    assert "box-4-tune.json: unknown schema" in capsys.readouterr().err
    assert "box-4-tune" not in page_of(place)


@pytest.mark.parametrize("bad", ["{", '{"schema": "stockade-bench-rsa/2"}', '{"schema": "stockade-bench-rsa/x"}'])
def test_damaged_and_newer_files_are_refused(place, bad):
    keep(place, "box-4-rsa", results.rsa())
    keep(place, "box-4-aes", bad)
    assert update(place) == 1
    assert page_of(place) == START


def test_the_machine_is_what_comes_before_the_kind(place):
    names = {
        "amd-epyc-2-aes": "amd-epyc-2",
        "nvidia-h200-gpu-four": "nvidia-h200",
        "intel-xeon-16-rsa-queue": "intel-xeon-16",
        "elsewhere": "elsewhere",
    }
    kinds = {"amd-epyc-2-aes": "aes", "nvidia-h200-gpu-four": "gpu", "intel-xeon-16-rsa-queue": "rsa-queue"}
    for name, machine in names.items():
        run = reader.read(keep(place, name, results.KINDS[kinds.get(name, "aes")]()))
        assert benchmarks.machine_of(run) == machine
