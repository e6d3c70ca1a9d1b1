"""Further metrics on the command line come from the registry."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pl = pytest.importorskip("polars")

from stakes import net_benefit_score  # noqa: E402
from stakes.cli import main  # noqa: E402
from stakes.metrics import METRICS, Metric, h_measure_score, register  # noqa: E402

Y, A = [0, 1, 0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6, 0.2, 0.25]


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "risks.csv"
    pl.DataFrame({"y": Y, "a": A}).write_csv(path)
    return str(path)


def run(capsys, *arguments):
    code = main(["evaluate", *arguments])
    return code, *capsys.readouterr()


def test_metrics_by_name_with_their_arguments(predictions, capsys):
    asked = ["--metric", "h_measure_score", "--metric", "net_benefit_score:threshold=0.2"]
    code, out, _ = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", *asked, "--json")
    record = json.loads(out)["models"][0]
    assert code == 0
    assert record["h_measure_score"] == pytest.approx(h_measure_score(Y, A))
    assert record["net_benefit_score"] == pytest.approx(net_benefit_score(Y, A, threshold=0.2))
    code, out, _ = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", *asked)
    assert "h_measure_score" in out


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("brier", "--metric must be one of"),
        ("penalized_brier_loss", "--metric must be one of"),
        ("net_benefit_score", "needs threshold="),
        ("net_benefit_score:threshold=high", "KEY=NUMBER"),
        ("roc_auc_score:bounds=1", "takes no argument 'bounds'"),
        (
            "net_benefit_score:threshold=0.1,threshold=0.2",
            "--metric net_benefit_score names 'threshold' more than once",
        ),
    ],
)
def test_wrong_metrics_are_usage_errors(predictions, capsys, metric, message):
    code, out, err = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", "--metric", metric)
    assert code == 2
    assert out == ""
    assert message in err


def test_metric_that_is_named_twice_is_a_usage_error(predictions, capsys):
    asked = ["--metric", "net_benefit_score:threshold=0.1", "--metric", "net_benefit_score:threshold=0.2"]
    code, out, err = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", *asked)
    assert (code, out) == (2, "")
    assert "--metric names 'net_benefit_score' more than once" in err


MEANT = {
    "auc": "roc_auc_score",
    "AUC": "roc_auc_score",
    "brier": "bounded_brier_loss",
    "log_loss": "bounded_log_loss",
    "brier_score_loss": "bounded_brier_loss",
    "h-measure": "h_measure_score",
    "net_benefit": "net_benefit_score",
}


@pytest.mark.parametrize("given", MEANT)
def test_nearest_metric_is_suggested(given, predictions, capsys):
    code, _, err = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", "--metric", given)
    assert code == 2
    assert err.endswith(f"got {given!r}; did you mean {MEANT[given]}?\n")


def test_no_metric_is_suggested_where_none_is_near(predictions, capsys):
    _, _, err = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", "--metric", "zzz")
    assert err.endswith("got 'zzz'\n")


def test_a_newly_registered_metric_is_a_choice(predictions, capsys):
    def dummy_score(y_true, y_prob=None, *, sample_weight=None, pos_label=None):  # noqa: ARG001
        return 0.125

    register(Metric(dummy_score, "a dummy", greater_is_better=True, low=0.0, high=1.0, propriety="none"))
    try:
        _, out, _ = run(capsys, predictions, "--label", "y", "--costs", "0.1:0.4", "--metric", "dummy_score", "--json")
        assert json.loads(out)["models"][0]["dummy_score"] == 0.125
    finally:
        del METRICS["dummy_score"]
