"""The recipes for other tools do what docs/ecosystem.md says, with the tools themselves where they are installed."""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from wsgiref.simple_server import WSGIRequestHandler, make_server

import numpy as np
import pytest

from stakes import TimeToEvent
from stakes.evaluation import evaluate_horizons

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "ecosystem.md").read_text(encoding="utf-8")
SKILL = (ROOT / "docs" / "SKILL.md").read_text(encoding="utf-8")
EXAMPLE = resources.files("stakes") / "data" / "breast_cancer.csv"


def blocks(heading, language):
    """Return the fenced blocks below a heading of the page, whose first lines come before any heading."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    found = section[0] if heading is None else next(text for text in section if text.startswith(f"{heading}\n"))
    return re.findall(rf"^```{language}\n(.*?)^```$", found, re.MULTILINE | re.DOTALL)


@pytest.fixture
def recipe(tmp_path, monkeypatch, capsys):
    """Run the examples of a section in an empty folder, and return the names that they defined."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)

    def run(heading):
        runner, namespace = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), {}
        examples = blocks(None, "python") + blocks(heading, "pycon")
        for number, block in enumerate(examples):
            example = doctest.DocTestParser().get_doctest(block, namespace, f"{heading} {number}", None, 0)
            runner.run(example, clear_globs=False)
            namespace = example.globs
        assert runner.failures == 0, capsys.readouterr().out
        assert runner.tries > 5
        return namespace

    return run


def test_concordance_is_that_of_ordered_pairs():
    pytest.importorskip("sksurv")
    rng = np.random.default_rng(3)
    time, risk = rng.permutation(np.arange(1.0, 81.0)), rng.random((80, 2)).cumsum(axis=1) / 2.0
    event = rng.random(80) < 0.6
    outcome = TimeToEvent(event=event, time=time, horizon=60.0)
    row = evaluate_horizons(outcome, {"a": risk}, horizons=[20.0, 60.0]).concordance().rows[0]
    left = np.array([np.prod([1.0 - 1.0 / np.sum(time >= u) for u in time[~event] if u < t]) for t in time])
    first = event[:, None] & (time[:, None] < time)  # nobody's time is another's
    right = first & (risk[:, 1][:, None] > risk[:, 1])
    assert row["harrell_c"] == pytest.approx(right.sum() / first.sum(), abs=1e-12)
    weight = np.where(time < 60.0, left**-2.0, 0.0)[:, None]
    assert row["uno_c"] == pytest.approx((weight * right).sum() / (weight * first).sum(), abs=1e-12)


# What other people's code warns of is theirs.
@pytest.mark.filterwarnings("default")
def test_mlflow_keeps_every_number_and_takes_metrics(recipe, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("trial", artifact_location=(tmp_path / "a").as_uri()))
    names = recipe("MLflow")
    assert names["kept"] == pytest.approx(names["result"].to_metrics(), rel=0, abs=0, nan_ok=True)
    assert list((tmp_path / "a").rglob("report.html"))


def decided_rows(folder, statement):
    """Return what a model of dbt makes of the example, row by row: the decision beside the score."""
    with pytest.importorskip("duckdb").connect(str(folder / "trial.duckdb")) as connection:
        rows = connection.sql(f"SELECT random_forest, decision FROM ({statement})").fetchall()  # noqa: S608
    return np.array(rows).T


def test_a_macro_of_dbt_decides_as_the_rule(recipe, tmp_path):
    """The macro as dbt's language, Jinja, renders it."""
    jinja2 = pytest.importorskip("jinja2")
    rule = recipe("dbt")["rule"]
    (model,) = blocks("dbt", "jinja")
    macro = (tmp_path / "macros" / "act.sql").read_text(encoding="utf-8")
    statement = (
        jinja2.Environment(autoescape=False)
        .from_string(macro + model)
        .render(ref=lambda name: {"predictions": f"read_csv('{EXAMPLE}')"}[name])
    )
    score, decision = decided_rows(tmp_path, statement)
    assert set(decision) == {0, 1}
    np.testing.assert_array_equal(decision, rule.predict(score))


@pytest.mark.filterwarnings("default")
def test_dbt_runs_a_model_with_the_macro(recipe, tmp_path):
    runner = pytest.importorskip("dbt.cli.main").dbtRunner
    pytest.importorskip("dbt.adapters.duckdb")
    rule = recipe("dbt")["rule"]
    (model,) = blocks("dbt", "jinja")
    files = {
        "dbt_project.yml": "{name: trial, version: '1.0', profile: trial}",
        "profiles.yml": "trial: {target: here, outputs: {here: {type: duckdb, path: trial.duckdb, threads: 1}}}",
        "models/decided.sql": model,
        "seeds/predictions.csv": EXAMPLE.read_text(encoding="utf-8"),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = runner().invoke(["build", "--quiet", "--no-send-anonymous-usage-stats"])
    assert done.success, done.exception
    score, decision = decided_rows(tmp_path, "FROM decided")
    assert set(decision) == {0, 1}
    np.testing.assert_array_equal(decision, rule.predict(score))


def test_a_service_decides_as_the_rule_that_it_loaded(recipe):
    rule, names = recipe("dbt")["rule"], {}
    (program,) = blocks("A service", "python")
    exec(program, names)  # noqa: S102  (the page's own)
    score = np.array([0.0, 0.2, rule.threshold, np.nextafter(rule.threshold, 0.0), 1.0])
    with make_server("127.0.0.1", 0, names["decide"], handler_class=Quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        Path("rule.json").unlink()
        answer = [ask(server, {"scores": [*score, None]}) for _ in range(2)]
        refused = [ask(server, asked)[0] for asked in ({"score": [0.5]}, {"scores": ["high"]}, [])]
        server.shutdown()
    assert answer == [(200, {"decisions": [*rule.predict(score).tolist(), 0]})] * 2
    assert refused == [400, 400, 400]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        """Say nothing of a request."""


def ask(server, page):
    """Send JSON to a server: the status, and what it answers."""
    request = Request(f"http://127.0.0.1:{server.server_port}", data=json.dumps(page).encode())
    try:
        with urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.filterwarnings("default")
def test_skore_shows_our_loss(recipe):
    pytest.importorskip("skore")
    recipe("skore")


def notebook_cells(heading):
    """Return the statements of a section as the source of two cells."""
    parser = doctest.DocTestParser()
    for found in (blocks(None, "python"), blocks(heading, "pycon")):
        yield "".join(example.source for block in found for example in parser.get_examples(block))


@pytest.mark.filterwarnings("default")
def test_jupyter_shows_the_report_in_a_cell(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    cells = [nbformat.v4.new_code_cell(source) for source in notebook_cells("Jupyter")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (output,) = notebook.cells[1].outputs
    assert output.data["text/html"].startswith("<iframe srcdoc=")
    assert notebook.cells[0].outputs == []


@pytest.mark.filterwarnings("default")
def test_marimo_shows_the_report_in_a_frame(recipe):
    pytest.importorskip("marimo")
    names = recipe("marimo")
    assert names["shown"].text.startswith("<iframe srcdoc=")


def test_r_prints_what_the_page_shows(tmp_path):
    pytest.importorskip("pandas")
    program = shutil.which("Rscript")
    if (
        not program
        or subprocess.run([program, "-e", "library(reticulate)"], capture_output=True, check=False).returncode
    ):
        pytest.skip("R or its reticulate is not installed")
    if metadata.version("numpy").split(".")[0] != "1" or metadata.version("pandas").split(".")[0] != "2":
        pytest.skip("Debian's reticulate knows neither numpy 2 nor pandas 3")
    shutil.copy(EXAMPLE, tmp_path / "breast_cancer.csv")
    (script,) = blocks("R, by reticulate", "r")
    (shown,) = blocks("R, by reticulate", "text")
    found = subprocess.run(
        [program, "--vanilla", "-e", script],
        cwd=tmp_path,
        env=os.environ | {"RETICULATE_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, shown), found.stderr
    assert (tmp_path / "report.html").exists()


def action_step(number):
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    step = action["runs"]["steps"][number]
    assert step["shell"] == "bash"
    # what GitHub puts in: the defaults of the inputs
    inputs = {name: about.get("default", "") for name, about in action["inputs"].items()}
    return step, {name: inputs.get(value[len("${{ inputs.") : -len(" }}")], "") for name, value in step["env"].items()}


def run_check(tmp_path, **given):
    step, environment = action_step(1)
    assert set(given) <= set(environment)
    shutil.copy(EXAMPLE, tmp_path / "a file.csv")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    environment = os.environ | environment | given | {"PATH": path}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


ACTION_CASES = [
    ({}, 0),
    ({"FAIL_ON": "few-events"}, 4),
    ({"FILE": "$(touch trap)"}, 3),
    ({"MODELS": "nobody's"}, 3),
    ({"GROUPS_OF": "no such column"}, 3),
    ({"CLUSTERS": "no such column"}, 3),
    ({"LABEL": "", "CONFIG": "settings.toml"}, 4),
    ({"AGAINST": "$(touch trap).json"}, 3),
]


@pytest.mark.parametrize(("given", "code"), ACTION_CASES)
def test_step_of_the_action_checks_and_runs_nothing_that_is_given(tmp_path, given, code):
    for library in ("polars", "click"):
        pytest.importorskip(library)
    if not shutil.which("stakes", path=str(Path(sys.executable).parent)):
        pytest.skip("the command is not installed")
    (tmp_path / "settings.toml").write_text('[check]\nlabel = "malignant"\nfail-on = "few-events"\n', encoding="utf-8")
    given = {"FILE": "a file.csv", "LABEL": "malignant", "COSTS": "0.05:0.30"} | given
    done = run_check(tmp_path, **given)
    assert done.returncode == code, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"a file.csv", "settings.toml"}


def test_action_installs_and_hook_names_what_there_is():
    step, _ = action_step(0)
    yaml = pytest.importorskip("yaml")
    assert step["run"] == 'python -m pip install "${ACTION}[cli]"'
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["entry"].split() == ["stakes", "check"]
    assert hook["additional_dependencies"] == [".[cli]"]
    (example,) = blocks("pre-commit", "yaml")
    assert yaml.safe_load(example)["repos"][0]["hooks"][0]["id"] == hook["id"]
    (example,) = blocks("GitHub Actions", "yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(yaml.safe_load(example)[1]["with"]) <= set(action["inputs"])


def test_commands_of_the_skill_file_work(tmp_path, monkeypatch):
    for library in ("polars", "click"):
        pytest.importorskip(library)
    from stakes.cli import main

    shutil.copy(EXAMPLE, tmp_path / "predictions.csv")
    monkeypatch.chdir(tmp_path)
    (found,) = re.findall(r"^```console\n(.*?)^```$", SKILL, re.MULTILINE | re.DOTALL)
    for line in found.splitlines():
        assert main(shlex.split(line)[1:]) == 0
    assert (tmp_path / "report.html").exists()


def test_names_and_pages_that_assistants_are_told_of_exist():
    import stakes
    from stakes.evaluation import Evaluation

    for path in set(re.findall(r"`(?:stakes\.)?((?:metrics|correction|utility|\w+)(?:\.\w+)*)\(", SKILL)):
        found = Evaluation if path.startswith("result.") else stakes
        for name in path.removeprefix("result.").split("."):
            found = getattr(found, name)
    pages = re.findall(r"\]\((\w+)\.html\)", (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8"))
    assert len(pages) > 5
    assert [name for name in pages if not (ROOT / "docs" / f"{name}.md").exists()] == []
