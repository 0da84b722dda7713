"""`debubble import` and `debubble export`: jobs of other frameworks in and out."""

import json
import subprocess
import unittest

from program import BAD_INPUT, PROGRAM, ProgramTest, debubble

SCRIPT = """#!/bin/bash
GPUS=8
TP=${TP:-2}
MODEL=(
    --num-layers 8 --hidden-size 1024 --num-attention-heads 16
    --seq-length 1024 --max-position-embeddings 1024  # tokens
)
torchrun --nproc_per_node $GPUS pretrain_gpt.py "${MODEL[@]}" \\
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $((GPUS / TP / 2)) \\
    --micro-batch-size 1 --global-batch-size 16 --bf16 --vocab-size 32000 --data-path x
"""


class Import(ProgramTest):
    def script(self, text=SCRIPT):
        path = self.folder / "train.sh"
        path.write_text(text)
        return path

    def test_says_where_each_key_came_from(self):
        result = self.done("import", self.script(), "--set", "cluster=hgx-h100")
        self.assertIn("pipeline: 2  # train.sh:9 --pipeline-model-parallel-size", result.stdout)
        self.assertIn("does not affect the plan", result.stderr)

    def test_is_what_simulate_reads_from_a_pipe(self):
        job = self.done("import", self.script(), "--set", "cluster=hgx-h100").stdout
        result = subprocess.run([PROGRAM, "simulate", "-", "--json", "-"], input=job,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["plan"]["parallel"]["data"], 2)

    def test_writes_the_scenario_that_simulate_takes(self):
        out = self.folder / "plan.yaml"
        self.done("import", self.script(), "--set", "cluster=hgx-h100", "--out", out)
        self.done("simulate", out)

    def test_asks_for_what_the_job_does_not_know(self):
        self.ends(debubble("import", self.script()), BAD_INPUT, says="which cluster?")

    def test_refuses_what_it_cannot_read_at_its_place(self):
        self.ends(debubble("import", self.script(SCRIPT + "echo 'open\n")), BAD_INPUT,
                  says="train.sh:11:6: error: this ' is not closed")
        self.ends(debubble("import", self.script("--num-layers x --bf16\n")), BAD_INPUT,
                  says="train.sh:1:1: error: --num-layers takes a whole number, not 'x'")
        self.ends(debubble("import", self.script("echo hello\n")), BAD_INPUT,
                  says="unrecognized job format")
        self.ends(debubble("import", self.script(), "--from", "megatorn"), BAD_INPUT,
                  says="did you mean 'megatron'?")


class Export(ProgramTest):
    def test_is_read_back_by_import(self):
        for form, ending in [("megatron", "sh"), ("bridge", "sh"), ("colossalai", "py")]:
            with self.subTest(form):
                out = self.folder / f"job_{form}.{ending}"
                self.done("export", "gpt3-175b", "--format", form, "--out", out)
                sets = ["--set", "cluster=dgx-a100-80gb", "--set", "gpus=64",
                        "--set", "seq_length=2048"]
                text = self.done("import", out, *sets).stdout
                self.assertIn("pipeline: 8", text)

    def test_says_what_the_framework_cannot_do(self):
        result = self.done("export", "gpt2-xl-zb-h1", "--format", "megatron")
        self.assertIn("Megatron-LM runs 1F1B", result.stderr)
        self.assertIn("Megatron-LM runs 1F1B", result.stdout)

    def test_knows_no_other_format(self):
        self.ends(debubble("export", "gpt2-xl", "--format", "onnx"), BAD_INPUT,
                  says="--format is 'onnx'; it can be megatron")


if __name__ == "__main__":
    unittest.main()
