#!/usr/bin/env python3
"""Training steps by PyTorch, for the comparison in bench/beside_pytorch.py: GPT-2 and Llama written
as PyTorch's users write them (fused attention, autocast over fp32 weights, AdamW), on the
processor or a GPU, eager or compiled.

    bench/pytorch_training.py SCENARIO --steps 5 [--device cuda] [--compile] [--threads 1]

reads the network, the batch, the text and the precision from a scenario of debubble, written as
JSON, which is YAML as well, and prints JSON: the seconds of each step after the first, PyTorch's
version, the peak of memory, and on a GPU the rate of a large product. Ends with 77 where PyTorch is
missing.

In bf16 PyTorch has autocast, as its users do: products and attention are in bf16, the residual
stream, the norms and the loss in fp32. debubble has everything except sums and statistics in bf16.
"""

import argparse
import contextlib
import json
import math
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    sys.exit(77)

FUSED_ATTENTION = getattr(functional, "scaled_dot_product_attention", None)
SHARES_HEADS = "enable_gqa" in (getattr(FUSED_ATTENTION, "__doc__", None) or "")  # since 2.5


def attention(q, k, v):
    """[samples, heads, tokens, head_dim]; fewer heads of keys and values are shared."""
    shared = k.shape[1] != q.shape[1]
    if shared and SHARES_HEADS:
        return FUSED_ATTENTION(q, k, v, is_causal=True, enable_gqa=True)
    if shared:
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    if FUSED_ATTENTION:
        return FUSED_ATTENTION(q, k, v, is_causal=True)
    mask = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).tril()
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1) @ v


def heads(x, count):
    samples, tokens, _ = x.shape
    return x.view(samples, tokens, count, -1).transpose(1, 2)


class Gpt2Block(nn.Module):
    def __init__(self, model):
        super().__init__()
        hidden = model["hidden"]
        self.heads = model["heads"]
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.projection = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x, _):
        q, k, v = (heads(part, self.heads) for part in self.qkv(self.norm1(x)).chunk(3, dim=2))
        x = x + self.projection(attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class RmsNorm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        if hasattr(functional, "rms_norm"):
            return functional.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), 1e-5)
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight


def rotated(x, angles):
    """Pairs (i, i + half) of every head turned by its position's angles."""
    cosines, sines = angles
    cosines, sines = cosines.to(x.dtype), sines.to(x.dtype)  # otherwise the product is in fp32
    left, right = x.chunk(2, dim=-1)
    return torch.cat((left * cosines - right * sines, right * cosines + left * sines), dim=-1)


class LlamaBlock(nn.Module):
    def __init__(self, model):
        super().__init__()
        hidden = model["hidden"]
        self.heads, self.kv_heads = model["heads"], model.get("kv_heads", model["heads"])
        keys = hidden // self.heads * self.kv_heads
        self.norm1, self.norm2 = RmsNorm(hidden), RmsNorm(hidden)
        self.query, self.key, self.value, self.projection = (
            nn.Linear(hidden, width, bias=False) for width in (hidden, keys, keys, hidden))
        self.gate, self.up = (nn.Linear(hidden, model["ffn"], bias=False) for _ in range(2))
        self.down = nn.Linear(model["ffn"], hidden, bias=False)

    def forward(self, x, angles):
        y = self.norm1(x)
        q = rotated(heads(self.query(y), self.heads), angles)
        k = rotated(heads(self.key(y), self.kv_heads), angles)
        v = heads(self.value(y), self.kv_heads)
        x = x + self.projection(attention(q, k, v).transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Network(nn.Module):
    def __init__(self, model):
        super().__init__()
        hidden = model["hidden"]
        # Padded as in nanoGPT: products over an odd number of words are slow on tensor cores.
        vocabulary = -(-model["vocab"] // 64) * 64
        self.is_gpt2 = model["family"] == "gpt2"
        self.tokens = nn.Embedding(vocabulary, hidden)
        if self.is_gpt2:
            self.positions = nn.Embedding(model["max_positions"], hidden)
        block = Gpt2Block if self.is_gpt2 else LlamaBlock
        self.blocks = nn.ModuleList(block(model) for _ in range(model["layers"]))
        self.norm = nn.LayerNorm(hidden) if self.is_gpt2 else RmsNorm(hidden)
        tied = model.get("tied_embedding", self.is_gpt2)
        self.head = None if tied else nn.Linear(hidden, vocabulary, bias=False)
        self.head_dim = hidden // model["heads"]

    def angles(self, tokens):
        half = self.head_dim // 2
        rates = 10000.0 ** (-torch.arange(half, device=tokens.device) / half)
        turns = torch.arange(tokens.shape[1], device=tokens.device)[:, None] * rates
        return turns.cos(), turns.sin()

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        angles = None
        if self.is_gpt2:
            x = x + self.positions.weight[:tokens.shape[1]]
        else:
            angles = self.angles(tokens)
        for block in self.blocks:
            x = block(x, angles)
        x = self.norm(x)
        logits = self.head(x) if self.head else functional.linear(x, self.tokens.weight)
        return functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def fused_attention_only(device, low):
    """In 16 bits on a GPU PyTorch must fail rather than fall back to plain products, with which
    nobody would train. In fp32 there are no such kernels."""
    if device != "cuda" or not low:
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel  # since 2.3; cuDNN's since 2.5
    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION])


def tokens_of(training, micro_batches):
    """[microbatches, samples, tokens + 1] of the text that debubble reads, whose bytes are tokens,
    so that as many gradients meet in a row of the embeddings. A short text is repeated."""
    shape = (micro_batches, training["micro_batch"], training["seq_length"] + 1)
    count = math.prod(shape)
    with open(training["data"]["text"], "rb") as file:
        text = file.read(count)
    text = (text * -(-count // len(text)))[:count]
    return torch.tensor(list(text)).view(shape)


def product_rate(device):
    """FLOP/s of 8192 x 8192 bf16 matrices of random numbers, the median of ten."""
    a, b = (torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(2))
    times = []
    for _ in range(13):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        a @ b
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return 2 * 8192**3 / statistics.median(times[3:])


def step_times(scenario, arguments):
    training, device = scenario["training"], arguments.device
    torch.manual_seed(0)
    network = Network(scenario["model"]).to(device)
    fused = {"fused": True} if device == "cuda" else {}  # the processor's is in newer versions only
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, **fused)
    run = torch.compile(network) if arguments.compile else network
    micro_batches = training["global_batch"] // training["micro_batch"]
    data = tokens_of(training, micro_batches).to(device)
    low = training["precision"] == "bf16"

    def step():
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        for batch in data:
            kernels = fused_attention_only(device, low)
            with kernels, torch.autocast(device, dtype=torch.bfloat16, enabled=low):
                loss = run(batch[:, :-1], batch[:, 1:]) / micro_batches
            loss.backward()
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    for _ in range(1 if device == "cpu" else 3):
        step()
    return [step() for _ in range(arguments.steps)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--threads", type=int, default=1, help="on the processor")
    arguments = parser.parse_args()
    with open(arguments.scenario, encoding="utf-8") as file:
        scenario = json.load(file)
    found = {"version": torch.__version__}
    if arguments.device == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = False
    else:
        torch.set_num_threads(arguments.threads)
    found["steps"] = step_times(scenario, arguments)
    if arguments.device == "cuda":
        found["peak"] = torch.cuda.max_memory_allocated()
        found["product_flops_per_s"] = product_rate(arguments.device)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
