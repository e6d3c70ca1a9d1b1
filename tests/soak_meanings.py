"""The same data said in another way: rows in another order, other codes and labels, copies as imputations, gaps.

Allowed are the answer of the data said plainly, and a refusal that names the argument: never another answer.
"""

import inspect
import sqlite3
from collections import Counter

import numpy as np
from sklearn.linear_model import LogisticRegression

from stakes import TimeToEvent, inference
from stakes.actions import DeferralClassifier, fit_deferral
from stakes.boundary import UncertaintyBoundaryClassifier, fit_boundary
from stakes.correction import LossCorrectedClassifier
from stakes.outcomes import Imputed
from stakes.utility import ExpectedUtilityClassifier, PlugInThresholdClassifier
from tests import soak_calls as calls, soak_values as values

duckdb = values.optional("duckdb")
WORDS = [("ok", "fraud"), ("good", "bad"), ("healthy", "ill"), ("no", "yes"), ("b", "a")]
# a row of labels and columns of the same rows: these have an index, and may have a frame of two
INDEXED = ("y_true", "y_prob", "y_score", "a", "b", "uncertainty", "sample_weight", "event", "time")
DIFFERENT = 1e-9  # sums in another order


def same(one, other):
    """Compare two answers, numbers but for the order of their sums."""
    if isinstance(one, (float, np.ndarray)) and np.asarray(one).dtype.kind == "f":
        return np.allclose(one, other, rtol=DIFFERENT, atol=DIFFERENT, equal_nan=True)
    return calls.same_answer(one, other)


def judged(shown, call, plain, names):
    """Say what became of a call: answered as the plain one, or refused by name; and the problem, if there is one."""
    answer, error, _ = calls.outcome_of(call, {})
    if error is not None:
        problem = calls.problem_with(error, names)
        return "refused", problem and f"{shown}: {problem}: {error!r:.200}"
    expected, error, _ = calls.outcome_of(plain, {})
    if error is not None:
        return "answered", f"{shown}: got {answer!r:.120} where plain data are refused: {error!r:.120}"
    return "answered", None if same(answer, expected) else f"{shown}: {answer!r:.120}, not {expected!r:.120}"


def order(rng, known):
    """Two columns with an index, the rows of one in another order: as one that is aligned, or refused."""
    pandas = values.pd
    while True:
        path = list(known)[int(rng.integers(len(known)))]
        given = calls.arguments(path, known[path], rng)
        if given is None:
            continue
        if "sample_weight" in inspect.signature(known[path]).parameters and rng.random() < 0.3:
            given["sample_weight"] = rng.random(len(given["y_true"]) if np.ndim(given.get("y_true")) == 1 else 8) + 0.5
        length = Counter(len(given[key]) for key in INDEXED if key in given and np.ndim(given[key]) == 1)
        rows = [key for key in INDEXED if key in given and np.shape(given[key]) == (max(length, default=0),)]
        if len(rows) > 1:
            break
    n = len(given[rows[0]])
    index = np.arange(n) + int(rng.choice([0, 100]))
    index = index if rng.random() < 0.7 else np.array([f"row {k}" for k in index], dtype=object)
    fixed, moved = (rows[k] for k in rng.permutation(len(rows))[:2])
    mixed = pandas.Series(given[moved], index=index).iloc[rng.permutation(n)]
    asked = given | {fixed: pandas.Series(given[fixed], index=index), moved: mixed}
    shown = f"{path}({moved} in another order than {fixed})"
    return judged(shown, lambda: calls.called(known[path], asked), lambda: calls.called(known[path], given), rows)


def events(rng, _known):
    """Codes of events of other programs: read as they are meant, or refused."""
    n = int(rng.integers(8, 30))
    time, event = rng.integers(1, 9, n) * 1.0, rng.integers(0, 2 + int(rng.random() < 0.3), n)
    event[:3] = 0, 1, 0
    competing = bool((event == 2).any())
    plain = {"time": time, "horizon": 4.0, **({"cause": 1} if competing else {})}
    censored, mine, other = rng.permutation([1, 2, 3] if rng.random() < 0.6 else [0, 1, 2]).tolist()
    codes = np.choose(event, [censored, mine, other])
    options = {"cause": mine} if competing or rng.random() < 0.5 else {}
    if rng.random() < 0.5 or (0 in codes and censored != 0):  # else 0 means censored, as everywhere
        options["censored"] = censored
    shown = f"TimeToEvent(codes {sorted(set(codes.tolist()))}, {options}; censored {censored}, event {mine})"

    def seen(outcome):
        return np.concatenate([outcome.y.astype(float), outcome.weight])

    return judged(
        shown,
        lambda: seen(TimeToEvent(event=codes, time=time, horizon=4.0, **options)),
        lambda: seen(TimeToEvent(event=event, **plain)),
        ["event", "cause", "censored", "horizon", "time"],
    )


def labels(rng, known):
    """Words in the place of 0 and 1, with the positive one named or not, to functions."""
    while True:
        path = list(known)[int(rng.integers(len(known)))]
        given = calls.arguments(path, known[path], rng)
        if given is not None and "pos_label" in inspect.signature(known[path]).parameters and "y_true" in given:
            break
    words = WORDS[int(rng.integers(len(WORDS)))]
    text = np.array(words, dtype=object)[np.asarray(given["y_true"], dtype=int)]
    named = rng.random() < 0.6
    asked = given | {"y_true": text} | ({"pos_label": words[1]} if named else {})
    if np.ndim(text) != 1 or path.endswith(("one_vs_rest_bounded_loss",)):
        return "unknown", None
    shown = f"{path}(labels {words}{', pos_label' if named else ''})"
    names = ["pos_label", "y_true"]
    return judged(shown, lambda: calls.called(known[path], asked), lambda: calls.called(known[path], given), names)


ESTIMATORS = {
    "DeferralClassifier": lambda: DeferralClassifier(LogisticRegression(), costs=0.3, deferral=0.05),
    "ExpectedUtilityClassifier": lambda: ExpectedUtilityClassifier(LogisticRegression()),
    "PlugInThresholdClassifier": lambda: PlugInThresholdClassifier(LogisticRegression(), cv=2),
    "LossCorrectedClassifier": lambda: LossCorrectedClassifier(
        LogisticRegression(class_weight="balanced"), class_weight="balanced"
    ),
    "UncertaintyBoundaryClassifier": lambda: UncertaintyBoundaryClassifier(
        LogisticRegression(), uncertainty=lambda _, X: np.abs(X[:, 0]), min_precision=0.3, cv=2
    ),
}


def estimators(rng, _known):
    """Words in the place of 0 and 1 to classifiers that decide: the positive one is acted on, or the call refused."""
    name = list(ESTIMATORS)[int(rng.integers(len(ESTIMATORS)))]
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0.8).astype(int)
    y[:4] = 0, 1, 0, 1
    words = WORDS[int(rng.integers(len(WORDS)))]
    text = np.array(words, dtype=object)[y]
    decided = ESTIMATORS[name]()
    named = "pos_label" in decided.get_params() and rng.random() < 0.7
    if named:
        decided.set_params(pos_label=words[1])

    def acts(found, positive):
        return np.asarray([row == positive for row in found.tolist()])

    return judged(
        f"{name}(labels {words}{', pos_label' if named else ''})",
        lambda: acts(decided.fit(X, text).predict(X), words[1]),
        lambda: acts(ESTIMATORS[name]().fit(X, y).predict(X), 1),
        ["pos_label", "y", "labels"],
    )


def imputed(rng, _known):
    """Copies as imputations: the interval of one of them, for whatever takes a metric."""
    y, p = values.rows(rng)
    metric = str(rng.choice(["bounded_brier_loss", "roc_auc_score", "expected_regret", "net_benefit_score"]))
    options = {"expected_regret": {"costs": (0.1, 0.4)}, "net_benefit_score": {"threshold": 0.2}}.get(metric, {})
    copies = Imputed([p] * int(rng.integers(2, 6)))

    def interval(scores):
        found = inference.metric_interval(y, scores, metric, **options)
        return np.array([found.value, found.standard_error, *found.interval])

    names = ["y_prob", "y_true", "y_score", "metric", "scores"]
    return judged(f"metric_interval(copies, {metric})", lambda: interval(copies), lambda: interval(p), names)


def rules(rng, _known):
    """Missing values to rules that decide: refused in memory, missing in SQL; the other rows as without them."""
    y, p = values.rows(rng)
    spread, gone = rng.random(len(y)).round(1), rng.random(len(y)) < 0.3
    gone[0] = True
    if rng.random() < 0.4:
        pair = fit_deferral(y, p, costs=0.3, deferral=0.05)
        return _refused("DeferralPair.predict", lambda: pair.predict(np.where(gone, np.nan, p)))
    rule = fit_boundary(y, p, spread, goal="recall", min_precision=0.2)
    which = "score" if rng.random() < 0.5 else "uncertainty"
    holed = {"score": p, "uncertainty": spread}
    holed[which] = np.where(gone, np.nan, holed[which])
    if rng.random() < 0.3:
        return _refused(f"Boundary.predict({which} missing)", lambda: rule.predict(**holed))
    known = rule.predict(p, spread)
    expected = [None if missing else int(act) for missing, act in zip(gone, known, strict=True)]
    engines = [_in_sqlite, *([_in_duckdb] if duckdb is not None else [])]
    engine = engines[int(rng.integers(len(engines)))]
    found = engine(rule.to_sql("score", "uncertainty"), holed, nulls=rng.random() < 0.5)
    wrong = f"Boundary.to_sql ({engine.__name__}, {which} missing): {found}, not {expected}"
    return "answered", None if found == expected else wrong[:300]


def _refused(shown, call):
    answer, error, _ = calls.outcome_of(call, {})
    if error is None:
        return "answered", f"{shown}: got {answer!r:.120} for missing values"
    problem = calls.problem_with(error, ["score", "uncertainty", "y_prob", "missing"])
    return "refused", problem and f"{shown}: {problem}: {error!r:.200}"


def _records(columns):
    pairs = zip(columns["score"].tolist(), columns["uncertainty"].tolist(), strict=True)
    return [(k, *(None if cell != cell else cell for cell in pair)) for k, pair in enumerate(pairs)]  # noqa: PLR0124


def _in_sqlite(text, columns, *, nulls):  # noqa: ARG001  (it holds no nan: what is missing is NULL)
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE t (k INTEGER, score DOUBLE, uncertainty DOUBLE)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", _records(columns))
        return [row[0] for row in base.execute(f"SELECT {text} FROM t ORDER BY k")]  # noqa: S608  (ours)


def _in_duckdb(text, columns, *, nulls):
    with duckdb.connect() as base:
        base.execute("CREATE TABLE t (k INTEGER, score DOUBLE, uncertainty DOUBLE)")
        cells = [(k, *pair) for k, pair in enumerate(zip(*(columns[name].tolist() for name in columns), strict=True))]
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", _records(columns) if nulls else cells)
        return [row[0] for row in base.execute(f"SELECT {text} FROM t ORDER BY k").fetchall()]  # noqa: S608  (ours)


KINDS = {
    "order": order,
    "events": events,
    "labels": labels,
    "estimators": estimators,
    "imputed": imputed,
    "rules": rules,
}
# the more often, the more there is to try and the sooner it is done
SHARES = {"order": 0.35, "events": 0.15, "labels": 0.25, "estimators": 0.02, "imputed": 0.1, "rules": 0.13}


def soak(cases, start=0, kinds=None):
    """Run so many cases; return how often each came to what, and the problems."""
    counts, problems, known = Counter(), [], calls.functions()
    drawn = list(kinds or KINDS)
    if values.pd is None:
        drawn = [kind for kind in drawn if kind != "order"]
    shares = np.array([SHARES[kind] for kind in drawn])
    for seed in range(start, start + cases):
        rng = np.random.default_rng([seed, 29])
        kind = drawn[int(rng.choice(len(drawn), p=shares / shares.sum()))]
        what, problem = KINDS[kind](rng, known)
        counts[what] += 1
        if problem:
            problems.append(f"seed {seed} {kind} {problem}")
    return counts, problems
