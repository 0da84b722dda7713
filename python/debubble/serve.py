"""debubble for agents and editors: the Model Context Protocol over standard input and output.

    debubble serve

Every tool is state-free: it reads names, files and texts, and writes nothing. Needs the protocol's library: pip install
'debubble[serve]'.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import debubble as db

from ._native import call

MOST_ROWS = 50  #: of an answer
DEADLINE_S = 120.0  #: of a sweep or a search

_T = TypeVar("_T")
Grid = Mapping[str, Sequence[Any]]
Keys = Mapping[str, Any]


def _deadline(seconds: float = DEADLINE_S) -> Callable[[int, int], bool]:
    """A progress that stops a call at its deadline."""
    end = time.monotonic() + seconds
    return lambda done, total: time.monotonic() < end


def _in_time(work: Callable[[], _T], seconds: float = DEADLINE_S) -> _T:
    """A call that has no progress, with a deadline: what comes too late is thrown away."""
    kept: list[_T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            kept.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not kept:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return kept[0]


def _short(prediction: db.Prediction) -> dict[str, Any]:
    """The figures of a prediction without its lists."""
    left_out = {"provenance", "ranks", "notes"}
    short = {key: value for key, value in prediction.raw.items() if key not in left_out}
    short["notes"] = list(prediction.raw["notes"])[:10]
    short["ranks"] = [rank.raw for rank in prediction.ranks[:16]]
    short["ranks_in_all"] = len(prediction.ranks)
    return short


def simulate(scenario: str, set: Keys | None = None, bill: bool = False) -> dict[str, Any]:
    """Predict a training step: time, tokens/s, MFU, bubbles, memory of every rank, whether it fits. `scenario` is the name of a
    shipped scenario (tool `names`), a path, or the YAML text of one; `set` changes keys, as {"parallel.tensor": 4}. `bill` adds
    what the step is paid for, and the step if each part were free."""
    return _short(_in_time(lambda: db.simulate(scenario, trace=True, bill=bill, **dict(set or {}))))


def sweep(scenario: str, grid: Grid | None = None, set: Keys | None = None) -> dict[str, Any]:
    """Predict every plan of a grid, {"parallel.tensor": [1, 2, 4], "schedule": ["1f1b", "zb-h1"]}, or of the scenario's own
    `sweep`; answers with the fastest that fit."""
    table = db.sweep(scenario, grid, progress=_deadline(), **dict(set or {}))
    rows = table.to_dicts()
    fitting = sorted((row for row in rows if row["fits"]), key=lambda row: -row["tokens_per_s"])
    reasons = sorted({row["reason"] for row in rows if row["reason"]})
    return {"points": len(rows), "fit": len(fitting), "best": fitting[:MOST_ROWS], "reasons": reasons[:MOST_ROWS]}


def search(scenario: str, grid: Grid | None = None, objective: str = "tokens_per_s", set: Keys | None = None) -> dict[str, Any]:
    """The best plan of a grid that fits, by tokens_per_s, mfu, step_time or peak_memory, and those that cannot be told from it
    by a prediction."""
    found = db.search(scenario, grid, objective=objective, progress=_deadline(), **dict(set or {}))
    counts = ("points", "predicted", "too_big", "too_slow", "impossible", "lacking")
    said: dict[str, Any] = {name: found.raw[name] for name in counts}
    said["point"] = dict(found.point)
    said["prediction"] = None if found.best is None else _short(found.best)
    said["worth_measuring"] = found.worth_measuring.to_dicts()[:MOST_ROWS]
    return said


def explain_key(key: str) -> dict[str, Any]:
    """What a key of a scenario, a cluster or a framework means: its forms, range, default and an example."""
    return call("explain", {"key": key}).json


def import_job(job: str, set: Keys | None = None) -> dict[str, Any]:
    """Read a launch script or a configuration of Megatron-LM, torchtitan, DeepSpeed, Primus and others into a scenario. `set`
    gives what a job does not know: {"cluster": "hgx-h100", "gpus": 64}."""
    read = db.import_job(job, **dict(set or {}))
    return {"scenario": read.text, "format": read.format, "notes": read.notes[:MOST_ROWS]}


def compare(a: str, b: str, set_a: Keys | None = None, set_b: Keys | None = None) -> dict[str, Any]:
    """Two plans part by part: the step, what its ranks compute, communicate and wait, rates and memory."""
    first = _in_time(lambda: db.simulate(a, **dict(set_a or {})))
    second = _in_time(lambda: db.simulate(b, **dict(set_b or {})))
    return {"figures": db.compare(first, second).to_dicts()}


def model(name: str) -> dict[str, Any]:
    """Parameters of a network, all and active, and its kinds of layers: a name of the zoo, or a config.json."""
    raw = dict(db.model(name).raw)
    raw.pop("stages")
    return raw


def names() -> dict[str, list[str]]:
    """The shipped scenarios, models, clusters, frameworks and schedules."""
    return {key: value for key, value in db.names().items() if key not in ("lanes", "passes", "actions", "memory_classes")}


TOOLS: tuple[Callable[..., dict[str, Any]], ...] = (simulate, sweep, search, explain_key, import_job, compare, model, names)


def _said_as(error: type[Exception], tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The tool, whose mistakes reach the caller in debubble's words."""

    @functools.wraps(tool)
    def call_tool(*arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return tool(*arguments, **named)
        except (db.Error, TimeoutError) as raised:
            raise error(str(raised) or type(raised).__name__) from raised

    return call_tool


def main() -> int:
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        print("debubble serve needs the library of the Model Context Protocol: pip install 'debubble[serve]'", file=sys.stderr)
        return 3
    server = MCPServer("debubble", instructions="Plans and predicts the pipeline-parallel training of large transformers.")
    for tool in TOOLS:
        server.tool()(_said_as(ToolError, tool))
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
