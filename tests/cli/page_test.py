"""Pages to mail: one file, no network, small, and safe whatever the names are."""

import json
import re
import unittest

from program import BAD_INPUT, ProgramTest, debubble

SMALL = ["--set", "training.global_batch=32", "--set", "training.micro_batches=8"]


class Page(ProgramTest):
    def page(self, *arguments):
        out = self.folder / "page.html"
        self.done(*arguments, "--html", out)
        text = out.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertTrue(text.endswith("</html>\n"))
        for foreign in ["http://cdn", "https://cdn", "<script src", "<link", "@import", " src="]:
            self.assertNotIn(foreign, text)
        return text

    def test_of_a_plan_has_its_figures_its_bill_and_the_other_schedules(self):
        text = self.page("simulate", "gpt2-xl-1f1b", *SMALL)
        for part in ["step time", "677.166 ms", "Where the step goes", "model FLOPs at the peak rate", "The other schedules",
                     "zb-v", "dualpipe-v", "How to read this", "Memory by class", "<canvas data-picture=\"0\">"]:
            self.assertIn(part, text)
        self.assertLess(len(text), 1_000_000)

    def test_bars_of_the_bill_are_as_wide_as_their_parts(self):
        text = self.page("simulate", "gpt2-xl-1f1b", *SMALL)
        bill = text[text.index('id="bill"'):text.index('id="schedules"')]
        rows = re.findall(r'left:([\d.]+)%;width:([\d.]+)%[^\n]*?<td>[^<,]*, (-?[\d.]+) %</td>', bill)
        self.assertGreater(len(rows), 5)
        for _, width, share in rows:
            self.assertAlmostEqual(float(width), abs(float(share)), delta=0.06)

    def test_of_several_plans_has_them_all(self):
        text = self.page("simulate", "gpt2-xl-gpipe", "gpt2-xl-1f1b", *SMALL)
        for name in ["gpt2-xl-gpipe", "gpt2-xl-1f1b"]:
            self.assertIn(f"Figures of {name}", text)

    def test_of_traces_has_the_comparison(self):
        trace = self.folder / "a.trace.json"
        self.done("simulate", "gpt2-xl-1f1b", *SMALL, "--trace", trace)
        self.assertIn("The run in figures", self.page("trace", trace))
        other = self.folder / "b.trace.json"
        self.done("simulate", "gpt2-xl-1f1b", *SMALL, "--trace", other)
        self.assertIn("The comparison", self.page("compare", trace, other))

    def test_of_several_has_their_figures_beside_each_other(self):
        text = self.page("simulate", "gpt2-xl-1f1b", "gpt2-xl-zb-v", *SMALL)
        table = text[text.index('id="beside"'):text.index('id="plan-1"')]
        cells = [re.findall(r"<td>(.*?)</td>", row) for row in table.split("</tr>")]
        rows = {name: figures for name, *figures in filter(None, cells)}
        self.assertEqual(rows["step"][:2], ["677.166 ms", "502.985 ms"])
        self.assertRegex(rows["step"][2], r"^-2\d\.\d %$")

        def ms(words):
            number, unit = words.split() if words != "0" else ("0", "s")
            return float(number) * {"s": 1e3, "ms": 1, "us": 1e-3}[unit]

        for plan in (0, 1):
            parts = [rows[name][plan] for name in ("compute, mean of the ranks", "exposed communication", "optimizer", "idle")]
            self.assertAlmostEqual(sum(map(ms, parts)), ms(rows["step"][plan]), delta=0.01, msg="parts add up to the step")
            idle = [row[plan] for name, row in rows.items() if re.match("of it (?!TP|CP|EP|DP|PP|HOST|host)", name)]
            self.assertAlmostEqual(sum(map(ms, idle)), ms(rows["idle"][plan]), delta=0.01)

    def test_of_a_run_shows_its_prediction_above_it(self):
        trace = self.folder / "a.trace.json"
        self.done("simulate", "gpt2-xl-1f1b", *SMALL, "--set", "cluster=hgx-h100", "--trace", trace)
        sets = [word for pair in zip(SMALL[::2], SMALL[1::2]) for word in pair]
        text = self.page("trace", trace, "--scenario", "gpt2-xl-1f1b", *sets)
        for part in ["<h1>gpt2-xl-1f1b: predicted 677.166 ms, executed", "<th>predicted</th><th>executed</th>", "The comparison",
                     "The run in figures"]:
            self.assertIn(part, text)

    def test_of_the_same_plan_is_the_same(self):
        self.assertEqual(self.page("simulate", "gpt2-xl-1f1b", *SMALL), self.page("simulate", "gpt2-xl-1f1b", *SMALL))

    def test_shows_names_as_text_whatever_is_in_them(self):
        evil = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>"
        scenario = self.write("evil.yaml", f"include: gpt2-xl-1f1b\nname: {json.dumps(evil)}\n")
        result = debubble("simulate", scenario, "--html", self.folder / "evil.html")
        if result.returncode == BAD_INPUT:
            self.fail(result.stderr)
        text = (self.folder / "evil.html").read_text()
        self.assertEqual(len(re.findall("<script", text)), 2)
        self.assertNotIn("<img", text)
        self.assertIn("&lt;/script&gt;", text)

    def test_of_more_actions_than_are_played_again_says_what_is_left_out(self):
        text = self.page("simulate", "gpt2-xl-1f1b", "--set", "training.global_batch=16384", "--set", "training.micro_batches=4096")
        self.assertIn("are not played again for a page", text)
        self.assertLess(len(text), 1_000_000)


if __name__ == "__main__":
    unittest.main()
