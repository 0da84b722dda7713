#!/usr/bin/env python3
"""Pages in a real browser: they open without an error, and keys and clicks work as documented."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, why_not  # noqa: E402

PROGRAM = os.environ["DEBUBBLE_PROGRAM"]
SMALL = ["--set", "training.global_batch=32", "--set", "training.micro_batches=8"]
ENTER, ESCAPE, HOME, SHIFT, RIGHT = "\ue007", "\ue00c", "\ue011", "\ue008", "\ue014"
BARS = """const view = debubble.timeline; const row = view.rows[arguments[0]];
const [first, last] = [row.device.work.first, row.device.work.last];
return [...Array(last - first).keys()].map((i) => { const bar = first + i; return {
  text: row.plan.textOf(bar), x: (view.xOf(row.plan.begin[bar]) + view.xOf(row.plan.end[bar])) / 2,
  y: view.yOf(row) + row.bars[0] + row.bars[1] / 2 }; });"""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="debubble-test-")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def page(self, name, *scenarios):
        file = pathlib.Path(self.folder.name, name + ".html")
        if not file.exists():
            done = subprocess.run([PROGRAM, "simulate", *scenarios, "--html", file], capture_output=True, text=True, timeout=300)
            self.assertIn(done.returncode, (0, 1), done.stderr)
        return file

    def open(self, name="plan", scenarios=("gpt2-xl-1f1b", *SMALL), theme="light"):
        self.browser.open(self.page(name, *scenarios), theme)
        self.assertEqual(self.browser.log(), [])
        return self.browser

    def test_opens_without_an_error_in_both_themes_on_large_and_small_screens(self):
        for size in ((1400, 900), (390, 844)):
            for theme in ("light", "dark"):
                self.browser.resize(*size)
                browser = self.open(theme=theme)
                self.assertEqual(browser.run("return debubble.timeline.theme"), theme)
                self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), size[0], "nothing is cut off")
                self.assertGreater(browser.run("return debubble.timeline.shapes().length"), 100)
                self.assertEqual(browser.log(), [])
        self.browser.resize(1400, 900)

    def test_keys_zoom_move_and_show_all(self):
        browser = self.open()
        whole = browser.axis()
        browser.press("w", "w")
        near = browser.axis()
        self.assertLess(near[1] - near[0], (whole[1] - whole[0]) / 2)
        browser.press("d")
        self.assertGreater(browser.axis()[0], near[0])
        browser.press("a")
        self.assertAlmostEqual(browser.axis()[0], near[0], delta=1)
        browser.press("s")
        self.assertGreater(browser.axis()[1] - browser.axis()[0], near[1] - near[0])
        browser.press(HOME)
        self.assertEqual(browser.axis(), whole)

    def test_bubbles_say_why_and_enter_goes_along_the_causes(self):
        browser = self.open()
        browser.press("b")
        first = browser.answer()
        self.assertIn("Rank 0 waits", first)
        browser.press("b")
        second = browser.answer()
        self.assertNotEqual(second, first)
        browser.press("B")
        self.assertEqual(browser.answer(), first)
        for _ in range(3):
            selected = browser.run("const s = debubble.timeline.selection; return s.bubble !== undefined ? [s.plan.bubble.endedBy[s.bubble], 0]"
                                   " : [s.bar, s.plan.begin[s.bar]]")
            browser.press(ENTER)
            bar, begin = browser.run("const s = debubble.timeline.selection; return [s.bar, s.plan.begin[s.bar]]")
            if selected[1] == 0:
                self.assertEqual(bar, selected[0], "what ends the bubble")
            else:
                self.assertLess(begin, selected[1], "a cause begins before what it causes")
        browser.press(ESCAPE)
        self.assertTrue(browser.run("return debubble.timeline.selection === null"))

    def test_a_click_selects_the_bar_below_it(self):
        browser = self.open()
        bars = browser.run(BARS, 2)
        for bar in bars[1:8:3]:
            browser.at(bar["x"], bar["y"]).click().perform()
            self.assertTrue(browser.answer().startswith(f"{bar['text']} of rank 2 ("), browser.answer())
            details = browser.run("return document.getElementById('selected').textContent")
            self.assertIn(bar["text"], details)

    def test_the_pointer_measures_moves_and_zooms(self):
        browser = self.open()
        browser.at(400, 100).click_and_hold().move_by_offset(300, 0).release().perform()
        begin, end = browser.run("return debubble.timeline.measured")
        a, b = browser.run("const v = debubble.timeline; return [v.timeAt(400), v.timeAt(700)]")
        self.assertAlmostEqual(end - begin, b - a, delta=(b - a) / 100)
        self.assertIn("Measured", browser.answer())
        browser.press("w", "w")
        before = browser.axis()
        browser.pointer().key_down(SHIFT).perform()
        browser.at(700, 100).click_and_hold().move_by_offset(-200, 0).release().perform()
        browser.pointer().key_up(SHIFT).perform()
        self.assertGreater(browser.axis()[0], before[0])
        browser.run("document.getElementById('timeline').dispatchEvent(new WheelEvent('wheel', {deltaY: -300, ctrlKey: true, "
                    "clientX: 700, clientY: 400, bubbles: true, cancelable: true}))")
        self.assertLess(browser.axis()[1] - browser.axis()[0], before[1] - before[0])

    def test_fingers_move_and_zoom_on_a_small_screen(self):
        self.browser.resize(390, 844)
        self.addCleanup(self.browser.resize, 1400, 900)
        browser = self.open()
        top, left = browser.run("const r = document.getElementById('timeline').getBoundingClientRect(); return [r.top, r.left]")

        def touch(kind, *places):
            browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
                {"x": left + x, "y": top + 150, "id": i} for i, x in enumerate(places)]})

        whole = browser.axis()
        touch("touchStart", 150, 250)
        for by in range(5, 45, 5):
            touch("touchMove", 150 - by, 250 + by)
        touch("touchEnd")
        near = browser.axis()
        self.assertLess(near[1] - near[0], 0.8 * (whole[1] - whole[0]))
        touch("touchStart", 300)
        for by in range(10, 90, 10):
            touch("touchMove", 300 - by)
        touch("touchEnd")
        self.assertGreater(browser.axis()[0], near[0])
        self.assertEqual(browser.log(), [])

    def test_the_critical_path_fades_the_other_bars(self):
        browser = self.open()
        count = lambda: browser.run("const c = {}; for (const s of debubble.timeline.shapes()) if (s.shape === 'area') c[s.fill] = (c[s.fill] ?? 0) + 1; return c")
        before = count()
        browser.press("c")
        self.assertNotEqual(count(), before)
        browser.press("c")
        self.assertEqual(count(), before)

    def test_it_plays_and_says_for_whom_ranks_wait(self):
        browser = self.open("race", ("gpt2-xl-gpipe", "gpt2-xl-1f1b", *SMALL))
        browser.press(" ")
        time.sleep(0.4)
        browser.press(" ")
        self.assertGreater(browser.run("return debubble.timeline.cursor"), 0)
        self.assertFalse(browser.run("return debubble.player.playing"))
        waits = browser.run("const { plan, device } = debubble.timeline.rows[3]; const b = device.bubbles.first;"
                            "debubble.player.moveTo((plan.bubble.begin[b] + plan.bubble.end[b]) / 2);"
                            "return debubble.timeline.shapes().filter((s) => s.shape === 'text').map((s) => s.words)")
        self.assertTrue(any("warm-up: before its first compute" in words for words in waits), waits)
        self.assertEqual(len([words for words in waits if words.endswith("% done")]), 2, "both plans say how far they are")
        browser.press(RIGHT)
        browser.run("debubble.player.moveTo(debubble.timeline.axis.whole)")
        words = browser.run("return debubble.timeline.shapes().filter((s) => s.shape === 'text').map((s) => s.words)")
        self.assertEqual(len([w for w in words if w.startswith("done after")]), 2)
        browser.press(ESCAPE)
        self.assertTrue(browser.run("return debubble.timeline.cursor === null"))

    def test_links_are_shown_of_all_ranks_and_of_one(self):
        browser = self.open("links", ("gpt3-175b", "--set", "training.global_batch=64"))
        rows = lambda: browser.run("return debubble.timeline.rows.map((row) => row.linksOf ?? -1)")
        own = rows()
        browser.press("l")
        self.assertEqual(len(rows()), 3 * len(own), "the links inside the node and those of the network")
        words = browser.run("return debubble.timeline.shapes().filter((s) => s.shape === 'text').map((s) => s.words)")
        self.assertIn("network links", words)
        self.assertTrue(any(re.fullmatch(r"[\d.]+ % of [\d.]+ GB/s", one) for one in words), words)
        browser.press("l")
        self.assertEqual(rows(), own)
        y = browser.run("const v = debubble.timeline; return v.yOf(v.rows[1]) + 10")
        browser.at(20, y).click().perform()
        self.assertEqual(rows(), [-1, -1, 0, 1] + [-1] * (len(own) - 2))
        tip = browser.run("const v = debubble.timeline, r = v.rows[3]; return v.hit(v.gutter + 300, v.yOf(r) + 10).use")
        self.assertGreater(tip, 0)

    def test_ranks_alike_are_folded_and_opened(self):
        browser = self.open("many", ("gpt2-xl-1f1b", "--set", "parallel.pipeline=48", "--set", "gpus=48", "--set", "nodes=6", *SMALL))
        folded = browser.run("return debubble.timeline.rows.length")
        browser.press("u")
        self.assertEqual(browser.run("return debubble.timeline.rows.length"), 48)
        self.assertLess(folded, 48)

    def test_names_are_shown_and_not_run(self):
        evil = "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'>"
        scenario = pathlib.Path(self.folder.name, "evil.yaml")
        scenario.write_text(f"include: gpt2-xl-1f1b\nname: {json.dumps(evil)}\n")
        browser = self.open("evil", (scenario, *SMALL))
        self.assertTrue(browser.run("return window.evil === undefined"))
        self.assertIn("</script>", browser.run("return document.querySelector('h1').textContent"))


if __name__ == "__main__":
    if why := why_not():
        print(f"Skipped: {why}")
        sys.exit()
    unittest.main()
