#!/usr/bin/env python3
"""Fails if a folder includes from a folder, or a library, that it must not know, or if two
headers define the same type."""

import pathlib
import re
import sys

PLANNING = {"base", "text", "schedule", "trace", "models", "scenarios"}
CORE = "exec/core"
JOBS_SEE = {"base", "text", "schedule", "models"} | {
    f"scenarios/{room}" for room in ("cluster", "software", "plan", "read", "check")}
EVERY_JOB = {f"scenarios/jobs/{room}" for room in ("shell", "read", "write")}
DIALECTS = {  # of jobs, each with those whose words it has too
    "megatron": [], "deepspeed": [], "torchtitan": [], "colossalai": [],
    "bridge": ["megatron"],
    "primus": ["megatron", "torchtitan"],
    "automodel": ["deepspeed"],
    **{name: ["megatron", "deepspeed"] for name in ("nanotron", "neox", "swift", "verl")},
}
PRICED = PLANNING | {"sim/network", "sim/memory", "sim/engine", "sim/cost"}
PREDICTED = PLANNING | {"sim", "sim/plan", "sim/explain", "sim/run_plan"}


def rooms(all_see: set[str], *of_each: tuple[str, set[str]]) -> dict[str, set[str]]:
    return {room: all_see | others for room, others in of_each}


# By room. Who may include a room may include the rooms in it, but for those that are in it as well: inside
# exec/core, "exec/core" means the files that lie in no room of it. A name with a suffix is one file.
MAY_INCLUDE = {
    "base": set(),
    "text": {"base"},
    "schedule": {"base"},
    "trace": {"base", "text", "schedule"},
    "models": {"base", "text", "models/network", "models/graph", "models/counts", "models/read", "models/hf"},
    **rooms(
        {"base", "text"},
        ("models/network", set()),
        ("models/execution", set()),
        ("models/operators", {"models/network", "models/execution"}),
        ("models/graph", {"models/network", "models/execution", "models/operators"}),
        ("models/build", {"models/network", "models/execution", "models/graph"}),
        ("models/build/attention", {"models/execution", "models/build"}),
        ("models/build/experts", {"models/execution", "models/build"}),
        ("models/build/recurrent", {"models/execution", "models/build"}),
        ("models/counts", {"models/network", "models/graph", "models/build"}),
        ("models/memory", {"models/graph"}),
        ("models/partition", {"models/network", "models/graph"}),
        ("models/read", {"models/network"}),
        ("models/hf", {"models/network", "models/graph", "models/counts", "models/read"}),
    ),
    **rooms(
        {"base", "text", "schedule", "models"},
        ("scenarios/cluster", set()),
        ("scenarios/software", set()),
        ("scenarios/plan", {"scenarios/cluster", "scenarios/software"}),
        ("scenarios/read", {"scenarios/cluster", "scenarios/software", "scenarios/plan"}),
        ("scenarios/check", {"scenarios/plan", "scenarios/read"}),
    ),
    **rooms(
        JOBS_SEE,
        ("scenarios/jobs/shell", set()),
        ("scenarios/jobs/read", {"scenarios/jobs/shell"}),
        ("scenarios/jobs/write", {"scenarios/jobs/read"}),
        *((f"scenarios/jobs/{name}", EVERY_JOB | {f"scenarios/jobs/{other}" for other in others})
          for name, others in DIALECTS.items()),
        ("scenarios/jobs", EVERY_JOB),  # whose readers and writers it finds in their tables
    ),
    "sim/network": PLANNING,
    "sim/memory": PLANNING,
    "sim/run_plan": {"base"},
    "sim/engine": PLANNING | {"sim/network", "sim/memory"},
    "sim/cost": PRICED | {"sim/cost/kernels", "sim/cost/passes"},
    "sim/cost/kernels": PLANNING | {"sim/memory"},
    "sim/cost/passes": PLANNING | {"sim/network", "sim/memory", "sim/engine", "sim/cost/kernels"},
    "sim/uneven": PRICED,
    "sim/plan": PRICED | {"sim/uneven", "sim/run_plan"},
    "sim/explain": PRICED | {"sim/uneven", "sim/run_plan", "sim/plan"},
    "sim": PRICED | {"sim/uneven", "sim/plan", "sim/explain"},
    "sim/report": PREDICTED | {"sim/network", "sim/engine", "sim/memory"},
    "sim/grid": PREDICTED,
    "sim/anchor": PREDICTED | {"sim/grid", "sim/report/plan_json.h"},
    "sim/measured": PREDICTED | {"sim/grid", "sim/network", "sim/cost"},
    "sim/commands": PREDICTED
    | {"scenarios/jobs", "sim/memory", "sim/report", "sim/grid", "sim/measured", "sim/anchor"},
    CORE: PLANNING,
    f"{CORE}/communicator": PLANNING | {CORE},
    f"{CORE}/pieces": PLANNING | {CORE},
    f"{CORE}/stage": PLANNING | {CORE, f"{CORE}/communicator"},
    f"{CORE}/training": PLANNING
    | {CORE, f"{CORE}/communicator", f"{CORE}/pieces", f"{CORE}/stage"},
    f"{CORE}/interpreter": PLANNING | {CORE, f"{CORE}/communicator", f"{CORE}/stage"},
    f"{CORE}/rank": PLANNING
    | {CORE, f"{CORE}/communicator", f"{CORE}/stage", f"{CORE}/training", f"{CORE}/interpreter"},
    "exec/cpu": PLANNING | {CORE},
    "exec/comm": PLANNING | {CORE},
    "exec/cuda": PLANNING | {CORE},
    "exec/cuda/nccl": PLANNING | {CORE, "exec/cuda", "exec/comm"},
    "exec/io": PLANNING | {CORE},
    "exec/program": PLANNING
    | {CORE, "exec/cpu", "exec/comm", "exec/cuda", "exec/io", "sim/predict.h", "sim/report/plan_json.h",
       "sim/engine/replay_measured.h"},
    "exec/program/commands": PLANNING | {"exec/program", "exec/cpu", "exec/cuda", "exec/io"},
    "python/native": PLANNING
    | {"scenarios/jobs", "sim", "sim/report", "sim/grid", "sim/anchor", "sim/commands/cost_units.h",
       "sim/commands/plan_pages.h"},
    "gui/viewmodel": PLANNING | {"scenarios/jobs", "sim"},
    "gui/widgets": {"gui/viewmodel"} | PLANNING | {"sim"},
}
COMPOSES = {  # files of no room's own: they put a program together from these
    "gui/main.cpp": {"gui/viewmodel", "gui/widgets", "base"},
    "sim/main.cpp": PLANNING | {"sim"},
    "exec/main.cpp": PLANNING | {"exec"},
}
FOREIGN = {  # libraries, and the only folders that may see their headers
    re.compile(r"<(Q[A-Z]|qt)"): {"gui/widgets"},
    re.compile(r"<gif_lib"): {"gui/widgets"},
    re.compile(r"<yaml-cpp/"): {"text"},
    re.compile(r"<toml\+\+/"): {"scenarios/jobs"},
    re.compile(r"<(cuda|nccl|cublas|cudnn)"): {"exec/cuda"},
    re.compile(r"<(dnnl|oneapi/dnnl)"): {"exec/cpu"},
    re.compile(r"<mpi\.h"): {"exec/comm"},
    re.compile(r"<simgrid/"): set(),
}
READERS = re.compile(r"yaml|reader")  # files that may include yaml-cpp


def folder_of(path: str) -> str | None:
    return max((f for f in MAY_INCLUDE if path.startswith(f + "/")), key=len, default=None)


def opens(allowed: str, there: str, here: str | None) -> bool:
    if there == allowed:
        return True
    return there.startswith(allowed + "/") and not (here or "").startswith(allowed + "/")


def complaints_of(name: str, text: str):
    composes = COMPOSES.get(name)
    here = None if composes else folder_of(name)
    may_include = composes or MAY_INCLUDE.get(here)
    if may_include is None:
        rooms = ", ".join(r for r in MAY_INCLUDE if r.startswith(name.split("/")[0] + "/"))
        yield f"{name}: belongs into one of {rooms}"
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#include"):
            continue
        for pattern, allowed in FOREIGN.items():
            if pattern.search(line) and not any(name.startswith(f + "/") for f in allowed):
                yield f"{name}:{number}: {here or name} must not include {line.split()[1]}"
        if "<yaml-cpp/" in line and not READERS.search(pathlib.PurePath(name).name):
            yield f"{name}:{number}: only readers may include yaml-cpp"
        if quoted := re.search(r'#include\s*"([^"]+)"', line):
            there = folder_of(quoted[1])
            if there in {None, here} or quoted[1] in may_include:
                continue
            if not any(opens(allowed, there, here) for allowed in may_include):
                yield f"{name}:{number}: {here or name} must not include {there}"


def unit_of(path: str) -> str:
    return str(pathlib.PurePosixPath(path).with_suffix(""))


def circles(texts: dict[str, str]) -> list[set[str]]:
    """Sets of files that reach each other by what they include (Tarjan 1972)."""
    known = {unit_of(name) for name in texts}
    reaches = {unit: set() for unit in known}
    for name, text in texts.items():
        for included in re.findall(r'#include\s*"([^"]+)"', text):
            if unit_of(included) in known - {unit_of(name)}:
                reaches[unit_of(name)].add(unit_of(included))
    number, low, stack, found = {}, {}, [], []

    def visit(unit):
        number[unit] = low[unit] = len(number)
        stack.append(unit)
        for other in sorted(reaches[unit]):
            if other not in number:
                visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == number[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10 * len(known) + 1000)
    for unit in sorted(known):
        if unit not in number:
            visit(unit)
    return found


def mutual_complaints(texts: dict[str, str]):
    for circle in circles(texts):
        yield f"{', '.join(sorted(circle))}: include each other"


DEFINITION = re.compile(r"^(?:struct|class|enum class) ([A-Z]\w+)\b[^;]*{", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) {", re.MULTILINE)


def defined_twice(headers: dict[str, str]):
    """Two types of one name are one type to the linker, which takes either."""
    first = {}
    for name, text in headers.items():
        namespace = NAMESPACE.search(text)
        for type_name in DEFINITION.findall(text):
            full = f"{namespace[1] if namespace else ''}::{type_name}"
            if first.setdefault(full, name) != name:
                yield f"{name}: {full} is defined in {first[full]} too"


def self_check():
    """A check that cannot fail proves nothing."""
    assert list(complaints_of("schedule/a.cpp", '#include "trace/trace.h"'))
    assert list(complaints_of("exec/core/a.cpp", '#include "sim/predict.h"'))
    assert not list(complaints_of("exec/program/a.cpp", '#include "sim/predict.h"'))
    assert list(complaints_of("exec/program/a.cpp", '#include "sim/plan/plan_bound.h"'))
    assert list(complaints_of("exec/program/a.cpp", '#include "sim/engine/simulate.h"'))
    assert list(complaints_of("sim/a.cpp", '#include "exec/program/run/prepare_run.h"'))
    assert list(complaints_of("exec/a.cpp", ""))
    assert list(complaints_of("exec/core/a.h", '#include "exec/core/stage/passes/model_stage.h"'))
    assert not list(complaints_of("exec/cpu/a.h", '#include "exec/core/stage/passes/model_stage.h"'))
    assert list(complaints_of("sim/network/a.h", '#include "sim/engine/simulate.h"'))
    assert list(complaints_of("sim/memory/a.h", '#include "sim/predict.h"'))
    assert not list(complaints_of("sim/main.cpp", '#include "sim/commands/commands.h"'))
    assert list(complaints_of("gui/viewmodel/a.h", "#include <QWidget>"))
    assert list(complaints_of("gui/widgets/a.cpp", '#include "exec/core/kernels.h"'))
    assert list(complaints_of("gui/main.cpp", '#include "exec/core/kernels.h"'))
    assert list(complaints_of("gui/main.cpp", "#include <QApplication>"))
    assert list(complaints_of("gui/other.cpp", ""))
    assert not list(complaints_of("gui/main.cpp", '#include "gui/widgets/window.h"'))
    assert list(complaints_of("sim/a.cpp", "#include <yaml-cpp/yaml.h>"))
    assert not list(complaints_of("sim/a.cpp", '#include "trace/trace.h"'))
    header = "namespace debubble {\nstruct Place {\n};\n}"
    both = {"base/a.h": '#include "base/b.h"', "base/b.cpp": '#include "base/a.h"'}
    assert circles(both) == [{"base/a", "base/b"}]
    assert list(mutual_complaints(both))
    assert not circles({"base/a.cpp": '#include "base/a.h"', "base/a.h": ""})
    assert list(defined_twice({"base/a.h": header, "base/b.h": header}))


def main(root: pathlib.Path) -> int:
    self_check()
    found, seen, headers, texts = [], 0, {}, {}
    for folder in sorted({f.split("/")[0] for f in MAY_INCLUDE}):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".h", ".cpp", ".cu"}:
                seen += 1
                name, text = file.relative_to(root).as_posix(), file.read_text()
                found += complaints_of(name, text)
                texts[name] = text
                if file.suffix == ".h":
                    headers[name] = text
    found += defined_twice(headers)
    found += mutual_complaints(texts)
    print("\n".join(found) or f"{seen} files keep to the arrows")
    return bool(found) or seen == 0


sys.exit(main(pathlib.Path(sys.argv[1])))
