"""The version of packages, by the history that git knows."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

CMAKE = os.environ["CMAKE_PROGRAM"]
SOURCES = pathlib.Path(__file__).resolve().parents[2]
RULES = SOURCES / "cmake/Version.cmake"
TOLD = "version is "


class Version(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="debubble-version-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def git(self, *words):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"]
        return subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self):
        self.git("commit", "--allow-empty", "-m", "a change")
        return self.git("rev-parse", "--short", "HEAD")

    def version(self, package="ON", folder=None):
        script = self.folder / "script.cmake"
        script.write_text(f"include({RULES})\nmessage(STATUS \"{TOLD}${{DEBUBBLE_VERSION}}\")\n")
        said = subprocess.run(
            [CMAKE, f"-DPROJECT_SOURCE_DIR={folder or self.folder}", "-DPROJECT_VERSION=0.1.0",
             f"-DDEBUBBLE_PACKAGE={package}", "-P", script], check=True, capture_output=True, text=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}).stdout
        return said.split(TOLD)[1].strip()

    def test_is_the_projects_without_git(self):
        self.assertEqual(self.version(), "0.1.0")

    def test_is_the_projects_inside_another_repository(self):
        self.git("init")
        self.commit()
        (self.folder / "inside").mkdir()
        self.assertEqual(self.version(folder=self.folder / "inside"), "0.1.0")

    def test_counts_commits_where_there_is_no_tag_yet(self):
        self.git("init")
        self.commit()
        last = self.commit()
        self.assertEqual(self.version(), f"0.1.0~2.g{last}")

    def test_is_that_of_the_tag(self):
        self.git("init")
        self.commit()
        self.git("tag", "v0.2.0")
        self.git("tag", "something-else")
        self.assertEqual(self.version(), "0.2.0")

    def test_counts_commits_after_the_tag(self):
        self.git("init")
        self.commit()
        self.git("tag", "v0.2.0")
        self.commit()
        last = self.commit()
        self.assertEqual(self.version(), f"0.2.0+2.g{last}")

    def test_is_the_projects_in_programs_that_are_not_packaged(self):
        self.git("init")
        self.commit()
        self.git("tag", "v0.2.0")
        self.assertEqual(self.version(package="OFF"), "0.1.0")


class Release(unittest.TestCase):
    """What `./dev release` asks for: all that tells of the version tells of one."""

    def text(self, name):
        return (SOURCES / name).read_text(encoding="utf-8")

    def test_is_told_alike_everywhere(self):
        version = re.search(r"^project\(debubble VERSION ([0-9.]+) ", self.text("CMakeLists.txt"), re.M)[1]
        changes = re.search(r"^## ([0-9.]+) \((\d{4}-\d\d-\d\d)\)$", self.text("CHANGELOG.md"), re.M)
        self.assertEqual(changes[1], version)
        release = re.search(r'<release version="([0-9.]+)" date="([0-9-]+)"',
                            self.text("gui/desktop/org.debubble.debubble.metainfo.xml"))
        self.assertEqual(release.groups(), changes.groups())
        citation = self.text("CITATION.cff")
        self.assertEqual(re.search(r"^version: (.+)$", citation, re.M)[1], version)
        self.assertEqual(re.search(r"^date-released: (.+)$", citation, re.M)[1], changes[2])


if __name__ == "__main__":
    unittest.main()
