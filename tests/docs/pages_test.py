#!/usr/bin/env python3
"""Every command on every page of the documentation runs, and prints what the page shows (see page.py).

    DEBUBBLE_PROGRAM=build/release/bin/debubble tests/docs/pages_test.py [--update] [PAGE...]

--update writes what the program prints, and the pictures that it draws, into the pages.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

from help import Help
from page import File, read_page
from page_check import PageCheck

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
PROGRAM = pathlib.Path(os.environ["DEBUBBLE_PROGRAM"]).resolve()
UPDATE = "--update" in sys.argv
HELP = Help(PROGRAM)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


class Pages(unittest.TestCase):
    def check(self, path):
        name = str(path.relative_to(ROOT))
        for mistake in PageCheck(path, name, PROGRAM, HELP, PICTURES, UPDATE).check():
            with self.subTest():
                self.fail(mistake)


class JobScripts(unittest.TestCase):
    def test_the_installed_scripts_are_those_that_their_page_explains(self):
        page = read_page(ROOT / "docs/jobs/slurm.md")
        shown = {step.name: step.text for step in page.steps if isinstance(step, File) and step.script}
        installed = {path.name: path.read_text() for path in (ROOT / "docs/slurm").iterdir()}
        self.assertEqual(shown, installed)


class Mistakes(unittest.TestCase):
    """A page is refused for each of these."""

    def found(self, *lines):
        with tempfile.TemporaryDirectory(prefix="debubble-docs-") as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("\n".join(lines) + "\n")
            return "\n".join(PageCheck(page, "page.md", PROGRAM, HELP, PICTURES).check())

    def test_what_is_right_is_not_refused(self):
        self.assertEqual("", self.found(
            "`debubble schedule --list` lists `--anything`.", "```console", "$ debubble validate none.csv",
            "...none.csv...", "$ echo $?", "2", "$ debubble schedule --name 1f1b \\",
            "    --ranks 1 --micro-batches 2 --format text", "0F0 ... 0B1", "```"))

    def test_an_unknown_flag_of_a_command_that_runs(self):
        self.assertIn("takes no '--lost'", self.found("```sh", "debubble schedule --lost", "```"))

    def test_an_unknown_flag_of_a_command_that_needs_a_cluster(self):
        self.assertIn("page.md:3: debubble run takes no '--devise'", self.found(
            "<!-- test: skip: it needs Slurm -->", "```sh", "srun -n 2 debubble run tales --devise cuda", "```"))

    def test_an_unknown_flag_in_a_script_for_a_cluster(self):
        self.assertIn("takes no '--rendez'", self.found(
            '```sh title="job.sh"', "srun debubble run tales --comm tcp \\", '    --rendez "$X.job"', "```"))

    def test_a_script_that_bash_cannot_read(self):
        self.assertIn("syntax error", self.found("<!-- test: skip: it needs Slurm -->", "```sh", "if true; do", "```"))

    def test_an_unknown_verb_or_flag_in_the_prose(self):
        self.assertIn("takes no '--jason'", self.found("Use `debubble simulate gpt2-xl --jason -`."))
        self.assertIn("no verb 'simulat'", self.found("Use `debubble simulat gpt2-xl`."))

    def test_an_output_that_is_not_the_shown_one(self):
        self.assertIn("prints something else", self.found(
            "```console", "$ debubble schedule --name 1f1b --ranks 1 --micro-batches 1 --format text", "0F0 0B1",
            "```"))

    def test_a_status_that_is_not_stated(self):
        self.assertIn("exits with 2, not 0", self.found("```console", "$ debubble validate none.csv", "```"))
        self.assertIn("exits with 2, not 1", self.found(
            "```console", "$ debubble validate none.csv", "$ echo $?", "1", "```"))

    def test_a_command_where_no_test_sees_it(self):
        self.assertIn("page.md:2: a command in a block", self.found("", "    debubble gui", ""))
        self.assertIn("page.md:2: a command in a block", self.found("```text", "debubble gui", "```"))

    def test_a_table_that_lacks_a_key_or_has_one_too_many(self):
        table = ["```console", "$ debubble schedule --name 1f1b --ranks 1 --micro-batches 1 --format csv --out a.csv",
                 "$ debubble validate a.csv --json a.json", "...", "```", "<!-- test: keys of a.json -->", "",
                 "| key | |", "|---|---|", "| `valid`, `hash` | |", "| `violations` | |"]
        found = self.found(*table)
        self.assertIn("lacks 'schedule_hash'", found)
        self.assertIn("has no 'hash'", found)


class Site(unittest.TestCase):
    def test_every_drawn_picture_has_a_command_that_draws_it(self):
        text = "".join(path.read_text() for path in PAGES)
        for picture in PICTURES.glob("*.svg"):
            self.assertIn(f"--svg pictures/{picture.name}", text)

    def test_every_page_is_in_the_site(self):
        site = (ROOT / "mkdocs.yml").read_text()
        for path in PAGES[1:]:
            if path.parent.name != "decisions" or path.name == "README.md":
                self.assertIn(str(path.relative_to(ROOT / "docs")), site)


def named(path):
    return "test_" + re.sub(r"\W", "_", str(path.relative_to(ROOT)).removesuffix(".md"))


for _path in PAGES:
    setattr(Pages, named(_path), lambda self, path=_path: self.check(path))

if __name__ == "__main__":
    if UPDATE:
        sys.argv.remove("--update")
    sys.argv[1:] = [f"Pages.{named(pathlib.Path(word).resolve())}" if word.endswith(".md") else word
                    for word in sys.argv[1:]]
    unittest.main()
