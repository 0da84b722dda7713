"""Ranks of several GPUs are processes over NCCL, or a sentence says why not. The GPUs and NCCL are
modules that have their names only (fake_gpus/), beside a link to the program."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from tiny_gpt import write_tiny_gpt

PROGRAM, FAKES = map(pathlib.Path, sys.argv[1:3])
BAD_INPUT, WORLD = 2, 3
DETOUR = "tensors between GPUs are staged through the host's memory"
ALONE = {key: value for key, value in os.environ.items()
         if not key.startswith(("OMPI_COMM_", "PMI", "SLURM_", "MASTER_")) and key != "RANK"}


class GpuProcesses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = write_tiny_gpt(self.folder)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.program = shutil.copy(PROGRAM, self.bin / PROGRAM.name)
        for module in ("debubble_cuda.so", "debubble_nccl.so"):
            shutil.copy(FAKES / module, self.bin / module)

    def run_it(self, *words, gpus=2, **variables):
        """What it prints; the GPUs end every run."""
        environment = {**ALONE, "FAKE_GPUS": str(gpus), **variables}
        result = subprocess.run(
            [self.program, "run", self.scenario, "--device", "cuda", "--steps", "1", "--deadline", "20",
             *words], env=environment, capture_output=True, text=True, timeout=120)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        return result.stdout + result.stderr

    def started(self, printed):
        """"2 processes" or "2 threads"."""
        return re.search(r": 1f1b on (\d \w+)", printed).group(1)

    def test_a_rank_of_each_gpu_is_a_process_over_nccl(self):
        printed = self.run_it()
        self.assertEqual(self.started(printed), "2 processes")
        self.assertNotIn(DETOUR, printed)
        self.assertRegex(printed, "GPU [01] is there in name only")

    def test_the_ranks_of_one_gpu_are_threads(self):
        printed = self.run_it(gpus=1)
        self.assertEqual(self.started(printed), "2 threads")
        self.assertNotIn(DETOUR, printed)

    def test_without_nccl_a_sentence_says_what_that_costs(self):
        (self.bin / "debubble_nccl.so").unlink()
        printed = self.run_it()
        self.assertEqual(self.started(printed), "2 threads")
        self.assertIn(f"this build has no NCCL: CMake found no nccl.h and libnccl, or no CUDA toolkit; {DETOUR}",
                      printed)

    def test_an_old_nccl_is_none(self):
        printed = self.run_it(FAKE_NCCL="22505")
        self.assertEqual(self.started(printed), "2 threads")
        self.assertIn("NCCL 2.25.5 does not start kernels in launch order", printed)
        self.assertIn(DETOUR, printed)
        self.assertIn("--comm nccl: NCCL 2.25.5 does not start",
                      self.run_it("--comm", "nccl", FAKE_NCCL="22505"))

    def test_an_old_driver_is_none_for_nccl(self):
        printed = self.run_it(FAKE_DRIVER="12020")
        self.assertEqual(self.started(printed), "2 threads")
        self.assertIn("the driver is for CUDA 12.2, under which NCCL serialises its kernels",
                      printed)

    def test_threads_that_were_asked_for_hear_of_the_detour(self):
        printed = self.run_it("--comm", "local")
        self.assertEqual(self.started(printed), "2 threads")
        self.assertIn("with --comm local the 2 ranks are threads", printed)

    def test_more_ranks_than_gpus_are_threads(self):
        more = ("--set", "gpus=4", "--set", "parallel.data=2")
        printed = self.run_it(*more)
        self.assertEqual(self.started(printed), "4 threads")
        self.assertIn(f"4 ranks share 2 GPUs, and NCCL needs one GPU for each rank; {DETOUR}", printed)

    def test_processes_without_nccl_hear_of_the_detour(self):
        printed = self.run_it("--comm", "tcp")
        self.assertEqual(self.started(printed), "2 processes")
        self.assertIn(f"--comm tcp moves data in host memory, and {DETOUR}", printed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
