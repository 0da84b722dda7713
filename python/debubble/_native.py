"""The shared library, and calls of its verbs (python/native/debubble.h)."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from ._errors import Bug, InputError, Place, Stopped, WorldError

Progress = Callable[[int, int], "bool | None"]

_DONE, _INPUT, _WORLD, _STOPPED = 0, 2, 3, 4
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ulonglong, ctypes.c_ulonglong)


def _open() -> ctypes.CDLL:
    """The library in this folder, or the one that DEBUBBLE_LIBRARY names (of a build folder)."""
    chosen = os.environ.get("DEBUBBLE_LIBRARY")
    path = pathlib.Path(chosen) if chosen else pathlib.Path(__file__).parent / "libdebubble.so"
    library = ctypes.CDLL(str(path))
    library.debubble_call.restype = ctypes.c_void_p
    library.debubble_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, _PROGRESS, ctypes.c_void_p]
    library.debubble_status_of.argtypes = [ctypes.c_void_p]
    library.debubble_json.restype = ctypes.c_char_p
    library.debubble_json.argtypes = [ctypes.c_void_p]
    library.debubble_column.restype = ctypes.POINTER(ctypes.c_longlong)
    library.debubble_column.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_ulonglong)]
    library.debubble_free.argtypes = [ctypes.c_void_p]
    library.debubble_version.restype = ctypes.c_char_p
    return library


_library = _open()
_NOBODY = _PROGRESS()  # a null pointer


def version() -> str:
    return bytes(_library.debubble_version()).decode()


class Answer:
    """What a verb answered: `json`, and columns of whole numbers that the library holds."""

    def __init__(self, pointer: int, text: bytes) -> None:
        self._pointer = pointer
        self.json: dict[str, Any] = json.loads(text)

    def __del__(self) -> None:
        if self._pointer:
            _library.debubble_free(self._pointer)

    def column(self, name: str) -> memoryview:
        """The numbers of a column as 64-bit integers; empty if the answer has no such column. They are a copy."""
        count = ctypes.c_ulonglong()
        found = _library.debubble_column(self._pointer, name.encode(), ctypes.byref(count))
        if not found or count.value == 0:
            return memoryview(b"").cast("q")
        size = count.value * ctypes.sizeof(ctypes.c_longlong)
        return memoryview(ctypes.string_at(found, size)).cast("q")


def call(verb: str, request: Mapping[str, Any], progress: Progress | None = None) -> Answer:
    """Calls a verb without holding the interpreter's lock. `progress` is told how many of how many points are done;
    where it returns False, or raises, the call ends."""
    raised: list[BaseException] = []

    def tell(_: int | None, done: int, total: int) -> int:
        assert progress is not None
        try:
            return 1 if progress(done, total) is False else 0
        except BaseException as error:  # it cannot pass through the library, which is told to stop
            raised.append(error)
            return 1

    told = _PROGRESS(tell) if progress is not None else _NOBODY
    pointer = _library.debubble_call(verb.encode(), json.dumps(request).encode(), told, None)
    if raised:
        _library.debubble_free(pointer)
        raise raised[0]
    status = _library.debubble_status_of(pointer)
    text = _library.debubble_json(pointer)
    if status == _DONE:
        return Answer(pointer, text)
    said = json.loads(text)
    _library.debubble_free(pointer)
    if status == _INPUT:
        raise InputError(said["message"], [Place(**place) for place in said["places"]])
    if status == _STOPPED:
        raise Stopped(said["message"])
    raise (WorldError if status == _WORLD else Bug)(said["message"])
