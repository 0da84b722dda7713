#!/usr/bin/env python3
"""Fits all constants of bench/measured/fitted.json at once to the published steps of one half (bench/halves.py).

    bench/fit.py BUILD/bin                # prints what it would change
    bench/fit.py BUILD/bin --write        # writes the constants into scenarios/ and fitted.json
    bench/fit.py BUILD/bin --knock-out    # what each key is worth; ends with 3 if one is worth nothing

Minimised is the sum over jobs of the mean |log(predicted / measured)| of their rows, so that a plan that was run in
four containers counts once, and over constants of (change / spread)^2 / 2 from the value that a source gives
(`prior`). A constant stands in one file of
scenarios/clusters or scenarios/frameworks; it acts on the rows whose cluster or framework takes it from that file.
One of scenarios/laws acts on all rows.
With --knock-out each key is set to its `neutral` value everywhere, the others staying as they are, and the other half
tells what it is worth. One whose removal costs less than WORTH points of the mean error of all rows, and less than
GROUP_WORTH of every group of ROWS_OF_GROUP rows or more, is taken out once more with the others fitted anew, and
refused if that costs no more. With --write the figures go into fitted.json.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import halves

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "bench/measured"
FITTED = TABLES / "fitted.json"
DATA = ROOT / "scenarios"
FIRST_STEP = 0.06  # of a constant
LAST_STEP = 0.004
ROW = 0.05  # a row that is so far off weighs as much as a constant that is sqrt(2) spreads from its prior
SMALL = 0.02  # errors below this weigh by their squares
WORTH = 0.1  # points of the mean error of all tested rows
GROUP_WORTH = 1.0
ROWS_OF_GROUP = 5
SWEEPS_WITHOUT = 4
DIFFERENT = 3  # exit code, since an exception ends with 1


# ---- constants in files --------------------------------------------------------

def place_of(text, key):
    """The span of the value of a.b.c in YAML of two levels of indentation, flow maps inside."""
    parts = key.split(".")
    begin, end, indent = 0, len(text), 0
    for part in parts:
        found = re.compile(rf"^ {{{indent}}}{re.escape(part)}:[ \t]*", re.MULTILINE).search(text, begin, end)
        if not found:
            flow = re.compile(rf"[{{ ,]\"?{re.escape(part)}\"?: *").search(text, begin, end)
            if not flow:
                return None
            begin = flow.end()
            end = begin + re.compile(r"[^,}\n]*").match(text, begin).end() - begin
            continue
        begin = found.end()
        after = re.compile(rf"^ {{0,{indent}}}\S", re.MULTILINE).search(text, begin)
        end = after.start() if after else len(text)
        indent += 2
    value = re.compile(r"[^\s,}#]+").match(text, begin)
    return (begin, value.end()) if value else None


class Files:
    """The texts of the clusters and frameworks, and the chain of files from which each takes its keys."""

    def __init__(self):
        self.texts = {str(path.relative_to(DATA)): path.read_text(encoding="utf-8")
                      for folder in ("clusters", "frameworks", "laws") for path in sorted((DATA / folder).iterdir())}

    def value(self, file, key):
        text = self.texts[file]
        place = place_of(text, key)
        return float(text[place[0]:place[1]]) if place else None

    def with_values(self, constants, values):
        texts = dict(self.texts)
        for constant, value in zip(constants, values):
            for key, factor in [(constant["key"], 1.0), *constant.get("with", {}).items()]:
                for file in constant["files"]:
                    text = texts[file]
                    place = place_of(text, key)
                    if place is None:
                        sys.exit(f"{file}: it has no '{key}'")
                    texts[file] = text[:place[0]] + f"{value * factor:.4g}" + text[place[1]:]
        return texts

    def source_of(self, folder, name, key):
        """The file from which a cluster or framework takes a key; None: from none."""
        while name is not None:
            file = f"{folder}/{name}.yaml"
            place = place_of(self.texts[file], key)
            if place is not None:
                other = re.compile(r"\{as: *([\w.-]+)\}").match(self.texts[file], place[0])
                if other is None:
                    return file
                name = other[1]
                continue
            base = re.search(r"^(?:base|as): *([\w.-]+)", self.texts[file], re.MULTILINE)
            name = base[1] if base else None
        return None


# ---- rows ------------------------------------------------------------------------

class Row:
    def __init__(self, table, line, files, constants):
        stated = json.loads(line)
        self.table, self.line, self.name = table, line, stated["row"]
        self.job = halves.job_of(stated)
        self.fitted = halves.is_fitted(table, stated)
        scenario = stated["scenario"]
        name_of = lambda of: of.get("base") if isinstance(of, dict) else of  # noqa: E731
        cluster, framework = name_of(scenario.get("cluster")), name_of(scenario.get("framework", {}))
        self.group = f"{cluster}, {framework}"
        named = {"clusters": cluster, "frameworks": framework}
        folder_of = lambda constant: constant["files"][0].split("/")[0]  # noqa: E731
        self.constants = [at for at, constant in enumerate(constants) if folder_of(constant) == "laws" or files.source_of(
            folder_of(constant), named[folder_of(constant)], constant["key"]) in constant["files"]]


def read_rows(files, constants):
    return [Row(table.stem, line, files, constants) for table in sorted(TABLES.glob("*.jsonl"))
            if table.stem not in halves.NO_STEPS for line in table.read_text(encoding="utf-8").splitlines()]


# ---- the fit -----------------------------------------------------------------------

def size_of(error):
    """Of a small error as its square, of a large one as itself, so that a row that is far off decides nothing."""
    return math.sqrt(error ** 2 + SMALL ** 2) - SMALL


class Fit:
    def __init__(self, program, spec, verbose=True):
        self.program = program
        self.files = Files()
        self.constants = spec["constants"]
        self.rows = read_rows(self.files, self.constants)
        self.verbose = verbose
        jobs = collections.Counter(row.job for row in self.rows)
        self.weights = [1 / jobs[row.job] for row in self.rows]

    def errors(self, values, which):
        """log(predicted / measured) of the rows of some numbers; None where a row states no time."""
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            (data / "models").symlink_to(ROOT / "models")
            for entry in DATA.iterdir():
                if entry.name not in ("clusters", "frameworks", "laws"):
                    (data / "scenarios").mkdir(exist_ok=True)
                    (data / "scenarios" / entry.name).symlink_to(entry)
            for file, text in self.files.with_values(self.constants, values).items():
                (data / "scenarios" / file).parent.mkdir(exist_ok=True)
                (data / "scenarios" / file).write_text(text, encoding="utf-8")
            table = data / "rows.jsonl"
            table.write_text("\n".join(self.rows[at].line for at in which) + "\n", encoding="utf-8")
            done = subprocess.run([self.program, "validate-cost", table, "--json", "-"], capture_output=True,
                                  text=True, env={**os.environ, "DEBUBBLE_DATA_DIR": folder})
        if done.returncode != 0:
            sys.exit(done.stderr)
        said = json.loads(done.stdout)["rows"]
        assert len(said) == len(which)
        return [math.log(row["predicted_s"] / row["measured_s"]) if "error" in row else None for row in said]

    def penalty(self, at, value):
        prior = self.constants[at].get("prior")
        return ROW * ((value - prior["value"]) / prior["spread"]) ** 2 / 2 if prior else 0.0

    def part(self, at, value, which, errors):
        """What one constant answers for: the errors of its rows, and its distance from its source's value."""
        return self.penalty(at, value) + sum(self.weights[row] * size_of(error) for row, error in zip(which, errors)
                                             if error is not None and at in self.rows[row].constants)

    def colours(self, free):
        """Constants of the same key act on different rows, so that one run tries all of them."""
        of = collections.defaultdict(list)
        for at in free:
            of[self.constants[at]["key"]].append(at)
        return list(of.values())

    def scale(self, at, value):
        return max(abs(value), self.constants[at].get("scale", 0))

    def run(self, values, which, free, sweeps, keep=lambda values: None):
        """Hooke and Jeeves' pattern search: a step up, else one down, else a step of half the size."""
        values = list(values)
        steps = {at: FIRST_STEP * self.scale(at, values[at]) for at in free}
        errors = self.errors(values, which)
        for sweep in range(sweeps):
            for colour in self.colours(free):
                left = [at for at in colour if abs(steps[at]) >= LAST_STEP * self.scale(at, values[at])]
                for again in (False, True):
                    if not left:
                        break
                    moved = list(values)
                    for at in left:
                        constant = self.constants[at]
                        moved[at] = min(max(values[at] + steps[at], constant["least"]), constant["most"])
                    after = self.errors(moved, which)
                    better = {at for at in left if moved[at] != values[at] and
                              self.part(at, moved[at], which, after) < self.part(at, values[at], which, errors)}
                    for row, number in enumerate(which):
                        if better & set(self.rows[number].constants):
                            errors[row] = after[row]
                    for at in left:
                        if at in better:
                            values[at] = moved[at]
                            steps[at] *= 1.5
                        else:
                            steps[at] *= -0.5 if again else -1
                    left = [at for at in left if at not in better]
            keep(values)
            if self.verbose:
                total = sum(self.weights[row] * size_of(error) for row, error in zip(which, errors) if error is not None)
                print(f"sweep {sweep + 1}: {total:.4f} + {sum(self.penalty(at, values[at]) for at in free):.4f}",
                      file=sys.stderr, flush=True)
            if all(abs(steps[at]) < LAST_STEP * self.scale(at, values[at]) for at in free):
                break
        return values, errors

    def half(self, fitted):
        return [at for at, row in enumerate(self.rows) if row.fitted == fitted]


def mean(sizes):
    return sum(sizes) / len(sizes) if sizes else float("nan")


def percent_off(errors):
    return [100 * abs(math.expm1(error)) for error in errors if error is not None]


def median(sizes):
    sizes = sorted(sizes)
    return sizes[len(sizes) // 2] if sizes else float("nan")


def words(fit, values, which):
    errors = percent_off(fit.errors(values, which))
    return f"mean {mean(errors):.2f} %, median {median(errors):.2f} % of {len(errors)} rows"


def group_means(fit, errors, which):
    """The mean error of all rows, and of those of each cluster and framework."""
    of = collections.defaultdict(list)
    for number, error in zip(which, errors):
        if error is not None:
            for group in ("all", fit.rows[number].group):
                of[group].append(100 * abs(math.expm1(error)))
    return {group: mean(sizes) for group, sizes in of.items() if group == "all" or len(sizes) >= ROWS_OF_GROUP}


def knock_out(fit, spec, values, tested, write):
    base = group_means(fit, fit.errors(values, tested), tested)
    idle = []
    for colour in fit.colours(range(len(values))):
        key = fit.constants[colour[0]]["key"]
        without = list(values)
        for at in colour:
            without[at] = fit.constants[at]["neutral"]
        after = group_means(fit, fit.errors(without, tested), tested)
        cost = after["all"] - base["all"]
        group = max(base, key=lambda of: after[of] - base[of])
        print(f"{key:42} {base['all']:.2f} -> {after['all']:.2f} %, most for {group}: {base[group]:.2f} -> {after[group]:.2f} %")
        if cost < WORTH and after[group] - base[group] < GROUP_WORTH:
            others = [at for at in range(len(values)) if at not in colour]
            refitted, _ = fit.run(without, fit.half(True), others, SWEEPS_WITHOUT)
            after = group_means(fit, fit.errors(refitted, tested), tested)
            cost = after["all"] - base["all"]
            group = max(base, key=lambda of: after[of] - base[of])
            print(f"{'with the others fitted anew':>42} {base['all']:.2f} -> {after['all']:.2f} %, most for {group}: "
                  f"{base[group]:.2f} -> {after[group]:.2f} %")
            if cost < WORTH and after[group] - base[group] < GROUP_WORTH:
                idle.append(key)
        for at in colour:
            fit.constants[at]["worth"] = round(cost, 2)
    if write:
        FITTED.write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")
    for key in idle:
        print(f"{key} is worth nothing: take it out", file=sys.stderr)
    sys.exit(DIFFERENT if idle else 0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("bin", type=pathlib.Path, help="folder of the built programs")
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--knock-out", action="store_true")
    arguments.add_argument("--sweeps", type=int, default=8)
    arguments = arguments.parse_args()
    spec = json.loads(FITTED.read_text(encoding="utf-8"))
    fit = Fit(arguments.bin.resolve() / "debubble", spec)
    begin = [fit.files.value(constant["files"][0], constant["key"]) for constant in fit.constants]
    lost = [f"{constant['files'][0]}: it has no '{constant['key']}'" for constant, value in zip(fit.constants, begin)
            if value is None]
    if lost:
        sys.exit("\n".join(lost))
    fitted, tested = fit.half(True), fit.half(False)
    if arguments.knock_out:
        knock_out(fit, spec, begin, tested, arguments.write)
    print(f"before: fitted {words(fit, begin, fitted)}; tested {words(fit, begin, tested)}")
    def write(values):
        for at, (constant, value) in enumerate(zip(fit.constants, values)):
            constant["value"] = float(f"{value:.4g}")
            constant["rows"] = sum(at in fit.rows[row].constants for row in fitted)
        texts = fit.files.with_values(fit.constants, values)
        for path, text in [*((DATA / file, text) for file, text in texts.items()),
                           (FITTED, json.dumps(spec, indent=1) + "\n")]:
            if path.read_text(encoding="utf-8") != text:
                aside = path.with_name(path.name + ".new")
                aside.write_text(text, encoding="utf-8")
                aside.replace(path)

    values, _ = fit.run(begin, fitted, range(len(begin)), arguments.sweeps,
                        write if arguments.write else lambda values: None)
    print(f"after: fitted {words(fit, values, fitted)}; tested {words(fit, values, tested)}")
    for at, (constant, old, new) in enumerate(zip(fit.constants, begin, values)):
        rows = sum(at in fit.rows[row].constants for row in fitted)
        print(f"  {constant['files'][0]:34} {constant['key']:34} {old:.4g} -> {new:.4g} ({rows} rows)")


if __name__ == "__main__":
    main()
