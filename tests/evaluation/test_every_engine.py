"""One evaluation and its refusals on every engine: files, Dask with workers, Ibis, SQLFrame and both kinds of Spark."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from engines import ENGINES

from stakes import evaluate_frame
from stakes.inference import PairSums

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

pytestmark = [pytest.mark.filterwarnings("ignore")]  # engines warn of one another

RNG = np.random.default_rng(23)
ROWS = 2000
RISK = RNG.random(ROWS)
Y = RNG.random(ROWS) < RISK
COLUMNS = {
    "y": np.where(Y, "case", "control"),
    "a": np.clip(RISK + RNG.normal(0.0, 0.1, ROWS), 0.0, 1.0),
    "b": np.clip(RISK + RNG.normal(0.0, 0.3, ROWS), 0.0, 1.0).round(2),
    "w": RNG.choice([0.0, 1.0, 2.0, 0.5], ROWS),
    "site": RNG.choice(["north", "south"], ROWS),
}
ASKED = {"label": "y", "pos_label": "case", "models": ["a", "b"], "costs": (0.1, 0.4), "weight": "w"}


@pytest.fixture(params=ENGINES, ids=lambda make: make.__name__)
def lazy(request):
    return request.param


def exact(values, weights, chosen):
    """Weighted counts by score, added with no rounding."""
    found = {}
    for value, weight in zip(values[chosen], weights[chosen], strict=True):
        found.setdefault(value, []).append(weight)
    return {value: math.fsum(parts) for value, parts in found.items()}


def test_tables_are_bit_equal_and_losses_within_rounding(lazy):
    found = evaluate_frame(lazy(COLUMNS), groups="site", **ASKED)
    known = evaluate_frame(pl.DataFrame(COLUMNS), groups="site", **ASKED)
    for name in ("a", "b"):
        table, counted = found.score_table(name), COLUMNS["w"] > 0.0
        for column, chosen in (("positives", Y), ("negatives", ~Y)):
            sums = exact(COLUMNS[name], COLUMNS["w"], chosen & counted)
            given = dict(zip(table.scores.tolist(), getattr(table, column).tolist(), strict=True))
            assert {score: weight for score, weight in given.items() if weight} == sums
        assert found[name].score == pytest.approx(known[name].score, rel=1e-13)
        assert found[name].interval == pytest.approx(known[name].interval, rel=1e-10)
    mine, its = (result.compare("a", "b") for result in (found, known))
    assert (mine.difference, *mine.interval) == pytest.approx((its.difference, *its.interval), rel=1e-10)
    assert [(g.group, g.model, g.n_rows) for g in found.groups] == [(g.group, g.model, g.n_rows) for g in known.groups]
    assert [g.score for g in found.groups] == pytest.approx([g.score for g in known.groups], rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": [0.1, 1.2, 0.3, 0.4]}, r"column 'a': must lie in \[0, 1\], got 1.2 \(1 of 4 rows\)"),
        ({"b": [0.1, float("nan"), 0.3, 0.4]}, r"column 'b': must not be missing \(1 of 4 rows\)"),
        ({"y": [0, 1, 2, 1]}, r"column 'y': labels must take two values, not 3 \(0, 1, 2\)"),
        ({"w": [1.0, -1.0, 1.0, 1.0]}, r"column 'w': must be finite and >= 0, got -1.0 \(1 of 4 rows\)"),
        ({"w": [1.0, math.inf, 1.0, 1.0]}, r"column 'w': must be finite and >= 0, got inf \(1 of 4 rows\)"),
        ({"w": [1.0, math.nan, 1.0, math.nan]}, r"column 'w': must not be missing \(2 of 4 rows\)"),
    ],
    ids=["score", "missing", "labels", "weight", "infinite", "no weight"],
)
def test_hostile_columns_get_the_words_they_get_in_memory(lazy, changes, message):
    good = {"y": [0, 1, 1, 0], "a": [0.1, 0.2, 0.3, 0.4], "b": [0.4, 0.5, 0.6, 0.7], "w": [1.0, 2.0, 1.0, 1.0]}
    asked = {"label": "y", "models": ["a", "b"], "weight": "w", "costs": (0.1, 0.4)}
    with pytest.raises(ValueError, match=message):
        PairSums.from_frame(lazy(good | changes), **asked)
    with pytest.raises(ValueError, match=message) as found:
        evaluate_frame(lazy(good | changes), **asked)
    with pytest.raises(ValueError, match="column") as known:
        evaluate_frame(pl.DataFrame(good | changes), **asked)
    # rows of an engine have no place, and none of them is the one with the third label
    assert str(found.value) == re.sub(r", row \d+|(?<=\(0, 1, 2\)), got 2", "", str(known.value))


@pytest.mark.parametrize("labels", [[False, True], [0, 1]], ids=str)
def test_labels_of_other_kinds_are_read(lazy, labels):
    columns = {"y": np.array(labels)[Y.astype(int)], "a": COLUMNS["a"], "b": COLUMNS["b"]}
    sums = PairSums.from_frame(lazy(columns), label="y", models=["a", "b"], costs=(0.1, 0.4), pos_label=labels[1])
    assert sums.rows.tolist() == [int((~Y).sum()), int(Y.sum())]


def test_incomplete_rows_are_left_out_and_counted(lazy):
    columns = COLUMNS | {"a": COLUMNS["a"].copy(), "w": COLUMNS["w"].copy()}
    columns["w"][:9], columns["w"][9:12], columns["a"][3:7] = 1.0, np.nan, np.nan
    found, known = (evaluate_frame(make(columns), on_missing="drop", **ASKED) for make in (lazy, pl.DataFrame))
    assert (found.n_dropped, found.n_rows) == (known.n_dropped, known.n_rows) == (7, int((columns["w"] > 0).sum()) - 4)
    assert found["b"].score == pytest.approx(known["b"].score, rel=1e-13)


def test_infinite_scores_are_no_missing_ones(lazy):
    columns = COLUMNS | {"a": COLUMNS["a"].copy()}
    columns["a"][5], columns["a"][8] = np.inf, np.nan
    with pytest.raises(ValueError, match=r"column 'a': must lie in \[0, 1\], got inf"):
        evaluate_frame(lazy(columns), on_missing="drop", **ASKED)


CLUSTERED = COLUMNS | {"patient": np.char.add("p", (np.arange(ROWS) % 167).astype(str))}


def test_intervals_over_clusters_are_those_of_the_rows(lazy):
    found, known = (evaluate_frame(make(CLUSTERED), clusters="patient", **ASKED) for make in (lazy, pl.DataFrame))
    for name in ("a", "b", "treat all", "treat none"):
        assert found[name].score == pytest.approx(known[name].score, rel=1e-13)
        assert found[name].interval == pytest.approx(known[name].interval, rel=1e-10)
        assert found[name].note == known[name].note
    for pair in (("a", "b"), ("a", "treat none"), ("treat all", "b"), ("treat all", "treat none")):
        mine, its = (result.compare(*pair) for result in (found, known))
        assert (mine.difference, *mine.interval) == pytest.approx((its.difference, *its.interval), rel=1e-10)
        assert mine.p_value == pytest.approx(its.p_value, rel=1e-10)
        assert mine.note == its.note
    assert found.moments.rows == known.moments.rows
    assert (found.moments.clusters, found.rows) == (167, None)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (["u", "v", None, "x", "y", "z", "u", "v"], r"column 'of': must not be missing \(1 of 8 rows\)"),
        ([1.0, 2.0, math.nan, 4.0, 5.0, 6.0, math.nan, 2.0], r"column 'of': must not be missing \(2 of 8 rows\)"),
        ([7] * 8, "clusters must hold at least 5 clusters, got 1"),
    ],
    ids=["null", "nan", "one"],
)
def test_hostile_clusters_get_the_words_they_get_in_memory(lazy, clusters, message):
    columns = {"y": [0, 1, 1, 0] * 2, "a": [0.1, 0.2, 0.3, 0.4] * 2, "of": clusters}
    asked = {"label": "y", "models": ["a"], "clusters": "of", "costs": (0.1, 0.4)}
    with pytest.raises(ValueError, match=message) as found:
        evaluate_frame(lazy(columns), **asked)
    with pytest.raises(ValueError, match=r"of|clusters") as known:
        evaluate_frame(pl.DataFrame(columns, strict=False), **asked)
    assert str(found.value) == re.sub(r", row \d+", "", str(known.value))
