"""Orders as torch.distributed.pipelining executes them. PyTorch itself is not needed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import InputError
from ._native import call
from ._prediction import Prediction

#: How PyTorch moves messages between two ranks: by a communicator and a stream for each pair of ranks, and since 2.15 by one
#: for all of a group.
TRANSPORTS = {"pair": "until PyTorch 2.14", "group": "since PyTorch 2.15"}


@dataclass(frozen=True)
class PipelineOrder:
    """The order of a plan: `csv` for _PipelineScheduleRuntime._load_csv(path, format="compute_only"), the stages that each
    rank builds, and the layers of each stage (first_layer, layers)."""

    name: str
    csv: str
    stages: list[list[int]]
    content: list[Mapping[str, Any]]
    micro_batches: int

    @property
    def is_v(self) -> bool:
        """True where the last stage lies on the first rank, as for PyTorch's style "v"."""
        return len(self.stages) > 1 and max(self.stages[0]) == max(max(stages) for stages in self.stages)


def pipeline_order(plan: Prediction, *, transport: str = "pair") -> PipelineOrder:
    """The order that a prediction plays. Raises InputError where PyTorch would hang on it, or send wrong data, by the transport
    of its version (TRANSPORTS), and where the order cannot be written for it: pairs in one call, slices."""
    said = call("order", plan.request).json
    if transport not in TRANSPORTS:
        raise InputError(f"PyTorch's pipelining has no transport '{transport}': give one of {', '.join(TRANSPORTS)}")
    wrong = said["transports"].get(transport, [])
    if wrong:
        raise InputError(f"on PyTorch's transport '{transport}' this order does not finish: {wrong[0]['message']}")
    if "OVERLAP_F_B" in said["csv"]:
        raise InputError("PyTorch runs a forward and a backward at once only where its stages define OVERLAP_F_B")
    if "." in said["csv"]:
        raise InputError("PyTorch passes no slices of a sequence through its pipeline")
    return PipelineOrder(said["name"], said["csv"], said["stages"], said["content"], said["micro_batches"])
