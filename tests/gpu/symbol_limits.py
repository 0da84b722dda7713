#!/usr/bin/env python3
"""Whether programs and libraries run on machines that are older than the one that built them: the
versions of symbols that they want of the C and C++ libraries, against those that RHEL 9 has (glibc
2.34 and GCC 11's libstdc++). Prints what is above them, and ends in 1 if anything is.

    tests/gpu/symbol_limits.py FILE|FOLDER...
"""

import pathlib
import re
import subprocess
import sys

LIMITS = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
WANTED = re.compile(r"\bUND\s+(\S+)@([A-Z]+)_(\d+(?:\.\d+)*)")


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


def main(paths):
    files = list(files_in(paths))
    if not files:
        print("symbol_limits.py: there is no program or library", file=sys.stderr)
        return 2
    newer = [line for file in files for line in above_limits(file)]
    print("\n".join(newer) if newer else
          f"{len(files)} files want no symbol above " +
          ", ".join(f"{name}_{'.'.join(map(str, limit))}" for name, limit in LIMITS.items()))
    return 1 if newer else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
