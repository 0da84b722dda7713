"""Tables: columns of equal length, as themselves, numpy's arrays, or a frame of pandas or polars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

_SHOWN = 20  # rows of a table in a notebook


class Table(Mapping[str, Sequence[Any]]):
    """Columns by name. A column is a sequence (numbers: a memoryview of 64-bit integers or a list; words: a list)."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError("the columns of a table are equally long")
        self._columns = dict(columns)
        self._rows = lengths.pop() if lengths else 0

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns, as of a mapping; `rows` is that of rows."""
        return len(self._columns)

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def row(self, number: int) -> dict[str, Any]:
        return {name: column[number] for name, column in self._columns.items()}

    def to_dicts(self) -> list[dict[str, Any]]:
        return [self.row(number) for number in range(self._rows)]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Raises ImportError without pandas."""
        import pandas

        return pandas.DataFrame({name: list(column) for name, column in self._columns.items()})

    def to_polars(self) -> Any:
        """A polars.DataFrame. Raises ImportError without polars."""
        import polars

        return polars.DataFrame({name: list(column) for name, column in self._columns.items()}, strict=False)

    def to_numpy(self) -> dict[str, Any]:
        """Arrays by name. Raises ImportError without numpy."""
        import numpy

        return {name: numpy.asarray(column) for name, column in self._columns.items()}

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        """The dataframe interchange protocol, by way of whichever of pandas and polars is there."""
        try:
            frame = self.to_pandas()
        except ImportError:
            frame = self.to_polars()
        return frame.__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)

    def to_csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows(zip(*self._columns.values()))
        return out.getvalue()

    def __repr__(self) -> str:
        return f"<Table of {self._rows} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(column[i]))}</td>" for column in self._columns.values()) + "</tr>"
            for i in range(min(self._rows, _SHOWN))
        )
        more = f"<p>and {self._rows - _SHOWN} more rows</p>" if self._rows > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
