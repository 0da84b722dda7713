"""The scripts of docs/slurm under a Slurm of the test's own: a sweep, an array, ranks of srun of which one is killed, and a
training over two nodes that is signalled, requeued, and goes on."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from private_slurm import PrivateSlurm, why_not  # noqa: E402

PROGRAM = pathlib.Path(os.environ["DEBUBBLE_PROGRAM"]).resolve()
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "docs/slurm"


@unittest.skipIf(why_not(), why_not())
class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="debubble-slurm-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        (cls.home / "cluster").mkdir()
        os.environ["PATH"] = f"{PROGRAM.parent}:{os.environ['PATH']}"
        cls.slurm = PrivateSlurm(cls.home / "cluster", cpus=16)
        cls.slurm.__enter__()
        cls.addClassCleanup(cls.slurm.__exit__)
        cls.whole = cls.home / "whole.csv"
        subprocess.run([PROGRAM, "sweep", "gpt2-xl-sweep", "--out", cls.whole], check=True, capture_output=True)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.home))

    def said(self, job):
        return "\n".join(f.read_text() for f in sorted(self.folder.glob(f"slurm-{job}*.out"))) + self.slurm.logs()

    def test_1_sweeps_in_one_job(self):
        job = self.slurm.submit(SCRIPTS / "sweep.sbatch", self.folder)
        self.slurm.wait_for(job)
        self.assertEqual(self.slurm.field(job, "ExitCode"), "0:0", self.said(job))
        self.assertEqual((self.folder / "results.csv").read_bytes(), self.whole.read_bytes())

    def test_2_an_array_makes_the_same_bytes(self):
        job = self.slurm.submit(SCRIPTS / "sweep-array.sbatch", self.folder, "--cpus-per-task=2")
        self.slurm.wait_for(job)
        self.assertEqual((self.folder / "results.csv").read_bytes(), self.whole.read_bytes(), self.said(job))
        self.assertEqual([f.name for f in self.folder.glob("results.csv.worker-*")], [])

    def test_3_ranks_of_srun_lose_no_point_with_a_killed_rank(self):
        command = ["srun", "-n", "4", "-N", "2", "-c", "1", "--kill-on-bad-exit=0", "debubble", "sweep",
                   "gpt2-xl-sweep", "--out", "shared.csv", "--jobs", "1"]
        first = subprocess.Popen(command, cwd=self.folder, env=self.slurm.environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        journal = self.folder / "shared.csv.worker-2"
        self.slurm.until(lambda: journal.exists() and len(journal.read_bytes().splitlines()) > 3,
                         "worker 2 has no rows")
        # The rank whose journal it is, by its environment.
        killed = [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and is_rank(p, "2")]
        self.assertTrue(killed, "rank 2 was not found")
        for process in killed:
            os.kill(process, signal.SIGKILL)
        output = first.communicate(timeout=240)[0]
        self.assertNotEqual(first.returncode, 0, output)
        again = self.slurm.run(*command, folder=self.folder)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr + self.slurm.logs())
        self.assertEqual((self.folder / "shared.csv").read_bytes(), self.whole.read_bytes())

    def test_4_a_training_is_requeued_by_a_signal_and_goes_on(self):
        (self.folder / "mine.yaml").write_text(
            "include: tales\ngpus: 4\nparallel: {pipeline: 2, data: 2}\n"
            "training:\n  steps: 60\n  checkpoint: {dir: out/mine, every: 50, keep: 2}\n")
        job = self.slurm.submit(SCRIPTS / "train.sbatch", self.folder)
        metrics = self.folder / "steps.jsonl"
        self.slurm.until(lambda: metrics.exists() and len(steps_in(metrics)) >= 5, "no steps are made", 120)
        self.slurm.signal_job(job)
        self.slurm.until(lambda: self.slurm.field(job, "Restarts") == "1", "the job is not requeued", 120)
        self.slurm.wait_for(job)
        self.assertEqual(self.slurm.field(job, "ExitCode"), "0:0", self.said(job))
        steps = steps_in(metrics)
        self.assertEqual(steps, list(range(1, 61)), self.said(job))
        alone = self.folder / "alone.jsonl"
        subprocess.run([PROGRAM, "run", "mine.yaml", "--launch", "4", "--resume", "never", "--metrics", alone,
                        "--set", f"training.checkpoint.dir={self.folder}/alone"], cwd=self.folder, check=True,
                       capture_output=True, timeout=240)
        self.assertEqual(losses_in(metrics), losses_in(alone))


def is_rank(process, rank):
    try:
        if (process / "comm").read_text().strip() != "debubble":
            return False
        return f"SLURM_PROCID={rank}".encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def rows_in(metrics):
    return [row for row in map(json.loads, metrics.read_text().splitlines()) if "step" in row and "loss" in row]


def steps_in(metrics):
    return [row["step"] for row in rows_in(metrics)]


def losses_in(metrics):
    return [row["loss"] for row in rows_in(metrics)]


if __name__ == "__main__":
    unittest.main(verbosity=2)
