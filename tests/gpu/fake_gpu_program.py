#!/usr/bin/env python3
"""Stands in for every program that run.sh calls, under that program's name: does nothing on any GPU,
answers as if all went well, and appends what it was called with to the file $FAKE_LOG, a line of JSON
for each call. What $FAKE_HANGS is a part of, in the name or the arguments, hangs until it is killed, and
does not end when it is asked to."""

import json
import os
import pathlib
import signal
import sys
import time

NAMES = ("debubble debubble-exec exec_gpu_tests gpu_nccl_ranks gpu_nccl_suite gpu_green_contexts "
         "nvidia-smi python3").split()
GIB = 1 << 30


def note(name, arguments):
    kept = {variable: value for variable, value in os.environ.items()
            if variable.startswith(("CUDA_", "NCCL_", "RANK", "WORLD_SIZE", "LOCAL_"))}
    with open(os.environ["FAKE_LOG"], "a") as log:
        log.write(json.dumps({"name": name, "arguments": arguments, "variables": kept}) + "\n")


def value_of(option, arguments, otherwise=None):
    return arguments[arguments.index(option) + 1] if option in arguments else otherwise


def set_to(key, arguments, otherwise=None):
    found = [each.split("=", 1)[1] for each in arguments if each.startswith(key + "=")]
    return found[0] if found else otherwise


def nvidia_smi(arguments):
    if "-L" in arguments:
        for gpu in range(int(os.environ["FAKE_GPUS"])):
            print(f"GPU {gpu}: NVIDIA H100 80GB HBM3 (UUID: GPU-{gpu})")
    elif "--query-gpu=memory.total" in arguments:
        print(os.environ.get("FAKE_MEBIBYTES", "81559"))
    else:
        print("NVIDIA H100 80GB HBM3, 580.65.06, 81559 MiB")


def has_loss(arguments):
    if "RANK" not in os.environ:
        return True
    last = int(os.environ["WORLD_SIZE"]) - 1
    return int(os.environ["RANK"]) == (last if int(set_to("parallel.pipeline", arguments, "1")) > 1 else 0)


def run(arguments):
    folder = set_to("training.checkpoint.dir", arguments)
    if folder:
        if value_of("--resume", arguments) != "never":
            print("going on after step 3")
        for step in (3, 6):
            checkpoint = pathlib.Path(folder) / f"step_{step}"
            checkpoint.mkdir(parents=True, exist_ok=True)
            (checkpoint / "weights.safetensors").write_text(str(step))
    if not has_loss(arguments):
        return
    steps = int(value_of("--steps", arguments, "3"))
    print("\n".join(f"step {step} loss {11 - step:.4f}" for step in range(steps)))
    if "--metrics" in arguments:
        norm = os.environ.get("FAKE_NORM", "2") if value_of("--device", arguments) == "cuda" else "2"
        pathlib.Path(value_of("--metrics", arguments)).write_text(
            "".join(f'{{"step": {step}, "loss": {11 - step}, "grad_norm": {norm}, '
                    f'"step_time_s": 0.0125}}\n' for step in range(steps)))


def calibrate(arguments):
    pathlib.Path(value_of("--out", arguments)).write_text("gemm_efficiency: 0.71\n")


def simulate(arguments):
    if "--kernels" in arguments:
        pathlib.Path(value_of("--kernels", arguments)).write_text("{}\n")
        return
    micro = int(set_to("training.micro_batch", arguments))
    print(json.dumps({"peak_memory_bytes": (20 + 3 * micro) * GIB}))


def python(arguments):
    if arguments[0] == "-c":
        print("PyTorch 2.9.0" if "torch" in arguments[1] else "")
    elif any("measure_kernels.py" in each for each in arguments):
        print("31 kernels on NVIDIA H100 80GB HBM3")
    elif any("calibrated.py" in each for each in arguments):
        print("| 1f1b | 10.00 | 10.10 | -1.0 % | -1.0 % |")
    else:
        print("verdict | debubble | met | 1 tokens/s, wanted 1")
        if "--compile" in arguments:
            print("verdict | beside eager PyTorch | met | 1.20 x PyTorch 2.9.0 (1 tokens/s), wanted 1.00")
            print("verdict | beside torch.compile | met | 1.00 x PyTorch 2.9.0 compiled (1 tokens/s), wanted 0.95")


def main(name, arguments):
    note(name, arguments)
    hangs = os.environ.get("FAKE_HANGS")
    if hangs and hangs in " ".join([name, *arguments]):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
    if name == "nvidia-smi":
        nvidia_smi(arguments)
    elif name == "exec_gpu_tests":
        print("[  PASSED  ] 3 tests.")
    elif name == "gpu_nccl_suite":
        print(f"13 promises kept by {arguments[0]} ranks")
    elif name == "python3":
        python(arguments)
    elif name.startswith("debubble"):
        {"run": run, "calibrate": calibrate, "simulate": simulate}[arguments[0]](arguments)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[0]).name, sys.argv[1:])
