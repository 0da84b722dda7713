"""The installed programs, with the data that was installed with them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["DEBUBBLE_BUILD"]
CMAKE = os.environ["CMAKE_PROGRAM"]
DEADLINE = 120


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix="debubble-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.prefix, ignore_errors=True)
        done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", str(cls.prefix)], text=True,
                              capture_output=True, timeout=DEADLINE)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        # Data that the source tree does not have: a program that finds it reads the installed data.
        (cls.prefix / "share/debubble/scenarios/only-installed.yaml").write_text("include: gpt2-xl\n")

    def debubble(self, *arguments):
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("DEBUBBLE_DATA_DIR", "DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
        done = subprocess.run([self.prefix / "bin/debubble", *map(str, arguments)], text=True,
                              capture_output=True, timeout=DEADLINE, cwd=self.prefix,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_predicts_a_scenario_of_its_own(self):
        answer = json.loads(self.debubble("simulate", "only-installed", "--json", "-"))
        self.assertGreater(answer["step_time_s"], 0)

    def test_knows_its_models(self):
        self.assertIn("GPT", self.debubble("model", "gpt3-175b").upper())

    def test_has_job_scripts_for_slurm(self):
        scripts = sorted((self.prefix / "share/debubble/slurm").iterdir())
        expected = ["sweep-array.sbatch", "sweep.sbatch", "train.sbatch"]
        self.assertEqual(expected, [script.name for script in scripts])

    def test_exports_a_picture_of_it(self):
        if not (self.prefix / "bin/debubble-gui").exists():
            self.skipTest("built without the window")
        for ending, start in {"svg": b"<", "png": b"\x89PNG"}.items():
            file = self.prefix / f"plan.{ending}"
            self.debubble("gui", "--export", file, "only-installed")
            self.assertTrue(file.read_bytes().startswith(start))

    def test_trains_two_steps(self):
        text = self.prefix / "share/debubble/scenarios/data/tales.txt"
        self.assertTrue(text.exists())
        (self.prefix / "plan.yaml").write_text(
            f"include: two-rank-gpt\ntraining: {{seq_length: 64, data: {{text: {text}}}}}\n")
        report = self.prefix / "run.json"
        self.debubble("run", "plan.yaml", "--steps", 2, "--resume", "never", "--json", report)
        self.assertEqual(len(json.loads(report.read_text())["losses"]), 2)

    def test_brings_a_manual_of_every_verb(self):
        manual = self.prefix / "share/man"
        for page in ["man1/debubble.1", "man1/debubble-simulate.1", "man5/debubble-scenario.5"]:
            self.assertTrue((manual / page).read_text().startswith(".TH "), page)
        if (self.prefix / "bin/debubble-exec").exists():
            self.assertIn("rendezvous", (manual / "man1/debubble-run.1").read_text())

    def test_brings_the_licence_and_the_documentation(self):
        folder = self.prefix / "share/doc/debubble"
        self.assertIn("Apache License", (folder / "LICENSE").read_text())
        for link in re.findall(r"\]\((docs/[^)#]+)", (folder / "README.md").read_text()):
            self.assertTrue((folder / link).exists(), link)

    def test_brings_completion_for_three_shells(self):
        for file in ["bash-completion/completions/debubble", "zsh/site-functions/_debubble",
                     "fish/vendor_completions.d/debubble.fish"]:
            self.assertIn("complete", (self.prefix / "share" / file).read_text())

    def test_brings_its_modules(self):
        built = {m.name for m in (pathlib.Path(BUILD) / "bin").glob("debubble_*.so")}
        installed = {m.name for m in (self.prefix / "lib/debubble/modules").glob("*.so")}
        self.assertEqual(installed, built)

    def test_is_known_to_the_desktop(self):
        if not (self.prefix / "bin/debubble-gui").exists():
            self.skipTest("built without the window")
        entry = self.prefix / "share/applications/org.debubble.debubble.desktop"
        description = self.prefix / "share/metainfo/org.debubble.debubble.metainfo.xml"
        icon = self.prefix / "share/icons/hicolor/scalable/apps/org.debubble.debubble.svg"
        for file in (entry, description, icon):
            self.assertTrue(file.exists(), file)
        for tool, words in {"desktop-file-validate": [entry],
                            "appstreamcli": ["validate", "--no-net", description]}.items():
            if shutil.which(tool) is None:
                continue
            done = subprocess.run([tool, *map(str, words)], text=True, capture_output=True,
                                  timeout=DEADLINE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
