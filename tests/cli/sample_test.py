"""`debubble sample` and `debubble export`: the results of a training."""

import json
import pathlib
import shutil
import subprocess
import unittest

from program import BAD_INPUT, PROGRAM, ProgramTest, debubble

SOURCE = pathlib.Path(__file__).parents[2]
GOLDENS = SOURCE / "tests/exec/goldens/hugging_face"
TOKENIZERS = SOURCE / "tests/exec/goldens/tokenizers"
SCENARIO = """
model: {name: tiny, family: gpt2, layers: 2, hidden: 48, heads: 4, vocab: 257, max_positions: 64,
        dropout: 0}
cluster: dgx-a100-40gb
gpus: 2
parallel: {pipeline: 2}
schedule: 1f1b
training:
  global_batch: 8
  micro_batch: 4
  seq_length: 32
  precision: fp32
  seed: 1
  optimizer: {name: adamw, lr: 0.01}
  data: {text: TEXT, shuffle: true, cache: CACHE}
  checkpoint: {dir: SAVED}
"""


class Trained(ProgramTest):
    """Thirty steps on the tales."""

    def setUp(self):
        super().setUp()
        self.saved = self.folder / "saved"
        words = {"TEXT": SOURCE / "scenarios/data/tales.txt", "CACHE": self.folder / "cache",
                 "SAVED": self.saved}
        text = SCENARIO
        for word, path in words.items():
            text = text.replace(word, str(path))
        self.done("run", self.write("tiny.yaml", text), "--steps", 30)

    def sample(self, *options, prompt="The ", where=None):
        return self.done("sample", where or self.saved, "--prompt", prompt, *options).stdout

    def test_prints_letters_and_is_what_was_exported(self):
        text = self.sample("--tokens", 60, "--temperature", 0.5)
        self.assertTrue(text.startswith("The ") and text.endswith("\n"), text)
        rest = text[4:-1]
        self.assertEqual(len(rest), 60)
        letters = sum(c.isascii() and (c.isalpha() or c in " ,.\n'\"") for c in rest)
        self.assertGreater(letters, 54, f"of 257 bytes it has learnt the letters: {rest!r}")

        seven = self.sample("--tokens", 60, "--seed", 7)
        self.assertEqual(self.sample("--tokens", 60, "--seed", 7), seven)
        self.assertNotEqual(self.sample("--tokens", 60, "--seed", 8), seven)
        greedy = self.sample("--temperature", 0)
        self.assertEqual(self.sample("--top-k", 1), greedy)
        self.assertEqual(self.sample("--temperature", 0, where=self.saved / "step_30"), greedy)
        self.assertEqual(self.sample("--tokens", 0), "The \n")

        out = self.folder / "exported"
        told = self.done("export", self.saved, "--format", "hf", "--out", out).stdout
        self.assertIn("parameters in fp32: config.json, model.safetensors in ", told)
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["config.json", "model.safetensors"])
        self.assertEqual(json.loads((out / "config.json").read_text())["n_embd"], 48)
        self.assertEqual(self.sample("--temperature", 0, "--tokens", 20, where=out),
                         greedy[:4 + 20] + "\n")
        self.ends(debubble("export", self.saved, "--format", "hf", "--out", out), BAD_INPUT,
                  says="is not empty; none of its files is overwritten")

        for file in self.saved.rglob("*.safetensors"):  # the last byte of every rank's
            data = bytearray(file.read_bytes())
            data[-1] ^= 1
            file.write_bytes(data)
        new = self.folder / "new"
        self.ends(debubble("export", self.saved, "--format", "hf", "--out", new), BAD_INPUT,
                  says="step_30")
        self.ends(debubble("sample", self.saved, "--prompt", "x"), BAD_INPUT, says="step_30")
        self.assertFalse(new.exists())


class Mistakes(ProgramTest):
    def test_get_a_sentence_and_exit_code_2(self):
        gpt = GOLDENS / "gpt2"
        out = self.folder / "out"
        for arguments, says in [
            (["sample", GOLDENS / "vit", "--prompt", "x"], "is a Vision Transformer"),
            (["sample", self.folder / "none", "--prompt", "x"], "none does not exist"),
            (["sample", self.folder, "--prompt", "x"], "holds no complete checkpoint"),
            (["sample", gpt, "--prompt", "Once"], "the byte tokenizer makes token 79"),
            (["sample", gpt, "--prompt", ""], "the prompt is empty"),
            (["sample", gpt], "--prompt"),
            (["sample", gpt, "--prompt", "x", "--temperature", "-1"], "--temperature is -1"),
            (["sample", gpt, "--prompt", "x", "--temperature", "nan"], "--temperature is nan"),
            (["sample", gpt, "--prompt", "x", "--top-p", "0"], "--top-p is 0"),
            (["sample", gpt, "--prompt", "x", "--top-p", "1.5"], "--top-p is 1.5"),
            (["sample", gpt, "--prompt", "x", "--top-k", "-3"], "--top-k"),
            (["sample", gpt, "--prompt", "x", "--kernels", "fast"], "fast"),
            (["sample", gpt, "--prompt", "x", "--device", "tpu"],
             "--device is 'tpu'; it can be cpu or cuda"),
            (["sample", gpt, "--prompt", "x", "--tokenizer", self.folder / "t.json"], "t.json"),
            (["sample", gpt, "--prompt", "x", "--tokenizer", TOKENIZERS / "gpt2"],
             "and does not fit the vocabulary of "),
            (["sample", gpt, "--prompt", "x", "--tokens", "-1"], "--tokens"),
            (["sample", gpt, "--prompt", "x", "--threads", "0"], "--threads"),
            (["sample", gpt, "--promt", "x"], "did you mean '--prompt'?"),
            (["sample", gpt / "config.json", "--prompt", "x"], "is a file; a checkpoint is a"),
            (["export", gpt, "--format", "onnx", "--out", out], "--format is 'onnx'"),
            (["export", gpt, "--format", "hf", "--out", out, "--type", "int8"], "--type is"),
            (["export", self.folder / "none", "--format", "hf", "--out", out], "does not exist"),
            (["export", gpt, "--format", "hf"], "--out"),
            (["export", gpt, "--out", out], "--format"),
            (["export", gpt, "--format", "hf", "--out", gpt / "config.json"], "is a file; --out"),
        ]:
            with self.subTest(arguments):
                self.ends(debubble(*arguments), BAD_INPUT, says=says)
                self.assertEqual(self.left_behind(), [])

    def copied(self):
        """A folder of Hugging Face's that may be broken."""
        folder = self.folder / "model"
        shutil.copytree(GOLDENS / "gpt2", folder)
        return folder, folder / "model.safetensors"

    def both_say(self, says):
        model, out = self.folder / "model", self.folder / "out"
        self.ends(debubble("sample", model, "--prompt", "\x01"), BAD_INPUT, says=says)
        self.ends(debubble("export", model, "--format", "hf", "--out", out), BAD_INPUT, says=says)
        self.assertEqual(self.left_behind(), ["model"])

    def test_of_weights_are_told_by_both_verbs(self):
        _, weights = self.copied()
        whole = weights.read_bytes()
        weights.write_bytes(whole[:-1])
        self.both_say("model.safetensors: error: ")
        weights.write_bytes(b"")
        self.both_say("model.safetensors: error: ")
        weights.write_bytes(whole.replace(b"h.1.ln_1.bias", b"h.1.ln_1.boas"))
        self.both_say("has no 'parameter' of 'h.1.ln_1.bias'")
        weights.rename(weights.with_name("pytorch_model.bin"))
        self.both_say("transformers' save_pretrained writes model.safetensors")

    def test_of_the_configuration_are_told_by_both_verbs(self):
        model, _ = self.copied()
        config = model / "config.json"
        good = json.loads(config.read_text())
        config.write_text(json.dumps({**good, "n_embd": good["n_embd"] + 1}))
        self.both_say("config.json")
        config.write_text("{")
        self.both_say("config.json:")

    def test_weights_that_are_no_numbers_are_told(self):
        model, weights = self.copied()
        whole = bytearray(weights.read_bytes())
        header = 8 + int.from_bytes(whole[:8], "little")
        whole[header:] = b"\xff" * (len(whole) - header)  # NaN in every type
        weights.write_bytes(whole)
        result = debubble("sample", model, "--prompt", "\x01")
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("logits are not finite numbers; its weights are broken", result.stderr)

    def test_a_reader_that_goes_ends_it(self):
        run = subprocess.Popen([PROGRAM, "sample", str(GOLDENS / "gpt2"), "--prompt", "\x01",
                                "--tokens", "1000000"], stdout=subprocess.PIPE)
        run.stdout.read(5)
        run.stdout.close()
        self.assertNotEqual(run.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
