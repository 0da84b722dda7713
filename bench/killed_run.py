#!/usr/bin/env python3
"""Kills a training at random and compares its useful share of the time with the prediction.

    bench/killed_run.py build/release/bin/debubble [--steps 2000] [--every 100] [--mttf 12] [--seed 1]

Two clean runs of the scenario `tales` give the time of a save (`overheads` of `run --json`) and of a restart: what the second one, which
goes on after the first, takes beside its steps and saves. Then the same training is killed (SIGKILL) at waits that are drawn from an exponential
distribution by the wall clock, also while it starts, and started again at once, until its last step. After it the clean runs are done once
more, since other work on the machine changes their times, and the means of both are taken. Useful are the seconds of the steps that stay
(`run --metrics`). `validate-cost` predicts the share from the rate of kills, the mean step and these times.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

LONGEST_S = 3600


def command(program, folder, steps, every, resume, metrics, out=None):
    words = [program, "run", "tales", "--steps", str(steps), "--resume", resume, "--set", "training.data.eval=null",
             "--set", f"training.checkpoint={{dir: {folder}, every: {every}, keep: 1}}", "--metrics", str(metrics)]
    return words + (["--json", str(out)] if out else [])


def seconds_of_steps(metrics, first=0):
    """Of each step the seconds of the last time that it was done."""
    seconds = {}
    for line in metrics.read_text().splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # a line that a kill cut
        if "step_time_s" in record and "loss" in record and record["step"] > first:
            seconds[record["step"]] = record["step_time_s"]
    return seconds


def clean_run(program, folder, steps, every, resume):
    """The seconds of its process, and its report."""
    out = folder / "run.json"
    begin = time.monotonic()
    subprocess.run(command(program, folder / "clean", steps, every, resume, folder / "clean.jsonl", out), check=True,
                   timeout=LONGEST_S, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin, json.loads(out.read_text())


def times_of_clean_runs(program, folder, every):
    """The seconds of a save and of a restart. The folder is a new one."""
    folder.mkdir()
    steps = 3 * every
    clean_run(program, folder, steps, every, "never")
    took, run = clean_run(program, folder, 2 * steps, every, "auto")
    save = run["overheads"]["save_s"]
    return save, took - sum(seconds_of_steps(folder / "clean.jsonl", steps).values()) - 3 * save


def killed_run(program, folder, args):
    """The seconds until the last step, and the number of kills."""
    draw = random.Random(args.seed)
    begin = time.monotonic()
    next_kill = begin + draw.expovariate(1 / args.mttf)
    kills = 0
    words = command(program, folder / "killed", args.steps, args.every, "auto", folder / "killed.jsonl")
    while time.monotonic() - begin < LONGEST_S:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            code = process.wait(timeout=max(0, next_kill - time.monotonic()))
            if code != 0:
                sys.exit(f"the run ended with {code}")
            return time.monotonic() - begin, kills
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=60)
            kills += 1
            next_kill += draw.expovariate(1 / args.mttf)
    sys.exit(f"the run did not end within {LONGEST_S} s")


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("program")
    parse.add_argument("--steps", type=int, default=2000)
    parse.add_argument("--every", type=int, default=100)
    parse.add_argument("--mttf", type=float, default=12, help="seconds")
    parse.add_argument("--seed", type=int, default=1)
    args = parse.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        before = times_of_clean_runs(args.program, folder / "before", args.every)
        wall, kills = killed_run(args.program, folder, args)
        after = times_of_clean_runs(args.program, folder / "after", args.every)
        save, restart = ((a + b) / 2 for a, b in zip(before, after))
        kept = seconds_of_steps(folder / "killed.jsonl")
        if len(kept) != args.steps:
            sys.exit(f"{len(kept)} steps are in the metrics, and not {args.steps}")
        step = sum(kept.values()) / args.steps
        measured = sum(kept.values()) / wall
        row = {"row": "tales, killed", "source": "this machine", "kind": "measured", "useful": {"share": measured},
               "inputs": "times", "why": "-",
               "run": {"machines": 1, "gpus": 2, "work": f"{args.steps * step} s", "step": f"{step} s",
                       "reliability": {"failures_per_job_day": 86400 / args.mttf, "detect": "0 s",
                                       "restart": f"{restart} s", "draws": 1000,
                                       "checkpoint": {"every": f"{args.every * step} s", "pause": f"{save} s"}}}}
        table = folder / "runs.jsonl"
        table.write_text(json.dumps(row) + "\n")
        shown = subprocess.run([args.program, "validate-cost", str(table)], check=True, capture_output=True, text=True,
                               timeout=LONGEST_S).stdout
        print(f"step {1e3 * step:.2f} ms, save {1e3 * save:.1f} ms, restart {restart:.3f} s ({before[1]:.3f} before, {after[1]:.3f} "
              f"after), {kills} kills in {wall:.1f} s")
        print("\n".join(shown.splitlines()[:2]))


if __name__ == "__main__":
    main()
