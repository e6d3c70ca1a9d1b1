"""Amounts by row in lazy frames: rows are streamed, and the answer is that of the rows in memory and of numpy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm

from stakes import costs, evaluate_frame
from stakes.evaluation import KeptEvaluation
from stakes.inference import MoneySums, money
from stakes.outcomes import OutcomeColumns, RowCosts
from stakes.tables import DataError

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(5)
ROWS = 3000
RISK = RNG.beta(1, 6, ROWS)
Y = RNG.random(ROWS) < RISK
AMOUNT = RNG.lognormal(4.0, 0.6, ROWS)
COLUMNS = {
    "y": Y.astype(int),
    "stake": RISK,  # the name that the column of stakes would have
    "b": np.clip(RISK + RNG.normal(0.0, 0.1, ROWS), 0.0, 1.0),
    "eur": AMOUNT,
    "call": RNG.choice([10.0, 15.0, 20.0], ROWS),
    "w": RNG.choice([0.0, 1.0, 2.0, 0.5], ROWS),
    "shop": RNG.choice(["north", "south"], ROWS),
}
ZERO = {"eur": np.where(np.arange(ROWS) < 1500, 0.0, AMOUNT)}  # a whole batch in which no decision is to take
MODELS = ["stake", "b"]
TOLD = OutcomeColumns(false_positive=15, false_negative="eur", unit="EUR")
ASIDE = OutcomeColumns(false_positive="call", false_negative="eur", on_dominated="set_aside")
ASKED = {"label": "y", "models": MODELS}


def polars(columns):
    lazy = pl.DataFrame(columns, strict=False).lazy()
    if not hasattr(lazy, "collect_batches"):
        pytest.skip("this polars streams no rows")
    return lazy


def duckdb(columns):
    return pytest.importorskip("duckdb").from_arrow(pa.table(columns))


@pytest.fixture(params=[polars, duckdb], ids=lambda make: make.__name__)
def lazy(request, monkeypatch):
    monkeypatch.setattr("stakes.tables._streams.AT_ONCE", 500)
    return request.param


def same(found, known):
    """Every number of the answers is the same, and every word."""
    assert found.keys() == known.keys()
    for key, value in known.items():
        if isinstance(value, dict):
            same(found[key], value)
        elif isinstance(value, list):
            assert len(found[key]) == len(value)
            for one, other in zip(found[key], value, strict=True):
                same({key: one}, {key: other})
        elif isinstance(value, float):
            assert found[key] == pytest.approx(value, rel=1e-12, nan_ok=True), key
        else:
            assert found[key] == value, key


def facts(evaluation):
    """What the command prints of an evaluation as JSON, without the findings that need the rows."""
    content = json.loads(evaluation.to_json())
    for name in ("findings", "backend"):
        content.pop(name, None)
    return content


@pytest.mark.parametrize(
    "asked",
    [
        {"outcome": TOLD},
        {"outcome": TOLD, "weight": "w"},
        {"outcome": TOLD, "weight": "w", "per": "total"},
        {"outcome": TOLD, "costs": costs.LogOddsUniform(1 / 3, 2 / 3), "confidence_level": 0.9},
        {"outcome": TOLD, "costs": 0.3},
        {"outcome": OutcomeColumns(false_positive="call", false_negative=60.0)},
        {"outcome": ASIDE, "zero": True},
        {"outcome": ASIDE, "zero": True, "weight": "w"},
        {"outcome": ASIDE, "zero": True, "costs": (0.4, 0.6)},
    ],
    ids=[
        "stated",
        "weights",
        "in total",
        "ratios",
        "another ratio",
        "one amount",
        "aside",
        "aside, weights",
        "aside, ratios",
    ],
)
def test_amounts_in_the_engine_are_those_of_the_rows(lazy, asked):
    options = {key: value for key, value in asked.items() if key != "zero"}
    columns = COLUMNS | (ZERO if "zero" in asked else {})
    found, known = (evaluate_frame(make(columns), **ASKED, **options) for make in (lazy, pl.DataFrame))
    assert found.rows is None
    same(facts(found), facts(known))
    assert found.read == known.read
    assert found.methods() == known.methods()
    one, other = found.compare(*MODELS), known.compare(*MODELS)
    assert [one.difference, *one.interval] == pytest.approx([other.difference, *other.interval], rel=1e-12)


def test_rows_set_aside_on_either_side_count_nothing_even_where_the_model_is_certain(lazy):
    place = np.arange(ROWS)
    free = {"eur": np.where(place < 700, 0.0, AMOUNT), "call": np.where(place > 2200, 0.0, COLUMNS["call"])}
    sure = {"b": np.where(place % 3 == 0, Y.astype(float), np.where(place % 50 == 1, 0.0, COLUMNS["b"]))}
    columns = COLUMNS | free | sure
    found, known = (evaluate_frame(make(columns), **ASKED, outcome=ASIDE) for make in (lazy, pl.DataFrame))
    same(facts(found), facts(known))


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -1.0])
def test_rows_of_weight_zero_need_no_amount(lazy, nothing):
    columns = COLUMNS | {"eur": np.where(COLUMNS["w"] == 0.0, nothing, AMOUNT)}
    found = evaluate_frame(lazy(columns), **ASKED, outcome=TOLD, weight="w")
    same(facts(found), facts(evaluate_frame(pl.DataFrame(COLUMNS), **ASKED, outcome=TOLD, weight="w")))


def test_labels_of_words_are_streamed(lazy):
    words = COLUMNS | {"y": np.where(Y, "fraud", "fine")}
    found = evaluate_frame(lazy(words), **ASKED, outcome=TOLD, pos_label="fraud")
    same(facts(found), facts(evaluate_frame(pl.DataFrame(words), **ASKED, outcome=TOLD, pos_label="fraud")))


def test_streamed_amounts_are_the_sums_that_numpy_makes():
    found = evaluate_frame(polars(COLUMNS), **ASKED, outcome=TOLD)
    for name in MODELS:
        p = COLUMNS[name]
        act = p * AMOUNT >= (1 - p) * 15.0
        lost = np.where(Y, np.where(act, 0.0, AMOUNT), np.where(act, 15.0, 0.0))
        nobody, everybody = np.where(Y, AMOUNT, 0.0), np.where(Y, 0.0, 15.0)
        cost, gain, savings = (getattr(found.money[name], kind) for kind in ("cost", "gain", "savings"))
        assert cost.value == pytest.approx(1000 * lost.mean(), rel=1e-12)
        assert cost.standard_error == pytest.approx(1000 * lost.std(ddof=1) / ROWS**0.5, rel=1e-12)
        assert gain.value == pytest.approx(1000 * (nobody - lost).mean(), rel=1e-12)
        assert gain.standard_error == pytest.approx(1000 * (nobody - lost).std(ddof=1) / ROWS**0.5, rel=1e-12)
        best = min(nobody, everybody, key=np.mean)
        share = lost.mean() / best.mean()
        assert savings.value == pytest.approx(1 - share, rel=1e-12)
        spread = (share * best - lost).std(ddof=1) / best.mean()
        assert savings.standard_error == pytest.approx(spread / ROWS**0.5, rel=1e-12)
        assert found[name].share_acted_on == pytest.approx(act.mean(), rel=1e-12)
        assert found.money[name].acted == pytest.approx(act.mean(), rel=1e-12)
        at_stake = np.where(Y, AMOUNT, 15.0).sum()
        assert found[name].score == pytest.approx(lost.sum() / at_stake, rel=1e-12)
    assert found.data_line == f"3,000 rows, {Y.sum():,} positives, {at_stake:,.6g} EUR at stake"


def test_cells_change_no_money_and_no_cost(lazy):
    exact, pooled = (evaluate_frame(lazy(COLUMNS), **ASKED, outcome=TOLD, resolution=k) for k in (None, 40))
    assert len(pooled.score_tables[0].scores) <= 40 < len(exact.score_tables[0].scores)
    for name in MODELS:  # in another order of the rows, which an engine does not keep
        same(pooled.money[name].record(), exact.money[name].record())
        assert pooled[name].score == pytest.approx(exact[name].score, rel=1e-12)
    assert pooled.score_tables[0].by_amount


@pytest.mark.parametrize(("sigma", "rows"), [(0.3, ROWS), (1.6, ROWS), (1.2, 400)])
def test_few_rows_that_bear_amounts_get_the_notes_that_they_get_in_memory(lazy, sigma, rows):
    columns = {name: values[:rows] for name, values in COLUMNS.items()}
    columns["eur"] = np.exp(sigma * np.random.default_rng(8).normal(size=rows) + 3.0)
    columns["eur"][0] = 1e-300  # and cells from the least numbers to the largest
    both = [evaluate_frame(make(columns), **ASKED, outcome=TOLD) for make in (lazy, pl.DataFrame)]
    observed = [{one.code: one.evidence for one in each.check()}.get("few-amounts-decide") for each in both]
    assert observed[0] == (observed[1] and pytest.approx(observed[1], rel=1e-12))
    assert (observed[0] is None) == (rows > 400)
    found, known = (each.money for each in both)
    notes = [
        [getattr(each[name], kind).note for name in MODELS for kind in ("cost", "gain")] for each in (found, known)
    ]
    assert notes[0] == notes[1]
    assert any("bear one for an interval" in note for note in notes[0]) == (sigma > 1.0)
    outcome = RowCosts(columns["y"], false_positive=15, false_negative=columns["eur"])
    assert money(outcome, columns["stake"]).cost.note == notes[0][0]


@pytest.mark.parametrize("rows", [2, 3, 40, ROWS])
def test_the_spread_of_amounts_is_that_of_their_quantiles(rows):
    amounts = AMOUNT[:rows]
    sums = MoneySums([], 0)
    for part in np.array_split(amounts, 2):
        sums.add(RowCosts(np.arange(len(part)) % 2 == 0, false_positive=7.3, false_negative=part), [])
    median, above, far = np.log(np.quantile(amounts, norm.cdf([0.0, 1.0, 2.0])))
    growth = np.exp(min(above - median, far - above) ** 2)
    assert sums.sizes[1].squared_skewness() == pytest.approx((growth + 2) ** 2 * (growth - 1), rel=4e-3)
    assert sums.sizes[0].squared_skewness() == 0.0


def test_amounts_that_differ_by_a_4096th_are_kept_apart():
    spreads = []
    for far in (1.0 + 2.0**-12, 1.0 + 0.9 * 2.0**-12):
        sums = MoneySums([], 0)
        sums.add(RowCosts([0, 0, 1, 1], false_positive=7.3, false_negative=np.array([1.0, 1.0, 1.0, far])), [])
        spreads.append(sums.sizes[1].squared_skewness())
    assert spreads[0] > 0.0 == spreads[1]


def broken(value, at=7):
    return {"eur": [value if k == at else float(amount) for k, amount in enumerate(AMOUNT)]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (broken(None), r"column 'eur': must be finite and not missing \(1 of 3000 rows\)"),
        (broken(float("nan")), "must be finite and not missing"),
        (broken(float("inf")), "must be finite and not missing"),
        (broken(0.0), "acting never hurts in 0 rows and never helps in 1: there is no decision to take"),
        (broken(-2.0), "never helps in 1: there is no decision"),
        ({"b": [1.5, *COLUMNS["b"][1:]]}, r"column 'b': must lie in \[0, 1\], got 1.5"),
        ({"b": [None, *COLUMNS["b"][1:]]}, "column 'b': must not be missing"),
        ({"y": [2, *COLUMNS["y"][1:]]}, "must hold exactly two values|labels|two"),
    ],
    ids=["null", "nan", "infinite", "zero", "negative", "score", "no score", "label"],
)
def test_bad_amounts_are_refused_with_their_number(lazy, changes, message):
    with pytest.raises(ValueError, match=message):
        evaluate_frame(lazy(COLUMNS | changes), **ASKED, outcome=TOLD)


DAYS = np.datetime64("2026-01-01") + np.arange(ROWS) % 2
NO_NUMBERS = {"days": DAYS, "times": DAYS.astype("datetime64[us]"), "text": ["0.5"] * ROWS}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("name", ["eur", "w", "b"], ids=["amount", "weight", "score"])
def test_no_date_and_no_text_is_taken_for_an_amount_a_weight_or_a_score(lazy, name, kind):
    columns, said = COLUMNS | {name: NO_NUMBERS[kind]}, []
    for make in (lazy, pl.DataFrame):
        with pytest.raises(DataError, match=f"column '{name}'.*: must hold numbers, got ") as caught:
            evaluate_frame(make(columns), **ASKED, weight="w", outcome=TOLD)
        said.append(str(caught.value).replace(", row 1", ""))
    assert said[0] == said[1]


def test_a_column_of_nothing_but_nulls_is_missing(lazy):
    with pytest.raises(ValueError, match=r"column 'eur': must be finite and not missing \(3000 of 3000 rows\)"):
        evaluate_frame(lazy(COLUMNS | {"eur": [None] * ROWS}), **ASKED, outcome=TOLD)


def test_swapped_amounts_and_none_at_stake_are_refused(lazy):
    swapped = COLUMNS | {"eur": -AMOUNT, "call": -COLUMNS["call"]}
    with pytest.raises(ValueError, match=r"right decisions cost more than wrong ones in 3,000 rows: the matrix is"):
        evaluate_frame(lazy(swapped), **ASKED, outcome=ASIDE)
    with pytest.raises(ValueError, match="nothing is at stake"):
        evaluate_frame(lazy(COLUMNS | {"eur": 0.0 * AMOUNT}), **ASKED, outcome=ASIDE)


def test_incomplete_amounts_are_dropped_and_counted(lazy):
    found, known = (
        evaluate_frame(make(COLUMNS | broken(None)), **ASKED, outcome=TOLD, on_missing="drop")
        for make in (lazy, pl.DataFrame)
    )
    assert found.n_dropped == known.n_dropped == 1
    assert found.money["b"].cost.value == pytest.approx(known.money["b"].cost.value, rel=1e-12)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"groups": "shop"}, "amounts with groups= need the rows"),
        ({"clusters": "shop"}, "amounts with clusters= need the rows"),
        ({"rule": 0.4}, "amounts with rule=0.4 need the rows"),
        ({"lags": 3}, "lags= needs the rows"),
        (
            {"outcome": OutcomeColumns(verified_by="shop", false_positive=1, false_negative="eur")},
            "an outcome other than a label or amounts needs the rows",
        ),
        ({"prevalence": 0.1}, "prevalence= does not fit amounts by row"),
    ],
    ids=["groups", "clusters", "rule", "lags", "verified", "prevalence"],
)
def test_what_needs_the_rows_says_so_before_any_is_read(monkeypatch, asked, why):
    monkeypatch.setattr("stakes.tables._streams._batches", None)
    with pytest.raises(ValueError, match=why):
        evaluate_frame(polars(COLUMNS), **ASKED, **{"outcome": TOLD} | asked)


def test_engines_that_stream_no_rows_say_so(monkeypatch):
    frame = pl.LazyFrame(COLUMNS)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)  # as older polars, and as engines elsewhere
    with pytest.raises(ValueError, match="this engine streams none: they need the rows, and those of a lazy frame are"):
        evaluate_frame(frame, **ASKED, outcome=TOLD)


def test_a_streamed_evaluation_of_amounts_is_drawn_written_and_not_kept(tmp_path):
    found = evaluate_frame(polars(COLUMNS), **ASKED, outcome=TOLD, costs=(0.4, 0.6), resolution=100)
    known = evaluate_frame(pl.DataFrame(COLUMNS), **ASKED, outcome=TOLD, costs=(0.4, 0.6))
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "EUR at stake" in page
    assert found.to_markdown() == known.to_markdown()
    assert found.conclusion == known.conclusion
    assert not {finding.code for finding in found.check()} - {finding.code for finding in known.check()}
    with pytest.raises(ValueError, match="cannot be kept without the rows"):
        KeptEvaluation.of(found)


def test_rows_on_the_threshold_of_their_amounts_are_acted_on_in_the_engine_too(lazy):
    k = np.tile(np.arange(1, 100), 4)
    columns = {"y": (k % 3 == 0).astype(int), "p": k / 100, "a": 1.0 * k, "b": 100.0 - k}
    outcome = OutcomeColumns(false_positive="a", false_negative="b")
    found, known = (
        evaluate_frame(make(columns), label="y", models=["p"], outcome=outcome) for make in (lazy, pl.DataFrame)
    )
    assert found.rows is None
    by_hand = columns["a"] @ (1 - columns["y"]) / len(k)  # every row is acted on
    for each in (found, known):
        assert each.money["p"].cost.value == pytest.approx(1000 * by_hand)
