#!/usr/bin/env python3
"""How long `debubble trace` takes over large Kineto files, and how much memory.

    bench/read_kineto.py [--bytes 1000000000] [--program build/release/bin/debubble]

The file is generated (bench/kineto_file.py), read as it is, and removed. The promise is 1 GB within
20 s and 1 GB of memory on two cores.
"""

import argparse
import pathlib
import resource
import subprocess
import tempfile
import time

import kineto_file

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--program", default=ROOT / "build/release/bin/debubble")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="debubble-bench-") as folder:
        file = pathlib.Path(folder) / "large.json"
        kineto_file.write(file, arguments.bytes, 1)
        size = file.stat().st_size
        begin = time.monotonic()
        subprocess.run([arguments.program, "trace", file, "--json", pathlib.Path(folder) / "out.json"],
                       check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print(f"{size / 1e9:.2f} GB in {seconds:.1f} s ({size / 1e6 / seconds:.0f} MB/s), {memory:.2f} GB of memory")


if __name__ == "__main__":
    main()
