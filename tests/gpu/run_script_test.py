"""run.sh where there is no GPU: it explains itself, and says in a sentence why nothing is run."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "run.sh"
HAS_GPU = any(os.path.exists(file) for file in ("/dev/nvidiactl", "/dev/dxg"))


class RunScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if name != "DEBUBBLE_TEST_DEVICE"}
        environment["TMPDIR"] = str(self.folder)
        return subprocess.run([SCRIPT, *arguments], env=environment, capture_output=True, text=True,
                              check=False, timeout=60)

    def test_help_says_how_it_is_called(self):
        for word in ("--help", "-h"):
            result = self.run_script(word)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("tests/gpu/run.sh [--only tests|speed|large|pipeline|multi] [BIN]", result.stdout)
            self.assertIn("MASTER_ADDR", result.stdout)
            self.assertNotIn("set -uo", result.stdout)

    def test_an_unknown_part_is_refused(self):
        result = self.run_script("--only", "everything")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--only tests, speed, large, pipeline or multi", result.stderr)

    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_no_gpu_is_one_sentence_and_leaves_nothing(self):
        for arguments in ((), ("--only", "tests"), ("--only", "multi")):
            result = self.run_script(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, "FAILED\n")
            self.assertIn("there is no NVIDIA GPU here, or no driver for it", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
