#!/usr/bin/env python3
"""A page draws what the SVG draws: bars, bubbles, colours and words, of four plans."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import drawn  # noqa: E402

PROGRAM = os.environ["DEBUBBLE_PROGRAM"]
WIDTH = 1600
NEAR = 0.03  # pixels: files have two decimals
SMALL = ["--set", "training.global_batch=32", "--set", "training.micro_batches=8"]
NEARLY_EQUAL = 28  # of 255: nearly equal columns are one in a file, with their mean colour
TOP_OF_SVG = 88  # title, legend, map and ruler


class Agreement(unittest.TestCase):
    def draw(self, *arguments, row_height):
        with tempfile.TemporaryDirectory(prefix="debubble-test-") as folder:
            svg, page = pathlib.Path(folder, "a.svg"), pathlib.Path(folder, "a.html")
            done = subprocess.run(
                [PROGRAM, "simulate", *arguments, "--svg", svg, "--html", page], capture_output=True, text=True, timeout=300)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return drawn.svg_shapes(svg), drawn.page_shapes(page, WIDTH, row_height)

    def agree(self, *arguments, row_height):
        svg, page = self.draw(*arguments, row_height=row_height)
        below = TOP_OF_SVG - page["top"]
        gutter = WIDTH - (WIDTH - 164)

        def lanes(shapes, down):
            return [(s[0], s[1] + down, *s[2:]) for s in shapes
                    if s[0] + s[2] > gutter + 0.01 and s[1] + down >= TOP_OF_SVG]

        for kind, least in (("areas", 0.5), ("hatches", 5)):
            in_svg = [s for s in lanes(svg[kind], 0) if s[2] >= least]
            on_page = [s for s in lanes(page[kind], below) if s[2] >= least]
            self.assertTrue(in_svg or kind == "hatches", "there is something to compare")
            self.assertEqual(drawn.missing(in_svg, lanes(page[kind], below), NEAR)[:5], [], f"{kind} of the SVG only")
            self.assertEqual(drawn.missing(on_page, lanes(svg[kind], 0), NEAR)[:5], [], f"{kind} of the page only")
        in_svg = drawn.summed(s for s in svg["steps"] if s[1] > TOP_OF_SVG)
        on_page = drawn.summed((fill, bottom + below, area) for fill, bottom, area in page["steps"] if bottom > page["top"])
        self.assertEqual(set(in_svg), set(on_page), "far views and memory")
        for key, area in in_svg.items():
            self.assertAlmostEqual(on_page[key], area, delta=0.01 * area + 0.2 * (WIDTH - gutter), msg=str(key))
        self.agree_in_columns(drawn.colours_of_pixels(svg["columns"]), {round(y + below): c for _, y, _, c in page["columns"]})
        words = lambda texts: sorted(t[4] for t in texts)
        # The page's own title and legend are HTML; rows and the texts left of them are drawn.
        self.assertEqual(words(t for t in svg["texts"] if t[1] > TOP_OF_SVG),
                         words(t for t in page["texts"] if t[1] > page["top"]))
        inks = lambda texts: {(t[4], t[3]) for t in texts}
        self.assertEqual(inks(t for t in svg["texts"] if t[1] > TOP_OF_SVG),
                         inks(t for t in page["texts"] if t[1] > page["top"]))
        head = [t[4] for t in svg["texts"] if t[1] < TOP_OF_SVG - 36]
        self.assertIn(page["title"], head)
        for entry in head:
            self.assertTrue(entry in page["legend"] or page["title"].startswith(entry.rstrip(".")) or
                            page["subtitle"].startswith(entry.rstrip(".")) or entry == "utilisation", entry)
        # The SVG also has tips of parts of bars, and of peaks.
        tips = set(page["tips"])
        actions = [t for t in svg["tips"] if t.startswith("bubble") or " from " in t]
        self.assertGreater(len(actions), 0)
        self.assertEqual([t for t in actions if t not in tips][:3], [])

    def agree_in_columns(self, in_svg, on_page):
        """Strips of many messages, whose columns have mean colours; a file draws nearly equal ones as one."""
        self.assertEqual(set(in_svg), set(on_page), "strips of columns")
        for y, colours in in_svg.items():
            self.assertEqual(len(colours), len(on_page[y]))
            apart = [drawn.apart(a, b) for a, b in zip(colours, on_page[y])]
            self.assertLessEqual(max(apart), NEARLY_EQUAL, f"at {y}")
            self.assertLessEqual(sum(apart) / len(apart), NEARLY_EQUAL / 4, f"at {y}")

    def test_zero_bubble(self):
        self.agree("gpt2-xl-zb-v", *SMALL, row_height=76)

    def test_collectives_inside_and_between_bars(self):
        self.agree("a40-fsdp-7b", row_height=76)

    def test_bars_far_away(self):
        self.agree("gpt3-175b", "--set", "training.global_batch=256", row_height=76)

    def test_pairs_and_recomputes(self):
        self.agree("gpt2-xl-zb-v", *SMALL, "--set", "schedule=dualpipe-v", "--set", "training.recompute=full",
                   row_height=76)


if __name__ == "__main__":
    if drawn.NODE is None:
        print("Skipped: node is not installed")
        sys.exit()
    unittest.main()
