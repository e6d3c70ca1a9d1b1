"""`stakes evaluate --unlabelled`: what the scores of rows without outcomes promise to cost."""

import json

import numpy as np
import pytest

from stakes import promised_regret

RANGE = ["--models", "sharp,blurred", "--costs", "0.05:0.3"]


def test_promises_are_those_of_the_library(columns, data, cli):
    outcome = cli("evaluate", data, "--unlabelled", *RANGE, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    for record in json.loads(outcome.out)["records"]:
        scores = np.array(columns[record["model"]], dtype=float)
        assert record["promised"] == pytest.approx(promised_regret(scores, costs=(0.05, 0.3)), rel=1e-12)
        assert record["n_rows"] == len(scores)


def test_they_are_printed_per_1000_and_by_group(columns, data, cli, tmp_path):
    file = tmp_path / "grouped.csv"
    lines = data.read_text().splitlines()
    ends = ["site", *["ab"[k % 2] for k in range(len(lines) - 1)]]
    file.write_text("\n".join(f"{line},{end}" for line, end in zip(lines, ends, strict=True)) + "\n")
    text = cli("evaluate", file, "--unlabelled", *RANGE, "--groups", "site", "--weight", "weight").out
    scores, weight = (np.array(columns[name], dtype=float) for name in ("sharp", "weight"))
    whole = promised_regret(scores, costs=(0.05, 0.3), sample_weight=weight, per=1000.0)
    part = promised_regret(scores[1::2], costs=(0.05, 0.3), sample_weight=weight[1::2], per=1000.0)
    rows = {" ".join(line.split()[:-2]): line.split()[-1] for line in text.splitlines() if "sharp" in line}
    assert rows == {
        "sharp": f"{whole:.1f}",
        "sharp in site a": rows["sharp in site a"],
        "sharp in site b": f"{part:.1f}",
    }
    assert f"{int((weight > 0.0).sum()):,} rows without outcomes, weighted by 'weight'; 2 models" in " ".join(
        text.split()
    )
    assert "as its own scores say" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--costs", "0.1:0.3"], "--unlabelled needs --models"),
        ([*RANGE, "--label", "cancer"], "takes no --label"),
        ([*RANGE, "--n-tried", "3"], "--n-tried has no meaning with --unlabelled"),
        ([*RANGE, "--pos-label", "9"], "--pos-label has no meaning with --unlabelled"),
        ([*RANGE, "--engine", "duckdb"], "--engine has no meaning with --unlabelled"),
        ([*RANGE, "--details"], "--details needs outcomes"),
        ([*RANGE, "--report", "r.html"], "--report needs outcomes"),
        ([*RANGE, "--calibration"], "--calibration needs outcomes"),
        ([*RANGE, "--deferral", "0.1"], "takes none of their options"),
    ],
)
def test_what_needs_outcomes_is_refused(options, message, data, cli):
    outcome = cli("evaluate", data, "--unlabelled", *options)
    assert outcome.code == 2
    assert message in outcome.err


def test_rows_of_no_weight_do_not_count(cli, tmp_path):
    file = tmp_path / "weighed.csv"
    file.write_text("risk,times,site\n0.1,0,a\n0.3,2,a\n0.6,1,b\n0.9,0,b\n")
    asked = ["--unlabelled", "--models", "risk", "--costs", "0.2:0.4", "--weight", "times", "--groups", "site"]
    found = json.loads(cli("evaluate", file, *asked, "--json").out)["records"]
    assert [(each["group"], each["n_rows"]) for each in found] == [("", 2), ("a", 1), ("b", 1)]
    assert found[1]["promised"] == pytest.approx(promised_regret(np.array([0.3]), costs=(0.2, 0.4)), rel=1e-12)
    said = " ".join(cli("evaluate", file, *asked).out.split())
    assert "csv: 2 rows without outcomes, weighted by 'times'; 1 model" in said  # a long path is folded
