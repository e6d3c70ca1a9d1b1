"""Plain folds leak what h-blocks do not, and the replication that compares them says so."""

import numpy as np
import pytest

from replications import leakage
from stakes.training import HBlockSplit, segment_windows


@pytest.fixture
def drift():
    """Random walks that have nothing to do with whose they are: only neighbours in time look alike."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(4), 900)
    return leakage.Task(rng.standard_normal((3600, 3)).cumsum(axis=0), group, 5, 8)


def rows_of(task, fold):
    split = HBlockSplit(task.n_blocks, gap=task.width)
    return list(split.split_with_validation(task.values, groups=task.group))[fold]


def test_windows_of_a_stretch_overlap_by_three_quarters(drift):
    windows = drift.windows(np.arange(20), drift.group)
    assert windows.tolist() == [list(range(start, start + 8)) for start in range(0, 13, 2)]


def test_features_are_those_of_each_axis(drift):
    X, y = drift.part(np.array([[900, 901, 902, 903]]))
    x = drift.values[900:904]
    steps = [np.mean([abs(x[i + 1, a] - x[i, a]) for i in range(3)]) for a in range(3)]
    assert X[0] == pytest.approx([*x.mean(0), *x.std(0), *x.min(0), *x.max(0), *steps])
    assert y.tolist() == [1]


def test_plain_windows_share_readings_with_validation_and_blocks_do_not(drift, monkeypatch):
    cut = []
    monkeypatch.setattr(leakage.Task, "part", lambda _, windows: cut.append(windows))
    leakage.parts(drift, 2)
    plain_train, plain_validation, train, validation, test = (set(windows.ravel().tolist()) for windows in cut)
    assert len(cut[1]) == len(cut[3])
    assert plain_train & plain_validation
    assert not train & validation
    for part, rows in zip((train, validation, test), rows_of(drift, 2), strict=True):
        assert part <= set(rows.tolist())
    judged = np.array(sorted(test))
    for other in (plain_train | plain_validation, train | validation):  # neither scheme has seen the test block
        mine = np.array(sorted(other))
        near = np.abs(judged[:, None] - mine[None, :]) <= drift.width
        assert not np.any(near & (drift.group[judged][:, None] == drift.group[mine][None, :]))


def test_plain_folds_find_whose_windows_are_where_only_neighbours_in_time_look_alike(drift):
    drift.values[:] %= 40  # the walks of all four pass the same places
    found = leakage.one_fold(drift, 0)["1 neighbour"]
    chance = 1 / 4
    assert found["plain"]["accuracy"] > 0.8
    assert max(found[where]["accuracy"] for where in ("h-block", "test")) < chance + 0.2


def hand_made(plain, blocks, test):
    """Two models whose losses in validation by each scheme and on the test block are given."""
    return {
        name: {
            where: {"Brier": v, "penalized Brier": v, "accuracy": 1 - v, "F1": 1 - v}
            for where, v in zip((*leakage.SCHEMES, "test"), values, strict=True)
        }
        for name, values in zip("ab", zip(plain, blocks, test, strict=True), strict=True)
    }


def test_choices_and_what_they_cost_are_counted_fold_by_fold():
    folds = [hand_made((0.1, 0.2), (0.4, 0.3), (0.6, 0.5)), hand_made((0.1, 0.2), (0.3, 0.4), (0.5, 0.7))]
    rows = list(leakage.choices(folds))
    assert rows[0] == ["Brier", "plain", "a (2)", "0.1000", "0.5500", "0.4500", "0.4500"]
    assert rows[1][:5] == ["Brier", "h-block", "b (1), a (1)", "0.3000", "0.5000"]
    assert rows[2][:5] == ["Brier", "test", "b (1), a (1)", "0.5000", "0.5000"]
    assert [leakage.agreement(folds[:1], scheme) for scheme in leakage.SCHEMES] == pytest.approx([-1, 1])
    assert next(leakage.differences(folds)) == ["Brier", "+0.0500", "+0.0000 to +0.1000", "1", "0"]


def test_walking_files_are_read_with_a_line_of_names_or_without(tmp_path, monkeypatch):
    folder = tmp_path / "data" / leakage.WALKING
    folder.mkdir(parents=True)
    (folder / "1.csv").write_text("time-step, x acceleration, y acceleration, z acceleration\n0,1,2,3\n0.03,4,5,6\n")
    (folder / "2.csv").write_text("0,7,8,9\n")
    monkeypatch.setenv("STAKES_REFERENCE_DIR", str(tmp_path))
    task = leakage.walking()
    assert task.values.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert task.group.tolist() == [0, 0, 1]
    assert segment_windows(range(2), width=2, groups=task.group).tolist() == [[0, 1]]
    for file in folder.iterdir():
        file.unlink()
    with pytest.raises(SystemExit, match="has no files: get User Identification From Walking Activity"):
        leakage.walking()
