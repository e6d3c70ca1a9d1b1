"""`stakes demo` needs nothing but the package."""

import json
import shlex


def test_demo_in_an_empty_folder(cli, folder):
    outcome = cli("demo")
    assert (outcome.code, outcome.err) == (0, "")
    assert list(folder.iterdir()) == []
    for part in ("logistic_regression", "random_forest", "naive_bayes", "treat none", "569 rows", "5% to 30%"):
        assert part in outcome.out
    assert str(folder.parent) not in outcome.out


def test_demo_as_json(cli):
    outcome = cli("demo", "--json")
    content = json.loads(outcome.out)
    assert content["data"]["rows"] == 569
    assert (content["costs"]["low"], content["costs"]["high"]) == (0.05, 0.3)
    assert outcome.err == ""


def test_command_that_the_demo_shows_works_on_an_own_file(cli, folder):
    from importlib import resources

    shown = next(line for line in cli("demo").out.splitlines() if line.startswith("  stakes evaluate "))
    (folder / "predictions.csv").write_bytes((resources.files("stakes") / "data" / "breast_cancer.csv").read_bytes())
    command = shlex.split(shown)
    assert command[-2:] == ["--report", "report.html"]
    own, demo = cli(*command[1:-2], "--json"), cli("demo", "--json")
    assert json.loads(own.out)["models"] == json.loads(demo.out)["models"]


def test_demo_writes_a_report(cli, folder):
    outcome = cli("demo", "--report", "report.html")
    assert outcome.code == 0, outcome.err
    assert (folder / "report.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
