"""h-block splits and windows: every row tested once, and nothing in training too close to what it is judged by."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from stakes.training import HBlockSplit, segment_windows

SIZES = st.lists(st.integers(25, 40), min_size=1, max_size=4)


def distances(rows, others, group):
    """Smallest distance in time from each row to the others of its group, row by row."""
    place = [sum(group[:row] == group[row]) for row in range(len(group))]
    return {
        int(row): min((abs(place[row] - place[o]) for o in others if group[o] == group[row]), default=10**9)
        for row in rows
    }


@given(SIZES, st.integers(3, 5), st.integers(0, 2), st.booleans(), st.integers(0, 99))
def test_parts_are_disjoint_complete_and_apart(sizes, n_blocks, gap, interleaved, seed):
    group = np.repeat(np.arange(len(sizes)), sizes)
    if interleaved:
        np.random.default_rng(seed).shuffle(group)
    split = HBlockSplit(n_blocks, gap=gap)
    tested = []
    for train, validation, test in split.split_with_validation(group, groups=group):
        tested += test.tolist()
        assert not set(train) & set(validation)
        assert not set(train) & set(test)
        assert not set(validation) & set(test)
        judged = [*validation, *test]
        assert all(distance > gap for distance in distances(train, judged, group).values())
        assert all(distance > gap for distance in distances(validation, test, group).values())
        # nothing is given away: a row in no part is near one that is judged
        idle = set(range(len(group))) - set(train) - set(judged)
        assert all(distance <= gap for distance in distances(idle, judged, group).values())
    assert sorted(tested) == list(range(len(group)))


@given(SIZES, st.integers(2, 5), st.integers(0, 2))
def test_pairs_leave_out_only_the_neighbours_of_the_test_block(sizes, n_blocks, gap):
    group = np.repeat(np.arange(len(sizes)), sizes)
    for train, test in HBlockSplit(n_blocks, gap=gap).split(group, groups=group):
        others = sorted(set(range(len(group))) - set(test))
        apart = distances(others, test, group)
        assert train.tolist() == [row for row in others if apart[row] > gap]


@pytest.mark.parametrize("sizes", [(12, 3), (3, 12)])
@pytest.mark.parametrize("gap", [1, 2, 3])
def test_groups_are_no_neighbours_however_small_they_are(sizes, gap):
    group = np.repeat([0, 1], sizes)
    for train, test in HBlockSplit(3, gap=gap).split(group, groups=group):
        others = sorted(set(range(len(group))) - set(test))
        apart = distances(others, test, group)
        assert train.tolist() == [row for row in others if apart[row] > gap]


def test_last_fold_validates_on_the_first_block_and_time_does_not_wrap():
    folds = list(HBlockSplit(4, gap=2).split_with_validation(range(16)))
    train, validation, test = folds[-1]
    assert (validation.tolist(), test.tolist()) == ([0, 1, 2, 3], [12, 13, 14, 15])
    assert train.tolist() == [6, 7, 8, 9]
    # rows 0 and 15 are not neighbours
    assert folds[0][0].tolist() == [10, 11, 12, 13, 14, 15]


def test_blocks_of_uneven_groups_differ_by_one_row_at_most():
    group = np.repeat(["b", "a"], [11, 7])
    blocks = HBlockSplit(3).blocks(np.zeros((18, 2)), groups=group)
    assert [np.bincount(np.unique(blocks[group == name], return_inverse=True)[1]).tolist() for name in "ab"] == [
        [3, 2, 2],
        [4, 4, 3],
    ]
    assert len(set(blocks[group == "a"]) & set(blocks[group == "b"])) == 0
    assert np.all(np.diff(blocks[group == "b"]) >= 0)


def test_scikit_learn_takes_the_splitter():
    rng = np.random.default_rng(0)
    X, y, group = rng.normal(size=(60, 2)), rng.integers(0, 2, 60), np.repeat([1, 2, 3], 20)
    scores = cross_val_score(DummyClassifier(), X, y, cv=HBlockSplit(4, gap=1), groups=group)
    assert len(scores) == HBlockSplit(4).get_n_splits(X, y, group) == 4
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=HBlockSplit(3)).fit(X, y)
    assert search.n_splits_ == 3


@pytest.mark.parametrize(
    ("split", "rows", "groups", "message"),
    [
        (HBlockSplit(5), range(4), None, "5 blocks for 4 rows"),
        (HBlockSplit(3), range(5), ["a", "a", "a", "b", "b"], "3 blocks for 2 rows in group 'b'"),
        (HBlockSplit(3, gap=4), range(9), None, "no row is left to validate on in fold 0"),
        (HBlockSplit(3, gap=2), range(12), None, "no row is left to train on in fold 2"),
        (HBlockSplit(3), range(5), [1, 2], "groups must have one value per row"),
        (HBlockSplit(2), range(5), None, "n_blocks must be >= 3"),
        (HBlockSplit(3), [], None, "3 blocks for 0 rows"),
    ],
)
def test_impossible_splits_are_refused(split, rows, groups, message):
    with pytest.raises(ValueError, match=message):
        list(split.split_with_validation(list(rows), groups=groups))


@pytest.mark.parametrize("options", [{"n_blocks": 1}, {"n_blocks": 2.5}, {"gap": -1}, {"n_blocks": True}])
def test_invalid_settings_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        HBlockSplit(**options)


def windows_by_hand(rows, width, step, group):
    """Walk along each group, cut where a row is missing, and take windows from each stretch."""
    found = []
    for name in sorted(set(group)):
        stretch = []
        for row in [r for r in range(len(group)) if group[r] == name] + [None]:
            if row is not None and row in rows:
                stretch.append(row)
                continue
            found += [stretch[s : s + width] for s in range(0, len(stretch) - width + 1, step)]
            stretch = []
    return found


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=40), st.integers(1, 5), st.integers(1, 6)
)
def test_windows_are_those_of_a_walk_along_the_rows(data, width, step):
    taken, group = np.array([t for t, _ in data]), np.array([g for _, g in data])
    rows = np.flatnonzero(taken)
    ours = segment_windows(rows, width=width, step=step, groups=group)
    assert ours.shape[1] == width
    assert ours.tolist() == windows_by_hand(set(rows.tolist()), width, step, group)
    alone = segment_windows(rows, width=width, step=step)
    assert alone.tolist() == windows_by_hand(set(rows.tolist()), width, step, np.zeros(len(group), dtype=int))


def test_no_window_shares_a_row_with_another_part():
    group = np.repeat([1, 2], [57, 40])
    split = HBlockSplit(5, gap=3)
    blocks = split.blocks(group, groups=group)
    for parts in split.split_with_validation(group, groups=group):
        windows = [segment_windows(rows, width=4, step=2, groups=blocks) for rows in parts]
        assert all(len(part) for part in windows)
        for part, rows in zip(windows, parts, strict=True):
            assert set(part.ravel()) <= set(rows)
            assert np.all(np.diff(part, axis=1) == 1)
            assert np.all(blocks[part] == blocks[part[:, :1]])


def test_window_does_not_run_from_one_group_into_the_next():
    # places 0, 1, 2 of the first group, then 3 and 4 of the second
    windows = segment_windows([0, 1, 2, 6, 7], width=2, step=1, groups=[0, 0, 0, 1, 1, 1, 1, 1])
    assert windows.tolist() == [[0, 1], [1, 2], [6, 7]]


def test_default_windows_do_not_overlap():
    assert segment_windows(range(7), width=3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert segment_windows([], width=3).shape == (0, 3)
    assert segment_windows([4, 5], width=3).shape == (0, 3)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([0, 2, 1], {"width": 1}, "rows must ascend, got 2 before 1 at index 1"),
        ([0, 0], {"width": 1}, "rows must ascend"),
        ([-1, 0], {"width": 1}, ">= 0, got -1"),
        ([0.5], {"width": 1}, "row numbers, got float64"),
        ([0, 5], {"width": 1, "groups": [1, 1]}, "got 2 for row 5"),
        ([0], {"width": 0}, "width must be a whole number >= 1"),
        ([0], {"width": 1, "step": 0}, "step must be a whole number >= 1"),
    ],
)
def test_invalid_windows_are_refused(rows, options, message):
    with pytest.raises(ValueError, match=message):
        segment_windows(rows, **options)


def test_no_rows_are_left_out_beside_a_block_unless_asked_for():
    assert repr(HBlockSplit(3)) == "HBlockSplit(n_blocks=3, gap=0)"
    assert all(len(train) + len(test) == 12 for train, test in HBlockSplit(3).split(range(12)))
