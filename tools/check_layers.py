#!/usr/bin/env python3
"""Checks every include of include/, src/ and cmd/ against tools/layers.txt.

usage: check_layers.py [ROOT]        exit status 1 and one line per violation
       check_layers.py --self-test   plants each kind of violation in a scratch tree and expects it to be found
"""

import fnmatch
import pathlib
import re
import sys
import tempfile

SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Rules:
    def __init__(self, text):
        self.order, self.kernels, self.only, self.free = [], {}, [], []
        section = None
        for line in text.splitlines():
            if not line or line.startswith("# "):
                continue
            if heading := re.fullmatch(r"\[(\w+)\]", line):
                section = heading[1]
                continue
            left, _, right = line.rpartition(" = ")
            if section == "order":
                self.order.append(line)
            elif section == "kernels":
                self.kernels[left] = right.split()
            elif section == "only":
                self.only.append((re.compile(left), right.split()))
            elif section == "free":
                self.free += right.split()
            else:
                raise ValueError(f"layers.txt: line outside a section: {line}")
        if not (self.order and self.kernels.keys() >= {"files", "includes"} and self.only and self.free):
            raise ValueError("layers.txt: a section is empty or missing")

    def layer(self, path):
        """The position of a file's folder in the order, or None."""
        for position, folder in enumerate(self.order):
            if path.startswith(folder + "/"):
                return position
        return None


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def resolve(root, path, name):
    """The file that a quoted include means, relative to the root: from include/, src/, the root or the file's own folder."""
    for folder in ("include", "src", ".", pathlib.PurePosixPath(path).parent):
        if (root / folder / name).is_file():
            return str(pathlib.PurePosixPath(folder, name))
    return None


def check_file(root, path, rules):
    code = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), (root / path).read_text(encoding="utf-8"))
    layer = rules.layer(path)
    if layer is None:
        yield 1, "this folder is not listed in tools/layers.txt"
        return
    is_kernel = matches(path, rules.kernels["files"])
    for include in INCLUDE.finditer(code):
        line = code.count("\n", 0, include.start(2)) + 1
        name = include[2]
        target = f"<{name}>" if include[1] == "<" else resolve(root, path, name)
        if target is None:
            yield line, f'"{name}" is no file of include/, src/, the root or this folder'
            continue
        if is_kernel and not matches(target, rules.kernels["includes"]):
            yield line, f"a kernel file may not include {target}"
        if include[1] == '"':
            target_layer = rules.layer(target)
            if target_layer is None or target_layer > layer:
                yield line, f"{rules.order[layer]} may not include {target}, which comes later in tools/layers.txt"
    for pattern, allowed in rules.only:
        if not matches(path, allowed):
            for found in pattern.finditer(code):
                yield code.count("\n", 0, found.start()) + 1, f"'{found[0]}' may only stand in {' '.join(allowed)}"


def check(root, rules):
    """All violations as 'file:line: text', and how many files were read."""
    paths = [
        path.relative_to(root).as_posix()
        for folder in ("include", "src", "cmd")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in SUFFIXES
    ]
    checked = [path for path in paths if not matches(path, rules.free)]
    return [f"{path}:{line}: {text}" for path in checked for line, text in check_file(root, path, rules)], len(checked)


GOOD_TREE = {
    "include/stockade/stockade.h": "#include <stdint.h>\n",
    "src/base/status.h": '#include "stockade/stockade.h"\n',
    "src/aes/aes_kernels.h": "#include <cstdint>\n",
    "src/aes/aes_aesni.cpp": '#include <immintrin.h>\n#include "aes/aes_kernels.h"\n',
    "src/aes/modes.cpp": '// #include <omp.h>\n#include "base/status.h"\n',
    "src/aes/modes_test.cpp": '#include <gtest/gtest.h>\n#include <openssl/evp.h>\n#include "parallel/plan.h"\n',
    "src/parallel/plan.h": '#include <omp.h>\n#include "aes/aes_kernels.h"\n',
    "cmd/stockade/ui.h": "",
    "cmd/stockade/main.cpp": '#include "ui.h"\n#include "stockade/stockade.h"\n',
}
# file, its content, what the complaint must contain
VIOLATIONS = [
    ("src/aes/modes.cpp", '#include "parallel/plan.h"\n', "may not include src/parallel/plan.h"),
    ("include/stockade/stockade.h", '#include "base/status.h"\n', "may not include src/base/status.h"),
    ("src/base/status.h", '#include "stockade/missing.h"\n', "is no file of"),
    ("src/aes/modes.cpp", "\n#include <immintrin.h>\n", "modes.cpp:2: '#include <immintrin.h>'"),
    ("src/aes/aes_aesni.cpp", "#include <vector>\n", "a kernel file may not include <vector>"),
    ("src/aes/aes_aesni.cpp", '#include "base/status.h"\n', "a kernel file may not include src/base/status.h"),
    ("src/aes/modes.cpp", "#pragma omp parallel\n", "#pragma omp"),
    ("src/aes/modes.cpp", "int n = omp_get_max_threads();\n", "omp_get_max_threads"),
    ("cmd/stockade/main.cpp", "std::thread worker;\n", "std::thread"),
    ("cmd/stockade/main.cpp", "#include <thread>\n", "#include <thread>"),
    ("src/base/status.h", "MPI_Init(nullptr, nullptr);\n", "MPI_"),
    ("src/aes/modes.cpp", "#include <openssl/aes.h>\n", "#include <openssl/"),
    ("src/aes/modes.cpp", "#include <cpuid.h>\n", "#include <cpuid.h>"),
    ("src/shared/strings.cpp", "", "not listed"),
]


def self_test(rules):
    def run(tree):
        with tempfile.TemporaryDirectory() as folder:
            for path, content in tree.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content, encoding="utf-8")
            return check(pathlib.Path(folder), rules)[0]

    failures = [f"the clean tree was refused: {text}" for text in run(GOOD_TREE)]
    for path, content, expected in VIOLATIONS:
        found = run(GOOD_TREE | {path: content})
        if len(found) != 1 or expected not in found[0]:
            failures.append(f"{path} with {content!r}: expected one complaint with {expected!r}, found {found}")
    return failures


def main(arguments):
    here = pathlib.Path(__file__).resolve().parent
    rules = Rules((here / "layers.txt").read_text(encoding="utf-8"))
    if arguments == ["--self-test"]:
        problems, summary = self_test(rules), f"layers: self-test, {len(VIOLATIONS)} planted violations found"
    elif len(arguments) <= 1 and not arguments[:1] == ["-h"]:
        root = pathlib.Path(arguments[0]) if arguments else here.parent
        problems, count = check(root, rules)
        if count == 0:
            problems = [f"{root}: no source file found"]
        summary = f"layers: {count} files, every include points to an earlier folder"
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    print("\n".join(problems) if problems else summary)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
