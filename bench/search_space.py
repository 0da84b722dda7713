#!/usr/bin/env python3
"""What `debubble search` finds without a grid, beside a random search that may take ten times as long, and beside
the shipped grids.

    bench/search_space.py PROGRAM [--seconds S]

For each job: the best plan of `search`, its processor time, and the best plan of random points of a space that has
every degree, chunk, microbatch, sharding, recomputation and schedule, evaluated one after the other for ten times
that time (`debubble sweep` of random rows)."""

import argparse
import csv
import json
import pathlib
import random
import resource
import subprocess
import tempfile

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
JOBS = {  # the shipped scenario with a grid, and what is set of it
    "llama3-70b, 64 H100": ("llama3-70b-sweep", []),
    "llama3-70b, 512 H100": ("llama3-70b-sweep", ["nodes=64", "training.global_batch=1024"]),
    "deepseek-v3, 256 GB200": ("deepseek-v3-gb200-sweep", []),
}
SPACE = {
    "parallel.tensor": [1, 2, 4, 8],
    "parallel.pipeline": [1, 2, 4, 8, 16, 32],
    "parallel.context": [1, 2, 4],
    "parallel.zero_stage": [1, 2, 3],
    "training.micro_batch": [1, 2, 4, 8],
    "training.recompute": ["none", "full", "{modules: [layernorm, mlp]}", "{modules: [layernorm]}"],
    "schedule": ["1f1b", "zb-h1", "zb-v", "gpipe", "dualpipe-v", "v-half",
                 *(f"{{name: interleaved-1f1b, stages_per_rank: {n}}}" for n in (2, 3, 4, 5, 6, 8, 10, 20))],
}
OF_EXPERTS = {
    "parallel.expert": [1, 2, 4, 8, 16, 32, 64],
    "training.recompute": ["none", "full", "{modules: [mla_up_proj]}", "{modules: [mla_up_proj, layernorm, moe]}",
                           "{modules: [mla_up_proj, layernorm, moe_act]}", "{modules: [mla_up_proj, layernorm, moe_act, mlp]}"],
    "schedule": [*SPACE["schedule"], "dualpipe", "{name: combined-1f1b, stages_per_rank: 2}",
                 "{name: combined-1f1b, stages_per_rank: 4}"],
}


def run(program, *arguments):
    """Processor seconds and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{arguments}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def best_of(rows):
    fitting = [float(row["tokens_per_s"]) for row in rows if row["fits"] == "true"]
    return max(fitting, default=0.0)


def without_grid(name):
    return (SCENARIOS / f"{name}.yaml").read_text().split("\nsweep:")[0] + "\n"


def set_of(changes):
    return [word for change in changes for word in ("--set", change)]


def random_search(program, name, changes, seconds, folder):
    """The best of random points, some hundreds at a time, until the time is used; and how many there were."""
    space = {**SPACE, **(OF_EXPERTS if "deepseek" in name else {})}
    drawn, best, used, points = random.Random(7), 0.0, 0.0, 0
    file, out = folder / "random.yaml", folder / "random.csv"
    while used < seconds:
        # A grid of a few values of each key, drawn anew: some hundreds of points.
        lines = []
        for key, values in space.items():
            chosen = drawn.sample(values, min(len(values), 4 if key == "schedule" else 2))
            lines.append(f"  {key}: [{', '.join(map(str, chosen))}]")
        file.write_text(without_grid(name) + "sweep:\n" + "\n".join(lines) + "\n")
        for rest in folder.glob("random.csv*"):
            rest.unlink()
        cost, _ = run(program, "sweep", str(file), "--out", str(out), "--quiet", *set_of(changes))
        rows = list(csv.DictReader(out.open(newline="")))
        best, used, points = max(best, best_of(rows)), used + cost, points + len(rows)
    return best, used, points


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--seconds", type=float, help="of the random search, instead of ten times the search's own")
    asked = arguments.parse_args()
    print("| job | found, tokens/s | processor s | random search | points | s | shipped grid |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for title, (name, changes) in JOBS.items():
            file = folder / "job.yaml"
            file.write_text(without_grid(name))
            cost, said = run(asked.program, "search", str(file), "--json", "-", *set_of(changes))
            found = json.loads(said)["prediction"]["tokens_per_s"]
            best, used, points = random_search(asked.program, name, changes, asked.seconds or 10 * cost, folder)
            _, said = run(asked.program, "search", name, "--json", "-", *set_of(changes))
            shipped = json.loads(said)["prediction"]["tokens_per_s"]
            print(f"| {title} | {found:,.0f} | {cost:.1f} | {best / found - 1:+.1%} | {points:,} | {used:.0f} "
                  f"| {shipped / found - 1:+.1%} |", flush=True)


if __name__ == "__main__":
    main()
