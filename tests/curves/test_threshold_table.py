"""The threshold table counts from the definition, at every distinct score or at chosen thresholds."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from strategies import samples

from stakes import ScoreTable, costs, net_benefit_score, regret_curve
from stakes.curves import threshold_table

pytestmark = pytest.mark.filterwarnings("ignore:sensitivity or specificity is undefined")


def over(top, bottom):
    if bottom == 0:
        return math.inf if top > 0 else math.nan
    return top / bottom


def expected(y, s, w, t):
    flagged = s >= t
    tp, fp = w[flagged & (y == 1)].sum(), w[flagged & (y == 0)].sum()
    fn, tn = w[~flagged & (y == 1)].sum(), w[~flagged & (y == 0)].sum()
    return {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "sensitivity": over(tp, tp + fn),
        "specificity": over(tn, tn + fp),
        "ppv": over(tp, tp + fp),
        "npv": over(tn, tn + fn),
        "lr_positive": over(over(tp, tp + fn), over(fp, fp + tn)),
        "lr_negative": over(over(fn, tp + fn), over(tn, fp + tn)),
        "share_flagged": (tp + fp) / w.sum(),
        "regret": (t * fp + (1 - t) * fn) / w.sum(),
        "net_benefit": (tp - fp * t / (1 - t)) / w.sum() if t < 1 else math.nan,
        "odds": t / (1 - t) if t < 1 else math.inf,
        "cost_ratio": t,
        "threshold": t,
    }


@given(samples(), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4))
def test_every_column_is_its_definition(sample, chosen):
    y, s = np.asarray(sample.y), np.asarray(sample.score) + 0.0
    w = np.ones(len(y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)
    every = sorted(set(s[w > 0].tolist()))
    for thresholds, given_ in ((every, None), (chosen, chosen)):
        table = threshold_table(y, s, sample_weight=sample.weight, thresholds=given_)
        assert table.threshold.tolist() == thresholds
        for row, t in enumerate(thresholds):
            for name, value in expected(y, s, w, t).items():
                # a class of rounding error only is the one thing that the oracle sees differently
                got = float(getattr(table, name)[row])
                assert got == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), (name, t)


def test_rates_of_nothing_are_nan_and_likelihood_ratios_may_be_infinite():
    table = threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.5, 0.8], thresholds=[0.0, 0.5, 0.9])
    assert np.isnan(table.npv[0])  # no one is left
    assert np.isnan(table.ppv[2])  # no one is flagged
    assert table.lr_positive[1] == math.inf
    assert np.isnan(table.lr_positive[2])
    assert np.isnan(table.lr_negative[0])


@given(samples(), st.floats(0.0, 0.99))
def test_regret_and_net_benefit_are_those_of_the_curves(sample, t):
    table = threshold_table(sample.y, sample.score, sample_weight=sample.weight, thresholds=t)
    arguments = {"sample_weight": sample.weight}
    assert float(table.regret[0]) == pytest.approx(
        float(regret_curve(sample.y, sample.score, **arguments).at(t)), abs=1e-12
    )
    assert float(table.net_benefit[0]) == pytest.approx(
        net_benefit_score(sample.y, sample.score, threshold=t, **arguments), abs=1e-10
    )


@pytest.mark.parametrize("stated", [0.2, costs.Fixed(0.2), costs.Uniform(0.1, 0.3), costs.Beta(2, 8)])
def test_costs_may_be_stated_apart_from_the_threshold(stated):
    y, s = [0, 0, 1, 1], [-3.0, 7.0, 2.0, 9.0]  # scores that only rank
    table = threshold_table(y, s, thresholds=[2.0], costs=stated)
    assert table.cost_ratio.tolist() == pytest.approx([0.2])
    assert table.regret.tolist() == pytest.approx([0.2 * 1 / 4])
    assert table.net_benefit.tolist() == pytest.approx([2 / 4 - 0.25 * 1 / 4])


def test_regret_under_a_cost_distribution_is_the_expected_regret_of_the_deployed_threshold():
    from stakes import expected_regret

    y, s, w = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], costs.Triangular(0.1, 0.2, 0.6)
    table = threshold_table(y, s, costs=w)
    expected_values = [expected_regret(y, s, costs=w, rule=t) for t in table.threshold]
    np.testing.assert_allclose(table.regret, expected_values, atol=1e-14)


def test_counts_may_be_stated_per_thousand_and_for_a_prevalence():
    table = threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.35], per=1000, prevalence=0.1)
    assert [float(getattr(table, name)[0]) for name in ("tp", "fp", "fn", "tn")] == pytest.approx([100, 450, 0, 450])
    assert float(table.ppv[0]) == pytest.approx(100 / 550)


def test_table_in_place_of_rows_and_many_thresholds():
    rng = np.random.default_rng(0)
    s = rng.random(10_000)
    y = rng.random(10_000) < s
    table = threshold_table(ScoreTable.from_predictions(y, s))
    assert len(table.threshold) == 10_000
    assert repr(table).startswith("ThresholdTable(10000 thresholds in [")
    assert table._repr_html_().count("<tr>") == 61  # a notebook shows a part
    assert "60 of 10000 thresholds" in table._repr_html_()
    shown = re.findall(r"<td[^>]*>([^<]*)</td>", table._repr_html_())
    width = len(shown) // 60
    assert [float(shown[0]), float(shown[-width])] == pytest.approx([s.min(), s.max()], abs=6e-5)  # both ends


def test_one_class_only_warns_and_leaves_what_is_defined():
    with pytest.warns(UndefinedMetricWarning, match="only one class is present"):
        table = threshold_table([1, 1], [0.2, 0.6])
    assert np.isnan(table.specificity).all()
    assert table.sensitivity.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": [0.2, 1.5]}, r"thresholds must lie in \[0, 1\] \(for other scores pass costs=\), got 1.5"),
        ({"thresholds": [np.nan], "costs": 0.1}, "thresholds must not be nan, got nan at index 0"),
        ({"thresholds": []}, "thresholds must be one or more numbers"),
        ({"costs": 1.2}, r"costs must lie in \[0, 1\], got 1.2"),
        ({"costs": costs.LogOddsUniform(0, 1)}, r"mean needs a cost distribution with mass in \(0, inf\)"),
        ({"per": 0}, "per must be a finite number > 0, got 0"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        threshold_table([0, 1], [0.2, 0.7], **options)


def test_frame_has_every_column():
    pytest.importorskip("polars")
    from stakes.curves._decision import COLUMNS

    table = threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    frame = table.frame("polars")
    assert frame.columns == list(COLUMNS)
    assert [list(record.values()) for record in table._records()][3][:5] == list(frame.row(3))[:5]
    assert table.to_markdown().splitlines()[0].startswith("| threshold | tp |")


def test_a_threshold_of_minus_zero_is_zero():
    found = threshold_table([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], thresholds=[-0.0, 0.5])
    assert repr(found) == "ThresholdTable(2 thresholds in [0, 0.5])"
    assert not np.signbit([found.threshold, found.cost_ratio, found.odds]).any()
