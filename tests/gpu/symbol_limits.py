#!/usr/bin/env python3
"""Whether programs and libraries run on machines that are older than the one that built them: the
versions of symbols that they want of the C and C++ libraries, against those that RHEL 9 has (glibc
2.34 and GCC 11's libstdc++). Prints what is above them, and ends in 1 if anything is. With --cuda,
CUDA's libraries that they want are to be of that major version, too: a driver that is too old for one
of another would be found out by the first call.

    tests/gpu/symbol_limits.py [--cuda MAJOR] FILE|FOLDER...
"""

import argparse
import pathlib
import re
import subprocess
import sys

LIMITS = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
WANTED = re.compile(r"\bUND\s+(\S+)@([A-Z]+)_(\d+(?:\.\d+)*)")


NEEDED = re.compile(r"\(NEEDED\).*\[(libcu\w+)\.so\.(\d+)[.\d]*\]")


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def files_in(paths):
    for path in map(pathlib.Path, paths):
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in found if file.is_file() and is_elf(file))


def wanted_by(file):
    """The symbols that it wants of other libraries, each with the library and its version."""
    listed = subprocess.run(["readelf", "--wide", "--dyn-syms", file], capture_output=True, text=True,
                            check=True).stdout
    for symbol, library, version in WANTED.findall(listed):
        yield symbol, library, tuple(map(int, version.split(".")))


def above_limits(file):
    return [f"{file.name}: {symbol} of {library}_{'.'.join(map(str, version))}"
            for symbol, library, version in wanted_by(file)
            if library in LIMITS and version > LIMITS[library]]


def of_other_cuda(file, major):
    """CUDA's own libraries that it wants of another major version; cuDNN and NCCL count by themselves."""
    listed = subprocess.run(["readelf", "--wide", "--dynamic", file], capture_output=True, text=True,
                            check=True).stdout
    return [f"{file.name}: {name}.so.{version}, which is not of CUDA {major}"
            for name, version in NEEDED.findall(listed)
            if not name.startswith("libcudnn") and int(version) != major]


def main(arguments):
    parser = argparse.ArgumentParser(usage="symbol_limits.py [--cuda MAJOR] FILE|FOLDER...")
    parser.add_argument("--cuda", type=int)
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args(arguments)
    files = list(files_in(options.paths))
    if not files:
        print("symbol_limits.py: there is no program or library", file=sys.stderr)
        return 2
    newer = [line for file in files for line in above_limits(file)]
    if options.cuda is not None:
        newer += [line for file in files for line in of_other_cuda(file, options.cuda)]
    print("\n".join(newer) if newer else
          f"{len(files)} files want no symbol above " +
          ", ".join(f"{name}_{'.'.join(map(str, limit))}" for name, limit in LIMITS.items()))
    return 1 if newer else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
