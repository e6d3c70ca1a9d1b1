"""Models at several horizons, the table of a paper, and its figure."""

import io
import math
import re
import sys
import types

import numpy as np
import pytest

from stakes import RowCosts, TimeToEvent, evaluate, evaluate_frame
from stakes.evaluation import evaluate_centres, evaluate_horizons

HORIZONS = [1.0, 2.5, 4.0]
RNG = np.random.default_rng(5)
X = RNG.normal(size=300)
EVENT_AT = RNG.exponential(np.exp(1.6 - X))
LEFT_AT = RNG.uniform(0.0, 9.0, 300)
TIME, EVENT = np.minimum(EVENT_AT, LEFT_AT), EVENT_AT <= LEFT_AT
RISK = np.stack([1.0 - np.exp(-h * np.exp(X - 1.6)) for h in HORIZONS], axis=1)
BLUNT = np.stack([1.0 - np.exp(-h * np.exp(0.3 * X - 1.2)) for h in HORIZONS], axis=1)
OUTCOME = TimeToEvent(event=EVENT, time=TIME, horizon=2.0)
FOUND = evaluate_horizons(OUTCOME, {"a": RISK, "b": BLUNT}, horizons=HORIZONS, threshold=0.3)


def weights(horizon):
    """Status by the horizon, and one over the Kaplan-Meier chance of being followed until just before the row's end."""
    y, weight = [], []
    for time, event in zip(TIME, EVENT, strict=True):
        end = min(time, horizon)
        stay = 1.0
        for other, its_event in zip(TIME, EVENT, strict=True):
            if other < end and not its_event:
                stay *= 1.0 - 1.0 / np.count_nonzero(other <= TIME)
        y.append(event and time <= horizon)
        weight.append(0.0 if time < horizon and not event else 1.0 / stay)
    return np.array(y), np.array(weight)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(("model", "risk"), [("a", RISK), ("b", BLUNT)])
def test_numbers_are_those_of_weighted_rows(model, risk, place):
    y, weight = weights(HORIZONS[place])
    p, total = risk[:, place], weight.sum()
    rate = weight[y].sum() / total
    brier = np.dot(weight, (y - p) ** 2) / total
    of_pairs = np.sign(p[y][:, None] - p[~y]) / 2.0 + 0.5
    pairs = weight[y][:, None] * weight[~y]
    acted = p >= 0.3
    expected = {
        "brier_loss": brier,
        "ipa": 1.0 - brier / (rate * (1.0 - rate)),
        "auc": (pairs * of_pairs).sum() / pairs.sum(),
        "o_e_ratio": rate / p.mean(),
        "net_benefit": (weight[acted & y].sum() - 3.0 / 7.0 * weight[acted & ~y].sum()) / total,
    }
    found = {name: each.value for name, each in FOUND.estimates[model][place].items()}
    assert found == pytest.approx(expected, abs=1e-12)
    record = next(r for r in FOUND._records() if (r["model"], r["horizon"]) == (model, HORIZONS[place]))
    assert {name: record[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert record["events"] == np.count_nonzero(y)
    assert record["at_risk"] == np.count_nonzero(HORIZONS[place] <= TIME)
    assert record["event_rate"] == pytest.approx(rate)
    assert all(record[f"{name}_ci_low"] < record[name] < record[f"{name}_ci_high"] for name in expected)


def test_one_net_benefit_has_one_interval():
    at = OUTCOME.at(2.5)
    table = evaluate(at, {"a": RISK[:, 1]}, costs=(0.1, 0.5)).clinical_table([0.3])._records()[0]
    shown = (table["net_benefit_at_0.3_ci_low"], table["net_benefit_at_0.3_ci_high"])
    assert FOUND.estimates["a"][1]["net_benefit"].interval == pytest.approx(shown, abs=1e-12)
    centre = np.where(X > 0.0, "Graz", "Oslo")
    mine = centre == "Graz"
    alone = evaluate(Y[mine], {"a": RISK[mine, 1]}, costs=(0.1, 0.5)).clinical_table([0.3])._records()[0]
    shown = (alone["net_benefit_at_0.3_ci_low"], alone["net_benefit_at_0.3_ci_high"])
    found = evaluate_centres(Y, {"a": RISK[:, 1]}, centre, threshold=0.3).estimates["a"]["Graz"]["net_benefit"]
    assert found.interval == pytest.approx(shown, abs=1e-12)


def test_differences_are_those_of_the_numbers():
    rows = FOUND.differences().rows
    assert [(row["horizon"], row["measure"]) for row in rows] == [
        (h, name) for h in HORIZONS for name in ("auc", "brier_loss", "net_benefit")
    ]
    for row in rows:
        first, second = (FOUND.estimates[m][HORIZONS.index(row["horizon"])][row["measure"]].value for m in "ab")
        assert row["models"] == "a - b"
        assert row["difference"] == pytest.approx(first - second, abs=1e-12)
        assert (row["p_value"] < 0.05) == (row["ci_low"] > 0.0 or row["ci_high"] < 0.0)


def test_one_horizon_without_a_threshold_has_no_net_benefit():
    found = evaluate_horizons(OUTCOME, {"a": RISK[:, :1]}, horizons=1.0)
    assert list(found.estimates["a"][0]) == ["auc", "brier_loss", "ipa", "o_e_ratio"]
    assert "Net benefit" not in found.to_latex()
    assert found.differences().rows == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"outcome": EVENT}, "outcome must be a TimeToEvent, got ndarray"),
        ({"y_prob": {"a": RISK[:, 0]}}, r"y_prob\['a'\] must hold one column for each of the 3 horizons"),
        ({"y_prob": {"a": 1.0 - RISK}}, r"y_prob\['a'\] must not fall with the horizon.*1 - S\(t\)"),
        ({"y_prob": RISK}, "y_prob must map the names of models"),
        ({"y_prob": {}}, "y_prob must map the names of models"),
        ({"y_prob": {"a": 2.0 * RISK}}, r"y_prob\['a'\]"),
        ({"y_prob": {"a": RISK[:-1]}}, r"y_prob\['a'\]"),
        ({"horizons": [1.0, 1.0, 4.0]}, "horizons must be one or more ascending times"),
        ({"horizons": []}, "horizons must be one or more ascending times"),
        ({"horizons": [1.0, 2.5, 99.0]}, "99"),
        ({"threshold": 1.0}, "threshold must lie strictly between 0 and 1, got 1"),
        ({"threshold": 0.0}, "threshold must lie strictly between 0 and 1, got 0"),
        ({"confidence_level": 95}, "confidence_level"),
    ],
)
def test_what_cannot_be_meant_is_refused(changed, message):
    given = {"outcome": OUTCOME, "y_prob": {"a": RISK}, "horizons": HORIZONS} | changed
    with pytest.raises(ValueError, match=message):
        evaluate_horizons(given.pop("outcome"), given.pop("y_prob"), **given)


def test_concordance_refuses_what_it_does_not_know():
    codes = np.where(EVENT, 1 + (np.arange(300) % 2), 0)
    competing = TimeToEvent(event=codes, time=TIME, horizon=2.0, cause=1)
    with pytest.raises(ValueError, match="events of other causes"):
        evaluate_horizons(competing, {"a": RISK}, horizons=HORIZONS).concordance()
    weighted = TimeToEvent(event=EVENT, time=TIME, horizon=2.0, sample_weight=np.full(300, 2.0))
    with pytest.raises(ValueError, match="sample_weight"):
        evaluate_horizons(weighted, {"a": RISK}, horizons=HORIZONS).concordance()


def share_of_ordered_pairs(event, time, risk, last=None):
    """Of pairs whose first event is known, those whose first row had the higher risk; Uno's weights up to a horizon."""
    right = every = 0.0
    for start, its_risk in zip(time[event], risk[event], strict=True):
        stay = [1.0 - 1.0 / np.count_nonzero(u <= time) for u in time[~event] if u < start]
        weight = 1.0 if last is None else np.prod(stay) ** -2.0 * (start < last)
        right += weight * np.count_nonzero(risk[time > start] < its_risk)
        every += weight * np.count_nonzero(time > start)
    return right / every


def test_concordance_takes_every_event_and_the_risk_by_the_last_horizon(monkeypatch):
    """With pairs counted in the place of scikit-survival; with itself in tests/test_ecosystem.py."""
    other = types.ModuleType("sksurv.metrics")
    other.concordance_index_censored = lambda event, time, risk: (share_of_ordered_pairs(event, time, risk), 0, 0)
    other.concordance_index_ipcw = lambda known, rows, risk, tau: (
        share_of_ordered_pairs(rows["event"], rows["time"], risk, tau) if np.all(known == rows) else math.nan,
    )
    monkeypatch.setitem(sys.modules, "sksurv", types.ModuleType("sksurv"))
    monkeypatch.setitem(sys.modules, "sksurv.metrics", other)
    event, time = EVENT[:60], TIME[:60]
    models = {"a": RISK[:60], "b": np.random.default_rng(1).random((60, 3)).cumsum(axis=1) / 3.0}  # in changing order
    outcome = TimeToEvent(event=event, time=time, horizon=2.0)
    found = evaluate_horizons(outcome, models, horizons=HORIZONS).concordance().rows
    assert [row["model"] for row in found] == ["a", "b"]
    for row, risk in zip(found, (models["a"][:, 2], models["b"][:, 2]), strict=True):
        assert row["harrell_c"] == pytest.approx(share_of_ordered_pairs(event, time, risk), abs=1e-12)
        assert row["uno_c"] == pytest.approx(share_of_ordered_pairs(event, time, risk, HORIZONS[-1]), abs=1e-12)


# Bands of an evaluation and the table of a paper.

Y = RNG.random(300) < RISK[:, 1]
MODELS = {"a": RISK[:, 1], "b": BLUNT[:, 1]}


def net_benefit(y, p, t, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    acted = p >= t
    return (weight[acted & y].sum() - t / (1.0 - t) * weight[acted & ~y].sum()) / weight.sum()


@pytest.mark.parametrize("case", ["labels", "weights", "outcome"])
def test_table_of_a_paper_holds_net_benefit_with_its_interval(case):
    given, weight, y = {}, None, Y
    if case == "weights":
        weight = np.where(np.arange(300) % 3 == 0, 2.0, 1.0)
        given["sample_weight"] = weight
    if case == "outcome":
        y, weight = weights(2.0)
    found = evaluate(OUTCOME if case == "outcome" else Y, MODELS, costs=(0.1, 0.5), **given).clinical_table([0.2, 0.4])
    records = {record["model"]: record for record in found._records()}
    assert list(records) == ["a", "b", "treat all"]
    for name, p in {**MODELS, "treat all": np.ones(300)}.items():
        for t in (0.2, 0.4):
            value, *ends = (records[name][f"net_benefit_at_{t}{end}"] for end in ("", "_ci_low", "_ci_high"))
            assert value == pytest.approx(net_benefit(y, p, t, weight), abs=1e-12)
            assert ends[0] < value < ends[1]
    assert math.isnan(records["treat all"]["auc"])


def test_bands_of_kept_tables_are_those_of_the_rows():
    result = evaluate(Y, MODELS, costs=(0.1, 0.5))
    kept = evaluate(dict(zip(result.models, result.score_tables, strict=True)), costs=(0.1, 0.5))
    for name, band in result.bands(thresholds=[0.2, 0.4], references=True).items():
        other = kept.bands(thresholds=[0.2, 0.4], references=True)[name]
        np.testing.assert_allclose(other.low, band.low, rtol=1e-12)
        np.testing.assert_allclose(other.estimate, band.estimate, rtol=1e-12)


def test_clusters_widen_the_interval():
    y, models = np.repeat(Y[:60], 5), {"a": np.repeat(RISK[:60, 1], 5)}
    alone = evaluate(y, models, costs=(0.1, 0.5)).bands(thresholds=[0.3])["a"]
    together = evaluate(y, models, costs=(0.1, 0.5), clusters=np.repeat(np.arange(60), 5)).bands(thresholds=[0.3])["a"]
    width = [float(band.high[0] - band.low[0]) for band in (alone, together)]
    assert width[1] / width[0] == pytest.approx(math.sqrt(5.0), rel=0.1)


def test_table_of_a_paper_is_written_alike_everywhere():
    found = evaluate(Y, MODELS, costs=(0.1, 0.5)).clinical_table([0.2, 0.4])
    record = found._records()[0]
    shown = "{:.3f} ({:.3f} to {:.3f})".format(*(record[f"net_benefit_at_0.2{e}"] for e in ("", "_ci_low", "_ci_high")))
    assert shown in found.to_markdown()
    assert shown in found.to_latex()
    assert shown in found._repr_html_()
    assert "In brackets the 95\\% interval of each number alone." in found.to_latex()
    docx = pytest.importorskip("docx")
    document = docx.Document(io.BytesIO(found.to_word()))
    assert document.tables[0].rows[1].cells[2].text == shown
    assert document.paragraphs[-1].text == "300 rows. In brackets the 95% interval of each number alone."
    wide = evaluate(Y, MODELS, costs=(0.1, 0.5)).clinical_table([0.1, 0.2, 0.3, 0.4, 0.5])
    page = docx.Document(io.BytesIO(wide.to_word())).sections[0]
    assert page.page_width > page.page_height


def test_table_of_rare_events_has_the_decimals_that_tell_its_intervals_apart():
    rng = np.random.default_rng(2)
    p = 1.0 / (1.0 + np.exp(7.5 - rng.normal(size=20_000)))
    found = evaluate((rng.random(20_000) < p) * 1, {"a": p}, costs=(0.0005, 0.002)).clinical_table([0.0005, 0.002])
    record = found._records()[0]
    area, *cells = (
        form.format(*(record[f"{key}{end}"] for end in ("", "_ci_low", "_ci_high")))
        for key, form in {
            "auc": "{:.3f} ({:.3f} to {:.3f})",
            "net_benefit_at_0.0005": "{:.4f} ({:.4f} to {:.4f})",
            "net_benefit_at_0.002": "{:.4f} ({:.4f} to {:.4f})",
        }.items()
    )
    assert cells[0] == "0.0007 (0.0003 to 0.0012)"  # of three decimals the lower end is 0
    for text in (found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert all(cell in text for cell in (area, *cells))
    assert "0.00068 (0.00032 to 0.00118)" in found.to_latex(digits=5)
    docx = pytest.importorskip("docx")
    row = docx.Document(io.BytesIO(found.to_word())).tables[0].rows[1]
    assert [cell.text for cell in row.cells] == ["a", area, *cells]


@pytest.mark.parametrize("rows", [300, 3000, 30_000])
def test_table_of_usual_net_benefits_keeps_three_decimals(rows):
    rng = np.random.default_rng(rows)
    p = 1.0 / (1.0 + np.exp(2.0 - rng.normal(size=rows)))
    found = evaluate((rng.random(rows) < p) * 1, {"a": p, "b": p**1.1}, costs=(0.05, 0.3)).clinical_table([0.05, 0.2])
    assert set(re.findall(r"\.(\d+)(?= \()", found.to_markdown().split("\n\n")[0])) == set(
        re.findall(r"\.(\d{3})(?= \()", found.to_markdown())
    )


@pytest.mark.parametrize("costs", [(0.0, 1.0), (0.9, 1.0), 0.2, (0.1, 0.4)])
def test_bands_over_the_whole_range_are_those_of_each_threshold(costs):
    for kind, formula in (("net_benefit", net_benefit), ("regret", regret)):
        band = evaluate(Y, MODELS, costs=costs).bands(kind)["a"]
        value = [formula(Y, MODELS["a"], t) for t in band.thresholds]
        np.testing.assert_allclose(band.estimate, value, atol=1e-12)
        assert band.thresholds.max() < 1.0 or kind == "regret"
        assert len(band.thresholds) == (1 if costs == 0.2 else len(np.unique(band.thresholds)))


def regret(y, p, t):
    return (t * ((p >= t) & ~y) + (1.0 - t) * ((p < t) & y)).mean()


def test_bands_of_clusters_whose_rows_are_gone_are_refused():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"ill": Y.astype(int), "a": MODELS["a"], "ward": np.arange(300) // 3}).lazy()
    result = evaluate_frame(frame, label="ill", models=["a"], clusters="ward", costs=(0.1, 0.4))
    with pytest.raises(ValueError, match="bands of clusters need their rows, which are gone"):
        result.clinical_table([0.2])


@pytest.mark.parametrize("digits", [-1, 0, 18, "3", 2.5, True])
def test_decimals_of_a_table_are_checked(digits):
    with pytest.raises(ValueError, match="digits must be a whole number from 1 to 17, got"):
        FOUND.to_latex(digits=digits)


def test_markdown_ends_in_the_footnotes():
    *_, blank, note, other, last = FOUND.to_markdown().split("\n")
    assert (blank, other) == ("", "")
    assert note == "300 rows. In brackets the 95% interval of each number alone."
    assert last == "IPA: index of prediction accuracy. O:E: observed over expected events."


def test_what_has_no_threshold_is_refused():
    result = evaluate(Y, MODELS, costs=(0.1, 0.5))
    with pytest.raises(ValueError, match="at most 6 for a table, got 7"):
        result.clinical_table(np.linspace(0.1, 0.7, 7))
    with pytest.raises(ValueError, match='bands need rule="score"'):
        evaluate(Y, MODELS, costs=(0.1, 0.5), rule=0.3).bands()
    with pytest.raises(ValueError, match="lags= says that they are in order"):
        evaluate(Y, MODELS, costs=(0.1, 0.5), lags=2).bands()
    with pytest.raises(ValueError, match="kind must be one of"):
        result.bands("roc")
    amounts = RowCosts(Y, false_positive=1.0, false_negative=np.linspace(2.0, 9.0, 300))
    with pytest.raises(ValueError, match="amounts"):
        evaluate(amounts, MODELS).clinical_table([0.2])
