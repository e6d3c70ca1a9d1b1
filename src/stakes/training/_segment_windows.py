"""Windows over ordered rows that never reach across a cut between training, validation and test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.validation import check_whole, to_array
from stakes.training._h_block_split import group_codes, place_in_group

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def segment_windows(
    rows: ArrayLike, *, width: int, step: int | None = None, groups: ArrayLike | None = None
) -> NDArray[np.intp]:
    """Cut the rows of one part of a split into windows of neighbouring rows.

    Parameters
    ----------
    rows : array_like of row numbers
        One part of a split, such as the training rows of :class:`HBlockSplit`, in ascending order.
    width : int
        Rows in a window, >= 1.
    step : int, optional
        Rows from the start of one window to the start of the next, >= 1; by default ``width``, so that windows do not
        overlap.
    groups : array_like of shape (n,), optional
        The trial of each row of the whole data, or ``HBlockSplit.blocks(...)``; a window stays inside one.

    Returns
    -------
    ndarray of shape (windows, width)
        Row numbers, so that ``X[windows]`` has shape (windows, width, features). Rows at the end of a stretch that do
        not fill a window are in none.

    Raises
    ------
    ValueError
        For row numbers that do not ascend or that ``groups`` lacks, or a width or step below 1.

    Notes
    -----
    Windows cut before splitting overlap across the cut, and the model is then tested on rows that it was trained on.
    Here the rows are split first; a window needs neighbouring rows of the same part, so it crosses no cut and no gap.

    Examples
    --------
    >>> from stakes.training import segment_windows
    >>> segment_windows([0, 1, 2, 3, 7, 8, 9], width=3, step=1).tolist()
    [[0, 1, 2], [1, 2, 3], [7, 8, 9]]
    """
    width = check_whole(width, "width", 1)
    step = width if step is None else check_whole(step, "step", 1)
    part = to_array(rows, "rows")
    if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
        raise ValueError(f"rows must be row numbers, got {part.dtype} of shape {part.shape}.")
    part = part.astype(np.intp)
    falls = np.flatnonzero(np.diff(part) <= 0)
    if len(falls):
        first = int(falls[0])
        raise ValueError(f"rows must ascend, got {part[first]} before {part[first + 1]} at index {first}.")
    if part.size and part[0] < 0:
        raise ValueError(f"rows must be row numbers >= 0, got {part[0]}.")
    place, code = part, np.zeros(len(part), dtype=np.intp)
    if groups is not None:
        labels = to_array(groups, "groups")
        if labels.ndim != 1:
            raise ValueError(f"groups must have one value for each row of the data, got shape {labels.shape}.")
        if part.size and part[-1] >= len(labels):
            raise ValueError(
                f"groups must have one value for each row of the data, got {len(labels)} for row {part[-1]}."
            )
        every = group_codes(len(labels), labels)[0]
        order = np.argsort(every[part], kind="stable")
        part = part[order]
        place, code = place_in_group(every)[part], every[part]
    return part[_starts(place, code, width, step)[:, None] + np.arange(width)]


def _starts(place: NDArray[np.intp], code: NDArray[np.intp], width: int, step: int) -> NDArray[np.intp]:
    """Index of the first row of each window, within stretches without a jump."""
    if not len(place):
        return np.zeros(0, dtype=np.intp)
    jump = np.flatnonzero((np.diff(place) != 1) | (np.diff(code) != 0)) + 1
    begin = np.concatenate([[0], jump])
    length = np.diff(np.append(begin, len(place)))
    count = np.maximum((length - width) // step + 1, 0)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(begin, count) + number * step
