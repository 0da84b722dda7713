#!/usr/bin/env python3
"""Every relative link of every page, and every page that the tree names, leads somewhere; decisions have one form.

    tests/docs/links_test.py [FOLDER]    FOLDER: the tree that is read, this one by default
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 and pathlib.Path(sys.argv[-1]).is_dir()
                    else pathlib.Path(__file__).resolve().parents[2])
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A decision that is named anywhere, and a page that a page names. Code and data also name pages of other projects.
DECISION_NAME = re.compile(r"\bdocs/(decisions/\d{4}[\w-]*(?:\.md)?)")
PAGE_NAME = re.compile(r"(?<![\w/])docs/((?:[a-z0-9-]+/)?[a-z0-9-]+\.md)")
# A code span that is a path of code: with a folder, or the name of a file in C++. NAME stands for any word.
CODE_SPAN = re.compile(r"`([\w*{},./-]*(?:\w/[\w*{},./-]*|[\w*]\.(?:h|cpp|cu|\{h,cpp\})|\w_test))`")
DECISION = re.compile(r"\A# (\d{4})\. \S.*[^.]\n\n\* Date: \d{4}-\d\d-\d\d(?:, revised \d{4}-\d\d-\d\d)?\n"
                      r"\* Status: (?:accepted|superseded by \d{4})\n\* Supersedes: \S[^#]*?\n\n"
                      r"## Context\n\n(?s:.+?)\n\n## Decision\n\n(?s:.+?)\n\n## Consequences\n\n(?s:.+)\Z")


def prose(page):
    """A page without its fenced blocks and code spans, which show links of other pages."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))


def headings(page):
    """The anchors of a page, as MkDocs and GitHub make them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken_links(page):
    """What is wrong with the links of a page, a sentence each."""
    for link in LINK.findall(prose(page)):
        if ":" in link or "build/site/" in link or "../live/" in link:  # pages that the site has: live_test.py
            continue
        target, _, heading = link.partition("#")
        there = page.parent / target if target else page
        if not there.exists():
            yield f"{page}: there is no {target}"
        elif heading and there.suffix == ".md" and heading not in headings(there):
            yield f"{page}: {there.name} has no heading #{heading}"


def broken_names(file, root):
    """Pages that a file names and that are not there, a sentence each."""
    text = file.read_text(errors="ignore")
    for name in DECISION_NAME.findall(text) + (PAGE_NAME.findall(text) if file.suffix == ".md" else []):
        there = list((root / "docs").glob(name if name.endswith(".md") else name + "*"))
        if not there:
            yield f"{file}: there is no docs/{name}"


def braces(path):
    """a.{h,cpp} as a.h and a.cpp."""
    one = re.search(r"\{([^}]*)\}", path)
    return [path] if not one else [other for word in one[1].split(",")
                                   for other in braces(path[:one.start()] + word + path[one.end():])]


def dead_code_paths(page, files):
    """Paths of code that a page has in code spans and that end no path of the tree, a sentence each."""
    tree = "".join(f"/{path}\n" for file in files for path in (file, *file.parents))
    for span in CODE_SPAN.findall(re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
        for path in braces(span + ".cpp" * span.endswith("_test")):
            ending = re.escape(path.rstrip("/")).replace("NAME", r"\*").replace(r"\*", r"[^/\n]*")
            if not path.startswith("build/") and not re.search(f"/{ending}\n", tree):
                yield f"{page}: there is no {path}"


def mistakes_of_decisions(folder):
    """What is wrong with the decisions of a folder, and with its list of them, a sentence each."""
    index = (folder / "README.md").read_text()
    files = sorted(folder.glob("[0-9]*.md"))
    numbers = {file.name[:4] for file in files}
    for file in files:
        text = file.read_text()
        form = DECISION.match(text)
        if not form:
            yield f"{file}: does not have the form of {folder.name}/README.md"
        elif form[1] != file.name[:4]:
            yield f"{file}: its title has the number {form[1]}"
        elif f"| {form[1]} | [{text.splitlines()[0][8:]}]({file.name}) |" not in index:
            yield f"{file}: its title is not in the list of {folder.name}/README.md"
        for number in re.findall(r"\((\d{4})\)", text):
            if number not in numbers and number.startswith("00"):
                yield f"{file}: there is no decision {number}"


def tracked(*patterns):
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "--",
                            *patterns], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def all_files(*patterns):
    """Files of the tree, also where it is an archive without Git."""
    if (ROOT / ".git").exists():
        return tracked(*patterns)
    return [file for pattern in patterns for file in ROOT.rglob(pattern) if "build" not in file.relative_to(ROOT).parts]


class Tree(unittest.TestCase):
    maxDiff = None

    def test_every_link_leads_somewhere(self):
        pages = all_files("*.md")
        self.assertGreater(len(pages), 20)
        self.assertEqual([], [mistake for page in pages for mistake in broken_links(page)])

    def test_every_page_that_a_file_names_is_there(self):
        files = all_files("*.md", "*.h", "*.cpp", "*.cu", "*.cuh", "*.py", "*.yaml", "*.json", "*.js", "*.sh", "*.txt",
                          "*.cmake", "*.toml")
        self.assertGreater(len(files), 1000)
        self.assertEqual([], [mistake for file in files if file != pathlib.Path(__file__).resolve()
                              for mistake in broken_names(file, ROOT)])

    def test_every_path_of_code_is_there(self):
        files = [file.relative_to(ROOT) for file in all_files("*")]
        pages = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs/decisions").glob("*.md")]
        self.assertGreater(len(pages), 20)
        self.assertEqual([], [mistake for page in pages for mistake in dead_code_paths(page, files)])

    def test_decisions_have_one_form_and_are_listed(self):
        self.assertEqual([], list(mistakes_of_decisions(ROOT / "docs/decisions")))


class Mistakes(unittest.TestCase):
    """The checks above find each of these."""

    GOOD = "\n".join(["# 0001. A plan is data", "", "* Date: 2026-11-20", "* Status: accepted", "* Supersedes: none", "",
                      "## Context", "", "Why.", "", "## Decision", "", "What.", "", "## Consequences", "", "Then."]) + "\n"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="debubble-links-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "docs/decisions").mkdir(parents=True)

    def page(self, text, name="docs/page.md"):
        (self.root / name).write_text(text)
        return self.root / name

    def test_a_link_to_nothing_and_one_to_a_missing_heading(self):
        self.page("# A title, with `code`\n", "docs/other.md")
        self.assertEqual([], list(broken_links(self.page("[a](other.md#a-title-with-code) [b](https://x.y/z)\n"))))
        self.assertIn("no gone.md", "".join(broken_links(self.page("[a](gone.md)\n"))))
        self.assertIn("no heading #gone", "".join(broken_links(self.page("[a](other.md#gone)\n"))))

    def test_a_name_of_a_page_that_is_not_there(self):
        self.page(self.GOOD, "docs/decisions/0001-a-plan.md")
        good, bad = "docs/" + "decisions/0001", "docs/" + "decisions/0002"
        self.assertEqual([], list(broken_names(self.page(f"// {good} says why\n", "a.h"), self.root)))
        self.assertIn("0002", "".join(broken_names(self.page(f"// ({bad}).\n", "a.h"), self.root)))

    def test_a_path_of_code_that_is_not_there(self):
        files = [pathlib.PurePosixPath(name) for name in ("sim/cost/price.h", "sim/cost/price.cpp", "tests/price_test.cpp")]
        good = "`sim/cost/` `cost/price.{h,cpp}` `price.h` `price_test` `cost/*.cpp` `NAME_test.cpp` `build/a/b` `.cu` `a / b`"
        self.assertEqual([], list(dead_code_paths(self.page(good), files)))
        for dead in ("sim/price.h", "ice.h", "cost/price.{h,cu}", "other_test", "exec/cost/", "sim/cos", "sim/*.cpp"):
            self.assertIn("there is no", "".join(dead_code_paths(self.page(f"(`{dead}`)\n"), files)), dead)

    def decisions(self, text, listed="| 0001 | [A plan is data](0001-a-plan.md) |\n"):
        self.page(text, "docs/decisions/0001-a-plan.md")
        self.page(listed, "docs/decisions/README.md")
        return "".join(mistakes_of_decisions(self.root / "docs/decisions"))

    def test_a_decision_of_another_form(self):
        self.assertEqual("", self.decisions(self.GOOD))
        for lost in ("* Date: 2026-11-20\n", "* Status: accepted\n", "* Supersedes: none\n", "## Consequences\n"):
            self.assertIn("form", self.decisions(self.GOOD.replace(lost, "")), lost)
        self.assertIn("number 0003", self.decisions(self.GOOD.replace("# 0001", "# 0003")))

    def test_a_decision_that_is_not_listed_and_one_that_is_gone(self):
        self.assertIn("not in the list", self.decisions(self.GOOD, "nothing\n"))
        self.assertIn("no decision 0009", self.decisions(self.GOOD.replace("Then.", "Then (0009).")))


if __name__ == "__main__":
    unittest.main()
