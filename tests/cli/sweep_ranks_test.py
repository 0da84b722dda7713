"""Ranks of a launcher share a sweep. Two of them are killed, then all, as a launcher ends a job; the same command goes on
from what there is, and every point is a row of the results, once.

DEBUBBLE_SWEEP_RANKS and DEBUBBLE_SWEEP_POINTS set the size: `./dev check-all` takes 16 ranks and 100,000 points."""

import csv
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

from program import DONE, PROGRAM, ProgramTest

RANKS = int(os.environ.get("DEBUBBLE_SWEEP_RANKS", "8"))
POINTS = int(os.environ.get("DEBUBBLE_SWEEP_POINTS", "4000"))
KEYS = ["training.seq_length", "parallel.tensor", "parallel.pipeline", "training.micro_batch", "training.recompute"]
SETS = 2 * 4 * 10 * 2  # points of each sequence length, of which one in eight is possible
GRID = """\
model: {base: llama-246m, layers: 2}
cluster: dgx-a100-80gb
gpus: 1
training: {micro_batches: 1, micro_batch: 1}
sweep:
  training.seq_length: {from: 1, to: LENGTHS}
  parallel.tensor: [1, 5]
  parallel.pipeline: [1, 3, 5, 7]
  training.micro_batch: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  training.recompute: [none, full]
"""


class Ranks(ProgramTest):
    def start(self):
        return [subprocess.Popen([PROGRAM, "sweep", self.grid, "--out", self.out, "-j", "1"],
                                 env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": str(RANKS)},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: os.nice(int(os.environ.get("DEBUBBLE_SWEEP_NICE", "0")))) for rank in range(RANKS)]

    def rows(self, rank):
        journal = pathlib.Path(f"{self.out}.worker-{rank}")
        return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0

    def until(self, is_so, what):
        ends = time.monotonic() + 1800
        while not is_so():
            self.assertLess(time.monotonic(), ends, what)
            time.sleep(0.05)

    def test_lose_no_point_when_they_are_killed(self):
        lengths = POINTS // SETS
        self.grid = self.write("grid.yaml", GRID.replace("LENGTHS", str(lengths)))
        self.out = self.folder / "results.csv"
        first = self.start()
        killed = []
        while len(killed) < 2:  # those of which some rows are there, whichever come to run
            self.until(lambda: any(self.rows(rank) > 0 for rank in range(RANKS) if rank not in killed), "no rank has rows")
            killed.append(max((rank for rank in range(RANKS) if rank not in killed), key=self.rows))
            first[killed[-1]].send_signal(signal.SIGKILL)
        self.until(lambda: sum(map(self.rows, range(RANKS))) > 0.3 * POINTS, "the other ranks make no rows")
        for process in first:
            process.send_signal(signal.SIGKILL)
        for process in first:
            process.communicate()
        self.assertFalse(self.out.exists())
        found = sum(self.rows(rank) for rank in range(RANKS))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        again = self.start()
        outputs = [process.communicate(timeout=3600) for process in again]
        took = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        for process, (_, stderr) in zip(again, outputs):
            self.assertEqual(process.returncode, DONE, stderr)
        said = [stdout for stdout, _ in outputs]
        self.assertGreaterEqual(sum(text.startswith(f"{lengths * SETS} points:") for text in said), 1, said)
        for text in said:
            self.assertRegex(text, rf"^({lengths * SETS} points:|all {lengths * SETS} points are done)")
        with open(self.out, newline="") as file:
            seen = [tuple(row[key] for key in KEYS) for row in csv.DictReader(file)]
        self.assertEqual(len(seen), lengths * SETS)
        self.assertEqual(len(set(seen)), lengths * SETS)
        self.assertEqual(self.left_behind(), ["grid.yaml", "results.csv", "results.csv.scenario"])
        resumed = [int(number) for _, stderr in outputs
                   for number in re.findall(r"(\d+) points were already", stderr)]
        self.assertGreaterEqual(max(resumed, default=0), found - RANKS)
        print(f"{RANKS} ranks, {lengths * SETS} points, {found} done before they were killed: resumed in {took:.0f} s, "
              f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.0f} s of processor time, at most "
              f"{after.ru_maxrss / 1024:.0f} MB a process")


if __name__ == "__main__":
    unittest.main()
