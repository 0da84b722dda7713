#!/usr/bin/env python3
"""How the cost of a prediction grows with pipeline ranks and microbatches, for every schedule.

    bench/growth.py build/release/bin/debubble [SCHEDULE...]

Each schedule is simulated with p = 8, 16, 32 and with m = 64, 128, 256, two layers of GPT-3 in a stage,
memory and allocators included. A step counts instructions, which do not depend on what else a machine
does: by perf where it counts them, else under valgrind. What is compared is the growth of the second
doubling over that of the first one, in which the start of the program cancels: 2 where the cost is
linear, 4 where it is quadratic. The exit status is 1 where a schedule grows by more than LIMIT, or by
more than what its row in KNOWN says.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 2.5
# (schedule, axis): the greatest ratio that is known, and why.
KNOWN = {
    # Between warm-up and steady state a rank runs as many forwards and backward-inputs in turn as W wait, whose
    # number grows with its own: each plays them in its allocator by itself (zb-h1 has half as many).
    ("zb-h2", "p"): 2.8,
    # A rank's warm-up is as long as its distance from the end, and each plays its own in its allocator.
    ("dualpipe-v", "p"): 2.6,
}

AXES = {"p": [(8, 128), (16, 128), (32, 128)], "m": [(8, 64), (8, 128), (8, 256)]}


def schedules(program):
    listed = subprocess.run([program, "schedule", "--list"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line and not line.startswith(" ")]


def arguments(schedule, chunks, ranks, micro_batches):
    keys = {"nodes": ranks, "parallel.pipeline": ranks, "model.layers": 2 * chunks * ranks,
            "training.global_batch": micro_batches, "schedule": f"{{name: {schedule}, stages_per_rank: {chunks}}}"}
    return ["simulate", "gpt3-175b"] + [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]


def chunks_of(program, schedule):
    """The stages of a rank that the schedule takes; None where it takes no such pipeline."""
    for chunks in (1, 2):
        if subprocess.run([program] + arguments(schedule, chunks, 8, 64), capture_output=True).returncode in (0, 1):
            return chunks
    return None


def counts_instructions():
    if not shutil.which("perf"):
        return False
    seen = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    return seen.returncode == 0 and re.match(r"\d+,", seen.stderr) is not None


def instructions(program, rest, by_perf):
    if by_perf:
        seen = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", program] + rest,
                              capture_output=True, text=True)
        return int(re.search(r"^(\d+),", seen.stderr, re.M).group(1))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program] + rest,
                       capture_output=True, text=True)
        with open(out) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))


def main():
    program, wanted = sys.argv[1], sys.argv[2:]
    by_perf = counts_instructions()
    if not by_perf and not shutil.which("valgrind"):
        print("growth: neither perf nor valgrind counts instructions here; skipped")
        return 0
    failed = False
    print(f"{'schedule':<20}{'axis':<6}{'M instructions':<26}{'ratio':>6}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for schedule in wanted or schedules(program):
            chunks = chunks_of(program, schedule)
            if chunks is None:
                print(f"{schedule:<20}takes no pipeline of 8 ranks with one or two stages each")
                continue
            points = sorted({point for axis in AXES.values() for point in axis})
            counted = dict(zip(points, workers.map(
                lambda point: instructions(program, arguments(schedule, chunks, *point), by_perf), points)))
            for axis, three in AXES.items():
                a, b, c = (counted[point] for point in three)
                ratio = (c - b) / (b - a)
                most = KNOWN.get((schedule, axis), LIMIT)
                failed |= ratio > most
                print(f"{schedule:<20}{axis:<6}{'  '.join(f'{n / 1e6:,.0f}' for n in (a, b, c)):<26}{ratio:>6.2f}"
                      + (f"  more than {most}" if ratio > most else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
