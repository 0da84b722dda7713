#!/usr/bin/env python3
"""The packages that `./dev package` makes: what they hold, what they need, and that they work where nothing was built.

    tests/package/package_test.py FOLDER
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop()).resolve()
SOURCES = pathlib.Path(__file__).resolve().parents[2]
DEADLINE = 600
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"


def said(*command, **how):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=DEADLINE, **how)


def output(*command, **how):
    done = said(*command, **how)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def packages():
    return {path.name.split("_")[0]: path for path in FOLDER.glob("*.deb")}


def archive():
    (path,) = FOLDER.glob("*.tar.gz")
    return path


@functools.cache
def files_of(name):
    lines = output("dpkg-deb", "-c", packages()[name]).splitlines()
    return {line.split()[5].removeprefix("./"): line.split()[:2] for line in lines}


def field(name, key):
    return output("dpkg-deb", "-f", packages()[name], key).strip()


class Packages(unittest.TestCase):
    def test_are_those_of_the_command_line_the_window_and_mpi(self):
        self.assertEqual(sorted(packages()), ["debubble", "debubble-gui", "debubble-mpi"])

    def test_are_without_a_fault_that_lintian_knows(self):
        if not shutil.which("lintian"):
            self.skipTest("there is no lintian")
        done = said("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0",
                    *packages().values())
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_have_one_version_which_comes_from_git(self):
        versions = {field(name, "Version") for name in packages()}
        self.assertEqual(len(versions), 1)
        project = re.search(r"project\(debubble VERSION ([\d.]+)", (SOURCES / "CMakeLists.txt").read_text())[1]
        commit = said("git", "-C", SOURCES, "rev-parse", "--short", "HEAD")
        version = versions.pop()
        if commit.returncode == 0 and re.search("[+~]", version):
            self.assertTrue(version.endswith(f".g{commit.stdout.strip()}"), version)
        self.assertIn(version, archive().name)
        self.assertRegex(version, r"^\d+\.\d+\.\d+([+~]\d+\.g[0-9a-f]+)?$")
        if commit.returncode != 0:
            self.assertEqual(version, project)

    def test_of_the_command_line_need_no_window(self):
        needed = field("debubble", "Depends")
        self.assertIn("libfmt9", needed)
        self.assertNotRegex(needed.lower(), "qt|libgl|libx11|openmpi")
        self.assertRegex(field("debubble-gui", "Depends"), r"libqt6widgets6.*")
        self.assertIn("libopenmpi3", field("debubble-mpi", "Depends"))
        for name in ["debubble-gui", "debubble-mpi"]:
            self.assertIn(f"debubble (= {field(name, 'Version')})", field(name, "Depends"))

    def test_hold_what_belongs_to_them(self):
        expected = {
            "debubble": ["usr/bin/debubble", "usr/bin/debubble-exec", "usr/share/debubble/scenarios/gpt2-xl.yaml",
                         "usr/share/debubble/models/zoo/gpt2.yaml",
                         "usr/share/debubble/scenarios/clusters/hgx-h100.yaml",
                         "usr/share/debubble/scenarios/data/tales.txt", "usr/share/debubble/slurm/train.sbatch",
                         "usr/share/man/man1/debubble.1.gz", "usr/share/man/man1/debubble-simulate.1.gz",
                         "usr/share/man/man1/debubble-run.1.gz", "usr/share/man/man1/debubble-exec.1.gz",
                         "usr/share/man/man5/debubble-scenario.5.gz",
                         "usr/share/bash-completion/completions/debubble",
                         "usr/share/zsh/vendor-completions/_debubble",
                         "usr/share/fish/vendor_completions.d/debubble.fish",
                         "usr/share/doc/debubble/README.md", "usr/share/doc/debubble/docs/tutorial.md",
                         "usr/share/doc/debubble/docs/schemas/scenario.schema.json"],
            "debubble-gui": ["usr/bin/debubble-gui", "usr/share/applications/org.debubble.debubble.desktop",
                             "usr/share/metainfo/org.debubble.debubble.metainfo.xml",
                             "usr/share/icons/hicolor/scalable/apps/org.debubble.debubble.svg",
                             "usr/share/man/man1/debubble-gui.1.gz"],
            "debubble-mpi": ["usr/lib/debubble/modules/debubble_mpi.so"]}
        for name, files in expected.items():
            for file in [*files, f"usr/share/doc/{name}/copyright", f"usr/share/doc/{name}/changelog.gz"]:
                with self.subTest(name, file=file):
                    self.assertIn(file, files_of(name))

    def test_hold_no_file_twice_and_all_of_root(self):
        seen = {}
        for name in packages():
            for file, (rights, owner) in files_of(name).items():
                self.assertEqual(owner, "root/root", file)
                self.assertRegex(rights, "^(-rw-r--r--|[d-]rwxr-xr-x|lrwxrwxrwx)$", file)
                if not file.endswith("/"):
                    self.assertNotIn(file, seen)
                    seen[file] = name

    def test_hold_every_shipped_file(self):
        shipped = [*(SOURCES / "scenarios").rglob("*.*"), *(SOURCES / "models/zoo").glob("*.yaml")]
        shipped = [file for file in shipped if file.suffix in (".yaml", ".txt", ".png")
                   and file.name != "CMakeLists.txt" and not file.name.endswith(".tokens.bin")]
        self.assertGreater(len(shipped), 100)
        for file in shipped:
            self.assertIn(f"usr/share/debubble/{file.relative_to(SOURCES)}", files_of("debubble"))


class TheArchive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="debubble-archive-")
        self.addCleanup(folder.cleanup)
        output("tar", "-xzf", archive(), "-C", folder.name)
        (self.root,) = pathlib.Path(folder.name).iterdir()

    def test_runs_where_it_is_unpacked(self):
        answer = json.loads(output(self.root / "bin/debubble", "simulate", "gpt2-xl", "--json", "-"))
        self.assertGreater(answer["step_time_s"], 0)
        done = output(self.root / "bin/debubble", "run", "tales", "--steps", 1, "--resume", "never", cwd=self.root)
        self.assertIn("step 1/1", done)

    def test_has_the_licence_manual_and_documentation(self):
        for file in ["share/doc/debubble/LICENSE", "share/man/man1/debubble.1", "share/doc/debubble/docs/index.md",
                     "share/doc/debubble/libraries/libfmt9.txt"]:
            self.assertTrue((self.root / file).exists(), file)

    def test_brings_the_libraries_that_a_bare_machine_lacks(self):
        for program in ["debubble", "debubble-exec"]:
            for line in output("ldd", self.root / "bin" / program).splitlines():
                name, _, path = line.strip().partition(" => ")
                if not re.match(r"(linux-vdso|/lib64/ld-linux|(libc|libm|libstdc\+\+|libgcc_s|libdl|librt|libpthread)\.so)",
                                name):
                    self.assertIn(str(self.root), path, line)


class ABareMachine(unittest.TestCase):
    """Debian's smallest system, in which nothing was ever built."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            raise unittest.SkipTest("a bare Debian is made by debootstrap, which takes root")
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="debubble-root-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        made = said("debootstrap", "--variant=minbase", SUITE, cls.root, os.environ.get("DEBUBBLE_MIRROR", MIRROR))
        if made.returncode != 0:
            raise unittest.SkipTest("debootstrap makes no root here: " + made.stdout.strip().splitlines()[-1])
        # A program finds what lies beside it by /proc.
        if said("mount", "--bind", "/proc", cls.root / "proc").returncode != 0:
            raise unittest.SkipTest("/proc cannot be mounted in the bare system")
        cls.addClassCleanup(said, "umount", cls.root / "proc")

    def inside(self, *command):
        return output("chroot", self.root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                      "DEBIAN_FRONTEND=noninteractive", *command)

    def predicts(self, program):
        answer = json.loads(self.inside(program, "simulate", "gpt2-xl", "--json", "-"))
        self.assertGreater(answer["step_time_s"], 0)
        self.assertIn("step time", self.inside(program, "simulate", "gpt2-xl"))

    def test_1_runs_the_archive(self):
        output("tar", "-xzf", archive(), "-C", self.root / "opt")
        (top,) = (self.root / "opt").iterdir()
        self.predicts(f"/opt/{top.name}/bin/debubble")

    def test_2_installs_the_package_and_no_window(self):
        shutil.copy(packages()["debubble"], self.root / "debubble.deb")
        if said("chroot", self.root, "apt-get", "update", "-q").returncode != 0:
            self.skipTest("apt-get update fails in the bare system")
        self.inside("apt-get", "install", "-y", "-q", "--no-install-recommends", "/debubble.deb")
        self.predicts("debubble")
        installed = self.inside("dpkg-query", "-W", "-f", "${Package}\n").split()
        self.assertEqual([name for name in installed if "qt" in name or "x11" in name or name == "g++"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
