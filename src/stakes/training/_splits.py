"""Cross-validation in blocks with gaps, and windows over ordered rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Bools, check_same_order, check_whole, refuse_missing, to_array

Rows = NDArray[np.intp]


# Cross-validation of ordered data in contiguous blocks, with rows left out on both sides of every cut.


class HBlockSplit:
    """Split ordered rows, such as sensor readings, into h blocks in time; each is the test set once.

    Parameters
    ----------
    n_blocks : int, default 5
        Number h of blocks, and of folds; >= 2, and >= 3 for :meth:`split_with_validation`.
    gap : int, default 0
        Rows left out between parts: none used in training is within ``gap`` rows of one in validation or test, and none
        in validation within ``gap`` rows of one in test.

    Notes
    -----
    Fold k tests on block k and validates on block k + 1, the last fold on block 0 (arXiv:2407.17697, Algorithm 4,
    whose block indices must wrap modulo h). Time does not wrap: the first and the last row are no neighbours. With
    ``groups=`` (trials, persons, machines) each group is cut into h blocks of its own, and rows of different groups are
    no neighbours. Leaving rows out beside the test block follows Burman, Chow and Nolan (1994), Biometrika 81, 351-358.

    Examples
    --------
    >>> from stakes.training import HBlockSplit
    >>> for train, validation, test in HBlockSplit(4, gap=1).split_with_validation(range(12)):
    ...     print(train.tolist(), validation.tolist(), test.tolist())
    [7, 8, 9, 10, 11] [4, 5] [0, 1, 2]
    [0, 1, 10, 11] [7, 8] [3, 4, 5]
    [0, 1, 2, 3, 4] [10, 11] [6, 7, 8]
    [4, 5, 6, 7] [0, 1, 2] [9, 10, 11]
    """

    def __init__(self, n_blocks: int = 5, *, gap: int = 0) -> None:
        self.n_blocks = check_whole(n_blocks, "n_blocks", 2)
        self.gap = check_whole(gap, "gap", 0)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn passes them.

        Returns
        -------
        int

        Examples
        --------
        >>> from stakes.training import HBlockSplit
        >>> HBlockSplit(4).get_n_splits()
        4
        """
        del X, y, groups
        return self.n_blocks

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and to test on, as scikit-learn's splitters do.

        Parameters
        ----------
        X : array_like of n rows
            In the order of time, within each group.
        y : object
            Not used.
        groups : array_like of shape (n,), optional
            The trial of each row.

        Yields
        ------
        train, test : ndarray of row numbers

        Raises
        ------
        ValueError
            If a group has fewer rows than blocks, or a gap leaves nothing to train on.

        Examples
        --------
        >>> from stakes.training import HBlockSplit
        >>> [test.tolist() for _, test in HBlockSplit(2).split(range(6), groups=[1, 1, 1, 1, 2, 2])]
        [[0, 1, 4], [2, 3, 5]]
        """
        del y
        block, place = self._layout(X, groups)
        for fold in range(self.n_blocks):
            test = block == fold
            train = ~test & ~self._near(test, place)
            yield _filled(train, fold, "train"), np.flatnonzero(test)

    def split_with_validation(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Rows, Rows, Rows]]:
        """Yield the rows to train on, to choose the epoch by, and to test on.

        Parameters
        ----------
        X, y, groups
            As in :meth:`split`.

        Yields
        ------
        train, validation, test : ndarray of row numbers

        Raises
        ------
        ValueError
            For fewer than 3 blocks, if a group has fewer rows than blocks, or if a gap leaves a part empty.

        Examples
        --------
        >>> from stakes.training import HBlockSplit
        >>> train, validation, test = next(HBlockSplit(3).split_with_validation(range(6)))
        >>> train.tolist(), validation.tolist(), test.tolist()
        ([4, 5], [2, 3], [0, 1])
        """
        del y
        if self.n_blocks < 3:
            raise ValueError(f"n_blocks must be >= 3 to train, validate and test, got {self.n_blocks}.")
        block, place = self._layout(X, groups)
        for fold in range(self.n_blocks):
            test = block == fold
            chosen = block == (fold + 1) % self.n_blocks
            validation = chosen & ~self._near(test, place)
            train = ~(test | chosen) & ~self._near(test | validation, place)
            yield _filled(train, fold, "train"), _filled(validation, fold, "validate"), np.flatnonzero(test)

    def blocks(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Rows:
        """Number the blocks: rows with the same number are in one block of one group.

        Parameters
        ----------
        X, y, groups
            As in :meth:`split`.

        Returns
        -------
        ndarray of shape (n,)
            For ``segment_windows(..., groups=)``: windows that cross no cut of any fold.

        Raises
        ------
        ValueError
            If a group has fewer rows than blocks.

        Examples
        --------
        >>> from stakes.training import HBlockSplit
        >>> HBlockSplit(2).blocks(range(6), groups=[1, 1, 1, 1, 2, 2]).tolist()
        [0, 0, 1, 1, 2, 3]
        """
        del y
        block, _ = self._layout(X, groups)
        return group_codes(len(block), groups)[0] * self.n_blocks + block

    def _layout(self, X: Any, groups: ArrayLike | None) -> tuple[Rows, Rows]:
        """Block of each row within its group, and its position in time; groups are farther apart than any gap."""
        check_same_order(X=X, groups=groups)
        shape = getattr(X, "shape", None)
        if shape == () or (shape is None and not hasattr(X, "__len__")):
            raise TypeError(f"X must be rows, such as an array or range(n), got {X!r}.")
        n_rows = shape[0] if shape is not None else len(X)
        code, names = group_codes(n_rows, groups)
        size = np.bincount(code, minlength=len(names))
        if n_rows == 0 or size.min() < self.n_blocks:
            where = f" in group {names[int(size.argmin())]!r}" if groups is not None and n_rows else ""
            raise ValueError(
                f"n_blocks must not exceed the rows, got {self.n_blocks} blocks for {min(size, default=0)} rows{where}."
            )
        place = place_in_group(code)
        # block k holds the places from ceil(k * size / h) on: sizes differ by one at most
        block = place * self.n_blocks // size[code]
        return block, place + code * (n_rows + self.gap)

    def _near(self, rows: Bools, place: Rows) -> Bools:
        """Whether a row lies within the gap of one of these rows."""
        if self.gap == 0:
            return np.zeros(len(rows), dtype=bool)
        taken = np.sort(place[rows])
        after = np.searchsorted(taken, place)
        following = taken[np.minimum(after, len(taken) - 1)] - place
        previous = place - taken[np.maximum(after - 1, 0)]
        return ((following >= 0) & (following <= self.gap)) | ((previous >= 0) & (previous <= self.gap))

    def __repr__(self) -> str:
        return f"HBlockSplit(n_blocks={self.n_blocks}, gap={self.gap})"


def group_codes(n_rows: int, groups: ArrayLike | None) -> tuple[Rows, list[Any]]:
    """Number the groups, and name them."""
    if groups is None:
        return np.zeros(n_rows, dtype=np.intp), [None]
    labels = to_array(groups, "groups")
    if labels.shape != (n_rows,):
        raise ValueError(f"groups must have one value per row, got shape {labels.shape} for {n_rows} rows.")
    refuse_missing(labels, "groups")
    kinds = {type(label).__name__ for label in labels.tolist()}
    if len(kinds) > 1:
        raise ValueError(f"groups must be labels of one kind, got {', '.join(sorted(kinds))}.")
    names, code = np.unique(labels, return_inverse=True)
    return code.reshape(-1).astype(np.intp), names.tolist()


def place_in_group(code: Rows) -> Rows:
    """Position of each row among the rows of its group, in input order."""
    order = np.argsort(code, kind="stable")
    size = np.bincount(code)
    place = np.empty(len(code), dtype=np.intp)
    place[order] = np.arange(len(code)) - np.repeat(np.cumsum(size) - size, size)
    return place


def _filled(rows: Bools, fold: int, purpose: str) -> Rows:
    if not rows.any():
        raise ValueError(f"no row is left to {purpose} on in fold {fold}: take fewer blocks or a smaller gap.")
    return np.flatnonzero(rows)


# Windows over ordered rows that never reach across a cut between training, validation and test.


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
    """Index of the first row of each window, within segments without a jump."""
    if not len(place):
        return np.zeros(0, dtype=np.intp)
    jump = np.flatnonzero((np.diff(place) != 1) | (np.diff(code) != 0)) + 1
    begin = np.concatenate([[0], jump])
    length = np.diff(np.append(begin, len(place)))
    count = np.maximum((length - width) // step + 1, 0)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(begin, count) + number * step
