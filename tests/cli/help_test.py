"""`debubble help`: keys, verbs, and the reference that is committed."""

import pathlib
import unittest

from program import BAD_INPUT, PROGRAM, ProgramTest, debubble

SOURCES = pathlib.Path(__file__).resolve().parents[2]


class OfAKey(ProgramTest):
    def test_says_meaning_value_default_and_example(self):
        text = self.done("help", "parallel.zero_stage").stdout
        self.assertTrue(text.startswith("parallel.zero_stage\n"), text)
        for part in ["a whole number from 0 to 3", "default  0", "example  parallel: {zero_stage: 1}"]:
            self.assertIn(part, text)

    def test_that_is_a_map_lists_the_keys_in_it(self):
        text = self.done("help", "training.lr_schedule").stdout
        for key in ["name", "warmup_steps", "min_lr"]:
            self.assertIn(f"\n  training.lr_schedule.{key} ", text)

    def test_may_be_the_end_of_a_path(self):
        self.assertEqual(self.done("help", "lr_schedule.min_lr").stdout,
                         self.done("help", "training.lr_schedule.min_lr").stdout)
        text = self.done("help", "efficiency").stdout
        self.assertIn("cluster.node_link.efficiency\n", text)
        self.assertIn("cluster.network.efficiency\n", text)

    def test_that_is_none_gets_a_guess_and_exit_code_2(self):
        self.ends(debubble("help", "paralel.tensor"), BAD_INPUT,
                  says="unknown key or verb 'paralel.tensor'; did you mean 'parallel.tensor'?")
        self.ends(debubble("help", "zero_stge"), BAD_INPUT, says="did you mean 'zero_stage'?")
        self.ends(debubble("help", "qqqqqqqqqqqqqqqq"), BAD_INPUT, says="debubble help lists the keys")

    def test_alone_lists_the_keys_of_a_scenario(self):
        text = self.done("help").stdout
        for key in ["model", "cluster", "parallel", "schedule", "training", "framework", "sweep"]:
            self.assertIn(f"\n  {key} ", text)


class OfAVerb(ProgramTest):
    def test_is_that_of_the_verb(self):
        for verb in ["simulate", "validate", "search", "compare"]:
            self.assertEqual(self.done("help", verb).stdout, self.done(verb, "--help").stdout)

    def test_of_another_program_is_that_of_the_verb(self):
        if not pathlib.Path(PROGRAM).with_name("debubble-exec").exists():
            self.skipTest("built without debubble-exec")
        self.assertEqual(self.done("help", "run").stdout, self.done("run", "--help").stdout)

    def test_that_is_a_key_too_has_both(self):
        text = self.done("help", "schedule").stdout
        self.assertIn("--micro-batches", text)
        self.assertIn("\nschedule\n", text)


class TheReference(ProgramTest):
    def committed(self, name, *arguments):
        path = SOURCES / "docs" / name
        self.assertEqual(path.read_text(), self.done("help", *arguments).stdout,
                         f"write it anew: debubble help {' '.join(arguments)} > docs/{name}")

    def test_that_is_committed_is_what_the_program_writes(self):
        self.committed("reference/keys.md", "--markdown")

    def test_for_editors_is_what_the_program_writes(self):
        for name in ["scenario", "cluster", "framework", "model"]:
            with self.subTest(name):
                self.committed(f"schemas/{name}.schema.json", "--schema", name)


if __name__ == "__main__":
    unittest.main()
