"""debubble: what a training step of a large transformer takes and holds, and where it waits.

>>> import debubble as db
>>> db.simulate("gpt2-xl").fits
True
"""

from ._errors import Bug, Error, InputError, Place, Stopped, WorldError
from ._functions import (
    Found,
    Job,
    Model,
    Profile,
    Schedule,
    Verdict,
    compare,
    import_job,
    model,
    read_trace,
    schedule,
    search,
    simulate,
    sweep,
    validate,
)
from ._native import version as _version
from ._prediction import Prediction, Rank, names
from ._table import Table

__version__ = _version()

__all__ = [
    "Bug",
    "Error",
    "Found",
    "InputError",
    "Job",
    "Model",
    "Place",
    "Prediction",
    "Profile",
    "Rank",
    "Schedule",
    "Stopped",
    "Table",
    "Verdict",
    "WorldError",
    "compare",
    "import_job",
    "model",
    "names",
    "read_trace",
    "schedule",
    "search",
    "simulate",
    "sweep",
    "validate",
]
