"""run.sh where there is no GPU: it explains itself, and says in a sentence why nothing is run."""

import fnmatch
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "run.sh"
HAS_GPU = any(os.path.exists(file) for file in ("/dev/nvidiactl", "/dev/dxg"))


class RunScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, *arguments, **variables):
        left_out = ("DEBUBBLE_TEST_DEVICE", "NODES", "NODE", "MASTER_ADDR", "MASTER_PORT", "DEBUBBLE_JOB_SECRET")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {"TMPDIR": str(self.folder), **variables}
        return subprocess.run([SCRIPT, *arguments], env=environment, capture_output=True, text=True,
                              check=False, timeout=60)

    def test_help_says_how_it_is_called(self):
        for word in ("--help", "-h"):
            result = self.run_script(word)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("tests/gpu/run.sh [--limit SECONDS] [--only first|rest|tests|", result.stdout)
            self.assertIn("MASTER_ADDR", result.stdout)
            self.assertNotIn("set -uo", result.stdout)

    def test_what_it_is_called_with_is_checked(self):
        for arguments, words in ((("--only", "everything"), "--only first, rest, tests, speed, large, pipeline or multi"),
                                 (("--only",), "--only first, rest"), (("--limit", "0"), "--limit wants seconds, not '0'"),
                                 (("--limit", "4m"), "not '4m'"), (("--limit",), "not ''"),
                                 (("--first",), "there is no '--first'"), (("bin", "bin"), "one folder of programs, not 2")):
            result = self.run_script(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn(words, result.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_several_machines_lack_is_said_at_once(self):
        whole = {"NODES": "2", "NODE": "1", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500",
                 "DEBUBBLE_JOB_SECRET": "0123456789abcdef"}
        for name, wrong, words in (("NODE", "2", "NODE, from 0 to 1"), ("NODE", None, "NODE, from 0 to 1"),
                                   ("MASTER_ADDR", None, "MASTER_ADDR, an address of node 0"),
                                   ("MASTER_PORT", "http", "MASTER_PORT, a free port there"),
                                   ("DEBUBBLE_JOB_SECRET", "choose-one", "DEBUBBLE_JOB_SECRET, as openssl"),
                                   ("NODES", "two", "NODES=two is no number of machines")):
            variables = {other: value for other, value in whole.items() if other != name}
            result = self.run_script("--only", "multi", **variables, **({} if wrong is None else {name: wrong}))
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(words, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_no_gpu_is_one_sentence_and_leaves_nothing(self):
        for arguments in ((), ("--only", "tests"), ("--only", "multi")):
            result = self.run_script(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, "FAILED\n")
            self.assertIn("there is no NVIDIA GPU here, or no driver for it", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertEqual(list(self.folder.iterdir()), [])


class TheTable(unittest.TestCase):
    """What the script runs and prints, against the tests that there are and README.md beside it."""

    def setUp(self):
        self.text = SCRIPT.read_text()

    def test_every_suite_for_a_gpu_is_run(self):
        filters = re.findall(r"suite \"[^\"]+\" '([^']+)'", self.text)
        suites = {suite for folder in ("device", "kernels")
                  for file in (HERE.parent / "exec" / folder).glob("*_test.cpp")
                  for suite in re.findall(r"^TEST(?:_[FP])?\((\w+),", file.read_text(), re.MULTILINE)}
        self.assertIn("KernelsTest", suites)
        for suite in suites:
            names = (f"{suite}.AnyCase", f"Instance/{suite}.AnyCase/0")
            self.assertTrue(any(fnmatch.fnmatchcase(name, each) for filter_ in filters for each in filter_.split(":")
                                for name in names), suite)

    def rows_of_the_readme(self):
        for line in (HERE / "README.md").read_text().splitlines():
            row = re.match(r"    (\S.*?) {2,}(passed|short|not run|FAILED) +\S", line)
            if row:
                yield row.group(1), line

    def test_the_readme_shows_rows_that_there_are(self):
        titles = [re.split(r"\$\{?\w+\}?", title) for title in re.findall(r'"([^"\n]+)"', self.text)]
        titles = [".+".join(map(re.escape, title)) for title in titles if len("".join(title)) > 8]
        rows = list(self.rows_of_the_readme())
        self.assertGreater(len(rows), 20)
        for title, line in rows:
            self.assertTrue(any(re.fullmatch(known, title) for known in titles), line)

    def test_rows_stand_below_each_other(self):
        for title, line in self.rows_of_the_readme():
            self.assertLessEqual(len(title), 58)
            self.assertEqual(line[4:62].rstrip(), title)


if __name__ == "__main__":
    unittest.main()
