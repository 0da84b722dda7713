"""A sweep may be killed at any moment and loses at most the row that it was writing."""

import csv
import io
import random
import subprocess
import time
import unittest

from program import DONE, PROGRAM, ProgramTest
from sweep_test import PLAN

KILLS = 20
GRID = PLAN + """\
sweep:
  parallel.tensor: [1, 2, 4, 5]
  parallel.pipeline: [1, 2, 4]
  training.micro_batch: [1, 2, 4]
  training.seq_length: [256, 512, 1024]
  training.recompute: [none, full]
  schedule: [gpipe, 1f1b, {name: interleaved-1f1b, stages_per_rank: 2}, zb-h1]
"""


class Killed(ProgramTest):
    def start(self):
        return subprocess.Popen([PROGRAM, "sweep", self.grid, "--out", self.out, "-j", "2"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self):
        process = self.start()
        _, stderr = process.communicate(timeout=300)
        self.assertEqual(process.returncode, DONE, stderr)

    def whole_rows(self):
        """Without the Pareto column, which is filled at the end."""
        content = self.out.read_text() if self.out.exists() else ""
        rows = csv.reader(io.StringIO(content[:content.rfind("\n") + 1]))
        return {tuple(row[:-2] + row[-1:]) for row in rows}

    def test_twenty_times_it_ends_in_the_same_file_as_undisturbed(self):
        self.grid = self.write("grid.yaml", GRID)
        self.out = self.folder / "undisturbed.csv"
        began = time.monotonic()
        self.finish()
        lasts = time.monotonic() - began
        undisturbed = self.out.read_bytes()

        self.out = self.folder / "killed.csv"
        chance = random.Random(20)
        kills, safe = 0, set()
        while kills < KILLS:
            process = self.start()
            time.sleep(chance.uniform(0, lasts / 6))
            process.kill()
            process.communicate()
            if process.returncode == DONE:  # it was done before: start over
                self.assertEqual(self.out.read_bytes(), undisturbed)
                self.out.unlink()
                safe = set()
                continue
            kills += 1
            rows = self.whole_rows()
            self.assertLessEqual(safe, rows, "a row that was written is lost")
            safe = rows
        self.finish()
        self.assertEqual(self.out.read_bytes(), undisturbed)
        self.assertEqual(self.left_behind(), ["grid.yaml", "killed.csv", "killed.csv.scenario", "undisturbed.csv",
                          "undisturbed.csv.scenario"])


if __name__ == "__main__":
    unittest.main()
