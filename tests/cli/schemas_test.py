"""The JSON Schemas for editors: shipped files pass, mistaken ones fail."""

import json
import pathlib
import re
import unittest

import jsonschema
import yaml

from program import BAD_INPUT, ProgramTest, debubble

SOURCES = pathlib.Path(__file__).resolve().parents[2]


class Core(yaml.SafeLoader):
    """Scalars of YAML 1.2's core schema, as editors read them; keys are texts."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        return {str(self.construct_object(key, True)): self.construct_object(value, True)
                for key, value in node.value}


for tag, pattern in [("null", r"~|null|"), ("bool", r"true|false"), ("int", r"[-+]?[0-9]+"),
                     ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")]:
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), None)
Core.add_constructor("tag:yaml.org,2002:map",
                     lambda loader, node: loader.construct_mapping(node, True))
Core.add_constructor("tag:yaml.org,2002:float",
                     lambda loader, node: float(loader.construct_scalar(node)))
Core.add_constructor("tag:yaml.org,2002:int",
                     lambda loader, node: int(loader.construct_scalar(node)))


def validator(name):
    schema = json.loads((SOURCES / f"docs/schemas/{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def mistakes(checker, document):
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
            for error in checker.iter_errors(document)]


class ShippedFiles(unittest.TestCase):
    FOLDERS = {"scenario": "scenarios", "cluster": "scenarios/clusters",
               "framework": "scenarios/frameworks", "model": "models/zoo"}

    def test_pass(self):
        for name, folder in self.FOLDERS.items():
            checker = validator(name)
            files = sorted((SOURCES / folder).glob("*.yaml"))
            self.assertGreater(len(files), 4)
            for file in files:
                with self.subTest(file.name):
                    self.assertEqual(mistakes(checker, yaml.load(file.read_text(), Core)), [])


class WrittenFiles(ProgramTest):
    """What the programs write for others to read."""

    def setUp(self):
        super().setUp()
        self.write("mine.txt", "one two three four five six seven. " * 60)
        self.write("mine.yaml", """
model: {name: tiny, family: gpt2, layers: 2, hidden: 16, heads: 2, vocab: 260, max_positions: 16}
cluster: this-machine
gpus: 2
parallel: {pipeline: 2}
framework: debubble
training:
  global_batch: 4
  micro_batch: 1
  seq_length: 16
  eval_interval: 2
  data: {text: mine.txt, eval: mine.txt}
  checkpoint: {dir: saved, every: 1}
""")

    def test_of_a_calibration_pass_and_echo_the_plans(self):
        self.done("calibrate", "--scenario", "mine.yaml", "--out", "here.yaml", "--threads", 1,
                  cwd=self.folder)
        cluster = yaml.load((self.folder / "here.yaml").read_text(), Core)
        self.assertEqual(mistakes(validator("cluster"), cluster), [])
        self.assertEqual((cluster["schema"], cluster["version"]), ("debubble/cluster", 1))
        plans = cluster["measured"]["plans"]
        self.assertEqual([("gpipe" in plan, "zb-h1" in plan) for plan in plans],
                         [(True, False), (False, True)])
        newer = self.write("newer.yaml", (self.folder / "here.yaml").read_text().replace(
            "version: 1", "version: 2", 1))
        self.assertNotEqual(mistakes(validator("cluster"), yaml.load(newer.read_text(), Core)), [])
        self.ends(debubble("simulate", "mine.yaml", "--set", "cluster=newer.yaml", cwd=self.folder),
                  BAD_INPUT, says="newer.yaml:2:")

    def test_of_metrics_pass_and_echo_the_plan(self):
        for steps in (3, 5):  # the second one goes on after the first
            self.done("run", "mine.yaml", "--steps", steps, "--metrics", "steps.jsonl",
                      cwd=self.folder)
        lines = [json.loads(line) for line in (self.folder / "steps.jsonl").read_text().splitlines()]
        checker = validator("metrics")
        for line in lines:
            self.assertEqual(mistakes(checker, line), [])
        self.assertEqual([line["step"] for line in lines if "loss" in line], [1, 2, 3, 4, 5])
        headers = [line for line in lines if "schema" in line]
        self.assertEqual([(line["first_step"], line["last_step"]) for line in headers],
                         [(1, 3), (4, 5)])
        told = json.loads(self.done("simulate", "mine.yaml", "--json", "-", cwd=self.folder).stdout)
        self.assertEqual(headers[0]["plan"], told["plan"])
        self.assertNotEqual(mistakes(checker, {**lines[1], "los": 1}), [])
        self.assertNotEqual(mistakes(checker, {**headers[0], "version": 2}), [])


class RejectedFiles(unittest.TestCase):
    """Those whose mistake is a key, a type or a word: what a schema can know."""

    SCHEMA_KNOWS = re.compile(r"error: (unknown (?!cluster )|'\w+' must be (?!at most \d+ TB|more than 0, not)"
                              r"|'\w+' holds |'\w+': '[^']*' has no unit)")

    def test_fail(self):
        checker = validator("scenario")
        count = 0
        for said in sorted((SOURCES / "tests/scenarios/rejects").glob("*.txt")):
            if not self.SCHEMA_KNOWS.search(said.read_text()):
                continue
            count += 1
            document = yaml.load(said.with_suffix(".yaml").read_text(), Core)
            with self.subTest(said.stem):
                self.assertNotEqual(mistakes(checker, document), [])
        self.assertGreater(count, 12)


class Grids(unittest.TestCase):
    """The values of a sweep are checked as those of the swept key."""

    def of(self, grid):
        return mistakes(validator("scenario"),
                        {"model": "gpt2", "cluster": "dgx-a100-80gb", "sweep": grid})

    def test_pass(self):
        self.assertEqual(self.of({"parallel.tensor": [1, 2], "where": "parallel.tensor > 1",
                                  "schedule": ["1f1b", {"name": "zb-h1"}],
                                  "training.micro_batch": {"from": 1, "to": 8, "factor": 2}}), [])

    def test_fail_by_key_type_and_word(self):
        self.assertNotEqual(self.of({"parallel.tenser": [1]}), [])
        self.assertNotEqual(self.of({"parallel.tensor": ["many"]}), [])
        self.assertNotEqual(self.of({"training.recompute": ["half"]}), [])


if __name__ == "__main__":
    unittest.main()
