"""Evaluations are kept and added up: yesterday's and today's give what all rows give."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from stakes import RowCosts, ScoreTable, costs, evaluate, evaluate_frame
from stakes.core.score_table import in_cells
from stakes.evaluation import KeptEvaluation
from stakes.inference import PairSums

RNG = np.random.default_rng(8)
ROWS = 1200
RISK = RNG.random(ROWS)
Y = RNG.random(ROWS) < RISK
MODELS = {
    "a": np.clip(RISK + RNG.normal(0.0, 0.1, ROWS), 0.0, 1.0),
    "b": RISK.round(1),
    "c": (RISK > 0.4).astype(float),
}
WEIGHT = RNG.choice([0.5, 1.0, 2.0], ROWS)
DAYS = slice(0, 500), slice(500, None)


def asked(changes, rows=slice(None)):
    given = {"costs": (0.1, 0.4), "incumbent": "b", **changes}
    return given | ({"sample_weight": WEIGHT[rows]} if "sample_weight" in changes else {})


def evaluated(rows, changes):
    return evaluate(Y[rows], {name: score[rows] for name, score in MODELS.items()}, **asked(changes, rows))


def numbers(result):
    """Scores, intervals and all differences; and the order, and what may be best."""
    found = [(one.score, *one.interval) for one in result.results]
    for first in result.models:
        differences = [result.compare(first, other) for other in result.models if other != first]
        found += [(one.difference, *one.interval) for one in differences]
    return found, (result.ranking, result.conclusion[:2], result.n_rows, result.adjusted_ranking().best)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sample_weight": True, "unit_cost": 3.0, "per": 100.0, "confidence_level": 0.9},
        {"rule": 0.3, "costs": costs.Fixed(0.3), "incumbent": None, "n_tried": 7},
        {"harm": {"a": 0.01}, "costs": costs.LogOddsUniform(0.05, 0.6)},
        {"costs": costs.Beta(2, 5), "scale": "integral"},
    ],
    ids=["plain", "weighted", "rule", "harm", "beta"],
)
def test_two_days_that_were_kept_are_all_rows(changes):
    known = evaluated(slice(None), changes)
    days = [KeptEvaluation.from_json(KeptEvaluation.of(evaluated(day, changes)).to_json()) for day in DAYS]
    found = days[0].merge(days[1]).evaluate()
    for mine, its in zip(found.score_tables, known.score_tables, strict=True):
        for name in ("scores", "positives", "negatives"):  # weights are multiples of a half
            np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))
    for mine, its in zip(numbers(found)[0], numbers(known)[0], strict=True):
        assert mine == pytest.approx(its, rel=1e-9, abs=1e-15)
    assert numbers(found)[1] == numbers(known)[1]
    # what is said further looks at the rows, where there are any
    assert found.conclusion == KeptEvaluation.of(known).evaluate().conclusion


def test_a_lazy_frame_is_kept_without_its_rows():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"y": Y, **MODELS})
    days = [frame.lazy().slice(0, 500), frame.lazy().slice(500)]
    made = [evaluate_frame(day, label="y", models=list(MODELS), costs=(0.1, 0.4)) for day in days]
    first, second = (KeptEvaluation.from_json(KeptEvaluation.of(day).to_json()) for day in made)
    found = first.merge(second).evaluate()
    known = evaluated(slice(None), {"incumbent": None})
    assert [one.score for one in found.results] == pytest.approx([one.score for one in known.results], rel=1e-12)
    assert found.compare("a", "b").interval == pytest.approx(known.compare("a", "b").interval, rel=1e-9)
    page = found.to_html()
    assert found.conclusion[0] == known.conclusion[0]
    assert "1,200" in page


SITES = {"site": RNG.choice(["north", "south"], ROWS), "ward": np.where(np.arange(ROWS) < 500, 10, 9)}


TIMES = np.array(["2026-01-01T00:00:00", "2026-01-02T05:00:00.5"], "M8[us]")


def of_groups(result):
    told = [
        "score",
        "standard_error",
        "skill",
        "auc",
        "difference",
        "p_adjusted",
        "skill_difference",
        "skill_p_adjusted",
    ]
    return {
        (g.column, g.group, g.model, g.n_rows, g.n_positives): (*(getattr(g, name) for name in told), *g.interval)
        for g in result.groups
    }


def kept_days(**changes):
    for day in DAYS:
        sites = {name: values[day] for name, values in SITES.items()}
        yield KeptEvaluation.of(evaluated(day, {"groups": sites, **changes}))


def test_groups_of_two_days_that_were_kept_are_those_of_all_rows():
    known = evaluated(slice(None), {"groups": SITES})
    first, second = (KeptEvaluation.from_json(kept.to_json()) for kept in kept_days())
    found = first.merge(second).evaluate()
    assert list(of_groups(found)) == list(of_groups(known))  # the wards of one day are not those of the other
    for mine, its in zip(of_groups(found).values(), of_groups(known).values(), strict=True):
        assert mine == pytest.approx(its, rel=1e-9, abs=1e-14)
    for one, other in ((first, second), (second, first)):
        assert of_groups(one.merge(other).evaluate()).keys() == of_groups(known).keys()
    corrected = [[g.corrected_miscalibration for g in each.groups] for each in (found, known)]
    assert corrected[0] == pytest.approx(corrected[1], abs=0.01)


def test_rows_left_out_of_two_days_add_up():
    first, second = kept_days()
    assert replace(first, n_dropped=5).merge(replace(second, n_dropped=2)).n_dropped == 7


@pytest.mark.parametrize("changes", [{"sample_weight": True}, {"rule": "optimal", "incumbent": None}], ids=str)
def test_groups_that_were_kept_have_their_numbers(changes):
    known = evaluated(slice(None), {"groups": SITES, **changes})
    kept = KeptEvaluation.of(known)
    found = KeptEvaluation.from_json(kept.to_json()).evaluate()
    # where rows of unlike weights share a score, degrees of freedom are approximate
    loose = 1e-3 if "sample_weight" in changes else 1e-9
    for mine, its in zip(of_groups(found).items(), of_groups(known).items(), strict=True):
        assert mine[0] == its[0]
        assert mine[1] == pytest.approx(its[1], rel=100 * loose, abs=1e-14, nan_ok=True)
        assert mine[1][0] == pytest.approx(its[1][0], rel=1e-12)
    assert KeptEvaluation.from_json(kept.to_json()).to_json() == kept.to_json()


def test_groups_of_a_lazy_frame_are_kept():
    pl = pytest.importorskip("polars")
    frame = pl.LazyFrame({"y": Y, **MODELS, **SITES})
    lazy = evaluate_frame(frame, label="y", models=list(MODELS), costs=(0.1, 0.4), groups=list(SITES))
    found = KeptEvaluation.from_json(KeptEvaluation.of(lazy).to_json()).evaluate()
    assert of_groups(found) == of_groups(lazy)


def _sizes(kept):
    return {group: table.n_rows for (_, group, _), (table, _) in kept.groups.items()}


@pytest.mark.parametrize(
    ("values", "others", "names"),
    [
        (np.array([1, 2]), np.array([1.0, 2.0]), ["1", "2"]),
        (np.array([1, 2]), np.array([1.0, 2.0], dtype=object), ["1", "2"]),
        (np.array([0.0, 2.5]), np.array([-0.0, 2.5], dtype="f4"), ["0", "2.5"]),
        (np.array([0.5, 100.0]), np.array([Decimal("0.50"), Decimal("100.00")]), ["0.5", "100"]),
        (np.array([-2.0, 0.0]), np.array([Decimal(-2), Decimal("-0.0")]), ["-2", "0"]),
        (TIMES.astype("M8[ns]"), TIMES.astype("M8[us]"), ["2026-01-01 00:00:00", "2026-01-02 05:00:00.500000"]),
        (TIMES.astype("M8[ms]"), TIMES.astype(object), ["2026-01-01 00:00:00", "2026-01-02 05:00:00.500000"]),
        (np.array(["2026-01-01", "2026-02-01"], "M8[D]"), np.array(["2026-01", "2026-02"], "M8[M]"), None),
    ],
    ids=["float", "object", "half", "decimal", "whole decimal", "ns and us", "datetime", "months"],
)
def test_groups_are_those_of_their_values_whatever_the_type_of_the_column(values, others, names):
    place = np.arange(200) % 5 // 2 % 2
    y, p = np.tile([0, 1, 0, 1, 1], 40), np.tile([0.1, 0.7, 0.3, 0.2, 0.4], 40)
    first, second = (
        KeptEvaluation.of(evaluate(y, {"a": p}, costs=(0.1, 0.4), groups={"g": column[place]}))
        for column in (values, others)
    )
    count = np.bincount(place).tolist()
    if names is None:  # months are no days
        assert len(_sizes(first.merge(second))) == 4
        return
    assert _sizes(first) == _sizes(second) == dict(zip(names, count, strict=True))
    assert _sizes(first.merge(second)) == {name: 2 * rows for name, rows in zip(names, count, strict=True)}


@pytest.mark.parametrize(
    ("mine", "its"),
    [
        ("1", "1.0"),
        ("2026-01-01T00:00:00.000000000", "2026-01-01 00:00:00"),
        ("2026-01-01", "2026-01-01 00:00:00"),
        ("2026-01-01T05:00:00.000000", "2026-01-01 05:00:00"),
        ("05:00:00.000000000", "05:00:00"),
        ("true", "True"),
        ("FALSE", "False"),
    ],
)
def test_names_of_one_group_that_differ_in_writing_are_not_added_as_two(mine, its):
    y, p = np.tile([0, 1, 0, 1], 40), np.tile([0.1, 0.7, 0.3, 0.2], 40)

    def keep(*names):
        group = np.array(names)[np.arange(160) // 4 % len(names)]
        return KeptEvaluation.of(evaluate(y, {"a": p}, costs=(0.1, 0.4), groups={"g": group}))

    for one, other in ((mine, its), (its, mine)):
        with pytest.raises(ValueError, match=re.escape(f"groups of 'g' alike, got {one!r} and {other!r}")):
            keep(one, "v2.0").merge(keep(other, "v2"))
    # texts that stand side by side are groups of their own
    assert _sizes(keep(mine, its).merge(keep(mine))) == {mine: 240, its: 80}


def test_costs_that_differ_are_shown_as_they_are_written():
    one, other = (
        KeptEvaluation.of(evaluate([0, 1] * 20, {"a": [0.1, 0.7] * 20}, costs=(0.1, high))) for high in (0.4, 0.5)
    )
    said = "merge needs evaluations of the same costs, got Uniform(low=0.1, high=0.4) and Uniform(low=0.1, high=0.5)."
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        one.merge(other)


def test_groups_are_added_by_the_same_columns_and_not_where_they_are_fitted():
    one, other = kept_days()
    with pytest.raises(
        ValueError, match=r"merge needs evaluations of the same groups, got \['site', 'ward'\] and \[\]"
    ):
        one.merge(replace(other, groups={}))
    fitted = list(kept_days(rule="optimal", incumbent=None))
    with pytest.raises(ValueError, match='groups with rule="optimal" are fitted to their own rows'):
        fitted[0].merge(fitted[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "nobody"}, "the model must be among the tables"),
        ({"group": 3}, "group must be a text"),
        ({"n_positives": 10**9}, "n_positives must be a whole number of its rows"),
        ({"n_positives": True}, "n_positives must be a whole number of its rows"),
        ({"table": {"format": "stakes-table-2"}}, "resolution must be there"),
        ({"group": "south"}, "named once"),
        ([], "groups must be a list of groups"),
    ],
    ids=str,
)
def test_a_damaged_group_is_named(changes, message):
    content = json.loads(next(kept_days()).to_json())
    first, *rest = content["groups"]
    content["groups"] = [{**first, **changes}, *rest] if changes else {"site": first}
    with pytest.raises(ValueError, match=message):
        KeptEvaluation.from_json(json.dumps(content))


def test_what_was_kept_comes_back_to_the_last_bit():
    kept = KeptEvaluation.of(evaluated(slice(None), {"prevalence": 0.1, "rule": "optimal", "incumbent": None}))
    again = KeptEvaluation.from_json(kept.to_json())
    assert again.to_json() == kept.to_json()
    assert [one.score for one in again.evaluate().results] == [one.score for one in kept.evaluate().results]
    assert again.pairs is None
    with pytest.raises(ValueError, match="merge first, then pool or set the prevalence"):
        again.merge(again)


def test_only_what_was_asked_alike_is_added():
    one = KeptEvaluation.of(evaluated(DAYS[0], {}))
    for changes, name in [({"costs": (0.1, 0.5)}, "costs"), ({"confidence_level": 0.9}, "confidence_level")]:
        with pytest.raises(ValueError, match=f"merge needs evaluations of the same {name}"):
            one.merge(KeptEvaluation.of(evaluated(DAYS[1], changes)))
    with pytest.raises(ValueError, match="merge needs evaluations of the same models"):
        one.merge(KeptEvaluation.of(evaluate(Y, MODELS["a"], **asked({"incumbent": None}))))
    unsure = KeptEvaluation(one.tables, None, one.options)
    assert one.merge(unsure).evaluate().compare("a", "b").interval == pytest.approx((np.nan, np.nan), nan_ok=True)


def test_an_evaluation_is_kept_before_it_is_added():
    kept = KeptEvaluation.of(evaluated(DAYS[0], {}))
    with pytest.raises(ValueError, match=r"^other must be a KeptEvaluation, got Evaluation: keep it by .*\.of\("):
        kept.merge(evaluated(DAYS[1], {}))


def test_amounts_by_row_are_not_kept():
    outcome = RowCosts(Y, false_positive=1.0, false_negative=np.linspace(1.0, 9.0, len(Y)))
    with pytest.raises(ValueError, match="cannot be kept without the rows"):
        KeptEvaluation.of(evaluate(outcome, MODELS))


def test_what_needs_the_rows_is_not_kept():
    result = evaluated(slice(None), {"clusters": np.arange(ROWS) // 3})
    with pytest.raises(ValueError, match="cannot be kept without the rows"):
        KeptEvaluation.of(result)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "stakes-evaluation-4"}, "must be a kept evaluation of format"),
        ({"tables": []}, "tables must be score tables by name"),
        ({"n_dropped": -1}, "n_dropped must be a whole number"),
        ({"confidence_level": 2}, "what was asked for must be whole .confidence_level must"),
        ({"costs": {"kind": "uniform", "low": 0.5, "high": 0.1}}, "what was asked for must be whole"),
        ({"pairs": {"format": "stakes-pairs-2"}}, "kept evaluation: pairs.models must be there"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_first_damaged_entry_is_named(changes, message):
    content = json.loads(KeptEvaluation.of(evaluated(DAYS[0], {})).to_json())
    with pytest.raises(ValueError, match=message):
        KeptEvaluation.from_json(json.dumps(content | changes))


@pytest.mark.parametrize(
    ("scores", "good"),
    [
        ([0.0, 0.3, 0.6, 1.0], True),
        ([-0.1, 0.3, 0.6, 0.8], False),
        ([0.1, 0.3, 0.6, 1.5], False),
        ([1.0], True),
        ([0.0], True),
        ([-0.1], False),
        ([1.5], False),
    ],
)
def test_scores_that_were_kept_are_probabilities(scores, good):
    content = json.loads(KeptEvaluation.of(evaluate([0, 1] * 20, {"a": [0.2, 0.8] * 20}, costs=(0.1, 0.4))).to_json())
    size = len(scores)
    counts = {
        f"{name}{power}": [20.0 / size] * size for name in ("positives", "negatives") for power in ("", "_squared")
    }
    text = json.dumps(content | {"pairs": None, "tables": {"a": content["tables"]["a"] | counts | {"scores": scores}}})
    if good:
        assert KeptEvaluation.from_json(text).tables["a"].scores.tolist() == scores
        return
    with pytest.raises(ValueError, match=r"tables\.a\.scores must be probabilities in \[0, 1\], got ScoreTable"):
        KeptEvaluation.from_json(text)


def test_entries_that_contradict_the_table_are_named():
    asked = {"costs": (0.1, 0.4), "prevalence": 0.25}
    content = json.loads(
        KeptEvaluation.of(evaluate(["n", "y"] * 20, {"a": [0.2, 0.8] * 20}, pos_label="y", **asked)).to_json()
    )
    table = content["tables"]["a"]
    assert KeptEvaluation.from_json(json.dumps(content)).evaluate().n_rows == 40
    for changes, message in (
        ({"neg_label": "y"}, "neg_label must be another label than the positive one, 'y'"),
        ({"neg_label": "m"}, r"tables\.a\.neg_label must be that of the evaluation, got 'n'"),
        ({"pos_label": "m"}, r"tables\.a\.pos_label must be that of the evaluation, got 'y'"),
        ({"prevalence": 0.3}, r"prevalence must be that of the table of 'a' \(0\.25\), got 0\.3"),
        ({"tables": {"a": table | {"fixed_prevalence": False}}}, "prevalence must be that of the table of 'a'"),
    ):
        with pytest.raises(ValueError, match=f"text is no whole kept evaluation: {message}"):
            KeptEvaluation.from_json(json.dumps(content | changes))
    del table["neg_label"]
    assert KeptEvaluation.from_json(json.dumps(content)).options.neg_label == "n"
    del content["neg_label"]
    assert KeptEvaluation.from_json(json.dumps(content)).options.neg_label is None


def test_pairs_of_other_rows_are_refused():
    kept = KeptEvaluation.of(evaluated(DAYS[0], {}))
    other = PairSums.from_predictions(Y, MODELS, costs=(0.1, 0.4))
    content = json.loads(kept.to_json()) | {"pairs": json.loads(other.to_json())}
    with pytest.raises(ValueError, match="pairs must rest on the rows of the table"):
        KeptEvaluation.from_json(json.dumps(content)).evaluate()


@pytest.mark.parametrize("value", [0.0, "inf"])
def test_sums_that_the_tables_contradict_are_refused(value):
    content = json.loads(KeptEvaluation.of(evaluated(DAYS[0], {})).to_json())
    sums = content["pairs"]["w1_d1"]
    content["pairs"]["w1_d1"] = [value] * len(sums)
    with pytest.raises(ValueError, match=r"text is no whole kept evaluation: pairs\.w1_d1 must be .* got"):
        KeptEvaluation.from_json(json.dumps(content))
    # the same sums of a model as those of nothing: they agree with each other, but not with the table of 'a'
    other = PairSums.from_predictions(
        Y[DAYS[0]], {name: 0.0 * MODELS[name][DAYS[0]] for name in MODELS}, costs=(0.1, 0.4)
    )
    content["pairs"] = json.loads(other.to_json())
    with pytest.raises(ValueError, match=r"pairs\.w1_d1 must be that over the table, .* for 'a' less 'nothing'"):
        KeptEvaluation.from_json(json.dumps(content))
    tables = {name: ScoreTable.from_predictions(Y, score) for name, score in MODELS.items()}
    other = PairSums.from_predictions(Y, {name: 0.0 * score for name, score in MODELS.items()}, costs=(0.1, 0.4))
    with pytest.raises(ValueError, match=r"pairs\.w1_d1 must be that over the table"):
        evaluate(tables, costs=(0.1, 0.4), pairs=other)


def test_evaluations_of_opposite_classes_are_not_added():
    y = np.where(Y, "fraud", "ok")
    fraud, fine = (
        KeptEvaluation.of(evaluate(y, score, costs=(0.1, 0.4), pos_label=label))
        for label, score in (("fraud", MODELS["a"]), ("ok", 1.0 - MODELS["a"]))
    )
    message = "merge needs evaluations of the same pos_label, got 'fraud' and 'ok'"
    for kept in (fine, KeptEvaluation.from_json(fine.to_json())):
        with pytest.raises(ValueError, match=message):
            fraud.merge(kept)
    plain = KeptEvaluation.of(evaluate(Y, MODELS["a"], costs=(0.1, 0.4)))
    with pytest.raises(ValueError, match="got 'fraud' and 1"):
        fraud.merge(plain)
    named = KeptEvaluation.of(evaluate(Y.astype(int), MODELS["a"], costs=(0.1, 0.4), pos_label=1))
    assert plain.merge(named).evaluate().n_rows == 2 * ROWS
    assert fraud.merge(KeptEvaluation.from_json(fraud.to_json())).pos_label == "fraud"


def test_the_positive_class_of_frames_tables_and_pairs_is_kept():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"y": np.where(Y, "fraud", "ok"), "a": MODELS["a"]})
    asked = {"label": "y", "models": ["a"], "costs": (0.1, 0.4), "pos_label": "fraud"}
    for rows in (frame, frame.lazy()):
        assert KeptEvaluation.of(evaluate_frame(rows, **asked)).pos_label == "fraud"
    ups, downs = (ScoreTable.from_predictions(frame["y"], frame["a"], pos_label=label) for label in ("fraud", "ok"))
    with pytest.raises(
        ValueError, match="merge needs tables of the same positive class, got pos_label='fraud' and 'ok'"
    ):
        ups.merge(downs)
    assert KeptEvaluation.of(evaluate(ups, costs=(0.1, 0.4))).pos_label == "fraud"
    sums = [
        PairSums.from_predictions(frame["y"], {"a": frame["a"]}, costs=(0.1, 0.4), pos_label=label)
        for label in ("fraud", "ok")
    ]
    with pytest.raises(ValueError, match="merge needs sums of the same pos_label, got 'fraud' and 'ok'"):
        sums[0].merge(sums[1])
    with pytest.raises(ValueError, match="pairs must have the pos_label of the evaluation, 'fraud', got 'ok'"):
        evaluate({"a": ups}, costs=(0.1, 0.4), pairs=sums[1])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"n_dropped": 0', '"n_dropped": 0, "n_dropped": 4', "the entry 'n_dropped' is there twice"),
        ('"n_rows": 500', '"n_rows": 9223372036854775808', "n_rows must be a whole number from 0 to 2"),
        ('"n_rows": 500', '"n_rows": 1' + "0" * 30, "n_rows must be a whole number from 0 to 2"),
        ('"n_rows": 500', '"n_rows": 500.0', "n_rows must be a whole number from 0 to 2"),
        ('"n_rows": 500', '"n_rows": NaN', "NaN is no number of JSON"),
        ('"low": 0.1', '"low": true', r"costs\.low must be a number, a text or made of them, neither true nor false"),
        ('"kind": "uniform"', '"kind": "weighted"', "do not describe a cost distribution of kind"),
        ("stakes-evaluation-3", "stakes-evaluation-2", "it is of an earlier version and must be made anew"),
    ],
)
def test_what_no_evaluation_wrote_is_refused(old, new, message):
    text = KeptEvaluation.of(evaluated(DAYS[0], {})).to_json()
    assert old in text
    with pytest.raises(ValueError, match=message):
        KeptEvaluation.from_json(text.replace(old, new, 1))


def test_names_of_action_and_event_are_kept():
    named = evaluate([0, 1] * 20, {"a": [0.1, 0.8] * 20}, costs=0.3, action="refuse", event="bad loan")
    again = KeptEvaluation.from_json(KeptEvaluation.of(named).to_json()).evaluate()
    assert again.answer.sentences == named.answer.sentences
    assert "refusing" in " ".join(again.answer.sentences)


def test_long_tables_are_kept_in_cells_unless_asked_otherwise():
    rng = np.random.default_rng(3)
    risk = rng.random(120_000)
    y = rng.random(120_000) < risk
    result = evaluate(y, {"a": risk, "b": np.round(risk, 2)}, costs=(0.1, 0.4))
    kept, exact = KeptEvaluation.of(result), KeptEvaluation.of(result, resolution=None)
    assert [len(table.scores) for table in exact.tables.values()] == [120_000, 101]
    for name, table in kept.tables.items():
        assert table.resolution == 2048
        cells = np.floor(risk * 2048) if name == "a" else np.floor(np.round(risk, 2) * 2048).clip(max=2047)
        assert table.positives.tolist() == np.bincount(cells.astype(int), y)[np.unique(cells.astype(int))].tolist()
    again = KeptEvaluation.from_json(kept.to_json())
    assert len(kept.to_json()) < 400_000
    assert again.evaluate().compare("a", "b").interval == pytest.approx(result.compare("a", "b").interval, rel=1e-9)
    assert kept.merge(again).evaluate().n_rows == 240_000
    with pytest.raises(ValueError, match="resolution must divide that of the table, 2048, got 1000"):
        KeptEvaluation.of(again.evaluate(), resolution=1000)
    with pytest.raises(ValueError, match="resolution must be a whole number"):
        KeptEvaluation.of(result, resolution=0.5)


def test_finer_cells_of_an_engine_are_kept_as_coarser_ones():
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(4)
    risk = rng.random(50_000).round(4)
    frame = pl.LazyFrame({"y": rng.random(50_000) < risk, "a": risk})
    asked = {"label": "y", "models": ["a"], "costs": (0.1, 0.4)}
    fine, coarse = (KeptEvaluation.of(evaluate_frame(frame, **asked, resolution=cells)) for cells in (8192, 2048))
    for name in ("scores", "positives", "negatives", "lower", "upper"):
        mine, its = (getattr(kept.tables["a"], name) for kept in (fine, coarse))
        np.testing.assert_allclose(mine, its, rtol=1e-12)


def test_frames_in_memory_are_pooled_where_asked():
    pd = pytest.importorskip("pandas")
    frame = {"y": Y, **MODELS}
    asked = {"label": "y", "models": list(MODELS), "costs": (0.1, 0.4)}
    found = evaluate_frame(pd.DataFrame(frame), **asked, resolution=16)
    known = evaluate_frame(pd.DataFrame(frame), **asked)
    assert {table.resolution for table in found.score_tables} == {16}
    first, second = list(MODELS)[:2]
    assert found.compare(first, second).interval == pytest.approx(known.compare(first, second).interval, rel=1e-9)


def test_fewer_positives_than_their_weights_need_are_refused():
    content = json.loads(next(kept_days()).to_json())
    group = next(group for group in content["groups"] if group["n_positives"] >= 20)
    group["n_positives"] = int(0.8 * group["n_positives"])
    with pytest.raises(ValueError, match="rows can have the weights of its positives"):
        KeptEvaluation.from_json(json.dumps(content))


def test_evaluations_of_other_labels_are_not_added_or_compared():
    y, p = np.tile([0, 1, 0, 1, 1], 40), np.tile([0.1, 0.7, 0.3, 0.2, 0.4], 40)

    def keep(other, weight=None):
        found = evaluate(np.where(y == 1, 1, other), {"a": p}, costs=(0.1, 0.4), pos_label=1, sample_weight=weight)
        return KeptEvaluation.of(found)

    with pytest.raises(ValueError, match="merge needs evaluations of the same labels, got 1 beside 0 and beside 2"):
        keep(0).merge(keep(2))
    for before, today in ((0, 2), (2, 0), (-1, 2)):
        labels = f"of the same labels, got 1 beside {today} and beside {before}"
        with pytest.raises(ValueError, match=f"^compare needs evaluations {labels}"):
            keep(today).compare(keep(before))
        with pytest.raises(ValueError, match=f"^check needs evaluations {labels}"):
            keep(today).evaluate().check(against=keep(before).evaluate())
    unknown = json.loads(keep(2).to_json())
    assert unknown.pop("neg_label") == 2
    unknown = KeptEvaluation.from_json(json.dumps(unknown))
    for one, two, wanted in ((0, 0, 0), (2, 2, 2), (0, -1, None), (2, None, 2)):
        first, second = (unknown if other is None else keep(other) for other in (one, two))
        assert [change.change for change in first.compare(second).of("cost")] == [0.0]
        for both in (first.merge(second), second.merge(first)):
            assert KeptEvaluation.from_json(both.to_json()).options.neg_label == wanted
    weight = (np.arange(200) > 9) * 1.0
    assert keep(2, weight).options.neg_label == 2
    content = json.loads(keep(2).to_json())
    for odd, message in ((1, "another label than the positive one, 1"), ([], "neg_label must be a label")):
        with pytest.raises(ValueError, match=message):
            KeptEvaluation.from_json(json.dumps({**content, "neg_label": odd}))


def test_cells_change_the_cost_by_the_bound_of_the_table_at_most_and_not_at_all_where_there_are_pairs():
    rng = np.random.default_rng(8)
    p = rng.beta(1.2, 6.0, 3000)
    y, half = rng.random(3000) < p, np.arange(3000) % 2
    table = ScoreTable.from_predictions(y, p)
    by_rows = evaluate(y, {"a": p}, costs=(0.1, 0.5), rule=0.2, groups={"half": half})
    alone = evaluate({"a": table}, costs=(0.1, 0.5), rule=0.2)
    pooled = [KeptEvaluation.of(each, resolution=128).evaluate() for each in (by_rows, alone)]
    assert pooled[0].results[0].score == pytest.approx(by_rows.results[0].score, rel=1e-12)
    gap = abs(pooled[1].results[0].score - alone.results[0].score)
    bound = in_cells(table, 128).error_bound(alone.costs, 0.2) * alone.factor
    assert 0.0 < gap <= bound
    for mine, its in zip(pooled[0].groups, by_rows.groups, strict=True):
        cells = in_cells(its.count(), 128)
        assert 0.0 < abs(mine.score - its.score) <= cells.error_bound(alone.costs, 0.2) * alone.factor
