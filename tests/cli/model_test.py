"""`debubble model`: parameters, FLOPs and memory of networks."""

import json
import pathlib
import re
import unittest

from program import BAD_INPUT, DONE, ProgramTest, debubble

SOURCE = pathlib.Path(__file__).parents[2]

PUBLISHED = {  # exact counts: the models' cards and papers
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "gpt2-xl-colossal": 1_557_686_400,
    "llama2-7b": 6_738_415_616,
    "llama3-8b": 8_030_261_248,
    "vit-base": 86_567_656,
}


class Model(ProgramTest):
    def figures(self, *arguments):
        return json.loads(self.done("model", *arguments, "--json", "-").stdout)

    def test_counts_the_published_parameters(self):
        for name, count in PUBLISHED.items():
            with self.subTest(name):
                self.assertEqual(self.figures(name)["parameters"], count)

    def test_layers_add_up_to_their_stage(self):
        for arguments in (["gpt2-xl", "--stages", 8, "--tensor", 5], ["llama3-8b", "--stages", 3],
                          ["vit-large", "--recompute", "full"]):
            for stage in self.figures(*arguments)["stages"]:
                for key in ("parameters", "forward_flops", "backward_flops", "activation_bytes"):
                    with self.subTest(arguments, stage=stage["stage"], key=key):
                        total = sum(layer[key] for layer in stage["layers"])
                        self.assertEqual(stage[key], total)

    def zoo(self):
        return self.done("model", "--list").stdout.split()

    def test_rows_of_every_network_add_up_to_what_its_stages_hold(self):
        for name in self.zoo():
            with self.subTest(name):
                whole = self.figures(name)
                stage, = whole["stages"]
                for key in ("parameters", "activation_bytes"):
                    self.assertEqual(stage[key], sum(layer[key] for layer in stage["layers"]))
                self.assertEqual(whole["parameters_of_stages"], stage["parameters"])
                self.assertEqual(whole["padded_parameters"], stage["parameters"])
                self.assertGreaterEqual(whole["padded_parameters"], whole["parameters"])

    def test_equal_layers_save_equally_and_the_ends_no_more_with_more_layers(self):
        for name in self.zoo():
            with self.subTest(name):
                if name == "kimi-k3":  # whose parts read more sums the later they stand
                    continue
                figures = self.figures(name, "--stages", 4)
                stages = figures["stages"]
                count = sum(stage["layer_count"] for stage in stages)
                layers = [row for stage in stages for row in stage["layers"]
                          if row["layer"] is not None and row["layer"] < count]  # no predictions
                saved = {}  # by parameters and work, which tell kinds of layers apart
                for row in layers:
                    kind = row["parameters"], row["forward_flops"]
                    saved.setdefault(kind, set()).add(row["activation_bytes"])
                self.assertEqual([len(bytes) for bytes in saved.values()], [1] * len(saved))
                self.assertLessEqual(len(saved), len(figures["layer_kinds"]))
                for stage in stages[1:-1]:
                    self.assertEqual(len(stage["layers"]), stage["layer_count"])
                alone, = self.figures(name)["stages"]
                ends = sum(row["activation_bytes"] for stage in (stages[0], stages[-1])
                           for row in stage["layers"] if row["layer"] is None)
                self.assertEqual(alone["layers"][0]["layer"], None)
                self.assertEqual(alone["layers"][0]["activation_bytes"], ends)

    def test_a_layer_of_gpt2_saves_what_the_formula_says(self):
        # Korthikanti et al., arXiv:2205.05198, section 4.1, without dropout and with flash
        # attention (queries, keys, values, output, a log-sum in fp32 per head and token), beside
        # mean and deviation in fp32 of two norms.
        tokens, hidden, heads = 1024, 768, 12
        saved = (2 * 4 * hidden          # two inputs of norms, two of what follows them
                 + 2 * 3 * hidden + 2 * hidden + 4 * heads
                 + 2 * 2 * 4 * hidden    # of the nonlinearity and of the product after it
                 + 2 * 8) * tokens
        layer = self.figures("gpt2")["stages"][0]["layers"][7]
        self.assertEqual(layer["activation_bytes"], saved)

    def test_the_heading_says_what_the_sums_add_up_to(self):
        for arguments, says in [
            (["gpt2"], ["gpt2: 124439808 parameters;",
                        "with the vocabulary padded to a multiple of 128: 124475904 parameters"]),
            (["gpt2", "--stages", 2], ["the stages below sum to 163109376 parameters: the last "
                                       "stage holds a copy of the embedding"]),
            (["llama3-8b", "--tensor", 2], ["the stages below sum to",
                                            "one of 2 tensor-parallel ranks holds its part"]),
        ]:
            text = self.done("model", *arguments).stdout
            for words in says:
                self.assertIn(words, text)
            rows = [line.split() for line in text.splitlines() if line.split()[1:2] == ["sum"]]
            figures = self.figures(*arguments)
            self.assertEqual(sum(int(row[2]) for row in rows), figures["parameters_of_stages"])
        self.assertNotIn("padded", self.done("model", "llama3-8b").stdout)
        self.assertNotIn("below sum", self.done("model", "llama3-8b", "--stages", 2).stdout)

    def test_stages_share_the_layers(self):
        stages = self.figures("gpt2-xl", "--stages", 5)["stages"]
        self.assertEqual(sum(s["layer_count"] for s in stages), 48)
        first = 0
        for stage in stages:
            self.assertEqual(stage["first_layer"], first)
            first += stage["layer_count"]

    def test_recomputing_keeps_less_and_computes_more(self):
        none, full = (self.figures("gpt2", "--recompute", r)["stages"][0]["layers"][5]
                      for r in ("none", "full"))
        self.assertLess(full["activation_bytes"], none["activation_bytes"] / 10)
        self.assertGreater(full["backward_flops"], none["backward_flops"])
        self.assertEqual(full["forward_flops"], none["forward_flops"])

    def rows(self, *arguments):
        """The folded rows of a network's layers: stage, layers, count and parameters."""
        lines = self.done("model", *arguments).stdout.splitlines()
        table = lines[next(i for i, line in enumerate(lines) if line.startswith("stage ")) + 1:]
        cells = [(line[:6].strip(), line[7:31].strip(), line[32:37].strip(), line[38:54].strip())
                 for line in table]
        return [(int(stage), layers, int(count), int(parameters))
                for stage, layers, count, parameters in cells if count]

    def test_text_folds_equal_layers_into_a_row(self):
        self.assertEqual([row[:3] for row in self.rows("gpt2")], [(0, "0-11", 12)])
        self.assertEqual([row[:3] for row in self.rows("deepseek-v3", "--seq-length", 4096)],
                         [(0, "0-2", 3), (0, "3-60", 58)])
        self.assertEqual([row[:3] for row in self.rows("nemotron-h-8b", "--stages", 2)],
                         [(0, "0, 2, 4, ...", 12), (0, "1, 3, 5, ...", 12), (0, "7, 18", 2),
                          (1, "26, 28, 31, ...", 12), (1, "27, 30, 32, ...", 12), (1, "29, 40", 2)])
        for name in self.zoo():
            with self.subTest(name):
                text, figures = self.rows(name), self.figures(name)
                layers = sum(count * parameters for _, _, count, parameters in text)
                stage, = figures["stages"]
                outside = sum(row["parameters"] for row in stage["layers"] if row["layer"] is None)
                self.assertEqual(layers + outside, stage["parameters"])
                predictions = self.predictions_of(name)
                self.assertEqual(sum(row[2] for row in text), stage["layer_count"] + predictions)

    def predictions_of(self, name):
        """The depths of multi-token prediction, whose layers have numbers after the others."""
        zoo = (SOURCE / f"models/zoo/{name}.yaml").read_text()
        found = re.search(r"^mtp_layers: (\d+)$", zoo, re.MULTILINE)
        return int(found[1]) if found else 0

    def test_every_name_in_the_list_can_be_shown(self):
        names = self.done("model", "--list").stdout.split()
        self.assertIn("gpt3-175b", names)
        for name in names:
            with self.subTest(name):
                self.assertGreater(self.figures(name)["parameters"], 0)


class Folder(ProgramTest):
    def test_stands_for_its_config(self):
        self.write("config.json", '{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, '
                   '"n_head": 12, "n_positions": 1024, "vocab_size": 50257}')
        result = self.ends(debubble("model", self.folder, "--json", "-"), DONE)
        self.assertIn('"parameters": 124439808', result.stdout)


class Mistakes(ProgramTest):
    def test_get_a_sentence_and_exit_code_2(self):
        for arguments, says in [
            (["gpt2-x"], "did you mean 'gpt2-xl'?"),
            ([], "a model is required"),
            (["gpt2", "--stages", 13], "12 layers cannot fill 13 stages"),
            (["gpt2-xl", "--tensor", 2], "25 heads cannot be split into 2"),
            (["gpt2", "--stages", 0], "--stages"),
            ([self.folder / "none.yaml"], "no such file"),
            ([self.write("config.json", "{")], "config.json:1:"),
        ]:
            with self.subTest(arguments):
                self.ends(debubble("model", *arguments), BAD_INPUT, says=says)


if __name__ == "__main__":
    unittest.main()
