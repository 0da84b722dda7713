"""A rank that is killed, or stands still, ends all others in time, in words, with a failure."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from processes import children, is_alive
from tiny_gpt import write_gpt_of_large_messages, write_tiny_gpt

MPIRUN, SUITE, PROGRAM = sys.argv[1:4]
PATIENCE = 3  # seconds of a rank that waits
IN_TIME = 60  # seconds; the job's own end takes PATIENCE and some 5 s
RANKS = 2
TRIES = 4


class LostRank(unittest.TestCase):
    def lose_one(self, how):
        """Sends the signal to the last rank in the middle of the table; returns the output."""
        job = subprocess.Popen([MPIRUN, "-n", str(RANKS), SUITE, "mpi", "--gtest_repeat=20",
                                "--gtest_fail_fast", str(PATIENCE)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.kill)
        output = ""
        for line in job.stdout:  # ctest ends this if none comes
            output += line
            if output.count("[       OK ]") == 5:
                break
        ranks = children(job.pid)
        self.assertEqual(len(ranks), RANKS, output)
        os.kill(ranks[-1], how)
        lost = time.monotonic()
        output += job.communicate(timeout=IN_TIME)[0]
        self.assertLess(time.monotonic() - lost, IN_TIME)
        self.assertNotEqual(job.returncode, 0, output)
        for rank in ranks:  # one that was killed may still be going
            while is_alive(rank) and time.monotonic() - lost < IN_TIME:
                time.sleep(0.05)
            self.assertFalse(is_alive(rank), f"process {rank} is left over")
        return output

    def test_killed(self):
        self.assertRegex(self.lose_one(signal.SIGKILL),
                         r"process rank 1 .* exited on\s+signal 9")

    def test_stalled(self):
        self.assertRegex(self.lose_one(signal.SIGSTOP),
                         r"rank 0 waited 3(\.\d+)? s for .*: rank 1 has not reached it")

    def test_who_waits_for_a_rank_that_does_not_start_says_who_it_is(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scenario = write_tiny_gpt(pathlib.Path(folder.name))
        job = subprocess.run([MPIRUN, "-n", "1", "sleep", str(IN_TIME), ":", "-n", "1", PROGRAM,
                              "run", scenario, "--comm", "mpi", "--steps", "2",
                              "--deadline", str(PATIENCE)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=IN_TIME, check=False)
        self.assertEqual(job.returncode, 3, job.stdout)
        self.assertRegex(job.stdout, r"error: rank 1 waited .* s for the other ranks of its job to "
                                     r"start \(--deadline says how long\)")

    def test_stalled_while_large_messages_are_on_the_way(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scenario = write_gpt_of_large_messages(pathlib.Path(folder.name))
        for number in range(TRIES):
            with self.subTest(number=number):
                self.stall_training(scenario, number % RANKS)

    def stall_training(self, scenario, number):
        job = subprocess.Popen([MPIRUN, "-n", str(RANKS), PROGRAM, "run", scenario,
                                "--steps", "1000000", "--resume", "never",
                                "--deadline", str(PATIENCE)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.kill)
        output = ""
        for line in job.stdout:  # ctest ends this if none comes
            output += line
            if re.search("step +2/", line):
                break
        ranks = children(job.pid)
        self.assertEqual(len(ranks), RANKS, output)
        time.sleep(random.uniform(0, 0.5))  # anywhere in a step
        os.kill(ranks[number], signal.SIGSTOP)
        output += job.communicate(timeout=IN_TIME)[0]
        self.assertEqual(job.returncode, 3, output)
        self.assertRegex(output, rf"error: rank {1 - number} waited .* s for .*: (rank {number} has "
                                 rf"not reached it|its bytes from or to rank {number} are in)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
