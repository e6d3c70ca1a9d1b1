"""What is recorded of each row's follow-up, read and checked: how long it lasted, and what ended it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import check_number, check_weights, is_missing, plain_labels, to_array, to_floats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

CENSORED, OF_INTEREST, OTHER = 0, 1, 2
_MOST_CODES = 20  # of causes: more are numbers of another kind
KAPLAN_MEIER = "kaplan-meier"


@dataclass(frozen=True)
class FollowUp:
    """Clean rows: time, what ended it (censored, the event of interest, another), weight, stratum, known censoring."""

    time: Floats
    ended: NDArray[np.int8]
    weight: Floats | None
    strata: NDArray[Any] | None
    given: Floats | None

    def taken(self, rows: Any) -> FollowUp:
        """Some of the rows, or some repeatedly."""
        return replace(self, **{name: part[rows] for name, part in vars(self).items() if part is not None})


def read_follow_up(
    event: Any, time: Any, *, cause: Any, censored: Any, groups: Any, censoring: Any, sample_weight: Any
) -> FollowUp:
    """Check what was recorded."""
    times = _check_times(to_array(time, "time"))
    labels = to_array(event, "event")
    if labels.shape != times.shape:
        raise ValueError(f"event and time must have the same length, got shapes {labels.shape} and {times.shape}.")
    ended = _check_events(labels, censored, cause)
    weight = check_weights(sample_weight, len(times))
    given = _check_censoring(censoring, len(times))
    if given is not None and groups is not None:
        raise ValueError("groups= estimates censoring in each group: it cannot be given beside an array of censoring=.")
    return FollowUp(times, ended, weight, None if groups is None else check_groups(groups, len(times)), given)


def check_horizon(horizon: Any) -> float:
    """Return a finite time after the start, or raise."""
    number = check_number(horizon, "horizon")
    if not 0.0 < number < math.inf:
        raise ValueError(f"horizon must be a finite number > 0, got {horizon}.")
    return number


def check_given(given: Floats, needed: Bools) -> None:
    """Raise unless the probability not to be censored lies in (0, 1] wherever the status is known."""
    bad = needed & ~((given > 0.0) & (given <= 1.0))
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            "censoring must hold the probability not to be censored before the end of each row or the horizon, in "
            f"(0, 1], got {given[first]} at index {first} ({int(bad.sum())} of {len(given)})."
        )


def _check_times(times: NDArray[Any]) -> Floats:
    if times.ndim != 1:
        raise ValueError(
            f"time must hold one end of follow-up per row, got shape {times.shape}: late entry (start and stop), "
            "interval censoring and covariates that change with time are not supported."
        )
    if not len(times):
        raise ValueError("time must hold at least one row, got none.")
    found = to_floats(times, "time")
    bad = ~(np.isfinite(found) & (found >= 0.0))
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            f"time must be finite and >= 0, got {found[first]} at index {first} ({int(bad.sum())} of {len(found)})."
        )
    return found


def _check_events(labels: NDArray[Any], censored: Any, cause: Any) -> NDArray[np.int8]:
    """What ended each row."""
    _refuse_missing(labels, "event")
    if np.ndim(censored):
        raise ValueError(f"censored must be one label, got {censored!r}.")
    if labels.dtype.kind in "biuf":
        labels = _check_codes(labels)
        censored = _check_censored(labels, censored)
    elif cause is None or censored is None or not np.any(labels == censored):
        shown = ", ".join(repr(str(value)) for value in np.unique(labels.astype(str))[:5])
        raise ValueError(f"event holds labels ({shown}): pass censored= and cause= to say what they mean.")
    is_event = labels != censored
    mine = is_event if cause is None else np.isin(labels, _among(cause, labels, any_event=bool(is_event.any())))
    if cause is None:
        _refuse_several(labels[is_event])
    elif (mine & ~is_event).any():
        raise ValueError(f"cause must name events, got the label of censored rows: {censored!r}.")
    return np.where(mine, OF_INTEREST, np.where(is_event, OTHER, CENSORED)).astype(np.int8)


def _check_censored(codes: NDArray[np.int64], censored: Any) -> Any:
    """Return the code of censored rows, by default 0; raise where nothing says which of several codes that is."""
    held = np.unique(codes).tolist()
    listed = _listed(held)
    if censored is None and 0 not in held and len(held) > _MOST_CODES:
        raise ValueError(
            f"event must hold codes of events, got {len(held)} different ones ({listed}): are event= and time= the "
            "wrong way round?"
        )
    if censored is None and 0 not in held and len(held) > 1:
        raise ValueError(
            f"no code 0 among the event codes {listed}; if one of them means censored, pass censored={held[0]} "
            f"(--censored {held[0]}); if nobody is censored, pass censored=0 (--censored 0)."
        )
    if censored is None:
        return 0
    if not any(code == censored for code in (0, *held)):
        raise ValueError(
            f"censored must be the event code of censored rows, one of {listed} (or 0 where nobody is), got "
            f"{censored!r}."
        )
    return censored


def _among(cause: Any, labels: NDArray[Any], *, any_event: bool) -> NDArray[Any]:
    """Return the causes as labels of their kind, or raise if one of them never occurs although there are events."""
    if hasattr(cause, "__array__"):
        causes = np.asarray(cause).ravel().tolist()
    else:
        causes = list(cause) if isinstance(cause, list | tuple | set) else [cause]
    try:
        held = set(labels.tolist())
        absent = [each for each in causes if each not in held]
    except TypeError:
        raise ValueError(f"cause must name labels of event, got {cause!r}.") from None
    if absent and any_event:
        raise ValueError(f"cause must name events that occur, got {absent[0]!r}: event holds {_listed(held)}.")
    return np.array([each for each in causes if each in held], dtype=labels.dtype).ravel()


def _listed(values: Iterable[Any]) -> str:
    """The first five values, numbers in their order and labels in that of the alphabet."""
    held = list(values)
    held.sort(key=None if all(isinstance(value, int) for value in held) else str)
    return ", ".join(map(repr, held[:5])) + (", ..." if len(held) > 5 else "")


def _check_codes(labels: NDArray[Any]) -> NDArray[Any]:
    bad = (labels < 0) | (labels != np.round(labels)) if labels.dtype.kind in "if" else np.zeros(len(labels), bool)
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            f"event must hold whole codes >= 0, got {labels[first]} at index {first} ({int(bad.sum())} of "
            f"{len(labels)})."
        )
    return labels.astype(np.int64)


def _refuse_several(events: NDArray[Any]) -> None:
    codes, counts = np.unique(events, return_counts=True)
    if len(codes) > 1:
        listed = ", ".join(f"{code} ({count} rows)" for code, count in zip(codes.tolist(), counts, strict=True))
        raise ValueError(
            f"event holds several causes, {listed}: pass cause= to say which is of interest; the others then compete."
        )
    if not len(codes):
        raise ValueError("event holds no event at all: pass cause= to say which code would be one.")


def _refuse_missing(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    else:
        return
    if missing.any():
        raise ValueError(
            f"{name} must not be missing, got {int(missing.sum())} of {len(values)} missing, the first at index "
            f"{int(np.argmax(missing))}."
        )


def check_groups(groups: Any, n: int) -> NDArray[Any]:
    """Return one label per row, or raise."""
    labels = to_array(groups, "groups")
    if labels.shape != (n,):
        raise ValueError(f"groups must have one value for each of the {n} rows, got shape {labels.shape}.")
    _refuse_missing(labels, "groups")
    return plain_labels(labels)


def _check_censoring(censoring: Any, n: int) -> Floats | None:
    if isinstance(censoring, str):
        if censoring != KAPLAN_MEIER:
            hint = ": that estimator belongs to net_benefit_curve" if censoring == "acted" else ""
            raise ValueError(f'censoring must be "{KAPLAN_MEIER}" or one probability per row, got {censoring!r}{hint}.')
        return None
    given = to_floats(to_array(censoring, "censoring"), "censoring")
    if given.shape != (n,):
        raise ValueError(f"censoring must have one probability per row, got shape {given.shape} for {n} rows.")
    return given
