"""What ``checkpoint.json`` says of a folder, believed only where a checkpoint could have written it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stakes.shown.entries import parse_json
from stakes.shown.files import is_partial, replacing
from stakes.shown.tabular import json_ready

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = "checkpoint.json"
_LARGEST = 10**300
# A name, not a path: no separator, so that it lies in the folder, and nothing that a user would call a file.
_EPOCH = re.compile(r"epoch-([0-9]{4,9})((?:\.[A-Za-z0-9_]+)*)")


@dataclass(frozen=True)
class Record:
    """Values by epoch, and the files of the last and the best one."""

    monitor: dict[str, Any]
    history: tuple[float, ...] = ()
    best_epoch: int | None = None
    last: str | None = None
    best: str | None = None
    text: str | None = None  # of the file as this process left it

    @classmethod
    def read(cls, folder: Path, monitor: dict[str, Any], *, greater_is_better: bool) -> Record:
        """Read the record of a folder, an empty one if there is none, and refuse what no checkpoint wrote."""
        text = _text(folder)
        found = cls(monitor)
        if text is not None:
            found = _parsed(text, folder / FILE, monitor, greater_is_better=greater_is_better)
        later = [name for name in _epochs(folder) if number_of(name) > len(found.history)]
        if later:
            raise ValueError(f"{folder} holds {min(later)!r}, of which no record knows: take another folder.")
        return found

    def with_epoch(self, name: str, value: float, *, improved: bool) -> Record:
        """Return the record after one more epoch."""
        best, epoch = (name, len(self.history)) if improved else (self.best, self.best_epoch)
        return replace(self, history=(*self.history, value), last=name, best=best, best_epoch=epoch)

    def written(self, folder: Path) -> Record:
        """Write the record, and return it with the text that the file now has."""
        content = {name: getattr(self, name) for name in ("monitor", "last", "best", "best_epoch", "history")}
        text = json.dumps(json_ready(content), indent=1) + "\n"
        with replacing(unlinked(folder / FILE)) as path:
            path.write_text(text, encoding="utf-8")
        return replace(self, text=text)

    def check_unchanged(self, folder: Path) -> None:
        """Refuse to write where another process has written since this one read or wrote the record."""
        if _text(folder) != self.text:
            raise RuntimeError(
                f"another process has changed {folder / FILE} since epoch {len(self.history)} began: "
                "give each run a folder of its own, and save in the first process only."
            )

    def remove_others(self, folder: Path) -> None:
        """Remove epochs that are neither the last nor the best, and what killed processes left half written."""
        for name in [*_epochs(folder), *filter(is_partial, _names(folder))]:
            if name not in {self.last, self.best}:
                (folder / name).unlink(missing_ok=True)


def epoch_name(number: int, suffix: object) -> str:
    """Name of an epoch's file."""
    name = f"epoch-{number:04d}{suffix}"
    if not isinstance(suffix, str) or _EPOCH.fullmatch(name) is None:
        raise ValueError(f"suffix must be that of a file, such as '.pt', got {suffix!r}.")
    return name


def number_of(name: str) -> int:
    """Number of the epoch that a file holds, -1 for a name that is none."""
    match = _EPOCH.fullmatch(name)
    return -1 if match is None else int(match[1])


def unlinked(path: Path) -> Path:
    """The same path, where a link would have led the writer out of the folder."""
    if path.is_symlink():
        path.unlink()
    return path


def _names(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir()) if folder.is_dir() else iter(())


def _epochs(folder: Path) -> list[str]:
    return [name for name in _names(folder) if number_of(name) >= 0]


def _text(folder: Path) -> str | None:
    path = folder / FILE
    return path.read_bytes().decode("utf-8", errors="replace") if path.exists() else None


def _parsed(text: str, path: Path, monitor: dict[str, Any], *, greater_is_better: bool) -> Record:
    try:
        record = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no record of a checkpoint: {error}.") from error
    keys = {"monitor", "last", "best", "best_epoch", "history"}
    if not isinstance(record, dict) or not keys <= set(record) or not isinstance(record["history"], list):
        raise ValueError(f"{path} is no record of a checkpoint: it must hold {', '.join(sorted(keys))}.")
    if record["monitor"] != monitor:
        raise ValueError(
            f"{path.parent} holds a checkpoint by {record['monitor']}, but monitor is {monitor}: take another folder."
        )
    history = tuple(_value(value, path) for value in record["history"])
    last, best, epoch = record["last"], record["best"], record["best_epoch"]
    _check_name(last, "last", len(history) - 1 if history else None, path)
    if epoch is not None and (type(epoch) is not int or not 0 <= epoch < len(history)):
        raise ValueError(f"best_epoch in {path} must be an epoch of its history, got {epoch!r}.")
    _check_name(best, "best", epoch, path)
    _check_best(history, epoch, path, greater_is_better=greater_is_better)
    return Record(monitor, history, epoch, last, best, text)


def _check_best(history: tuple[float, ...], epoch: int | None, path: Path, *, greater_is_better: bool) -> None:
    """The best epoch improved on all before it, by whatever margin; only epochs without a value have none."""
    known = [value for value in history if not math.isnan(value)]
    if epoch is None:
        if known:
            raise ValueError(f"best_epoch in {path} must be an epoch of its history, got None.")
        return
    best, before = history[epoch], [value for value in history[:epoch] if not math.isnan(value)]
    sign = 1.0 if greater_is_better else -1.0
    if math.isnan(best) or any(sign * value >= sign * best for value in before):
        raise ValueError(
            f"best_epoch in {path} must be an epoch whose value is better than all before it, got {epoch} with the "
            f"value {best!r}."
        )


def _value(value: object, path: Path) -> float:
    if value is None:
        return math.nan
    known = (isinstance(value, str) and value in {"inf", "-inf"}) or type(value) is float
    if known or (type(value) is int and abs(value) < _LARGEST):
        return float(value)  # type: ignore[arg-type]  # one of these
    raise ValueError(f"history in {path} must hold numbers, got {value!r}.")


def _check_name(name: object, key: str, epoch: int | None, path: Path) -> None:
    """A name out of a file decides what is read and removed: only that of the epoch in this folder will do."""
    if (None if name is None else number_of(str(name))) != epoch or not isinstance(name, (str, type(None))):
        wanted = "null" if epoch is None else f"the name of a file of epoch {epoch}"
        raise ValueError(f"{key} in {path} must be {wanted}, got {name!r}.")
