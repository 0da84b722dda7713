"""Ranks that the program starts on this host: they end together, whatever ends one of them."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from processes import children, is_alive
from tiny_gpt import write_tiny_gpt

SUITE, PROGRAM = sys.argv[1:3]
IN_TIME = 60  # seconds
RANKS = 2
FOREVER = 1_000_000
ALONE = {key: value for key, value in os.environ.items()
         if not key.startswith(("OMPI_", "PMI_", "SLURM_", "MASTER_")) and key != "RANK"}


class Launcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = write_tiny_gpt(self.folder)
        with self.scenario.open("a") as scenario:
            scenario.write(f"  checkpoint: {{dir: {self.folder / 'kept'}}}\n")

    def start(self, *command, **how):
        job = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, **{"env": ALONE, **how})
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)
        return job

    def training(self, *words, **how):
        return self.start(PROGRAM, "run", self.scenario, "--comm", "tcp", "--steps", FOREVER, *words,
                          **how)

    def read_until(self, job, line_holds):
        output = ""
        for line in job.stdout:  # ctest ends this if none comes
            output += line
            if re.search(line_holds, line):
                return output
        self.fail(output)

    def end_of(self, job, output=""):
        output += job.communicate(timeout=IN_TIME)[0]
        return job.returncode, output

    def assert_gone(self, ranks):
        deadline = time.monotonic() + IN_TIME
        while any(is_alive(rank) for rank in ranks):
            self.assertLess(time.monotonic(), deadline, f"{ranks} are left over")
            time.sleep(0.05)

    def lose_one(self, how, number, patience=IN_TIME):
        job = self.start(SUITE, "tcp", RANKS, "--gtest_repeat=200", "--gtest_fail_fast", patience)
        output = self.read_until(job, r"\[       OK \]")
        ranks = children(job.pid)
        self.assertEqual(len(ranks), RANKS, output)
        os.kill(ranks[number], how)
        code, output = self.end_of(job, output)
        self.assertNotEqual(code, 0, output)
        self.assert_gone(ranks)
        return code, output, ranks[number]

    def test_a_killed_rank_ends_the_job_and_is_named(self):
        for number in range(RANKS):
            with self.subTest(rank=number):
                code, output, process = self.lose_one(signal.SIGKILL, number)
                self.assertEqual(code, 3, output)
                self.assertIn(f"rank {number} (process {process}) was ended by signal 9: Killed",
                              output)
                self.assertIn(f"has lost rank {number}: its connection was closed", output)

    def test_a_rank_that_stands_still_is_named_and_ended(self):
        _, output, _ = self.lose_one(signal.SIGSTOP, 1, patience=3)
        self.assertRegex(output, r"rank 0 waited 3(\.\d+)? s for .*: rank 1 has not reached it")

    def test_a_training_whose_rank_stands_still_ends_soon_after_its_deadline(self):
        for number in range(RANKS):
            with self.subTest(rank=number):
                job = self.training("--deadline", 3)
                output = self.read_until(job, "step [0-9]+/")
                ranks = children(job.pid)
                os.kill(ranks[number], signal.SIGSTOP)
                stopped = time.monotonic()
                code, output = self.end_of(job, output)
                took = time.monotonic() - stopped
                self.assertEqual(code, 3, output)
                self.assertRegex(output, rf"rank {1 - number} waited .* s for .*: "
                                         rf".*rank {number} (has not|are in)")
                self.assertLess(took, 3 + 15, "some 4 s more than the deadline, on a quiet machine")
                self.assert_gone(ranks)

    def test_a_signal_saves_and_stops_all_ranks(self):
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            with self.subTest(signal=how):
                job = self.training()
                output = self.read_until(job, "step [0-9]+/")
                ranks = children(job.pid)
                job.send_signal(how)
                code, output = self.end_of(job, output)
                self.assertEqual(code, 3, output)
                said = re.search(r"stopped by a signal after step (\d+) of \d+, which is saved",
                                 output)
                self.assertTrue(said, output)
                saved = sorted((self.folder / "kept").glob("step_*/manifest.json"))
                self.assertIn(int(said[1]), [int(at.parent.name[5:]) for at in saved])
                self.assert_gone(ranks)

    def test_ranks_end_with_the_process_that_started_them(self):
        job = self.training()
        self.read_until(job, "step [0-9]+/")
        ranks = children(job.pid)
        self.assertEqual(len(ranks), RANKS)
        job.kill()
        self.assert_gone(ranks)

    def test_what_all_ranks_find_wrong_is_said_once(self):
        code, output = self.end_of(self.start(PROGRAM, "run", self.scenario, "--comm", "tcp",
                                              "--steps", 2, "--kernels", "magic"))
        self.assertEqual(code, 2, output)
        self.assertEqual(output.count("magic"), 1, output)

    def join(self, rank, *words, **variables):
        own = {"RANK": rank, "WORLD_SIZE": RANKS, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": RANKS}
        env = {**ALONE, **{key: str(value) for key, value in {**own, **variables}.items()}}
        return self.start(PROGRAM, "run", self.scenario, "--steps", 2, "--resume", "never",
                          *words, env=env)

    def expect_a_job(self, *words, **variables):
        jobs = [self.join(rank, *words, **variables) for rank in range(RANKS)]
        for job in jobs:
            code, output = self.end_of(job)
            self.assertEqual(code, 0, output)
            self.assertEqual(children(job.pid), [], "who was started with others starts none")

    def test_ranks_of_torchrun_join(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.expect_a_job(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)

    def test_ranks_join_by_a_file(self):
        self.expect_a_job("--rendezvous", self.folder / "job")

    def test_who_does_not_know_where_to_meet_is_told_how(self):
        code, output = self.end_of(self.join(0))
        self.assertEqual(code, 2, output)
        self.assertIn("set MASTER_ADDR and MASTER_PORT", output)

    def test_ranks_of_torchrun_join_next_to_its_store(self):
        with socket.create_server(("127.0.0.1", 0)) as store:
            port = store.getsockname()[1]
            how = {"MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": "True",
                   "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": 0}
            self.expect_a_job(MASTER_ADDR="localhost", **how)
            with socket.create_server(("127.0.0.1", 0)) as taken:
                other = taken.getsockname()[1]
            self.expect_a_job(MASTER_ADDR="127.0.0.1", DEBUBBLE_JOB_SECRET="s" * 32,
                              DEBUBBLE_PORT=other, **how)

    def test_ranks_of_srun_join_where_it_has_no_mpi(self):
        def variables(rank):
            return {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": RANKS, "SLURM_JOB_ID": 4711,
                    "SLURM_STEP_ID": os.getpid(), "SLURM_STEP_TASKS_PER_NODE": RANKS,
                    "SLURM_NODEID": 0, "SLURM_LOCALID": rank}
        jobs = [self.start(PROGRAM, "run", self.scenario, "--steps", 2, "--resume", "never",
                           env={**ALONE, **{key: str(value) for key, value in own.items()}})
                for own in map(variables, range(RANKS))]
        for job in jobs:
            code, output = self.end_of(job)
            self.assertEqual(code, 0, output)

    @unittest.skipUnless(pathlib.Path(PROGRAM).with_name("debubble_mpi.so").exists(), "no MPI here")
    def test_ranks_that_mpi_does_not_join_are_told_of_tcp(self):
        # Open MPI leaves memory allocated, which this test is not about.
        code, output = self.end_of(self.join(0, "--comm", "mpi", ASAN_OPTIONS="detect_leaks=0"))
        self.assertEqual(code, 2, output)
        self.assertIn("use --comm tcp", output)

    def test_a_rank_starts_no_other_program(self):
        programs = self.folder / "programs"
        programs.mkdir()
        own = pathlib.Path(shutil.copy(PROGRAM, programs))
        stand_in = programs / "debubble"
        stand_in.write_text(f"#!/bin/sh\ntouch {self.folder}/started\nexit 3\n")
        stand_in.chmod(0o700)
        code, output = self.end_of(self.start(own, "run", self.scenario, "--comm", "tcp",
                                              "--launch", RANKS, "--steps", 2, "--resume", "never",
                                              "--set", "schedule=v-min"))
        self.assertEqual(code, 0, output)
        self.assertFalse((self.folder / "started").exists(), "rank 0 predicts by itself")

    def test_a_job_of_several_hosts_without_a_secret_is_refused(self):
        code, output = self.end_of(self.join(0, MASTER_ADDR="192.0.2.1", MASTER_PORT=29500,
                                             LOCAL_WORLD_SIZE=1))
        self.assertEqual(code, 2, output)
        self.assertIn("export DEBUBBLE_JOB_SECRET=$(openssl rand -hex 32)", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
