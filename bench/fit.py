#!/usr/bin/env python3
"""Fits one constant to rows of bench/measured: the value that makes the mean absolute logarithm of predicted over
measured seconds least, by golden section.

    bench/fit.py BUILD/bin cluster.gpu.attention_rates.triton.forward.2048 0.15 0.4 --table llm_foundry \\
        --rows 'h100.*s65536' [--set KEY=VALUE]... [--with KEY=FACTOR]... [--unit us]

--with changes another key along with it, by a factor. The rows that a shipped constant was fitted to are listed in
bench/measured/fitted.json with the command.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

TABLES = pathlib.Path(__file__).resolve().parent / "measured"
GOLDEN = (math.sqrt(5) - 1) / 2


class Fit:
    def __init__(self, arguments):
        self.program = arguments.bin.resolve() / "debubble"
        self.key = arguments.key
        self.settings = arguments.set
        self.unit = arguments.unit
        self.factors = [word.split("=", 1) for word in arguments.with_]
        lines = (TABLES / f"{arguments.table}.jsonl").read_text(encoding="utf-8").splitlines()
        self.rows = [line for line in lines if re.search(arguments.rows, json.loads(line)["row"])]
        if not self.rows:
            sys.exit(f"no row of {arguments.table} matches '{arguments.rows}'")

    def error(self, value):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "rows.jsonl"
            table.write_text("\n".join(self.rows) + "\n", encoding="utf-8")
            pairs = [f"{self.key}={value} {self.unit}".rstrip(), *(f"{key}={float(factor) * value}" for key, factor in self.factors),
                     *self.settings]
            done = subprocess.run([self.program, "validate-cost", table, "--json", "-",
                                   *(word for pair in pairs for word in ("--set", pair))],
                                  capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        rows = json.loads(done.stdout)["rows"]
        unsaid = [row for row in rows if "error" not in row]
        if unsaid:
            sys.exit(f"{unsaid[0]['row']}: {unsaid[0].get('reason', 'measures no time')}")
        return sum(abs(math.log(row["predicted_s"] / row["measured_s"])) for row in rows) / len(rows)

    def best(self, low, high):
        inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
        errors = [self.error(value) for value in inner]
        while high - low > 0.005 * high:
            if errors[0] < errors[1]:
                high, inner[1], errors[1] = inner[1], inner[0], errors[0]
                inner[0] = high - GOLDEN * (high - low)
                errors[0] = self.error(inner[0])
            else:
                low, inner[0], errors[0] = inner[0], inner[1], errors[1]
                inner[1] = low + GOLDEN * (high - low)
                errors[1] = self.error(inner[1])
        return min(zip(errors, inner))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("bin", type=pathlib.Path, help="folder of the built programs")
    arguments.add_argument("key")
    arguments.add_argument("low", type=float)
    arguments.add_argument("high", type=float)
    arguments.add_argument("--table", required=True)
    arguments.add_argument("--rows", required=True, help="regular expression of the rows' labels")
    arguments.add_argument("--set", action="append", default=[])
    arguments.add_argument("--with", dest="with_", action="append", default=[])
    arguments.add_argument("--unit", default="", help="of the key's values, as us")
    arguments = arguments.parse_args()
    fit = Fit(arguments)
    error, value = fit.best(arguments.low, arguments.high)
    print(f"{fit.key}: {value:.4g}, mean error of {len(fit.rows)} rows {100 * error:.2f} %")


if __name__ == "__main__":
    main()
