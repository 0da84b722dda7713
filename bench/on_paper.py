#!/usr/bin/env python3
"""What an H100 SXM should take for the steps of bench/beside_pytorch.py, by kernels that others measured.

    bench/on_paper.py build/release/bin/debubble

Products by the form T = t0 + max(2 m n k (1 + k0 / k) / (peak E min(1, w)^f), bytes / (0.8 bandwidth))
with w tiles of 128 x 128 for each of 132 multiprocessors, E 0.813, f 0.36, k0 167, t0 2.8 us: fitted to
cuBLAS's bf16 products in NVIDIA's aiconfigurator-core 0.12.0 (h100_sxm/gemm/trtllm/1.0.0), mean error
4.0 % from 1024 on; times 1 / 0.89, the rate that large products keep over seconds (the same package).
Attention by FlashAttention-2's rate on A100 (0.68 of the peak, 1 / (1 + 430 / n); the same package,
a100_sxm, sglang), since the kernels are Ampere's, and of an H100's mma half: 312 of 989 TFLOP/s times 1.3,
the ratio of clocks and multiprocessors; its backward at 0.8 of the forward's rate (Dao, arXiv:2307.08691,
figures 4 to 6). Memory-bound kernels at 0.85 of 3.35 TB/s (casts; the same package). Launches, the
optimizer's state (28 bytes a parameter at that bandwidth) and nothing else: no host, no gaps.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from beside_pytorch import NETWORKS, parameters

PEAK, BANDWIDTH, SMS = 989.4e12, 3.35e12, 132
E, F, K0, T0, SUSTAINED = 0.813, 0.36, 167, 2.8e-6, 0.89
MEMORY = 0.85
AMPERE_PEAK = 312e12 * 1.3
STEPS = {"gpt2-124m": (1024, 16, 4), "gpt2-xl": (1024, 8, 4), "llama-1.2b": (2048, 4, 4)}


def product(shape):
    m, n, k, batch = (shape[key] for key in ("m", "n", "k", "b"))
    tiles = batch * -(-m // 128) * -(-n // 128) / SMS
    flops = 2 * batch * m * n * k * (1 + K0 / k) / (PEAK * E * min(1, tiles) ** F * SUSTAINED)
    result = {"fp32": 8 if shape["accumulate"] else 4, "bf16": 4 if shape["accumulate"] else 2}[shape["out_dtype"]]
    moved = batch * (2 * (m * k + n * k) + result * m * n) / (0.8 * BANDWIDTH)
    return T0 + max(flops, moved)


def attention(line):
    rate = AMPERE_PEAK * 0.68 / (1 + 430 / line["shape"]["seq_len"])
    return 5e-6 + line["flops"] / rate / (0.8 if line["kernel"] == "attention_backward" else 1)


def memory(shape):
    return 2e-6 * shape["launches"] + (shape["read"] + shape["written"]) / (MEMORY * BANDWIDTH)


def parts_of_step(program, name, folder):
    tokens, micro_batch, micro_batches = STEPS[name]
    scenario = pathlib.Path(folder) / "step.yaml"
    scenario.write_text(json.dumps({
        "model": {"name": name, **NETWORKS[name]}, "cluster": "hgx-h100", "gpus": 1, "parallel": {"pipeline": 1},
        "schedule": "1f1b", "framework": "debubble",
        "training": {"global_batch": micro_batch * micro_batches, "micro_batch": micro_batch, "seq_length": tokens,
                     "precision": "bf16"}}))
    kernels = pathlib.Path(folder) / "kernels.jsonl"
    done = subprocess.run([program, "simulate", scenario, "--kernels", kernels], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr)
    parts = {"products": 0.0, "attention": 0.0, "memory": 0.0}
    for line in map(json.loads, kernels.read_text().splitlines()):
        kind = {"gemm": "products", "memory": "memory"}.get(line["kernel"], "attention")
        one = product(line["shape"]) if kind == "products" else memory(line["shape"]) if kind == "memory" else attention(line)
        parts[kind] += line["count"] * micro_batches * one
    parts["optimizer"] = 28 * parameters(NETWORKS[name]) / (MEMORY * BANDWIDTH)
    return parts, tokens * micro_batch * micro_batches


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/debubble").resolve()
    print("| network | tokens a step | products | attention | memory-bound | optimizer | step | tokens/s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in STEPS:
        with tempfile.TemporaryDirectory() as folder:
            parts, tokens = parts_of_step(program, name, folder)
        step = sum(parts.values())
        cells = [name, f"{tokens:,}", *(f"{1e3 * part:.1f} ms" for part in parts.values()), f"{1e3 * step:.0f} ms",
                 f"{tokens / step:,.0f}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
