"""Serialisation of tables and sums as versioned JSON or Parquet; every entry is checked on reading.

A file holds facts (single values) and columns (arrays of one length). Numbers are restored exactly.
"""

from __future__ import annotations

import io
import json
import os
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from stakes.outputs.files import delivered, json_ready
from stakes.outputs.serialization import JsonReader

Columns = dict[str, NDArray[np.float64]]


class Serializable:
    """Base of results that can be saved and loaded; ``_what`` names them, ``_form`` is the format with its version."""

    _what: ClassVar[str]
    _form: ClassVar[str]

    @abstractmethod
    def _kept(self) -> tuple[dict[str, Any], Columns]:
        """Return the facts and columns to write."""

    @classmethod
    @abstractmethod
    def _from_entries(cls, entries: JsonReader) -> Self:
        """Check the entries and rebuild the object."""

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return everything as JSON that :meth:`from_json` reads.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str
            With the format and its version.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_json()[:28]
        '{"format": "stakes-table-2",'
        """
        facts, columns = self._kept()
        lists = {name: values.tolist() for name, values in columns.items()}
        return delivered(json.dumps(json_ready({"format": self._form, **facts, **lists})), path)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        Self

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> ScoreTable.from_json(ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_json()).scores.tolist()
        [0.1, 0.8]
        """
        return cls._from_entries(JsonReader.read(text, cls._what, cls._form))

    def to_parquet(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Return everything as a Parquet file that :meth:`from_parquet` reads: compact where there are many rows.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        bytes

        Raises
        ------
        ImportError
            If pyarrow is not installed (``pip install 'stakes[engines]'``).

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from stakes import ScoreTable
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "a.parquet"
        ...     _ = ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_parquet(file)
        ...     ScoreTable.from_parquet(file).n_rows
        2
        """
        from stakes.tables import write_columns

        facts, columns = self._kept()
        buffer = io.BytesIO()
        write_columns(buffer, columns, json.dumps(json_ready({"format": self._form, **facts})))
        return delivered(buffer.getvalue(), path)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`to_parquet` wrote.

        Parameters
        ----------
        path : str or path
            The file, which may come from anywhere.

        Returns
        -------
        Self

        Raises
        ------
        ValueError
            For another format, or a damaged file, naming the first entry that is wrong.
        ImportError
            If pyarrow is not installed (``pip install 'stakes[engines]'``).

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from stakes import ScoreTable
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "a.parquet"
        ...     _ = ScoreTable.from_predictions([0, 1], [0.1, 0.8]).to_parquet(file)
        ...     ScoreTable.from_parquet(file).scores.tolist()
        [0.1, 0.8]
        """
        from stakes.tables import read_columns

        columns, text = read_columns(Path(path), cls._what)
        entries = JsonReader.read(text, cls._what, cls._form)
        return cls._from_entries(JsonReader({**entries.content, **columns}, cls._what))
