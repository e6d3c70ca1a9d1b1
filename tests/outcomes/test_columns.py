"""Outcomes named by the columns of a data frame are those of the arrays."""

import numpy as np
import pytest

from stakes import PartlyVerified, TimeToEvent, evaluate, evaluate_frame
from stakes.outcomes import OutcomeColumns
from stakes.tables import DataError

RNG = np.random.default_rng(8)
N = 60
RISK = np.round(RNG.uniform(0.05, 0.9, N), 3)
TIME = np.round(RNG.exponential(2.0 * (1.2 - RISK)), 2)
LEFT = np.round(RNG.exponential(2.0, N), 2)
CODE = np.where(TIME <= LEFT, 1 + (RNG.random(N) < 0.2), 0)
ROWS = {"ended": CODE, "years": np.minimum(TIME, LEFT), "w": RNG.integers(0, 3, N), "risk": RISK}
WORDS = np.array(["alive", "relapse", "death"], dtype=object)[CODE]


def frame(library, **more):
    module = pytest.importorskip(library)
    columns = {**ROWS, **more}
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_follow_up_in_columns_is_that_of_the_arrays(library):
    wanted = evaluate(
        TimeToEvent(event=CODE, time=ROWS["years"], horizon=1.5, cause=1, sample_weight=ROWS["w"]),
        {"risk": RISK},
        costs=(0.1, 0.4),
    )
    data = frame(library, words=WORDS)
    common = {"models": ["risk"], "weight": "w", "costs": (0.1, 0.4)}
    by_code = OutcomeColumns(time="years", horizon=1.5, cause=1)
    in_words = OutcomeColumns(time="years", horizon=1.5, cause="relapse", censored="alive")
    for label, outcome in (("ended", by_code), ("words", in_words)):
        found = evaluate_frame(data, label=label, outcome=outcome, **common)
        assert found.data_line == wanted.data_line
        assert found.results[0].standard_error == pytest.approx(wanted.results[0].standard_error, rel=1e-12)
        assert found.results[0].score == pytest.approx(wanted.results[0].score, rel=1e-14)


def test_missing_label_was_not_looked_up():
    pl = pytest.importorskip("polars")
    band = (RISK > 0.5).astype(int)
    ill = [int(c == 1) if seen else None for c, seen in zip(CODE, (band == 1) | (np.arange(N) % 3 == 0), strict=True)]
    data = pl.DataFrame({"ill": ill, "band": band, "risk": RISK})
    found = evaluate_frame(data, label="ill", models=["risk"], outcome=OutcomeColumns(verified_by="band"))
    wanted = evaluate(PartlyVerified(np.array(ill, dtype=float), groups=band), {"risk": RISK})
    assert found.prevalence == wanted.prevalence
    with pytest.raises(DataError, match="'ill', row 3: must not be missing"):
        evaluate_frame(data, label="ill", models=["risk"])


def test_a_group_of_which_no_label_was_seen_is_named_with_its_column():
    pl = pytest.importorskip("polars")
    data = pl.DataFrame({"ill": [1, 0, None, 1], "band": [10, 10, 20, 10], "risk": [0.4, 0.2, 0.3, 0.6]})
    say = r"verified_by='band' \(--verified-by\): its groups must each have labels .* no row of group '20' was seen"
    with pytest.raises(ValueError, match=say):
        evaluate_frame(data, label="ill", models=["risk"], outcome=OutcomeColumns(verified_by="band"))


def test_impossible_time_is_named_by_column_and_row():
    pl = pytest.importorskip("polars")
    years = ROWS["years"].copy()
    years[7] = -1.0
    data = pl.DataFrame({**ROWS, "years": years})
    with pytest.raises(DataError, match=r"column 'years', row 8: must be finite and >= 0, got -1.0"):
        evaluate_frame(data, label="ended", models=["risk"], outcome=OutcomeColumns(time="years", horizon=1, cause=1))


def test_codes_of_which_none_means_censored_are_asked_about_in_columns():
    pl = pytest.importorskip("polars")
    data = pl.DataFrame({**ROWS, "ended": 1 + (CODE == 1)})
    asked = {"label": "ended", "models": ["risk"], "costs": (0.1, 0.4)}
    with pytest.raises(ValueError, match="no code 0 among the event codes 1, 2"):
        evaluate_frame(data, outcome=OutcomeColumns(time="years", horizon=1.5, cause=2), **asked)
    found = evaluate_frame(data, outcome=OutcomeColumns(time="years", horizon=1.5, censored=1), **asked)
    wanted = evaluate(TimeToEvent(event=CODE == 1, time=ROWS["years"], horizon=1.5), {"risk": RISK}, costs=(0.1, 0.4))
    assert found.data_line == wanted.data_line
    assert found.results[0].score == pytest.approx(wanted.results[0].score, rel=1e-14)


def test_rows_of_a_lazy_frame_are_asked_for():
    pl = pytest.importorskip("polars")
    with pytest.raises(
        ValueError,
        match="other than a label or amounts needs the rows, and those of a lazy",
    ):
        evaluate_frame(pl.LazyFrame(ROWS), label="ended", outcome=OutcomeColumns(time="years", horizon=1))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "an outcome needs time="),
        ({"time": "years"}, "time= and horizon= belong together"),
        ({"time": "years", "horizon": -1}, "horizon must be a finite number > 0, got -1"),
        ({"false_positive": "a"}, "false_positive= and false_negative= belong together"),
        ({"time": "years", "horizon": 1, "verified_by": "band"}, "cannot both be given"),
    ],
)
def test_columns_that_do_not_belong_together_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        OutcomeColumns(**columns)


@pytest.mark.parametrize("outcome", [{}, {"false_positive": 1.0, "false_negative": 3.0}])
@pytest.mark.parametrize("positive", [0, 1, 7, "dead"])
def test_a_positive_label_does_not_say_how_follow_up_ended(outcome, positive):
    data = frame("polars", alive=(CODE == 0).astype(int))
    asked = {"label": "alive", "models": ["risk"], "pos_label": positive}
    with pytest.raises(DataError, match=rf"pos_label= .* got {positive!r}: pass cause= .* and censored= "):
        evaluate_frame(data, outcome=OutcomeColumns(time="years", horizon=1.5, **outcome), **asked)
