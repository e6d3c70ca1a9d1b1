"""Sums of what rows cost, made in the engine, are those of the arrays."""

import numpy as np
import pytest

from stakes import costs
from stakes.core.score_table import losses_by_score, row_losses
from stakes.tables import DataError, expressible, sum_losses

pl = pytest.importorskip("polars")

KINDS = {
    "uniform": costs.Uniform(0.05, 0.3),
    "fixed": costs.Fixed(0.2),
    "ties": costs.Fixed(0.2, tie=0.25),
    "logarithms": costs.LogOddsUniform(0.05, 0.6),
    "values": costs.Empirical([0.05, 0.2, 0.3], weights=[1, 3, 2], tie=0.5),
    "sum": 2 * costs.Uniform(0, 1) + costs.Fixed(0.5),
}


def frame(rows=500):
    rng = np.random.default_rng(0)
    score = np.round(rng.beta(1.0, 5.0, rows), 2)  # with ties at thresholds
    return {"y": (rng.random(rows) < score).astype(int), "a": score, "b": np.clip(score + 0.1, 0.0, 1.0)}


def engines(columns):
    duckdb = pytest.importorskip("duckdb")
    eager = pl.DataFrame(columns)
    yield eager.lazy()
    yield duckdb.from_arrow(eager.to_arrow())


@pytest.mark.parametrize("rule", ["score", 0.25])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_the_arrays(kind, rule):
    columns, measure = frame(), KINDS[kind]
    for lazy in engines(columns):
        found = sum_losses(lazy, label="y", models=["a", "b"], costs=measure, rule=rule)
        assert set(found) == {("a", None, None), ("b", None, None)}
        for name in ("a", "b"):
            each = row_losses(columns["y"] == 1, columns[name], measure, rule)
            negative, positive = losses_by_score(columns[name], measure, rule)
            promise = columns[name] * positive + (1.0 - columns[name]) * negative
            stated = {"n": 500, "total": each.sum(), "squares": (each**2).sum(), "promised": promise.sum()}
            assert found[name, None, None] == pytest.approx(stated, rel=1e-12)


def test_sums_of_groups_are_those_of_their_rows():
    site, ward = np.arange(500) % 3, np.where(np.arange(500) % 7 == 0, "north", "south")
    columns, measure = frame() | {"site": site, "ward": ward}, KINDS["uniform"]
    for lazy in engines(columns):
        found = sum_losses(lazy, label="y", models=["a", "b"], costs=measure, groups=["site", "ward"])
        assert len(found) == 2 * (1 + 3 + 2)
        for column, groups in (("site", [0, 1, 2]), ("ward", ["north", "south"])):
            for group in groups:
                mine = columns[column] == group
                each = row_losses(columns["y"][mine] == 1, columns["b"][mine], measure, "score")
                part = found["b", column, group]
                assert part["n"] == mine.sum()
                assert part["total"] == pytest.approx(each.sum(), rel=1e-12)
                assert part["squares"] == pytest.approx((each**2).sum(), rel=1e-12)


def test_a_missing_group_is_refused():
    lazy = pl.LazyFrame(frame() | {"site": [None, *["a"] * 499]})
    with pytest.raises(DataError, match="site"):
        sum_losses(lazy, label="y", models=["a"], costs=KINDS["fixed"], groups=["site"])


def test_costs_without_a_short_form_and_bad_values():
    columns = frame()
    assert expressible(costs.Empirical(np.arange(1, 101) / 128.0))  # up to 100 values
    for long in (costs.Beta(2, 8), costs.Empirical(np.arange(1, 102) / 128.0), costs.Fixed(0.2) + costs.Beta(2, 8)):
        assert sum_losses(pl.LazyFrame(columns), label="y", models=["a"], costs=long) is None
    for value in (1.5, float("nan"), None):
        bad = pl.LazyFrame(columns | {"a": [value, *columns["a"][1:].tolist()]})
        with pytest.raises(DataError, match="column 'a'"):
            sum_losses(bad, label="y", models=["a"], costs=KINDS["fixed"])
