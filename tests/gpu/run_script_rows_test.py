"""The rows of run.sh where every program is a fake (fake_gpu_program.py): those that README.md shows a
person with one GPU, with eight, and with two machines, and what each program is called with."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import fake_gpu_program

HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r" {0,4}(\S.*?) +(passed|short|not run|FAILED)  ")


def titles_of(text):
    return [row.group(1) for row in map(ROW.match, text.splitlines()) if row]


def titles_of_readme(section, block=0):
    """Titles of a section's indented blocks that have rows, in order."""
    text = (HERE / "README.md").read_text().split(f"## {section}", 1)[1].split("\n## ", 1)[0]
    return [found for found in map(titles_of, re.split(r"\n(?=\S)", text)) if found][block]


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.programs, self.tools = self.folder / "bin", self.folder / "tools"
        for place in (self.programs, self.tools, self.folder / "tmp"):
            place.mkdir()
        source = (HERE / "fake_gpu_program.py").read_text().split("\n", 1)[1]
        for name in fake_gpu_program.NAMES:
            program = (self.tools if name in ("nvidia-smi", "python3") else self.programs) / name
            program.write_text(f"#!{sys.executable}\n{source}")
            program.chmod(0o755)
        self.log = self.folder / "calls"

    def run_script(self, part, gpus=1, code=0, more=(), **variables):
        self.log.write_text("")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("CUDA_", "NCCL_", "NODE", "MASTER_", "DEBUBBLE_"))}
        environment |= {"TMPDIR": str(self.folder / "tmp"), "FAKE_LOG": str(self.log), "FAKE_GPUS": str(gpus),
                        "PATH": f"{self.tools}:{environment['PATH']}", **variables}
        result = subprocess.run([HERE / "run.sh", "--only", part, *more, self.programs], env=environment,
                                capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.calls = [json.loads(line) for line in self.log.read_text().splitlines()]
        return result.stdout

    def calls_of(self, *names):
        return [call for call in self.calls if call["name"] in names]

    def assert_table(self, printed, titles):
        """Each row once when it is known, and all again at the end."""
        now, end = printed.rsplit("\n\n", 1)
        self.assertEqual(titles_of(now), titles)
        self.assertEqual(titles_of(end), titles)
        self.assertRegex(end.splitlines()[-1], "^PASSED")

    def test_of_one_gpu_are_those_that_the_readme_shows(self):
        printed = self.run_script("tests")
        self.assert_table(printed, titles_of_readme("One H100"))
        self.assertEqual(printed.splitlines()[-1], "PASSED, 1 not run")

    def test_of_a_first_visit_are_those_that_the_readme_shows(self):
        printed = self.run_script("first")
        self.assert_table(printed, titles_of_readme("Fifteen minutes"))
        self.assertEqual(printed.splitlines()[-1], "PASSED")

    def test_of_the_rest_are_none_of_a_first_visit(self):
        first, rest = (titles_of(self.run_script(part).rsplit("\n\n", 1)[1]) for part in ("first", "rest"))
        beside_simulated = "simulated beside executed, four parts of the GPU"  # with more rounds
        self.assertEqual(set(first) & set(rest), {beside_simulated})
        # What a machine with one GPU has in all its parts, and once each.
        parts = [title for part in ("tests", "speed", "large", "pipeline")
                 for title in titles_of(self.run_script(part).rsplit("\n\n", 1)[1])]
        self.assertEqual(set(first) | set(rest),
                         set(parts) | {"device and libraries", "operators in bf16 against the oracle",
                                       "two steps of GPT-2 124M against the processor's",
                                       "a pipeline of four ranks on one GPU against one rank", "several GPUs"})
        self.assertEqual(len(rest), len(set(rest)))

    def states(self, printed):
        return {row.group(1): row.group(2) for row in map(ROW.match, printed.rsplit("\n\n", 1)[1].splitlines()) if row}

    def test_a_row_that_hangs_costs_its_own_limit_alone(self):
        wanted = dict.fromkeys(titles_of_readme("Fifteen minutes"), "passed")
        for hangs, row in (("gpu_nccl_ranks", "several ranks of NCCL on one GPU (NCCL_HOSTID)"),
                           ("AgainstOneRank", "a pipeline of four ranks on one GPU against one rank")):
            began = time.monotonic()
            printed = self.run_script("first", code=1, DEBUBBLE_ROW_LIMIT="2", FAKE_HANGS=hangs)
            self.assertLess(time.monotonic() - began, 60)
            self.assertEqual(self.states(printed), wanted | {row: "FAILED"})
            self.assertRegex(printed, re.escape(row) + " +FAILED   cut off")

    def test_a_network_that_hangs_leaves_the_other(self):
        printed = self.run_script("first", code=1, DEBUBBLE_ROW_LIMIT="2", FAKE_HANGS="llama-1.2b")
        rows = [title for title in titles_of_readme("Fifteen minutes") if ", beside" not in title or "gpt2" in title]
        self.assertEqual(self.states(printed), dict.fromkeys(rows, "passed") |
                         {"llama-1.2b, bf16, sequences of 2048": "FAILED"})

    def test_what_has_no_time_is_not_run_and_the_table_is_whole(self):
        titles = [title for title in titles_of_readme("Fifteen minutes") if ", beside" not in title]
        hanging = titles.index("operators in bf16 against the oracle")
        began = time.monotonic()
        printed = self.run_script("first", more=("--limit", "20"), FAKE_HANGS="KernelsTest")
        self.assertLess(time.monotonic() - began, 40)
        states = self.states(printed)
        self.assertEqual(list(states), titles)
        self.assertEqual([states[title] for title in titles[hanging:]], ["not run"] * (len(titles) - hanging))
        self.assertIn("--limit 20 ended it", printed)
        self.assertIn("of --limit 20 no time is left", printed)
        self.assertEqual(printed.splitlines()[-1], f"PASSED, {len(titles) - hanging} not run")

    def test_a_step_that_is_not_the_processors_fails(self):
        printed = self.run_script("first", code=1, FAKE_NORM="2.004")
        self.assertEqual(self.states(printed)["two steps of GPT-2 124M against the processor's"], "FAILED")
        self.assertIn("norms by 2.0e-03", printed)

    def test_the_logs_are_packed_after_each_row(self):
        out = self.folder / "out"
        self.run_script("first", OUT=str(out))
        with tarfile.open(out / "gpu-logs.tar.gz") as logs:
            self.assertGreater(len(logs.getnames()), 8)

    def test_of_one_gpu_see_the_first_that_may_be_used(self):
        for given, seen in (({}, "0"), ({"CUDA_VISIBLE_DEVICES": "3,5"}, "3")):
            self.run_script("tests", gpus=8, **given)
            for call in self.calls_of("debubble-exec", "exec_gpu_tests", "gpu_nccl_suite", "gpu_green_contexts"):
                self.assertEqual(call["variables"].get("CUDA_VISIBLE_DEVICES"), seen, call)

    def test_of_eight_gpus_are_those_that_the_readme_shows(self):
        self.assert_table(self.run_script("multi", gpus=8), titles_of_readme("Eight GPUs"))
        for call in self.calls_of("debubble-exec", "gpu_nccl_suite"):
            self.assertNotIn("CUDA_VISIBLE_DEVICES", call["variables"], call)
            self.assertNotIn("NCCL_HOSTID", call["variables"], call)
        asked = [call["arguments"] for call in self.calls_of("gpu_nccl_suite")]
        self.assertEqual(asked, [["2", "whole"], ["8", "whole"]])

    def test_of_eight_gpus_are_timed_with_nvlink_and_its_switches_and_without(self):
        self.run_script("multi", gpus=8)
        timed = [call for call in self.calls_of("debubble-exec") if "--metrics" in call["arguments"]]
        self.assertEqual([call["variables"].get("NCCL_P2P_DISABLE") for call in timed], [None, "1", None, None])
        self.assertEqual([call["variables"].get("NCCL_NVLS_ENABLE") for call in timed], [None, None, None, "0"])
        for call, key in zip(timed, ["pipeline", "pipeline", "data", "data"]):
            self.assertIn(f"parallel.{key}=8", call["arguments"])

    def test_one_gpu_is_not_several(self):
        with self.assertRaisesRegex(AssertionError, "several GPUs +not run  one is here"):
            self.run_script("multi")

    def test_of_two_machines_are_those_that_the_readme_shows(self):
        for node in range(2):
            printed = self.run_script("multi", gpus=8, NODES="2", NODE=str(node), MASTER_ADDR="10.0.0.1",
                                      MASTER_PORT="29500", DEBUBBLE_JOB_SECRET="0123456789abcdef")
            self.assert_table(printed, titles_of_readme("Two machines"))
            of_all = [call for call in self.calls_of("debubble-exec") if "RANK" in call["variables"]]
            ranks = {(int(call["variables"]["RANK"]), int(call["variables"]["LOCAL_RANK"])) for call in of_all}
            self.assertEqual(ranks, {(8 * node + local, local) for local in range(8)})
            self.assertEqual({call["variables"]["WORLD_SIZE"] for call in of_all}, {"16"})
            # Pipelines have their losses on the last node, replicas on the first.
            for title, elsewhere in (("pipeline of 16", node == 0), ("16 replicas", node == 1)):
                for row in re.findall(f"^.*{title}.*$", printed, re.MULTILINE):
                    self.assertEqual("another node has the" in row, elsewhere, row)

    def test_gpt2_xl_has_the_largest_microbatch_that_fits(self):
        # The fake plans 20 GiB and 3 GiB for each sequence; a quarter and 4 GiB stay free.
        for mebibytes, micro in (("81559", 8), ("143771", 16), ("40960", 2), ("24576", 1)):
            self.run_script("large", FAKE_MEBIBYTES=mebibytes)
            arguments = next(call["arguments"] for call in self.calls_of("python3") if "gpt2-xl" in call["arguments"])
            self.assertEqual(fake_gpu_program.value_of("--micro-batch", arguments), str(micro))
            self.assertEqual(fake_gpu_program.value_of("--micro-batches", arguments), str(32 // micro))


if __name__ == "__main__":
    unittest.main()
