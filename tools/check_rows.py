#!/usr/bin/env python3
"""Prints which rows of AES and GCM the tests ran, and fails if one that this processor could run was not run. (Tests of RSA
go through all rows of bignum by themselves.)

usage: check_rows.py STOCKADE JUNIT      STOCKADE is the command that was built, JUNIT what ctest --output-junit wrote
       check_rows.py --self-test         gives itself reports with a row left out, skipped or failed

Every suite (unit, vectors, cross) must have run for every row that `stockade info --json` calls available here.
"""

import json
import subprocess
import sys
import xml.etree.ElementTree as xml

SUITES = ("unit", "vectors", "cross")


def available_rows(info):
    """The rows of AES that this processor runs."""
    rows = [row["name"] for row in info["rows"] if row["primitive"] == "aes" and row["available"]]
    if len(rows) < 2:
        raise SystemExit("check_rows: 'stockade info --json' names fewer than two rows of AES: its form has changed")
    return rows


def outcomes(junit):
    """Name of a test -> 'run', 'skipped' or 'failed'."""
    found = {}
    for case in xml.fromstring(junit).iter("testcase"):
        state = "run"
        if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            state = "skipped"
        elif case.find("failure") is not None or case.get("status") == "fail":
            state = "failed"
        found[case.get("name")] = state
    return found


def check(rows, found):
    """The lines to print, and how many rows are missing."""
    lines, missing = [], 0
    for suite in SUITES:
        for row in rows:
            state = found.get(f"{suite}.{row}", "missing")
            lines.append(f"rows: {suite}.{row}: {state}")
            missing += state != "run"
    others = sorted(name for name, state in found.items()
                    if state == "skipped" and name.split(".")[0] in SUITES and name.split(".")[-1] not in rows)
    lines += [f"rows: {name}: not for this processor" for name in others]
    return lines, missing


def self_test():
    def report(**states):
        bodies = {"run": "", "skipped": '<skipped message="77"/>', "failed": '<failure message=""/>'}
        cases = "".join(f'<testcase name="{name.replace("__", ".")}" status="run">{bodies[state]}</testcase>'
                        for name, state in states.items())
        return outcomes(f"<testsuite>{cases}</testsuite>")

    rows = ["aesni", "portable"]
    whole = {f"{suite}__{row}": "run" for suite in SUITES for row in rows}
    assert check(rows, report(**whole))[1] == 0
    assert check(rows, report(**whole, unit__vaes512="skipped"))[1] == 0
    for state in ("skipped", "failed"):
        assert check(rows, report(**{**whole, "cross__aesni": state}))[1] == 1
    del whole["unit__portable"]
    lines, missing = check(rows, report(**whole))
    assert missing == 1 and "rows: unit.portable: missing" in lines
    print("check_rows: every planted gap was found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    info = json.loads(subprocess.run([sys.argv[1], "info", "--json"], check=True, capture_output=True).stdout)
    with open(sys.argv[2], encoding="utf-8") as file:
        lines, missing = check(available_rows(info), outcomes(file.read()))
    print("\n".join(lines))
    if missing:
        raise SystemExit(f"check_rows: {missing} of what this processor could run did not run")


if __name__ == "__main__":
    main()
