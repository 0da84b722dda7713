#!/usr/bin/env python3
"""A training step of GPT-2 124M by `debubble run` beside the same step by PyTorch, and beside its
matrix products alone.

Both train on this machine's processor with the same number of threads, turn about, so that
what else the machine does falls on all; the median step of each, and their ratios. The network,
batch and optimizer are equal: 12 layers, 1024 tokens, AdamW, mean cross-entropy, no dropout.

    bench/beside_pytorch.py [--threads 1] [--precision fp32|bf16] [--rounds 3] [--steps 3]

PyTorch is Debian's python3-torch or whatever `import torch` finds.
"""

import argparse
import json
import math
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS, HIDDEN, HEADS, VOCABULARY = 12, 768, 12, 50257
SAMPLES = 1

SCENARIO = """
model: {{name: gpt2-124m, family: gpt2, layers: {layers}, hidden: {hidden}, heads: {heads},
        vocab: {vocabulary}, max_positions: 1024, dropout: 0}}
cluster: this-machine
gpus: 1
parallel: {{pipeline: 1}}
schedule: 1f1b
framework: debubble
training:
  global_batch: {samples}
  micro_batch: {samples}
  seq_length: {tokens}
  precision: {precision}
  optimizer: {{name: adamw, lr: 0.0001}}
  data: {{text: {text}}}
"""


def debubble_steps(arguments, folder):
    """Seconds of each step but the first."""
    scenario = folder / "gpt2-124m.yaml"
    scenario.write_text(SCENARIO.format(
        layers=LAYERS, hidden=HIDDEN, heads=HEADS, vocabulary=VOCABULARY, samples=SAMPLES,
        tokens=arguments.tokens, precision=arguments.precision,
        text=ROOT / "scenarios/data/tales.txt"))
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    subprocess.run([arguments.debubble, "run", scenario, "--steps", str(arguments.steps + 1),
                    "--threads", str(arguments.threads), "--resume", "never",
                    "--metrics", metrics], check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    return [row["step_time_s"] for row in rows][1:]


def product_seconds(arguments):
    """Of a step's matrix products, attention's included; empty where they are not built."""
    program = arguments.debubble.parent / "step_products_bench"
    if not program.exists() or arguments.tokens != 1024:
        return []
    done = subprocess.run(
        [program, f"--benchmark_filter=^{arguments.precision}/{arguments.threads}_threads",
         "--benchmark_format=json", "--benchmark_min_time=0"],
        check=True, capture_output=True, text=True)
    return [row["real_time"] / 1000 for row in json.loads(done.stdout)["benchmarks"]]


def pytorch_trainer(arguments):
    import torch
    from torch import nn
    from torch.nn import functional

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
            self.qkv, self.projection = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
            self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

        def attention(self, x):
            samples, tokens, _ = x.shape
            q, k, v = (part.view(samples, tokens, HEADS, -1).transpose(1, 2)
                       for part in self.qkv(x).split(HIDDEN, dim=2))
            if hasattr(functional, "scaled_dot_product_attention"):
                y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                mask = torch.ones(tokens, tokens, dtype=torch.bool).tril()
                scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
                y = scores.masked_fill(~mask, -math.inf).softmax(-1) @ v
            return self.projection(y.transpose(1, 2).reshape(samples, tokens, HIDDEN))

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.positions = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(1024, HIDDEN)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.norm = nn.LayerNorm(HIDDEN)

        def forward(self, tokens, targets):
            x = self.tokens(tokens) + self.positions.weight[:tokens.shape[1]]
            logits = self.norm(self.blocks(x)) @ self.tokens.weight.t()
            return functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())

    model = Gpt2()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 256, (SAMPLES, arguments.tokens + 1))
    low = arguments.precision == "bf16"

    def step():
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=low):
            loss = model(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        optimizer.step()
        return time.perf_counter() - begin

    return step, torch.__version__


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3, help="of each side in a round")
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--debubble", default=ROOT / "build/release/bin/debubble", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        step, version = pytorch_trainer(arguments)
    except ImportError:
        sys.exit("this benchmark needs PyTorch: apt-get install python3-torch")
    step()
    ours, theirs, products = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            ours += debubble_steps(arguments, pathlib.Path(folder))
            theirs += [step() for _ in range(arguments.steps)]
            products += product_seconds(arguments)
    a, b = statistics.median(ours), statistics.median(theirs)
    tokens = SAMPLES * arguments.tokens
    print(f"GPT-2 124M, {arguments.precision}, {tokens} tokens, {arguments.threads} threads, "
          f"{platform.processor() or platform.machine()}")
    print(f"debubble        {a:8.3f} s a step  {tokens / a:8.0f} tokens/s  of {len(ours)} steps, "
          f"fastest {min(ours):.3f} s")
    print(f"PyTorch {version:8} {b:7.3f} s a step  {tokens / b:8.0f} tokens/s  of {len(theirs)} steps, "
          f"fastest {min(theirs):.3f} s")
    if products:
        c = statistics.median(products)
        print(f"products alone  {c:8.3f} s; a step of debubble takes {a / c:.2f} times as long")
    print(f"ratio {b / a:.2f} (above 1: debubble is faster), of the fastest {min(theirs) / min(ours):.2f}")


if __name__ == "__main__":
    main()
