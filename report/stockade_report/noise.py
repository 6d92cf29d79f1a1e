"""How far two medians may be apart by chance.

A run keeps of each measurement the median, the fastest and the slowest of n rounds. For n normal values the expected
range is d2(n) standard deviations, so the logarithm of slowest/fastest divided by d2(n) estimates the relative
deviation of one round, and 1.2533/sqrt(n) of that is the standard error of a median. The difference of two medians, as
a logarithm, is then judged with Student's t: the degrees of freedom of a deviation that comes from a range are close
to 0.9 (n - 1) up to ten rounds (a little less is taken), and two of them are joined as Welch and Satterthwaite do.
With m measurements compared at once each has a share of 1/m of the error that the whole comparison may make
(Bonferroni).

Outliers are slow ones mostly. They widen the range, and so the bound: a disturbed run hides a change rather than
inventing one.
"""

import functools
import math
import statistics

NORMAL = statistics.NormalDist()
# Standard error of the median over that of the mean, for many normal values.
MEDIAN_FACTOR = math.sqrt(math.pi / 2)
# Beyond ten rounds the range of normal values says little more than with ten.
USEFUL_ROUNDS = 10


@functools.cache
def expected_range(count):
    """d2: the expected range of `count` standard normal values, 0 for one."""
    # Integral of 1 - F^n - (1 - F)^n from -8 to 8, by the trapezoidal rule.
    steps = 1600
    width = 16 / steps
    total = 0.0
    for i in range(1, steps):
        below = NORMAL.cdf(-8 + i * width)
        total += 1 - below**count - (1 - below) ** count
    return total * width


def _density(x, freedom):
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    return math.exp(log_scale - (freedom + 1) / 2 * math.log1p(x * x / freedom))


def student_tail(value, freedom):
    """The probability that Student's t with so many degrees of freedom is above a value >= 0."""
    # With x = sqrt(freedom) tan(a) the whole tail becomes a finite interval of a.
    root = math.sqrt(freedom)
    start = math.atan(value / root)
    steps = 400
    width = (math.pi / 2 - start) / steps
    total = 0.0
    for i in range(steps):
        angle = start + (i + 0.5) * width
        total += _density(root * math.tan(angle), freedom) * root / math.cos(angle) ** 2
    return total * width


@functools.cache
def student_quantile(probability, freedom):
    """The value that Student's t exceeds with this probability, which is below one half."""
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > probability else (low, middle)
    return high


def standard_error(low, high, rounds):
    """Of the logarithm of a median; None where the rounds do not tell."""
    if rounds < 2 or low <= 0:
        return None
    return MEDIAN_FACTOR * math.log(high / low) / expected_range(rounds) / math.sqrt(rounds)


def freedom_of(rounds):
    return 0.85 * (min(rounds, USEFUL_ROUNDS) - 1)


def bound(a, b, error):
    """How far apart the logarithms of two medians are by chance, but for this probability to one side.

    None where one of them has no spread to judge by.
    """
    errors = [standard_error(m.low, m.high, m.rounds) for m in (a, b)]
    if None in errors:
        return None
    together = math.hypot(*errors)
    if together == 0:
        return 0.0
    parts = [error_**4 / freedom_of(m.rounds) for error_, m in zip(errors, (a, b))]
    freedom = max(1.0, round(together**4 / sum(parts), 1))
    return student_quantile(error, freedom) * together
