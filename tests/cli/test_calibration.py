"""Calibration on request, as text and in JSON."""

import json

from stakes import evaluate
from stakes.outputs.files import json_ready
from tests.cli.conftest import write_csv

OPTIONS = ["--label", "cancer", "--models", "sharp", "--costs", "0.05:0.3"]


def test_calibration_is_that_of_the_library(columns, tmp_path, cli):
    file = write_csv(tmp_path / "rows.csv", columns)
    result = evaluate(columns["cancer"], {"sharp": columns["sharp"]}, costs=(0.05, 0.3))
    found = json.loads(cli("evaluate", file, *OPTIONS, "--calibration", "--json").out)["calibration"]
    assert found == json_ready(result.calibration._records())
    text = cli("evaluate", file, *OPTIONS, "--calibration").out
    overall, in_range = result.calibration[0].parts().values()
    for summary in (overall, in_range):
        assert f"{summary.o_e_ratio:.2f}" in text
        assert "{:.2f} to".format(*summary.interval("slope")) in text


def test_calibration_is_not_worked_out_unasked(columns, tmp_path, cli):
    file = write_csv(tmp_path / "rows.csv", columns)
    assert "calibration" not in json.loads(cli("evaluate", file, *OPTIONS, "--json").out)
    assert "O:E" not in cli("evaluate", file, *OPTIONS).out
