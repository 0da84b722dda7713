#!/usr/bin/env python3
"""The tests of the page's script, which node runs."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import drawn  # noqa: E402

if drawn.NODE is None:
    print("Skipped: node is not installed")
    sys.exit()
files = sorted(pathlib.Path(__file__).parent.glob("*.test.mjs"))
assert files, "there are tests"
sys.exit(subprocess.run([drawn.NODE, "--test", *files]).returncode)
