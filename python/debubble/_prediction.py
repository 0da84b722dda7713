"""What a plan takes and holds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ._native import Answer, call
from ._table import Table

_names: dict[str, list[str]] = {}


def names() -> dict[str, list[str]]:
    """The names that are shipped (`scenarios`, `models`, `clusters`, `frameworks`, `schedules`, `job_formats`), and the
    words of tables."""
    if not _names:
        _names.update(call("names", {}).json)
    return _names


def timeline_of(answer: Answer) -> Table:
    """A row for each action of each rank; a pair of passes that run at once is two rows of equal times. Times are
    nanoseconds from the step's begin; `stage`, `microbatch` and `slice` are -1 where an action has none."""
    words = names()

    def word(column: str, of: Sequence[str]) -> list[str]:
        return [of[i] if i >= 0 else "" for i in answer.column(f"timeline.{column}")]

    return Table(
        {
            "rank": answer.column("timeline.rank"),
            "replica": answer.column("timeline.replica"),
            "lane": word("lane", words["lanes"]),
            "action": word("action", words["actions"]),
            "stage": answer.column("timeline.stage"),
            "pass": word("pass", words["passes"]),
            "microbatch": answer.column("timeline.micro_batch"),
            "slice": answer.column("timeline.slice"),
            "begin_ns": answer.column("timeline.begin"),
            "end_ns": answer.column("timeline.end"),
            "exposed_ns": answer.column("timeline.exposed"),
            "bytes": answer.column("timeline.bytes"),
        }
    )


@dataclass(frozen=True)
class Rank:
    """A pipeline rank, of the worst replica; seconds and bytes. busy + exposed + optimizer + idle is the step."""

    rank: int
    stages: tuple[int, ...]
    busy: float
    exposed: float
    optimizer: float
    idle: float
    peak_memory: int
    reserved_memory: int
    peak_at: str
    raw: Mapping[str, Any]


class Prediction:
    """What `simulate` answers: seconds as float, bytes as int, shares from 0 to 1. `raw` is the JSON of the command line
    (docs/reference/json.md)."""

    def __init__(self, answer: Answer, request: Mapping[str, Any], raw: Mapping[str, Any] | None = None) -> None:
        self.raw: Mapping[str, Any] = answer.json if raw is None else raw
        self._request = dict(request)
        self._traced = answer if request.get("trace") else None

    @property
    def request(self) -> Mapping[str, Any]:
        """Which plan it is, as the library is asked."""
        return self._request

    @property
    def scenario(self) -> str:
        return str(self.raw["scenario"])

    @property
    def step_time(self) -> float:
        """Seconds of a training step."""
        return float(self.raw["step_time_s"])

    @property
    def tokens_per_s(self) -> float:
        """Of the whole job."""
        return float(self.raw["tokens_per_s"])

    @property
    def mfu(self) -> float | None:
        """Model FLOPs over the GPUs' peak; None where the peak of the type is not known."""
        value = self.raw["mfu"]
        return None if value is None else float(value)

    @property
    def bubble(self) -> float:
        return float(self.raw["bubble"])

    @property
    def fits(self) -> bool:
        return bool(self.raw["fits"])

    @property
    def reason(self) -> str:
        """Why it does not fit; empty where it does."""
        return str(self.raw.get("reason") or "")

    @property
    def peak_memory(self) -> int:
        """Bytes of the fullest rank: what its allocator reserves."""
        return max(max(rank.peak_memory, rank.reserved_memory) for rank in self.ranks)

    @property
    def parameters(self) -> int:
        return int(self.raw["parameters"])

    @property
    def ranks(self) -> list[Rank]:
        return [
            Rank(
                rank=int(row["rank"]),
                stages=tuple(row["stage_ids"]),
                busy=float(row["busy_s"]),
                exposed=float(row["exposed_comm_s"]),
                optimizer=float(row["optimizer_s"]),
                idle=float(row["idle_s"]),
                peak_memory=int(row["peak_memory_bytes"]),
                reserved_memory=int(row.get("reserved_memory_bytes") or 0),
                peak_at=str(row["peak_op"]),
                raw=row,
            )
            for row in self.raw["ranks"]
        ]

    def _trace(self) -> Answer:
        if self._traced is None:
            self._traced = call("simulate", {**self._request, "trace": True})
        return self._traced

    def timeline(self) -> Table:
        """The step action by action; a plan that was predicted without it is played again."""
        return timeline_of(self._trace())

    def memory(self, rank: int = 0) -> Table:
        """Bytes of a rank by class over time: a row whenever one of them changes, each class as it stands then."""
        answer = self._trace()
        classes = names()["memory_classes"]
        held = dict.fromkeys(classes, 0)
        columns: dict[str, list[int]] = {"at_ns": [], **{name: [] for name in classes}}
        ranks, times = answer.column("memory.rank"), answer.column("memory.at")
        kinds, sizes = answer.column("memory.class"), answer.column("memory.bytes")
        for of, at, kind, size in zip(ranks, times, kinds, sizes):
            if of != rank:
                continue
            held[classes[kind]] = size
            if columns["at_ns"] and columns["at_ns"][-1] == at:
                for name in classes:
                    columns[name][-1] = held[name]
                continue
            columns["at_ns"].append(at)
            for name in classes:
                columns[name].append(held[name])
        return Table(columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a page (.html), a picture (.svg), a table of actions (.csv) or a trace (.json, for Perfetto and read_trace)."""
        call("save", {**self._request, "file_to_write": os.fspath(path)})

    def __repr__(self) -> str:
        fits = "fits" if self.fits else "does not fit"
        return f"<Prediction of {self.scenario}: step {self.step_time:.6g} s, {self.tokens_per_s:,.0f} tokens/s, {fits}>"

    def _repr_html_(self) -> str:
        """The page of `simulate --html` in a frame: a timeline to zoom, to ask and to play."""
        page = call("save", self._request).json["page"]
        return f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" style="width: 100%; height: 640px; border: 0"></iframe>'
