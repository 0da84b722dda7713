#!/usr/bin/env python3
"""Compares every published step of bench/measured with its prediction, and writes what follows from it.

    bench/accuracy.py BUILD/bin           # docs/accuracy.md, docs/cost-model.md, the README's table, docs/pictures/accuracy.svg
                                          # and scenarios/residuals
    bench/accuracy.py BUILD/bin --check   # writes nothing; ends with 3 if the figures are not those of the pages

The parts of the pages between "<!-- accuracy: NAME -->" and "<!-- accuracy: end -->" are written; the rest is not
touched. Errors are of the half of the rows that nothing is fitted to (bench/halves.py).
"""

import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import anchors
import halves

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "bench/measured"
PAGE = ROOT / "docs/accuracy.md"
COST_MODEL = ROOT / "docs/cost-model.md"
README = ROOT / "README.md"
PICTURE = ROOT / "docs/pictures/accuracy.svg"
LAWS = ROOT / "scenarios/laws/constants.json"
RESIDUALS = ROOT / "scenarios/residuals/steps.json"
CARRIES = ROOT / "scenarios/residuals/anchors.json"
DIFFERENT = 3  # exit code, since an exception ends with 1

LEAST_ROWS = 4  # of a class that a prediction takes its range from
CLASSES = [("gpu", "framework", "precision", "sharding", "length"), ("gpu", "framework", "precision", "length"),
           ("gpu", "framework", "length"), ("gpu", "length"), ("gpu",)]
SHARE = 0.8  # of the steps that a range holds
# GPUs that no published step ran on, each with the one that is most like it.
RELATIVES = {"NVIDIA A100-SXM4-40GB": "NVIDIA A100-SXM4-80GB", "NVIDIA H800-SXM5-80GB": "NVIDIA H100-SXM5-80GB",
             "NVIDIA H200-SXM-141GB": "NVIDIA H100-SXM5-80GB", "AMD MI325X": "AMD MI300X", "AMD MI355X": "AMD MI300X",
             "NVIDIA V100-SXM2-32GB": "NVIDIA A100-SXM4-80GB", "NVIDIA A40": "NVIDIA A100-SXM4-80GB"}
# Tables of peaks that ranges of memory come from: those of other families are not planned, and of Megatron-LM's tests these do
# not say the network that ran.
PEAKS = {"a40_blog", "ablations", "megatron_ci", "torchtitan"}
UNSAID_NETWORKS = "ci moe/"
MEMORY_CLASSES = [("framework", "network"), ("network",)]
WORST = 15
LARGE_CHANGE = 0.05  # of a step, by one knob: repeated steps of a study differ by one or two hundredths
# Their seconds are not those of a step: of tests on small inputs, and with the start-up of a run.
NO_TIMES = {"megatron_ci", "megatron_ci_other", "a40_blog"}

WHAT = {
    "a40_blog": "PyTorch on two A40 (an article; start-up included)",
    "ablations": "Megatron-Bridge's one-knob studies",
    "collectives": "NCCL all-reduce within a node, A100 and V100",
    "colossalai": "Colossal-AI, Llama 2 on H200 and B200",
    "dgxc": "NeMo on H100, BF16 and FP8 (dgxc-benchmarking)",
    "dgxc_lora": "the same, LoRA",
    "collectives_in_node": "NCCL inside a node, A100 to GB300 (aiconfigurator)",
    "kernels_attention": "Fused attention, A100 to H200 (aiconfigurator)",
    "kernels_products": "GEMMs, A100 to GB300 (aiconfigurator)",
    "kernels_b200": "Kernels on one B200 by `gpu.kernels` of half of their shapes (SimuMax)",
    "llm_foundry": "MPT by PyTorch FSDP1, A100 and H100 (llm-foundry)",
    "megatron_bridge": "Megatron-Bridge, H100 to GB300, BF16 to NVFP4",
    "megatron_bridge_2606": "Megatron-Bridge from 26.06 on, GB200",
    "megatron_ci": "Megatron-LM's functional tests, memory",
    "megatron_ci_other": "the same, BERT, T5, vision, hybrids",
    "megatron_core_h100": "Megatron-Core weak scaling, 48 to 6144 H100",
    "moe_zoo": "Megatron's zoo of mixtures of experts",
    "primus": "AMD Primus on MI300X to MI355X",
    "sc21": "Megatron-LM weak scaling (SC'21, table 1), A100",
    "selene": "Megatron-LM recomputation (2205.05198), A100",
    "torchtitan": "Llama 3 by PyTorch FSDP2 (torchtitan)",
    "vtrain": "Megatron-DeepSpeed, 64 to 512 A100 (vTrain's repository)",
    "zero_bubble": "Zero Bubble (tables 4, 7, 8 and 9), A100",
}

# Tables of single kernels and collectives, and the mean error in percent that each of their kinds is held to on these GPUs.
KERNELS = ["kernels_products", "kernels_attention", "collectives_in_node", "kernels_b200"]
HELD_ON = {"A100", "H100", "H200", "B200", "GB200"}
HELD = {"GEMMs in bf16": 8, "GEMMs in fp8": 8, "attention": 8, "attention with a window": None, "collectives": 11,
        "grouped GEMMs": 12}


def kernel_kind(table, stated):
    """What a row of these tables measured, as HELD names it."""
    scenario = stated["scenario"]
    if table == "collectives_in_node":
        return "collectives"
    if scenario["kernel"] == "grouped_gemm":
        return "grouped GEMMs"
    if scenario["kernel"] == "gemm":
        return f"GEMMs in {scenario['dtype']}"
    return "attention with a window" if scenario["shape"].get("window") else "attention"


def summary(errors):
    sizes = sorted(abs(error) for error in errors)
    half = len(sizes) // 2
    median = sizes[half] if len(sizes) % 2 else (sizes[half - 1] + sizes[half]) / 2
    return {"rows": len(sizes), "mean": sum(sizes) / len(sizes), "median": median, "worst": sizes[-1],
            "bias": sum(errors) / len(errors)}


def percentile(values, share):
    """Between the neighbours, as numpy's default."""
    values = sorted(values)
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def weighted(values, share):
    """The least value below which `share` of the weights lie; pairs of value and weight."""
    values = sorted(values)
    total = sum(weight for _, weight in values)
    passed = 0.0
    for value, weight in values:
        passed += weight
        if passed >= share * total:
            return value
    return values[-1][0]


def quantiles(rows):
    """Between which SHARE of the rows' logarithms lie, and the middle: of so few that their ends tell nothing of
    what is beyond them, the quantiles of n + 1."""
    times = [(row["times"], row["weight"]) for row in rows]
    jobs = sum(weight for _, weight in times)
    share = min(1.0, (1 + SHARE) / 2 * (jobs + 1) / jobs)
    return weighted(times, 1 - share), weighted(times, 0.5), weighted(times, share)


def with_null(rows):
    """The null model of some rows: the rate that makes their own mean error least."""
    rates = [row["null_s"] / row["measured_s"] for row in rows]  # up to one factor
    best = min(rates, key=lambda rate: sum(abs(of / rate - 1) for of in rates))
    return [{**row, "null_s": row["null_s"] / best} for row in rows]


def percent(value):
    return f"{value:.1f} %"


class Accuracy:
    def __init__(self, program):
        self.tables = sorted(TABLES.glob("*.jsonl"))
        self.constants = json.loads((TABLES / "fitted.json").read_text(encoding="utf-8"))["constants"]
        stated = {(table.stem, line["row"]): line for table in self.tables
                  for line in map(json.loads, table.read_text(encoding="utf-8").splitlines())}
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "errors.json"
            picture = pathlib.Path(folder) / "errors.svg"
            subprocess.run([program, "validate-cost", *self.tables, "--json", out, "--svg", picture, "--quiet"],
                           check=True, cwd=ROOT)
            self.report = json.loads(out.read_text(encoding="utf-8"))
            self.picture = picture.read_text(encoding="utf-8")
        self.rows = self.report["rows"]
        self.stated = stated
        self.of_table = collections.defaultdict(list)
        for row in self.rows:
            line = stated[row["table"], row["row"]]
            framework = line["scenario"].get("framework")
            row["fitted"] = halves.is_fitted(row["table"], line)
            if row["table"] in KERNELS:
                row["kind"] = kernel_kind(row["table"], line)
            row["job"] = halves.job_of(line)
            row["reserved"] = line["measured"].get("peak_gib_kind", "").startswith("reserved")
            row["source"] = (row["table"], framework.get("release") if isinstance(framework, dict) else None)
            if row["table"] in NO_TIMES:
                row.pop("error", None)
            self.of_table[row["table"]].append(row)

    # ---- the ranges of predictions --------------------------------------------

    def classed(self):
        """The rows that have a class, each with the logarithm of measured over predicted, and its weight: the rows of
        a job count as one."""
        rows = [row for row in self.rows if "error" in row and "class" in row]
        jobs = collections.Counter(row["job"] for row in rows)
        for row in rows:
            row["times"] = math.log(row["measured_s"] / row["predicted_s"])
            row["weight"] = 1 / jobs[row["job"]]
        return rows

    def widening(self, rows):
        """How much wider than a class's own the range of steps must be that come from another source: so that ranges
        of all other sources hold SHARE of each source's steps. A source is a release in a table."""
        pools = collections.defaultdict(list)
        for row in rows:
            for words in CLASSES:
                pools[tuple((word, row["class"][word]) for word in words)].append(row)
        needed = []
        for row in rows:
            for words in CLASSES:
                others = [other for other in pools[tuple((word, row["class"][word]) for word in words)]
                          if other["source"] != row["source"] and other["job"] != row["job"]]
                if len({other["job"] for other in others}) < LEAST_ROWS:
                    continue
                low, middle, high = quantiles(others)
                reach = (high if row["times"] > middle else low) - middle
                needed.append(((row["times"] - middle) / reach if reach else math.inf, row["weight"]))
                break
        return max(1.0, weighted(needed, SHARE)), sum(weight for _, weight in needed)

    def residuals(self):
        rows = self.classed()
        widening, _ = self.widening(rows)
        classes = collections.defaultdict(list)
        for row in rows:
            for words in CLASSES:
                classes[tuple((word, row["class"][word]) for word in words)].append(row)
        shown = []
        for words, of in sorted(classes.items(), key=lambda of: (len(of[0]), of[0])):
            if len({row["job"] for row in of}) < LEAST_ROWS:
                continue
            low, middle, high = quantiles(of)
            low, high = middle + widening * (low - middle), middle + widening * (high - middle)
            shown.append(json.dumps(dict(words) | {"rows": len(of)} | {
                name: round(math.exp(value), 3) for name, value in zip(("low", "middle", "high"), (low, middle, high))}))
        about = ("Measured over predicted seconds of the published steps of bench/measured, and bytes of their peaks, by classes: the tenth, "
                 f"fiftieth and ninetieth percentile, the first and the last {widening:.2f} times as far from the middle, "
                 "so that the ranges of other sources hold eight of ten steps of each. bench/accuracy.py writes this file.")
        peaks = ",\n  ".join(json.dumps(of) for of in self.memory_classes(widening))
        measured = {row["class"]["gpu"] for row in rows}
        relatives = {gpu: of for gpu, of in RELATIVES.items() if of in measured}
        return '{"about": %s,\n "relatives": %s,\n "memory": [\n  %s\n],\n "classes": [\n  %s\n]}\n' % (
            json.dumps(about), json.dumps(relatives), peaks, ",\n  ".join(shown))

    def peaks(self):
        """The published peaks whose network is said, each with the logarithm of measured over predicted, and its weight."""
        rows = [row for row in self.rows if row["table"] in PEAKS and "memory_error" in row and "class" in row
                and not row["row"].startswith(UNSAID_NETWORKS)]
        jobs = collections.Counter(row["job"] for row in rows)
        return [{"framework": row["class"]["framework"], "job": row["job"], "weight": 1 / jobs[row["job"]],
                 "network": "experts" if row["class"]["sharding"] == "experts" else "dense",
                 "reserved": row["reserved"], "times": -math.log1p(row["memory_error"] / 100)} for row in rows]

    def memory_classes(self, widening):
        """Of the peaks: classes as of steps, and as much wider than they are."""
        classes = collections.defaultdict(list)
        for row in self.peaks():
            for words in MEMORY_CLASSES:
                classes[tuple((word, row[word]) for word in words)].append(row)
        for words, of in sorted(classes.items(), key=lambda of: (len(of[0]), of[0])):
            if len({row["job"] for row in of}) < LEAST_ROWS:
                continue
            low, middle, high = quantiles(of)
            low, high = middle + widening * (low - middle), middle + widening * (high - middle)
            yield dict(words) | {"rows": len(of)} | {name: round(math.exp(value), 3) for name, value in
                                                     zip(("low", "middle", "high"), (low, middle, high))}

    def memory_part(self):
        """Peaks by framework, and what was said of the plans that ran."""
        peaks = collections.defaultdict(list)
        for row in self.peaks():
            peaks[row["framework"], row["network"]].append(row)
        ran = collections.defaultdict(collections.Counter)
        for row in self.rows:
            if "class" not in row or not row["said"]:
                continue
            network = "experts" if row["class"]["sharding"] == "experts" else "dense"
            ran[row["class"]["framework"], network][row["memory_verdict"]] += 1
        lines = ["| framework | network | allocated peaks | mean error | reserved peaks | mean error | ran | fits | cannot be told | "
                 "does not fit |", "|---|---|---|---|---|---|---|---|---|---|"]
        for words in sorted(ran):
            cells = [*words]
            for reserved in (False, True):
                errors = [100 * abs(math.expm1(-row["times"])) for row in peaks[words] if row["reserved"] == reserved]
                cells += [str(len(errors)), percent(sum(errors) / len(errors)) if errors else "-"]
            counts = ran[words]
            cells += [str(sum(counts.values())), *(str(counts[word]) for word in ("fits", "cannot be told", "does not fit"))]
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    def ranges_part(self):
        rows = self.classed()
        widening, steps = self.widening(rows)
        return [f"The steps of each source (a table's release) against ranges of all others: these hold "
                f"{100 * SHARE:.0f} % where they reach {widening:.2f} times as far as their own steps do. "
                f"{steps:.0f} jobs could be held against others."]

    def halves(self, table):
        """The rows of a table, dense networks apart from mixtures of experts where it has enough of both."""
        rows = self.of_table[table]
        experts = [row for row in rows if row.get("class", {}).get("sharding") == "experts"]
        others = [row for row in rows if row not in experts]
        if min(len(experts), len(others)) < 2 * LEAST_ROWS:
            return [(WHAT.get(table, table), rows)]
        return [(f"{WHAT.get(table, table)}: dense", others), ("the same: mixtures of experts", experts)]

    # ---- the pages -------------------------------------------------------------

    def line(self, name, rows):
        tested = [row for row in rows if "error" in row and not row["fitted"]]
        said = sum(row["said"] for row in rows)
        cells = [name, len(rows), said, sum(row["fitted"] for row in rows)]
        if tested:
            of = summary([row["error"] for row in tested])
            null = summary([100 * (row["null_s"] / row["measured_s"] - 1) for row in with_null(tested)])
            cells += [percent(of["mean"]), percent(of["median"]), percent(of["worst"]), f"{of['bias']:+.1f} %",
                      percent(null["mean"])]
        else:
            cells += ["-"] * 5
        memory = [row["memory_error"] for row in rows if "memory_error" in row]
        cells.append(f"{percent(summary(memory)['mean'])} of {len(memory)}" if memory else "-")
        return "| " + " | ".join(map(str, cells)) + " |"

    def tables_part(self):
        head = ["| published steps | rows | predicted | fitted | mean error | median | worst | bias | null model | "
                "peak memory |", "|---|---|---|---|---|---|---|---|---|---|"]
        return head + [self.line(name, rows) for table in self.tables for name, rows in self.halves(table.stem)]

    def kernels(self):
        """Errors of single kernels by what stands behind the prediction, kind and GPU."""
        errors = collections.defaultdict(list)
        for table in KERNELS:
            for row in self.of_table[table]:
                gpu = row["row"].split()[0].upper()
                by = "a table of its own" if table == "kernels_b200" else "its cluster file"
                errors[row["kind"], gpu, by].append(row["error"])
        return errors

    @staticmethod
    def is_held(kind, gpu, by):
        return HELD[kind] is not None and gpu in HELD_ON and by != "a table of its own"

    def kernels_part(self):
        lines = ["| kernels | GPU | predicted by | rows | mean error | median | worst | bias | held to |",
                 "|---|---|---|---|---|---|---|---|---|"]
        for (kind, gpu, by), errors in sorted(self.kernels().items()):
            of = summary(errors)
            held = f"{HELD[kind]} %" if self.is_held(kind, gpu, by) else "-"
            lines.append(f"| {kind} | {gpu} | {by} | {of['rows']} | {percent(of['mean'])} | {percent(of['median'])} | "
                         f"{percent(of['worst'])} | {of['bias']:+.1f} % | {held} |")
        return lines

    def kernels_beyond(self):
        """The kinds and GPUs whose mean error is above what it is held to."""
        return [f"{kind} of {gpu}: mean error {summary(errors)['mean']:.1f} %, held to {HELD[kind]} %"
                for (kind, gpu, by), errors in sorted(self.kernels().items())
                if self.is_held(kind, gpu, by) and summary(errors)["mean"] > HELD[kind]]

    def classes_part(self):
        groups = collections.defaultdict(list)
        for row in self.rows:
            if "error" in row and "class" in row and not row["fitted"]:
                of = row["class"]
                groups[(of["framework"], of["gpu"], of["precision"], of["sharding"])].append(row["error"])
        lines = ["| framework | GPU | precision | cut by | rows | mean error | median | worst | bias |",
                 "|---|---|---|---|---|---|---|---|---|"]
        for words, errors in sorted(groups.items()):
            of = summary(errors)
            lines.append("| " + " | ".join([*words, str(of["rows"]), percent(of["mean"]), percent(of["median"]),
                                            percent(of["worst"]), f"{of['bias']:+.1f} %"]) + " |")
        return lines

    def series(self):
        """Rows of the same plan and release on more and more GPUs, by table: lists of (GPUs, row)."""
        of = collections.defaultdict(list)
        for table in self.tables:
            for line in table.read_text(encoding="utf-8").splitlines():
                stated = json.loads(line)
                scenario = stated["scenario"]
                if "gpus" not in scenario or "global_batch" not in scenario.get("training", {}):
                    continue
                parallel = {key: value for key, value in scenario.get("parallel", {}).items() if key != "data"}
                training = {key: value for key, value in scenario["training"].items() if key != "global_batch"}
                rest = {key: value for key, value in scenario.items() if key != "gpus"}
                plan = json.dumps({**rest, "parallel": parallel, "training": training}, sort_keys=True)
                batch = scenario["training"]["global_batch"] / scenario["gpus"]
                of[table.stem, plan, batch].append((scenario["gpus"], stated["row"]))
        return of

    def series_part(self):
        """How the ratio of predicted to measured seconds changes from the smallest job of a series to the others."""
        ratios = {(row["table"], row["row"]): row["predicted_s"] / row["measured_s"]
                  for row in self.rows if "error" in row}
        changes = collections.defaultdict(list)
        largest = collections.Counter()
        for (table, _, _), rows in self.series().items():
            rows = sorted((gpus, ratios[table, name]) for gpus, name in rows if (table, name) in ratios)
            for gpus, ratio in rows[1:]:
                if gpus > rows[0][0]:
                    changes[table].append(100 * (ratio / rows[0][1] - 1))
                    largest[table] = max(largest[table], gpus)
        lines = ["| published steps | larger jobs | up to | mean change | bias |", "|---|---|---|---|---|"]
        for table, of in sorted(changes.items()):
            if len(of) >= LEAST_ROWS:
                all_of = summary(of)
                lines.append(f"| {WHAT.get(table, table)} | {all_of['rows']} | {largest[table]} GPUs | "
                             f"{percent(all_of['mean'])} | {all_of['bias']:+.1f} % |")
        return lines

    def differences_part(self):
        """What one knob changes in the rows of a study, against its first row that has a time."""
        first = {}
        changes = []
        for row in self.of_table["ablations"]:
            if "error" not in row:
                continue
            study, knob = row["row"].removeprefix("ablation ").split(": ", 1)
            base = first.setdefault(study, row)
            if row is not base:
                changes.append((study, knob, row["measured_s"] - base["measured_s"],
                                row["predicted_s"] - base["predicted_s"], base["measured_s"]))
        lines = ["| study | with | measured | predicted | error |", "|---|---|---|---|---|"]
        errors = [100 * abs(predicted / measured - 1) for _, _, measured, predicted, _ in changes]
        for (study, knob, measured, predicted, _), error in zip(changes, errors):
            lines.append(f"| {study} | {knob} | {measured:+.3f} s | {predicted:+.3f} s | {error:.0f} % |")
        large = [error for error, change in zip(errors, changes) if abs(change[2]) > LARGE_CHANGE * change[4]]
        all_of, large_of = summary(errors), summary(large)
        return [*lines, "", f"Mean error {all_of['mean']:.0f} %, median {all_of['median']:.0f} %; of the {len(large)} that change "
                f"the step by more than {100 * LARGE_CHANGE:.0f} %: {large_of['mean']:.0f} %."]

    def worst_part(self):
        rows = sorted((row for row in self.rows if "error" in row and "class" in row), key=lambda row: -abs(row["error"]))
        lines = ["| table | row | measured | predicted | error |", "|---|---|---|---|---|"]
        for row in rows[:WORST]:
            lines.append(f"| {row['table']} | {row['row']} | {row['measured_s']:.3f} s | {row['predicted_s']:.3f} s | "
                         f"{row['error']:+.1f} % |")
        return lines

    def unsaid_part(self):
        reasons = collections.Counter((row["table"], re.sub(r"; known: .*", "", row["reason"]))
                                      for row in self.rows if not row["said"])
        if not reasons:
            return ["Every row is predicted."]
        return ["| table | rows | reason |", "|---|---|---|",
                *(f"| {table} | {count} | {reason} |" for (table, reason), count in sorted(reasons.items()))]

    def regret_part(self):
        regrets = [group["regret"] for group in self.report["groups"]]
        if not regrets:
            return []
        worst = max(self.report["groups"], key=lambda group: group["regret"])
        return [f"{len(regrets)} jobs were measured as they were cut in several ways. The cut that is predicted fastest "
                f"was measured {sum(regrets) / len(regrets):.1f} % slower than the best one on average, at worst "
                f"{worst['regret']:.1f} % ({worst['chosen']} instead of {worst['best']})."]

    def pairs(self):
        return anchors.pairs(self.rows, self.stated)

    def constants_part(self):
        lines = ["| constant | of | value | held near | rows | worth, points |", "|---|---|---|---|---|---|"]
        for constant in self.constants:
            prior = constant.get("prior")
            near = f"{prior['value']:g} within {prior['spread']:g}: {prior['source']}" if prior else "-"
            of = ", ".join(pathlib.PurePath(file).stem for file in constant["files"])
            lines.append(f"| `{constant['key']}` | {of} | {constant['value']:g} | {near} | {constant['rows']} | "
                         f"{constant['worth']:.2f} |")
        return lines

    def laws_part(self):
        lines = ["| constant | value | origin | source |", "|---|---|---|---|"]
        for group in json.loads(LAWS.read_text(encoding="utf-8"))["constants"]:
            for name, value in group["values"].items():
                text = f"{value:.4g}" if isinstance(value, (int, float)) else json.dumps(value)
                source = group["source"] if name == next(iter(group["values"])) else "the same"
                lines.append(f"| `{name}` | {text} | {group['provenance']} | {source} |")
        return lines

    def readme_part(self):
        lines = ["| published measurements | rows | mean error | median | null model |", "|---|---|---|---|---|"]
        named = None  # the table of the line before, which "the same" means
        for table, name, rows in ((table, *half) for table in self.tables for half in self.halves(table.stem)):
            if name.startswith("the same: ") and named != table:
                name = name.replace("the same", WHAT.get(table.stem, table.stem), 1)
            tested = [row for row in rows if "error" in row and not row["fitted"] and "class" in row]
            if len(tested) < LEAST_ROWS:
                continue
            named = table
            of = summary([row["error"] for row in tested])
            null = summary([100 * (row["null_s"] / row["measured_s"] - 1) for row in with_null(tested)])
            lines.append(f"| {name} | {of['rows']} of {len(rows)} | {percent(of['mean'])} | {percent(of['median'])} | "
                         f"{percent(null['mean'])} |")
        return lines

    def parts(self):
        return {"tables": self.tables_part(), "kernels": self.kernels_part(), "memory": self.memory_part(), "classes": self.classes_part(), "worst": self.worst_part(),
                "series": self.series_part(), "differences": self.differences_part(),
                "unsaid": self.unsaid_part(), "regret": self.regret_part(), "anchors": anchors.table(self.pairs()), "constants": self.constants_part(),
                "laws": self.laws_part(), "ranges": self.ranges_part(),
                "readme": self.readme_part()}


def with_parts(text, parts):
    """The page with every part between its marks replaced."""
    def replaced(mark):
        return f"{mark[1]}\n" + "\n".join(parts[mark[2]]) + "\n<!-- accuracy: end -->"

    return re.sub(r"(<!-- accuracy: (\w+) -->)\n.*?<!-- accuracy: end -->", replaced, text, flags=re.DOTALL)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("bin", type=pathlib.Path, help="folder of the built programs")
    arguments.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = arguments.parse_args()
    accuracy = Accuracy(arguments.bin.resolve() / "debubble")
    parts = accuracy.parts()
    wanted = {PAGE: with_parts(PAGE.read_text(encoding="utf-8"), parts),
              COST_MODEL: with_parts(COST_MODEL.read_text(encoding="utf-8"), parts),
              README: with_parts(README.read_text(encoding="utf-8"), parts),
              RESIDUALS: accuracy.residuals(), CARRIES: anchors.carries(accuracy.pairs()), PICTURE: accuracy.picture}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'is not what the tables give' if arguments.check else 'written'}")
        if not arguments.check:
            aside = path.with_name(path.name + ".new")
            aside.write_text(wanted[path], encoding="utf-8")
            aside.replace(path)
    beyond = accuracy.kernels_beyond()
    for sentence in beyond:
        print(sentence)
    sys.exit(DIFFERENT if beyond or (arguments.check and stale) else 0)


if __name__ == "__main__":
    main()
