"""Ranks that are processes train together only if all of them run the same: each part of it that
differs on one rank ends the run before its first step, in words. Paths and speed may differ."""

import os
import pathlib
import platform
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

from tiny_gpt import TEXT, write_tiny_gpt

PROGRAM, TRANSPORT = sys.argv[1:3]
MPIRUN = sys.argv[3] if TRANSPORT == "mpi" else None
BAD_INPUT, WORLD = 2, 3
IN_TIME = 100  # seconds
DIGITS = "[0-9a-f]+"
TENSOR = "{tensor: 2}"
ALONE = {key: value for key, value in os.environ.items()
         if not key.startswith(("OMPI_COMM_", "PMI", "SLURM_", "MASTER_")) and key != "RANK"}


def has_wide_vectors():
    cpu = pathlib.Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and cpu.exists() and " avx2 " in cpu.read_text()


def of_another_build(program):
    """The same program with another build id."""
    code = bytearray(program.read_bytes())
    note = bytes([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0]) + b"GNU\0"
    code[code.index(note) + len(note)] ^= 0xff
    return bytes(code)


class Rank:
    """The arguments of one of the two ranks."""

    def __init__(self, *words, program=PROGRAM, **variables):
        self.words = [str(word) for word in words]
        self.program = str(program)
        self.variables = variables


def sets(*keys):
    return [word for key in keys for word in ("--set", key)]


class SameRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = write_tiny_gpt(self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def command(self, rank, steps):
        given = [] if "--steps" in rank.words else ["--steps", str(steps)]
        scenario = [] if rank.words and rank.words[0].endswith(".yaml") else [str(self.scenario)]
        return [rank.program, "run", *scenario, *rank.words, *given, "--comm", TRANSPORT]

    def together(self, *ranks, steps=2):
        """Exit codes and all that was said."""
        if TRANSPORT == "mpi":
            command = [MPIRUN]
            for rank in ranks:
                command += [":"] if len(command) > 1 else []
                command += ["-n", "1", "env", *(f"{k}={v}" for k, v in rank.variables.items()),
                            *self.command(rank, steps)]
            job = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, timeout=IN_TIME, check=False, env=ALONE)
            return {job.returncode}, job.stdout
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        place = {"WORLD_SIZE": len(ranks), "LOCAL_WORLD_SIZE": len(ranks),
                 "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        jobs = []
        for number, rank in enumerate(ranks):
            own = {**place, "RANK": number, "LOCAL_RANK": number, **rank.variables}
            jobs.append(subprocess.Popen(
                self.command(rank, steps), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, env={**ALONE, **{key: str(value) for key, value in own.items()}}))
            self.addCleanup(jobs[-1].kill)
        said = [job.communicate(timeout=IN_TIME)[0] for job in jobs]
        return {job.returncode for job in jobs}, "".join(said)

    def differ(self, what, first, second, rank_1, rank_0=Rank("--resume", "never"), advice=""):
        codes, output = self.together(rank_0, rank_1)
        self.assertRegex(output, f"error: all ranks must run the same: {what} is {first} on rank "
                                 f"0, {second} on rank 1{advice}\n")
        self.assertEqual(len(re.findall(f"the same: {what} is", output)), 1, "one rank says it")
        self.assertEqual(codes, {BAD_INPUT}, output)
        self.assertNotIn("step 1/", output)
        return output

    def keys_differ(self, what, first, second, *keys):
        with self.subTest(what):
            self.differ(what, first, second, Rank("--resume", "never", *sets(*keys)))

    def test_a_key_of_the_scenario_that_differs_is_named_with_both_values(self):
        output = self.differ("training.optimizer.lr", "0.01", "0.02",
                             Rank("--resume", "never", *sets("training.optimizer.lr=0.02")))
        self.assertEqual(output.count("the same:"), 1, "nothing else differs")
        self.keys_differ("training.precision.compute", "fp32", "bf16", "training.precision=bf16")
        self.keys_differ("training.global_batch", "4", "8", "training.global_batch=8")

    def test_all_keys_that_differ_are_named(self):
        output = self.differ(
            "training.optimizer.name", "adamw", "sgd",
            Rank("--resume", "never",
                 *sets("training.optimizer={name: sgd, lr: 0.01}", "training.seed=4",
                       "training.lr_schedule={name: constant, warmup_steps: 1}",
                       "training.clip_norm=1", "training.dropout=0.1",
                       "training.data.shuffle=true")))
        for said in ("training.seed is 3 on rank 0, 4 on rank 1",
                     "training.dropout is 0 on rank 0, 0.1 on rank 1",
                     "training.data.shuffle is false on rank 0, true on rank 1",
                     "training.optimizer.betas is [0.9, 0.999] on rank 0, not set on rank 1"):
            self.assertIn(said, output)
        self.assertRegex(output, r"error: and \d+ more differ")

    def test_another_network_is_told(self):
        self.keys_differ("model.heads", "2", "4", "model.heads=4")
        self.keys_differ("model.layers", "4", "8", "model.layers=8")
        self.keys_differ("the content of the stages", ".*2 layers from 0.*", ".*1 layers from 0.*",
                         "parallel={pipeline: 2, partition: [1, 3]}")

    def test_another_layout_or_order_is_told(self):
        self.keys_differ("parallel.pipeline", "2", "1", "parallel={data: 2}")
        self.keys_differ("parallel.pipeline", "2", "4", "gpus=4", "parallel.pipeline=4")
        self.keys_differ("schedule.name", "1f1b", "gpipe", "schedule=gpipe")

    def test_another_program_of_a_file_is_told(self):
        files = []
        for name, order in [("a", "F0 F1 F2 F3 B0 B1 B2 B3"), ("b", "F0 F1 B0 F2 B1 F3 B2 B3")]:
            rows = [",".join(f"{rank}{action}" for action in order.split()) for rank in range(2)]
            files.append(self.write(f"{name}.csv", "\n".join(rows) + "\n"))
        ranks = [Rank("--resume", "never", *sets(f"schedule={{csv: {file}}}")) for file in files]
        self.differ("the program", DIGITS, DIGITS, ranks[1], ranks[0])

    def program_alone(self, *words):
        """The program that threads of one process execute."""
        done = subprocess.run([PROGRAM, "run", self.scenario, "--steps", "1", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=IN_TIME, check=False, env=ALONE)
        self.assertEqual(done.returncode, 0, done.stdout)
        return re.search(f"equals program ({DIGITS})", done.stdout)[1]

    def test_an_order_made_from_costs_is_predicted_by_rank_0_for_all(self):
        own = ("--resume", "never", *sets("schedule=v-min"))
        slower = (*own, *sets("cluster=this-machine"))
        program, other = self.program_alone(*own), self.program_alone(*slower)
        self.assertNotEqual(program, other, "the prediction decides the order")
        for first, second, expected in (own, slower, program), (slower, own, other):
            codes, output = self.together(Rank(*first), Rank(*second))
            self.assertEqual(codes, {0}, output)
            self.assertIn(f"the executed order equals program {expected}", output)

    def test_another_end_is_told(self):
        self.differ("the last step", "2", "3", Rank("--resume", "never", "--steps", 3))

    def test_other_data_is_told(self):
        with_typo = self.write("typo.txt", TEXT[:900] + "!" + TEXT[901:])
        shorter = self.write("shorter.txt", TEXT[:-200])
        eval_0, eval_1 = self.write("eval0.txt", TEXT), self.write("eval1.txt", TEXT[::-1])
        same = r"(\d+) samples with the fingerprint "
        with self.subTest("training"):
            self.differ("the training data", same + DIGITS, r"\1 samples with the fingerprint "
                        + DIGITS, Rank("--resume", "never", *sets(f"training.data.text={with_typo}")))
        with self.subTest("length"):
            self.differ("the training data", ".*", ".*",
                        Rank("--resume", "never", *sets(f"training.data.text={shorter}")))
        with self.subTest("evaluation"):
            first, second = (Rank("--resume", "never", *sets(f"training.data.eval={path}"))
                             for path in (eval_0, eval_1))
            self.differ("the evaluation data", ".*", ".*", second, first)
        with self.subTest("no evaluation"):
            self.differ("the evaluation data", "none", ".*", second)

    def trained(self, name, *words, steps=2):
        """A folder with the checkpoint of that step."""
        folder = self.folder / name
        command = [PROGRAM, "run", self.scenario, "--steps", steps, "--resume", "auto", *words,
                   *sets(f"training.checkpoint.dir={folder}", "training.checkpoint.keep=1")]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=IN_TIME, check=False, env=ALONE)
        self.assertEqual(done.returncode, 0, done.stdout)
        return folder

    def test_another_beginning_is_told(self):
        early = self.trained("early")
        late = self.folder / "late"
        shutil.copytree(early, late)
        self.trained("late", steps=3)
        other = self.trained("other", *sets("training.optimizer.lr=0.02"))
        on = [Rank("--steps", 4, *sets(f"training.checkpoint.dir={folder}"))
              for folder in (early, late, other)]
        behind = "step {} of the checkpoint " + DIGITS
        with self.subTest("step"):
            self.differ("the beginning", behind.format(2), behind.format(3), on[1], on[0])
        with self.subTest("content"):
            self.differ("the beginning", behind.format(2), behind.format(2), on[2], on[0])
        with self.subTest("anew"):
            anew = Rank("--resume", "never", "--steps", 4,
                        *sets(f"training.checkpoint.dir={self.folder / 'new'}"))
            self.differ("the beginning", behind.format(2), "random weights", anew, on[0])
        with self.subTest("weights"):
            first, second = (Rank(*sets(f"training.init_from={folder}"))
                             for folder in (early, other))
            self.differ("the beginning", "the weights " + DIGITS, "the weights " + DIGITS, second,
                        first)

    def need_onednn(self):
        one = subprocess.run([PROGRAM, "run", self.scenario, "--kernels", "onednn", "--steps", "1",
                              *sets("gpus=1", "parallel.pipeline=1")], capture_output=True,
                             text=True, timeout=IN_TIME, check=False, env=ALONE)
        if "this build has no oneDNN" in one.stderr:
            self.skipTest("this build has one back end")

    def trains(self, rank_0, rank_1):
        codes, output = self.together(rank_0, rank_1)
        self.assertEqual(codes, {0}, output)
        self.assertIn("the executed order equals program", output)

    def test_other_kernels_are_told(self):
        self.need_onednn()
        self.differ(r"the kernels \(--kernels\)", "onednn .*", "fixed-order",
                    Rank("--kernels", "reference"))

    @unittest.skipUnless(has_wide_vectors(), "this processor has no wider vectors")
    def test_other_vector_units_are_told_where_copies_of_a_parameter_would_drift_apart(self):
        for parallel in TENSOR, "{data: 2}", "{pipeline: 2}":  # the last one ties its embedding
            with self.subTest(parallel):
                own = ("--resume", "never", *sets(f"parallel={parallel}"))
                self.differ(r"the widest vector unit \(DEBUBBLE_VECTOR_UNIT\)", "avx.*", "baseline",
                            Rank(*own, DEBUBBLE_VECTOR_UNIT="baseline"), Rank(*own),
                            advice="; set DEBUBBLE_VECTOR_UNIT .* on all ranks")

    @unittest.skipUnless(has_wide_vectors(), "this processor has no wider vectors")
    def test_vector_units_and_threads_may_differ_where_no_parameter_has_copies(self):
        own = ("--resume", "never", *sets("model.tied_embedding=false"))
        self.trains(Rank(*own, "--threads", 1),
                    Rank(*own, "--threads", 2, DEBUBBLE_VECTOR_UNIT="baseline"))

    @unittest.skipUnless(has_wide_vectors(), "this processor has no wider vectors")
    def test_other_instructions_of_onednn_are_told_to_ranks_of_a_tensor_group(self):
        self.need_onednn()
        own = ("--resume", "never", *sets(f"parallel={TENSOR}"))
        self.differ("oneDNN's instruction set", "avx.*", "sse41",
                    Rank(*own, ONEDNN_MAX_CPU_ISA="SSE41"), Rank(*own), advice="; set .*")

    @unittest.skipUnless(has_wide_vectors(), "this processor has no wider vectors")
    def test_the_vector_unit_makes_the_instructions_of_onednn_agree(self):
        own = ("--resume", "never", *sets(f"parallel={TENSOR}"))
        self.trains(Rank(*own, DEBUBBLE_VECTOR_UNIT="avx2"),
                    Rank(*own, DEBUBBLE_VECTOR_UNIT="avx2", ONEDNN_MAX_CPU_ISA="AVX2"))

    def test_another_number_of_threads_is_told_to_ranks_of_a_tensor_group_that_use_onednn(self):
        own = ("--resume", "never", *sets(f"parallel={TENSOR}"))
        with self.subTest("fixed order"):
            self.trains(Rank(*own, "--kernels", "reference", "--threads", 1),
                        Rank(*own, "--kernels", "reference", "--threads", 2))
        self.need_onednn()
        self.differ(r"the number of threads \(--threads\)", "1", "2", Rank(*own, "--threads", 2),
                    Rank(*own, "--threads", 1), advice="; .*give --threads to all")

    def test_a_dropout_that_the_training_replaces_may_differ(self):
        own = ("--resume", "never", *sets("training.dropout=0.1"))
        self.trains(Rank(*own), Rank(*own, *sets("model.dropout=0.2")))

    def test_a_checkpoint_folder_that_ranks_do_not_share_is_told_before_the_first_step(self):
        folders = [self.folder / name for name in ("here", "there")]
        folders[1].mkdir()
        codes, output = self.together(*(Rank(*sets(f"training.checkpoint.dir={folder}"))
                                        for folder in folders))
        self.assertIn("must be one folder that all hosts share: what rank 0 writes in "
                      f"{folders[0]} is not in that of rank 1\n", output)
        self.assertEqual(codes, {BAD_INPUT}, output)
        self.assertNotIn("step 1/", output)
        self.assertFalse(folders[0].exists(), "nothing is left of it")
        self.assertEqual(list(folders[1].iterdir()), [])

    def test_another_build_is_told(self):
        program = pathlib.Path(PROGRAM).resolve()
        other = self.folder / program.name
        try:
            other.write_bytes(of_another_build(program))
        except ValueError:
            self.skipTest("the program has no build id")
        other.chmod(other.stat().st_mode | stat.S_IXUSR)
        for module in program.parent.glob("debubble_*.so"):
            (self.folder / module.name).symlink_to(module)
        codes, output = self.together(Rank(), Rank(program=other))
        self.assertRegex(output, f"rank 1.* runs build {DIGITS} of debubble, and rank 0 runs build "
                                 f"{DIGITS}")
        self.assertEqual(codes, {WORLD}, output)

    def test_a_rank_that_alone_cannot_begin_says_so_itself(self):
        missing = self.folder / "missing.txt"
        codes, output = self.together(Rank("--deadline", 5, "--resume", "never"),
                                      Rank(*sets(f"training.data.text={missing}")))
        self.assertIn(f"rank 1: {missing}: error: no such file\n", output)
        self.assertIn(BAD_INPUT, codes, output)
        self.assertNotIn("step 1/", output)

    def test_paths_threads_deadlines_and_outputs_may_differ(self):
        data = [self.write(f"data{rank}.txt", TEXT) for rank in range(2)]
        scenarios = [self.write(f"mine{rank}.yaml", self.scenario.read_text()) for rank in range(2)]
        begun = self.trained("begun")
        shutil.copytree(begun, self.folder / "copied")
        own = [Rank(scenarios[rank], "--threads", rank + 1, "--deadline", 60 + rank,
                    "--metrics", self.folder / f"{rank}.jsonl",
                    *sets(f"training.data.text={data[rank]}", f"training.data.eval={data[1 - rank]}",
                          f"training.init_from={folder}", f"name=run-{rank}"))
               for rank, folder in enumerate((begun, self.folder / "copied"))]
        codes, output = self.together(*own, steps=3)
        self.assertEqual(codes, {0}, output)
        self.assertIn("the executed order equals program", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
