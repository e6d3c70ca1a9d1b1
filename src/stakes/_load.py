"""`load`: whatever the library saved, read by the format that the file names."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from stakes.outputs.serialization import parse_json

# The name of a format, less its version, which the class checks.
_CLASSES = {
    "stakes-boundary": ("stakes.boundary", "Boundary"),
    "stakes-challenger-monitor": ("stakes.monitoring", "ChallengerMonitor"),
    "stakes-cost-monitor": ("stakes.monitoring", "CostMonitor"),
    "stakes-cost-monitors": ("stakes.monitoring", "CostMonitors"),
    "stakes-deferral": ("stakes.actions", "DeferralPair"),
    "stakes-evaluation": ("stakes.evaluation", "KeptEvaluation"),
    "stakes-pairs": ("stakes.inference", "PairSums"),
    "stakes-precision-monitor": ("stakes.boundary", "PrecisionMonitor"),
    "stakes-row-decisions": ("stakes.outcomes", "RowDecisions"),
    "stakes-table": ("stakes.core.score_table", "ScoreTable"),
    "stakes-threshold": ("stakes.utility", "PopulationThreshold"),
    "stakes-uncertainty-calibration": ("stakes.boundary", "UncertaintyCalibration"),
    "stakes-update": ("stakes.correction", "ModelUpdate"),
}
_STATES = {"stakes-watch": "stakes watch", "stakes-monitor": "stakes boundary monitor"}
_PARQUET, _GZIP = b"PAR1", b"\x1f\x8b"


def load(path: str | os.PathLike[str]) -> Any:
    """Read a rule, table, evaluation or monitor that was saved.

    Nothing in the file is executed, and every entry is checked: it may come from anywhere.

    Parameters
    ----------
    path : str or path
        What ``to_json``, or ``to_parquet`` of tables and pair sums, wrote.

    Returns
    -------
    object
        Of the class that wrote it: ``Boundary``, ``PopulationThreshold``, ``DeferralPair``, ``RowDecisions``,
        ``ModelUpdate``, ``UncertaintyCalibration``, ``ScoreTable``, ``PairSums``, ``KeptEvaluation``, ``CostMonitor``,
        ``CostMonitors``, ``ChallengerMonitor`` or ``PrecisionMonitor``.

    Raises
    ------
    ValueError
        For another file, another version of its format, or a damaged one, naming the first entry that is wrong.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import stakes
    >>> from stakes.utility import population_threshold
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "rule.json"
    ...     _ = population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0).to_json(file)
    ...     stakes.load(file).predict([0.6, 0.5]).tolist()
    [1, 0]
    """
    file = Path(path)
    content = file.read_bytes()
    try:
        if content.startswith(_PARQUET):
            from stakes.tables import read_columns

            return _class_of(read_columns(file, "table")[1]).from_parquet(file)
        return of_json(content)
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from None


def of_json(content: bytes) -> Any:
    """Return what ``to_json`` of some class wrote as these bytes."""
    return _class_of(content).from_json(content.decode("utf-8-sig"))


def _class_of(content: bytes | str) -> Any:
    """Find the class that wrote a text."""
    if isinstance(content, bytes) and content.startswith(_GZIP):
        raise ValueError("it is compressed by gzip: unpack it first.")
    try:
        found = parse_json(content if isinstance(content, str) else content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from None
    form = found.get("format") if isinstance(found, dict) else None
    stem = form.rpartition("-")[0] if isinstance(form, str) else ""
    if stem in _STATES:
        raise ValueError(f"it is the state of `{_STATES[stem]}`, which that command alone reads and writes.")
    if stem not in _CLASSES:
        raise ValueError(f"it names no format of stakes, got {str(form)[:60]!r}: save by to_json.")
    room, name = _CLASSES[stem]
    return getattr(import_module(room), name)
