#!/usr/bin/env python3
"""Measures the products and attentions of a plan one by one on one GPU, with PyTorch alone.

    debubble simulate mine.yaml --kernels kernels.jsonl
    bench/measure_kernels.py kernels.jsonl --out measured.jsonl [--seconds 60] [--device cuda]

reads a line of JSON for each kernel (sim/plan/plan_kernels.h), those of the most FLOPs first, and
writes one for each that was measured, in the form of published tables:

    {"gpu": "NVIDIA H100 80GB HBM3", "kernel": "gemm", "dtype": "bf16", "shape": {...},
     "seconds": 6.2e-05, "of_peak": 0.71, "peak_tflops": 989.4, "measures": "burst",
     "source": "bench/measure_kernels.py, PyTorch 2.9.0", "predicted_s": 6.5e-05}

`seconds` is the median of several windows of some milliseconds, launches included in none of them:
kernels follow each other on the stream. The product of the most FLOPs comes once more with
"measures": "sustained", the median of the second half of two seconds, in which power limits the
clock. A kernel that PyTorch lacks there is named on standard error and left out; so is what the
seconds do not suffice for. Operands are normal random numbers, three copies of them where they
would else stay in the cache. Ends with 77 where PyTorch is missing, 2 where the file is wrong and 1
where nothing could be measured.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

try:
    import torch
    from torch.nn import functional
except ImportError:
    sys.exit(77)

# Dense FLOP/s by the driver's name of the card: bf16, 8 bits (NVIDIA's datasheets).
DATASHEET = {"H100 PCIe": (756e12, 1513e12), "H100": (989.4e12, 1979e12), "H200": (989.4e12, 1979e12),
             "A100": (312e12, None), "GB200": (2500e12, 5000e12), "B200": (2250e12, 4500e12),
             "GB300": (2500e12, 5000e12), "B300": (2250e12, 4500e12), "L40S": (362e12, 733e12)}
TYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
WINDOWS = 5
CACHE_BYTES = 256 << 20  # more than any card's second-level cache


class Lacking(Exception):
    """The reason why PyTorch cannot run a kernel here."""


def in_turn(calls):
    """One call that takes the operands in turn."""
    state = [0]

    def call():
        state[0] = (state[0] + 1) % len(calls)
        return calls[state[0]]()
    return call


def copies_for(bytes_of_one):
    return 1 if bytes_of_one > CACHE_BYTES else 3


def random(device, dtype, *shape):
    return torch.randn(shape, device=device, dtype=dtype)


def narrow(matrix):
    return matrix.to(torch.float8_e4m3fn)


def product_fp8(device, m, n, k):
    if not hasattr(torch, "_scaled_mm") or device.type != "cuda":
        raise Lacking("there is no torch._scaled_mm")
    one = torch.ones((), device=device)
    a, b = narrow(random(device, torch.bfloat16, m, k)), narrow(random(device, torch.bfloat16, n, k)).t()
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def product(device, line):
    """What runs a gemm once."""
    shape = line["shape"]
    m, n, k, batch = (int(shape[key]) for key in ("m", "n", "k", "b"))
    if line["dtype"] == "fp8":  # every layout is this one, of transposed copies
        return in_turn([product_fp8(device, m, n, k) for _ in range(copies_for(m * k + n * k))])
    dtype = TYPES.get(line["dtype"])
    if dtype is None:
        raise Lacking(f"PyTorch has no product in {line['dtype']}")
    lead = () if batch == 1 else (batch,)

    def one():
        if shape["layout"] == "NT":
            a, b = random(device, dtype, *lead, k, m).mT, random(device, dtype, *lead, k, n)
        elif shape["layout"] == "TN":
            a, b = random(device, dtype, *lead, m, k), random(device, dtype, *lead, n, k).mT
        else:
            a, b = random(device, dtype, *lead, m, k), random(device, dtype, *lead, k, n)
        wide = shape["out_dtype"] == "fp32" and dtype != torch.float32
        if not shape["accumulate"]:
            return lambda: torch.matmul(a, b)
        if batch != 1:
            sum_ = torch.zeros(batch, m, n, device=device, dtype=dtype)
            return lambda: torch.baddbmm(sum_, a, b, out=sum_)
        sum_ = torch.zeros(m, n, device=device, dtype=torch.float32 if wide else dtype)
        if wide:
            return lambda: torch.addmm(sum_, a, b, out_dtype=torch.float32)
        return lambda: torch.addmm(sum_, a, b, out=sum_)
    return in_turn([one() for _ in range(copies_for(batch * (m * k + n * k) * dtype.itemsize))])


def grouped(device, line):
    shape = line["shape"]
    if not hasattr(torch, "_grouped_mm"):
        raise Lacking("there is no torch._grouped_mm")
    if line["dtype"] != "bf16":
        raise Lacking(f"its grouped product is not in {line['dtype']}")
    experts, rows, n, k = (int(shape[key]) for key in ("ng", "M", "N", "K"))
    ends = torch.arange(1, experts + 1, device=device, dtype=torch.int32) * rows

    def one():
        x = random(device, torch.bfloat16, experts * rows, k)
        if shape["stage"] == "bwd_grad_w":
            dy = random(device, torch.bfloat16, experts * rows, n)
            return lambda: torch._grouped_mm(x.t(), dy, offs=ends)
        weights = random(device, torch.bfloat16, experts, n, k).transpose(-2, -1)
        return lambda: torch._grouped_mm(x, weights, offs=ends)
    return in_turn([one() for _ in range(copies_for(2 * experts * (rows * k + n * k)))])


def attention(device, line):
    """The backward runs on the graph of one forward."""
    shape = line["shape"]
    if shape.get("window"):
        raise Lacking("its fused attention has no window")
    if shape["keys"] != shape["seq_len"]:
        raise Lacking("its fused attention has as many keys as queries where it is causal")
    dtype = TYPES.get(line["dtype"])
    if dtype is None:
        raise Lacking(f"its attention is not in {line['dtype']}")
    batch, tokens, heads, kv_heads = (int(shape[key]) for key in ("batch", "seq_len", "head_num", "kv_head_num"))
    q = random(device, dtype, batch, heads, tokens, int(shape["qk_head_dim"]))
    k = random(device, dtype, batch, kv_heads, tokens, int(shape["qk_head_dim"]))
    v = random(device, dtype, batch, kv_heads, tokens, int(shape["v_head_dim"]))
    shared = {"enable_gqa": True} if kv_heads != heads else {}

    def forward():
        return functional.scaled_dot_product_attention(q, k, v, is_causal=bool(shape["causal"]), **shared)
    if line["kernel"] == "attention_forward":
        return forward
    for tensor in (q, k, v):
        tensor.requires_grad_()
    y = forward()
    dy = torch.randn_like(y)
    return lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True)


KINDS = {"gemm": product, "grouped_gemm": grouped, "attention_forward": attention, "attention_backward": attention}


class Clock:
    """Seconds of a window of calls, on the device's own clock where it has one."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"

    def window(self, call, times):
        if not self.cuda:
            began = time.perf_counter()
            for _ in range(times):
                call()
            return time.perf_counter() - began
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(times):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3


def burst(clock, call, seconds):
    """The median of windows of some milliseconds, within so many seconds."""
    clock.window(call, 2)
    one = max(clock.window(call, 3) / 3, 1e-7)
    times = max(1, min(int(0.02 / one), int(seconds / WINDOWS / one)))
    return statistics.median(clock.window(call, times) / times for _ in range(WINDOWS))


def sustained(clock, call, one):
    """The median of the second half of two seconds."""
    times = max(1, int(0.1 / one))
    windows = [clock.window(call, times) / times for _ in range(max(2, int(2 / one / times)))]
    return statistics.median(windows[len(windows) // 2:])


def card(device):
    return torch.cuda.get_device_name() if device.type == "cuda" else "a processor"


def peak_of(name, dtype):
    found = next((peaks for part, peaks in DATASHEET.items() if part in name), (None, None))
    return {"bf16": found[0], "fp8": found[1]}.get(dtype)


def row(line, name, seconds, measures):
    peak = peak_of(name, line["dtype"])
    return {"gpu": name, "kernel": line["kernel"], "dtype": line["dtype"], "shape": line["shape"], "seconds": seconds,
            "of_peak": round(line["flops"] / seconds / peak, 4) if peak else None,
            "peak_tflops": peak / 1e12 if peak else None, "measures": measures,
            "source": f"bench/measure_kernels.py, PyTorch {torch.__version__.split('+')[0]}",
            "predicted_s": line.get("predicted_s")}


def read_lines(file):
    lines = []
    try:
        text_of_all = file.read_text()
    except (OSError, UnicodeDecodeError) as why:
        print(f"{file}: {why}", file=sys.stderr)
        sys.exit(2)
    for number, text in enumerate(text_of_all.splitlines(), 1):
        try:
            line = json.loads(text)
            if line["kernel"] == "memory":
                continue
            if line["kernel"] not in KINDS or float(line["flops"]) <= 0 or not isinstance(line["shape"], dict):
                raise ValueError(f"'{line['kernel']}' is no kernel with FLOPs")
            lines.append(line)
        except (ValueError, KeyError, TypeError) as why:
            print(f"{file}:{number}: it is no line of `debubble simulate --kernels`: {why}", file=sys.stderr)
            sys.exit(2)
    return lines


def measure(lines, device, seconds):
    """Rows, within so many seconds."""
    clock, name, end, longest = Clock(device), card(device), time.monotonic() + seconds, None
    for number, line in enumerate(lines):
        left = end - time.monotonic()
        if left <= 0:
            print(f"{len(lines) - number} kernels are left out: {seconds:.0f} s are over", file=sys.stderr)
            break
        try:
            call = KINDS[line["kernel"]](device, line)
            found = burst(clock, call, min(left / (len(lines) - number), 1))
        except (Lacking, RuntimeError, TypeError, NotImplementedError) as why:  # what PyTorch of another version lacks
            print(f"{line['kernel']} {line.get('name', '')}: {str(why).splitlines()[0][:160]}", file=sys.stderr)
            continue
        yield row(line, name, found, "burst")
        if line["kernel"] == "gemm" and longest is None and device.type == "cuda":
            longest = row(line, name, sustained(clock, call, found), "sustained")
    if longest:
        yield longest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", type=pathlib.Path, help="lines of debubble simulate --kernels")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="for all of them")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    arguments = parser.parse_args()
    lines = read_lines(arguments.kernels)
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("PyTorch sees no GPU here", file=sys.stderr)
        sys.exit(1)
    aside = arguments.out.with_name(arguments.out.name + f".{os.getpid()}")
    apart, rows = [], 0
    with aside.open("w") as out:
        for found in measure(lines, torch.device(arguments.device), arguments.seconds):
            out.write(json.dumps(found) + "\n")
            out.flush()
            rows += 1
            if found["predicted_s"] and found["measures"] == "burst":
                apart.append(found["predicted_s"] / found["seconds"] - 1)
    if not rows:
        aside.unlink()
        print("nothing was measured", file=sys.stderr)
        sys.exit(1)
    aside.replace(arguments.out)
    print(f"{rows} kernels on {card(torch.device(arguments.device))}; predictions are "
          f"{statistics.median(apart):+.1%} apart in the median, {statistics.mean(map(abs, apart)):.1%} in the mean of "
          f"amounts: {arguments.out}")


if __name__ == "__main__":
    main()
