"""`stakes demo` needs nothing but the package."""

import json
import re
import shlex
from importlib import resources

import numpy as np


def test_demo_in_an_empty_folder(cli, folder):
    outcome = cli("demo")
    assert (outcome.code, outcome.err) == (0, "")
    assert list(folder.iterdir()) == []
    for part in ("logistic", "forest", "boosting", "refuse no one", "1,000 rows", "10% to 25%"):
        assert part in outcome.out
    assert outcome.out.count("\n") <= 24
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert str(folder.parent) not in outcome.out


def test_demo_as_json(cli):
    outcome = cli("demo", "--json")
    content = json.loads(outcome.out)
    assert content["data"]["rows"] == 1000
    assert (content["costs"]["low"], content["costs"]["high"]) == (0.1, 0.25)
    assert outcome.err == ""


def test_command_that_the_demo_shows_works_on_an_own_file(cli, folder):
    said = cli("demo").out.splitlines()[-1]
    shown = said.removeprefix("Your file: ").replace("FILE", "predictions.csv")
    (folder / "predictions.csv").write_bytes((resources.files("stakes") / "data" / "german_credit.csv").read_bytes())
    command = shlex.split(shown)
    assert command[:3] == ["stakes", "evaluate", "predictions.csv"]
    own, demo = cli(*command[1:], "--json"), cli("demo", "--json")
    assert json.loads(own.out)["models"] == json.loads(demo.out)["models"]


def test_demo_writes_a_report(cli, folder):
    outcome = cli("demo", "--report", "report.html")
    assert outcome.code == 0, outcome.err
    assert (folder / "report.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_ten_models_fit_one_screen(cli, folder):
    rng = np.random.default_rng(0)
    x = rng.normal(-1.5, 1.2, 600)
    y = (rng.random(600) < 1.0 / (1.0 + np.exp(-x))).astype(int)
    scores = [1.0 / (1.0 + np.exp(-x - rng.normal(0.0, 0.6, 600))) for _ in range(10)]
    heads = ",".join(["y", *(f"gradient_boosting_{k}" for k in range(10))])
    np.savetxt(folder / "ten.csv", np.column_stack([y, *scores]), delimiter=",", header=heads, comments="", fmt="%.5f")
    outcome = cli("evaluate", "ten.csv", "--label", "y", "--costs", "0.1:0.3")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("\n") <= 40
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_every_number_of_the_screen_is_in_one_unit(cli):
    answer = demo_answer()
    text = cli("demo").out
    amounts = {cell for row in answer.cells()[1:] for part in row[2:5] for cell in re.findall(r"\d+\.\d", part)}
    promised = re.findall(r"promise (\d+\.\d) per 1,000", answer.calibration)
    assert set(re.findall(r"(?<![.\d])\d+\.\d\b", text)) <= {*amounts, *promised}
    assert "regret" not in text


def demo_answer():
    from stakes import evaluate
    from stakes.tables import read_predictions

    with resources.as_file(resources.files("stakes") / "data" / "german_credit.csv") as path:
        read = read_predictions(path, label="bad")
    return evaluate(read.y, dict(zip(read.models, read.scores, strict=True)), costs=(0.1, 0.25)).answer
