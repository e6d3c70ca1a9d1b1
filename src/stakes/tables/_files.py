"""Files of predictions: CSV, Parquet, Arrow and JSON lines, from a path or from standard input."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes._validation import check_choice
from stakes.score_table import blocks
from stakes.tables._content import Content, file_digest
from stakes.tables._csv import read_csv
from stakes.tables._errors import Origin
from stakes.tables._jsonl import read_jsonl
from stakes.tables._roles import choose_roles
from stakes.tables._rows import ON_MISSING, Held, OnMissing, Predictions, clean_rows
from stakes.tables._values import encode_labels, encode_two_numbers, to_floats

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from stakes.tables._roles import Roles
    from stakes.tables._rows import Columns

    Floats = NDArray[np.float64]

__all__ = ["file_digest", "read_predictions"]

_BINARY = {"parquet": "Parquet", "arrow": "Arrow"}
# rows read at once: few, for what a part is decoded from stays in memory, but not so few that parts are many
_PART, _MOST_PARTS = 1 << 17, 64


def read_predictions(
    path: str | os.PathLike[str],
    *,
    label: str,
    models: Iterable[str] | None = None,
    weight: str | None = None,
    groups: Iterable[str] | None = None,
    pos_label: object = None,
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
    probability: bool = True,
) -> Predictions:
    """Read labels and scores of one or many models from a file.

    Parameters
    ----------
    path : str or path
        A CSV (.csv, .tsv, .csv.gz; separated by commas, semicolons or tabs), Parquet, Arrow or JSON lines file,
        or "-" for standard input.
    label : str
        Name of the column with the labels.
    models : iterable of str, optional
        Names of the columns with the models' probabilities; by default every other numeric column that has a name.
        In a CSV or JSON lines file a column is numeric if most of its first 1,000 values are.
    weight : str, optional
        Name of the column with weights >= 0; a row of weight zero is as if absent.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
    pos_label : object, optional
        The label of the positive class; text is matched to numeric labels by value.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing (empty, null, NA, N/A or NaN).
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.
    probability : bool, default True
        Whether the models' columns must lie in [0, 1]; otherwise any finite numbers will do.

    Returns
    -------
    Predictions

    Raises
    ------
    DataError
        For anything in the file that cannot be evaluated, with the column, row and value.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_predictions
    >>> rows = read_predictions(resources.files("stakes") / "data" / "breast_cancer.csv", label="malignant")
    >>> rows.n_rows, rows.models
    (569, ('logistic_regression', 'random_forest', 'naive_bayes'))
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    content = Content.of(path)
    kind = content.kind(format)
    columns: dict[str, Any] = {"label": label, "models": models, "weight": weight, "groups": groups}
    columns["probability"] = probability
    rows: Columns
    if kind == "csv":
        rows, roles, origin = read_csv(content, **columns)
    elif kind == "jsonl":
        frame, roles, origin = read_jsonl(content, **columns)
        rows = Held(nw.from_native(frame, eager_only=True), origin)
    else:
        rows, roles, origin = _open_binary(content, kind, **columns)
    return clean_rows(rows, roles, origin, pos_label=pos_label, on_missing=on_missing)


def _open_binary(content: Content, kind: str, **columns: Any) -> tuple[Columns, Roles, Origin]:
    """Find the needed columns of a typed format."""
    import polars as pl

    origin = Origin(content.name)
    with _refused(origin, kind):
        if kind == "arrow" and not content.head().startswith(b"ARROW1"):
            # the streaming form of the format can only be read from end to end
            whole = pl.read_ipc_stream(content.native)
            roles = _choose(whole.schema, content.name, columns)
            return Held(nw.from_native(whole.select(roles.used), eager_only=True), origin), roles, origin
        schema = (pl.read_parquet_schema if kind == "parquet" else pl.read_ipc_schema)(content.native)
        return _Stored(content, kind, schema, origin), _choose(schema, content.name, columns), origin


def _choose(schema: Mapping[str, Any], file: str, columns: dict[str, Any]) -> Roles:
    numeric = [name for name, dtype in schema.items() if dtype.is_numeric()]
    return choose_roles(list(schema), numeric, file=file, **columns)


@dataclass(frozen=True)
class _Stored:
    """Columns of a typed file, each read when it is asked for, and numbers in parts.

    All at once they would stand in memory twice: what polars decodes them from is not given back soon.
    """

    content: Content
    kind: str
    schema: Mapping[str, Any]
    origin: Origin

    def series(self, name: str) -> nw.Series[Any]:
        """Return a column as it is."""
        import polars as pl

        with _refused(self.origin, self.kind):
            numbers = self._numbers(name, None)
            if numbers is not None:
                return nw.from_native(pl.Series(name, numbers), series_only=True)
            read = pl.read_parquet if self.kind == "parquet" else pl.read_ipc
            return nw.from_native(read(self.content.native, columns=[name])[name], series_only=True)

    def floats(self, name: str, hint: str | None = None) -> Floats:
        """Return a column of numbers, nan where it is missing."""
        with _refused(self.origin, self.kind):
            numbers = self._numbers(name, np.float64)
        return to_floats(self.series(name), self.origin, hint=hint) if numbers is None else numbers

    def labels(self, name: str) -> tuple[list[Any], NDArray[np.int64]]:
        """Return the distinct values of the label and the index of each row's, -1 where it is missing."""
        with _refused(self.origin, self.kind):
            numbers = self._numbers(name, None)
        found = None if numbers is None else encode_two_numbers(numbers)
        return encode_labels(self.series(name), self.origin) if found is None else found

    def _numbers(self, name: str, kind: type[np.float64] | None) -> NDArray[Any] | None:
        """Read numbers in parts, as floats (nan where missing) or as they are; None where that cannot be."""
        import polars as pl

        dtype = self.schema[name]
        plain = pl.Series([], dtype=dtype).to_numpy().dtype
        if self.kind != "parquet" or self.content.path is None or plain.kind not in "iuf" or dtype.is_decimal():
            return None
        column = pl.scan_parquet(self.content.path).select(name)
        length = int(column.select(pl.len()).collect().item())
        found = np.empty(length, dtype=plain if kind is None else kind)
        for part in blocks(length, max(_PART, length // _MOST_PARTS)):
            numbers = column.slice(part.start, part.stop - part.start).collect()[name]
            if kind is None and numbers.null_count():
                return None
            found[part] = numbers.to_numpy()
        return found


@contextmanager
def _refused(origin: Origin, kind: str) -> Iterator[None]:
    """Turn what polars says of a broken file into the error of this room."""
    import polars as pl

    try:
        yield
    except pl.exceptions.DuplicateError:
        raise origin.error("column names must be distinct, one occurs more than once") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise origin.error(f"cannot be read as {_BINARY[kind]}: {reason}") from None
