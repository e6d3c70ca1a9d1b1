"""`stakes boundary certify`: promises by the exact binomial test, abstention, and what a pipeline is told of it."""

import json

import numpy as np
import pytest
from scipy import stats

from stakes.boundary import Boundary, fit_boundary
from tests.cli.conftest import ROLES, write_csv

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

ASK = ["boundary", "certify"]


def page(outcome):
    return json.loads(outcome.out)


def test_promise_passes_the_exact_binomial_test_on_rows_set_aside(rows, scores, cli, folder):
    outcome = cli(*ASK, rows, *ROLES, "--min-precision", "0.5", "--confidence-level", "0.9", "--json")
    assert outcome.code == 0, outcome.err
    found = page(outcome)["certificate"]
    tp, n = found["true_positives"], found["selected"]
    assert found["p_value"] == pytest.approx(stats.binom.sf(tp - 1, n, 0.5), rel=1e-9)
    assert found["p_value"] <= 0.1
    assert stats.binom.sf(tp - 1, n, found["lower_bound"]) == pytest.approx(0.1, rel=1e-6)
    assert found["lower_bound"] > 0.5
    assert found["tested_rows"] == 1200
    levels = page(outcome)["levels"]
    assert [sum(level[key] for level in levels) for key in ("selected", "true_positives")] == [n, tp]
    assert cli(*ASK, rows, *ROLES, "--min-precision", "50%", "--confidence-level", "0.9", "-o", "sure.json").code == 0
    kept = Boundary.from_json((folder / "sure.json").read_text(encoding="utf-8"))
    chosen = kept.predict(scores["risk"], scores["spread"]) == 1
    assert n <= chosen.sum() <= n + 300
    expected = fit_boundary(
        scores["outcome"], scores["risk"], scores["spread"], min_precision=0.5, confidence_level=0.9, random_state=0
    )
    assert kept.to_json() == expected.to_json()


def test_promise_is_said_first_with_what_it_rests_on(rows, cli):
    outcome = cli(*ASK, rows, *ROLES, "--min-precision", "0.5")
    text = " ".join(outcome.out.split())
    assert text.startswith("Promised: at least 50% of the rows selected are positive, with confidence 95%.")
    found = page(cli(*ASK, rows, *ROLES, "--min-precision", "0.5", "--json"))["certificate"]
    assert f"Among 1,200 rows set aside the region holds {found['selected']}, of which" in text
    assert f"{found['true_positives']} are positive: lower bound {100 * found['lower_bound']:.3g}%" in text
    levels = page(cli(*ASK, rows, *ROLES, "--min-precision", "0.5", "--json"))["levels"]
    assert ("from score" in text) == (len({level["threshold"] for level in levels}) == 1)  # one threshold, or an order


def test_another_seed_splits_the_rows_otherwise(rows, cli):
    options = [*ASK, rows, *ROLES, "--min-precision", "0.5", "--json"]
    one, two, again = (page(cli(*options, "--random-state", seed))["levels"] for seed in ("1", "2", "1"))
    assert one == again != two


@pytest.fixture
def few(scores, tmp_path):
    """Return a file with too few rows for a promise of 90%."""
    return write_csv(tmp_path / "few.csv", {name: values[:200] for name, values in scores.items()})


def test_abstention_says_how_many_rows_would_do_and_leaves_no_file(few, cli, folder):
    outcome = cli(*ASK, few, *ROLES, "--min-precision", "0.9", "-o", "sure.json", "--plot", "sure.png")
    assert outcome.code == 4
    assert outcome.err == "error: no promise could be made: no file was written\n"
    assert list(folder.iterdir()) == []
    needed = page(cli(*ASK, few, *ROLES, "--min-precision", "0.9", "--json"))["certificate"]["rows_needed"]
    assert needed > 200
    text = " ".join(outcome.out.split())
    assert text.startswith("No promise: these rows do not show a precision of 90% with confidence 95%.")
    assert f"About {needed:,} rows would do." in text


def test_older_boundary_survives_an_abstention(few, cli, folder):
    (folder / "sure.json").write_text("old", encoding="utf-8")
    assert cli(*ASK, few, *ROLES, "--min-precision", "0.9", "-o", "sure.json").code == 4
    assert (folder / "sure.json").read_text(encoding="utf-8") == "old"
    piped = cli(*ASK, few, *ROLES, "--min-precision", "0.9", "-o", "-")
    assert (piped.code, piped.out) == (4, "")
    assert "No promise" in piped.err


def test_abstention_may_be_taken_for_an_answer(few, scores, cli, folder):
    outcome = cli(*ASK, few, *ROLES, "--min-precision", "0.9", "-o", "none.json", "--fail-on", "none")
    assert outcome.code == 0, outcome.err
    kept = Boundary.from_json((folder / "none.json").read_text(encoding="utf-8"))
    assert kept.certificate.abstained
    assert not kept.predict(scores["risk"], scores["spread"]).any()
    pytest.importorskip("matplotlib.pyplot")
    assert cli(*ASK, few, *ROLES, "--min-precision", "0.9", "--fail-on", "none", "--plot", "none.png").code == 0
    assert (folder / "none.png").stat().st_size > 5_000


def test_json_says_so_too(few, cli):
    outcome = cli(*ASK, few, *ROLES, "--min-precision", "0.9", "--json")
    assert outcome.code == 4
    assert page(outcome)["certified"] is False


def test_precision_that_nothing_reaches_is_not_a_matter_of_more_rows(cli, tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "outcome": (rng.random(500) < 0.3).astype(int).tolist(),
        "risk": rng.random(500).round(3).tolist(),
        "spread": [1] * 500,
    }
    outcome = cli(*ASK, write_csv(tmp_path / "flat.csv", columns), *ROLES, "--min-precision", "1")
    assert outcome.code == 4
    assert "further rows like these would not do" in " ".join(outcome.out.split())


def test_rows_that_would_do_are_more_than_there_are(cli, tmp_path):
    def run(seed):
        rng = np.random.default_rng(seed)
        risk = rng.random(600).round(3)
        y = (rng.random(600) < 0.2 + 0.6 * (risk > 0.8)).astype(int)
        columns = {"outcome": y.tolist(), "risk": risk.tolist(), "spread": [1] * 600}
        return cli(*ASK, write_csv(tmp_path / "hope.csv", columns), *ROLES, "--min-precision", "0.8", "--json")

    found = [page(run(seed))["certificate"] for seed in range(25)]
    needed = [c["rows_needed"] for c in found if c["abstained"]]
    assert None in needed
    assert min(rows for rows in needed if rows is not None) > 600


def test_handful_of_rows_is_tested_on_nothing(cli, tmp_path):
    columns = {"outcome": [0, 1] * 5, "risk": [0.1, 0.9] * 5, "spread": list(range(10))}
    outcome = cli(*ASK, write_csv(tmp_path / "t.csv", columns), *ROLES, "--min-precision", "0.5")
    assert outcome.code == 4
    assert "8 rows set aside, none tested" in outcome.out


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ([], ["--min-precision"]),
        (["--min-precision", "0"], ["--min-precision must lie in (0, 1], got 0"]),
        (["--min-precision", "0.5", "--confidence-level", "95"], ["--confidence-level must be a number between"]),
        (["--min-precision", "0.5", "--levels", "cv"], ["--levels cv", "stakes boundary fit"]),
        (["--min-precision", "0.5", "--fail-on", "error"], ["--fail-on", "abstained"]),
        (["--min-precision", "0.5", "--weight", "w"], ["--weight"]),
        (["--min-precision", "0.5", "-o", "b.txt"], ["--output", ".json"]),
    ],
)
def test_request_that_cannot_be_carried_out(options, parts, cli, folder):
    outcome = cli(*ASK, "nowhere.csv", *ROLES, *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert [part for part in parts if part not in outcome.err] == [], outcome.err
    assert list(folder.iterdir()) == []
