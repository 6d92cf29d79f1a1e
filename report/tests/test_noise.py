"""The statistics of `compare`, against published tables and against chance itself."""

import math
import os
import random
import statistics

import pytest

from stockade_report import noise
from stockade_report.reader import Measurement

SEED = int(os.environ.get("STOCKADE_TEST_SEED") or random.SystemRandom().getrandbits(32))


@pytest.fixture(name="chance")
def fixture_chance():
    print(f"STOCKADE_TEST_SEED={SEED}")
    return random.Random(SEED)


# d2 as in the tables of control charts (ASTM E2587 and others).
@pytest.mark.parametrize(
    "count, expected", [(1, 0), (2, 1.128), (3, 1.693), (5, 2.326), (7, 2.704), (10, 3.078), (25, 3.931)]
)
def test_expected_range(count, expected):
    assert noise.expected_range(count) == pytest.approx(expected, abs=6e-4)


# One-sided, as in the tables of Student's t.
@pytest.mark.parametrize(
    "probability, freedom, expected",
    [
        (0.05, 1, 6.314),
        (0.025, 2, 4.303),
        (0.025, 10, 2.228),
        (0.005, 5, 4.032),
        (0.001, 2, 22.33),
        (0.0005, 30, 3.646),
        (0.025, 1000, 1.962),
    ],
)
def test_student_quantile(probability, freedom, expected):
    assert noise.student_quantile(probability, freedom) == pytest.approx(expected, rel=5e-4)


def measured(chance, rounds, deviation, factor=1.0):
    times = [factor * math.exp(chance.gauss(0, deviation)) for _ in range(rounds)]
    return Measurement((), statistics.median(times), min(times), max(times), rounds)


def share_beyond(chance, rounds, error, factor, trials=2000):
    beyond = 0
    for _ in range(trials):
        a, b = measured(chance, rounds, 0.02), measured(chance, rounds, 0.02, factor)
        beyond += math.log(b.seconds / a.seconds) > noise.bound(a, b, error)
    return beyond / trials


@pytest.mark.parametrize("rounds", [3, 5, 7, 11, 51])
def test_false_alarms_are_rarer_than_promised(chance, rounds):
    # 0.05 promised; four standard deviations of 2,000 trials more would be 0.07.
    share = share_beyond(chance, rounds, 0.05, 1.0)
    assert share < 0.07
    # And the bound is not so wide that it says nothing.
    assert share > 0.005


@pytest.mark.parametrize("rounds, factor", [(5, 1.3), (7, 1.15), (11, 1.1)])
def test_real_changes_are_found(chance, rounds, factor):
    assert share_beyond(chance, rounds, 0.0001, factor, 400) > 0.9


def test_bound_grows_with_the_spread_and_shrinks_with_the_rounds():
    def bound(spread, rounds, error=0.01):
        one = Measurement((), 1.0, 1 - spread, 1 + spread, rounds)
        return noise.bound(one, one, error)

    assert bound(0.01, 7) < bound(0.02, 7) < bound(0.2, 7)
    assert bound(0.02, 9) < bound(0.02, 7) < bound(0.02, 3)
    assert bound(0.02, 7, 0.01) < bound(0.02, 7, 0.001)


def test_no_spread_no_bound():
    known = Measurement((), 1.0, 0.9, 1.1, 7)
    for unknown in (Measurement((), 1.0), Measurement((), 1.0, 0.9, 1.1, 1)):
        assert noise.bound(known, unknown, 0.01) is None
    exact = Measurement((), 1.0, 1.0, 1.0, 7)
    assert noise.bound(exact, exact, 0.01) == 0
