#!/usr/bin/env python3
"""Pages to play are linked by the README and shown by the documentation, and `./dev docs` builds each of them.

That they lie there after it is checked by `./dev docs` itself, which takes MkDocs."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def written():
    """The names of the pages that `./dev docs` writes into the site's folder `live`."""
    function = re.search(r"^write_live_pages\(\).*?^}", (ROOT / "dev").read_text(), re.M | re.S)[0]
    return set(re.findall(r'--html "\$1/([^"]+)"', function))


class LivePages(unittest.TestCase):
    def test_the_readme_links_one(self):
        linked = re.findall(r"\]\(build/site/live/([^)]+)\)", (ROOT / "README.md").read_text())
        self.assertTrue(linked, "README.md links no page of the site")
        self.assertLessEqual(set(linked), written())

    def test_those_that_the_documentation_shows_are_built(self):
        for page in sorted((ROOT / "docs").rglob("*.md")):
            for name in re.findall(r'(?:src|href)="(?:\.\./)*live/([^"]+)"', page.read_text()):
                with self.subTest(page=page.name):
                    self.assertIn(name, written())

    def test_none_is_built_in_vain(self):
        texts = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
        for name in written():
            self.assertIn(f"live/{name}", texts)


if __name__ == "__main__":
    unittest.main()
