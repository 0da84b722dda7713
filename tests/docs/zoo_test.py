#!/usr/bin/env python3
"""The table of docs/reference/zoo.md has every model of the zoo, and the figures that the program prints.

    DEBUBBLE_PROGRAM=build/release/bin/debubble tests/docs/zoo_test.py [--update]

--update plans each model anew: by the first layout of LAYOUTS that can be built and fits, on the fewest GPUs. The test
plans each model once, by the layout of its row.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/zoo.md"
PROGRAM = pathlib.Path(os.environ["DEBUBBLE_PROGRAM"]).resolve()
HEAD = "| model | parameters | for one token | GPUs | layout | step | MFU | causal | peak |"
GIB = 1 << 30

CLUSTER = "hgx-h100"
MICRO_BATCHES = 32
LONGEST = 4096  # tokens
GPUS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048]


def layouts(gpus, experts):
    """Ways to cut a model over so many GPUs, the plainest first: recompute, TP, PP, EP."""
    for recompute in ("none", "full"):
        for pipeline in (1, 2, 4, 8, 16, 32, 64):
            if experts:
                for expert in (8, 16, 32, 64):
                    if gpus % (pipeline * expert) == 0:
                        yield recompute, 1, pipeline, expert
            else:
                for tensor in (1, 2, 4, 8):
                    if gpus % (tensor * pipeline) == 0 and not (tensor < 8 and pipeline > 1):
                        yield recompute, tensor, pipeline, 1


def words_of(layout):
    recompute, tensor, pipeline, expert = layout
    words = [f"{name}{degree}" for name, degree in (("TP", tensor), ("PP", pipeline), ("EP", expert)) if degree > 1]
    words += ["full recompute"] if recompute == "full" else []
    return ", ".join(words or ["DP alone"])


def layout_of(words):
    degrees = {"TP": 1, "PP": 1, "EP": 1}
    recompute = "none"
    for word in words.split(", "):
        if word == "full recompute":
            recompute = "full"
        elif word != "DP alone":
            degrees[word[:2]] = int(word[2:])
    return recompute, degrees["TP"], degrees["PP"], degrees["EP"]


def asked(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def zoo():
    return asked("model", "--list").stdout.split()


class Model:
    def __init__(self, name, folder):
        self.name = name
        self.file = pathlib.Path(folder) / f"{name}.yaml"
        self.counts = json.loads(asked("model", name, "--json", "-").stdout)
        self.experts = self.counts["parameters"] != self.counts["active_parameters"] + self.counts["tower_parameters"]

    def planned(self, gpus, layout):
        """The report of a plan; None if it cannot be built."""
        recompute, tensor, pipeline, expert = layout
        images = self.name.startswith("vit-")
        tokens = self.counts["seq_length"]
        self.file.write_text(f"""name: {self.name}
model: {self.name}
cluster: {CLUSTER}
nodes: {gpus // 8}
parallel: {{tensor: {tensor}, sequence: {str(tensor > 1 and not images).lower()}, pipeline: {pipeline},
           expert: {expert}, zero_stage: 1}}
schedule: 1f1b
training:
  micro_batch: 1
  micro_batches: {MICRO_BATCHES}
  seq_length: {tokens if images else min(tokens, LONGEST)}
  precision: bf16
  attention: flash
  recompute: {recompute}
framework: megatron-2026
""")
        answer = asked("simulate", self.file, "--json", "-")
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def row(self, gpus, layout):
        report = self.planned(gpus, layout)
        if report is None or not report["fits"]:
            return None
        active = f'{self.counts["active_parameters"]:,}' if self.experts else ""
        peak = max(rank["peak_memory_bytes"] for rank in report["ranks"])
        cells = [self.name, f'{self.counts["parameters"]:,}', active, gpus, words_of(layout),
                 f'{report["step_time_s"]:.3f} s', f'{100 * report["mfu"]:.1f} %',
                 f'{100 * report["mfu_causal"]:.1f} %', f"{peak / GIB:.1f} GiB"]
        return "| " + " | ".join(map(str, cells)) + " |"

    def best(self):
        for gpus in GPUS:
            for layout in layouts(gpus, self.experts):
                if row := self.row(gpus, layout):
                    return row
        raise RuntimeError(f"no layout for {self.name}")


def shown():
    """The rows of the page by model, and the cells of each."""
    lines = PAGE.read_text().splitlines()
    at = lines.index(HEAD) + 2
    rows = {}
    for line in lines[at:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = (line, cells)
    return rows


def all_of(work):
    """work(name, folder) of every model, on all cores."""
    with tempfile.TemporaryDirectory(prefix="debubble-zoo-") as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(lambda name: work(name, folder), zoo()))


def update():
    rows = all_of(lambda name, folder: Model(name, folder).best())
    lines = PAGE.read_text().splitlines()
    at = lines.index(HEAD) + 2
    end = at
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    PAGE.write_text("\n".join(lines[:at] + rows + lines[end:]) + "\n")


class Zoo(unittest.TestCase):
    def test_the_table_has_every_model(self):
        self.assertEqual(list(shown()), zoo(), "tests/docs/zoo_test.py --update writes the table")

    def test_each_row_is_what_the_program_prints(self):
        rows = shown()

        def check(name, folder):
            line, cells = rows[name]
            return name, line, Model(name, folder).row(int(cells[3]), layout_of(cells[4]))

        for name, line, now in all_of(check):
            with self.subTest(name):
                self.assertEqual(line, now)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
