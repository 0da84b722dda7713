#!/usr/bin/env python3
"""Compares simulated with executed steps: calibrates this machine, then simulates and runs a
small GPT by several schedules, several times, and prints the table of docs/benchmarks.md.

    bench/calibrated.py BUILD/bin [runs]
    bench/calibrated.py BUILD/bin [runs] --device cuda

On the processor there are two ranks, which need a quiet machine with a core each; the figures
hold for the state of the machine during the calibration. On a GPU there are four, each on its own
part of the multiprocessors (green contexts), calibrated while the others compute on theirs. Ends
with 3 if the medians of a schedule are more than 5 % apart.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = 0.05
SHORT = 3  # exit code, since an exception ends with 1
TWO_STAGES = ["parallel.stages_per_rank=2"]
SIDES = {
    "cpu": {"scenario": "two-rank-gpt",
            "schedules": {"gpipe": [], "1f1b": [], "zb-h1": [], "interleaved-1f1b": TWO_STAGES}},
    "cuda": {"scenario": ROOT / "bench/four-part-gpt.yaml",
             "schedules": {"gpipe": [], "1f1b": [], "interleaved-1f1b": TWO_STAGES, "zb-h1": [],
                           "zb-v": TWO_STAGES}},
}


class Comparison:
    def __init__(self, arguments):
        self.program = arguments.bin.resolve() / "debubble"
        self.steps = arguments.steps
        self.text = arguments.text
        self.scenario = arguments.scenario or SIDES[arguments.device]["scenario"]
        self.schedules = SIDES[arguments.device]["schedules"]
        self.device = ["--device", arguments.device]
        self.simulated = {schedule: [] for schedule in self.schedules}
        self.executed = {schedule: [] for schedule in self.schedules}

    def debubble(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"debubble {' '.join(map(str, words))}: {done.stderr}", file=sys.stderr)
            sys.exit(2)
        return done.stdout

    def step_time(self, verb, schedule, *words):
        pairs = [f"schedule={schedule}", *self.schedules[schedule]]
        settings = [word for pair in pairs for word in ("--set", pair)]
        figures = self.debubble(verb, self.scenario, *settings, *words, "--json", "-")
        return json.loads(figures)["step_time_s"]

    def round(self, number, cluster):
        """Prints each figure when it is measured, in case the rest is cut off."""
        self.debubble("calibrate", "--scenario", self.scenario, "--steps", "20", "--out", cluster,
                      *self.device)
        print(f"round {number}: calibrated", flush=True)
        for schedule in self.schedules:
            said = self.step_time("simulate", schedule, "--set", f"cluster={cluster}")
            was = self.step_time("run", schedule, "--set", f"training.data.text={self.text}",
                                 "--steps", str(self.steps), "--resume", "never", *self.device)
            self.simulated[schedule].append(said)
            self.executed[schedule].append(was)
            print(f"round {number}: {schedule} simulated {said * 1e3:.2f} ms, "
                  f"executed {was * 1e3:.2f} ms", flush=True)

    def table(self):
        """Prints the table; returns whether all errors are within ALLOWED."""
        near = True
        print("| schedule | simulated, ms | executed, ms | error of the medians | of single runs |")
        print("|---|---|---|---|---|")
        for schedule in self.schedules:
            said, was = (statistics.median(times[schedule])
                         for times in (self.simulated, self.executed))
            errors = [a / b - 1 for a, b in
                      zip(self.simulated[schedule], self.executed[schedule])]
            near = near and abs(said / was - 1) <= ALLOWED
            print(f"| {schedule} | {said * 1e3:.2f} | {was * 1e3:.2f} | {said / was - 1:+.1%} | "
                  f"{min(errors):+.1%} to {max(errors):+.1%} |")
        return near


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path, help="folder of the built debubble")
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--device", choices=SIDES, default="cpu")
    parser.add_argument("--scenario", help="scenario instead of the small GPT")
    parser.add_argument("--steps", type=int, default=15, help="steps of a run")
    parser.add_argument("--text", type=pathlib.Path, default=ROOT / "scenarios/data/tales.txt",
                        help="text to train on")
    parser.add_argument("--limit", type=float, default=24 * 3600, metavar="SECONDS",
                        help="starts no round that would end later, judged by the last one")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    comparison = Comparison(arguments)
    with tempfile.TemporaryDirectory() as folder:
        done, took, end = 0, 0, time.monotonic() + arguments.limit
        while done == 0 or (done < arguments.runs and time.monotonic() + took < end):
            began = time.monotonic()  # processes differ in speed
            comparison.round(done + 1, pathlib.Path(folder) / "here.yaml")
            done, took = done + 1, time.monotonic() - began
    print(f"load before: {load:.1f} on {cores} cores; {done} calibrations, each with a "
          f"run of {arguments.steps} steps\n")
    return 0 if comparison.table() else SHORT


if __name__ == "__main__":
    sys.exit(main())
