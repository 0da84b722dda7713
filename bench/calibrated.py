#!/usr/bin/env python3
"""Simulated beside executed: calibrates this machine, then simulates and runs a small GPT on two
ranks by several schedules, and prints the table of docs/benchmarks.md.

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
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder) / "here.yaml"
        debubble(bin_folder, "calibrate", "--scenario", SCENARIO, "--steps", "20", "--out", cluster)
        print(f"load before: {load:.1f} on {cores} cores; {runs} runs of {STEPS} steps each\n")
        print("| schedule | simulated, ms | executed, ms | least and most, ms | error |")
        print("|---|---|---|---|---|")
        for schedule in SCHEDULES:
            simulated = step_time(bin_folder, "simulate", schedule, "--set", f"cluster={cluster}")
            executed = [
                step_time(bin_folder, "run", schedule, "--set", f"training.data.text={TEXT}",
                          "--steps", str(STEPS), "--resume", "never")
                for _ in range(runs)
            ]
            middle = statistics.median(executed)
            print(f"| {schedule} | {1e3 * simulated:.2f} | {1e3 * middle:.2f} | "
                  f"{1e3 * min(executed):.2f} to {1e3 * max(executed):.2f} | "
                  f"{100 * (simulated / middle - 1):+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
