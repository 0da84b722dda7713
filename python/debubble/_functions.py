"""The verbs."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _scenario
from ._native import Answer, Progress, call
from ._prediction import Prediction, timeline_of
from ._scenario import Scenario
from ._table import Table


def _anchors(anchor: str | Iterable[str] | None) -> list[str]:
    if anchor is None:
        return []
    return [anchor] if isinstance(anchor, str) else list(anchor)


def simulate(
    scenario: Scenario,
    *,
    trace: bool = False,
    bill: bool = False,
    quick: bool = False,
    anchor: str | Iterable[str] | None = None,
    **keys: Any,
) -> Prediction:
    """Predicts a training step.

    `scenario` is the name of a shipped one, a path, a dictionary, or YAML text. `keys` are keys of a scenario that are set on
    top of it: parallel={"tensor": 4}, schedule="zb-v". `trace` keeps the timeline, `bill` says what the step is paid for in
    `raw["bill"]`, `quick` leaves out notes, range and sources, and the allocator's play where it decides nothing (for loops over
    many plans), `anchor` is a measured step (a file, or a line of a log) whose correction is in `raw["anchored"]`.
    Raises InputError with every mistake, and for a plan that is impossible.
    """
    request = _scenario.plan(scenario, keys)
    if trace:
        request["trace"] = True
    if bill:
        request["bill"] = True
    if quick:
        request["quick"] = True
    if anchor is not None:
        request["anchors"] = _anchors(anchor)
    return Prediction(call("simulate", request), request)


_WORDS = {"schema", "pareto", "reason", "twin_of", "unvalidated", "plan", "memory_verdict", "schedule_hash"}


def _value(column: str, text: str | None) -> Any:
    """A field of results.csv as Python has it."""
    if text is None:
        return None
    if column in _WORDS:
        return text
    try:
        return json.loads(text)  # numbers, flags and quoted words; others are words as they are
    except ValueError:
        return text


def _rows(rows: Sequence[Mapping[str, str | None]], columns: Sequence[str]) -> Table:
    return Table({name: [_value(name, row[name]) for row in rows] for name in columns if name != "schema"})


def sweep(
    scenario: Scenario,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 0,
    any_schedule: bool = False,
    anchor: str | Iterable[str] | None = None,
    progress: bool | Progress = False,
    **keys: Any,
) -> Table:
    """Predicts every plan of a grid, {"parallel.tensor": [2, 4, 8]}, or the scenario's own `sweep`.

    With `out`, a CSV file, rows are kept as they are done, and the same call continues from there. `jobs` threads compute
    (0: all cores), and none holds the interpreter's lock. `progress` is True for a line on standard error, or called with the
    points that are done and all; where it returns False the sweep stops (Stopped), and goes on from `out` next time. `anchor`
    is a measured step of the scenario's own plan, or of a file's, by which every plan is corrected (as in simulate). The
    table has a row a point: its keys, figures in seconds and bytes, `fits`, `pareto`, and the `reason` where it has none.
    """
    request = _scenario.plan(scenario, keys)
    request.update({"jobs": jobs, "any_schedule": any_schedule, "anchors": _anchors(anchor)})
    if grid is not None:
        request["sweep"] = {key: list(values) for key, values in grid.items()}
    with tempfile.TemporaryDirectory() as folder:
        request["out"] = os.fspath(out) if out is not None else str(pathlib.Path(folder) / "results.csv")
        answer = call("sweep", request, _told(progress))
    return _rows(answer.json["rows"], answer.json["columns"])


def _told(progress: bool | Progress) -> Progress | None:
    if progress is False:
        return None
    if progress is not True:
        return progress

    def line(done: int, total: int) -> bool:
        import sys

        print(f"\r{done} of {total} points", end="\n" if done == total else "", file=sys.stderr, flush=True)
        return True

    return line


@dataclass(frozen=True)
class Found:
    """The best plan of a grid, or None, the plans that were played and fit, best first, and those of them that are worth
    measuring: a prediction cannot tell them from the best."""

    best: Prediction | None
    point: Mapping[str, Any]
    played: Table
    worth_measuring: Table
    raw: Mapping[str, Any]


def search(
    scenario: Scenario,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    objective: str = "tokens_per_s",
    jobs: int = 0,
    any_schedule: bool = False,
    anchor: str | Iterable[str] | None = None,
    progress: bool | Progress = False,
    **keys: Any,
) -> Found:
    """The best plan of a grid that fits, by tokens_per_s, mfu, step_time or peak_memory: that of a whole sweep, though plans
    that cannot win are not played. Without a grid, and a scenario that has none, it is made of what the network and the machine
    allow, and `keys` stay as they are."""
    request = _scenario.plan(scenario, keys)
    request.update({"jobs": jobs, "any_schedule": any_schedule, "anchors": _anchors(anchor), "objective": objective})
    if grid is not None:
        request["sweep"] = {key: list(values) for key, values in grid.items()}
    answer = call("search", request, _told(progress))
    raw = answer.json
    point = {key: _value(key, text) for key, text in raw.get("point", {}).items()}
    best = None
    if "prediction" in raw:
        of_best = {**_scenario.plan(scenario, keys), "trace": True}
        of_best["set"] = {**of_best["set"], **raw["point"]}
        best = Prediction(answer, of_best, raw["prediction"])
    columns = list(raw["rows"][0]) if raw["rows"] else list(raw["keys"])
    return Found(best, point, _rows(raw["rows"], columns), _rows(raw["worth_measuring"], columns), raw)


_PARTS = ("busy_s", "exposed_comm_s", "optimizer_s", "idle_s")


def compare(a: Prediction, b: Prediction) -> Table:
    """Two plans part by part: the step, its parts in the mean of the ranks, rates and memory, with the difference and the
    ratio of the second to the first."""

    def figures(p: Prediction) -> dict[str, float]:
        ranks = p.raw["ranks"]
        of = {"step_time_s": p.step_time}
        of.update({part: sum(row[part] for row in ranks) / len(ranks) for part in _PARTS})
        of.update({"tokens_per_s": p.tokens_per_s, "bubble": p.bubble, "peak_memory_bytes": float(p.peak_memory)})
        if p.mfu is not None:
            of["mfu"] = p.mfu
        return of

    first, second = figures(a), figures(b)
    names = [name for name in first if name in second]
    return Table(
        {
            "figure": names,
            "a": [first[name] for name in names],
            "b": [second[name] for name in names],
            "difference": [second[name] - first[name] for name in names],
            "ratio": [second[name] / first[name] if first[name] else None for name in names],
        }
    )


@dataclass(frozen=True)
class Model:
    """The parameters, work and memory of a network; `raw` is the JSON of `debubble model`."""

    raw: Mapping[str, Any]

    @property
    def parameters(self) -> int:
        return int(self.raw["parameters"])

    @property
    def active_parameters(self) -> int:
        return int(self.raw["active_parameters"])

    def layers(self) -> Table:
        rows = [{"stage": stage["stage"], **row} for stage in self.raw["stages"] for row in stage["layers"]]
        return Table({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    def __repr__(self) -> str:
        return f"<Model {self.raw['model']}: {self.parameters:,} parameters, {self.active_parameters:,} active>"

    def _repr_html_(self) -> str:
        return self.layers()._repr_html_()


def model(name: str | os.PathLike[str], **how: int) -> Model:
    """A network of the zoo, of a YAML file, of a config.json or of the folder that holds one. `how`: stages, tensor,
    micro_batch, seq_length."""
    return Model(call("model", {"model": os.fspath(name), **how}).json)


@dataclass(frozen=True)
class Job:
    """A job of another framework as a scenario."""

    text: str
    format: str
    notes: list[str]


def import_job(
    job: str | os.PathLike[str],
    *,
    framework: str = "",
    allow: Sequence[str] = (),
    environment: Sequence[str] = (),
    arguments: Sequence[str] = (),
    **keys: Any,
) -> Job:
    """Reads a launch script or a configuration of another framework; nothing in it is executed. `keys` are what it does not
    know: cluster="hgx-h100", gpus=64."""
    answer = call(
        "import_job",
        {
            "job": os.fspath(job),
            "from": framework,
            "allow": list(allow),
            "environment": list(environment),
            "arguments": list(arguments),
            "set": _scenario.overrides(keys),
        },
    )
    return Job(answer.json["text"], answer.json["format"], list(answer.json["notes"]))


class Profile:
    """A run that a profiler recorded, as its median step; `raw` is the JSON of `debubble trace`."""

    def __init__(self, answer: Answer) -> None:
        self.raw: Mapping[str, Any] = answer.json
        self._answer = answer

    def timeline(self) -> Table:
        return timeline_of(self._answer)


def read_trace(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], scenario: Scenario | None = None, **keys: Any
) -> Profile:
    """Reads Kineto's files, a rank each or the folder of them, Nsight Systems' databases, or a trace of our own. `scenario`
    names the passes of a plan that is known."""
    several = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    request: dict[str, Any] = {"files": [os.fspath(file) for file in several]}
    if scenario is not None:
        request.update(_scenario.plan(scenario, keys))
    return Profile(call("read_trace", request))


@dataclass(frozen=True)
class Schedule:
    """An order of passes: `csv` as PyTorch's pipelining reads it, `placement` the stages of each rank, a row a rank, `svg` its
    picture, `replay` its figures by the costs."""

    name: str
    csv: str
    text: str
    svg: str
    placement: str
    replay: Mapping[str, Any]

    @property
    def bubble(self) -> float:
        return float(self.replay["bubble"])

    def rows(self) -> list[list[str]]:
        """The cells of the CSV, a row a rank."""
        return list(csv.reader(self.csv.splitlines()))

    def _repr_html_(self) -> str:
        return self.svg


def schedule(
    name: str,
    *,
    ranks: int,
    micro_batches: int | None = None,
    stages_per_rank: int | None = None,
    slices: int = 1,
    costs: Sequence[float] = (1, 1, 1, 0),
    **options: Any,
) -> Schedule:
    """An order by its generator. `costs` are those of a stage's forward, backward-input, backward-weight and of a link;
    `options` are the generator's own (`debubble schedule --list`)."""
    request: dict[str, Any] = {
        "name": name,
        "ranks": ranks,
        "micro_batches": 2 * ranks if micro_batches is None else micro_batches,
        "slices": slices,
        "costs": ",".join(repr(cost) for cost in costs),
        "options": {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()},
    }
    if stages_per_rank is not None:
        request["stages_per_rank"] = stages_per_rank
    said = call("schedule", request).json
    return Schedule(said["name"], said["csv"], said["text"], said["svg"], said["placement"], said["replay"])


@dataclass(frozen=True)
class Verdict:
    """Whether an order finishes: `violations` of its dependencies, and by transport what hangs or brings wrong data."""

    valid: bool
    violations: list[Mapping[str, Any]]
    transports: Mapping[str, list[Mapping[str, Any]]]

    def __bool__(self) -> bool:
        return self.valid


def validate(order: str | Schedule, placement: str = "") -> Verdict:
    """Checks an order: a Schedule, the text of PyTorch's CSV, or the path of such a file."""
    text = order.csv if isinstance(order, Schedule) else order
    file = "order"
    if "\n" not in text and "," not in text:
        file, text = text, pathlib.Path(text).read_text(encoding="utf-8")
    request = {"csv": text, "file": file, "placement": placement}
    if isinstance(order, Schedule) and not placement:
        request["placement"] = order.placement
    said = call("validate", request).json
    return Verdict(said["valid"], said["violations"], said["transports"])
