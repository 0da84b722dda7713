#!/usr/bin/env python3
"""Names the entries of ctest that changed files reach in a build that is up to date.

    reached.py BUILD FILE...       files by their paths from the project's root

A source or header reaches the programs that are linked from what includes it, a file of cases the entries of its folder
alone, and a Python test the entry that runs it. Any other file (scenarios, goldens, CMake) may be read by any test, and
reaches all; a document reaches none. Entries with the label `release` are left out: that preset builds what they run."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".cpp", ".h", ".cu"}
NOTHING = {".py", ".md", ""}  # of themselves: scripts by name, documents, `dev`


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


def main(words):
    build = pathlib.Path(words[0]).resolve()
    changed = [pathlib.Path(word) for word in words[1:]]
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
            print(name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
