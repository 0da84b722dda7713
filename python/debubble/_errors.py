"""What can go wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A mistake and its place: line and column count from 1, line 0 is the file as a whole."""

    file: str
    line: int
    column: int
    message: str
    source_line: str = ""


class Error(Exception):
    """The base of all errors of debubble."""


class InputError(Error, ValueError):
    """Something that a person must correct, in the words of the command line; `places` has every mistake."""

    def __init__(self, message: str, places: list[Place] | None = None) -> None:
        super().__init__(message.rstrip("\n"))
        self.places = places or []


class WorldError(Error, OSError):
    """The world failed: a file cannot be written, memory is short."""


class Stopped(Error):
    """The progress asked a call to end."""


class Bug(Error, RuntimeError):
    """A mistake of debubble's own."""
