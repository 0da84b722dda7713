#!/usr/bin/env python3
"""Simulated beside executed: calibrates this machine, then simulates and runs a small GPT on two
ranks by several schedules, several times over, and prints the table of docs/benchmarks.md.

Wants a quiet machine with a core per rank: the figures are of the machine as it was during the
calibration. Usage: bench/calibrated.py BUILD/bin [runs]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIO = "two-rank-gpt"
SCHEDULES = {
    "gpipe": [],
    "1f1b": [],
    "zb-h1": [],
    "interleaved-1f1b": ["parallel.stages_per_rank=2"],
}
STEPS = 15
TEXT = Path(__file__).resolve().parent.parent / "scenarios/data/tales.txt"


def debubble(bin_folder, *words):
    done = subprocess.run([bin_folder / "debubble", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"debubble {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def settings(schedule):
    pairs = [f"schedule={schedule}", *SCHEDULES[schedule]]
    return [word for pair in pairs for word in ("--set", pair)]


def step_time(bin_folder, verb, schedule, *words):
    figures = json.loads(
        debubble(bin_folder, verb, SCENARIO, *settings(schedule), *words, "--json", "-"))
    return figures["step_time_s"]


def main():
    bin_folder = Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    simulated = {schedule: [] for schedule in SCHEDULES}
    executed = {schedule: [] for schedule in SCHEDULES}
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder) / "here.yaml"
        for _ in range(runs):  # a process computes a few per cent faster or slower than the next
            debubble(bin_folder, "calibrate", "--scenario", SCENARIO, "--steps", "20",
                     "--out", cluster)
            for schedule in SCHEDULES:
                simulated[schedule].append(
                    step_time(bin_folder, "simulate", schedule, "--set", f"cluster={cluster}"))
                executed[schedule].append(
                    step_time(bin_folder, "run", schedule, "--set", f"training.data.text={TEXT}",
                              "--steps", str(STEPS), "--resume", "never"))
    print(f"load before: {load:.1f} on {cores} cores; {runs} calibrations, each with a run of "
          f"{STEPS} steps\n")
    print("| schedule | simulated, ms | executed, ms | error of the medians | of single runs |")
    print("|---|---|---|---|---|")
    for schedule in SCHEDULES:
        said, was = statistics.median(simulated[schedule]), statistics.median(executed[schedule])
        errors = [a / b - 1 for a, b in zip(simulated[schedule], executed[schedule])]
        print(f"| {schedule} | {said * 1e3:.2f} | {was * 1e3:.2f} | {said / was - 1:+.1%} | "
              f"{min(errors):+.1%} to {max(errors):+.1%} |")


if __name__ == "__main__":
    main()
