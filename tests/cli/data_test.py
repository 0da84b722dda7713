"""debubble data: small data of the right shape, with which each tutorial's scenario trains."""

import json
import os
import unittest

from program import BAD_INPUT, WORLD, ProgramTest, debubble

SMALL = ["model.layers=2", "model.hidden=16", "model.heads=4"]
# What each tutorial's scenario needs to train two steps in a second: networks and batches are small,
# and its cut, schedule, precision, vocabulary and data are its own.
TUTORIALS = {
    "a40-single": SMALL + ["model.kv_heads=4", "model.ffn=32", "training.micro_batch=4",
                           "training.seq_length=32"],
    "gpt2-colotensor": SMALL + ["training.micro_batch=2", "training.seq_length=32"],
    "gpt2-xl": SMALL + ["training.micro_batches=4", "training.seq_length=32"],
    "gpt3-colossal": SMALL + ["gpus=4", "parallel.tensor=2", "parallel.pipeline=2",
                              "training.micro_batches=4", "training.seq_length=32"],
    "llama-pipeline": SMALL + ["model.layers=3", "model.kv_heads=2", "model.ffn=32",
                               "parallel.partition=[1, 1, 1]", "training.global_batch=8",
                               "training.seq_length=32"],
    "vit-hybrid": SMALL + ["model.image_size=32", "training.seq_length=5",
                           "training.global_batch=8"],
}
A_MODEL = ("{name: tiny, family: gpt2, layers: 1, hidden: 8, heads: 2, vocab: VOCAB, "
           "max_positions: 16}")


def sets(*settings):
    return [word for setting in settings for word in ("--set", setting)]


class DataTest(ProgramTest):
    def make(self, *arguments):
        return self.done("data", *arguments, cwd=self.folder).stdout

    def refused(self, *arguments, says):
        before = self.files()
        self.ends(debubble("data", *arguments, cwd=self.folder), BAD_INPUT, says=says)
        self.assertEqual(self.files(), before)

    def files(self):
        return {str(path.relative_to(self.folder)): path.stat().st_mtime_ns
                for path in self.folder.rglob("*")}

    def losses(self, scenario, *settings, steps=2):
        done = self.done("run", scenario, *sets(*settings), "--steps", steps, "--resume", "never",
                         "--json", "-", cwd=self.folder)
        return json.loads(done.stdout)["losses"]

    def a_scenario(self, data, vocab=300, name="mine.yaml"):
        return self.write(name, f"model: {A_MODEL.replace('VOCAB', str(vocab))}\n"
                                "cluster: this-machine\ngpus: 1\nframework: debubble\n"
                                "training: {micro_batch: 2, seq_length: 8, "
                                f"optimizer: {{name: adamw, lr: 0.02}}, data: {data}}}\n").name


class EveryTutorial(DataTest):
    def test_trains_by_its_own_data_and_no_call_replaces_it(self):
        for scenario, small in TUTORIALS.items():
            with self.subTest(scenario):
                self.ends(debubble("run", scenario, *sets(*small), cwd=self.folder), BAD_INPUT,
                          says=f"`debubble data {scenario}` makes small data")
                self.assertIn(f"data/{scenario}/", self.make(scenario, *sets(*small)))
                losses = self.losses(scenario, *small)
                self.assertEqual(len(losses), 2)
                self.assertTrue(all(0 < loss < 20 for loss in losses), losses)
                self.refused(scenario, says="is there already, and is not replaced")

    def test_has_data_of_its_full_size(self):
        for scenario in TUTORIALS:
            with self.subTest(scenario):
                made = self.make(scenario)
                for line in made.splitlines()[:-1]:
                    self.assertTrue((self.folder / line.split(":")[0]).exists(), line)
                self.assertIn(f"debubble run {scenario} trains on it", made)
        size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        self.assertLess(size, 40e6)

    def test_has_data_once_for_the_scenarios_that_build_on_it(self):
        self.make("a40-single")
        self.refused("a40-ddp", says="data/a40-single/train.bin is there already")

    def test_has_data_that_a_file_which_builds_on_it_finds(self):
        (self.folder / "mine").mkdir()
        self.write("mine/mine.yaml", "include: a40-single\n")
        self.make("mine/mine.yaml")
        self.assertTrue((self.folder / "data/a40-single/train.bin").exists())
        self.assertEqual(len(self.losses("mine/mine.yaml", *TUTORIALS["a40-single"])), 2)


class WhatIsMade(DataTest):
    def test_can_be_learned(self):
        for data in ["{text: a/b.txt}", "{text: b.txt, tokenizer: tokenizer.json, eval: c.txt}",
                     "{jsonl: d.jsonl, tokenizer: gpt2/vocab.json, pack: false}", "{tokens: e.bin}",
                     "{tokens: f.bin, pack: false, end_of_text: 299, eval: g.bin}",
                     "{tokens: h.bin, tokenizer: h.json}"]:
            with self.subTest(data):
                self.make(self.a_scenario(data))
                losses = self.losses("mine.yaml", steps=30)
                self.assertLess(losses[-1], losses[0] - 0.5)

    def test_is_the_same_every_time(self):
        self.make(self.a_scenario("{jsonl: a.jsonl, tokenizer: a.json}"))
        self.make(self.a_scenario("{jsonl: b.jsonl, tokenizer: b.json}"))
        for ending in ["jsonl", "json"]:
            self.assertEqual((self.folder / f"a.{ending}").read_bytes(),
                             (self.folder / f"b.{ending}").read_bytes())

    def test_has_as_many_tokens_as_the_model(self):
        for vocab in [257, 258, 400, 6000]:
            with self.subTest(vocab):
                name = f"t{vocab}.json"
                self.make(self.a_scenario(f"{{text: t{vocab}.txt, tokenizer: {name}}}", vocab))
                known = json.loads((self.folder / name).read_text())
                self.assertEqual(sorted(known["model"]["vocab"].values()), list(range(vocab)))
                self.assertEqual(len(known["model"]["merges"]), vocab - 257)

    def test_is_images_of_as_many_classes_as_the_model_tells_apart(self):
        vit = ("{name: tiny, family: vit, layers: 1, hidden: 32, heads: 2, vocab: 12, "
               "image_size: 16, patch_size: 4}")
        for images in ["folder", "cifar.bin"]:
            with self.subTest(images):
                text = (f"model: {vit}\ncluster: this-machine\ngpus: 1\nframework: debubble\n"
                        f"training: {{micro_batch: 12, data: {{images: {images}}}}}\n")
                self.write("see.yaml", text)
                self.make("see.yaml")
                rate = "training.optimizer={name: adamw, lr: 0.02}"
                losses = self.losses("see.yaml", rate, steps=30)
                self.assertLess(losses[-1], losses[0] - 0.5)
        self.assertEqual(len(list((self.folder / "folder").iterdir())), 12)
        self.assertEqual((self.folder / "cifar.bin").stat().st_size % 3073, 0)


class Refusals(DataTest):
    def test_of_what_has_no_data(self):
        self.refused("mt-nlg-530b", says="give 'training.data'")
        self.refused("vit-hybrid", "--set", "training.data={text: a.txt}",
                     says="give 'training.data.images'")

    def test_of_data_that_is_shipped(self):
        self.refused("tales", says="is there already")

    def test_of_places_elsewhere(self):
        outside = self.folder.parent / "debubble-elsewhere.txt"
        (self.folder / "way").symlink_to("/")
        for place in [f"{outside}", "../debubble-elsewhere.txt", "way/tmp/debubble-elsewhere.txt",
                      "deep/../../debubble-elsewhere.txt"]:
            with self.subTest(place):
                self.refused(self.a_scenario(f"{{text: {place}}}"),
                             says="outside the current folder")
                self.assertFalse(outside.exists())
        self.refused(self.a_scenario("{text: .}"), says="is there already")

    def test_of_names_that_are_no_scenarios(self):
        for name in ["", "no-such", "../tales", "a/b", "a\nb", "--", "x" * 5000, "/dev/null", "."]:
            with self.subTest(name):
                self.refused(name, says="error:")

    def test_of_two_files_in_one_place(self):
        self.refused(self.a_scenario("{text: a.txt, eval: ./a.txt}"), says="a.txt")

    def test_of_sizes_that_are_not_small(self):
        text = self.a_scenario("{text: a.txt}")
        self.refused(text, "--set", "model.max_positions=4194304", "--set",
                     "training.seq_length=2097152", says="up to 1048576 tokens")
        self.refused("vit-hybrid", "--set", "model.vocab=2000", says="up to 1000 classes")

    def test_of_a_tokenizer_that_cannot_be(self):
        self.refused(self.a_scenario("{text: a.txt, tokenizer: t.json}", vocab=256),
                     says="257 tokens")
        self.refused(self.a_scenario("{text: a.txt, tokenizer: t.model}"), says="tokenizer.json")

    @unittest.skipIf(os.geteuid() == 0, "root writes everywhere")
    def test_of_a_folder_that_cannot_be_written(self):
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        self.ends(debubble("data", "gpt2-colotensor", cwd=self.folder), WORLD, says="data")


if __name__ == "__main__":
    unittest.main()
