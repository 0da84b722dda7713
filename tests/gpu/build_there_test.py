"""build_there.sh with compilers that only say what they were asked for."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

COMPILER = """#!/bin/bash
[ "$1" = --version ] && { echo "Cuda compilation tools, release 13.0, V13.0.48"; exit; }
echo "$(basename "$0") $*" >>"$CALLS"
[[ -z "${REFUSED:-}" || "$*" != *"$REFUSED"* ]] || { echo "$REFUSED: no" >&2; exit 1; }
while [ $# -gt 1 ]; do [ "$1" != -o ] || echo made >"$2"; shift; done
"""


class BuildThere(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pack = pathlib.Path(folder.name)
        for name in ("bin", "lib", "source/exec", "toolkit/bin", "toolkit/lib64"):
            (self.pack / name).mkdir(parents=True)
        shutil.copy(HERE / "build_there.sh", self.pack)
        shutil.copytree(ROOT / "exec/cuda", self.pack / "source/exec/cuda")
        for folder in ("base", "exec/core", "exec/comm"):
            shutil.copytree(ROOT / folder, self.pack / "source" / folder)
        for library in ("toolkit/lib64/libcublasLt.so.13", "toolkit/lib64/libnccl.so.2", "lib/libfmt.so.9"):
            (self.pack / library).touch()
        for compiler in ("nvcc", "g++"):
            file = self.pack / "toolkit/bin" / compiler
            file.write_text(COMPILER)
            file.chmod(0o755)
        self.module = self.pack / "bin/debubble_cuda.so"
        self.module.write_text("packed")
        self.calls = self.pack / "calls"

    def build(self, *arguments, code=0, **variables):
        environment = {**os.environ, "CUDACXX": str(self.pack / "toolkit/bin/nvcc"), "DEBUBBLE_JOBS": "2",
                       "CXX": str(self.pack / "toolkit/bin/g++"), "CALLS": str(self.calls), **variables}
        done = subprocess.run([self.pack / "build_there.sh", *arguments], env=environment, capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def compiled(self):
        return [re.search(r" -c \S*/source/(\S+)", line) for line in self.calls.read_text().splitlines()]

    def test_compiles_what_the_module_is_made_of(self):
        self.build("--arch", "90a", "--nccl")
        found = sorted(match.group(1) for match in self.compiled() if match)
        kernels = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "exec/cuda/kernels").glob("*.cu"))
        operators = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "exec/cuda/operators").glob("*.cpp"))
        self.assertEqual([file for file in found if file.endswith(".cu")], kernels)
        self.assertEqual([file for file in found if file.startswith("exec/cuda/operators/")], operators)
        for file in ("exec/cuda/products/cublas_lt.cpp", "exec/core/tensor.cpp", "exec/cuda/nccl/library.cpp"):
            self.assertIn(file, found)
        for file in found:
            self.assertTrue((ROOT / file).is_file(), file)
        for line in self.calls.read_text().splitlines():
            self.assertTrue(line.startswith("nvcc" if ".cu " in line or " -shared" in line else "g++"), line)
            self.assertTrue("-arch=sm_90a" in line or line.startswith("g++"), line)

    def test_the_packed_module_is_kept(self):
        self.build()
        self.assertIn("-arch=native", self.calls.read_text())
        self.assertEqual(self.module.read_text(), "made\n")
        self.assertEqual((self.pack / "bin/debubble_cuda.so.packed").read_text(), "packed")
        self.build()
        self.assertEqual((self.pack / "bin/debubble_cuda.so.packed").read_text(), "packed")

    def test_what_does_not_compile_or_link_leaves_the_packed_one(self):
        for refused, words in (("norms.cu", "does not compile"), ("-shared", "cannot be linked")):
            done = self.build(code=1, REFUSED=refused)
            self.assertIn(f"debubble_cuda.so {words}", done.stderr)
            self.assertEqual(self.module.read_text(), "packed")
            self.assertEqual(list((self.pack / "bin").iterdir()), [self.module])

    def test_what_is_not_there_is_said(self):
        self.assertIn("there is no nvcc here", self.build(code=1, CUDACXX="/nonexistent").stderr)
        self.assertIn("there is no g++ here", self.build(code=1, CXX="/nonexistent").stderr)
        self.assertIn("--arch wants a number", self.build("--arch", "hopper", code=2).stderr)
        self.assertIn("there is no '--fast'", self.build("--fast", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
