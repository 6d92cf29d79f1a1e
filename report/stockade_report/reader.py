"""Result files, read strictly: what is damaged, unknown or newer is refused with the place where it is wrong.

bench/README.md describes the files. A `Run` is one of them.
"""

import json
import math
import pathlib
import re
from dataclasses import dataclass, field

# The newest version of each schema that is understood.
SCHEMAS = {"aes": 1, "file": 1, "gpu": 1, "mpi": 1, "rsa": 1, "studies": 1}


class Refused(Exception):
    """A file that cannot be used; the text says which and why."""


class UnknownSchema(Refused):
    """The file is Stockade's, but not of a kind that is drawn."""


@dataclass
class Run:
    """One result file."""

    path: pathlib.Path
    kind: str  # aes, file, gpu, mpi, rsa, rsa-ablation, rsa-keys, rsa-queue or studies
    json: dict
    results: list = field(default_factory=list)  # measured or not
    number: int = 0  # on the page
    slug: str = ""  # in the names of pictures

    @property
    def machine(self):
        return self.json["machine"]

    @property
    def date(self):
        return self.json["date"]

    @property
    def commit(self):
        return self.json.get("collected", {}).get("commit", "")

    @property
    def command(self):
        return self.json.get("collected", {}).get("command", "")

    @property
    def measured(self):
        return [result for result in self.results if result.get("measured", True)]

    def share_on_core(self):
        """How much of the time the one-threaded figures had a core, on average; None where the run does not say."""
        shares = [r["on_core"] for r in self.measured if r.get("threads", 1) == 1 and "on_core" in r]
        return sum(shares) / len(shares) if shares else None


# ---- types ----


def _text(value):
    return isinstance(value, str)


def _count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _positive(value):
    return _is_number(value) and value > 0


def _not_negative(value):
    return _is_number(value) and value >= 0


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _positive_or_null(value):
    return value is None or _positive(value)


def _flag(value):
    return isinstance(value, bool)


def _object(value):
    return isinstance(value, dict)


def _list(value):
    return isinstance(value, list)


WANTED = {
    _text: "a text",
    _count: "a whole number",
    _positive: "a number above 0",
    _not_negative: "a number",
    _positive_or_null: "a number above 0 or null",
    _is_number: "a number",
    _flag: "true or false",
    _object: "an object",
    _list: "a list",
}

HEAD = {"date": _text, "machine": _object, "library": _object, "environment": _list, "rows": _list}
MACHINE = {
    "cpu": _text,
    "cores": _count,
    "threads": _count,
    "l1d": _count,
    "l2": _count,
    "l3": _count,
    "clock_hz": _not_negative,
    "kernel": _text,
}
LIBRARY = {"version": _text, "build": _text}
ROW = {"primitive": _text, "name": _text, "available": _flag, "chosen": _flag, "reason": _text}
TIMES = {"seconds_median": _positive, "seconds_low": _positive, "seconds_high": _positive}

# What a result has in any case, and what it has if it was measured.
AXES = {
    "aes": {
        "cipher": _text,
        "operation": _text,
        "streams": _count,
        "message_bytes": _count,
        "contender": _text,
        "threads": _count,
        "measured": _flag,
    },
    "gpu": {
        "question": _text,
        "title": _text,
        "cipher": _text,
        "operation": _text,
        "form": _text,
        "gpus": _count,
        "message_bytes": _count,
        "measured": _flag,
    },
    "rsa": {
        "bits": _count,
        "operation": _text,
        "contender": _text,
        "threads": _count,
        "batch": _count,
        "measured": _flag,
    },
    "rsa-queue": {
        "bits": _count,
        "operation": _text,
        "contender": _text,
        "threads": _count,
        "clients": _count,
        "arrivals_per_second": _positive_or_null,
        "measured": _flag,
    },
    "rsa-keys": {"bits": _count, "operation": _text, "contender": _text},
    "rsa-ablation": {"layers": _text, "threads": _count, "measured": _flag},
    "file": {"question": _text, "point": _text, "contender": _text, "threads": _count, "measured": _flag},
    "mpi": {"form": _text, "scaling": _text, "ranks": _count, "threads": _count, "bytes": _count},
    "studies": {
        "study": _text,
        "table": _text,
        "title": _text,
        "cipher": _text,
        "operation": _text,
        "contender": _text,
        "stage": _text,
        "threads": _count,
        "message_bytes": _count,
        "measured": _flag,
    },
}
FIGURES = {
    "aes": {
        **TIMES,
        "on_core": _not_negative,
        "gigabytes_per_second": _positive,
        "ratio_to_openssl": _positive_or_null,
    },
    "gpu": {**TIMES, "samples": _count, "gigabytes_per_second": _positive_or_null},
    "rsa": {**TIMES, "on_core": _not_negative, "operations_per_second": _positive, "ratio_to_openssl": _positive},
    "rsa-queue": {
        "requests": _count,
        "operations_per_second": _positive,
        "latency_seconds_median": _positive,
        "latency_seconds_p99": _positive,
    },
    "rsa-keys": {"runs": _count, "seconds_median": _positive, "seconds_p90": _positive, "ratio_to_openssl": _positive},
    "rsa-ablation": {**TIMES, "on_core": _not_negative},
    "file": {**TIMES, "bytes": _count, "gigabytes_per_second": _positive_or_null, "ratios": _object},
    "mpi": {
        **TIMES,
        "machines": _count,
        "gigabytes_per_second": _positive,
        "oversubscribed": _flag,
        "speedup": _positive_or_null,
    },
    "studies": {
        **TIMES,
        "samples": _count,
        "gigabytes_per_second": _positive,
        "yardstick": _text,
        "ratio": _positive_or_null,
        "ratio_scaled": _flag,
    },
}
# What need not be there, but is of this kind if it is.
OPTIONAL = {
    "ratio_to_openssl": _positive_or_null,
    "ratio_to_serial": _positive_or_null,
    "reason": _text,
    "efficiency": _positive_or_null,
    "mean_batch": _positive_or_null,
    "threads_per_block": _count,
    "numbers": _count,
    "cpu_seconds_per_gigabyte": _positive_or_null,
    "speedup_over_one_thread": _positive_or_null,
    "arrivals": _text,
    # Files of earlier commits have no spread of keys and of the queue.
    "seconds_low": _positive,
    "seconds_high": _positive,
    **{
        f"{figure}_{end}": _positive_or_null
        for figure in ("operations_per_second", "latency_seconds_median", "latency_seconds_p99")
        for end in ("low", "high")
    },
}
PART = {
    "row": _text,
    "p_seconds": _positive,
    "q_seconds": _positive,
    "squarings": _count,
    "multiplications": _count,
    "setup_seconds": _positive,
    "multiply_seconds": _positive,
    "square_seconds": _positive,
}
MODEL = {
    "form": _text,
    "threads": _count,
    "error_mean": _not_negative,
    "error_worst": _not_negative,
    "predictions": _list,
}
PREDICTION = {"scaling": _text, "ranks": _positive, "bytes": _positive, "seconds": _positive, "efficiency": _positive}
GAIN = {
    "cipher": _text,
    "operation": _text,
    "message_bytes": _count,
    "threads_per_block": _count,
    "built_in_threads_per_block": _count,
    "choices": _count,
    "seconds_median": _positive,
    "gain_over_mean": _is_number,
    "gain_over_worst": _is_number,
}
COLLECTED = {"command": _text, "commit": _text}

# The axes that tell measurements apart, in the order in which they are read.
KEYS = {
    "aes": ("cipher", "operation", "streams", "message_bytes", "contender", "threads"),
    "gpu": ("question", "title", "cipher", "operation", "form", "gpus", "message_bytes"),
    "rsa": ("bits", "operation", "contender", "threads", "batch"),
    "rsa-queue": ("bits", "operation", "contender", "threads", "clients", "arrivals", "arrivals_per_second"),
    "rsa-keys": ("bits", "operation", "contender"),
    "rsa-ablation": ("layers", "threads"),
    "file": ("question", "point", "contender", "threads"),
    "mpi": ("form", "scaling", "ranks", "threads", "bytes"),
    "studies": (
        "study",
        "table",
        "title",
        "cipher",
        "operation",
        "contender",
        "stage",
        "threads",
        "threads_per_block",
        "message_bytes",
    ),
}


class _Check:
    """Looks at members, and says where what is wrong."""

    def __init__(self, path):
        self.path = path

    def fail(self, text):
        raise Refused(f"{self.path}: {text}")

    def members(self, where, value, wanted):
        if not _object(value):
            self.fail(f"{where} is not an object")
        for name, right in wanted.items():
            if name not in value:
                self.fail(f"{where} has no '{name}'")
            if not right(value[name]):
                self.fail(f"{where}: '{name}' is not {WANTED[right]}")

    def optional(self, where, value):
        self.members(where, value, {name: right for name, right in OPTIONAL.items() if name in value})

    def each(self, where, values, wanted):
        for number, value in enumerate(values):
            self.members(f"{where}[{number}]", value, wanted)


def _load(path):
    def refuse(text):
        raise Refused(f"{path}: {text} is no JSON number")

    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: damaged, or no JSON: {error}") from error


def _family(check, json_value):
    """The kind that the schema names; its version is one that is understood."""
    if not _object(json_value) or not _text(json_value.get("schema")):
        check.fail("not a result of 'stockade bench --json': it has no 'schema'")
    schema = json_value["schema"]
    match = re.fullmatch(r"stockade-bench-([a-z]+)/([1-9][0-9]{0,5})", schema)
    if not match or match[1] not in SCHEMAS:
        known = ", ".join(f"stockade-bench-{name}/{version}" for name, version in SCHEMAS.items())
        # Of a kind that is known the version is wrong.
        other = re.fullmatch(r"stockade-([a-z-]+)/[1-9][0-9]*", schema)
        error = UnknownSchema if other and other[1].removeprefix("bench-") not in SCHEMAS else Refused
        raise error(f"{check.path}: unknown schema '{schema}'; this tool reads {known}")
    if int(match[2]) > SCHEMAS[match[1]]:
        check.fail(
            f"schema '{schema}' is newer than this tool, which reads version {SCHEMAS[match[1]]}: "
            "use the tool that came with the stockade that wrote the file"
        )
    return match[1]


def _rsa_kind(json_value):
    """One schema has four kinds of results."""
    if "ablation" in json_value:
        return "rsa-ablation"
    results = json_value.get("results")
    members = {name for result in results if _object(result) for name in result} if _list(results) else set()
    if "clients" in members:
        return "rsa-queue"
    return "rsa-keys" if "runs" in members else "rsa"


def _check_ablation(check, ablation):
    check.members("'ablation'", ablation, {"bits": _count, "vector_row": _text, "layers": _list, "parts": _list})
    check.each("'parts'", ablation["parts"], PART)


def _results(check, kind, json_value):
    if kind == "rsa-ablation":
        ablation = json_value["ablation"]
        _check_ablation(check, ablation)
        return "'layers'", ablation["layers"]
    if not _list(json_value.get("results")):
        check.fail("it has no list 'results'")
    return "'results'", json_value["results"]


def _check_models(check, models):
    if not _list(models):
        check.fail("'models' is not a list")
    check.each("'models'", models, MODEL)
    for number, model in enumerate(models):
        check.each(f"'models'[{number}]: 'predictions'", model["predictions"], PREDICTION)


def _check_studies(check, run):
    """What stands beside the results."""
    gains = run.json.get("gains", [])
    if not _list(gains):
        check.fail("'gains' is not a list")
    check.each("'gains'", gains, GAIN)
    if not gains and any("threads_per_block" in result for result in run.measured):
        check.fail("it has block sizes and no 'gains'")
    for number, result in enumerate(run.results):
        if not result["measured"] and not _text(result.get("reason")):
            check.fail(f"'results'[{number}] has no 'reason'")
    if "ablation" in run.json:
        _check_ablation(check, run.json["ablation"])
        for number, layer in enumerate(run.json["ablation"]["layers"]):
            place = f"'layers'[{number}]"
            check.members(place, layer, AXES["rsa-ablation"])
            if layer["measured"]:
                check.members(place, layer, FIGURES["rsa-ablation"])


def _check_results(check, run, where):
    if not run.results:
        check.fail("it holds no measurement")
    seen = set()
    for number, result in enumerate(run.results):
        place = f"{where}[{number}]"
        check.members(place, result, AXES[run.kind])
        check.optional(place, result)
        if result.get("measured", True):
            check.members(place, result, FIGURES[run.kind])
            for name, ratio in result.get("ratios", {}).items():
                if not _positive_or_null(ratio):
                    check.fail(f"{place}: the ratio to '{name}' is not {WANTED[_positive_or_null]}")
            if "seconds_low" in result and not (
                result["seconds_low"] <= result["seconds_median"] <= result["seconds_high"]
            ):
                check.fail(f"{place}: 'seconds_median' is not between 'seconds_low' and 'seconds_high'")
        key = axes_of(run.kind, result)
        if key in seen:
            check.fail(f"{place} is there twice")
        seen.add(key)


def axes_of(kind, result):
    """What tells a result from the others of its run."""
    return tuple((name, result[name]) for name in KEYS[kind] if result.get(name) is not None)


def read(path):
    """The run that a file holds. Throws Refused."""
    path = pathlib.Path(path)
    check = _Check(path)
    json_value = _load(path)
    kind = _family(check, json_value)
    check.members("the file", json_value, HEAD)
    check.members("'machine'", json_value["machine"], MACHINE)
    check.members("'library'", json_value["library"], LIBRARY)
    check.each("'rows'", json_value["rows"], ROW)
    if "collected" in json_value:
        check.members("'collected'", json_value["collected"], COLLECTED)
    check.members("the file", json_value, {"settings": _object})
    if kind == "rsa":
        kind = _rsa_kind(json_value)
    if kind == "mpi":
        _check_models(check, json_value.get("models", []))
    where, results = _results(check, kind, json_value)
    run = Run(path, kind, json_value, results)
    _check_results(check, run, where)
    if kind == "studies":
        _check_studies(check, run)
    return run
