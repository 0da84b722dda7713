#!/usr/bin/env python3
"""Compares training steps of `debubble run` with the same steps of PyTorch, alternating, so that
other load of the machine falls on both: the median step of each, and their ratio. Network, batch,
optimizer (AdamW over fp32 weights) and precision are equal; no dropout.

    bench/beside_pytorch.py [--precision fp32|bf16] [--threads 1] [--rounds 3] [--steps 3]
    bench/beside_pytorch.py --device cuda --network gpt2-xl --precision bf16 --compile

On the processor the step is also compared with its matrix products alone, if
`step_products_bench` is built; on a GPU with the datasheet's rate and that of a large product,
as MFU: 6 FLOP per parameter and token, and 6 layers x hidden x tokens for causal attention.
PyTorch is what `import torch` finds (Debian's python3-torch, or PyPI's). With --wanted there is one
line for each goal as soon as its figure is known, which tests/gpu/run.sh reads:

    verdict | beside torch.compile | met, short or not run | the figure, or why there is none
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHORT = 3  # exit code: a goal was missed
PYTORCH_IS_MISSING = 77
WANTED_OF_COMPILED = 0.95  # of the speed of compiled PyTorch

NETWORKS = {
    "gpt2-124m": {"family": "gpt2", "layers": 12, "hidden": 768, "heads": 12, "vocab": 50257,
                  "max_positions": 1024, "dropout": 0},
    "gpt2-xl": {"family": "gpt2", "layers": 48, "hidden": 1600, "heads": 25, "vocab": 50257,
                "max_positions": 1024, "dropout": 0},
    # Llama 3.2 1B's shapes (Hugging Face, meta-llama/Llama-3.2-1B/config.json).
    "llama-1.2b": {"family": "llama", "layers": 16, "hidden": 2048, "heads": 32, "kv_heads": 8,
                   "ffn": 8192, "vocab": 128256, "max_positions": 4096, "tied_embedding": True},
    # For trying these programs.
    "tiny-gpt2": {"family": "gpt2", "layers": 2, "hidden": 64, "heads": 4, "vocab": 512,
                  "max_positions": 1024, "dropout": 0},
    "tiny-llama": {"family": "llama", "layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2,
                   "ffn": 128, "vocab": 512, "max_positions": 1024, "tied_embedding": True},
}
# bf16 FLOP/s without sparsity, by the driver's name of the card (NVIDIA's datasheets).
DATASHEET = {"H100 80GB HBM3": 989.4e12, "H100 PCIe": 756e12, "H200": 989.4e12,
             "A100": 312e12, "B200": 2250e12}


def fail(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(2)


def parameters(model):
    hidden, layers = model["hidden"], model["layers"]
    if model["family"] == "gpt2":
        return (model["vocab"] + model["max_positions"] + 2) * hidden + layers * (
            12 * hidden + 13) * hidden
    keys = hidden // model["heads"] * model["kv_heads"]
    return (model["vocab"] + 1) * hidden + layers * hidden * (
        2 * hidden + 2 * keys + 3 * model["ffn"] + 2)


def scenario_of(arguments):
    data = ROOT / "scenarios/data/tales.txt"
    return {
        "model": {"name": arguments.network, **NETWORKS[arguments.network]},
        "cluster": "this-machine" if arguments.device == "cpu" else "hgx-h200",
        "gpus": 1,
        "parallel": {"pipeline": 1},
        "schedule": "1f1b",
        "framework": "debubble",
        "training": {
            "global_batch": arguments.micro_batch * arguments.micro_batches,
            "micro_batch": arguments.micro_batch,
            "seq_length": arguments.tokens,
            "precision": arguments.precision,
            "optimizer": {"name": "adamw", "lr": 0.0001},
            "data": {"text": str(arguments.text or data)},
        },
    }


def run_for(command, seconds):
    """The exit code of the command, None if it took longer, and its output. Every process that it
    started ends with it: a compiler's workers would compute during the next side's steps."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, errors = process.communicate(timeout=seconds)
        return process.returncode, out, errors
    except subprocess.TimeoutExpired as late:
        return None, "", (late.stderr or b"").decode(errors="replace")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def seconds_for_a_run(arguments):
    return max(1, min(arguments.patience, arguments.end - time.monotonic()))


def debubble_steps(arguments, scenario, folder):
    """Seconds of each step after the first ones, which allocate memory and choose algorithms."""
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    warm_up = 1 if arguments.device == "cpu" else 3
    command = [arguments.debubble, "run", scenario, "--steps", arguments.steps + warm_up,
               "--device", arguments.device, "--resume", "never", "--metrics", metrics]
    if arguments.device == "cpu":
        command += ["--threads", arguments.threads]
    seconds = seconds_for_a_run(arguments)
    code, _, errors = run_for(command, seconds)
    if code != 0:
        how = f"was not done after {seconds:.0f} s" if code is None else f"ended with {code}"
        fail(f"debubble {how}\n{errors.strip()[-2000:]}".strip())
    lines = map(json.loads, metrics.read_text().splitlines())
    steps = [line["step_time_s"] for line in lines if "step_time_s" in line][warm_up:]
    if not steps:
        fail("debubble succeeded, but wrote no step times")
    return steps


class Absent(Exception):
    """The reason why PyTorch has no steps."""


def pytorch_steps(arguments, scenario, compiled):
    """The results of pytorch_training.py."""
    command = [sys.executable, ROOT / "bench/pytorch_training.py", scenario,
               "--steps", arguments.steps, "--device", arguments.device,
               "--threads", arguments.threads]
    seconds = seconds_for_a_run(arguments)
    code, out, errors = run_for(command + ["--compile"] * compiled, seconds)
    if code == PYTORCH_IS_MISSING:
        raise Absent("there is no PyTorch (apt-get install python3-torch)")
    if code != 0:
        print(errors.strip()[-2000:])
    if code is None:
        raise Absent(f"it was not done after {seconds:.0f} s")
    if code != 0:
        raise Absent(f"it ended with {code}: {(errors.strip().splitlines() or [''])[-1][:200]}")
    return json.loads(out.splitlines()[-1])


def product_seconds(arguments):
    """Seconds of a step's matrix products, attention's included; empty if they are not built."""
    program = arguments.debubble.parent / "step_products_bench"
    measured = (arguments.network, arguments.tokens, arguments.micro_batch, arguments.micro_batches)
    if arguments.device != "cpu" or not program.exists() or measured != ("gpt2-124m", 1024, 1, 1):
        return []
    done = subprocess.run(
        [program, f"--benchmark_filter=^{arguments.precision}/{arguments.threads}_threads",
         "--benchmark_format=json", "--benchmark_min_time=0"],
        check=True, capture_output=True, text=True)
    return [row["real_time"] / 1000 for row in json.loads(done.stdout)["benchmarks"]]


def card():
    """Name and driver of the GPU."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True)
    except FileNotFoundError:
        return "a GPU"
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "a GPU"


class Side:
    """The steps of one side of the comparison; `absent` is the reason if there are none."""

    def __init__(self, kind, compiled=False):
        self.kind = self.name = kind
        self.compiled = compiled
        self.steps, self.absent = [], None

    def median(self):
        return statistics.median(self.steps)

    def line(self, tokens):
        median = self.median()
        return (f"{self.name:22} {median:8.4f} s a step  {tokens / median:9.0f} tokens/s  of "
                f"{len(self.steps)} steps, fastest {min(self.steps):.4f} s")


def tokens_of_a_step(arguments):
    return arguments.micro_batch * arguments.micro_batches * arguments.tokens


def tell(side, arguments):
    """Prints the result so far, in case the rest is cut off."""
    print(f"so far: {side.line(tokens_of_a_step(arguments))}", flush=True)


def rate_of_work(arguments, ours):
    """Model FLOP/s of debubble's steps."""
    model = NETWORKS[arguments.network]
    work = 6 * (parameters(model) + model["layers"] * model["hidden"] * arguments.tokens)
    return tokens_of_a_step(arguments) / ours.median() * work


def peak_of(where):
    """The datasheet's FLOP/s of the card in bf16, None of one that is not listed."""
    return next((flops for name, flops in DATASHEET.items() if name in where), None)


def mfu_lines(arguments, ours, where, product_rate):
    rate, peak = rate_of_work(arguments, ours), peak_of(where)
    if peak:
        yield f"MFU {rate / peak:.1%} of the datasheet's {peak / 1e12:.0f} TFLOP/s in bf16"
    if product_rate:
        yield (f"MFU {rate / product_rate:.1%} of the rate of a product of 8192 x 8192 matrices, "
               f"{product_rate / 1e12:.0f} TFLOP/s")


def verdict_of(arguments, ours, side):
    """A row of a figure: its name, "met", "short" or "not run", and the reason."""
    if side is ours:
        rate = tokens_of_a_step(arguments) / ours.median()
        peak = peak_of(card()) if arguments.device == "cuda" else None
        share = f", MFU {rate_of_work(arguments, ours) / peak:.1%}" if peak else ""
        return ("debubble", "met" if rate >= arguments.wanted else "short",
                f"{rate:.0f} tokens/s, wanted {arguments.wanted:.0f}{share}")
    name = "beside torch.compile" if side.compiled else "beside eager PyTorch"
    if not side.steps:
        return name, "not run", side.absent
    ratio = side.median() / ours.median()
    wanted = WANTED_OF_COMPILED if side.compiled else 1
    return (name, "met" if ratio >= wanted else "short",
            f"{ratio:.2f} x {side.name} ({tokens_of_a_step(arguments) / side.median():.0f} tokens/s), "
            f"wanted {wanted:.2f}")


def judge(arguments, ours, side):
    """Prints the row as soon as its figure is known, in case the rest is cut off. Returns whether it is short."""
    if arguments.wanted is None:
        return False
    row = verdict_of(arguments, ours, side)
    print(" | ".join(["verdict", *row]), flush=True)
    return row[1] == "short"


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS, default="gpt2-124m")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--tokens", type=int, default=1024, help="tokens of a sequence")
    parser.add_argument("--micro-batch", type=int, default=1, help="sequences of a microbatch")
    parser.add_argument("--micro-batches", type=int, default=1, help="microbatches of a step")
    parser.add_argument("--compile", action="store_true", help="PyTorch's compiler as a third side")
    parser.add_argument("--patience", type=float, default=3600, metavar="SECONDS",
                        help="longest run of a side, PyTorch's compiler included")
    parser.add_argument("--limit", type=float, default=24 * 3600, metavar="SECONDS",
                        help="time of all runs together; sides without time left are absent")
    parser.add_argument("--alone", action="store_true", help="measure without PyTorch")
    parser.add_argument("--threads", type=int, default=1, help="threads on the processor")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3, help="steps of each side in a round")
    parser.add_argument("--wanted", type=float, metavar="TOKENS_PER_S",
                        help=f"exit with {SHORT} if debubble has fewer, or is slower than PyTorch")
    parser.add_argument("--text", type=pathlib.Path, help="text to train on")
    parser.add_argument("--debubble", type=pathlib.Path,
                        default=ROOT / "build/release/bin/debubble")
    arguments = parser.parse_args()
    arguments.end = time.monotonic() + arguments.limit
    return arguments


def measure(arguments, ours, sides):
    """Adds steps to the sides, alternating. Returns the seconds of the products alone, the rate of a
    large product and whether a figure is short."""
    products, product_rate, short = [], None, False
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder) / f"{arguments.network}.yaml"
        scenario.write_text(json.dumps(scenario_of(arguments)))
        for round_ in range(arguments.rounds):
            last = round_ + 1 == arguments.rounds
            ours.steps += debubble_steps(arguments, scenario, pathlib.Path(folder))
            tell(ours, arguments)
            short = (last and judge(arguments, ours, ours)) or short
            for side in [side for side in sides if not side.absent]:
                try:
                    found = pytorch_steps(arguments, scenario, side.compiled)
                except Absent as why:
                    side.absent = str(why)
                    print(f"{side.kind}: {why}", flush=True)
                    judge(arguments, ours, side)
                    continue
                version = found["version"].split("+")[0]
                side.name = side.kind.replace("PyTorch", f"PyTorch {version}")
                side.steps += found["steps"]
                tell(side, arguments)
                product_rate = found.get("product_flops_per_s", product_rate)
                short = (last and judge(arguments, ours, side)) or short
            products += product_seconds(arguments)
    return products, product_rate, short


def main():
    arguments = parsed_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # else the running side goes on
    ours = Side("debubble")
    sides = [] if arguments.alone else [Side("PyTorch")]
    if sides and arguments.compile:
        sides.append(Side("PyTorch compiled", compiled=True))
    products, product_rate, short = measure(arguments, ours, sides)
    tokens = tokens_of_a_step(arguments)
    where = card() if arguments.device == "cuda" else (
        f"{arguments.threads} threads, {platform.processor() or platform.machine()}")
    print(f"{arguments.network}, {arguments.precision}, {tokens} tokens a step in "
          f"{arguments.micro_batches} microbatches, {where}")
    compared = [side for side in sides if side.steps]
    for side in [ours, *compared]:
        print(side.line(tokens))
    if compared and arguments.precision == "bf16":
        print("debubble keeps the residual stream, norms and logits in bf16 too, PyTorch's "
              "autocast in fp32")
    if products:
        share = ours.median() / statistics.median(products)
        print(f"{'products alone':22} {statistics.median(products):8.4f} s; a step of debubble "
              f"takes {share:.2f} times as long")
    if arguments.device == "cuda":
        for line in mfu_lines(arguments, ours, where, product_rate):
            print(line)
    for side in compared:
        print(f"ratio {side.median() / ours.median():.2f} to {side.name} (above 1: debubble is "
              f"faster), of the fastest {min(side.steps) / min(ours.steps):.2f}")
    return SHORT if short else 0


if __name__ == "__main__":
    sys.exit(main())
