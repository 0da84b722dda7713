"""Results are never written over each other, over their inputs, or outside of a folder."""

import json
import os
import unittest

from program import BAD_INPUT, DONE, ProgramTest, debubble

PLAN = """\
model: model.yaml
cluster: cluster.yaml
gpus: 2
parallel: {pipeline: 2}
schedule: {csv: order.csv}
training: {global_batch: 2, micro_batch: 1, seq_length: 128, precision: bf16}
"""
ORDER = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"


class OutputsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.yaml", "{base: gpt2, layers: 2}\n")
        self.write("cluster.yaml", "{base: dgx-a100-80gb}\n")
        self.write("order.csv", ORDER)
        self.plan = self.write("plan.yaml", PLAN)
        self.write("sub.txt", "x")
        self.before = {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def refuses(self, *arguments, says):
        """And leaves every file as it was."""
        self.ends(debubble(*arguments, cwd=self.folder), BAD_INPUT, says=says)
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()
                          if path.is_file()}, self.before)

    def keep(self, name, text):
        self.before[name] = self.write(name, text).read_bytes()


class WhatIsRead(OutputsTest):
    def test_of_a_simulation_is_not_overwritten(self):
        for name in ["plan.yaml", "model.yaml", "cluster.yaml", "order.csv", "./plan.yaml",
                     self.folder / "plan.yaml"]:
            for option in ["--json", "--svg", "--trace", "--csv"]:
                with self.subTest(name=name, option=option):
                    self.refuses("simulate", "plan.yaml", option, name,
                                 says=f"{option} would overwrite ")

    def test_is_known_by_other_names_of_the_file(self):
        os.link(self.plan, self.folder / "hard.yaml")
        os.symlink("plan.yaml", self.folder / "soft.yaml")
        for name in ["hard.yaml", "soft.yaml"]:
            self.before[name] = self.before["plan.yaml"]
        for name in ["hard.yaml", "soft.yaml"]:
            self.refuses("simulate", "plan.yaml", "--svg", name, says="--svg would overwrite")

    def test_is_not_overwritten_by_a_scenario_named_so(self):
        self.keep("named.svg", PLAN + "name: named\n")
        self.refuses("simulate", "./named.svg", "--out", ".", says="--out would overwrite")

    def test_of_other_verbs_is_not_overwritten(self):
        self.keep("grid.yaml", PLAN + "sweep: {training.precision: [bf16, fp16]}\n")
        self.keep("table.csv", "hidden,heads,layers\n")
        self.refuses("sweep", "grid.yaml", "--out", "grid.yaml", says="--out would overwrite")
        self.refuses("search", "grid.yaml", "--json", "model.yaml", says="--json would overwrite")
        self.refuses("validate", "order.csv", "--json", "order.csv", says="--json would overwrite")
        self.refuses("model", "./model.yaml", "--json", "model.yaml",
                     says="--json would overwrite")

    def test_of_a_comparison_is_not_overwritten(self):
        self.done("simulate", "plan.yaml", "--trace", "a.json", cwd=self.folder)
        self.before["a.json"] = (self.folder / "a.json").read_bytes()
        self.refuses("compare", "a.json", "a.json", "--json", "a.json",
                     says="--json would overwrite a.json")
        self.refuses("compare", "a.json", "a.json", "--svg", "./a.json",
                     says="--svg would overwrite ./a.json")

    def test_of_a_calibration_is_not_overwritten(self):
        self.refuses("calibrate", "--scenario", "plan.yaml", "--out", "plan.yaml",
                     says="--out would overwrite plan.yaml")


class TwoResults(OutputsTest):
    def test_do_not_go_to_one_file(self):
        for one, other in [("out.x", "out.x"), ("out.x", "./out.x"), ("sub.txt", "sub.txt")]:
            self.refuses("simulate", "plan.yaml", "--json", one, "--svg", other,
                         says=f"--json and --svg both write {other}: give each its own file")
        self.refuses("simulate", "plan.yaml", "--json", "-", "--svg", "-",
                     says="only one of --json and --svg can go to standard output")

    def test_may_both_go_to_a_device(self):
        self.done("simulate", "plan.yaml", "--json", "/dev/null", "--svg", "/dev/null",
                  cwd=self.folder)


class Names(OutputsTest):
    def test_of_scenarios_stay_in_the_folder(self):
        for name, says in [("../x", "it has a '/'"), ("/tmp/x", "it has a '/'"),
                           ('""', "it is empty"), ("..", "it is a folder"),
                           ("x" * 300, "it is too long")]:
            with self.subTest(name=name):
                self.keep("named.yaml", PLAN + f"name: {name}\n")
                self.refuses("simulate", "named.yaml", "plan.yaml", "--out", "out", says=says)
                self.assertFalse((self.folder / "out").exists())

    def test_with_control_characters_do_not_reach_the_terminal(self):
        for key in ["name", "description"]:
            self.keep("named.yaml", PLAN + f'{key}: "a\\e]0;owned\\a"\n')
            self.refuses("simulate", "named.yaml", says=f"'{key}' has a control character: "
                         "'a\\x1b]0;owned\\x07'")
        self.keep("named.yaml", PLAN.replace("model.yaml", '{base: gpt2, name: "a\\e[2J"}'))
        self.refuses("simulate", "named.yaml", says="'name' has a control character: 'a\\x1b[2J'")
        self.keep("keyed.yaml", PLAN + '"\\e[2J": 1\n')
        self.refuses("simulate", "keyed.yaml", says="unknown key '\\x1b[2J'")

    def test_in_traces_do_not_reach_the_terminal(self):
        self.done("simulate", "plan.yaml", "--trace", "a.json", cwd=self.folder)
        trace = json.loads((self.folder / "a.json").read_text())
        header = trace.get("debubble") or trace["otherData"]["debubble"]
        header["scenario"] = "a\x1b[2Jb"
        self.write("b.json", json.dumps(trace))
        result = self.ends(debubble("compare", "b.json", "b.json", cwd=self.folder), DONE)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertIn("a\\x1b[2Jb", result.stdout)


if __name__ == "__main__":
    unittest.main()
