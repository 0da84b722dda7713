#!/usr/bin/env python3
"""Fails if a folder includes from a folder, or a library, that it must not know, or if two
headers define the same type."""

import pathlib
import re
import sys

MODELLING = {"base", "schedule", "models", "scenarios"}
MAY_INCLUDE = {
    "base": set(),
    "schedule": {"base"},
    "models": {"base"},
    "scenarios": {"base", "schedule", "models"},
    "sim": MODELLING,
    "exec": MODELLING,
    "gui/viewmodel": MODELLING | {"sim"},
    "gui/widgets": {"gui/viewmodel"} | MODELLING | {"sim"},
}
COMPOSES = {  # files of no folder's own: they put a program together from these
    "gui/main.cpp": {"gui/viewmodel", "gui/widgets", "base"},
}
FOREIGN = {  # libraries, and the only folders that may see their headers
    re.compile(r"<(Q[A-Z]|qt)"): {"gui/widgets"},
    re.compile(r"<yaml-cpp/"): {"base", "models", "scenarios"},
    re.compile(r"<(cuda|nccl|cublas|cudnn)"): {"exec/cuda"},
    re.compile(r"<(dnnl|oneapi/dnnl)"): {"exec/cpu"},
    re.compile(r"<mpi\.h"): {"exec/comm"},
    re.compile(r"<simgrid/"): set(),
}
READERS = re.compile(r"yaml|reader")  # files that may include yaml-cpp


def folder_of(path: str) -> str | None:
    return max((f for f in MAY_INCLUDE if path.startswith(f + "/")), key=len, default=None)


def complaints_of(name: str, text: str):
    here = folder_of(name)
    may_include = COMPOSES.get(name) or MAY_INCLUDE.get(here)
    if may_include is None:
        if name.startswith("gui/"):
            yield f"{name}: belongs into gui/viewmodel or gui/widgets"
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#include"):
            continue
        for pattern, allowed in FOREIGN.items():
            if pattern.search(line) and not any(name.startswith(f + "/") for f in allowed):
                yield f"{name}:{number}: {here or name} must not include {line.split()[1]}"
        if "<yaml-cpp/" in line and not READERS.search(pathlib.PurePath(name).name):
            yield f"{name}:{number}: yaml-cpp stays behind the readers"
        if quoted := re.search(r'#include\s*"([^"]+)"', line):
            there = folder_of(quoted[1])
            if there and there != here and there not in may_include:
                yield f"{name}:{number}: {here or name} must not include {there}"


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
    assert list(complaints_of("schedule/a.cpp", '#include "sim/simulate.h"'))
    assert list(complaints_of("exec/a.cpp", '#include "sim/simulate.h"'))
    assert list(complaints_of("gui/viewmodel/a.h", "#include <QWidget>"))
    assert list(complaints_of("gui/widgets/a.cpp", '#include "exec/kernels.h"'))
    assert list(complaints_of("gui/main.cpp", '#include "exec/kernels.h"'))
    assert list(complaints_of("gui/main.cpp", "#include <QApplication>"))
    assert list(complaints_of("gui/other.cpp", ""))
    assert not list(complaints_of("gui/main.cpp", '#include "gui/widgets/window.h"'))
    assert list(complaints_of("sim/a.cpp", "#include <yaml-cpp/yaml.h>"))
    assert not list(complaints_of("sim/a.cpp", '#include "schedule/trace.h"'))
    header = "namespace debubble {\nstruct Place {\n};\n}"
    assert list(defined_twice({"base/a.h": header, "base/b.h": header}))


def main(root: pathlib.Path) -> int:
    self_check()
    found, seen, headers = [], 0, {}
    for folder in sorted({f.split("/")[0] for f in MAY_INCLUDE}):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".h", ".cpp", ".cu"}:
                seen += 1
                name, text = file.relative_to(root).as_posix(), file.read_text()
                found += complaints_of(name, text)
                if file.suffix == ".h":
                    headers[name] = text
    found += defined_twice(headers)
    print("\n".join(found) or f"{seen} files keep to the arrows")
    return bool(found) or seen == 0


sys.exit(main(pathlib.Path(sys.argv[1])))
