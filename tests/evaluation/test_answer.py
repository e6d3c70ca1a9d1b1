"""The answer: one table whose columns hold at once, and sentences that say no more than it shows."""

import html
import math
import re

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression

from stakes import ScoreTable, evaluate
from stakes.cli import main
from stakes.costs import Fixed, LogOddsUniform
from stakes.evaluation._words import Unit, Words, plural


def sample(n=1000, seed=0, prevalence=0.3, models=("good", "fair")):
    """Labels and models whose log-odds carry more and more noise."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    truth = np.where(y, rng.normal(1.2, 1.0, n), rng.normal(-0.2, 1.0, n))
    shift = math.log(prevalence / (1 - prevalence)) - 0.7
    scores = {}
    for k, name in enumerate(models):
        logits = shift + 1.4 * (truth + rng.normal(0.0, 0.1 + 1.5 * k, n)) / (1.0 + k)
        scores[name] = 1.0 / (1.0 + np.exp(-logits))
    return y.astype(int), scores


def per_row_costs(y, scores, low, high):
    """Mean regret per row over a uniform range, from its definition: c below the score, 1 - c above it."""
    s = np.clip(scores, low, high)
    false_alarm = (s**2 - low**2) / 2.0
    miss = (high - high**2 / 2.0) - (s - s**2 / 2.0)
    return np.where(y == 1, miss, false_alarm) / (high - low)


def columns(y, models, low, high):
    costs = {name: per_row_costs(y, scores, low, high) for name, scores in models.items()}
    costs["treat all"] = per_row_costs(y, np.ones(len(y)), low, high)
    costs["treat none"] = per_row_costs(y, np.zeros(len(y)), low, high)
    return costs


def critical(values, pairs, level=0.95, draws=200_000):
    """Quantile of the largest studentised error, by drawing from the covariance of the rows."""
    rows = np.stack([values[a] - (0.0 if b is None else values[b]) for a, b in pairs])
    correlation = np.corrcoef(rows)
    drawn = np.random.default_rng(1).multivariate_normal(np.zeros(len(rows)), correlation, draws)
    return np.quantile(np.abs(drawn).max(axis=1), level)


def test_the_intervals_of_a_column_have_one_critical_value_with_the_references_in_it():
    y, models = sample()
    result = evaluate(y, models, costs=(0.1, 0.4))
    costs = columns(y, models, 0.1, 0.4)
    wanted = critical(costs, [(name, None) for name in costs])
    for row in result.answer.table.rows:
        error = 1000.0 * costs[row["model"]].std(ddof=1) / math.sqrt(len(y))
        assert row["cost"] == pytest.approx(1000.0 * costs[row["model"]].mean())
        assert (row["cost_high"] - row["cost_low"]) / 2.0 == pytest.approx(wanted * error, rel=0.02)


def test_differences_allow_for_the_first_having_been_picked():
    y, models = sample(models=("good", "fair", "poor"))
    result = evaluate(y, models, costs=(0.1, 0.4))
    costs, first = columns(y, models, 0.1, 0.4), result.ranking[0]
    among = list(models)
    pairs = [(a, b) for i, a in enumerate(among) for b in among[i + 1 :]]
    pairs += [("treat all", first), ("treat none", first)]
    wanted = critical(costs, pairs)
    for row in result.answer.table.rows[1:]:
        gap = costs[row["model"]] - costs[first]
        error = 1000.0 * gap.std(ddof=1) / math.sqrt(len(y))
        assert row["more"] == pytest.approx(1000.0 * gap.mean())
        assert (row["more_high"] - row["more_low"]) / 2.0 == pytest.approx(wanted * error, rel=0.02)
    assert [result.answer.table.rows[0][key] for key in ("more", "more_low", "more_high")] == [0.0, 0.0, 0.0]


def test_models_that_were_tried_and_not_shown_widen_both_columns():
    y, models = sample()
    few, many = (evaluate(y, models, costs=(0.1, 0.4), n_tried=tried).answer.table.rows for tried in (2, 60))
    for key in ("cost", "more"):
        widths = [[row[f"{key}_high"] - row[f"{key}_low"] for row in rows[1:]] for rows in (few, many)]
        assert all(wide > 1.1 * narrow for narrow, wide in zip(*widths, strict=True))


def test_the_headline_repeats_the_interval_of_its_row():
    y, models = sample()
    result = evaluate(y, models, costs=(0.1, 0.4))
    row, choice = result.answer.table.rows[0], result.selection
    assert (row["cost_low"], row["cost_high"]) == pytest.approx([1000.0 * end for end in choice.interval])
    ends = f"{row['cost_low']:.1f} to {row['cost_high']:.1f}"
    assert f"(95%: {ends})" in result.answer.cost


def test_few_clusters_that_carry_the_cost_are_not_called_positives():
    rng = np.random.default_rng(0)
    clusters, y = np.repeat(np.arange(8), 150), (rng.random(1200) < 0.3).astype(int)
    logits = rng.normal(size=1200) + 1.5 * y - 1.0 + 1.2 * rng.normal(size=8)[clusters]
    scores = {"m": 1.0 / (1.0 + np.exp(-logits))}
    assert np.bincount(clusters, weights=y).all()
    assert y.sum() == 343
    together = evaluate(y, scores, costs=(0.1, 0.4), clusters=clusters).answer.cost
    wrong = np.unique(clusters[(y == 1) & (scores["m"] < 0.4)])
    assert len(wrong) == 8  # each has a positive that is missed at some threshold
    costs = np.bincount(clusters, weights=np.where(y == 1, per_row_costs(y, scores["m"], 0.1, 0.4), 0.0))
    just = round(costs.sum() ** 2 / (costs**2).sum())
    uneven = f"as unevenly as if just {just} did."
    assert just < 8
    assert together.endswith(f" 8 of the 8 clusters with positives add to that cost, {uneven}")


def test_so_few_equal_rows_are_named_as_are_as_uneven_as_the_costs():
    y, p = np.repeat([1, 0], [20, 200]), np.r_[[0.9] * 16, [0.1] * 4, np.full(200, 0.1)]
    weight = np.r_[[1.0] * 16, 2, 2, 3, 3, np.ones(200)]
    said = evaluate(y, p, costs=0.3, sample_weight=weight).answer.cost
    assert said.endswith(" Just 4 of the 20 positives add to that cost.")  # 2, 2, 3 and 3 are worth 100 / 26 = 3.85
    said = evaluate(y, p, costs=0.3, sample_weight=weight, clusters=np.arange(220)).answer.cost
    assert said.endswith(" Just 4 of the 20 clusters with positives add to that cost.")
    y, p = np.repeat([1, 0], [15, 300]), np.r_[0.01, 0.13, [0.9] * 13, np.full(300, 0.02)]
    lost = np.diff([[c - 0.5 * c**2 for c in (score, 0.2)] for score in (0.05, 0.13)])
    assert lost.sum() ** 2 / (lost**2).sum() == pytest.approx(1.74, abs=0.01)
    assert evaluate(y, p, costs=(0.05, 0.2)).answer.cost.endswith(" Just 2 of the 15 positives add to that cost.")


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_are_said_to_add_to_the_cost_are_counted(seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(150) < 0.2).astype(int)
    scores = np.clip(0.1 + 0.4 * y + rng.normal(0.0, 0.15, 150), 0.02, 0.98)
    weight = rng.choice([1.0, 2.0], 150) if seed % 2 else np.ones(150)
    costs = weight * per_row_costs(y, scores, 0.1, 0.5)
    told = evaluate(y, scores, costs=(0.1, 0.5), sample_weight=weight).answer.cost
    found = re.search(r" (None|Just \d+|\d+) of the (\d+) positives adds? to that cost(?:, .* (\d+) did)?\.$", told)
    mine = costs[y == 1]
    assert bool(found) == (not mine.any() or (mine**2).sum() ** 2 / (mine**4).sum() < 5.0)
    if found:
        few, whole, alike = found.groups()
        assert (0 if few == "None" else int(few.split()[-1]), int(whole)) == (np.count_nonzero(mine), y.sum())
        assert (alike is None) == few.startswith(("None", "Just"))
        kish = mine.sum() ** 2 / (mine**2).sum() if mine.any() else 0.0
        assert round(kish) == (int(alike) if alike else np.count_nonzero(mine))


def test_rows_that_add_nothing_but_the_harm_of_a_score_are_said_to():
    y = np.repeat([0, 1], [110, 12])
    scores = np.where(y == 1, 0.9, np.where(np.arange(122) < 10, 0.2, 0.02))
    plain, harmed = (evaluate(y, scores, costs=(0.05, 0.25), **more).answer.cost for more in ({}, {"harm": 0.001}))
    assert plain.endswith(" None of the 12 positives add to that cost.")
    assert harmed.endswith(" None of the 12 positives add to that cost beyond the harm.")


@pytest.mark.parametrize(("score", "adds"), [(0.8, "adds nothing"), (0.3, "adds")])
def test_an_only_positive_is_not_counted_among_positives(score, adds):
    y, scores = np.repeat([1, 0], [1, 9]), np.repeat([score, 0.2], [1, 9])
    assert (per_row_costs(y, scores, 0.1, 0.5)[0] == 0.0) == (adds == "adds nothing")
    for clusters, called in ((None, "bad loan"), (np.arange(10), "cluster with bad loans")):
        told = evaluate(y, {"a": scores}, costs=(0.1, 0.5), event="bad loan", clusters=clusters).answer.cost
        assert told.endswith(f" The only {called} {adds} to that cost.")


def test_a_clear_lead_says_use():
    y, models = sample(n=4000)
    answer = evaluate(y, models, costs=(0.1, 0.4)).answer
    assert answer.advice.startswith("USE good. fair costs ")
    assert answer.advice.endswith(" more per 1,000 decisions.")
    assert answer.shown[0].startswith("Shown (95%, all at once): good costs less than every other")
    assert answer.not_shown == ()


@pytest.mark.parametrize(("swaps", "though"), [(1, ""), (4000, ", though its AUC is higher")])
def test_an_area_is_called_higher_only_where_the_table_shows_it(swaps, though):
    y, logits, _ = drawn(3000, 0, spread=1.5)
    dear = np.sort(logits)
    labels = y[np.argsort(logits, kind="stable")]
    order = np.arange(3000)
    for _ in range(swaps):  # a positive and the negative above it change places
        k = np.flatnonzero((labels[order[:-1]] == 1) & (labels[order[1:]] == 0))[0]
        order[[k, k + 1]] = order[[k + 1, k]]
    models = {"a": expit(dear), "b": expit(dear[np.argsort(order)] + 1.0)}
    result = evaluate(labels, models, costs=(0.2, 0.4))
    assert result["b"].auc > result["a"].auc
    told = {row[1]: row[6] for row in result.answer.cells()[1:]}
    assert (told["b"] > told["a"]) == bool(though)
    assert re.fullmatch(rf"USE a\. b costs [\d.]+ more per 1,000 decisions{though}\.", result.answer.advice)


def test_models_that_are_alike_cannot_be_told_apart():
    y, models = sample()
    noise = np.random.default_rng(3).normal(0.0, 0.01, len(y))
    models = {"one": models["good"], "two": np.clip(models["good"] + noise, 0.0, 1.0)}
    result = evaluate(y, models, costs=(0.1, 0.4))
    first, second = result.ranking
    assert result.answer.advice == f"These rows cannot tell {first} from {second}."
    assert result.answer.not_shown[0].startswith(f"Not shown: that {first} costs less than {second}; ")
    assert [row["may_be_best"] for row in result.answer.table.rows] == [True, True, False, False]


def test_no_model_is_better_than_deciding_the_same_for_all():
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.03).astype(int)
    result = evaluate(y, {"noise": rng.beta(1, 3, 500)}, costs=(0.2, 0.5), action="call", event="lapse")
    assert result.answer.advice == "Call no one: no model is shown to cost less."
    assert result.answer.cost.startswith("Calling no one costs ")


def test_names_of_action_and_event_stand_in_every_sentence():
    y, models = sample(n=4000)
    answer = evaluate(y, models, costs=(0.1, 0.25), action="refuse", event="bad loan").answer
    assert answer.read.startswith("4,000 rows, ")
    assert " bad loans (" in answer.read
    said = "Refusing from a risk of 10% to 25%: one missed bad loan is as bad as 3 to 9 false alarms."
    assert answer.meaning == said
    assert answer.unit == "A cost of 1 is one missed bad loan plus one false alarm."
    assert [row["label"] for row in answer.table.rows[-2:]] == ["refuse everyone", "refuse no one"]
    assert "treat" not in " ".join(answer.sentences)


@pytest.mark.parametrize("name", ["action", "event"])
def test_word_of_as_many_characters_as_the_refusal_of_a_longer_one_says_is_taken(name):
    y, scores = [0, 1] * 20, {"a": [0.1, 0.8] * 20}
    with pytest.raises(ValueError, match=f"^{name} must be a word such as") as refused:
        evaluate(y, scores, costs=0.3, **{name: "m" * 99})
    longest = "m" * int(re.search(r"of at most (\d+) characters", str(refused.value))[1])
    assert longest in " ".join(evaluate(y, scores, costs=0.3, **{name: longest}).answer.sentences)
    for word in (f"{longest}m", " ", "", "two\nlines", 5):
        with pytest.raises(ValueError, match=f"^{name} must be a word such as .*, got {re.escape(repr(word))}"):
            evaluate(y, scores, costs=0.3, **{name: word})


@pytest.mark.parametrize(
    ("action", "acting"),
    [
        *(("treat", "treating"), ("refuse", "refusing"), ("stop", "stopping"), ("refer", "referring")),
        *(("call back", "calling back"), ("biopsy", "biopsying"), ("free", "freeing"), ("open", "opening")),
        *(("tie", "tying"), ("flag", "flagging"), ("inspect", "inspecting"), ("audit", "auditing")),
        *(("offer", "offering"), ("limit", "limiting"), ("begin", "beginning"), ("defer", "deferring")),
        *(("suffer", "suffering"), ("admit", "admitting"), ("occur", "occurring"), ("control", "controlling")),
        *(("differ", "differing"), ("reset", "resetting"), ("visit", "visiting"), ("repel", "repelling")),
    ],
)
def test_the_noun_of_an_action(action, acting):
    assert Words(action).acting == acting


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("positive", "positives"),
        ("loss", "losses"),
        ("injury", "injuries"),
        ("delay", "delays"),
        ("diagnosis", "diagnoses"),
    ],
)
def test_the_plural_of_an_event(one, many):
    assert plural(one) == many


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ((0.05, 0.3), "as bad as 2.3 to 19 false alarms"),
        (0.2, "as bad as 4 false alarms"),
        (0.5, "as bad as 1 false alarm"),
        (1.0, "as bad as no false alarm"),
        ((0.0, 0.1), "as bad as 9 false alarms at least"),
        ((0.0, 0.5), "as bad as 1 false alarm at least"),
        ((0.5, 1.0), "as bad as 1 false alarm at most"),
        ((0.2, 1.0), "as bad as 4 false alarms at most"),
        ((0.0, 1.0), "as bad as any number of false alarms"),
    ],
)
def test_what_a_range_means(costs, words):
    y, models = sample(n=200)
    assert evaluate(y, models, costs=costs).answer.meaning.endswith(f"one missed positive is {words}.")


@pytest.mark.parametrize(
    ("low", "high", "told"), [(0.2, 0.2001, "20% to 20.01%"), (0.33331, 0.33334, "33.331% to 33.334%")]
)
def test_the_ends_of_a_narrow_range_read_differently_wherever_they_stand(low, high, told):
    y, models = sample(n=300)
    result = evaluate(y, models, costs=(low, high))
    assert result.answer.meaning.startswith(f"Treating from a risk of {told}: ")
    page = re.sub(r"<[^>]+>", "", result.to_html())
    for text in (result.methods(), page, str(result.answer), "".join(result.answer.details)):
        assert not re.search(r"(\b\d[\d.]*%) (to|and) \1", text)
    assert f"{told} that count alike" in page


@pytest.mark.parametrize(("tie", "start"), [(1.0, "Treating from a risk"), (0.0, "Treating above a risk")])
def test_a_threshold_that_is_not_acted_on_is_no_start_of_acting(tie, start):
    found = evaluate([0, 1, 0, 1] * 50, [0.3, 0.6, 0.1, 0.3] * 50, costs=Fixed(0.3, tie=tie))
    assert found.answer.meaning.startswith(f"{start} of 30%: ")
    assert f"A case is acted on when its score {'reaches' if tie else 'exceeds'} the threshold" in found.to_html()


@pytest.mark.parametrize(("name", "word"), [("action", 3), ("event", ""), ("event", "a\n"), ("action", "x" * 41)])
def test_a_name_that_is_no_word_is_refused(name, word):
    y, models = sample(n=200)
    with pytest.raises(ValueError, match=f"{name} must be a word"):
        evaluate(y, models, costs=0.2, **{name: word})


def test_the_longest_name_stands_in_the_answer():
    y, models = sample(n=200)
    longest = "x" * 40
    answer = evaluate(y, models, costs=0.2, action=longest, event=longest[::-1].upper()).answer
    assert [row["label"] for row in answer.table.rows[-2:]] == [f"{longest} everyone", f"{longest} no one"]
    assert longest.upper() in answer.meaning


def test_long_names_that_differ_in_the_middle_are_told_apart_on_every_face(tmp_path, capsys, monkeypatch):
    pytest.importorskip("rich")
    pytest.importorskip("polars")
    monkeypatch.setenv("COLUMNS", "200")
    y, given = sample(300, models=("a", "b", "c"))
    places = zip(given.values(), ("4_rate=0.05", "4_rate=0.10", "6_rate=0.05"), strict=True)
    models = {f"hist_gradient_boosting_depth={name}_l2=0.1_calibrated_fold1": scores for scores, name in places}
    result = evaluate(y, models, costs=(0.1, 0.4))
    path = tmp_path / "long.csv"
    rows = zip(y, *models.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [("y", *models), *rows]))
    assert main(["evaluate", str(path), "--label", "y", "--costs", "0.1:0.4"]) == 0
    said = capsys.readouterr()
    notebook = html.unescape(result.answer._repr_html_())
    for face in (notebook, result.answer.to_markdown(), said.out, said.err, result.to_html()):
        assert {*re.findall(r"…g_(depth=\d_rate=0\.\d+)_", face)} == {name[23:40] for name in models}


def test_costs_too_small_for_the_decimals_are_below_the_least():
    unit = Unit(1000.0, "per 1,000 decisions", 2)
    assert unit.told(2.94e-68) == "below 0.01"
    assert unit.told(0.0) == "0.00"
    assert unit.told(0.0125) == "12.50"


def test_costs_in_money_and_per_another_number():
    y, models = sample()
    plain, money = (evaluate(y, models, costs=(0.1, 0.4), **more).answer for more in ({}, {"unit_cost": 500.0}))
    assert money.table.rows[0]["cost"] == pytest.approx(500.0 * plain.table.rows[0]["cost"])
    assert money.unit == "Costs are in money: one missed positive plus one false alarm cost 500."
    hundred = evaluate(y, models, costs=(0.1, 0.4), per=100.0).answer
    assert hundred.per == "per 100 decisions"
    assert hundred.table.rows[0]["cost"] == pytest.approx(plain.table.rows[0]["cost"] / 10.0)


@pytest.mark.parametrize("name", ["**x\x1b[31m <script>", "|b <i>", "# best", "> c", "&copy; 1"])
def test_names_that_begin_with_marks_are_shown_as_they_are_in_markdown(name):
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    y, models = sample()
    answer = evaluate(y, {name: models["good"], "fair": models["fair"]}, costs=(0.1, 0.4)).answer
    page = reader.render(answer.to_markdown())
    assert re.findall(r"<(?:script|i|h\d|blockquote)\b|\x1b", page) == []
    assert page.count("<strong>") == page.count("<table>") == 1
    shown = html.unescape(page)
    for sentence in (answer.advice, answer.cost, answer.table.rows[0]["label"]):
        assert sentence.replace("\x1b", "\\x1b") in shown


@pytest.mark.parametrize(("name", "shown"), [("a\nb", r"a\nb"), ("a\tb", r"a\tb"), ("a\u202eb", r"a\u202eb")])
def test_a_name_with_a_control_is_written_alike_in_table_and_sentences_of_markdown(name, shown):
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    markdown = evaluate([0, 1] * 40, {name: [0.1, 0.9] * 40, "old": [0.2, 0.6] * 40}, costs=(0.1, 0.3)).to_markdown()
    page = html.unescape(reader.render(markdown))
    assert f"<td>{shown}</td>" in page
    assert f"USE {shown}." in page
    assert "a b" not in page


def test_faces_show_the_same_sentences():
    y, models = sample()
    result = evaluate(y, {"<b>": models["good"], "fair": models["fair"]}, costs=(0.1, 0.4))
    page, text = result.answer._repr_html_(), result.answer.to_markdown()
    assert "&lt;b&gt;" in page
    assert "<b><b>" not in page
    for sentence in (result.answer.meaning, result.answer.unit):
        assert sentence in page
        assert sentence in text
    assert "| may be best |" in text


def drawn(n, seed, mean=-1.0, spread=1.2):
    """Outcomes drawn from risks, the risks in log-odds, and the generator."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(mean, spread, n)
    return (rng.random(n) < 1.0 / (1.0 + np.exp(-logits))).astype(int), logits, rng


def expit(logits):
    return 1.0 / (1.0 + np.exp(-logits))


def test_what_is_open_is_listed_with_or_in_the_order_of_the_table():
    y, logits, rng = drawn(1000, 8)
    models = {f"m{k}": expit(logits + rng.normal(0.0, 0.5, len(y))) for k in range(10)}
    result = evaluate(y, models, costs=(0.1, 0.3))
    first, *rest = result.ranking
    listed = f"{', '.join(rest[:3])} or 6 others"
    assert result.answer.advice == f"These rows cannot tell {first} from {listed}."
    said = f"Not shown: that {first} costs less than {listed}; {rest[0]} costs so nearly the same"
    assert result.answer.not_shown[0].startswith(said)


def rows_needed(answer):
    return int(re.search(r"; about ([\d,]+) rows would, if", answer.not_shown[0])[1].replace(",", ""))


def test_the_rows_it_would_take_are_those_of_the_hardest_rival():
    y, logits, rng = drawn(1000, 8)
    noise = {"a": 0.0, "b": 0.5, "c": 0.3}
    models = {name: expit(logits + rng.normal(0.0, spread, 1000)) for name, spread in noise.items()}
    result = evaluate(y, models, costs=(0.1, 0.3))
    costs, rows, times = columns(y, models, 0.1, 0.3), {r["model"]: r for r in result.answer.table.rows}, []
    for name in result.ranking[1:]:
        gap = costs[name] - costs[result.ranking[0]]
        error, reach = gap.std(ddof=1) / math.sqrt(1000), (rows[name]["more_high"] - rows[name]["more_low"]) / 2000.0
        times.append(((reach + 0.8416 * error) / gap.mean()) ** 2)
    assert max(times) > 1.5 * min(times)
    assert max(times) * 1000 <= rows_needed(result.answer) <= max(times) * 1000 * 1.2


def few_in_range(n, seed):
    """Thirty rows or so, of which hardly one tells the models apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, {name: np.clip(0.2 + 0.6 * y + rng.normal(0.0, 0.2, n), 0.02, 0.98) for name in "ab"}, (0.3, 0.5)


def few_positives(n, seed):
    y, logits, rng = drawn(n, seed)
    return y, {"a": expit(logits), "b": expit(logits + rng.normal(0.0, 1.0, n))}, (0.1, 0.3)


@pytest.mark.simulation
@pytest.mark.parametrize(("make", "n", "seed"), [(few_in_range, 30, 0), (few_positives, 60, 1), (few_positives, 40, 2)])
def test_twice_the_rows_it_would_take_show_it_and_half_of_them_do_not(make, n, seed):
    y, models, bounds = make(n, seed)
    here = evaluate(y, models, costs=bounds)
    needed, first, shares = rows_needed(here.answer), here.ranking[0], []
    for rows in (needed // 2, 2 * needed):
        rng, shown = np.random.default_rng(5), 0
        for _ in range(60):
            some = rng.integers(0, n, rows)
            again = evaluate(y[some], {name: scores[some] for name, scores in models.items()}, costs=bounds)
            lows = [low for name, (_, low, _) in again.more_than_first.items() if name != first]
            shown += again.ranking[0] == first and (again.selection.possible == (first,) or min(lows) > 0.0)
        shares.append(shown / 60)
    assert shares[0] < 0.8 < shares[1]


def test_a_difference_of_a_third_of_the_cost_is_not_nearly_the_same():
    y, models, bounds = few_in_range(30, 0)
    result = evaluate(y, models, costs=bounds)
    assert result["a"].score > 1.3 * result["b"].score
    assert rows_needed(result.answer) <= 2000


def test_a_difference_that_is_not_shown_is_one_of_these_rows():
    y, logits, _ = drawn(20_000, 10, mean=-6.4, spread=1.0)
    answer = evaluate(y, {"a": expit(logits)}, costs=(0.002, 0.01)).answer
    assert answer.advice == "These rows cannot tell a from treating no one."
    assert answer.cost.partition(" less than ")[2] == "treating no one on these rows."


def test_one_model_has_no_rivals_and_is_not_the_best():
    y, logits, rng = drawn(1000, 3)
    shown = evaluate(y, {"a": expit(logits)}, costs=(0.1, 0.3)).answer.shown[0]
    assert shown.startswith("Shown (95%, all at once): a costs less than treating everyone or no one on average")
    useless = evaluate(y, {"a": expit(rng.normal(-1.0, 0.8, len(y)))}, costs=(0.1, 0.3)).answer
    assert "while a costs " in useless.cost
    assert "best model" not in useless.cost


def test_a_perfect_model_makes_no_mistake_on_these_rows():
    y, *_ = drawn(1000, 5)
    cost = evaluate(y, {"a": np.where(y == 1, 0.99, 0.01)}, costs=(0.1, 0.3)).answer.cost
    assert cost.endswith("): no decision by it is wrong on these rows.")
    assert "100%" not in cost


def test_levels_and_amounts_are_told_as_they_were_stated():
    y = np.tile([0, 1], 100)
    stated = {"unit_cost": 1234567.0, "confidence_level": 0.9545}
    answer = evaluate(y, {"a": np.full(200, 0.4)}, costs=(0.3, 0.6), **stated).answer
    assert answer.unit == "Costs are in money: one missed positive plus one false alarm cost 1,234,567."
    assert "(95.45%: " in answer.cost
    assert answer.details[0].startswith("Pointwise 95.45% intervals")
    assert answer.cells()[0][3] == "95.45% interval"
    assert "simultaneous 95.45% intervals" in answer._repr_html_()


@pytest.mark.parametrize("others", [0, 1])
def test_a_model_whose_right_and_wrong_alarms_cancel_costs_as_much_as_no_alarms(others):
    """At 1/2 ten false alarms cost what ten positives found save, on other rows."""
    y = np.arange(200) % 4 == 0
    acted = np.isin(np.arange(200), np.append(np.flatnonzero(y)[:10], np.flatnonzero(~y)[:10]))
    models = {"a": np.where(acted, 0.7, 0.2)} | ({"b": np.where(acted[::-1], 0.7, 0.2)} if others else {})
    result = evaluate(y, models, costs=0.5)
    assert result.more_than_first["treat none"][1] < 0.0 < result.more_than_first["treat none"][2]
    assert re.fullmatch(
        r"Treating no one costs 125 per 1,000 decisions \(95%: .*\), as much as a\.", result.answer.cost
    )


@pytest.mark.parametrize("count", range(2, 8))
def test_up_to_four_models_are_named_and_of_more_the_first_three(count):
    y, logits, _ = drawn(1000, 3)
    names = [f"m{k}" for k in range(count)]
    named = names if count <= 4 else [*names[:3], f"{count - 3} others"]
    either = "either" if count == 2 else "any of them"
    told = evaluate(y, dict.fromkeys(names, expit(logits)), costs=(0.1, 0.3)).answer.advice
    assert told == f"{', '.join(named[:-1])} and {named[-1]} cost the same on each of these rows: {either} will do."


@pytest.mark.parametrize("ends", [(0.1, 0.3), (1e-6, 1e-5)])
def test_a_model_that_decides_every_row_as_a_reference_does_costs_as_much(ends):
    y = np.tile([0, 1], 100)
    told = evaluate(y, np.where(y == 1, 0.8, 0.3), costs=ends).answer.cost
    assert told.endswith(", as much as model.")
    if ends[1] < 0.01:  # (1e-6 + 1e-5) / 2 of half of the rows is 0.00275 per 1,000
        assert told == "Treating everyone costs below 0.01 per 1,000 decisions (95%: below 0.01), as much as model."


def test_an_infinite_cost_of_a_fixed_threshold_is_not_laid_to_its_scores():
    y = np.tile([0, 1], 100)
    scores = np.where(y == 1, 0.8, 0.3)
    scores[:20] = 1.1 - scores[:20]
    measure = LogOddsUniform(0.0, 1.0)
    for rule, cause in (
        (0.5, "a mistake at a fixed threshold costs infinitely much"),
        ("score", "a score of exactly 0"),
    ):
        sure = scores if rule == 0.5 else np.round(scores)
        for models in ({"a": sure}, {"a": sure, "b": sure}):
            answer = evaluate(y, models, costs=measure, rule=rule).answer
            assert answer.cost.startswith(f"a has an infinite cost: {cause}")
            told = [line for line in answer.sentences if "infinite cost" in line]
            assert all(cause in line for line in told)
            assert len(told) == len(models)  # said once of each


def test_an_infinite_cost_beside_it_is_no_whole_of_which_a_share_is_saved():
    y = np.tile([0, 1], 200)
    scores = np.where(y == 1, 0.8, 0.2)
    scores[:6] = [0.8, 0.2] * 3
    models = {"a": scores, "b": np.where(np.arange(400) == 0, 1.0, scores)}
    answer = evaluate(y, models, costs=LogOddsUniform(0.0, 1.0)).answer
    rows = {row["model"]: row for row in answer.table.rows}
    assert rows["b"]["cost"] == rows["treat all"]["cost"] == rows["treat none"]["cost"] == math.inf
    assert all(math.isnan(row["more_low"]) for row in answer.table.rows[1:])
    assert answer.cost.endswith("), and treating everyone an infinite amount.")
    assert "two-sided" not in " ".join(answer.sentences)


@pytest.mark.parametrize(("score", "told"), [(0.39, "over 99%"), (0.3, "over 99%"), (0.2001, "99%")])
def test_a_cost_that_is_not_saved_whole_is_not_called_so(score, told):
    y = np.repeat([1, 0], 2000)
    scores = np.where(y == 1, np.where(np.arange(4000) < 9, score, 0.9), 0.01)
    costs = columns(y, {"a": scores}, 0.2, 0.4)
    saved = 1.0 - costs["a"].mean() / costs["treat all"].mean()
    assert (0.995 <= saved < 1.0) == (told == "over 99%")
    assert f", {told} less than treating everyone." in evaluate(y, {"a": scores}, costs=(0.2, 0.4)).answer.cost


def test_a_constant_score_is_not_to_be_used_though_it_costs_less_than_both_references():
    y, *_ = drawn(1000, 6, mean=-1.6, spread=0.5)
    result = evaluate(y, {"a": np.full(len(y), 0.18)}, costs=(0.1, 0.3))
    assert result.selection.possible == ("a",)
    said = "Decide nothing by a: every row has the score 18%, and 16.7% are positives."
    assert result.answer.advice == said


def test_a_constant_score_that_is_wrong_is_no_threshold_at_which_to_stop_treating():
    y = np.repeat([1, 0], [1200, 1800])
    answer = evaluate(y, {"flat": np.full(3000, 0.25)}, costs=(0.1, 0.8), event="bad loan").answer
    everyone, no_one = (per_row_costs(y, scores, 0.29, 0.31).mean() for scores in (np.ones(3000), np.zeros(3000)))
    assert everyone < no_one  # above 25%, up to the share of events
    assert answer.advice == "Decide nothing by flat: every row has the score 25%, and 40% are bad loans."


def test_a_constant_score_outside_the_range_costs_as_much_as_a_reference():
    y, *_ = drawn(1000, 6, mean=-1.6, spread=0.5)
    assert evaluate(y, {"a": np.full(len(y), 0.05)}, costs=(0.1, 0.3)).answer.cost.endswith("), as much as a.")


@pytest.mark.parametrize(("slope", "spread"), [(-1.0, 1.2), (-0.05, 0.5)])
def test_inverted_scores_say_so_first_and_nothing_of_their_promise(slope, spread):
    y, logits, _ = drawn(1000, 6, mean=-1.6, spread=spread)
    answer = evaluate(y, {"a": expit(-1.5 + slope * logits)}, costs=(0.1, 0.3)).answer
    assert answer.advice == "Decide nothing yet: the scores of a, or the labels, seem to be turned round."
    assert "save" not in " ".join(answer.sentences)
    assert "promise" not in " ".join(answer.sentences)


def equal_models(seed, n=300, prevalence=0.3, count=20):
    """Models that each know one feature alone, and give the probability of a positive at its value, exactly."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    logits = math.log(prevalence / (1.0 - prevalence)) + rng.normal(size=(n, count)) + y[:, None] - 0.5
    return y.astype(int), {f"m{k}": 1.0 / (1.0 + np.exp(-column)) for k, column in enumerate(logits.T)}


@pytest.mark.parametrize(("higher", "said"), [(0.0, False), (0.5, True)])
def test_a_promise_is_called_broken_only_beyond_what_picking_its_model_explains(higher, said):
    """The p-value of a mean of rows, with their error or that of chance, times the models tried."""
    y, models = equal_models(28)
    models = {name: s / (s + (1.0 - s) * math.exp(-higher)) for name, s in models.items()}
    full = evaluate(y, models, costs=(0.3, 0.9))
    first = full.ranking[0]
    s, (negative, positive) = models[first], (per_row_costs(np.full(300, k), models[first], 0.3, 0.9) for k in (0, 1))
    beyond = np.where(y == 1, (1.0 - s) * (positive - negative), s * (negative - positive))
    error = max(beyond.std(ddof=1), np.sqrt(np.mean(s * (1.0 - s) * (positive - negative) ** 2))) / math.sqrt(300)
    p = 2.0 * norm.sf(abs(beyond.mean()) / error)
    assert p < (0.5 * 0.05 / 20 if said else 0.8 * 0.05)
    assert said or p > 2.0 * 0.05 / 20
    alone = {first: s}
    assert "promise" in evaluate(y, alone, costs=(0.3, 0.9)).answer.calibration
    assert ("promise" in full.answer.calibration) is said
    assert ("promise" in evaluate(y, alone, costs=(0.3, 0.9), n_tried=20).answer.calibration) is said


@pytest.mark.parametrize(
    ("share", "score", "said"), [(0.2008, 0.2002, False), (0.2008, 0.2014, True), (0.2014, 0.2018, False)]
)
def test_a_broken_promise_is_said_where_it_and_the_cost_are_told_as_two_numbers(share, score, said):
    """Of so many rows nothing is by chance; at 1/2 each mistake costs 1/2."""
    half = 5e9
    right = np.array([1.0 - share, share]) * half
    table = ScoreTable(np.array([score, 1.0 - score]), right[::-1], right, right[::-1], right, n_rows=10**10)
    cost, promised = 500.0 * share, 500.0 * score
    told = f"model's own scores promise {promised:.0f} per 1,000 decisions; it costs {cost:.0f}."
    assert (f"{cost:.0f}" != f"{promised:.0f}") is said
    answer = evaluate(table, costs=0.5).answer
    assert answer.cost.startswith(f"model costs {cost:.0f} per 1,000 decisions")
    assert ("promise" in answer.calibration) is said
    assert (told in answer.calibration) is said


def test_a_cost_beside_a_promise_is_said_to_be_without_the_harm_that_the_table_counts():
    y, logits, _ = drawn(600, 1)
    answer = evaluate(y, {"w": expit(logits + 1.2)}, costs=(0.1, 0.3), harm=0.02).answer
    bare = 1000.0 * per_row_costs(y, expit(logits + 1.2), 0.1, 0.3).mean()
    assert answer.table.rows[0]["cost"] == pytest.approx(bare + 1000.0 * 0.02 * 0.8)  # 1 - t at the mean threshold
    assert answer.calibration.endswith(f" per 1,000 decisions; without the harm it costs {bare:.0f}.")
    assert evaluate(y, {"w": expit(logits + 1.2)}, costs=(0.1, 0.3)).answer.calibration.endswith(
        f"; it costs {bare:.0f}."
    )


def test_a_ratio_to_the_cost_of_the_prevalence_is_said_to_be_without_the_harm_that_the_table_counts():
    y, logits, _ = drawn(900, 1, mean=-2.5)
    worse = {"b": expit(logits + 2.2)}
    told = [evaluate(y, worse, costs=(0.05, 0.3), harm=harm).findings for harm in (0.0, 0.05)]
    bare, harmed = (next(f.sentence for f in each if f.code == "worse-than-prevalence") for each in told)
    mine, prevalence = (per_row_costs(y, s, 0.05, 0.3).mean() for s in (worse["b"], np.full(900, y.mean())))
    assert f": it costs {mine / prevalence:.2f} times as much, " in bare
    assert harmed == bare.replace(": it costs", ": without the harm it costs")


def test_a_small_lead_that_is_shown_has_the_decimals_it_needs():
    y, logits, _ = drawn(50_000, 9)
    answer = evaluate(y, {"a": expit(logits), "b": expit(logits + 0.1)}, costs=(0.1, 0.3)).answer
    lead = answer.table.rows[1]
    assert 0.0 < lead["more_low"] < lead["more"] < 0.5
    assert answer.advice == f"USE a. b costs {lead['more']:.2f} more per 1,000 decisions."
    assert (
        "".join(answer.cells()[2][4].split()) == f"{lead['more']:.2f}({lead['more_low']:.2f}to{lead['more_high']:.2f})"
    )


def test_nothing_to_recalibrate_is_no_interval_from_0_to_0():
    y, logits, rng = drawn(100_000, 2)
    models = {name: expit(logits + rng.normal(0.0, noise, len(y))) for name, noise in (("a", 0.3), ("b", 0.8))}
    answer = evaluate(y, models, costs=(0.1, 0.3)).answer
    assert "0 to 0" not in answer.calibration
    assert "worth repairing (below 1 of the " in answer.calibration


def test_risks_not_shown_to_be_off_are_not_called_too_low():
    y, _, rng = drawn(1000, 4)
    result = evaluate(y, {"a": expit(rng.normal(-1.0, 0.8, len(y)))}, costs=(0.1, 0.3))
    ends = result.calibration.of("a").overall.interval("o_e_ratio")
    assert ends[0] < 1.0 < ends[1]
    assert "worse-than-prevalence" in result.findings.codes
    assert not any("too low" in finding.sentence for finding in result.findings)


def test_saving_by_recalibration_is_said_where_it_is_shown_on_other_rows():
    y, logits, _ = drawn(3000, 0)
    new_y, new_logits, _ = drawn(300_000, 100)

    def extreme(of, shift):
        return expit(2.0 * of + shift)

    said = evaluate(y, {"a": extreme(logits, 0.5)}, costs=(0.1, 0.3)).answer.calibration
    saving, low, high = map(float, re.search(r"would save about ([\d.]+) \(([\d.]+) to ([\d.]+)\) of", said).groups())
    fitted = IsotonicRegression(out_of_bounds="clip").fit(extreme(logits, 0.5), y)
    new = extreme(new_logits, 0.5)
    true = 1000 * np.mean(per_row_costs(new_y, new, 0.1, 0.3) - per_row_costs(new_y, fitted.predict(new), 0.1, 0.3))
    assert low < true < high
    assert low < saving < high
    said = evaluate(y, {"a": extreme(logits, 1.0)}, costs=(0.1, 0.3)).answer.calibration
    assert (
        "Recalibrating a (isotonic regression on other rows) is not shown to save (0 to 5 per 1,000 decisions)" in said
    )


def codes_left(result):
    return {finding.code for finding in result.answer.findings if finding.severity != "info"}


@pytest.mark.parametrize("others", [95, 100_000])
def test_few_positives_are_said_of_a_model_without_mistakes_too(others):
    y = np.repeat([1, 0], [5 if others == 95 else 20, others])
    result = evaluate(y, np.where(y == 1, 0.9, 0.01), costs=(0.2, 0.4))
    assert result.answer.cost.endswith(": no decision by it is wrong on these rows.")
    assert "few-events" in codes_left(result)


def test_few_positives_are_said_once():
    y, logits, _ = drawn(60, 1)
    result = evaluate(y, expit(logits), costs=(0.1, 0.3))
    assert "few-events" in result.findings.codes
    assert " of the 20 positives add to that cost" in result.answer.cost
    assert "few-events" not in codes_left(result)


def test_an_area_that_prefers_a_dearer_model_is_said_though_another_model_leads():
    y, logits, rng = drawn(2000, 0, spread=1.3)
    a, b = (-0.9 + 0.75 * (logits + 1.0) + rng.normal(0.0, 0.8, 2000) for _ in "ab")
    two = evaluate(y, {"a": expit(a), "c": expit(logits + 3.0)}, costs=(0.2, 0.4))
    three = evaluate(y, {"a": expit(a), "b": expit(b), "c": expit(logits + 3.0)}, costs=(0.2, 0.4))
    assert "auc-disagrees" in set(two.findings.codes) & set(three.findings.codes)
    assert two.answer.advice.endswith(" more per 1,000 decisions, though its AUC is higher.")
    assert "auc-disagrees" not in codes_left(two)
    assert three.answer.advice.startswith("These rows cannot tell ")
    assert "auc-disagrees" in codes_left(three)


@pytest.mark.parametrize("count", [2, 3])
def test_risks_that_are_off_are_said_of_every_model(count):
    y, logits, rng = drawn(2000, 3)
    models = {f"m{k}": expit(logits + 1.0 + rng.normal(0.0, 0.3, 2000)) for k in range(count)}
    result = evaluate(y, models, costs=(0.1, 0.3))
    assert {f for each in result.findings if each.code == "calibration-in-the-large" for f in each.models} == {*models}
    assert sum(f"{name}'s risks are " in result.answer.calibration for name in models) == 2
    assert ("calibration-in-the-large" in codes_left(result)) == (count > 2)


@pytest.mark.parametrize(
    ("n", "slope", "off", "mends"), [(3000, 1.0, 1.0, True), (1500, 1.7, -1.0, False), (250, 0.65, 1.0, False)]
)
def test_correcting_is_said_to_mend_only_what_a_shift_explains(n, slope, off, mends):
    said = []
    for seed in range(5):
        y, logits, _ = drawn(n, seed, mean=-1.8)
        scores = expit((logits + 1.8) / slope - 1.8 + off)
        said.append(evaluate(y, {"m": scores}, costs=(0.1, 0.3)).answer.calibration)
    assert all(text.startswith("m's risks are ") for text in said)
    assert sum("stakes correct mends that" in text for text in said) >= 4 * mends
    assert sum("recalibrate on other rows" in text for text in said) >= 5 * (not mends)


def test_correcting_is_not_said_to_mend_shares_of_votes_whose_slope_is_not_known():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=2000) - 2.0
    y = (rng.random(2000) < expit(logits)).astype(int)
    votes = rng.binomial(50, expit(2.5 * logits + 3.6)) / 50
    assert any((y == 1) & (votes == 0.0)) or any((y == 0) & (votes == 1.0))
    answer = evaluate(y, {"forest": votes}, costs=(0.1, 0.3)).answer
    assert "(1.91 to 2.33): recalibrate on other rows." in answer.calibration


@pytest.mark.parametrize("count", [2, 6])
def test_treating_everyone_that_may_be_best_is_said_beside_many_models(count):
    y, logits, rng = drawn(80, 1)
    models = {f"m{k}": expit(logits + rng.normal(0.0, 0.6, 80)) for k in range(count)}
    result = evaluate(y, models, costs=(0.1, 0.3))
    assert "treat all" in result.selection.possible
    assert "not-better" in result.findings.codes
    assert ("treating everyone" in result.answer.not_shown[0]) == (count == 2)
    assert ("not-better" in codes_left(result)) == (count == 6)
