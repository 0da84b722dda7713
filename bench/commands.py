#!/usr/bin/env python3
"""What whole commands cost: the table of docs/benchmarks.md, measured in one sitting.

    bench/commands.py PROGRAM [BEFORE] [--rounds 5] [--only TEXT]

Each command runs ROUNDS times, with BEFORE (another build of debubble) in turn where it is given. The
table has medians: seconds by the wall clock, seconds of processor time (user and system), and the ratio
of processor times to those of BEFORE. Wall times mean something only where nothing else runs.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Llama 3 70B on 64 to 512 H100: 20,736 points.
LLAMA = """model: llama3-70b
cluster: hgx-h100
nodes: 8
parallel: {tensor: 4, pipeline: 4, context: 1, data: auto, sequence: true, zero_stage: 1}
training: {global_batch: 512, micro_batch: 1, seq_length: 8192, precision: bf16, attention: flash}
framework: megatron-2026
sweep:
  nodes: [8, 16, 32, 64]
  parallel.tensor: [1, 2, 4, 8]
  parallel.pipeline: [1, 2, 4, 8]
  parallel.context: [1, 2]
  parallel.zero_stage: [0, 1, 2]
  training.micro_batch: [1, 2, 4]
  training.recompute: [none, selective, full]
  schedule:
  - 1f1b
  - {name: interleaved-1f1b, stages_per_rank: 2}
  - {name: interleaved-1f1b, stages_per_rank: 5}
  - zb-h1
  - zb-v
  - gpipe
"""


def deep(schedule, ranks, micro_batches, layers):
    """GPT-3 cut into as many stages, of one or two of its layers each."""
    keys = {"nodes": ranks, "parallel.pipeline": ranks, "model.layers": layers * ranks,
            "training.global_batch": micro_batches, "schedule": schedule}
    return ["simulate", "gpt3-175b"] + [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]


def commands(folder):
    """(name, arguments); a sweep writes its rows to the folder."""
    grid = os.path.join(folder, "llama3.yaml")
    with open(grid, "w", encoding="utf-8") as out:
        out.write(LLAMA)
    rows = os.path.join(folder, "rows.csv")

    def without_grid(name):
        with open(os.path.join(HERE, "..", "scenarios", f"{name}.yaml"), encoding="utf-8") as job:
            text = job.read().split("\nsweep:")[0]
        path = os.path.join(folder, f"{name}.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text + "\n")
        return path

    def sweep(scenario, jobs):
        return ["sweep", scenario, "--out", rows, "--quiet", "-j", str(jobs)]

    small = os.path.join(HERE, "gpt2-xl-sweep.yaml")
    return [
        ("simulate gpt3-175b", ["simulate", "gpt3-175b"]),
        ("simulate deepseek-v3", ["simulate", "deepseek-v3"]),
        ("simulate megatron-gpt-1008b", ["simulate", "megatron-gpt-1008b"]),
        ("1f1b, 1,024 ranks of a layer, 64 microbatches", deep("1f1b", 1024, 64, 1)),
        ("1f1b, 512 ranks of two layers, 256 microbatches", deep("1f1b", 512, 256, 2)),
        ("zb-h1, 128 ranks of two layers, 256 microbatches", deep("zb-h1", 128, 256, 2)),
        ("zb-h1, 512 ranks of two layers, 256 microbatches", deep("zb-h1", 512, 256, 2)),
        ("sweep bench/gpt2-xl-sweep.yaml, 324 points, -j 1", sweep(small, 1)),
        ("the same, -j 2", sweep(small, 2)),
        ("sweep gpt2-xl-sweep, 360 points, 54 of zb-v, -j 1", sweep("gpt2-xl-sweep", 1)),
        ("sweep deepseek-v3-h800-sweep, -j 1", sweep("deepseek-v3-h800-sweep", 1)),
        ("sweep deepseek-v3-gb200-sweep, -j 1", sweep("deepseek-v3-gb200-sweep", 1)),
        ("sweep of Llama 3 70B, 20,736 points, -j 2", sweep(grid, 2)),
        ("search of the same points", ["search", grid]),
        ("search llama3-70b on 512 H100, no grid", ["search", without_grid("llama3-70b-sweep"), "--set", "nodes=64", "--set",
                                                    "training.global_batch=1024"]),
        ("search deepseek-v3 on 256 GB200, no grid", ["search", without_grid("deepseek-v3-gb200-sweep")]),
        ("search --layouts gpt3-175b", ["search", "--layouts", "gpt3-175b"]),
    ]


def measured(program, arguments, folder):
    """Seconds by the wall clock and of processor time."""
    for name in os.listdir(folder):
        if name.startswith("rows.csv"):
            os.remove(os.path.join(folder, name))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run([program] + arguments, capture_output=True, text=True)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):  # 1 says that a plan does not fit
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="one build, and one before it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="commands whose name has this text")
    options = parser.parse_args()
    if len(options.programs) > 2:
        parser.error("two builds at most")
    print("| command | wall clock, s | processor, s |" + (" of before |" if len(options.programs) > 1 else ""))
    print("|---|---|---|" + ("---|" if len(options.programs) > 1 else ""))
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in commands(folder):
            if options.only not in name:
                continue
            runs = {program: [] for program in options.programs}
            for _ in range(options.rounds):
                for program in options.programs:
                    runs[program].append(measured(program, arguments, folder))
            walls, processors = zip(*[[statistics.median(column) for column in zip(*runs[program])]
                                      for program in options.programs])
            ratio = f" {processors[0] / processors[1]:.2f} |" if len(processors) > 1 else ""
            print(f"| {name} | {walls[0]:.3g} | {processors[0]:.3g} |{ratio}", flush=True)


if __name__ == "__main__":
    main()
