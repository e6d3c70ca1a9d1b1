"""Out of core: partitioned Parquet of 4 models, evaluated by DuckDB and by polars, beside a bare sum of its columns.

The files are written once for each size: scores of four decimals, so that a table has 10,001 rows at most. Memory is
that of the process that is measured, above its imports: the engine's buffers and what the driver holds. 10^8 rows need
1 GB of disk. Four mean losses, written by hand as SQL, show what of the time any way would take in that engine.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks._data import SEED
from benchmarks._rows import Entry, Goal, Row, within_seconds

SIZES = (10**6, 10**7, 10**8)
MODELS = ("a", "b", "c", "d")
COSTS = (0.02, 0.10)
_PARTS = 8
_MADE = """
COPY (
    SELECT CAST(u < r AS INTEGER) AS y, i % {parts} AS part, round(r, 4) AS a,
        {noisy}
    FROM (SELECT i, (hash(i + {seed}) % 1000003) / 1000003.0 AS u, pow((hash(i * 7 + 1) % 1000003) / 1000003.0, 3) AS r
          FROM range({rows}) t(i))
) TO '{folder}' (FORMAT parquet, PARTITION_BY (part))
"""
_NOISY = "round(least(greatest(r + {by} * ((hash(i * 13 + {k}) % 1000003) / 1000003.0 - 0.5), 0), 1), 4) AS {name}"


@dataclass(frozen=True)
class Files:
    """A folder of partitioned Parquet."""

    folder: Path
    kept: tempfile.TemporaryDirectory | None = None  # deleted with this

    @property
    def pattern(self):
        return f"{self.folder}/rows/*/*.parquet"

    @property
    def nbytes(self):
        return sum(file.stat().st_size for file in self.folder.glob("rows/*/*.parquet"))


def save(rows, folder):
    """Write the files."""
    import duckdb

    noisy = ",\n".join(_NOISY.format(by=by, k=k, name=MODELS[k]) for k, by in ((1, 0.05), (2, 0.1), (3, 0.3)))
    duckdb.sql(_MADE.format(parts=_PARTS, noisy=noisy, seed=SEED, rows=rows, folder=folder / "rows"))


def load(folder, **_):
    """Name the files that were written."""
    return Files(folder)


def make(rows, **_):
    """Write some files for as long as the result is held."""
    kept = tempfile.TemporaryDirectory()
    save(rows, Path(kept.name))
    return Files(Path(kept.name), kept)


def in_duckdb(made):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection.read_parquet(made.pattern)


def in_polars(made):
    import polars as pl

    return pl.scan_parquet(made.pattern)


def bare(made):
    sums = ", ".join(f"sum({name})" for name in ("y", *MODELS))
    return in_duckdb(made).aggregate(sums).fetchall()


def bare_polars(made):
    import polars as pl

    return in_polars(made).select(pl.col("y", *MODELS).sum()).collect(engine="streaming")


def losses_by_hand(made):
    """Sum the four losses, under uniform costs, without what an interval or a pair needs."""
    low, high = COSTS
    within = ", ".join(f"least(greatest({name}, {low}), {high}) AS {name}" for name in MODELS)
    of_class = (
        "CASE WHEN y = 1 THEN {high} - {s} - ({high} * {high} - {s} * {s}) / 2 ELSE ({s} * {s} - {low} * {low}) / 2 END"
    )
    sums = ", ".join(f"sum({of_class.format(s=name, low=low, high=high)})" for name in MODELS)
    return in_duckdb(made).project(f"y, {within}").aggregate(sums).fetchall()


def pairs(open_files):
    def run(made):
        from stakes.inference import PairSums

        return PairSums.from_frame(open_files(made), label="y", models=MODELS, costs=COSTS)

    return run


def whole(open_files):
    def run(made):
        from stakes import evaluate_frame

        return evaluate_frame(open_files(made), label="y", models=list(MODELS), costs=COSTS)

    return run


def many(count):
    """Ask for the pairs of more models, made of those in the files."""
    more = {f"m{k}": f"{MODELS[k % len(MODELS)]} * {1 - k / 100}" for k in range(count)}

    def run(made):
        from stakes.inference import PairSums

        rows = in_duckdb(made).project("y, " + ", ".join(f"{text} AS {name}" for name, text in more.items()))
        return PairSums.from_frame(rows, label="y", models=list(more), costs=COSTS)

    return run


def divided(groups):
    def run(made):
        from stakes import evaluate_frame

        rows = in_duckdb(made).project(f"y, a, hash(b * 7919 + c) % {groups} AS g")
        return evaluate_frame(rows, label="y", models=["a"], costs=COSTS, groups="g")

    return run


def clustered(clusters):
    def run(made):
        from stakes.inference import PairSums

        patient = f"hash(a * 7919 + b * 104729 + c * 31 + d) % {clusters} AS patient"
        rows = in_duckdb(made).project(f"y, {', '.join(MODELS)}, {patient}")
        return PairSums.from_frame(rows, label="y", models=MODELS, costs=COSTS, clusters="patient")

    return run


def pooled(made):
    from stakes import evaluate_frame

    return evaluate_frame(in_duckdb(made), label="y", models=list(MODELS), costs=COSTS, resolution=1000)


def distinct(made):
    from stakes import ScoreTable

    rows = in_duckdb(made).project("y, a * 0.9 + hash(row_number() OVER ()) / 2e20 AS score")
    return ScoreTable.from_frame(rows, label="y", score="score")


def ours(call, run, **options):
    return Entry("stakes", call, run, **options)


def grown(call, run):
    """An entry that shows how time grows, and need not be measured at the largest size."""
    return ours(call, run, max_rows=10**7)


BY_HAND = Entry("duckdb", "the 4 mean losses by hand", losses_by_hand)
BARE = Entry("duckdb", "sum of the 5 columns", bare)
BARE_POLARS = Entry("polars", "sum of the 5 columns", bare_polars)
LARGE = 10**8


def seconds(most):
    return replace(within_seconds(most), rows=LARGE)


def gigabytes(most):
    peak = f"peak memory at most {most:g} GB"
    return Goal(peak, lambda by: (by["stakes"].peak or float("nan")) / 1e9, most, "GB", rows=LARGE)


ROWS = (
    Row(
        "every loss and pair, DuckDB",
        ours("PairSums.from_frame", pairs(in_duckdb)),
        (BARE, BY_HAND),
        goals=(gigabytes(0.2), seconds(10.0)),
    ),
    Row(
        "every loss and pair, polars",
        ours("PairSums.from_frame", pairs(in_polars)),
        (BARE_POLARS,),
        goals=(gigabytes(0.2), seconds(8.0)),
    ),
    Row("the whole evaluation, DuckDB", ours("evaluate_frame", whole(in_duckdb)), (BARE,), goals=(gigabytes(1.0),)),
    Row(
        "the whole evaluation, polars",
        ours("evaluate_frame", whole(in_polars)),
        (BARE_POLARS,),
        goals=(gigabytes(1.0),),
    ),
    Row("8 models, DuckDB", grown("PairSums.from_frame", many(8))),
    Row("16 models, DuckDB", grown("PairSums.from_frame", many(16))),
    Row("1,000 groups of one model, DuckDB", grown("evaluate_frame", divided(1_000))),
    Row("10,000 groups of one model, DuckDB", grown("evaluate_frame", divided(10_000))),
    Row("10,000 clusters, DuckDB", grown("PairSums.from_frame", clustered(10_000))),
    Row("1,000,000 clusters, DuckDB", grown("PairSums.from_frame", clustered(1_000_000))),
    Row("1,000 cells, DuckDB", grown("evaluate_frame", pooled)),
    Row("a table of distinct scores, DuckDB", grown("ScoreTable.from_frame", distinct)),
)
