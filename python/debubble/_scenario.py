"""From what Python says of a plan to a request: names, paths, dictionaries and YAML texts; keys as in a scenario."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Union

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def _text(value: object) -> str:
    """A value as YAML of one line, of which JSON is a part. A word stays as it is, so that '16 GiB' is a quantity."""
    if isinstance(value, str):
        return value
    return json.dumps(value)


def overrides(keys: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """{"parallel": {"tensor": 4}} as {"parallel.tensor": "4"}: what is not said of a map stays as it is. A `schedule` with a
    name and a map with a `base` are taken whole."""
    flat: dict[str, str] = {}
    for key, value in keys.items():
        name = f"{above}.{key}" if above else str(key)
        whole = isinstance(value, Mapping) and ("name" in value or "base" in value)
        if isinstance(value, Mapping) and not whole:
            flat.update(overrides(value, name))
        else:
            flat[name] = _text(value)
    return flat


def plan(scenario: Scenario, keys: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The part of a request that says which plan: a name, a path, a dictionary, or a YAML text, which has a line break or a
    colon and a space."""
    request: dict[str, Any] = {"set": overrides(keys or {})}
    if isinstance(scenario, Mapping):
        request["text"] = json.dumps(scenario)
        request["file"] = "scenario"
    elif isinstance(scenario, str) and ("\n" in scenario or ": " in scenario):
        request["text"] = scenario
        request["file"] = "scenario"
    else:
        request["scenario"] = os.fspath(scenario)
    return request
