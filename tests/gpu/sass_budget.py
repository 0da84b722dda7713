#!/usr/bin/env python3
"""What the compiler made of the CUDA kernels, read from the machine code of debubble_cuda.so where
no GPU runs it: registers of a thread, bytes of its stack, instructions that read or write local
memory (spills), instructions of tensor cores, and loads of 16 bytes. Each kernel is held against a
budget: no more of the first three, no fewer of the last two.

    tests/gpu/sass_budget.py MODULE BUDGET [--write]

BUDGET is a table with a line for each kernel (sass_budget_sm90a.txt); --write writes it anew, for a
change that is meant. cuobjdump and nvdisasm are those of the PATH or of the folder in SASS_TOOLS.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from typing import NamedTuple

COLUMNS = "registers stack spills tensor wide".split()
AT_MOST = {"registers", "stack", "spills"}
FUNCTION = re.compile(r"Function\s*:?\s*(\S+?):?\s*$")
USAGE = re.compile(r"REG:(\d+) STACK:(\d+)")
OPCODE = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z][A-Z0-9_.]*)")
TENSOR = re.compile(r"(HMMA|HGMMA|IMMA|QGMMA|UTCHMMA)\b")
WIDE = re.compile(r"(LDG|LDS|LDGSTS|LDSM|LD)\b.*\b128\b|LDSM\.16\.(?:M88|MT88)\.4")
LOCAL = re.compile(r"(LDL|STL)\b")


class Kernel(NamedTuple):
    registers: int
    stack: int
    spills: int
    tensor: int
    wide: int


def tool(name):
    folder = os.environ.get("SASS_TOOLS")
    found = shutil.which(name, path=folder) if folder else shutil.which(name)
    if not found:
        print(f"Skipped: there is no {name} (PyPI: nvidia-cuda-{name})")
        sys.exit(0)
    return found


def output_of(*command):
    folder = pathlib.Path(command[0]).parent  # cuobjdump looks for nvdisasm in the PATH
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


SOURCE = re.compile(r"_GLOBAL__N__[0-9a-f]+_\d+_(\w+?)_cu_")


def short_names(mangled):
    """source:kernel<arguments>, as the sources call them, without the types of parameters."""
    text = "\n".join(mangled)
    plain = subprocess.run(["c++filt"], input=text, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    names = []
    for function, name in zip(mangled, plain):
        name = re.sub(r"\(anonymous namespace\)::|debubble::exec::cuda::|^void |\(bool\)|\(int\)", "", name)
        depth, end = 0, len(name)
        for at, letter in enumerate(name):  # the parameters begin at the first outer parenthesis
            depth += (letter == "<") - (letter == ">")
            if letter == "(" and depth == 0:
                end = at
                break
        name = re.sub(r"\(Type\)(\d)", r"type \1", name[:end])
        source = SOURCE.search(function)
        names.append((source.group(1) + ":" if source else "") + re.sub(r"\s+", "", name))
    return dict(zip(mangled, names))


def lines_of(text, arch):
    """The lines that are about machine code of one architecture; a module may have several."""
    wanted = True
    for line in text.splitlines():
        if found := re.match(r"arch = (\w+)", line):
            wanted = found.group(1) == arch
        elif wanted:
            yield line


def usage_of(text, arch):
    usage, function = {}, None
    for line in lines_of(text, arch):
        if found := FUNCTION.search(line):
            function = found.group(1)
        elif function and (found := USAGE.search(line)):
            usage[function] = tuple(map(int, found.groups()))
            function = None
    return usage


def instructions_of(text, arch):
    """For each function how many instructions are of tensor cores, wide loads, and of local memory."""
    counts, function = {}, None
    for line in lines_of(text, arch):
        if "Function :" in line:
            function = FUNCTION.search(line).group(1)
            counts[function] = Counter()
        elif function and (found := OPCODE.search(line)):
            opcode = found.group(1)
            for kind, pattern in (("tensor", TENSOR), ("wide", WIDE), ("spills", LOCAL)):
                counts[function][kind] += bool(pattern.match(opcode))
    return counts


def kernels_of(module, arch):
    cuobjdump = tool("cuobjdump")
    tool("nvdisasm")
    usage = usage_of(output_of(cuobjdump, "-res-usage", module), arch)
    counts = instructions_of(output_of(cuobjdump, "-sass", module), arch)
    names = short_names(sorted(usage))
    kernels = {}
    for function, (registers, stack) in usage.items():
        found = counts.get(function, Counter())
        kernel = Kernel(registers, stack, found["spills"], found["tensor"], found["wide"])
        if kernels.setdefault(names[function], kernel) != kernel:
            raise SystemExit(f"sass_budget.py: two kernels are called {names[function]}")
    return kernels


HEAD = """# What nvcc {nvcc} makes of the kernels for {arch}: a thread's registers, bytes of stack, instructions
# that touch local memory, instructions of tensor cores, loads of 16 bytes; the kernel.
# tests/gpu/sass_budget.py says what they mean and writes them.
"""


def table_of(kernels, nvcc, arch):
    lines = [HEAD.format(nvcc=nvcc, arch=arch)]
    for name, kernel in sorted(kernels.items()):
        lines.append("{:>3} {:>5} {:>4} {:>4} {:>4}  ".format(*kernel) + name + "\n")
    return "".join(lines)


def read_table(path):
    text = path.read_text()
    head = re.search(r"nvcc (\S+) makes of the kernels for (\w+)", text)
    kernels = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            *numbers, name = line.split(maxsplit=len(COLUMNS))
            kernels[name] = Kernel(*map(int, numbers))
    return head.groups(), kernels


def differences(found, budget):
    """A sentence for each kernel that is beyond its budget, or in only one of the tables."""
    sentences = [f"{name} has no budget" for name in sorted(found.keys() - budget.keys())]
    sentences += [f"{name} has a budget and is not there" for name in sorted(budget.keys() - found.keys())]
    for name in sorted(found.keys() & budget.keys()):
        for column in COLUMNS:
            is_now, may = getattr(found[name], column), getattr(budget[name], column)
            if is_now > may if column in AT_MOST else is_now < may:
                sentences.append(f"{name}: {column} {is_now}, and the budget is {may}")
    return sentences


def nvcc_version():
    nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    try:
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        return re.search(r"release (\d+\.\d+)", said).group(1)
    except (OSError, subprocess.CalledProcessError, AttributeError):
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("budget", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--arch", default="sm_90a", help="of the kernels to write")
    arguments = parser.parse_args()
    nvcc = nvcc_version()
    if arguments.write:
        arguments.budget.write_text(table_of(kernels_of(arguments.module, arguments.arch), nvcc, arguments.arch))
        return 0
    (of_nvcc, arch), budget = read_table(arguments.budget)
    if nvcc != of_nvcc:
        print(f"Skipped: the budgets are those of nvcc {of_nvcc}, and this is {nvcc}")
        return 0
    sentences = differences(kernels_of(arguments.module, arch), budget)
    print("\n".join(sentences) if sentences else f"{len(budget)} kernels are within their budgets")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
