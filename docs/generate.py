"""Write the pages of the documentation that are made from the code: `python docs/generate.py`."""

import inspect
import re
from abc import ABCMeta
from importlib import import_module
from pathlib import Path

import stakes
from stakes import costs, display
from stakes.curves import CURVES
from stakes.evaluation import ACTION_FINDINGS, advise, findings_table
from stakes.metrics import metrics_table

FOLDER = Path(__file__).parent
METRICS_PAGE = """# Metrics

Every metric of the library, made from its registry. "Strictly proper" means that the true probabilities are the only
best report (within the bounds, where a metric has bounds); "proper", that nothing beats them; "ranking only", that any
increasing transform of the scores does as well. Every metric takes `sample_weight`; weight k equals k repeated rows.

{table}

Losses that are regret over one cost distribution:

| metric | cost distribution | scale |
| --- | --- | --- |
| `bounded_brier_loss` | `costs.Uniform(low, high)` | twice the integral |
| `bounded_log_loss` | `costs.LogOddsUniform(low, high)` | the integral |
| `beta_loss` | `costs.Beta(a, b, low, high)` | twice the integral |
| `shifted_brier_loss` | `costs.Shifted(median, low, high)` | twice the integral |
| `average_net_benefit_score` | `costs.NetBenefitUniform(low, high)` | prevalence less the integral over the width |
| `net_benefit_score` | `costs.Fixed(threshold)` | prevalence less regret / (1 - threshold) |
| `h_measure_score` | `costs.Beta(a, b)`, rule "optimal" | as skill |
| error rate | `costs.Fixed(0.5)` | twice the integral |
| binary `penalized_brier_loss` | `4 * costs.Uniform(0, 1) + costs.Fixed(0.5, tie=0.5)` | the integral |

AUC, partial AUC, top-K and multi-class scores are not of this form.
"""


CURVES_PAGE = """# Curves

Every curve is exact: knots with left and right values, no grid and no smoothing unless asked. Each has `.at(x)`,
`.integral(a, b)`, `.frame()` and `.plot()`, and takes `sample_weight`; weight k equals k repeated rows.

| curve | what it shows | x | y | better | range | area | needs |
| --- | --- | --- | --- | --- | --- | --- | --- |
{rows}

`threshold_table` gives sensitivity, specificity, predictive values, likelihood ratios, share flagged, net benefit and
cost at every threshold; `binned_reliability` calibration by bins with intervals.

```python
>>> import numpy as np
>>> from stakes.curves import regret_curve
>>> rng = np.random.default_rng(0)
>>> risk = rng.beta(1, 6, 4000)
>>> died = rng.random(4000) < risk
>>> curve = regret_curve(died, risk, name="risk")
>>> round(float(curve.at(0.1)), 4), round(curve.integral(0.05, 0.2) / 0.15, 4)  # at 10%, and the mean from 5% to 20%
(0.0584, 0.0635)
>>> display = curve.plot()

```

```{{raw}} html
<img src="_static/figures/curves_1.png" alt="Regret of a model, below treating everyone and no one" class="figure">
```
"""


FINDINGS_PAGE = """# Findings

What a careful reader should know before acting on an evaluation. `evaluate(...).findings` holds what was found, the
gravest first, each with a code, a severity, a sentence, the numbers behind it and what to do;
`evaluation.check(ignore=["half-outside"])` leaves codes out. `stakes check FILE` prints the same, and ends with exit
code 4 if a finding that `--fail-on` names is among them (errors, unless it says otherwise). They also stand in the
output of `stakes evaluate`, in its JSON and in the report.

An *error* says: do not act on the result as it is. A *warning*: the result, or a usual metric, can mislead here. An
*info* is a fact about the thresholds or the rows, and no alarm.

{table}

## Of decisions among many actions

`stakes.evaluation.action_findings` and `stakes evaluate --cost-matrix` raise these:

{actions}

## How often they are wrong

Checks that ask whether something is wrong beyond chance use the level 0.01, shared among the models or their pairs.
In 1,000 simulations each of eight designs with calibrated forecasts (`python -m replications false_alarms`)
these shares had a warning or an error although nothing is wrong, or the claim that one of several equally good models
costs less than another at every threshold (none were):

| design | any false finding | which |
| --- | --- | --- |
| common outcome: 1,000 rows, 30% positive, two useful models | 0.000 | |
| rare outcome: 5,000 rows, 3% positive, two useful models | 0.000 | |
| many rows: 50,000 rows, 10% positive, two useful models | 0.000 | |
| twins: 2,000 rows, 20% positive, two models equally good | 0.000 | |
| ten: 1,000 rows, 20% positive, ten models equally good | 0.003 | `not-better` |
| groups: 3,000 rows, 20% positive, three groups alike | 0.004 | by skill, which `group-not-as-promised` replaced |
| useless: 500 rows, 4% positive, hardly any discrimination | 0.006 | `calibration-in-the-large` |
| seldom: 1,000 rows, 3% positive, scores seldom reach the range | 0.004 | `calibration-in-the-large` |

In the last two it is true, and not counted, that the model is no better than a constant decision and that few rows
carry its cost.

`calibration-in-the-large` on models fitted to real rows without class weights (`--real bank_marketing --real
credit_default --runs 100`): raised in none of 1,800 cases (100 samples each of 300 and of 2,000 rows) by the nine
models whose observed to expected events lie between 0.94 and 1.00 in the population. Naive Bayes (0.73 and 0.43) had
it in 10 to 100% of samples of a table and size, an overfit booster (1.22) in 9% of samples of 300 rows and in none
of 2,000.

## On average, or at every threshold

The headline is about an average over the range. "At every threshold" is said only where the curves on these rows
agree with a band of the difference at 61 thresholds, whose level is shared among all pairs of models and of models
with the references; `curves-cross` says where that band puts another decision ahead. Both hold whichever decision was
chosen, and are careful: "every threshold" was false in none of 40 samples of 3,000 rows each where two models are
equal everywhere, equal below 12%, or cross; the [ledger](ledger.md) counts both. The difference with that band is drawn
by `evaluation.plot()` and the report, and stands in `evaluation.crossing`. With `clusters=`, `lags=`, weights estimated
from the rows, or no rows in memory, there is no band, and neither is said.

## Which causes it names

`calibration-in-the-large` sees scores and outcomes of these rows, not the training. It names the causes that fit, in
this order: a label or score that is turned round (the AUC is below one half); with a time to event, a score of another
horizon; class weights or sampling, with the weight that would do it, or a population with another share of positives
(the slope of logistic recalibration is compatible with 1, or above it); scores that are too extreme (the slope is
below 1). Where the slope is undefined, as scores are all equal, separate the classes or are exactly 0 or 1 on the wrong
side, it says so, and that the rows do not distinguish the causes. The training rows do, as the remedy says.

## What scores promise

A score s expects a cost, s times that of a positive plus 1 - s times that of a negative: `promised_regret` is its mean,
and needs no labels. What rows cost less what their scores promise has mean zero wherever the scores are right, whatever
the mix of cases. The answer says so of the cheapest model where it has not, at the evaluation's level shared among the
models that were tried, for that one was chosen by its cost. `group-not-as-promised` looks for groups where it has not;
skill and cost differ between groups with their share of positives although nothing is wrong. `tells-less-in-group`
compares areas under the ROC curve, which a narrower mix of cases lowers: it is no alarm.

## Why not p-values

The answer says which decision may be best, what it costs and by how much others cost more; its intervals hold for all
rows of a column at once, and no p-value stands beside them.

A p-value asks whether two models are exactly equal, which nobody
believes and no decision needs: one of the two, or neither, will be used either way, and with equal consequences the one
with the higher expected benefit should be, however unsure that is. What uncertainty asks is whether to decide now or to
gather more rows first; the expected loss of the choice answers that (`value_of_information`). See Vickers, Van Calster,
Wynants and Steyerberg, Diagnostic and Prognostic Research 2023;7:11, doi:10.1186/s41512-023-00148-y.
"""


def rows(page, head, room):
    """Return a page whose table under a heading has a row for each display or distribution, from its docstring."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    table = re.compile(rf"(?<=^\| {head} \|\n\| --- \| --- \|\n)(\| .* \|\n)+", re.MULTILINE)
    found = {name: inspect.getdoc(getattr(room, name)).partition("\n")[0].rstrip(".") for name in in_table(room)}
    return table.sub(lambda _: "".join(f"| `{name}` | {line} |\n" for name, line in found.items()), text)


def in_table(room):
    """Names of the displays of a room, or of its cost distributions."""
    if room is display:
        return [name for name in room.__all__ if name.endswith("Display")]
    kinds = {name for name in room.__all__ if issubclass(type(getattr(room, name)), ABCMeta)}
    return [name for name in room.__all__ if name in kinds - {"CostDistribution"} | {"Mixture"}]


def curve_row(entry):
    """One line of the table of curves."""
    low, high = f"{entry.low:g}", f"{entry.high:g}"
    span = f"{'(' if 'inf' in low else '['}{low}, {high}{')' if 'inf' in high else ']'}"
    needs = "probabilities" if entry.response == "probability" else "any ranking score"
    cells = [f"`{entry.name}`", entry.summary, entry.x, entry.y, entry.better, span, entry.area, needs]
    return "| " + " | ".join(cells) + " |"


QUESTIONS_PAGE = """# Which question do you have?

## About a model's decisions

Two answers lead to the metric: whether cases are decided one by one or by a budget, and what is known of where acting
begins. `stakes advise` and [`advise`](api/stakes.advise.rst) ask the same.

{situations}

## About something else

| question | answer |
| --- | --- |
| Which of my models should I act on, and how sure is that? | [Start here](start.md) |
| Is my model calibrated where it matters? | [Calibration](calibration.md) |
| Training used class weights or undersampling: what are the probabilities? | [Bent scores](correction.md) |
| I am judged by F1, Jaccard, G-mean: which cases do I select? | [Decisions for a measure](decisions.md) |
| My outcomes are censored, have competing causes, or amounts in money | [Outcomes](outcomes.md) |
| Several horizons or centres, and a table for a paper | [A validation study](validation_study.md) |
| A colleague has a CSV and no Python | [A page on which a file is dropped](drop.md) |
| May the model leave some cases to a person? Are there more than two actions? | [More than two actions](actions.md) |
| I need a precision of 90%, promised: how much can I find? | [Score and uncertainty](boundary.md) |
| How many rows does a validation need? What would more rows be worth? | [More than two actions](actions.md) |
| Which epoch do I keep? | [Choosing the epoch](training.md) |
| My rows do not fit into memory | [From a notebook to the cluster](engines.md) |
| What does an interval mean here, and how often is it wrong? | [Intervals](intervals.md), [the ledger](ledger.md) |
| What can I rely on? | [What you can rely on](reliability.md) |
"""
KNOWN = {
    ("independent", "known"): ("One by one, from a known threshold, such as 10%", {"cost_ratio": 0.1}),
    ("independent", "range"): ("One by one, from a threshold in a range, such as 5% to 30%", {"bounds": (0.05, 0.3)}),
    ("independent", "unknown"): ("One by one, and nothing is known of the threshold", {}),
    ("budget", "known"): ("A known number of cases, such as the 100 highest scores", {"capacity": 100}),
    ("budget", "range"): ("A number of cases in a range, such as 50 to 200", {"capacity": (50, 200)}),
    ("budget", "unknown"): ("The highest scores, nobody knows how many", {}),
}


def situation(decisions, threshold):
    """Return what to measure in one situation."""
    title, values = KNOWN[decisions, threshold]
    advice = advise(decisions=decisions, knowledge=threshold, **values)
    return f"### {title}\n\n**`{advice.metric}`**. {advice.why}\n\n```text\n{advice.call}\n```"


CONCLUSIONS_PAGE = """# Ten conclusions

What an evaluation says of ten cases whose truth is known: outcomes are drawn from risks, and scores are made from the
risks, the outcomes, or neither. Each answer is `print(evaluate(y, models, costs=costs).answer.to_markdown())`,
made when this page is made. All start with

```python
{prelude}
```

{cases}
"""
PRELUDE = """import numpy as np
from scipy.special import expit

from stakes import evaluate


def drawn(n, seed, mean=-1.0, spread=1.2):
    rng = np.random.default_rng(seed)
    logits = rng.normal(mean, spread, n)
    y = (rng.random(n) < expit(logits)).astype(int)
    return y, logits, rng


costs = 0.1, 0.3"""
TEN = {
    "Few rows": (
        "Sixty rows leave nearly everything open; the answer says what they do show, and how many would do.",
        """y, logits, rng = drawn(60, seed=1)
models = {"a": expit(logits), "b": expit(logits + rng.normal(0.0, 1.0, 60))}""",
    ),
    "Many rows": (
        """With 100,000 rows the better of two models leads at every threshold. Its scores are a little too extreme:
it costs more than they promise, and yet recalibration would change the cost by less than the table shows.""",
        """y, logits, rng = drawn(100_000, seed=2)
models = {name: expit(logits + rng.normal(0.0, noise, len(y))) for name, noise in [("a", 0.3), ("b", 0.8)]}""",
    ),
    "One model": (
        "There is nothing to choose but whether to use it.",
        """y, logits, rng = drawn(1_000, seed=3)
models = {"a": expit(logits)}""",
    ),
    "A useless model": (
        """Scores that have nothing to do with the outcome cost more than treating everyone. What recalibrating would
save brings them to what treating everyone costs, no lower.""",
        """y, logits, rng = drawn(1_000, seed=4)
models = {"a": expit(rng.normal(-1.0, 0.8, len(y)))}""",
    ),
    "A perfect model": (
        """No decision is wrong on these rows, which does not show that none ever will be: the upper limit of the cost
is above 0.""",
        """y, logits, rng = drawn(1_000, seed=5)
models = {"a": np.where(y == 1, 0.99, 0.01)}""",
    ),
    "A constant score": (
        """One score for every row, within the range, acts on everyone at thresholds up to it and on no one above. Here
that costs less than doing either throughout, and still it is no model to use.""",
        """y, logits, rng = drawn(1_000, seed=6, mean=-1.6, spread=0.5)
models = {"a": np.full(len(y), 0.18)}""",
    ),
    "Inverted scores": (
        "The advice says so first, and no saving is named: costs mean nothing until labels and scores agree.",
        """y, logits, rng = drawn(1_000, seed=7)
models = {"a": 1.0 - expit(logits)}""",
    ),
    "Ten equal models": (
        "Ten models with as much noise each: one has the lowest cost, and nothing is claimed for it over the others.",
        """y, logits, rng = drawn(1_000, seed=8)
models = {f"m{k}": expit(logits + rng.normal(0.0, 0.5, len(y))) for k in range(10)}""",
    ),
    "A tiny sure lead": (
        "Two models that nearly always decide alike. The lead is small and shown; costs have the decimals it needs.",
        """y, logits, rng = drawn(50_000, seed=9)
models = {"a": expit(logits), "b": expit(logits + 0.1)}""",
    ),
    "Three events in a thousand": (
        "The range lies where the risks are. The lead over treating no one is close, and a note says how it is judged.",
        """y, logits, rng = drawn(20_000, seed=10, mean=-6.3, spread=1.0)
models, costs = {"a": expit(logits)}, (0.002, 0.01)""",
    ),
}


def conclusion(title):
    """Return a case, what makes it, and the answer to it."""
    why, lines = TEN[title]
    names = {}
    exec(f"{PRELUDE}\n{lines}", names)  # noqa: S102  (lines of this file)
    answer = stakes.evaluate(names["y"], names["models"], costs=names["costs"]).answer.to_markdown()
    quoted = "\n".join(f"> {line}".rstrip() for line in answer.rstrip().splitlines())
    return f"## {title}\n\n{why}\n\n```python\n{lines}\n```\n\n{quoted}"


REFERENCE_PAGE = """# Reference

Every public name, with an example on its own page. The names of the first table can be imported from `stakes` itself.

{sections}
"""
ROOMS = {
    "metrics": "Losses, scores and scorers",
    "costs": "What a mistake costs",
    "curves": "Curves",
    "inference": "Intervals, bands, comparisons, selection",
    "evaluation": "Evaluations, findings, advice",
    "outcomes": "Outcomes that are not plain labels",
    "correction": "Scores that training bent",
    "utility": "Decisions for a measure",
    "actions": "More than two actions",
    "information": "What more data would be worth",
    "monitoring": "Watching a model in use",
    "boundary": "Thresholds over score and uncertainty",
    "uncertainty": "Where an uncertainty comes from",
    "training": "Metrics for training",
    "display": "Pictures",
    "report": "The report",
    "tables": "Files, frames and data engines",
}


def room_section(name, title):
    """Return the table of a module's public names, but for those that stand in the first table."""
    room = import_module(f"stakes.{name}")
    return section(title, f"stakes.{name}", [item for item in room.__all__ if item not in stakes.__all__])


def section(title, module, names):
    """Return a heading and a table of names, each a link to its page."""
    listed = "\n".join(f"   {module}.{name}" for name in sorted(names, key=str.lower))
    return f"## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n\n{listed}\n```"


def reference():
    """Return the sections of the reference: the top level, then every module."""
    top = [name for name in stakes.__all__ if name[0] != "_" and not inspect.ismodule(getattr(stakes, name))]
    return "\n\n".join([section("The top level", "stakes", top), *map(room_section, ROOMS, ROOMS.values())])


def pages():
    """Return the generated pages by file name."""
    return {
        "questions.md": QUESTIONS_PAGE.format(situations="\n\n".join(situation(*key) for key in KNOWN)),
        "reference.md": REFERENCE_PAGE.format(sections=reference()),
        "metrics.md": METRICS_PAGE.format(table=metrics_table()),
        "findings.md": FINDINGS_PAGE.format(table=findings_table(), actions=findings_table(ACTION_FINDINGS)),
        "conclusions.md": CONCLUSIONS_PAGE.format(prelude=PRELUDE, cases="\n\n".join(map(conclusion, TEN))),
        "displays.md": rows("displays.md", r"display \| what it shows", display),
        "costs.md": rows("costs.md", r"distribution \| what counts", costs),
        "curves.md": CURVES_PAGE.format(rows="\n".join(map(curve_row, CURVES.values()))),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
