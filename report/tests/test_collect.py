"""`collect`: what the commands print is kept with command and commit, and what fails leaves nothing."""

import json
import stat

import results

from stockade_report import reader
from stockade_report.__main__ import main

# Prints the result of each kind that the command line asks for; GPUs are not there.
FAKE = """#!/bin/sh
case "$*" in
  "bench studies --help") echo "usage: stockade bench {studies} ..." ;;
  "bench rsa --help") echo "usage: stockade bench rsa [OPTION ...] {rsa_options}" ;;
  *--help) echo "usage: stockade $1 $2 [OPTION ...] --engine NAME" ;;
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


def fake(tmp_path, gpu=5, rsa_options="--ablation --queue --keys", studies=None, **damaged):
    folder = tmp_path / "prints"
    folder.mkdir()
    for kind, make in results.KINDS.items():
        value = make()
        del value["collected"]
        results.write(folder, kind, damaged.get(kind, value))
    program = folder / "stockade"
    studies = studies or ("studies" if "studies" in results.KINDS else "aes")
    program.write_text(FAKE.format(folder=folder, gpu=gpu, rsa_options=rsa_options, studies=studies), encoding="utf-8")
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


def test_what_the_program_does_not_have_is_skipped(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    out = tmp_path / "results"
    program = fake(tmp_path, rsa_options="--ablation", studies="aes")
    assert main(["collect", "--stockade", str(program), "-o", str(out), "--commit", "", "--name", "box"]) == 0
    err = capsys.readouterr().err
    assert "studies: skipped, stockade has no 'bench studies'" in err
    assert "rsa-queue: skipped, stockade has no 'bench rsa --queue'" in err and "rsa-keys: skipped" in err
    assert "gpu: not on this machine" in err
    assert "mpi: skipped, there is no " in err
    assert sorted(p.name for p in out.iterdir()) == [
        f"box-{kind}.json" for kind in ("aes", "file", "rsa-ablation", "rsa")
    ]
    # What was not asked for is not spoken of.
    assert main(["collect", "--stockade", str(program), "-o", str(out), "--commit", "", "--only", "aes"]) == 0
    assert "skipped" not in capsys.readouterr().err


def test_ranks_where_there_is_mpi(tmp_path, monkeypatch):
    program = fake(tmp_path)
    # Started as `mpirun -n N stockade-mpi bench --json`.
    for name, text in (
        ("mpirun", "#!/bin/sh\nshift 2\nexec \"$@\"\n"),
        ("stockade-mpi", f"#!/bin/sh\ncat {tmp_path}/prints/mpi.json\n"),
    ):
        other = program.with_name(name)
        other.write_text(text, encoding="utf-8")
        other.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(program.with_name(name)))
    out = tmp_path / "results"
    assert main(["collect", "--stockade", str(program), "-o", str(out), "--commit", "", "--only", "mpi"]) == 0
    run = reader.read(out / "test-cpu-co-4-mpi.json")
    assert run.command.startswith("mpirun -n ") and run.command.endswith(" stockade-mpi bench --json")


def test_a_benchmark_that_nobody_knows(tmp_path, capsys):
    program, out = fake(tmp_path), tmp_path / "results"
    assert main(["collect", "--stockade", str(program), "-o", str(out), "--commit", "", "--only", "aes", "rsq"]) == 1
    assert "no benchmark 'rsq': there are aes, rsa" in capsys.readouterr().err
    assert not out.exists()


def test_a_program_that_is_not_there(tmp_path, capsys):
    assert main(["collect", "--stockade", str(tmp_path / "none"), "-o", str(tmp_path / "out"), "--commit", ""]) == 1
    assert "error:" in capsys.readouterr().err
