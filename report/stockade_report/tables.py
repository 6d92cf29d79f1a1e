"""The tables of docs/benchmarks.md: of each run the rows that tell most."""

from dataclasses import dataclass

from .quantities import figure, operation_text, percent, ratio_text, size_text, threads_text, time_text


@dataclass(frozen=True)
class Table:
    header: tuple
    rows: list  # of tuples of texts
    title: str = ""


def _groups(results, *names):
    """Lists of the results with the same values of these members, in the order of the first of each."""
    found = {}
    for result in results:
        found.setdefault(tuple(result[name] for name in names), []).append(result)
    return found


def _sizes(results, wanted):
    """Those of the sizes that are there; the largest too, in their order."""
    there = sorted({result["message_bytes"] for result in results})
    return [size for size in there if size in wanted or size == there[-1]] if there else []


# ---- AES ----

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# Each mode in the direction that tells most, alone or as many messages; both where the two are different code.
MODES = (
    ("gcm", "seal", False),
    ("gcm", "open", False),
    ("ctr", "encrypt", False),
    ("xts", "encrypt", False),
    ("ecb", "encrypt", False),
    ("cbc", "decrypt", False),
    ("cbc", "encrypt", False),
    ("cbc", "encrypt", True),
    ("cfb", "decrypt", False),
)
OTHERS = ("openssl", "memcpy")


def _of_modes(run):
    """(cipher, operation, streams) and the results of it, for the modes above with keys of 128 and of 256 bits."""
    groups = _groups(run.measured, "cipher", "operation", "streams")
    for mode, operation, many in MODES:
        for key, results in groups.items():
            if key[0] in (f"aes-128-{mode}", f"aes-256-{mode}") and key[1] == operation and (key[2] > 1) == many:
                yield key, results


def _best(results, size, threads):
    ours = [
        r
        for r in results
        if r["message_bytes"] == size and r["threads"] == threads and r["contender"] not in OTHERS
    ]
    return max(ours, key=lambda r: r["gigabytes_per_second"]) if ours else None


def _rate_and_ratio(result):
    if result is None:
        return ("–", "–")
    return (figure(result["gigabytes_per_second"]), ratio_text(result["ratio_to_openssl"]))


def _aes(run):
    sizes = [size for size in (KIB, 16 * KIB, MIB) if any(r["message_bytes"] == size for r in run.measured)]
    one, many = [], []
    threads = max((r["threads"] for r in run.measured), default=1)
    large = max((r["message_bytes"] for r in run.measured), default=MIB)
    for (cipher, operation, streams), results in _of_modes(run):
        name = operation_text(cipher, operation, streams)
        best = [_best(results, size, 1) for size in sizes]
        if any(best):
            rows = {r["contender"]: None for r in best if r}
            one.append((name, ", ".join(rows), *(text for r in best for text in _rate_and_ratio(r))))
        at = [_best(results, size, threads) for size in dict.fromkeys((MIB, large))]
        if threads > 1 and any(at):
            cells = []
            for result in at:
                speed = result.get("speedup_over_one_thread") if result else None
                cells += [*_rate_and_ratio(result), ratio_text(speed)]
            many.append((name, *cells))
    header = tuple(text for size in sizes for text in (f"{size_text(size)}: GB/s", "ratio"))
    tables = [Table(("one thread", "row", *header), one)]
    if many:
        header = tuple(
            text
            for size in dict.fromkeys((MIB, large))
            for text in (f"{size_text(size)}: GB/s", "ratio", "over one thread")
        )
        tables.append(Table((f"{threads} threads", *header), many))
    return tables


# ---- RSA ----


def _rsa(run):
    def rate(results, batch, threads):
        ours = [
            r
            for r in results
            if r["contender"] != "openssl" and r["batch"] == batch and r["threads"] == threads
        ]
        if not ours:
            return "–"
        best = max(ours, key=lambda r: r["operations_per_second"])
        return f"{figure(best['operations_per_second'])} ({ratio_text(best['ratio_to_openssl'])})"

    ours = [r for r in run.measured if r["contender"] != "openssl"]
    threads = sorted({r["threads"] for r in ours})
    batches = sorted({r["batch"] for r in ours})
    wanted = [(1, count) for count in dict.fromkeys((1, 2)) if count in threads and 1 in batches]
    # The batch that fills the vectors, and the largest.
    for batch in dict.fromkeys(b for b in (64, max(batches, default=1)) if b in batches and b > 1):
        wanted += [(batch, count) for count in dict.fromkeys((1, threads[-1]))]
    rows = []
    for (bits, operation), results in _groups(run.measured, "bits", "operation").items():
        peer = [r for r in results if r["contender"] == "openssl"]
        mine = [r for r in results if r["contender"] != "openssl"]
        if not mine:
            continue
        best = max(mine, key=lambda r: r["operations_per_second"])
        rows.append(
            (
                f"RSA-{bits} {operation}",
                best["contender"],
                figure(peer[0]["operations_per_second"]) if peer else "–",
                *(rate(results, batch, count) for batch, count in wanted),
            )
        )
    header = tuple(
        threads_text("one by one" if batch == 1 else f"batch of {batch}", count) for batch, count in wanted
    )
    return [Table(("operations per second", "row", "OpenSSL", *header), rows)]


def _rsa_queue(run):
    def load(result):
        if result["clients"]:
            return f"{result['clients']} client{'s' if result['clients'] > 1 else ''}"
        return f"{figure(result['arrivals_per_second'] or 0)}/s" + (
            f", {result['arrivals']}" if result.get("arrivals") else ""
        )

    rows = [
        (
            f"RSA-{r['bits']}, {load(r)}",
            threads_text(r["contender"], r["threads"]),
            figure(r["operations_per_second"]),
            ratio_text(r.get("ratio_to_openssl")),
            time_text(r["latency_seconds_median"]),
            time_text(r["latency_seconds_p99"]),
            figure(r.get("mean_batch")),
        )
        for r in run.measured
    ]
    return [Table(("asked by", "who", "signatures/s", "ratio", "median latency", "99 %", "batch"), rows)]


def _rsa_keys(run):
    rows = []
    for (bits, operation), results in _groups(run.measured, "bits", "operation").items():
        peer = [r for r in results if r["contender"] == "openssl"]
        rows += [
            (
                f"RSA-{bits} {operation}",
                r["contender"],
                time_text(peer[0]["seconds_median"]) if peer else "–",
                time_text(r["seconds_median"]),
                ratio_text(r["ratio_to_openssl"]),
            )
            for r in results
            if r["contender"] != "openssl"
        ]
    return [Table(("keys", "row", "OpenSSL", "Stockade", "ratio"), rows)]


def _rsa_ablation(run):
    rows = [
        (r["layers"], str(r["threads"]), time_text(r["seconds_median"]), ratio_text(r.get("ratio_to_serial")))
        for r in run.measured
    ]
    return [Table(("layers", "threads", "one decryption", "of serial"), rows)]


# ---- files ----


def _file(run):
    rows = []
    for r in run.measured:
        # What others do is in the ratios.
        if not (r["contender"].startswith("stockade") or r["contender"] == "--range"):
            continue
        # In memory the shorter key tells the same.
        if r["question"] == "memory" and "-128 " in r["point"]:
            continue
        ratios = [
            f"{ratio_text(value)} {name}" for name, value in r["ratios"].items() if value and name != r["contender"]
        ]
        if not ratios:
            continue
        rate = f"{figure(r['gigabytes_per_second'])} GB/s" if r["question"] in ("memory", "files") else "–"
        rows.append(
            (
                f"{r['question']}: {r['point']}",
                threads_text(r["contender"], r["threads"]),
                time_text(r["seconds_median"]),
                rate,
                ", ".join(ratios),
            )
        )
    return [Table(("what", "who", "time", "rate", "times as fast as"), rows)]


# ---- GPUs ----


def _by_size(head, results, sizes, cell, title):
    rows = []
    for (cipher, operation, form), group in _groups(results, "cipher", "operation", "form").items():
        at = {r["message_bytes"]: r for r in group}
        name = operation_text(cipher, operation) + (f", {form}" if form else "")
        rows.append((name, *(cell(at[size]) if size in at else "–" for size in sizes)))
    return Table((head, *(size_text(size) for size in sizes)), rows, title)


def _gpu_rate(result):
    return figure(result["gigabytes_per_second"])


def _gpu_time(result):
    return time_text(result["seconds_median"])


def _gpu_cell(result):
    finish = result.get("finish_seconds")
    rate = figure(result["gigabytes_per_second"])
    # A short message is a matter of how long it takes.
    return f"{rate} ({time_text(finish)})" if finish and result["message_bytes"] <= MIB else rate


def _gpu(run):
    tables = []
    for (question, title), results in _groups(run.measured, "question", "title").items():
        if question == "device":
            sizes = _sizes(results, (64 * KIB, MIB, 256 * MIB))
            tables.append(_by_size("GB/s (one call until its end is seen)", results, sizes, _gpu_cell, title))
        elif question == "host":
            sizes = _sizes(results, (MIB, 16 * MIB))
            tables.append(_by_size("GB/s", results, sizes, _gpu_rate, title))
        elif question == "stages":
            sizes = _sizes(results, (10**6, 10**8))
            tables.append(_by_size("time", results, sizes, _gpu_time, title))
        elif question == "several":
            rows = [
                (
                    operation_text(r["cipher"], r["operation"]) + (f", {r['form']}" if r["form"] else ""),
                    size_text(r["message_bytes"]),
                    figure(r["gigabytes_per_second"]),
                    ratio_text(r.get("ratio_to_one_gpu")),
                )
                for r in results
            ]
            tables.append(Table(("several GPUs", "message", "GB/s", "of one GPU"), rows, title))
    return tables


# ---- many ranks ----


def _share(value):
    return "–" if value is None else f"{value * 100:.0f} %"


def _bytes_to_scale(result):
    """What stays the same when ranks are added."""
    return result["bytes"] / (result["ranks"] if result["scaling"] == "weak" else 1)


def _mpi(run):
    tables, shown = [], set()
    for (form, threads), results in _groups(run.measured, "form", "threads").items():
        # Ranks with more threads are of interest where there is one of them for each machine.
        if threads > 1 and all(r["ranks"] == 1 for r in results):
            continue
        shown.add((form, threads))
        most = {}
        for r in results:
            most[r["scaling"]] = max(most.get(r["scaling"], 0), _bytes_to_scale(r))
        rows = [
            (
                r["scaling"],
                f"{r['ranks']}" + (" (more than cores)" if r["oversubscribed"] else ""),
                str(r["machines"]),
                size_text(r["bytes"]),
                figure(r["gigabytes_per_second"]),
                ratio_text(r["speedup"]),
                _share(r.get("efficiency")),
                _share(r.get("share_in_mpi")),
            )
            for r in sorted(results, key=lambda r: r["scaling"])
            if _bytes_to_scale(r) == most[r["scaling"]]
        ]
        header = ("scaling", "ranks", "machines", "bytes", "GB/s", "speed-up", "efficiency", "in MPI")
        tables.append(Table(header, rows, f"{threads_text(form, threads)}, the largest size"))
    rows = [
        (
            threads_text(model["form"], model["threads"]),
            f"{_share(model['error_mean'])}, at the worst {_share(model['error_worst'])}",
            guess["scaling"],
            f"{guess['ranks']:,.0f}",
            size_text(round(guess["bytes"])),
            time_text(guess["seconds"]),
            _share(guess["efficiency"]),
        )
        for model in run.json.get("models", [])
        if (model["form"], model["threads"]) in shown
        for guess in model["predictions"]
        if guess["ranks"] == 1024
    ]
    if rows:
        header = ("model", "misses its points by", "scaling", "ranks", "bytes", "time", "efficiency")
        tables.append(Table(header, rows, "What the model says of more ranks, on assumptions that the command prints"))
    return tables


# ---- published studies ----


def _studies(run):
    tables = []
    for (study, name, title), results in _groups(run.measured, "study", "table", "title").items():
        # Of the blocks of a GPU there is a picture in the report, and the table of gains below.
        if any("threads_per_block" in r for r in results):
            continue
        size = max(r["message_bytes"] for r in results)
        rows = [
            (
                " ".join(filter(None, (r["cipher"].upper(), r["operation"]))) or "–",
                threads_text(r["contender"], r["threads"]) + (f", {r['stage']}" if r["stage"] else ""),
                time_text(r["seconds_median"]),
                ("~" if r.get("ratio_scaled") else "") + ratio_text(r.get("ratio")),
            )
            for r in results
            if r["message_bytes"] == size
        ]
        yardstick = next((r["yardstick"] for r in results if r.get("yardstick")), "")
        header = ("what", "who", "time", f"times as fast as {yardstick}" if yardstick else "ratio")
        tables.append(Table(header, rows, f"{study.upper()}, {name}: {title}, {size_text(size)}"))
    rows = [
        (
            operation_text(gain["cipher"], gain["operation"]),
            size_text(gain["message_bytes"]),
            str(gain["threads_per_block"]),
            str(gain["built_in_threads_per_block"]),
            percent(gain["gain_over_mean"]),
            percent(gain["gain_over_worst"]),
        )
        for gain in run.json.get("gains", [])
    ]
    header = ("in a GPU's memory", "message", "best threads per block", "built in", "gain over mean", "over worst")
    return [*tables, Table(header, rows, "What the best number of threads per block is worth")]


# In the order in which they stand in the section of a machine.
KINDS = {
    "aes": ("AES against OpenSSL", _aes),
    "gpu": ("GPUs", _gpu),
    "file": ("Files", _file),
    "rsa": ("RSA, one by one and in batches", _rsa),
    "rsa-queue": ("RSA as requests come", _rsa_queue),
    "rsa-keys": ("RSA keys", _rsa_keys),
    "rsa-ablation": ("RSA-2048, layer by layer", _rsa_ablation),
    "mpi": ("Many ranks", _mpi),
    "studies": ("Published studies", _studies),
}


def title_of(kind):
    return KINDS[kind][0]


def tables_of(run):
    """Tables that have rows."""
    return [table for table in KINDS[run.kind][1](run) if table.rows]


def is_number(text):
    """Whether a cell belongs on the right."""
    return text in ("", "–") or text[:1].isdigit() or (text[:1] in "+-" and text[1:2].isdigit())


def markdown(table):
    def line(cells):
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    right = [i > 0 and all(is_number(row[i]) for row in table.rows) for i in range(len(table.header))]
    return "\n".join(
        [line(table.header), "|" + "|".join("--:" if one else "---" for one in right) + "|", *map(line, table.rows)]
    )
