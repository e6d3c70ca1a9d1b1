"""The group-by gives the same table in every engine, and a binned table stands for the exact one within its bound."""

from collections import defaultdict
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from stakes import ScoreTable, costs
from stakes.core.score_table import table_integral
from stakes.tables import DataError, _engines as _groups, group_scores, group_scores_by
from tests.tables.conftest import LAZY

COLUMNS = ["scores", "positives", "negatives", "positives_squared", "negatives_squared"]
COSTS = [
    costs.Uniform(0, 1),
    costs.Uniform(0.02, 0.1),
    costs.LogOddsUniform(0.02, 0.1),
    costs.Beta(2, 8),
    costs.Fixed(0.1),
    costs.Fixed(0.5, tie=0.5),
]
# a coarse grid makes ties, floats make none
SCORES = st.one_of(st.integers(0, 8).map(lambda k: k / 8), st.floats(0, 1))
WEIGHTS = st.one_of(st.integers(0, 3).map(float), st.floats(0.125, 5))
ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), SCORES, WEIGHTS), min_size=1, max_size=25)


@pytest.fixture(scope="module", autouse=True, params=[_groups._MOST_HELD, 0], ids=["held", "in-the-engine"])
def most_held(request):
    """Columns of a lazy frame that are short enough leave their engine; longer ones are grouped in it."""
    with patch.object(_groups, "_MOST_HELD", request.param):
        yield request.param


@pytest.fixture(scope="module")
def builders(builders, most_held):
    """Return the builders of all installed engines; where nothing is held, of the lazy ones: the others hold all."""
    return {name: make for name, make in builders.items() if most_held or name in LAZY}


def counted(labels, scores, weights):
    """Count by hand what each distinct score carries."""
    table = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for label, score, weight in zip(labels, scores, weights, strict=True):
        if weight:
            cell = table[abs(score)]  # -0.0 and 0.0 are one score
            cell[1 - label] += weight
            cell[3 - label] += weight**2
    return [[score, *table[score]] for score in sorted(table)]


def assert_same(found, expected, tolerance=0.0):
    for name in COLUMNS:
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=tolerance, atol=0, err_msg=name)
    assert found["n_rows"] == expected.n_rows


@given(ROWS)
def test_unit_weights_give_the_exact_table_in_every_engine(builders, rows):
    labels, scores = [r[0] for r in rows], [r[1] for r in rows]
    expected = ScoreTable.from_predictions(labels, scores)
    by_hand = counted(labels, scores, [1.0] * len(rows))
    assert [list(row) for row in zip(*(getattr(expected, c).tolist() for c in COLUMNS), strict=True)] == by_hand
    for make in builders.values():
        assert_same(group_scores(make({"y": labels, "p": scores}), label="y", score="p"), expected)


@given(ROWS.filter(lambda rows: any(weight for _, _, weight in rows)))
def test_weights_give_the_same_table_in_every_engine(builders, rows):
    labels, scores, weights = map(list, zip(*rows, strict=True))
    expected = ScoreTable.from_predictions(labels, scores, sample_weight=weights)
    for make in builders.values():
        frame = make({"y": labels, "p": scores, "w": weights})
        assert_same(group_scores(frame, label="y", score="p", weight="w"), expected, 1e-12)


def test_score_table_is_built_from_any_frame(build):
    frame = build({"y": [1, 0, 0, 1], "p": [0.4, 0.1, 0.4, 0.8], "other": [9, 9, 9, 9]})
    table = ScoreTable.from_frame(frame, label="y", score="p")
    assert table.scores.tolist() == [0.1, 0.4, 0.8]
    assert table.positives.tolist() == [0, 1, 1]
    assert table.negatives.tolist() == [1, 1, 0]
    assert table.n_rows == 4


@pytest.mark.parametrize("label", [[True, False, True], [1.0, 0.0, 1.0], [1, -1, 1]])
def test_labels_of_every_kind_are_understood(build, label):
    found = group_scores(build({"y": label, "p": [0.1, 0.2, 0.3]}), label="y", score="p")
    assert found["positives"].tolist() == [1, 0, 1]


def test_text_labels_need_the_positive_one(build):
    frame = build({"y": ["no", "yes", "no"], "p": [0.1, 0.2, 0.3]})
    assert group_scores(frame, label="y", score="p", pos_label="yes")["positives"].tolist() == [0, 1, 0]
    with pytest.raises(DataError, match=r"column 'y'.*holds 'no', 'yes': pass pos_label="):
        group_scores(frame, label="y", score="p")


def test_integer_and_boolean_scores_are_hard_labels(build):
    for scores in ([0, 1, 1], [False, True, True]):
        found = group_scores(build({"y": [0, 1, 0], "p": scores}), label="y", score="p")
        assert found["scores"].tolist() == [0.0, 1.0]
        assert found["negatives"].tolist() == [1, 1]


def test_rows_of_weight_zero_are_as_if_absent(build):
    frame = build({"y": [0, 1, 2], "p": [0.1, 0.2, 7.0], "w": [1.0, 2.0, 0.0]})
    found = group_scores(frame, label="y", score="p", weight="w")
    assert (found["scores"].tolist(), found["n_rows"]) == ([0.1, 0.2], 2)


BAD = {
    "missing score": ({"p": [0.1, None, 0.3]}, "column 'p'.*must not be missing.*1 of 3 rows"),
    "NaN score": ({"p": [0.1, float("nan"), 0.3]}, "column 'p'.*must not be missing.*1 of 3 rows"),
    "missing label": ({"y": [0, None, 1]}, "column 'y'.*must not be missing.*1 of 3 rows"),
    "three labels": ({"y": [0, 1, 2]}, r"column 'y'.*labels must take two values, not 3 \(0, 1, 2\)"),
    "score above 1": ({"p": [0.1, 1.2, 0.3]}, r"column 'p'.*must lie in \[0, 1\], got 1.2 \(1 of 3 rows\)"),
    "score below 0": ({"p": [0.1, -0.5, 0.3]}, r"column 'p'.*must lie in \[0, 1\], got -0.5"),
    "infinite score": ({"p": [0.1, float("inf"), 0.3]}, r"column 'p'.*must lie in \[0, 1\], got inf"),
    "text score": ({"p": ["a", "b", "c"]}, "column 'p'.*must hold numbers"),
    "negative weight": ({"w": [1.0, -2.0, 1.0]}, "column 'w'.*must be finite.*>= 0, got -2.0"),
    "infinite weight": ({"w": [1.0, float("inf"), 1.0]}, "column 'w'.*must be finite"),
    "missing weight": ({"w": [1.0, None, 1.0]}, "column 'w'.*must.*not.*missing"),
    "weights all zero": ({"w": [0.0, 0.0, 0.0]}, "column 'w'.*(all zero|no rows of positive weight)"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("resolution", [None, 4])
def test_bad_values_are_refused_by_column_and_rule(build, is_lazy, case, resolution):
    changed, message = BAD[case]
    if case.startswith("score") and resolution:
        message = message.replace(r" \(1 of 3 rows\)", "")  # a cell may hold good rows too
    columns = {"y": [0, 1, 0], "p": [0.1, 0.2, 0.3], "w": [1.0, 1.0, 1.0]} | changed
    with pytest.raises(DataError, match=message) as caught:
        group_scores(build(columns), label="y", score="p", weight="w", resolution=resolution)
    assert caught.value.column == next(iter(changed))
    if is_lazy:  # groups have no order that a row could be counted by
        assert caught.value.row is None
        asked = {"label": "y", "score": "p", "weight": "w", "by": "g", "resolution": resolution}
        with pytest.raises(DataError, match=message):
            group_scores_by(build(columns | {"g": [0, 1, 1]}), **asked)


def test_row_is_named_where_rows_have_an_order_and_only_there(build, is_lazy):
    frame = build({"y": [0, 1, 0], "p": [0.1, 0.2, 1.5]})
    with pytest.raises(DataError) as caught:
        group_scores(frame, label="y", score="p")
    assert caught.value.row == (None if is_lazy else 3)
    assert (caught.value.value, caught.value.count, caught.value.total) == (1.5, 1, 3)


def test_empty_frame_is_refused(build):
    frame = build({"y": [0, 1], "p": [0.5, 0.5], "w": [0, 0]})
    with pytest.raises(DataError):
        group_scores(frame, label="y", score="p", weight="w")
    with pytest.raises(DataError, match="there are no rows"):
        group_scores(_without_rows(frame), label="y", score="p")


def _without_rows(frame):
    if hasattr(frame, "limit"):
        return frame.limit(0)
    return frame.slice(0, 0) if hasattr(frame, "slice") else frame.head(0)


def test_missing_column_is_named_with_those_that_exist(build):
    with pytest.raises(DataError, match=r"column 'risc': there is no such column. Did you mean 'risk'\?"):
        group_scores(build({"y": [0, 1], "risk": [0.5, 0.5]}), label="y", score="risc")


@given(ROWS.filter(lambda rows: any(weight for _, _, weight in rows)), st.integers(1, 30))
def test_binned_table_is_the_same_in_every_engine_and_keeps_each_cell(builders, rows, resolution):
    labels, scores, weights = map(list, zip(*rows, strict=True))
    cells = defaultdict(list)
    for score, weight in zip(scores, weights, strict=True):
        if weight:
            cells[min(int(score * resolution), resolution - 1)].append((score, weight))
    ordered = [cells[k] for k in sorted(cells)]
    for make in builders.values():
        frame = make({"y": labels, "p": scores, "w": weights})
        found = group_scores(frame, label="y", score="p", weight="w", resolution=resolution)
        assert found["lower"].tolist() == [min(cell)[0] for cell in ordered]
        assert found["upper"].tolist() == [max(cell)[0] for cell in ordered]
        means = [sum(s * w for s, w in cell) / sum(w for _, w in cell) for cell in ordered]
        np.testing.assert_allclose(found["scores"], means, rtol=1e-12, atol=1e-300)
        total = [sum(w for _, w in cell) for cell in ordered]
        np.testing.assert_allclose(found["positives"] + found["negatives"], total, rtol=1e-12)
        assert np.all(np.diff(found["scores"]) > 0)


@given(ROWS, st.integers(1, 30))
def test_binning_changes_the_integral_by_no_more_than_the_bound(builders, rows, resolution):
    labels, scores = [r[0] for r in rows], [r[1] for r in rows]
    exact = ScoreTable.from_predictions(labels, scores)
    for name in {"polars", "polars-lazy"} & set(builders):
        frame = builders[name]({"y": labels, "p": scores})
        binned = ScoreTable.from_frame(frame, label="y", score="p", resolution=resolution)
        for distribution, rule in product(COSTS, ("score", 0.3, "optimal")):
            off = abs(table_integral(binned, distribution, rule) - table_integral(exact, distribution, rule))
            assert off <= binned.error_bound(distribution, rule) + 1e-15, (distribution, rule)


def test_bound_shrinks_with_the_resolution(build):
    rng = np.random.default_rng(0)
    score = rng.beta(1, 6, 3000)
    frame = build({"y": (rng.random(3000) < score).astype(int).tolist(), "p": score.tolist()})
    coarse, fine = (
        ScoreTable.from_frame(frame, label="y", score="p", resolution=k).error_bound(costs.Uniform(0, 1))
        for k in (10, 1000)
    )
    # a cell of width d moves a loss by at most d
    assert 0 < fine <= 1 / 1000
    assert 50 * fine < coarse <= 1 / 10


def test_cells_with_one_distinct_score_are_exact(build):
    scores = [0.15, 0.15, 0.15, 0.72]
    frame = build({"y": [0, 1, 1, 1], "p": scores, "w": [0.1, 0.2, 0.7, 1.0]})
    table = ScoreTable.from_frame(frame, label="y", score="p", weight="w", resolution=10)
    assert table.scores.tolist() == [0.15, 0.72]
    assert table.error_bound(costs.Uniform(0, 1)) == 0.0


def test_score_one_belongs_to_the_last_cell_and_an_edge_to_the_cell_above(build):
    frame = build({"y": [0, 1, 1, 0], "p": [0.0, 0.25, 0.875, 1.0]})
    table = ScoreTable.from_frame(frame, label="y", score="p", resolution=4)
    assert table.lower.tolist() == [0.0, 0.25, 0.875]
    assert table.upper.tolist() == [0.0, 0.25, 1.0]
    assert table.scores.tolist() == [0.0, 0.25, 0.9375]


@pytest.mark.parametrize("resolution", [0, -3, 10.5])
def test_resolution_must_be_a_positive_whole_number(resolution):
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=rf"resolution must be a whole number >= 1, got {resolution}"):
        group_scores(polars.DataFrame({"y": [0], "p": [0.5]}), label="y", score="p", resolution=resolution)
