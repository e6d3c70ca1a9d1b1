"""The validation study of the documentation: its script, its numbers, and those of R."""

import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "examples" / "validation_study.py"
PAGE = (ROOT / "docs" / "validation_study.md").read_text(encoding="utf-8")
KEPT = json.loads((ROOT / "conformance" / "validation_study.json").read_text(encoding="utf-8"))["values"]
NAMES = {"clinical": "clinical", "with_pgr": "with PGR", "treat all": "treat all"}
MEASURES = {"auc": "AUC", "brier_loss": "Brier loss", "ipa": "IPA", "o_e_ratio": "O:E", "event_rate": "event rate"}


def test_numbers_are_those_of_r():
    for value in KEPT:
        # ties between events and censoring count otherwise in Uno's C
        within = 1e-4 if value["measure"] == "uno_c" else 1e-12
        assert value["stakes"] == pytest.approx(value["r"], abs=within), value
        if "r_error" in value:
            assert value["stakes_error"] == pytest.approx(value["r_error"], rel=3e-4), value
    assert len(KEPT) == 49


def label(value):
    """What a row of the page's table is called."""
    model, horizon, measure = NAMES.get(value["model"]), value["horizon"], value["measure"]
    if measure.endswith("_c"):
        return f"{'Harrell' if measure == 'harrell_c' else 'Uno'}'s C{' to 5 years' * (measure == 'uno_c')}, {model}"
    years = f"{horizon} year{'s' * (horizon > 1)}"
    if " - " in value["model"]:
        return f"Brier loss, clinical less with PGR, {years}"
    if measure == "event_rate":
        return f"event rate, {years}"
    if measure.startswith("net_benefit"):
        return f"net benefit at {float(measure.rpartition('_')[2]):.0%}, {model}, {years}"
    return f"{MEASURES[measure]}, {model}, {years}"


def test_page_shows_every_number_beside_that_of_r():
    shown = dict(re.findall(r"^\| ([^|]+) \| ([-\d.]+ \| [-\d.]+) \|$", PAGE, re.MULTILINE))
    kept = {label(value): f"{value['stakes']:.6f} | {value['r']:.6f}" for value in KEPT}
    assert {name: shown.get(name) for name in kept} == kept


def test_page_shows_the_script_which_is_short():
    code = SCRIPT.read_text(encoding="utf-8")
    assert code[code.index("import sys") :].strip() in PAGE
    assert f"one script of {len(code.splitlines())} lines" in PAGE
    assert len(code.splitlines()) <= 60


def test_tables_of_the_page_hold_the_numbers_that_were_kept():
    found = {(v["model"], v["horizon"], v["measure"]): v["stakes"] for v in KEPT}
    for name in ("clinical", "with_pgr"):
        for horizon in (1, 3, 5):
            cells = [f"{found[name, horizon, measure]:.3f}" for measure in ("auc", "brier_loss", "ipa", "o_e_ratio")]
            row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} | {horizon} |"))
            assert [cell.split(" (")[0] for cell in row.split(" | ")[3:7]] == cells


def test_the_script_writes_tables_figures_report_and_methods(tmp_path, monkeypatch, capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("docx")
    pytest.importorskip("matplotlib").use("agg")
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    time, left = rng.exponential(np.exp(1.5 - x)), rng.uniform(1.0, 9.0, 400)
    columns = {"years": np.minimum(time, left), "event": (time <= left).astype(int)}
    for name, noise in (("clinical", 0.5), ("with_pgr", 0.0)):
        line = np.minimum(x + noise * rng.normal(size=400), 2.0)
        columns |= {f"{name}_{h}": 1.0 - np.exp(-h * np.exp(line - 1.5)) for h in (1, 3, 5)}
    pd.DataFrame(columns).to_csv(tmp_path / "gbsg.csv", index=False)
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(tmp_path / "gbsg.csv"), str(tmp_path)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    written = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    pictures = {"horizons.png", "calibration.png", "decision_curve.png"}
    assert {*pictures, "horizons.docx", "net_benefit.docx", "report.html", "methods.md", "gbsg.csv"} == set(written)
    assert min(written[name] for name in pictures) > 20_000
    printed = capsys.readouterr().out
    assert "| with_pgr | 5 |" in printed
    assert "Net benefit at 20%" in printed
