"""`debubble schedule` and `debubble validate`: orders, their figures, their mistakes."""

import json
import unittest

from program import BAD_INPUT, DONE, NO, ProgramTest, debubble

ONE_F_ONE_B = """\
0F0 0F1 0B0 0F2 0B1 0B2
1F0 1B0 1F1 1B1 1F2 1B2
"""


def names():
    return [line.split()[0] for line in debubble("schedule", "--list").stdout.splitlines()
            if not line.startswith(" ")]


class Orders(ProgramTest):
    def test_are_written_as_text(self):
        result = self.done("schedule", "--name", "1f1b", "--ranks", 2, "--micro-batches", 3)
        self.assertEqual(result.stdout, ONE_F_ONE_B)

    def test_are_written_as_the_csv_that_pytorch_reads(self):
        result = self.done("schedule", "--name", "1f1b", "--ranks", 2, "--micro-batches", 3,
                           "--format", "csv")
        self.assertEqual(result.stdout, ONE_F_ONE_B.replace(" ", ","))

    def test_go_into_a_file(self):
        out = self.folder / "new" / "order.csv"
        shape = ["--name", "gpipe", "--ranks", 2, "--micro-batches", 2, "--format", "csv"]
        self.assertEqual(self.done("schedule", *shape, "--out", out).stdout, "")
        self.assertEqual(out.read_text(), self.done("schedule", *shape).stdout)
        self.assertEqual(sorted(p.name for p in out.parent.iterdir()), ["order.csv"])

    def test_are_the_same_bytes_every_time(self):
        for name in names():
            arguments = ["schedule", "--name", name, "--ranks", 4, "--micro-batches", 8,
                         "--costs", "1,1,1,0", "--format", "json"]
            first, second = debubble(*arguments), debubble(*arguments)
            self.assertEqual(first.stdout, second.stdout, name)

    def test_of_every_name_in_the_list_are_valid_before_and_after_lowering(self):
        for name in names():
            for lowering in [[], ["--lower"]]:
                with self.subTest(name, lowering=lowering):
                    out = self.folder / "order.csv"
                    made = debubble("schedule", "--name", name, "--ranks", 4, "--micro-batches", 8,
                                    "--format", "csv", "--out", out, *lowering)
                    if made.returncode == BAD_INPUT:  # the shape is not for this one
                        self.assertIn("cannot be built:", made.stderr)
                        continue
                    placement = self.done("schedule", "--name", name, "--ranks", 4,
                                          "--micro-batches", 8, "--format", "json").stdout
                    rows = json.loads(placement)["placement"]
                    stages = self.write("stages", "".join(
                        ",".join(map(str, row)) + "\n" for row in rows))
                    result = self.done("validate", out, "--placement", stages)
                    self.assertTrue(result.stdout.startswith("valid: "), result.stdout)


class Figures(ProgramTest):
    def figures(self, name, costs, *more, ranks=4, micro_batches=8):
        return json.loads(self.done("schedule", "--name", name, "--ranks", ranks,
                                    "--micro-batches", micro_batches, "--costs", costs,
                                    "--format", "json", *more).stdout)

    def test_are_the_closed_forms_of_1f1b(self):
        for p in (1, 2, 3, 8):
            for m in (1, 5, 16):
                for f, i, w in ((1, 1, 1), (2, 3, 1)):
                    with self.subTest(p=p, m=m, f=f, i=i, w=w):
                        got = self.figures("1f1b", f"{f},{i},{w},0", ranks=p, micro_batches=m)
                        makespan = (m + p - 1) * (f + i + w)
                        self.assertEqual(got["makespan"], makespan)
                        self.assertAlmostEqual(got["bubble"], (p - 1) / (m + p - 1), 12)
                        live = [min(m, p - rank) for rank in range(p)]
                        self.assertEqual(got["peak_live_until_W"], live)

    def test_count_in_the_units_of_the_costs(self):
        whole = self.figures("1f1b", "1,1,1,0")
        for makespan, costs in [(whole["makespan"] / 3, "1/3,1/3,1/3,0"),
                                (0.033, "0.001,.001,0.0010,0"), (33000, "1000,1000,1000,0")]:
            got = self.figures("1f1b", costs)
            self.assertEqual(got["makespan"], makespan)
            self.assertAlmostEqual(got["bubble"], whole["bubble"], 12)

    def test_hold_the_keys_of_the_contract(self):
        got = self.figures("gpipe", "1,1,1,0")
        for key in ("makespan", "bubble", "span_bubble", "peak_live_until_W", "peak_live_until_I",
                    "name", "ranks", "stages_per_rank", "micro_batches", "placement", "actions"):
            self.assertIn(key, got)
        self.assertEqual(got["peak_live_until_I"], [8, 8, 8, 8])

    def test_feel_the_links(self):
        free, slow = self.figures("1f1b", "1,1,1,0"), self.figures("1f1b", "1,1,1,1/2")
        self.assertGreater(slow["makespan"], free["makespan"])


class Mistakes(ProgramTest):
    SHAPE = ["--ranks", 4, "--micro-batches", 8]
    CASES = [
        (["--name", "1f1", *SHAPE], "did you mean '1f1b'?"),
        (["--ranks", 4], "--name is required"),
        (["--name", "1f1b", *SHAPE, "--stages-per-rank", 2], "one stage per rank"),
        (["--name", "1f1b", *SHAPE, "--option", "x=1"], "takes no option 'x'"),
        (["--name", "1f1b", *SHAPE, "--option", "x"], "--option takes key=value, not 'x'"),
        (["--name", "1f1b", *SHAPE, "--option", "overlap=1"], "--costs"),
        (["--name", "1f1b", *SHAPE, "--memory-limit", 3], "'1f1b' takes no memory limit"),
        (["--name", "zb-v", *SHAPE, "--memory-limit", 3], "'zb-v' takes no memory limit"),
        (["--name", "zb-auto", *SHAPE, "--memory-limit", "nan"], "'nan' is not a number from"),
        (["--name", "zb-auto", *SHAPE, "--memory-limit", "inf"], "'inf' is not a number from"),
        (["--name", "zb-auto", *SHAPE, "--memory-limit=-2"], "'-2' is not a number from"),
        (["--name", "1f1b", *SHAPE, "--costs", "1,1,1"], "has 3"),
        (["--name", "1f1b", *SHAPE, "--costs", "1,1,-1,0"], "'-1' is not a cost"),
        (["--name", "1f1b", *SHAPE, "--costs", "1,,1,0"], "'' is not a cost"),
        (["--name", "1f1b", *SHAPE, "--costs", "1,1/0,1,0"], "'1/0' is not a cost"),
        (["--name", "1f1b", *SHAPE, "--costs", "1,nan,1,0"], "'nan' is not a cost"),
        (["--name", "1f1b", *SHAPE, "--costs", "1,1e99,1,0"], "'1e99' is not a cost"),
        (["--name", "1f1b", *SHAPE, "--costs", "1/999999937,1/999999929,1/999999893,0"],
         "no common unit"),
        (["--name", "gpipe", "--ranks", 65536, "--micro-batches", 10000000], "too many actions"),
        (["--name", "1f1b", *SHAPE, "--format", "yaml"], "yaml"),
    ]

    def test_get_a_sentence_and_exit_code_2(self):
        for arguments, says in self.CASES:
            with self.subTest(arguments):
                self.ends(debubble("schedule", *arguments), BAD_INPUT, says=says)


class Validate(ProgramTest):
    def test_says_what_is_wrong_and_exits_with_1(self):
        twice = self.write("twice.csv", "0F0,0F0,0B0\n1F0,1B0\n")
        result = self.ends(debubble("validate", twice), NO)
        self.assertIn("rank 0, action 2 (0F0)", result.stdout)
        self.assertIn("invalid: ", result.stdout)

    def test_shows_a_deadlock_as_what_waits(self):
        deadlock = self.write("deadlock.csv", "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n")
        result = self.ends(debubble("validate", deadlock, "--json", "-"), NO)
        verdict = json.loads(result.stdout)
        self.assertFalse(verdict["valid"])
        self.assertTrue(any("waits at" in v["message"] for v in verdict["violations"]), verdict)

    def test_reads_nothing_but_schedules(self):
        cases = [("0F0junk,0B0\n", "bad.csv:1:1"), ("", "bad.csv"), ("0F0,\x00\n", "bad.csv:1:5")]
        for text, says in cases:
            with self.subTest(text):
                path = self.write("bad.csv", text)
                self.ends(debubble("validate", path), BAD_INPUT, says=says)
        self.ends(debubble("validate", self.folder), BAD_INPUT, says="not a regular file")
        self.ends(debubble("validate", self.folder / "none"), BAD_INPUT, says="no such file")

    def test_takes_placements_by_name(self):
        zbv = self.write("v.csv", "0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n")
        self.done("validate", zbv, "--placement", "v")
        self.done("validate", zbv)
        self.ends(debubble("validate", zbv, "--placement", "loop"), NO)
        odd = self.write("odd.csv", "0F0,0B0\n1F0,1B0\n2F0,2B0\n")
        self.ends(debubble("validate", odd, "--placement", "bidirectional"), BAD_INPUT,
                  says="even number of ranks, not 3")


if __name__ == "__main__":
    unittest.main()
