"""`stakes compare yesterday.json today.json` and `stakes check --against`: two kept evaluations of other rows."""

import json
from pathlib import Path

import numpy as np
import pytest

from stakes import costs, evaluate
from stakes.evaluation import KeptEvaluation
from stakes.outputs.files import json_ready

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

ASKED = {"costs": (0.1, 0.4)}
TYPED = ["--label", "ill", "--costs", "0.1:0.4"]


def rows_of(seed, n=800, lift=0.0, models=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(-1.5, 1.2, n)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-x - lift))).astype(int)
    return y, {f"m{k}": 1.0 / (1.0 + np.exp(-x - 0.3 * k * rng.normal(size=n))) for k in range(models)}


@pytest.fixture
def days(folder):
    """Kept evaluations of two days of which the second is dearer, and of one like the first; and their rows."""
    for day, (seed, lift) in {"old": (1, 0.0), "new": (2, 0.9), "same": (3, 0.0)}.items():
        y, models = rows_of(seed, lift=lift)
        KeptEvaluation.of(evaluate(y, models, **ASKED)).to_json(f"{day}.json")
        pl.DataFrame({"ill": y, **models}).write_csv(f"{day}.csv")
    return folder


def read(path):
    return KeptEvaluation.from_json((path).read_text(encoding="utf-8"))


def test_two_kept_evaluations_are_compared_as_the_library_does(days, cli):
    outcome = cli("compare", "old.json", "new.json", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    found, changes = json.loads(outcome.out), read(days / "new.json").compare(read(days / "old.json"))
    assert found["changes"] == json_ready(changes._records())
    assert found["dearer"] == ["m0", "m1"]
    assert json.loads(cli("compare", "old.json", "same.json", "--json").out)["dearer"] == []


@pytest.mark.parametrize("models", [1, 2, 7])
def test_the_answer_is_one_screen(models, cli):
    for day, lift in (("a", 0.0), ("b", 0.9)):
        KeptEvaluation.of(evaluate(*rows_of(len(day), lift=lift, models=models), **ASKED)).to_json(f"{day}.json")
    outcome = cli("compare", "a.json", "b.json")
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) <= 20
    assert all(len(line) <= 80 for line in outcome.out.splitlines())
    assert "Dearer than before: m0" in outcome.out
    assert ("more: --json" in outcome.out) == (models == 7)


def test_numbers_on_the_screen_are_those_of_the_library(days, cli):
    lines = cli("compare", "old.json", "new.json").out.splitlines()
    changes = read(days / "new.json").compare(read(days / "old.json"))
    cost, ratio = changes.of("cost")[0], changes.of("o_e_ratio")[0]
    line = next(line for line in lines if line.split()[:2] == ["m0:", "cost"])
    low, high = (f"{1000 * end:+.0f}" for end in cost.interval)
    assert f"{1000 * cost.change:+.0f} ({low} to {high})" in line
    share = pl.read_csv(days / "old.csv")["ill"].mean()
    assert lines[0] == f"old.json: 800 rows, {100 * share:.3g}% positive; 2 models"
    assert line.endswith(f"{cost.p_adjusted:.2g}")
    assert 0.0 < ratio.p_adjusted < 0.00005  # which is not 0
    line = next(line for line in lines if line.startswith("m0: O:E"))
    assert line.endswith(" < 0.001")
    low, high = (f"{end:.2f}" for end in ratio.interval)
    cells = f"{ratio.before:.2f} {ratio.after:.2f} x {ratio.change:.2f} ({low} to {high})"
    assert cells in " ".join(line.split())


def test_harm_that_costs_count_is_said(cli):
    for day in ("a", "b"):
        rows = rows_of(ord(day))
        KeptEvaluation.of(evaluate(*rows, **ASKED, harm={"m0": 0.01})).to_json(f"{day}.json")
        KeptEvaluation.of(evaluate(*rows, **ASKED)).to_json(f"plain_{day}.json")
    said = "Costs and what is promised count --harm."
    assert said in " ".join(cli("compare", "a.json", "b.json").out.split())
    assert "--harm" not in cli("compare", "plain_a.json", "plain_b.json").out
    noted = {(each["quantity"], each["model"]): each["note"] for each in changes_in(cli, "a.json", "b.json")}
    one, both = "counts test harm: m0 0.0100", "counts test harm: m0 0.0100 and m1 0"
    counting = {("cost", "m0"): one, ("promised", "m0"): one, ("difference", "m0 - m1"): both}
    assert {key: note for key, note in noted.items() if "harm" in note} == counting
    assert not any("harm" in each["note"] for each in changes_in(cli, "plain_a.json", "plain_b.json"))


def changes_in(cli, *days):
    return json.loads(cli("compare", *days, "--json").out)["changes"]


@pytest.mark.usefixtures("days")
def test_settings_are_those_that_were_kept(cli):
    refused = cli("compare", "old.json", "new.json", "--costs", "0.1:0.4")
    assert refused.code == 2
    assert "--costs goes with one FILE" in refused.err
    y, models = rows_of(4)
    KeptEvaluation.of(evaluate(y, models, costs=(0.1, 0.5))).to_json("other.json")
    refused = cli("compare", "old.json", "other.json")
    assert refused.code == 3
    assert "other.json: cannot be compared with old.json: compare needs evaluations of the same costs" in refused.err
    Path("link.json").symlink_to("old.json")
    for again in ("old.json", "./old.json", str(Path("old.json").resolve()), "link.json"):
        refused = cli("compare", "old.json", again)
        assert refused.code == 2
        assert "is named twice: the rows of two kept evaluations must be others" in " ".join(refused.err.split())
    Path("copy.json").write_text(json.dumps(json.loads(Path("old.json").read_text("utf-8")), indent=1), "utf-8")
    refused = cli("compare", "old.json", "copy.json")  # of the same rows, which would show no change of anything
    assert (refused.code, refused.out) == (3, "")
    assert "copy.json: holds the same evaluation as old.json: the rows" in refused.err
    assert "is no kept evaluation" in cli("compare", "old.json", "new.csv").err
    assert cli("compare", "old.json", "new.json", "-o", "new.json").code == 2
    Path("stakes.toml").write_text('[stakes]\nlabel = "ill"\ncosts = "0.1:0.4"\n', encoding="utf-8")
    outcome = cli("compare", "old.json", "new.json", "--config", "stakes.toml")
    assert outcome.code == 0
    assert outcome.err == "note: options taken from stakes.toml: none for this command\n"
    assert cli("compare", "old.csv", *TYPED).err.startswith("error: --models FIRST,SECOND")
    assert cli("compare", "old.json", "absent.json").code == 3


@pytest.mark.parametrize("order", [("exact", "cells"), ("cells", "exact")])
def test_rows_kept_once_as_they_are_and_once_in_cells_are_the_same_rows(order, cli, folder):
    found = evaluate(*rows_of(3), **ASKED)
    for name, resolution in (("exact", None), ("cells", 64)):
        KeptEvaluation.of(found, resolution=resolution).to_json(folder / f"{name}.json")
    refused = cli("compare", *(f"{name}.json" for name in order))
    assert (refused.code, refused.out) == (3, "")
    assert f"{order[1]}.json: holds the same evaluation as {order[0]}.json: the rows" in refused.err


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("resolution", [None, 64])
def test_rows_are_not_held_against_themselves(resolution, cli):
    asked = [*TYPED, "--fail-on", "dearer", "--against"]
    for day, seed in {"old": 1, "other": 8}.items():
        kept = KeptEvaluation.of(evaluate(*rows_of(seed), **ASKED), resolution=resolution)
        kept.to_json(f"kept_{day}.json")
    refused = cli("check", "old.csv", *asked, "kept_old.json")
    assert (refused.code, refused.out) == (3, "")
    said = "--against kept_old.json: holds the rows that are checked: those of a kept evaluation must be others"
    assert said in " ".join(refused.err.split())
    assert cli("check", "old.csv", *asked, "kept_other.json").code == 0


@pytest.mark.usefixtures("days")
def test_a_day_that_is_dearer_than_what_was_kept_fails_the_check(cli):
    asked = [*TYPED, "--against", "old.json", "--fail-on", "dearer"]
    failed = cli("check", "new.csv", *asked, "--json")
    assert failed.code == 4
    assert "the check failed: dearer" in failed.err
    (seen,) = [each for each in json.loads(failed.out)["findings"] if each["code"] == "dearer"]
    assert set(seen["models"]) == {"m0", "m1"}
    assert "after Holm over 2 comparisons" in seen["sentence"]
    assert cli("check", "same.csv", *asked).code == 0
    assert cli("check", "new.csv", *TYPED, "--against", "old.json").code == 0  # an error only by its name
    refused = cli("check", "new.csv", "--label", "ill", "--costs", "0.1:0.5", "--against", "old.json")
    assert refused.code == 3
    assert (
        "--against old.json: check needs evaluations of the same costs, got Uniform(low=0.1, high=0.5)" in refused.err
    )
    assert cli("check", "new.csv", *TYPED, "--against", "new.csv").code == 3
    pl.read_csv("new.csv").with_columns(time=2.0 - pl.col("ill")).write_csv("followed.csv")
    asked = ["--time", "time", "--event", "ill", "--horizon", "1.5", *TYPED[2:]]
    followed = cli("check", "followed.csv", *asked, "--against", "old.json", "--fail-on", "dearer")
    assert followed.code == 3
    assert "same outcome, got 'event by horizon 1.5' and 'labels'" in " ".join(followed.err.split())


def test_a_day_that_is_dearer_than_the_others_fails_the_check(days, cli):
    each = [pl.read_csv(days / f"{day}.csv").with_columns(day=pl.lit(day)) for day in ("old", "new", "same")]
    pl.concat(each).write_csv("all.csv")
    pl.concat(each[::2]).write_csv("equal.csv")
    failed = cli("check", "all.csv", *TYPED, "--groups", "day", "--fail-on", "dearer")
    assert failed.code == 4
    assert "in day new than in all other rows" in " ".join(failed.out.split())
    assert cli("check", "equal.csv", *TYPED, "--groups", "day", "--fail-on", "dearer").code == 0
    against = cli(
        "check", "all.csv", *TYPED, "--groups", "day", "--against", "old.json", "--fail-on", "dearer", "--json"
    )
    (seen,) = [each for each in json.loads(against.out)["findings"] if each["code"] == "dearer"]
    assert set(seen["groups"]) == {"day new"}
    assert seen["evidence"]["comparisons"] == 6
    refused = cli("check", "all.csv", *TYPED, "--fail-on", "dearer")
    assert (refused.code, refused.err.splitlines()[0]) == (
        2,
        "error: --fail-on dearer needs --against KEPT.json, or --groups to hold each against the others",
    )


def test_infinite_costs_are_shown_as_such(cli):
    y, _ = rows_of(1)
    hard = np.random.default_rng(1).choice([0.0, 1.0], len(y))
    for day, score in (("a", hard), ("b", 1.0 - hard)):
        KeptEvaluation.of(evaluate(y, {"m": score}, costs=(0.0, 1.0), scale="loss")).to_json(f"{day}.json")
        KeptEvaluation.of(evaluate(y, {"m": score}, costs=costs.LogOddsUniform(0, 1))).to_json(f"{day}-log.json")
    assert cli("compare", "a.json", "b.json").code == 0
    outcome = cli("compare", "a-log.json", "b-log.json")
    assert outcome.code == 0
    assert "No change of cost is shown." in outcome.out
    assert next(line for line in outcome.out.splitlines() if line.startswith("m: cost")).split()[2:4] == ["inf", "inf"]
