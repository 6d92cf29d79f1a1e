"""`compare`: what counts as a difference, what it prints and the exit status."""

import math
import random

import pytest
import results

from stockade_report import compare, reader
from stockade_report.__main__ import main


def slowed(value, factor, count=None):
    """The same run with the first `count` of Stockade's measured results, or all, taking `factor` times as long."""
    ours = [r for r in value["results"] if r["measured"] and r["contender"] not in compare.PEERS]
    for result in ours[:count]:
        for name in ("seconds_median", "seconds_low", "seconds_high"):
            result[name] *= factor
    return value


def status(tmp_path, before, after, *options):
    return main(
        ["compare", str(results.write(tmp_path, "a", before)), str(results.write(tmp_path, "b", after)), *options]
    )


@pytest.mark.parametrize("kind", results.KINDS)
def test_a_run_does_not_differ_from_itself(tmp_path, capsys, kind):
    assert status(tmp_path, results.KINDS[kind](), results.KINDS[kind]()) == 0
    assert "0 slower, 0 faster" in capsys.readouterr().out


def test_one_regression_is_found(tmp_path, capsys):
    assert status(tmp_path, results.aes(), slowed(results.aes(), 1.3, 1)) == 1
    out = capsys.readouterr().out
    assert "1 slower, 0 faster" in out
    assert "+30.0 %" in out and "cipher aes-256-gcm" in out


def test_a_gain_is_no_regression(tmp_path, capsys):
    assert status(tmp_path, results.aes(), slowed(results.aes(), 0.5, 2)) == 0
    assert "0 slower, 2 faster" in capsys.readouterr().out


def test_a_slower_peer_is_no_regression_but_widens_the_bound(tmp_path, capsys):
    def with_peer(factor):
        value = slowed(results.aes(), 1.3, 3)
        peer = next(r for r in value["results"] if r["contender"] == "openssl")
        for name in ("seconds_median", "seconds_low", "seconds_high"):
            peer[name] *= factor
        return value

    # The peers have moved as far as Stockade: that is the machine.
    assert status(tmp_path, results.aes(), with_peer(1.4)) == 0
    assert "moved by up to +40.0 %" in capsys.readouterr().out
    assert status(tmp_path, results.aes(), with_peer(1 / 1.4)) == 0
    assert "moved by up to +40.0 %" in capsys.readouterr().out
    assert status(tmp_path, results.aes(), with_peer(1.2)) == 1
    # Another OpenSSL tells nothing of the machine.
    other = with_peer(1.4)
    other["peer"] = "OpenSSL 4.0"
    assert status(tmp_path, results.aes(), other) == 1


def test_drift_below_the_least_bound_does_not_count(tmp_path):
    # Without any spread the bound is the drift alone.
    before, after = results.aes(), slowed(results.aes(), 1.04)
    for value in (before, after):
        for result in value["results"]:
            if result["measured"]:
                result["seconds_low"] = result["seconds_high"] = result["seconds_median"]
    assert status(tmp_path, before, after) == 0
    assert status(tmp_path, before, after, "--drift", "3") == 1


def test_a_wide_spread_hides_a_change(tmp_path):
    before, after = results.aes(), slowed(results.aes(), 1.3)
    for value in (before, after):
        for result in value["results"]:
            if result["measured"]:
                result["seconds_low"] /= 3
    assert status(tmp_path, before, after) == 0


def test_bound_is_the_same_in_both_directions(tmp_path):
    path = results.write(tmp_path, "a", results.aes())
    run = reader.read(path)
    there = compare.Difference((), 1.0, 1.2, 0.2, 0.19)
    back = compare.Difference((), 1.2, 1.0, 1 / 1.2 - 1, 0.19)
    assert there.slower and back.faster and not there.faster and not back.slower
    assert not compare.compare(run, run, 0.05).regressions


def test_whole_comparisons_without_a_change_seldom_alarm(tmp_path):
    """At most one in twenty, for 80 measurements together; the seed is printed and may be set."""
    from test_noise import SEED

    chance = random.Random(SEED)
    print(f"STOCKADE_TEST_SEED={SEED}")

    def noisy():
        value = results.aes()
        for result in value["results"]:
            if result["measured"]:
                times = sorted(result["seconds_median"] * math.exp(chance.gauss(0, 0.03)) for _ in range(7))
                result.update(seconds_median=times[3], seconds_low=times[0], seconds_high=times[6])
        return reader.read(results.write(tmp_path, "noisy", value))

    alarms = 0
    for _ in range(30):
        before, after = noisy(), noisy()
        # Without peers to tell of the machine, so that the statistics stand alone.
        after.json["peer"] = "another"
        found = compare.compare(before, after, 0.0)
        alarms += any(d.slower or d.faster for d in found.differences)
    # Five or more of 30 at a rate of one in twenty: 1.6 in 100; the rate is well below that.
    assert alarms < 6


def test_what_is_in_one_file_only_is_named(tmp_path, capsys):
    after = results.aes()
    del after["results"][0]
    assert status(tmp_path, results.aes(), after) == 0
    assert "gone, and not compared: 1" in capsys.readouterr().out


def test_other_machines_are_named(tmp_path, capsys):
    after = results.aes()
    after["machine"]["cpu"] = "another"
    status(tmp_path, results.aes(), after)
    assert "two machines" in capsys.readouterr().out


def test_latencies_have_no_spread_and_are_not_judged(tmp_path, capsys):
    after = results.rsa_queue()
    for result in after["results"]:
        if result["measured"]:
            result["latency_seconds_median"] *= 2
    assert status(tmp_path, results.rsa_queue(), after) == 0
    assert "3 not judged" in capsys.readouterr().out


def test_kinds_that_cannot_be_compared(tmp_path, capsys):
    assert status(tmp_path, results.aes(), results.rsa()) == 1
    assert "nothing to compare" in capsys.readouterr().err


def test_no_measurement_in_common(tmp_path, capsys):
    before, after = results.rsa(), results.rsa()
    before["results"] = [r for r in before["results"] if r["bits"] == 2048]
    after["results"] = [r for r in after["results"] if r["bits"] == 4096]
    assert status(tmp_path, before, after) == 1
    assert "no measurement in common" in capsys.readouterr().err


def test_damaged_files(tmp_path, capsys):
    assert status(tmp_path, results.aes(), "{") == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "stockade_report: error:" in captured.err


@pytest.mark.parametrize("drift", ["-1", "much", "nan"])
def test_wrong_command_line(tmp_path, drift):
    with pytest.raises(SystemExit) as end:
        status(tmp_path, results.aes(), results.aes(), "--drift", drift)
    assert end.value.code == 2
