"""Result files: all kinds are read, and what is wrong is refused with its place."""

import json

import pytest
import results

from stockade_report import reader


@pytest.mark.parametrize("kind", results.KINDS)
def test_reads_every_kind(tmp_path, kind):
    value = results.KINDS[kind]()
    run = reader.read(results.write(tmp_path, kind, value))
    assert run.kind == kind
    assert run.date == "2026-03-01T12:00:00Z"
    assert run.commit == "abcdef012345"
    assert run.command == "stockade bench test --json"
    assert len(run.results) == len(value["ablation"]["layers"] if kind == "rsa-ablation" else value["results"])
    assert len(run.measured) > 0


def test_commit_may_be_unknown(tmp_path):
    value = results.aes()
    del value["collected"]
    run = reader.read(results.write(tmp_path, "a", value))
    assert (run.commit, run.command) == ("", "")


def test_what_was_not_measured_is_kept_apart(tmp_path):
    run = reader.read(results.write(tmp_path, "a", results.aes()))
    assert len(run.results) == len(run.measured) + 1
    assert run.results[-1] not in run.measured


def test_share_on_core_is_that_of_the_file(tmp_path):
    run = reader.read(results.write(tmp_path, "a", results.aes()))
    assert 0.99 < run.share_on_core() < 1


def test_files_of_earlier_commits_have_no_spread_of_keys_and_of_the_queue(tmp_path):
    for make in (results.rsa_keys, results.rsa_queue):
        value = make()
        for result in value["results"]:
            for name in [name for name in result if name == "arrivals" or name.endswith(("_low", "_high"))]:
                del result[name]
        assert len(reader.read(results.write(tmp_path, "old", value)).measured) > 0


@pytest.mark.parametrize(
    "make, name", [(results.rsa_keys, "seconds_low"), (results.rsa_queue, "latency_seconds_p99_high")]
)
def test_a_spread_that_is_there_is_checked(tmp_path, make, name):
    value = make()
    value["results"][0][name] = "fast"
    assert f"'{name}'" in refused(tmp_path, value)


def refused(tmp_path, value):
    path = results.write(tmp_path, "bad", value)
    with pytest.raises(reader.Refused) as refusal:
        reader.read(path)
    assert str(refusal.value).startswith(str(path))
    return str(refusal.value)


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "not json", '{"schema": "stockade-bench-aes/1"', "\x00\x01"])
def test_damaged_text(tmp_path, text):
    assert "damaged, or no JSON" in refused(tmp_path, text)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(b'{"schema": "\xff\xfe"}')
    with pytest.raises(reader.Refused, match="damaged"):
        reader.read(path)


def test_deep_nesting(tmp_path):
    assert "bad.json" in refused(tmp_path, "[" * 200000)


def test_missing_file(tmp_path):
    with pytest.raises(reader.Refused, match="No such file"):
        reader.read(tmp_path / "nowhere.json")


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"schema": 1}'])
def test_other_json(tmp_path, text):
    assert "has no 'schema'" in refused(tmp_path, text)


@pytest.mark.parametrize("schema", ["stockade-bench-xyz/1", "stockade-bench-aes/0", "stockade-bench-aes", "other/1"])
def test_unknown_schema(tmp_path, schema):
    message = refused(tmp_path, {**results.aes(), "schema": schema})
    assert f"unknown schema '{schema}'" in message and "stockade-bench-aes/1" in message


@pytest.mark.parametrize("kind", reader.SCHEMAS)
def test_newer_schema(tmp_path, kind):
    assert "newer than this tool" in refused(tmp_path, {**results.aes(), "schema": f"stockade-bench-{kind}/2"})


@pytest.mark.parametrize("kind", results.KINDS)
def test_every_member_that_is_used_is_checked(tmp_path, kind):
    """Without any member that the reader asks for, and with one of a wrong type, a file is refused."""
    whole = results.KINDS[kind]()

    def list_of(value):
        return value["ablation"]["layers"] if kind == "rsa-ablation" else value["results"]

    for wanted in (reader.AXES[kind], reader.FIGURES[kind]):
        for name in wanted:
            for damage in (lambda r, n: r.pop(n), lambda r, n: r.update({n: [[]]})):
                value = json.loads(json.dumps(whole))
                damage(list_of(value)[0], name)
                assert f"'{name}'" in refused(tmp_path, value), (kind, name)
    for name in ("date", "machine", "library", "environment", "rows", "settings"):
        value = json.loads(json.dumps(whole))
        del value[name]
        assert f"'{name}'" in refused(tmp_path, value)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "0", "-1", '"1"', "true", "null", "1e999"])
def test_times_are_positive_numbers(tmp_path, text):
    value = json.dumps(results.aes()).replace('"seconds_low": 1', f'"seconds_low": {text}, "was": 1', 1)
    value = (
        value
        if '"was"' in value
        else json.dumps(results.aes()).replace('"seconds_low": ', f'"seconds_low": {text}, "was": ', 1)
    )
    assert "bad.json" in refused(tmp_path, value)


def test_median_outside_of_its_spread(tmp_path):
    value = results.aes()
    value["results"][0]["seconds_high"] = value["results"][0]["seconds_low"]
    assert "between" in refused(tmp_path, value)


def test_the_same_point_twice(tmp_path):
    value = results.aes()
    value["results"].append(value["results"][0])
    assert "there twice" in refused(tmp_path, value)


def test_no_measurement(tmp_path):
    assert "no measurement" in refused(tmp_path, {**results.aes(), "results": []})
    assert "no list" in refused(tmp_path, {**results.aes(), "results": {}})


def test_damaged_model_of_ranks(tmp_path):
    value = results.mpi()
    del value["models"][0]["predictions"][0]["seconds"]
    assert "'seconds'" in refused(tmp_path, value)


@pytest.mark.parametrize("name", reader.GAIN)
def test_damaged_gain_of_a_study(tmp_path, name):
    value = results.studies()
    value["gains"][1][name] = None
    assert f"'gains'[1]: '{name}'" in refused(tmp_path, value)


def test_block_sizes_without_gains(tmp_path):
    value = results.studies()
    del value["gains"]
    assert "no 'gains'" in refused(tmp_path, value)


def test_damaged_ablation_of_a_study(tmp_path):
    value = results.studies()
    del value["ablation"]["layers"][0]["seconds_low"]
    assert "'layers'[0] has no 'seconds_low'" in refused(tmp_path, value)
    del value["ablation"]["parts"]
    assert "'parts'" in refused(tmp_path, value)


def test_a_study_says_why_there_is_no_figure(tmp_path):
    value = results.studies()
    del next(r for r in value["results"] if not r["measured"])["reason"]
    assert "no 'reason'" in refused(tmp_path, value)


def test_damaged_ratio_of_a_file(tmp_path):
    value = results.file()
    value["results"][0]["ratios"]["openssl"] = "fast"
    assert "openssl" in refused(tmp_path, value)
