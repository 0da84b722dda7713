"""What is packed for other machines wants no symbol that RHEL 9 lacks, and the check would find one."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = shutil.which(os.environ.get("CXX", "g++"))
WAITS = """#include <condition_variable>
#include <mutex>
int main(int argc, char**) {
    std::mutex mutex;
    std::condition_variable changed;
    std::unique_lock lock(mutex);
    while (argc > 1) changed.wait(lock);
}
"""


@unittest.skipUnless(COMPILER and shutil.which("readelf"), "there is no compiler or no readelf")
class SymbolLimits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compiled(self, *flags):
        source, program = self.folder / "waits.cpp", self.folder / "waits"
        source.write_text(WAITS)
        subprocess.run([COMPILER, "-std=c++20", "-O1", *flags, source, "-o", program], check=True)
        self.assertEqual(subprocess.run([program], check=False).returncode, 0)
        return program

    def check(self, *paths):
        result = subprocess.run([sys.executable, HERE / "symbol_limits.py", *paths],
                                capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    def test_a_wait_is_within_the_limits_as_it_is_packed(self):
        program = self.compiled("-include", HERE / "older_libstdcxx.h")
        self.assertEqual(self.check(program)[0], 0, self.check(program)[1])

    def test_a_newer_symbol_is_named(self):
        program = self.compiled()
        listed = subprocess.run(["readelf", "--wide", "--dyn-syms", program], capture_output=True,
                                text=True, check=True).stdout
        if "GLIBCXX_3.4.30" not in listed:
            self.skipTest("this libstdc++ has no newer wait")
        code, printed = self.check(self.folder)
        self.assertEqual(code, 1)
        self.assertIn("waits: _ZNSt18condition_variable4wait", printed)
        self.assertIn("of GLIBCXX_3.4.30", printed)

    def test_a_library_of_another_cuda_is_named(self):
        library = self.folder / "libcublasLt.so.12"
        empty = self.folder / "empty.cpp"
        empty.write_text("int nothing() { return 0; }")
        subprocess.run([COMPILER, "-shared", "-fPIC", f"-Wl,-soname,{library.name}", empty, "-o", library],
                       check=True)
        program = self.compiled("-include", HERE / "older_libstdcxx.h", "-Wl,--no-as-needed", library,
                                f"-Wl,-rpath,{self.folder}")
        self.assertEqual(self.check("--cuda", "12", program)[0], 0, self.check("--cuda", "12", program)[1])
        code, printed = self.check("--cuda", "13", program)
        self.assertEqual(code, 1)
        self.assertIn("waits: libcublasLt.so.12, which is not of CUDA 13", printed)

    def test_nothing_is_no_success(self):
        (self.folder / "text").write_text("no program")
        self.assertEqual(self.check(self.folder)[0], 2)


if __name__ == "__main__":
    unittest.main()
