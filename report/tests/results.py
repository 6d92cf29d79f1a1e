"""Small result files of every kind, as `stockade bench --json` prints them. The figures are made up."""

import copy
import json

HEAD = {
    "date": "2026-03-01T12:00:00Z",
    "machine": {
        "cpu": "Test <CPU> & $co$",
        "cores": 4,
        "threads": 4,
        "l1d": 32768,
        "l2": 1048576,
        "l3": 0,
        "clock_hz": 3e9,
        "kernel": "Linux 6.1 x86_64",
    },
    "library": {"version": "0.4.0", "build": "compiler=gcc-12.2"},
    "environment": ["STOCKADE_THREADS=4"],
    "rows": [
        {"primitive": "aes", "name": "vaes512", "available": True, "chosen": True, "reason": ""},
        {"primitive": "aes", "name": "neon", "available": False, "chosen": False, "reason": "not this processor"},
    ],
    "settings": {"rounds": 7},
    "collected": {"command": "stockade bench test --json", "commit": "abcdef012345"},
}


def head(kind, **more):
    value = copy.deepcopy(HEAD)
    value["schema"] = f"stockade-bench-{kind}/1"
    value.update(more)
    return value


def times(seconds, spread=0.02):
    return {"seconds_median": seconds, "seconds_low": seconds * (1 - spread), "seconds_high": seconds * (1 + spread)}


def spread(name, value):
    return {name: value, f"{name}_low": value * 0.98, f"{name}_high": value * 1.02}


def aes():
    results = []
    for cipher, operation, streams in (
        ("aes-256-gcm", "seal", 1),
        ("aes-256-ctr", "encrypt", 1),
        ("aes-256-cbc", "encrypt", 16),
        ("aes-256-cbc", "encrypt", 1),
    ):
        for size in (64, 1024, 16384, 1 << 20):
            peer = 2e-8 + size / 3e9
            for contender, threads, seconds in (
                ("openssl", 1, peer),
                ("memcpy", 1, size / 20e9),
                ("vaes512", 1, 1e-8 + size / 12e9),
                ("vaes256", 1, 1e-8 + size / 9e9),
                ("vaes512", 4, 1e-8 + size / (12e9 if size < 1e5 else 40e9)),
            ):
                if operation == "encrypt" and "cbc" in cipher and streams == 1 and contender.startswith("vaes"):
                    seconds = peer * 1.1
                results.append(
                    {
                        "cipher": cipher,
                        "operation": operation,
                        "streams": streams,
                        "message_bytes": size,
                        "contender": contender,
                        "threads": threads,
                        "measured": True,
                        "iterations": 9,
                        **times(seconds),
                        "on_core": 0.995,
                        "gigabytes_per_second": size / seconds / 1e9,
                        "cycles_per_byte": None,
                        "ratio_to_openssl": peer / seconds,
                        "speedup_over_one_thread": None,
                    }
                )
    results.append(
        {
            "cipher": "aes-256-ctr",
            "operation": "encrypt",
            "streams": 1,
            "message_bytes": 1 << 20,
            "contender": "reference",
            "threads": 1,
            "measured": False,
            "reason": "too long",
        }
    )
    return head("aes", peer="OpenSSL 3.0.19", results=results)


def gpu(questions=("device", "host", "stages")):
    results = []

    def add(question, title, cipher, operation, form, gpus, size, seconds):
        results.append(
            {
                "question": question,
                "title": title,
                "cipher": cipher,
                "operation": operation,
                "form": form,
                "gpus": gpus,
                "message_bytes": size,
                "measured": True,
                "samples": 7,
                **times(seconds),
                "gigabytes_per_second": size / seconds / 1e9,
                "finish_seconds": None,
                "ratio_to_one_gpu": None,
            }
        )

    for size in (65536, 1 << 20, 1 << 24, 1 << 28, 1 << 32):
        if "device" in questions:
            for bits, cipher, operation, rate in (
                (128, "aes-128-ctr", "encrypt", 920e9),
                (128, "aes-128-gcm", "seal", 750e9),
                (256, "aes-256-ctr", "encrypt", 640e9),
            ):
                add(
                    "device",
                    f"GPU 0, data in its memory, keys of {bits} bits",
                    cipher,
                    operation,
                    "",
                    1,
                    size,
                    6e-6 + size / rate,
                )
        if "host" in questions and size <= 1 << 30:
            for form, gpus, start, rate in (
                ("threads, pageable", 0, 2e-6, 90e9),
                ("cuda, pinned", 1, 3e-5, 50e9),
                ("hybrid, pinned", 1, 1e-5, 120e9),
            ):
                add(
                    "host",
                    "from host memory to host memory, GPU 0",
                    "aes-256-ctr",
                    "encrypt",
                    form,
                    gpus,
                    size,
                    start + size / rate,
                )
    if "stages" in questions:
        for size in (1000, 10**6, 10**7, 10**8, 10**9):
            stages = {
                "load": size / 6e9 + 1e-5,
                "copy in": size / 55e9 + 8e-6,
                "kernel": size / 600e9 + 6e-6,
                "copy out": size / 50e9 + 8e-6,
                "store": size / 2.5e9 + 2e-5,
            }
            for form, seconds in {**stages, "total": sum(stages.values()), "overlapped": size / 2.9e9 + 9e-5}.items():
                add("stages", "one file through GPU 0, pinned memory", "aes-256-ctr", "encrypt", form, 1, size, seconds)
    return head(
        "gpu",
        gpus=[{"number": 0, "name": "Test GPU", "clock_hz": None}],
        driver={"version": "580", "cuda": "13"},
        cuda="12.8",
        results=results,
    )


def rsa():
    results = []
    for bits, one in ((2048, 4e-4), (4096, 3e-3)):
        for contender, threads, batch, factor in (
            ("openssl", 1, 1, 1),
            ("ifma", 1, 1, 0.8),
            ("ifma", 1, 8, 0.3),
            ("ifma", 1, 64, 0.28),
            ("ifma", 4, 64, 0.07),
        ):
            seconds = one * batch * factor
            results.append(
                {
                    "bits": bits,
                    "operation": "sign",
                    "contender": contender,
                    "threads": threads,
                    "batch": batch,
                    "measured": True,
                    "iterations": 3,
                    **times(seconds),
                    "on_core": 0.99,
                    "operations_per_second": batch / seconds,
                    "ratio_to_openssl": one * batch / seconds,
                }
            )
    return head("rsa", peer="OpenSSL 3.0.19", results=results)


def rsa_queue():
    results = []
    for clients in (1, 4, 16):
        for contender, rate in (("openssl", 1000), ("ifma", 2500)):
            results.append(
                {
                    "bits": 2048,
                    "operation": "sign",
                    "contender": contender,
                    "threads": 2,
                    "clients": clients,
                    "arrivals_per_second": None,
                    "arrivals": "",
                    "measured": True,
                    "requests": 300,
                    **spread("operations_per_second", rate),
                    "ratio_to_openssl": rate / 1000,
                    **spread("latency_seconds_median", clients / rate),
                    **spread("latency_seconds_p99", 3 * clients / rate),
                    "mean_batch": 1.0,
                }
            )
    results.append(
        {
            "bits": 2048,
            "operation": "sign",
            "contender": "openssl",
            "threads": 2,
            "clients": 0,
            "arrivals_per_second": 900.0,
            "arrivals": "90% of ifma",
            "measured": False,
            "reason": "slower than requests come",
        }
    )
    return head("rsa", peer="OpenSSL 3.0.19", results=results)


def rsa_keys():
    results = [
        {
            "bits": 2048,
            "operation": operation,
            "contender": contender,
            "runs": 51,
            **times(seconds),
            "seconds_p90": seconds * 2,
            "ratio_to_openssl": 0.1 / seconds,
        }
        for operation in ("generate", "load private")
        for contender, seconds in (("openssl", 0.1), ("ifma", 0.05))
    ]
    return head("rsa", peer="OpenSSL 3.0.19", results=results)


def rsa_ablation():
    layers = [
        {
            "layers": name,
            "threads": threads,
            "measured": True,
            "iterations": 2,
            **times(seconds),
            "on_core": 0.99,
            "ratio_to_serial": 5e-3 / seconds,
        }
        for name, threads, seconds in (
            ("serial", 1, 5e-3),
            ("OMP", 2, 2.6e-3),
            ("AVX", 1, 3e-4),
            ("AVX + OMP", 2, 2e-4),
            ("openssl", 1, 4e-4),
        )
    ]
    layers.append({"layers": "AVX + TT + OMP", "threads": 4, "measured": False, "ratio_to_serial": None})
    part = {
        "row": "reference",
        "p_seconds": 2e-3,
        "q_seconds": 2e-3,
        "squarings": 2046,
        "multiplications": 1025,
        "setup_seconds": 8e-6,
        "multiply_seconds": 1e-6,
        "square_seconds": 9e-7,
    }
    return head(
        "rsa", peer="OpenSSL 3.0.19", ablation={"bits": 2048, "vector_row": "ifma", "layers": layers, "parts": [part]}
    )


def file():
    results = []
    for point in ("encrypt", "decrypt"):
        for contender, threads, seconds in (
            ("reads and writes", 1, 0.5),
            ("stockade", 1, 0.6),
            ("stockade", 4, 0.2),
            ("openssl", 1, 1.0),
        ):
            results.append(
                {
                    "question": "files",
                    "point": point,
                    "contender": contender,
                    "threads": threads,
                    "measured": True,
                    "bytes": 1 << 30,
                    "files": 1,
                    "files_sampled": 1,
                    **times(seconds),
                    "cpu_seconds": seconds,
                    "gigabytes_per_second": 1.073741824 / seconds,
                    "cpu_seconds_per_gigabyte": 0.3,
                    "ratios": {"openssl": 1 / seconds, "age": None},
                }
            )
        results.append(
            {
                "question": "files",
                "point": point,
                "contender": "age",
                "threads": 1,
                "measured": False,
                "reason": "not installed",
            }
        )
    return head("file", peers={"openssl": "OpenSSL 3.0.19", "age": "not installed"}, results=results)


def mpi():
    results = []
    for form in ("distributed", "file"):
        for ranks in (1, 2, 4, 8):
            for scaling, size in (("strong", 1 << 28), ("weak", (1 << 28) * ranks)):
                if scaling == "weak" and ranks == 1:
                    continue
                seconds = (size / ranks) / 10e9 + 1e-5 * ranks
                one = size / 10e9 + 1e-5 if scaling == "strong" else (1 << 28) / 10e9 * ranks
                results.append(
                    {
                        "form": form,
                        "scaling": scaling,
                        "ranks": ranks,
                        "threads": 1,
                        "machines": 1,
                        "bytes": size,
                        "oversubscribed": ranks > 4,
                        **times(seconds),
                        "gigabytes_per_second": size / seconds / 1e9,
                        "speedup": one / seconds,
                        "efficiency": one / seconds / ranks,
                        "share_in_mpi": 0.1,
                        "copy_seconds": 0.01,
                        "moving_seconds": None,
                    }
                )
    models = [
        {
            "form": "distributed",
            "threads": 1,
            "points": 6,
            "error_mean": 0.02,
            "error_worst": 0.05,
            "predictions": [
                {
                    "scaling": "strong",
                    "ranks": 64.0,
                    "machines": 16.0,
                    "bytes": 2.0**40,
                    "seconds": 0.9,
                    "efficiency": 0.98,
                }
            ],
        }
    ]
    return head("mpi", mpi={"library": "Test MPI 1.0", "ranks": 8}, results=results, models=models)


def studies():
    results, gains = [], []

    def add(study, table, title, contender, size, seconds, stage="", threads=1, **more):
        result = {
            "study": study,
            "table": table,
            "title": title,
            "cipher": "" if study == "s5" else "aes-128-ctr",
            "operation": "add" if study == "s5" else "encrypt",
            "contender": contender,
            "stage": stage,
            "threads": threads,
            "message_bytes": size,
            "measured": seconds is not None,
        }
        if seconds is None:
            result["reason"] = more.pop("reason", "not available: no GPU is present")
        else:
            result.update({"samples": 5, **times(seconds), "gigabytes_per_second": size / seconds / 1e9})
            result.update({"yardstick": "textbook", "ratio": 7.5, "ratio_scaled": False})
        result.update(more)
        results.append(result)

    modes = "aes-128-ctr encrypt, memory to memory, with the key's set-up"
    for size in (256, 1 << 14, 1 << 20):
        add("s1", "modes", modes, "openssl", size, 1e-7 + size / 3e9)
        if size < 1 << 20:
            add("s1", "modes", modes, "textbook", size, size / 8e7)
        else:
            add("s1", "modes", modes, "textbook", size, None, reason="would take 9000 ms; the limit is 500 ms")
        add("s1", "modes", modes, "one core", size, 1e-7 + size / 9e9, ratio_scaled=size == 1 << 20)
        add("s1", "modes", modes, "all cores", size, 1e-6 + size / 3e10, threads=4)
        add("s1", "modes", modes, "cuda", size, None, threads=0)
    for size in (65536, 1 << 20, 1 << 24, 1 << 28, 1 << 32):
        for block in range(64, 1025, 32):
            waste = 1 + abs(block - 512) / 1500 + (block % 128) / 2000
            seconds = (6e-6 + size / 900e9) * waste
            title = "aes-128-ctr encrypt in a GPU's memory, by threads per block"
            add("s2", "launch", title, "cuda", size, seconds, threads=0, threads_per_block=block)
        gains.append(
            {
                "cipher": "aes-128-ctr",
                "operation": "encrypt",
                "message_bytes": size,
                "threads_per_block": 512,
                "built_in_threads_per_block": 768,
                "choices": 31,
                "seconds_median": 6e-6 + size / 900e9,
                "gain_over_mean": 0.12,
                "gain_over_worst": -0.01,
            }
        )
    for size in (64, 1 << 20):
        for contender in ("openssl", "serial", "threads", "mpi, root"):
            add("s3", "engines", modes, contender, size, 1e-7 + size / 5e9)
        for contender in ("openssl", "textbook", "64 KB products", "t-tables", "aes-ni"):
            add("s3", "tables", "aes-128-ecb encrypt on one core", contender, size, 1e-7 + size / 1e9)
        for stage in ("copy in", "kernel", "copy out", "total"):
            add("s3", "profile", "ecb: step by step", "ecb", size, None, stage=stage, threads=0)
    for size in (1000, 10**6):
        for stage in ("load", "process", "store", "total"):
            add("s4", "stages", "one file", "one thread", size, 1e-5 + size / 4e9, stage=stage)
        add("s4", "stages", "one file", "one thread", size, None, stage="copy in", reason="nothing to copy")
    for numbers in (1, 4096):
        add("s5", "sums", "sums", "cpu", 512 * numbers, 2e-8 * numbers, numbers=numbers)
        add("s5", "sums", "sums", "gpu, both copies", 512 * numbers, 1e-5, threads=0, numbers=numbers)
    return head(
        "studies", peer="OpenSSL 3.0.19", gpus=[], results=results, gains=gains, ablation=rsa_ablation()["ablation"]
    )


KINDS = {
    "aes": aes,
    "gpu": gpu,
    "rsa": rsa,
    "rsa-queue": rsa_queue,
    "rsa-keys": rsa_keys,
    "rsa-ablation": rsa_ablation,
    "file": file,
    "mpi": mpi,
    "studies": studies,
}


def write(folder, name, value):
    path = folder / f"{name}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path
