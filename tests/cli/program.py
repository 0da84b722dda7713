"""How the tests run the program: as a person would, from outside."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["DEBUBBLE_PROGRAM"]
DONE, NO, BAD_INPUT, WORLD = 0, 1, 2, 3


def debubble(*arguments, **how):
    """Runs it; .returncode, .stdout and .stderr as text."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **how)


def why_no_gpu():
    """The sentence where there is no GPU: by the CUDA back end, if this build has one."""
    built = pathlib.Path(PROGRAM).with_name("debubble_cuda.so").exists()
    return "there is no GPU for CUDA to use" if built else "this build has no CUDA back end"


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="debubble-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def ends(self, result, code, *, says=""):
        """The exit code is `code`, and the diagnostics say `says`."""
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        self.assertIn(says, result.stderr)
        if code == BAD_INPUT:
            self.assertEqual(result.stdout, "", "results in addition to an error")
            self.assertIn("error:", result.stderr)
        return result

    def done(self, *arguments, **how):
        return self.ends(debubble(*arguments, **how), DONE)

    def left_behind(self):
        return sorted(path.name for path in self.folder.iterdir())
