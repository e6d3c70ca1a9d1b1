"""What people type and where work grows: whole commands and calls at three sizes, each beside the least it must do.

`--small` takes a hundredth of the sizes, `--check` holds the ratios against the committed table (`cliffs.json`) and
fails where one rose by more than a third, `--write` writes that table anew.
"""

import json
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np

import stakes
from benchmarks._data import DESCRIPTION, SEED, make_columns
from benchmarks._whole import Call, Cliff, Command, losses, records, run_rows, to_table
from benchmarks.boundary import subset_sum
from benchmarks.expected_utility import plug_in, sklearn_scan
from benchmarks.report import write_predictions
from stakes.boundary._problem import BoundaryProblem
from stakes.boundary._solvers import MAX_LIST, solve_exact
from stakes.evaluation import KeptEvaluation
from stakes.utility import expected_utility
from tools.every import describe_run

TABLE = Path(__file__).with_name("cliffs.json")
COSTS = (0.02, 0.10)
AMOUNTS = "--false-positive-cost", "15", "--false-negative-cost", "amount"
MILLION, TEN_MILLION = (10**4, 10**5, 10**6), (10**5, 10**6, 10**7)
DAYS = 10**5, 3 * 10**5, 3 * 10**6  # of 10^5 rows every score is kept, of more rows 2,048 cells
MOST_KEPT = 10**6  # bytes of a day in cells, 4 models
AGAIN = 2  # times that a loss is measured anew before it is told
PROGRAM = str(Path(sys.executable).with_name("stakes"))
READ = """
import sys, numpy as np, polars as pl
frame = getattr(pl, sys.argv[1])(sys.argv[2])
columns = {name: frame[name].to_numpy() for name in frame.columns}
"""
SUMMED = """
import sys, polars as pl
pl.scan_parquet(sys.argv[1]).select(pl.all().sum()).collect(engine="streaming")
"""
LOADED = """
import sys, stakes
yesterday, today = map(stakes.load, sys.argv[1:])
today.compare(yesterday)
"""
EVALUATE = READ + "import stakes\nstakes.evaluate(columns.pop('y'), columns, costs=(0.02, 0.10))\n"


class Inputs:
    """Arrays as a user holds them."""

    def __init__(self, size, _folder=None):
        columns = make_columns(size)
        self.y, self.score, self.weight = columns["y"], columns["score"], None
        rng = np.random.default_rng(SEED)
        self.models = {f"model {k}": np.clip(self.score + 0.01 * k * rng.normal(size=size), 0, 1) for k in range(4)}
        self.groups = rng.integers(0, 1000, size)


def ours(call, run, prepare=Inputs, **options):
    return Call("stakes", call, run, prepare, **options)


def limit(call, run, prepare=Inputs, library="numpy", **options):
    return Call(library, call, run, prepare, **options)


def small_row():
    """An answer on few rows: mostly the start of the program."""

    def prepare(size, folder):
        import polars as pl

        columns = make_columns(size)
        pl.DataFrame({"y": columns["y"], "risk": columns["score"]}).write_csv(folder / "p.csv")

    def command(folder):
        return [PROGRAM, "evaluate", str(folder / "p.csv"), "--label", "y", "--costs", "0.02:0.10"]

    def least(folder):
        return [sys.executable, "-c", READ, "read_csv", str(folder / "p.csv")]

    one = Command("stakes", "stakes evaluate", command, prepare)
    return Cliff("file of 569 rows", one, Command("polars", "read_csv", least, prepare), (569,), (569,))


def start_row(name, arguments):
    one = Command("stakes", name, lambda _folder: arguments)
    least = Command("numpy", "import numpy", lambda _folder: [sys.executable, "-c", "import numpy"])
    return Cliff(name, one, least, (1,), (1,))


def file_row(name, models, sizes, reads, code, *more, shown):
    """A command on a Parquet file of so many models."""

    def prepare(size, folder):
        write_predictions(folder / "p.parquet", size, models)

    def command(folder):
        report = [str(folder / word) if word == "page.html" else word for word in more]
        return [PROGRAM, "evaluate", str(folder / "p.parquet"), "--label", "y", "--costs", "0.02:0.10", *report]

    def least(folder):
        return [sys.executable, "-c", code, "read_parquet", str(folder / "p.parquet")]

    one = Command("stakes", " ".join(["stakes evaluate", *more]), command, prepare)
    return Cliff(name, one, Command(reads, shown, least, prepare), sizes, tuple(size // 100 for size in sizes))


def days_row(name, most, *more, amounts=False):
    """A command on a pattern of eight files of 3 models, whose rows are not held."""

    def prepare(size, folder):
        for day in range(8):
            (folder / f"day={day}").mkdir()
            write_predictions(folder / f"day={day}" / "p.parquet", size // 8, 3, amounts=amounts)

    def command(folder):
        pattern = str(folder / "day=*" / "p.parquet")
        models = "model 0,model 1,model 2"
        return [PROGRAM, "evaluate", pattern, "--label", "y", "--models", models, *more]

    def least(folder):
        return [sys.executable, "-c", SUMMED, str(folder / "day=*" / "p.parquet")]

    one = Command("stakes", "stakes evaluate 'day=*/*.parquet'", command, prepare)
    sizes = 3 * 10**5, 3 * 10**6, 3 * 10**7
    return replace(by(name, one, Command("polars", "sums of the columns", least, prepare), sizes), most=most)


def correction_row():
    """Scores before and after a correction, tested against the outcome."""

    def prepare(size, folder):
        write_predictions(folder / "p.parquet", size, 1)

    def command(folder):
        given = ["--models", "model 0", "--scale-pos-weight", "30", "--label", "y"]
        return [PROGRAM, "correct", str(folder / "p.parquet"), *given]

    def least(folder):
        return [sys.executable, "-c", EVALUATE, "read_parquet", str(folder / "p.parquet")]

    one = Command("stakes", "stakes correct --label", command, prepare)
    return by("correction of a file, tested", one, Command("stakes", "read_parquet, evaluate", least, prepare), MILLION)


def kept(inputs):
    """A day kept as JSON; one in cells is refused above the size that it may have."""
    text = KeptEvaluation.of(evaluated(inputs)).to_json()
    if len(inputs.y) > 10**5 and len(text) > MOST_KEPT:
        raise ValueError(f"the kept day has {len(text):,} bytes, more than {MOST_KEPT:,}")


def two_days(size, folder):
    """The kept files of two days: the same scores, and outcomes drawn twice."""
    inputs = Inputs(size)
    for day in ("yesterday", "today"):
        KeptEvaluation.of(evaluated(inputs)).to_json(folder / f"{day}.json")
        inputs.y = (np.random.default_rng(SEED).random(size) < inputs.score).astype(np.int64)
    return folder


def days_compared(folder):
    return stakes.load(folder / "today.json").compare(stakes.load(folder / "yesterday.json"))


def days_parsed(folder):
    return [json.loads((folder / f"{day}.json").read_text(encoding="utf-8")) for day in ("today", "yesterday")]


def compare_row():
    """The command that compares two kept files, beside the calls in a program of their own."""

    def command(folder):
        return [PROGRAM, "compare", str(folder / "yesterday.json"), str(folder / "today.json")]

    def least(folder):
        return [sys.executable, "-c", LOADED, str(folder / "yesterday.json"), str(folder / "today.json")]

    one = Command("stakes", "stakes compare yesterday.json today.json", command, two_days)
    return by("two kept files compared, command", one, Command("stakes", "load, compare", least, two_days), DAYS)


def wide_row():
    def prepare(size, folder):
        rng = np.random.default_rng(SEED)
        cells = np.char.mod("%.4f", rng.random((1000, size)))
        y = rng.integers(0, 2, 1000).astype(str)
        lines = [",".join(["y", *(f"c{k}" for k in range(size))]), *(",".join(row) for row in np.c_[y, cells].tolist())]
        (folder / "w.csv").write_text("\n".join(lines) + "\n", encoding="ascii")

    def command(folder):
        return [PROGRAM, "evaluate", str(folder / "w.csv"), "--label", "y", "--models", "c0,c1"]

    def least(folder):
        return [sys.executable, "-c", READ, "read_csv", str(folder / "w.csv")]

    one = Command("stakes", "stakes evaluate --models c0,c1", command, prepare)
    other = Command("polars", "read_csv", least, prepare)
    return Cliff("CSV of 1,000 rows, by columns", one, other, (500, 1500, 5000), (50, 100, 200))


def by(name, mine, least, sizes, small=None):
    return Cliff(name, mine, least, sizes, small or tuple(size // 100 for size in sizes))


def evaluated(inputs, **options):
    return stakes.evaluate(inputs.y, inputs.models, costs=COSTS, **options)


def with_amounts(size, _folder):
    """Labels, scores, amounts, and the weights that these make."""
    inputs = Inputs(size)
    stake = np.random.default_rng(SEED).lognormal(4.0, 1.0, size)
    return inputs.y, inputs.score, stake, np.where(inputs.y == 1, stake, 20.0)


def by_amount(judge, rows):
    y, score, stake, _ = rows
    return judge(stakes.RowCosts(y, false_positive=20.0, false_negative=stake), score, costs=0.5)


def by_weight(judge, rows):
    y, score, _, weight = rows
    return judge(y, score, sample_weight=weight, costs=0.5)


def amounts_row(name, judge):
    """Rows with amounts beside rows of these weights."""
    mine = ours(f"{judge.__name__}(RowCosts)", partial(by_amount, judge), with_amounts)
    return by(
        name, mine, limit("the same of weighted rows", partial(by_weight, judge), with_amounts, "stakes"), MILLION
    )


def clustered_groups(inputs):
    return evaluated(inputs, groups=inputs.groups % 10, clusters=inputs.clusters)


def in_groups(count, inputs):
    return evaluated(inputs, groups=inputs.groups % count)


def in_clusters(size, folder):
    """Rows in a tenth as many clusters."""
    inputs = Inputs(size, folder)
    inputs.clusters = np.random.default_rng(SEED).integers(0, size // 10, size)
    return inputs


def two_in_clusters(size, folder):
    inputs = in_clusters(size, folder)
    inputs.models = dict(list(inputs.models.items())[:2])
    return inputs


def of_many_groups(size, folder):
    """10^5 rows in so many groups."""
    inputs = Inputs(10**5, folder)
    inputs.groups = np.random.default_rng(SEED).integers(0, size, 10**5)
    return inputs


def interval(name, inputs):
    return stakes.inference.metric_interval(inputs.y, inputs.score, name)


def squared(inputs):
    return np.mean((inputs.score - inputs.y) ** 2), np.std((inputs.score - inputs.y) ** 2)


def two_losses(inputs):
    return [np.mean((score - inputs.y) ** 2) for score in list(inputs.models.values())[:2]]


def paired(inputs):
    """The losses of each model, once, and the first two powers of the differences of each pair."""
    losses = [(score - inputs.y) ** 2 for score in inputs.models.values()]
    gaps = (one - other for one, other in combinations(losses, 2))
    return [loss.mean() for loss in losses], [(gap.mean(), gap @ gap) for gap in gaps]


def compared(inputs):
    one, two = list(inputs.models.values())[:2]
    return stakes.compare(inputs.y, one, two, costs=COSTS)


def sort(inputs):
    return np.sort(inputs.score)


def probabilities(kind, size, _folder):
    rng = np.random.default_rng(SEED)
    u = rng.random(size)
    kinds = {
        "calibrated": rng.beta(1, 9, size),
        "rare": u * 1e-4,
        "tiny": u * 1e-5,
        "zeros and ones": (u < 0.3).astype(float),
    }
    return kinds[kind]


KINDS = "calibrated", "rare", "tiny", "zeros and ones"


def utility_row(measure, kind):
    prepare = partial(probabilities, kind)
    mine = ours(f"expected_utility({measure})", lambda p: expected_utility(p, measure), prepare)
    least = Call("stakes", "expected_utility(f1)", lambda p: expected_utility(p, "f1"), prepare)
    return by(f"{measure}, {kind} probabilities", mine, least, (10**4, 10**5, 10**6))


def table(inputs):
    return stakes.ScoreTable.from_predictions(inputs.y, inputs.score)


def singles(size, folder):
    inputs = Inputs(size, folder)
    inputs.score = inputs.score.astype(np.float32)
    return inputs


def worded(kind, size, folder):
    import pandas as pd

    inputs = Inputs(size, folder)
    words = pd.Series(np.where(inputs.y == 1, "yes", "no"), dtype=kind)
    inputs.y = words.to_numpy() if kind == "object" else words
    return inputs


def from_words(inputs):
    return stakes.ScoreTable.from_predictions(inputs.y, inputs.score, pos_label="yes")


def frames(size, folder, *, lazy):
    import polars as pl

    inputs = Inputs(size, folder)
    frame = pl.DataFrame({"y": inputs.y, "score": inputs.score})
    return frame.lazy() if lazy else frame


def from_frame(frame):
    return stakes.ScoreTable.from_frame(frame, label="y", score="score")


def mean_losses(given):
    y, scores = given
    return [np.mean((score - y) ** 2) for score in scores.values()]


def many_models(size, _folder):
    columns, rng = make_columns(10**4), np.random.default_rng(SEED)
    scores = {f"m{k}": np.clip(columns["score"] + 0.01 * rng.normal(size=10**4), 0, 1) for k in range(size)}
    return columns["y"], scores


def judged_models(size, _folder):
    """Models of 2,000 rows."""
    columns, rng = make_columns(2000), np.random.default_rng(SEED)
    scores = {f"m{k}": np.clip(columns["score"] + 0.01 * rng.normal(size=2000), 0, 1) for k in range(size)}
    return columns["y"], scores


def scorer_inputs(size, _folder):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(size, 4))
    y = (x[:, 0] + rng.normal(size=size) > 0).astype(int)
    model, scorer = LogisticRegression().fit(x, y), stakes.metrics.get_scorer("bounded_brier_loss", bounds=COSTS)
    return model, scorer, x, y


ROUNDS = 20


def boosting_inputs(size, _folder):
    """Few rows to train on, so that what a round takes is what it takes to evaluate so many."""
    import xgboost

    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(size + 1000, 4))
    y = (x[:, 0] + rng.normal(size=len(x)) > 0).astype(int)
    return [xgboost.DMatrix(x[rows], y[rows]) for rows in (slice(1000), slice(1000, None))]


def boosted(sets, setting, metric=None):
    import xgboost

    asked = {"objective": "binary:logistic", "nthread": 1, **setting}
    xgboost.train(asked, sets[0], ROUNDS, evals=[(sets[1], "eval")], verbose_eval=False, custom_metric=metric)


def boosted_by_ours(sets):
    metric = stakes.training.xgboost_metric("bounded_brier_loss", bounds=COSTS)
    boosted(sets, {"disable_default_eval_metric": True}, metric)


def boosted_by_log_loss(sets):
    boosted(sets, {"eval_metric": "logloss"})


def areas(inputs):
    return stakes.inference.bootstrap(inputs.y, inputs.score, "roc_auc_score", n_resamples=2000, random_state=0)


def draws(inputs):
    rng, n = np.random.default_rng(0), len(inputs.y)
    for _ in range(2000):
        np.bincount(rng.integers(0, n, n), minlength=n)


def most(options):
    solution = solve_exact(options, BoundaryProblem("recall", min_precision=Fraction(1, 2)))
    return int(solution.value)


def pairs_of_a_list(_size, _folder):
    return np.random.default_rng(SEED).random(MAX_LIST)


READ_AND_EVALUATE = {"reads": "stakes", "code": EVALUATE, "shown": "polars.read_parquet, evaluate"}
PLAIN = limit("evaluate without groups", evaluated, library="stakes")
SORT = limit("np.sort", sort)
OF_INTEGERS = limit("ScoreTable of integers", table, library="stakes")
TO_PAGE = "--report", "page.html"
BOOSTED = by(
    f"XGBoost metric, {ROUNDS} rounds",
    ours("xgboost_metric(bounded_brier_loss)", boosted_by_ours, boosting_inputs),
    limit("logloss", boosted_by_log_loss, boosting_inputs, "xgboost"),
    MILLION,
)
BOOSTING = (BOOSTED,) if find_spec("xgboost") else ()  # only where XGBoost is installed
FILES = (
    file_row("file of 4 models, evaluated", 4, MILLION, **READ_AND_EVALUATE),
    file_row("file of 2 models, evaluated", 2, TEN_MILLION, "polars", READ, shown="read_parquet"),
    file_row(
        "file of 4 models, to report",
        4,
        MILLION,
        "stakes",
        EVALUATE,
        *TO_PAGE,
        shown="polars.read_parquet, evaluate",
    ),
    file_row("file of 2 models, to report", 2, TEN_MILLION, "polars", READ, *TO_PAGE, shown="read_parquet"),
    days_row("files by a pattern, 3 models", (15.0, 400e6), "--costs", "0.02:0.10"),
    days_row("files by a pattern, 3 models, amounts", (25.0, 600e6), *AMOUNTS, amounts=True),
    compare_row(),
    correction_row(),
    wide_row(),
    small_row(),
    start_row("stakes --help", [PROGRAM, "--help"]),
    start_row("import stakes", [sys.executable, "-c", "import stakes"]),
)
CALLS = (
    by("10 groups, 4 models", ours("evaluate(groups=)", partial(in_groups, 10)), PLAIN, MILLION),
    by("1,000 groups, 4 models", ours("evaluate(groups=)", partial(in_groups, 1000)), PLAIN, MILLION),
    by(
        "clusters of 10 rows, 4 models",
        ours("evaluate(clusters=)", lambda x: evaluated(x, clusters=x.clusters), in_clusters),
        limit("evaluate without clusters", evaluated, in_clusters, library="stakes"),
        MILLION,
    ),
    by(
        "10 groups and clusters of 10 rows, 2 models",
        ours("evaluate(groups=, clusters=)", clustered_groups, two_in_clusters),
        limit("evaluate without either", evaluated, two_in_clusters, library="stakes"),
        MILLION,
    ),
    Cliff(
        "groups of 10^5 rows, 4 models",
        ours("evaluate(groups=)", lambda x: evaluated(x, groups=x.groups), of_many_groups, tiny=10),
        limit("evaluate without groups", evaluated, of_many_groups, library="stakes", tiny=10),
        (1000, 3000, 10_000),
        (10, 30, 100),
    ),
    amounts_row("regret with amounts by row", stakes.expected_regret),
    amounts_row("evaluation with amounts by row", stakes.evaluate),
    by(
        "interval of a mean loss",
        ours("metric_interval", partial(interval, "bounded_brier_loss")),
        limit("mean and spread of the losses", squared),
        TEN_MILLION,
    ),
    by("interval of the AUC", ours("metric_interval", partial(interval, "roc_auc_score")), SORT, TEN_MILLION),
    by(
        "kept day, 4 models",
        ours("evaluate, KeptEvaluation.to_json", kept),
        limit("evaluate", evaluated, library="stakes"),
        DAYS,
    ),
    by(
        "two kept files compared, call",
        ours("load, KeptEvaluation.compare", days_compared, two_days),
        limit("loads of both files", days_parsed, two_days, "json"),
        DAYS,
    ),
    by("compare", ours("compare", compared), limit("means of two losses", two_losses), MILLION),
    by(
        "value of information at a threshold, 4 models",
        ours("value_of_information", lambda x: stakes.value_of_information(x.y, x.models, threshold=0.05)),
        SORT,
        MILLION,
    ),
    by(
        "value of information over costs, 4 models",
        ours("value_of_information", lambda x: stakes.value_of_information(x.y, x.models, costs=COSTS)),
        PLAIN,
        MILLION,
    ),
    by("evaluation of 4 models", ours("evaluate", evaluated), limit("the losses, and those of pairs", paired), MILLION),
    *(utility_row(m, k) for m in ("g_mean", "h_mean") for k in KINDS),
    by("F1-optimal set", ours("expected_utility(f1)", lambda x: expected_utility(x.score, "f1")), SORT, TEN_MILLION),
    by(
        "plug-in threshold",
        ours("population_threshold(f1)", plug_in),
        limit("precision_recall_curve, best F1", sklearn_scan, library="scikit-learn"),
        MILLION,
    ),
    by(
        "table of float32 scores",
        ours("ScoreTable", table, singles),
        limit("ScoreTable of float64", table, library="stakes"),
        TEN_MILLION,
    ),
    *(
        by(f"labels as {kind}", ours("ScoreTable", from_words, partial(worded, kind)), OF_INTEGERS, MILLION)
        for kind in ("object", "string", "category")
    ),
    by(
        "lazy frame, exact",
        ours("ScoreTable.from_frame", from_frame, partial(frames, lazy=True)),
        limit("the same, eager", from_frame, partial(frames, lazy=False), "stakes"),
        MILLION,
    ),
    Cliff(
        "many models of 10,000 rows",
        ours("evaluate", lambda x: stakes.evaluate(*x, costs=COSTS), many_models, tiny=3),
        limit("the mean loss of each", mean_losses, many_models, tiny=3),
        (75, 150, 300),
        (5, 10, 20),
    ),
    Cliff(
        "findings and JSON of many models of 2,000 rows",
        ours("evaluate, to_json", lambda x: stakes.evaluate(*x, costs=COSTS).to_json(), judged_models, tiny=3),
        limit("evaluate", lambda x: stakes.evaluate(*x, costs=COSTS), judged_models, "stakes", tiny=3),
        (75, 150, 300),
        (5, 10, 20),
    ),
    Cliff(
        "subset sum of items up to 2e9",
        ours("exact boundary", most, lambda size, _: subset_sum(size, 10**9), tiny=10),
        limit("np.sort of a full list", np.sort, pairs_of_a_list),
        (40, 50, 60),
        (20, 24, 28),
    ),
    Cliff(
        "scorer, 100 times",
        ours("get_scorer", lambda x: [x[1](x[0], x[2], x[3]) for _ in range(100)], scorer_inputs),
        limit("predict_proba", lambda x: [x[0].predict_proba(x[2]) for _ in range(100)], scorer_inputs, "scikit-learn"),
        (100, 1000, 10_000),
        (50, 100, 200),
    ),
    *BOOSTING,
    by(
        "2,000 resampled AUCs",
        ours("bootstrap", areas),
        limit("2,000 draws of the rows", draws),
        (10**3, 10**4, 10**5),
        (100, 200, 400),
    ),
)
ROWS = FILES + CALLS


def instructions():
    """Return the newest vector instructions that numpy finds here: with some, a sort takes a quarter of the time."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]
    return [*found["baseline"], *found.get("found", [])][-1]


def _committed():
    """Return the lines of every kind of processor, by its vector instructions."""
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}


def run(options):
    """Measure, print the table, and check it or write it."""
    tables, here = _committed(), instructions()
    if options.check and here not in tables:
        sys.exit(f"{TABLE.name} has ratios of processors with {', '.join(tables)}, none with {here}: add --write.")
    kept = tables.get(here, [])
    pairs, notes = [], []
    for row in (row for row in ROWS if options.only in row.name):
        found = run_rows("cliffs", [row], small=options.small)
        for _ in range(AGAIN if options.check else 0):
            if not losses(found[0], kept):
                break  # one that is not there every time was the machine's
            found = run_rows("cliffs", [row], small=options.small)
        pairs, notes = pairs + found[0], notes + found[1]
        if options.write:
            fresh = {(pair.name, pair.size) for pair in pairs}
            lines = [line for line in kept if (line["name"], line["size"]) not in fresh] + records(pairs)
            TABLE.write_text(json.dumps(tables | {here: lines}, indent=1) + "\n", encoding="utf-8")
    about = describe_run({"numpy", "scipy", "scikit-learn", "polars", "pandas"}) | {"data": DESCRIPTION}
    print("\n\n".join(["\n".join(f"- {k}: {v}" for k, v in about.items()), to_table(pairs), *notes]))
    if options.check:
        lost = losses(pairs, kept)
        if lost or notes:
            sys.exit("\n".join([*lost, *notes]))
