#!/usr/bin/env python3
"""Lists what a build tests, one line a case, so that two lists tell what a change loses.

    list_cases.py BUILD...              the cases of these build folders together
    list_cases.py --lost BEFORE AFTER   the lines of one list that another one lacks; fails if there is one
    list_cases.py --once BUILD          fails if a GoogleTest case of a program is in none of its entries, or in two

A line is an entry of ctest ("entry cli_run"), a case of a GoogleTest program, whichever program holds it
("case Lower.KeepsOrder"), or a case of a Python test ("python tests/cli/run_test.py test_trains"). A case that
several programs hold has as many lines."""

import collections
import fractions
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def entries(build):
    answer = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
    return [test for test in json.loads(answer.stdout)["tests"] if "command" in test]


def google_cases(program, *options):
    answer = subprocess.run([program, *options, "--gtest_list_tests"], check=True, capture_output=True, text=True)
    suite = None
    for line in answer.stdout.splitlines():
        name = line.split("  #")[0].rstrip()
        if not line.startswith(" "):
            suite = name
        elif suite:
            yield f"case {suite}{name.strip()}"


def python_cases(file):
    for name in re.findall(r"^    def (test_\w+)", file.read_text(), re.MULTILINE):
        yield f"python {file.relative_to(ROOT)} {name}"


def cases(build):
    found = collections.Counter()
    files = set()
    for test in entries(build):
        found[f"entry {test['name']}"] += 1
        for word in test["command"]:
            if word.endswith(".py") and ROOT in pathlib.Path(word).resolve().parents:
                files.add(pathlib.Path(word).resolve())
    for program in sorted((build / "bin").glob("*_tests")):
        found.update(google_cases(program))
    for file in sorted(files):
        found.update(python_cases(file))
    return found


def run_otherwise(build):
    """Cases that the entries of their program do not run once. Entries that share the cases of a folder have a part of
    each; with variables of its own an entry runs cases once more, and each of them once again."""
    listed = {}
    times = collections.defaultdict(lambda: collections.defaultdict(fractions.Fraction))
    for test in entries(build):
        if not any(word.startswith("--folder=") for word in test["command"]):
            continue
        command = tuple(test["command"])
        if command not in listed:
            listed[command] = list(google_cases(*command))
        given = next((p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT"), [])
        shards = [int(v.split("=")[1]) for v in given if v.startswith("GTEST_TOTAL_SHARDS=")] or [1]
        others = tuple(v for v in given if not v.startswith("GTEST_"))
        for case in listed[command]:
            times[command[0], others][case] += fractions.Fraction(1, shards[0])
    for program in sorted({command[0] for command in listed}):
        for case in google_cases(program):
            if times[program, ()][case] != 1:
                yield f"{pathlib.Path(program).name}: {case} runs {times[program, ()][case]} times"
    for (program, others), found in times.items():
        yield from (f"{program}: {case} runs {n} times with {others}" for case, n in found.items() if others and n != 1)


def read_list(path):
    return collections.Counter(pathlib.Path(path).read_text().splitlines())


def main(words):
    if words[:1] == ["--lost"] and len(words) == 3:
        lost = read_list(words[1]) - read_list(words[2])
        for line, times in sorted(lost.items()):
            print(line if times == 1 else f"{line} ({times} times)")
        return 1 if lost else 0
    if words[:1] == ["--once"] and len(words) == 2:
        otherwise = list(run_otherwise(words[1]))
        print("\n".join(otherwise))
        return 1 if otherwise else 0
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    together = collections.Counter()
    for build in words:
        together |= cases(pathlib.Path(build))
    for line in sorted(together.elements()):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
