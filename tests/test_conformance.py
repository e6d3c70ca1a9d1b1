"""Values of other packages: those on made inputs always, those on published data where their folder is named."""

import json
import sys

import pytest

from conformance import _page, _suite
from conformance.__main__ import main
from conformance._inputs import FOLDER, needs_folder
from conformance._live import MODULES, run_package
from conformance._page import LIVE, PAGE
from conformance._shown import LINES, show
from conformance._suite import check_package, explanations, packages


@pytest.fixture
def without_folder(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


@pytest.mark.usefixtures("without_folder")
@pytest.mark.parametrize("path", packages(), ids=lambda path: path.stem)
def test_values_on_made_inputs_agree_or_are_explained(path):
    tally = check_package(path, explanations())
    assert not tally.failed
    assert tally.agreed + tally.explained + tally.skipped == tally.values > 0


def test_values_on_published_data_agree_or_are_explained(reference_dir, monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(reference_dir))
    known = explanations()
    tallies = [check_package(path, known) for path in packages()]
    assert not [line for tally in tallies for line in tally.failed]
    assert sum(tally.values for tally in tallies) >= 3500
    assert len({tally.package for tally in tallies}) >= 16
    assert all("seen" in entry for entry in known)
    monkeypatch.setattr(_page, "PAGE", tmp_path / "conformance.md")
    _page.write(tallies, known)
    assert _page.PAGE.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_page_counts_values_of_packages_run_at_once():
    _, rows = json.loads(LIVE.read_text(encoding="utf-8"))
    assert len(rows) == len(MODULES) >= 16
    assert sum(values for _, _, values, _, _ in rows) >= 500
    assert all(agreed + explained == values for _, _, values, agreed, explained in rows)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("scikit-learn", "sklearn"),
        ("scikit-survival", "sksurv"),
        ("statsmodels", "statsmodels"),
        ("lifelines", "lifelines"),
        ("netcal", "netcal"),
        ("torchmetrics", "torchmetrics"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # of the packages
def test_values_of_packages_run_at_once_agree_or_are_explained(name, module, reference_dir, monkeypatch):
    pytest.importorskip(module, minversion="1.8" if module == "sklearn" else None)
    monkeypatch.setenv(FOLDER, str(reference_dir))
    tally = run_package(name, explanations())
    assert not tally.failed
    assert tally.agreed + tally.explained == tally.values > 0


def test_a_package_that_is_not_installed_is_none_and_other_missing_modules_raise(monkeypatch):
    monkeypatch.setitem(sys.modules, "netcal.metrics", None)
    monkeypatch.delitem(sys.modules, "conformance.compute_netcal", raising=False)
    assert run_package("netcal", []) is None
    with pytest.raises(ModuleNotFoundError):
        run_package("other", [])


def test_command_fails_where_a_package_that_was_asked_for_is_not_installed(reference_dir, monkeypatch, capsys):
    monkeypatch.setenv(FOLDER, str(reference_dir))
    monkeypatch.setitem(sys.modules, "netcal.metrics", None)
    monkeypatch.delitem(sys.modules, "conformance.compute_netcal", raising=False)
    monkeypatch.setattr(sys, "argv", ["conformance", "--live", "netcal"])
    assert main() == 1
    assert "netcal: asked for, and not installed" in capsys.readouterr().out


def test_every_difference_is_shown_by_a_line():
    assert {entry["shown"] for entry in explanations()} == set(LINES)


@pytest.mark.parametrize("name", LINES)
def test_the_change_that_a_reason_names_gives_the_other_value(name, reference_dir, monkeypatch):
    monkeypatch.setenv(FOLDER, str(reference_dir))
    assert show(name) == []


def test_a_line_that_shows_no_reason_is_reported(monkeypatch):
    monkeypatch.setitem(LINES, "made up", lambda: [("here", 1.0, 2.0, 1.5, 1e-10, "theirs")])
    assert len(show("made up")) == 1
    monkeypatch.setitem(LINES, "made up", lambda: [("here", 1.0, 1.0, 1.0, 1e-10, "theirs")])
    assert len(show("made up")) == 1


@pytest.mark.usefixtures("without_folder")
def test_a_value_that_disagrees_fails_and_an_explanation_covers_only_what_it_names(tmp_path):
    content = json.loads(next(path for path in packages() if path.stem == "hmeasure").read_text(encoding="utf-8"))
    case = next(case for case in content["cases"] if not needs_folder(case["input"]))
    case["values"] = [case["values"][0] + 1e-6]
    path = tmp_path / "hmeasure.json"
    path.write_text(json.dumps(content | {"cases": [case]}), encoding="utf-8")
    reason = {"package": "hmeasure", "function": "h_score", "reason": "a test"}
    failed = [len(check_package(path, known).failed) for known in ([], [reason | {"at_most": 1e-7}])]
    assert failed == [1, 1]
    assert not check_package(path, [reason | {"at_most": 2e-6}]).failed
    assert check_package(path, [reason | {"at_most": None, "function": "other"}]).failed
    assert _suite.apart(float("nan"), 1.0) == float("inf")
