#!/usr/bin/env python3
"""Names the entries of ctest that changed files reach in a build that is up to date, the nearest ones first.

    reached.py BUILD SECONDS FILE...       files by their paths from the project's root

A source or header reaches the programs that are linked from what includes it, a file of cases the entries of its folder
alone, and a Python test the entry that runs it. Any other file (scenarios, goldens, CMake) may be read by any test, and
reaches all; a document reaches none. Entries with the label `release` are left out: that preset builds what they run.

Nearly every program is linked from the core of sim. So the nearest entries are named that take SECONDS together by what
ctest measured the last time, and the others counted on standard error. Near is what few steps lead to, from a file to what it
includes and from a header to its sources; the entries that are as near as the nearest one are always named."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".cpp", ".h", ".cu"}
NOTHING = {".py", ".md", ""}  # of themselves: scripts by name, documents, `dev`
UNMEASURED = 10.0  # seconds of an entry that has not run in this build
FAR = 1000


def ninja(build, *words):
    return subprocess.run(["ninja", "-C", build, *words], check=True, capture_output=True, text=True).stdout


def objects_that_include(build, files):
    """Outputs of ninja that were made from one of these files, itself or through what it includes."""
    found = set()
    output = None
    for line in ninja(build, "-t", "deps").splitlines():
        if line.startswith("    "):
            if (build / line.strip()).resolve() in files:
                found.add(output)
        elif line:
            output = line.split(": #deps")[0]
    return found


def entries(build):
    answer = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
    for test in json.loads(answer.stdout)["tests"]:
        labels = next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), [])
        if "release" not in labels and "command" in test:
            yield test["name"], [pathlib.Path(word) for word in test["command"]]


def reached_entries(build, changed):
    """Names and commands."""
    cases = {file for file in changed if file.name.endswith("_test.cpp")}
    folders = {f"--folder={file.parent}" for file in cases}
    code = {(ROOT / file).resolve() for file in changed if file.suffix in CODE and file not in cases}
    scripts = {(ROOT / file).resolve() for file in changed if file.suffix == ".py"}
    anything = any(file.suffix not in CODE | NOTHING for file in changed)
    objects = objects_that_include(build, code) if code else set()
    reached = {}
    for name, command in entries(build):
        yes = anything or any(str(word) in folders or word.resolve() in scripts for word in command)
        for word in command:
            if yes or build not in word.resolve().parents or not word.is_file():
                continue
            if word not in reached:
                inputs = ninja(build, "-t", "inputs", str(word.relative_to(build)))
                reached[word] = not objects.isdisjoint(inputs.splitlines())
            yes = reached[word]
        if yes or name == "layering":
            yield name, command


def folder(file):
    return file.rpartition("/")[0]


def includers():
    """For every file of code, those that include it; of a source, its header: `x.h` of `x.cpp`, else what it
    includes first, if that lies in its folder."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    code = {file for file in listed if pathlib.Path(file).suffix in CODE and (ROOT / file).is_file()}
    found = {file: set() for file in code}
    for file in code:
        text = (ROOT / file).read_text(encoding="utf-8", errors="replace")
        included = [name for name in re.findall(r'^#\s*include\s+"([^"]+)"', text, re.MULTILINE) if name in code]
        for name in included:
            found[name].add(file)
        if not file.endswith((".h", "_test.cpp")):
            own = file[:file.rindex(".")] + ".h"
            found[file].update([own] if own in code else [name for name in included[:1] if folder(name) == folder(file)])
    return found


def distances(changed):
    """By file of code: the steps from it to the nearest changed file."""
    found = includers()
    steps = {str(file): 0 for file in changed if str(file) in found}
    edge = list(steps)
    while edge:
        file = edge.pop(0)
        for by in found[file]:
            if by not in steps:
                steps[by] = steps[file] + 1
                edge.append(by)
    return steps


def distance_of(command, changed, steps):
    """Of an entry; of a Python test 0, if it is changed itself."""
    if any(word.resolve() in changed for word in command):
        return 0
    for word in map(str, command):
        if word.startswith("--folder="):
            return min((n for file, n in steps.items() if folder(file) == word.removeprefix("--folder=")), default=FAR)
    return FAR


def measured_seconds(build):
    """By entry, from ctest's own record of name, runs and mean."""
    record = build / "Testing/Temporary/CTestCostData.txt"
    lines = record.read_text().split("---")[0].splitlines() if record.is_file() else []
    return {name: float(mean) for name, runs, mean in map(str.split, lines) if runs != "0"}


def main(words):
    build = pathlib.Path(words[0]).resolve()
    left = float(words[1])
    changed = [pathlib.Path(word) for word in words[2:]]
    steps = distances(changed)
    seconds = measured_seconds(build)
    resolved = {(ROOT / file).resolve() for file in changed}
    reached = [(0 if name == "layering" else distance_of(command, resolved, steps), seconds.get(name, UNMEASURED), name)
               for name, command in reached_entries(build, changed)]
    nearest = min((steps for steps, _, name in reached if name != "layering"), default=0)
    left_out = []
    for steps, takes, name in sorted(reached):
        if steps > nearest and takes > left:
            left_out.append((name, takes))
            continue
        left -= takes
        print(name)
    if left_out:
        print(f"{len(left_out)} entries that are reached too take another {sum(takes for _, takes in left_out):.0f} s, and are "
              f"left to ./dev test: {' '.join(name for name, _ in left_out)}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1:])
