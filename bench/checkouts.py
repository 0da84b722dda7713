#!/usr/bin/env python3
"""Counts how many training jobs of checkouts of other frameworks `debubble import` reads.

    checkouts.py [--program build/release/bin/debubble] [--table] [--list REASON] DIR...

A DIR is a checkout, whose framework its files tell. Every file that starts a training is imported, with
the GPUs that the tool asks for and, where the job has none of its own, a vocabulary. An import counts as

  right    where an independent count of the network's parameters, made here from the framework's own
           files, agrees with it to one part in a thousand; where a script is not evaluated here, the
           size in its name ("7B"), to a third
  wrong    where such a count differs, or the files say that the network is of another kind
  unproved where there is neither

and a refusal by its first sentence. `--table` prints the rows of docs/reference/jobs.md.
"""

import argparse
import collections
import concurrent.futures
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from checkouts_networks import (AnotherNetwork, megatron_parameters, model_args, nanotron_parameters, neox_parameters, primus_settings,
                                published_parameters, script_settings, slime_settings)

REASONS = [("asks for --env or arguments", r"known only when the job starts|known only when a program"),
           ("asks for a file beside it", r"sourced file|names a file that is not there"),
           ("another framework runs it", r"runs by "),
           ("generates text, trains nothing", r"generates text trains nothing"),
           ("asks for a config.json", r"is not in the zoo; give its config.json"),
           ("a recipe in Python", r"what the recipe .* is in Python"),
           ("adapters", r"adapters"),
           ("its sizes do not divide", r"not a multiple of|cannot be cut into|do not fill nodes|rows on each rank|as many rows in every pass"),
           ("a value of another type", r"takes a whole number, not|is -1; it can be"),
           ("network not planned", r"changes the network|no network of nanotron|nanotron's own networks|the network is in Python|not planned|another network|cannot be planned|encoder|are in Python and not known|"
                                   r"no plan of|only with|is trained|would train"),
           ("framework refuses it", r"would refuse"),
           ("no network in the job", r"num_layers is not in the job|hidden_size is not in the job|which model|"
                                     r"not known here; give one"),
           ("not recognised", r"no job that is recognised|no flag of"),
           ("asks for something else", r"how many|which ")]


# What a node of eight GPUs says of itself, and folders of its user.
STARTED = {"NVLINK_COUNT": "16", "DETECTED_GPUS": "8", "HOME": "/root", "RAY_DATA_HOME": "/root/verl", "PROJECT_DIR": "/root/verl"}


def files_of(root, *endings):
    for ending in endings:
        yield from sorted(root.glob(f"**/*{ending}"))


def text_of(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def jobs_of(root):
    """The framework of a checkout, and the files that start a training."""
    if (root / "primus" / "configs").is_dir():
        return "Primus", [f for f in files_of(root, ".yaml")
                          if re.search(r"^ +(pre|post)_trainer:", text_of(f), re.M) and "modules:" in text_of(f)]
    if (root / "nemo_automodel").is_dir():
        return "Automodel", [f for f in files_of(root / "examples", ".yaml") if re.search(r"^recipe:|^step_scheduler:", text_of(f), re.M)]
    if (root / "torchtitan").is_dir():
        return "torchtitan", titan_jobs(root)
    if (root / "src" / "megatron" / "bridge").is_dir():
        return "Megatron-Bridge", [f for f in files_of(root, ".sh") if ("torchrun" in text_of(f) or "model." in text_of(f)) and "conversion" not in f.name]
    if (root / "src" / "nanotron").is_dir():
        return "nanotron", [f for f in files_of(root / "examples", ".yaml") if re.search(r"^parallelism:", text_of(f), re.M)]
    if (root / "megatron" / "neox_arguments").is_dir():
        return "GPT-NeoX", [f for f in files_of(root / "configs", ".yml", ".json") if re.search(r"num[_-]layers", text_of(f))]
    if (root / "verl").is_dir():
        return "verl", [f for f in files_of(root, ".sh") if re.search(r"actor_rollout_ref\.actor|verl\.trainer", text_of(f))]
    if (root / "swift" / "megatron").is_dir():
        return "ms-swift", [f for f in files_of(root / "examples", ".sh") if re.search(r"^\s*megatron (sft|pt|rlhf)", text_of(f), re.M)]
    if (root / "slime_plugins").is_dir():
        return "slime", [f for f in files_of(root, ".sh") if "MODEL_ARGS" in text_of(f) and "train" in text_of(f)
                         and not f.is_relative_to(root / "scripts" / "models")]
    name = "Megatron-DeepSpeed" if (root / "examples_deepspeed").is_dir() else "Megatron-LM"
    scripts = [f for f in files_of(root / "examples", ".sh") if re.search(r"pretrain|train_", text_of(f)) and "--num-layers" in text_of(f)]
    scripts += [f for f in files_of(root / "examples_deepspeed", ".sh") if re.search(r"pretrain_|train", text_of(f)) and "num-layers" in text_of(f)]
    return name, scripts + [f for f in files_of(root / "tests", "model_config.yaml") if "MODEL_ARGS" in text_of(f)]


def titan_jobs(root):
    """Named configurations of the Python registries, as the command that starts each."""
    jobs = []
    for registry in sorted(root.glob("torchtitan/models/*/config_registry.py")):
        module = registry.parent.name
        for name in re.findall(r"^def (\w+)\(\) *->", text_of(registry), re.M):
            jobs.append((registry.parent / f"{name}.sh",
                         f"torchrun --nproc_per_node 8 -m torchtitan.train --module {module} --config {name}\n"))
    return jobs + [f for f in files_of(root, ".toml") if "[parallelism]" in text_of(f)]


def independent_count(framework, root, job, vocabulary):
    """Parameters by the framework's own files; nothing where they are not evaluated here."""
    try:
        settings = None
        if framework == "Primus":
            settings = primus_settings(root, job)
        elif framework == "slime":
            settings = slime_settings(root, job)
        elif framework == "nanotron":
            return nanotron_parameters(job)
        elif framework == "GPT-NeoX":
            return neox_parameters(job, vocabulary or (50277 if "20B_tokenizer" in text_of(job) else 50257))
        elif job.name == "model_config.yaml":
            settings = model_args(job)
        elif framework.startswith("Megatron"):
            settings = script_settings(text_of(job))
        if settings:
            if vocabulary:
                settings["vocab_size"] = vocabulary
            return megatron_parameters(settings)
    except (KeyError, TypeError, ValueError, OSError):
        pass
    return None


def hub_name(text):
    """The network that a script or a YAML names, by the last part of its path; variables are followed once or twice."""
    found = re.search(r"(?:actor_rollout_ref\.model\.path=|model\.partial_pretrain=|model\.path=|pretrained_model_name_or_path: |--model )"
                      r"[\"']?(\S+?)[\"']?(?:\s|$)", text)
    name = found[1] if found else ""
    for _ in range(3):
        variable = re.search(r"\$\{?(\w+)\}?$", name)
        said = variable and re.search(rf"^{variable[1]}=[\"']?(?:\$\{{{variable[1]}:-)?[\"']?([^\s\"'}}]+(?:\}}/[^\s\"'}}]+)*)", text, re.M)
        if not said:
            break
        name = said[1]
    return pathlib.Path(name.rsplit("/", 1)[-1])


def size_in_name(job):
    stem = re.sub(r"_(\d)_(\d)b", r"_\1.\2b", job.stem.lower())  # qwen3_0_6b
    sizes = re.findall(r"(?<![\w.])(?:[a-z_]*?)(\d+(?:[.p]\d+)?)([bm])(?![a-z0-9])", stem.replace("-", " ").replace("_", " "))
    if not sizes:
        return None
    number, unit = sizes[0]
    return float(number.replace("p", ".")) * (1e9 if unit == "b" else 1e6)


class Importer:
    def __init__(self, program):
        self.program = program

    def run(self, *words, stdin=None):
        return subprocess.run([self.program, *words], capture_output=True, text=True, input=stdin, check=False)

    def tries(self, job, text):
        """The outcome of an import, with what the tool asks for given to it."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "plan.yaml"
            path = job
            if text is not None:
                path = pathlib.Path(folder) / job.name
                path.write_text(text)
            given = {"cluster": "hgx-b200"}
            started = {}
            batches = 0
            for _ in range(16):
                words = [w for key, value in given.items() for w in ("--set", f"{key}={value}")]
                words += [w for key, value in started.items() for w in ("--env", f"{key}={value}")]
                done = self.run("import", str(path), "--out", str(out), *words)
                if done.returncode == 0:
                    return self.imported(out, done, given)
                said = done.stderr
                asked = re.search(r"how many GPUs\? .* are (\d+); give a multiple", said) or \
                    re.search(r"how many GPUs\? .* (\d+), are the least", said) or \
                    re.search(r"are (\d+) GPUs, which do not divide", said)
                unknown = [name for name in STARTED if re.search(rf"\b{name}\b", said) and name not in started]
                if unknown:
                    started.update({name: STARTED[name] for name in unknown})
                elif asked and "gpus" not in given:
                    given["gpus"] = max(8, int(asked[1])) if 8 % int(asked[1]) == 0 else int(asked[1])
                elif asked:
                    given["gpus"] = int(asked[1])
                elif "training.seq_length" in said and "training.seq_length" not in given:
                    given["training.seq_length"] = 4096
                elif "training.micro_batch=N" in said and "training.micro_batch" not in given:
                    given["training.micro_batch"] = 1
                elif "training.global_batch=N" in said and "training.global_batch" not in given:
                    given["training.global_batch"] = 256
                elif "model.vocab=N" in said and "model.vocab" not in given:
                    given["model.vocab"] = 32000
                elif re.search(r"experts? .*(divide|multiple)|parallel.expert", said) and given.get("gpus", 8) < 4096 and batches < 8:
                    given["gpus"] = 2 * given.get("gpus", 8)
                    batches += 1
                else:
                    break
            return {"outcome": "refused", "reason": reason_of(said), "said": first_error(said), "given": given}

    def imported(self, out, done, given):
        """The parameters of the plan's network, as `debubble model` counts them."""
        model = yaml.safe_load(out.read_text())["model"]
        if isinstance(model, dict):
            network = out.with_name("network.yaml")
            network.write_text(yaml.safe_dump(model))
            model = str(network)
        shown = self.run("model", model)
        found = re.search(r": (\d+) parameters", shown.stdout)
        if not found:
            return {"outcome": "refused", "reason": "its network is refused", "said": first_error(shown.stderr), "given": given}
        return {"outcome": "imported", "parameters": int(found[1]), "given": given, "notes": done.stderr.count("note:")}


def first_error(said):
    for line in said.splitlines():
        if "error: " in line and "what decides conditions is not known either" not in line:
            return line.split("error: ", 1)[1]
    return said.strip()[:200]


def reason_of(said):
    said = "\n".join(line for line in said.splitlines() if "what decides conditions is not known either" not in line)
    for reason, pattern in REASONS:
        if re.search(pattern, said):
            return reason
    return "other: " + first_error(said)[:60]


def judge(framework, root, job, result):
    if result["outcome"] != "imported":
        return result["reason"]
    try:
        expected = independent_count(framework, root, job, result["given"].get("model.vocab"))
    except AnotherNetwork:
        return "wrong"
    if expected:
        result["expected"] = expected
        return "right" if abs(result["parameters"] / expected - 1) < 1e-3 else "wrong"
    published = published_parameters(text_of(job) if framework == "Automodel" else str(job))
    if published:
        result["expected"] = published
        return "right" if abs(result["parameters"] / published - 1) < 0.02 else "wrong"
    size = None
    if framework in ("verl", "ms-swift", "Automodel"):
        size = size_in_name(pathlib.Path(hub_name(text_of(job)).name + ".x"))
    size = size or size_in_name(job)
    if size:
        result["expected"] = size
        return "right" if 0.66 < result["parameters"] / size < 1.5 else "wrong"
    return "unproved"


def revision(root):
    for where in (root, ):
        done = subprocess.run(["git", "-C", str(where), "log", "-1", "--format=%h %cs"], capture_output=True, text=True, check=False)
        top = subprocess.run(["git", "-C", str(where), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and pathlib.Path(top.stdout.strip() or "/").resolve() == root.resolve():
            return done.stdout.strip()
    note = root / "REVISION"
    return note.read_text().strip() if note.exists() else "not a checkout of git"


def count(root, program, chosen):
    framework, jobs = jobs_of(root)
    importer = Importer(program)
    totals = collections.Counter()
    details = []
    pairs = [job if isinstance(job, tuple) else (job, None) for job in jobs]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: importer.tries(*pair), pairs))
    for (job, _), result in zip(pairs, results):
        verdict = judge(framework, root, job, result)
        totals[verdict] += 1
        if chosen and re.search(chosen, verdict):
            details.append((job.relative_to(root), verdict, result))
    return framework, len(pairs), totals, details


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/debubble")
    parser.add_argument("--table", action="store_true", help="rows of a table of Markdown")
    parser.add_argument("--list", metavar="REASON", help="name the files whose outcome matches the pattern")
    parser.add_argument("checkouts", nargs="+", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.table:
        print("| checkout | jobs | right | unproved | wrong | refused |\n|---|---|---|---|---|---|")
    for root in arguments.checkouts:
        framework, jobs, totals, details = count(root.resolve(), arguments.program, arguments.list)
        refused = [(n, reason) for reason, n in totals.items() if reason not in ("right", "unproved", "wrong")]
        reasons = "; ".join(f"{n} {reason}" for n, reason in sorted(refused, reverse=True))
        row = [f"{framework} {revision(root)}", str(jobs), str(totals["right"]), str(totals["unproved"]), str(totals["wrong"]), reasons]
        print("| " + " | ".join(row) + " |" if arguments.table else ", ".join(
            f"{word} {cell}" for word, cell in zip(("", "jobs", "right", "unproved", "wrong", "refused:"), row)))
        for name, verdict, result in details:
            print(f"  {name}: {verdict}: {result.get('said') or ''} {result.get('parameters', '')} {result.get('expected', '')}")
    print(f"counted on {datetime.date.today()}", file=sys.stderr)


if __name__ == "__main__":
    main()
