"""Engines that are cut off in the middle: the right answer or one sentence, and nothing half-written."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stakes import evaluate_frame
from stakes.inference import PairSums
from stakes.tables import EngineError

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]  # engines warn of one another

RNG = np.random.default_rng(5)
RISK = RNG.random(1000)
COLUMNS = {"y": RNG.random(1000) < RISK, "a": RISK.round(2), "b": np.clip(RISK + RNG.normal(0.0, 0.2, 1000), 0.0, 1.0)}
ASKED = {"label": "y", "models": ["a", "b"], "costs": (0.1, 0.4)}

# the command line with little memory for DuckDB, and a disk on which no file grows beyond 1 MB
FULL_DISK = """
import resource, signal, sys
import duckdb
from stakes.cli import main
from stakes.tables import _engines
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_engines._MOST_HELD = 1000
duckdb.execute(f"SET memory_limit='20MB'; SET temp_directory='{sys.argv[1]}'; SET threads=1")
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
sys.exit(main(sys.argv[2:]))
"""

# two executors of Spark, of which the one that took work first is killed while it is at it
KILLED_EXECUTOR = """
import os, signal, sys, threading, time
from pathlib import Path
from pyspark.sql import SparkSession
from stakes.inference import PairSums

def at_work(parts):
    yield from parts
    # the executor's process is the parent of the one that starts this one
    with open(f"/proc/{os.getppid()}/status") as status:
        executor = int(next(line for line in status if line.startswith("PPid:")).split()[1])
    if not mark.exists():
        mark.write_text(str(executor))
        os.kill(executor, signal.SIGKILL)

mark = Path(sys.argv[1])
builder = SparkSession.builder.master("local-cluster[2,1,512]").config("spark.ui.enabled", "false")
spark = builder.config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "2").getOrCreate()
rows = spark.range(0, 2000, numPartitions=4).selectExpr("id % 3 % 2 y", "id % 101 / 101D a", "id % 89 / 89D b")
frame = rows.mapInArrow(at_work, rows.schema)
print("\\n", PairSums.from_frame(frame, label="y", models=["a", "b"], costs=(0.1, 0.4)).to_json(), flush=True)
os._exit(0)  # what Spark has to say when it ends is long
"""


def dying(part, flag, times):
    """End the worker's process, so many times as there is no mark for it yet."""
    marks = len(list(Path(flag).iterdir()))
    if marks < times and len(part):
        (Path(flag) / str(marks)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": "10s"}
    settings["distributed.scheduler.no-workers-timeout"] = "60s"  # what does not come back on a busy machine is gone
    with (
        importlib.import_module("dask").config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
        distributed.Client(workers),
    ):
        yield


def on_dask(folder, times):
    frames = importlib.import_module("dask.dataframe")
    frame = frames.from_pandas(importlib.import_module("pandas").DataFrame(COLUMNS), npartitions=2)
    return frame.map_partitions(dying, str(folder), times, meta=frame._meta)


@pytest.mark.usefixtures("cluster")
def test_the_answer_is_right_although_a_worker_of_dask_was_killed(tmp_path):
    found = evaluate_frame(on_dask(tmp_path, 1), **ASKED)
    known = evaluate_frame(pl.DataFrame(COLUMNS), **ASKED)
    assert len(list(tmp_path.iterdir())) == 1
    assert [found[name].score for name in "ab"] == pytest.approx([known[name].score for name in "ab"], rel=1e-13)
    assert found.compare("a", "b").interval == pytest.approx(known.compare("a", "b").interval, rel=1e-10)


@pytest.mark.usefixtures("cluster")
def test_workers_of_dask_that_die_again_and_again_are_said(tmp_path):
    with pytest.raises(EngineError, match=r"^dask failed while it worked on the rows: .*worker"):
        PairSums.from_frame(on_dask(tmp_path, 99), **ASKED)


def test_a_disk_that_is_full_is_said_and_nothing_is_written(tmp_path):
    pytest.importorskip("duckdb")
    pytest.importorskip("click")
    rng = np.random.default_rng(0)
    rows, spilled, written = tmp_path / "rows.parquet", tmp_path / "spilled", tmp_path / "written"
    spilled.mkdir()
    written.mkdir()
    pl.DataFrame({"y": np.arange(10**6) % 2, "a": rng.random(10**6)}).write_parquet(rows)
    asked = ["evaluate", str(rows), "--label", "y", "--costs", "0.1:0.4", "--engine", "duckdb"]
    command = [sys.executable, "-c", FULL_DISK, str(spilled), *asked, "--output", str(written / "result.json")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert "duckdb failed while it worked on the rows: IO Error: Could not write file" in " ".join(ended.stderr.split())
    assert "bug" not in ended.stderr
    assert list(written.iterdir()) == []


def test_the_answer_is_right_although_an_executor_of_spark_was_killed(tmp_path):
    home = Path(pytest.importorskip("pyspark").__file__).parent
    mark, work = tmp_path / "mark", home / "work"  # where executors of one machine keep their logs
    before = work.exists()
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", KILLED_EXECUTOR, str(mark)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    if not before:
        shutil.rmtree(work)
    assert mark.exists()
    found = PairSums.from_json(next(line for line in ended.stdout.splitlines() if line.startswith(" {")))
    row = np.arange(2000)
    known = PairSums.from_predictions(row % 3 % 2, {"a": row % 101 / 101, "b": row % 89 / 89}, costs=(0.1, 0.4))
    np.testing.assert_array_equal(found.carriers, known.carriers)
    np.testing.assert_allclose(found.powers, known.powers, rtol=1e-12)
