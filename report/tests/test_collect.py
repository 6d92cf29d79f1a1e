"""`collect`: what the commands print is kept with command and commit, and what fails leaves nothing."""

import json
import stat

import results

from stockade_report import reader
from stockade_report.__main__ import main

# Prints the result of each kind that the command line asks for; GPUs are not there.
FAKE = """#!/bin/sh
case "$*" in
  *cuda*) exit {gpu} ;;
  *--ablation*) cat {folder}/rsa-ablation.json ;;
  *--queue*) cat {folder}/rsa-queue.json ;;
  *--keys*) cat {folder}/rsa-keys.json ;;
  "bench rsa"*) cat {folder}/rsa.json ;;
  "bench studies"*) cat {folder}/studies.json ;;
  "bench file"*) cat {folder}/file.json ;;
  "bench aes"*) cat {folder}/aes.json ;;
  *) exit 2 ;;
esac
"""


def fake(tmp_path, gpu=5, **damaged):
    folder = tmp_path / "prints"
    folder.mkdir()
    for kind, make in results.KINDS.items():
        value = make()
        del value["collected"]
        results.write(folder, kind, damaged.get(kind, value))
    program = folder / "stockade"
    program.write_text(FAKE.format(folder=folder, gpu=gpu), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_keeps_what_each_prints(tmp_path):
    out = tmp_path / "results"
    assert main(["collect", "--stockade", str(fake(tmp_path)), "-o", str(out), "--commit", "c0ffee", "--quick"]) == 0
    name = "test-cpu-co-4"
    kinds = ["aes", "file", "rsa", "rsa-ablation", "rsa-keys", "rsa-queue", "studies"]
    assert sorted(p.name for p in out.iterdir()) == sorted(f"{name}-{kind}.json" for kind in kinds)
    run = reader.read(out / f"{name}-aes.json")
    assert run.results == results.aes()["results"]
    assert run.commit == "c0ffee"
    assert run.command == "stockade bench aes --json --quick"


def test_some_only_and_another_name(tmp_path):
    out = tmp_path / "results"
    assert (
        main(
            [
                "collect",
                "--stockade",
                str(fake(tmp_path)),
                "-o",
                str(out),
                "--commit",
                "",
                "--name",
                "box",
                "--only",
                "rsa-keys",
                "file",
            ]
        )
        == 0
    )
    assert sorted(p.name for p in out.iterdir()) == ["box-file.json", "box-rsa-keys.json"]
    assert json.loads((out / "box-file.json").read_text())["collected"]["command"] == "stockade bench file --json"


def test_what_fails_is_told_and_leaves_the_old_file(tmp_path, capsys):
    out = tmp_path / "results"
    out.mkdir()
    (out / "box-rsa.json").write_text("old", encoding="utf-8")
    program = fake(tmp_path, gpu=1, rsa="{}", aes="no json")
    assert main(["collect", "--stockade", str(program), "-o", str(out), "--commit", "", "--name", "box"]) == 1
    err = capsys.readouterr().err
    assert "gpu: failed with status 1" in err and "rsa:" in err and "aes:" in err
    assert (out / "box-rsa.json").read_text() == "old"
    assert not (out / "box-aes.json").exists()
    assert (out / "box-file.json").exists()
    assert not [p for p in out.iterdir() if p.name.startswith(".")]


def test_a_program_that_is_not_there(tmp_path, capsys):
    assert main(["collect", "--stockade", str(tmp_path / "none"), "-o", str(tmp_path / "out"), "--commit", ""]) == 1
    assert "error:" in capsys.readouterr().err
