"""`stakes evaluate --classes --cost-matrix`: the library's numbers, matrices either way round, and refusals."""

import json
import re

import numpy as np
import pytest

from stakes.actions import evaluate_actions

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

CLASSES = ["low", "mid", "high"]
MATRIX = [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [9.0, 4.0, 0.0]]
ASKED = ["--label", "truth", "--classes", "low,mid,high"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    prob = rng.dirichlet([2.0, 1.0, 1.0], 300)
    index = (rng.random((300, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    return index, {"gbm": prob, "flat": np.tile([0.5, 0.25, 0.25], (300, 1))}


@pytest.fixture
def file(rows, folder):
    index, probs = rows
    columns = {f"{model}_{c}": prob[:, k] for model, prob in probs.items() for k, c in enumerate(CLASSES)}
    frame = pl.DataFrame({"truth": [CLASSES[k] for k in index], "age": np.arange(300), **columns})
    frame.write_csv(folder / "p.csv")
    write(folder / "costs.csv", "true", CLASSES, CLASSES, MATRIX)
    return "p.csv"


def write(path, corner, rows, heads, cells):
    lines = [[corner, *heads], *([row, *map(str, mine)] for row, mine in zip(rows, cells, strict=True))]
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")


def test_the_numbers_are_the_librarys(file, rows, cli, folder):
    index, probs = rows
    outcome = cli("evaluate", file, *ASKED, "--cost-matrix", "costs.csv", "--incumbent", "flat", "--report", "r.html")
    assert outcome.code == 0, outcome.err
    expected = evaluate_actions(index, probs, matrices=MATRIX)
    assert f"{expected['gbm'].cost.value:.3g}" in outcome.out.splitlines()[3]
    assert "named beforehand" in outcome.out
    page = (folder / "r.html").read_text()
    assert "By true class" in page
    assert "<script" not in page
    found = json.loads(cli("evaluate", file, *ASKED, "--cost-matrix", "costs.csv", "--json").out)
    taken = MATRIX[index[0]], probs["gbm"] @ np.array(MATRIX)
    by_hand = np.array(MATRIX)[index, taken[1].argmin(axis=1)].mean()
    assert found["models"][0]["cost"] == pytest.approx(by_hand, abs=1e-12)
    assert found["by_class"]["gbm"][2]["cost"] == pytest.approx(expected["gbm"].class_costs[2], abs=1e-12)
    assert found["compared_with_best"][0]["difference"] == pytest.approx(
        expected.compare("flat", "gbm").difference, abs=1e-12
    )


def test_models_are_counted_in_the_heading(file, cli):
    both = cli("evaluate", file, *ASKED, "--cost-matrix", "costs.csv")
    one = cli("evaluate", file, *ASKED, "--cost-matrix", "costs.csv", "--models", "flat")
    assert [found.out.splitlines()[1] for found in (both, one)] == ["2 models: gbm, flat", "1 model: flat"]


@pytest.mark.parametrize("size", [3, 30])
def test_narrow_terminal_folds_long_names_and_no_number(size, file, cli, folder, monkeypatch):
    frame = pl.read_csv(folder / file)
    frame.rename({f"gbm_{c}": f"{'m' * size}_{c}" for c in CLASSES}).write_csv(folder / file)
    shown = {}
    for width in (40, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        text = cli("evaluate", file, *ASKED, "--cost-matrix", "costs.csv").out
        rows = [line for line in text.splitlines() if re.match(r"m+( +[\d.]|$)", line)]
        shown[width] = [re.match("m+", line)[0] for line in rows], [re.findall(r"-?\d*\.\d+", line) for line in rows]
    names, numbers = shown[200]
    assert names == ["m" * size]
    assert len(numbers[0]) == 4  # the cost, the ends of its interval and the skill
    folded, found = shown[40]
    assert (len(folded) > 1) is (size > 12)
    assert "".join(folded) == "m" * size
    assert found == [numbers[0], *[[]] * (len(folded) - 1)]


@pytest.mark.parametrize(
    ("where", "noted"), [([], False), (["--json"], True), (["--output", "o.csv"], True), (["--output", "-"], False)]
)
def test_models_taken_are_noted_where_no_text_names_them(file, cli, where, noted):
    outcome = cli("evaluate", file, *ASKED, "--cost-matrix", "costs.csv", *where)
    assert outcome.code == 0, outcome.err
    assert ("models taken: gbm, flat" in outcome.err) is noted


def test_a_matrix_may_have_actions_as_rows(file, cli, folder):
    actions, costs = ["refer", "send home"], np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 5.0]])
    write(folder / "by_class.csv", "class", CLASSES, actions, costs.T)
    write(folder / "by_action.csv", "", actions, CLASSES, costs)
    write(folder / "stated.csv", "action \\ true class", actions, CLASSES, costs)
    found = [
        cli("evaluate", file, *ASKED, "--cost-matrix", name, "--json")
        for name in ("by_class.csv", "by_action.csv", "stated.csv")
    ]
    assert [each.code for each in found] == [0, 0, 0]
    assert found[0].out == found[1].out == found[2].out
    assert json.loads(found[0].out)["matrices"] == [costs.T.tolist()]
    assert "by_action.csv: its columns are the classes, so its rows are taken as actions" in found[1].err


def test_gains_are_negative_costs_on_the_screen(file, rows, cli, folder):
    index, probs = rows
    gains = np.array(MATRIX) - np.array([0.0, 1.0, 7.0])[:, None]
    write(folder / "gains.csv", "true", CLASSES, CLASSES, gains)
    outcome = cli("evaluate", file, *ASKED, "--cost-matrix", "gains.csv")
    assert outcome.code == 0, outcome.err
    means = gains[index, (probs["gbm"] @ gains).argmin(axis=1)].mean(), *gains[index].mean(axis=0)
    ranking = dict(zip(("gbm", *(f"always {name}" for name in CLASSES)), means, strict=True))
    assert f"gbm costs least on these 300 rows: {means[0]:.3g} per decision" in outcome.out
    shown = {name: float(re.search(rf"^{name} +(-?[\d.]+)", outcome.out, re.MULTILINE)[1]) for name in ranking}
    assert shown == pytest.approx(ranking, abs=0.005)


def test_one_action_alone_costs_what_it_costs_each_class(file, rows, cli, folder):
    write(folder / "one.csv", "true", CLASSES, ["refer"], [[1.0], [2.0], [4.0]])
    outcome = cli("evaluate", file, *ASKED, "--cost-matrix", "one.csv", "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)["models"]
    assert [model["cost"] for model in found] == pytest.approx([np.array([1.0, 2.0, 4.0])[rows[0]].mean()] * 2)


def test_two_matrices_are_the_ends_of_a_segment(file, rows, cli, folder):
    index, probs = rows
    write(folder / "dear.csv", "true", CLASSES, CLASSES[::-1], [row[::-1] for row in 2.0 * np.array(MATRIX) ** 2])
    both = ["--cost-matrix", "costs.csv", "--cost-matrix", "dear.csv", "--costs", "0.2:0.6"]
    found = json.loads(cli("evaluate", file, *ASKED, *both, "--json").out)
    ends = [MATRIX, (2.0 * np.array(MATRIX) ** 2).tolist()]
    expected = evaluate_actions(index, probs, matrices=ends, theta=(0.2, 0.6))
    assert found["models"][0]["cost"] == pytest.approx(expected["gbm"].cost.value, abs=1e-12)
    assert "of the segment of matrices" in found["conclusion"][-1]


def test_columns_of_one_model_may_be_the_classes_and_labels_numbers(cli, folder):
    (folder / "n.csv").write_text("y,0,1,2\n" + "0,0.7,0.2,0.1\n1,0.333,0.333,0.333\n2,0.1,0.1,0.8\n" * 4)
    write(folder / "c.csv", "class", "012", "012", 1 - np.eye(3))
    outcome = cli("evaluate", "n.csv", "--label", "y", "--classes", "0,1,2", "--cost-matrix", "c.csv", "--json")
    assert json.loads(outcome.out)["models"][0]["cost"] == pytest.approx(1 / 3)
    assert "the probabilities of 4 rows sum to 1 but for rounding" in outcome.err


MATRIX_AS_TEXT = "x,low,mid,high\nlow,0,1,2\nmid,3,1,0\nhigh,9,4,0\n"


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["--cost-matrix", "costs.csv", "--rule", "0.5"], 2, "--rule has no meaning with --cost-matrix"),
        (["--cost-matrix", "costs.csv", "--costs", "0.1"], 2, "it says how far between two matrices costs may lie"),
        (["--details", "--cost-matrix", "costs.csv"], 2, "--details has no meaning with --cost-matrix"),
        (["--calibration", "--cost-matrix", "costs.csv"], 2, "--calibration has no meaning with --cost-matrix"),
        ([], 2, "--classes needs --cost-matrix"),
        (["--cost-matrix", "no.csv"], 3, "no.csv: cannot be read"),
        (["--cost-matrix", "dear.csv"], 3, "for class mid the action mid costs 1, the action high 0: rows are read as"),
        (["--cost-matrix", "few.csv"], 3, "few.csv: has no costs for the class 'high'. Its rows are low, mid."),
        (["--cost-matrix", "text.csv"], 3, "text.csv: column 'b', row 1: costs must be finite numbers, got 'x'"),
        (["--cost-matrix", "costs.csv", "--models", "gbm,rf"], 3, "model 'rf' has no column 'rf_low'"),
        (["--cost-matrix", "costs.csv", "--incumbent", "rf"], 3, "incumbent must be one of 'gbm', 'flat', got 'rf'"),
        (["--cost-matrix", "costs.csv", "--on-missing", "no"], 2, "--on-missing"),
    ],
)
def test_what_does_not_fit_is_refused(file, cli, folder, argv, code, message):  # noqa: PLR0917
    (folder / "dear.csv").write_text(MATRIX_AS_TEXT)
    (folder / "few.csv").write_text("class,a,b\nlow,0,1\nmid,1,0\n")
    (folder / "text.csv").write_text("class,a,b\nlow,0,x\nmid,1,0\nhigh,1,0\n")
    outcome = cli("evaluate", file, *ASKED, *argv)
    assert outcome.code == code
    assert message in outcome.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("truth,gbm_low,gbm_mid\nlow,0.5,0.5\n", "model 'gbm' has no column 'gbm_high'"),
        ("truth,a,b\nlow,0.5,0.5\n", "no columns are named after the classes 'low', 'mid', 'high'"),
        ("truth,low,mid,high\nlow,0.5,0.5,0.2\n", "of model 'model' must sum to 1 in each row, got 1.2 (1 of 1 rows)"),
        ("truth,low,mid,high\nhuge,0.5,0.3,0.2\n", "must be one of the classes low, mid, high, got 'huge'"),
        ("truth,low,mid,high\nlow,1.5,-0.3,-0.2\n", "column 'low', row 1 (line 2): must lie in [0, 1], got 1.5"),
        ("truth,low,mid,high\nlow,,0.3,0.7\n", "column 'low', row 1 (line 2): must not be missing"),
        ("truth,low,mid,high\nlow,0.5,0.3,0.2\n", "y_true must hold at least two rows, got 1"),
    ],
)
def test_rows_that_cannot_be_judged_are_named(cli, folder, text, message):
    write(folder / "costs.csv", "true", CLASSES, CLASSES, MATRIX)
    (folder / "bad.csv").write_text(text)
    outcome = cli("evaluate", "bad.csv", *ASKED, "--cost-matrix", "costs.csv")
    assert outcome.code == 3
    assert message in outcome.err.replace("\n", " ")


@pytest.mark.parametrize("heads", [["a", "a", "c"], ["a", "", "c"], ["", "", "c"]])
def test_columns_of_a_cost_matrix_have_names_of_their_own(cli, file, folder, heads):
    write(folder / "twice.csv", "true", CLASSES, heads, MATRIX)
    outcome = cli("evaluate", file, *ASKED, "--cost-matrix", "twice.csv")
    assert outcome.code == 3
    assert f"columns must have distinct names, got {', '.join(map(repr, heads))}" in " ".join(outcome.err.split())
