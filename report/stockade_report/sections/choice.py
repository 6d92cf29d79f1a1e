"""Which of many results a picture shows."""

import math

# Who is not an implementation of Stockade's.
OTHERS = ("openssl", "memcpy")


def of_kind(runs, kind):
    return [run for run in runs if run.kind == kind]


def near(sizes, wanted):
    """The size that is closest by its ratio."""
    return min(sizes, key=lambda size: abs(math.log(size / wanted)))


def bits_of(cipher):
    return int(cipher.split("-")[1])


def mode_of(cipher):
    return cipher.split("-")[2]


# The modes in the order of their use, each in one direction, with the number of messages.
MODES = (
    ("gcm", "seal", False),
    ("ctr", "encrypt", False),
    ("xts", "encrypt", False),
    ("cbc", "decrypt", False),
    ("cbc", "encrypt", True),
    ("ecb", "encrypt", False),
)


def telling(results):
    """Of the results of `bench aes`, lists of those of one point each, for the modes above and the longest key."""
    groups = {}
    for result in results:
        groups.setdefault((result["cipher"], result["operation"], result["streams"]), []).append(result)
    chosen = []
    for mode, operation, many in MODES:
        fitting = [key for key in groups if mode_of(key[0]) == mode and key[1] == operation and (key[2] > 1) == many]
        if fitting:
            key = max(fitting, key=lambda k: bits_of(k[0]))
            chosen.append((key, groups[key]))
    return chosen


def rows_by_speed(results):
    """The rows among the results of one point, the fastest at the largest size first."""
    best = {}
    for result in results:
        if result["contender"] not in OTHERS and result["threads"] == 1:
            size = result["message_bytes"]
            best[result["contender"]] = max(
                best.get(result["contender"], (0, 0)), (size, result["gigabytes_per_second"])
            )
    return sorted(best, key=best.get, reverse=True)
