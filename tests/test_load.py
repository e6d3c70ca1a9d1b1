"""`stakes.load` reads whatever the library saved, by the format that the file names, and refuses everything else."""

import gzip
import json
import pickle
import re

import numpy as np
import pytest

import stakes
from stakes import ScoreTable, evaluate
from stakes.actions import fit_deferral
from stakes.boundary import PrecisionMonitor, fit_boundary, uncertainty_calibrate
from stakes.correction import update
from stakes.evaluation import KeptEvaluation
from stakes.inference import PairSums
from stakes.monitoring import ChallengerMonitor, CostMonitor, CostMonitors
from stakes.outcomes import decide_rows
from stakes.utility import population_threshold
from tools.imports import SOURCES

RNG = np.random.default_rng(5)
SCORE = RNG.random(300)
Y = RNG.random(300) < SCORE
DOUBT = RNG.random(300).round(1)
KEPT = KeptEvaluation.of(evaluate(Y, {"a": SCORE}, costs=(0.2, 0.6)))
NOT_LOADED = {"stakes-watch", "stakes-monitor"}  # states of commands


SAVED = {
    "stakes-table": lambda: ScoreTable.from_predictions(Y, SCORE),
    "stakes-pairs": lambda: PairSums.from_predictions(Y, {"a": SCORE, "b": SCORE**2}, costs=(0.2, 0.6)),
    "stakes-evaluation": lambda: KEPT,
    "stakes-cost-monitor": lambda: CostMonitor((0.2, 0.6), budget=0.2).update(1, Y, SCORE),
    "stakes-cost-monitors": lambda: CostMonitors((0.2, 0.6), reference=KEPT, force=True),
    "stakes-challenger-monitor": lambda: ChallengerMonitor((0.2, 0.6)),
    "stakes-deferral": lambda: fit_deferral(Y, SCORE, costs=0.5, deferral=0.1),
    "stakes-precision-monitor": lambda: PrecisionMonitor(0.5).update([1, 0, 1]),
    "stakes-uncertainty-calibration": lambda: uncertainty_calibrate(Y, SCORE, DOUBT),
    "stakes-boundary": lambda: fit_boundary(Y, SCORE, DOUBT, min_precision=0.6),
    "stakes-update": lambda: update(Y, SCORE),
    "stakes-threshold": lambda: population_threshold(Y, SCORE, "f1", n_resamples=5),
    "stakes-row-decisions": lambda: decide_rows(SCORE, false_positive=5, false_negative=15),
}


@pytest.mark.parametrize("kind", SAVED)
def test_what_was_saved_is_read_by_its_format(kind, tmp_path):
    saved = SAVED[kind]()
    path = tmp_path / "kept.json"
    text = saved.to_json(path)
    assert json.loads(text)["format"].rpartition("-")[0] == kind
    found = stakes.load(path)
    assert type(found) is type(saved)
    assert found.to_json() == text
    assert stakes.load(str(path)).to_json() == text


def test_a_byte_order_mark_of_an_editor_is_no_damage(tmp_path):
    path = tmp_path / "rule.json"
    text = SAVED["stakes-precision-monitor"]().to_json()
    path.write_text(text, encoding="utf-8-sig")
    assert stakes.load(path).to_json() == text


def test_every_format_of_the_library_is_read():
    written = {name for path in SOURCES.values() for name in re.findall(r'= "(stakes-[a-z-]+)-\d+"', path.read_text())}
    written |= {name for path in SOURCES.values() for name in re.findall(r', "(stakes-[a-z-]+)-\d+"', path.read_text())}
    assert written == {*SAVED, *NOT_LOADED}


def test_tables_are_read_from_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    table = ScoreTable.from_predictions(Y, SCORE)
    table.to_parquet(tmp_path / "table.parquet")
    assert stakes.load(tmp_path / "table.parquet").to_json() == table.to_json()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is no JSON"),
        (b"{}", "names no format of stakes"),
        (b'{"format": 3}', "names no format of stakes"),
        (b'["format"]', "names no format of stakes"),
        (b'{"format": "stakes-table-1"}', "earlier version"),
        (b'{"format": "stakes-table-9"}', "of format 'stakes-table-2', got format 'stakes-table-9'"),
        (b'{"format": "stakes-rule-1"}', "names no format of stakes"),
        (b'{"format": "stakes-boundary-2"}', "is no whole boundary"),
        (b'{"format": "stakes-watch-1"}', "is the state of `stakes watch`"),
        (b'{"format": "stakes-monitor-1"}', "is the state of `stakes boundary monitor`"),
        (pickle.dumps({"format": "stakes-table-2"}), "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"PAR1 and no more", "kept.json"),
        pytest.param(gzip.compress(b'{"format": "stakes-table-2"}'), "compressed by gzip: unpack it first", id="gzip"),
    ],
)
def test_other_files_are_refused(content, says, tmp_path):
    if content.startswith(b"PAR1"):
        pytest.importorskip("pyarrow")
    path = tmp_path / "kept.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(says)) as caught:
        stakes.load(path)
    assert "kept.json" in str(caught.value)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        stakes.load(tmp_path / "absent.json")
