#!/usr/bin/env python3
"""Writes a Kineto file as large as torch.profiler writes of one rank, for bench/read_kineto.py.

    kineto_file.py OUT.json [--bytes 1000000000] [--seed 1]

Its events are in the proportions of a profile with stacks: Python's functions, operators, launches,
arrows, kernels. A thousandth of the kernels lie in ranges of torch.distributed.pipelining, so that
there is a trace to find.
"""

import argparse
import random

KERNELS = ["nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
           "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
           "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
           "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
           "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"]
OPERATORS = ["aten::mm", "aten::add_", "aten::as_strided", "aten::empty", "aten::linear", "aten::view"]


def micros(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def write(path, size, seed):
    chance = random.Random(seed)
    with open(path, "w") as out:
        out.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],\n'
                  ' "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},\n'
                  ' "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000,\n "traceEvents": [\n')
        written, host, device, number, micro_batch = 0, 4_549_177_894_387_460, 4_549_177_894_987_460, 0, 0
        while written < size:
            lines = []
            for _ in range(4):
                lines.append('{\n    "ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(1773): '
                             f'_wrapped_call_impl", "pid": 4000, "tid": 4000,\n    "ts": {micros(host)}, "dur": 41.207,\n'
                             f'    "args": {{\n      "Python parent id": {number}, "Python id": {number + 1}, "Ev Idx": {number}\n    }}\n  }}')
            for _ in range(2):
                lines.append(f'{{\n    "ph": "X", "cat": "cpu_op", "name": "{chance.choice(OPERATORS)}", "pid": 4000, "tid": 4000,\n'
                             f'    "ts": {micros(host)}, "dur": 9.125,\n    "args": {{\n      "External id": {number},"Record function id": 0, '
                             f'"Sequence number": {number}, "Fwd thread id": 0, "Input Dims": [[4096, 8192], [8192, 1024]], "Ev Idx": {number}\n    }}\n  }}')
            if number % 1000 == 0:
                lines.append(f'{{\n    "ph": "X", "cat": "user_annotation", "name": "PP:0{"FB"[micro_batch % 2]}{micro_batch // 2}", '
                             f'"pid": 4000, "tid": 4000,\n    "ts": {micros(host)}, "dur": 5.000\n  }}')
                micro_batch += 1
            lines.append(f'{{\n    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 4000, "tid": 4000,\n'
                         f'    "ts": {micros(host + 1000)}, "dur": 6.000,\n    "args": {{\n      "External id": {number}, "cbid": 430, "correlation": {number}\n    }}\n  }}')
            lines.append(f'{{\n    "ph": "s", "id": {number}, "pid": 4000, "tid": 4000, "ts": {micros(host + 1000)},\n    "cat": "ac2g", "name": "ac2g"\n  }}')
            length = chance.randrange(2_000, 60_000)
            lines.append(f'{{\n    "ph": "X", "cat": "kernel", "name": "{chance.choices(KERNELS, [40, 50, 8, 2])[0]}", "pid": 0, "tid": 7,\n'
                         f'    "ts": {micros(device)}, "dur": {micros(length)},\n    "args": {{\n      "External id": {number}, "queued": 0, "device": 0, '
                         f'"context": 1,\n      "stream": 7, "correlation": {number},\n      "registers per thread": 168, "shared memory": 213120, '
                         '"blocks per SM": 1.000000,\n      "grid": [132, 1, 1], "block": [384, 1, 1],\n      "est. achieved occupancy %": 19\n    }\n  }')
            lines.append(f'{{\n    "ph": "f", "id": {number}, "pid": 0, "tid": 7, "ts": {micros(device)},\n    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }}')
            text = ("" if number == 0 else ",\n  ") + ",\n  ".join(lines)
            out.write(text)
            written += len(text)
            host += 60_000
            device += length + chance.randrange(500, 4_000)
            number += 1
        out.write("\n], \"traceName\": \"large.json\"}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write(arguments.out, arguments.bytes, arguments.seed)
