"""Values of other packages: those on made inputs always, those on published data where their folder is named."""

import json

import pytest

from conformance import _suite
from conformance._inputs import FOLDER, needs_folder
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


def test_values_on_published_data_agree_or_are_explained(reference_dir, monkeypatch):
    monkeypatch.setenv(FOLDER, str(reference_dir))
    known = explanations()
    tallies = [check_package(path, known) for path in packages()]
    assert not [line for tally in tallies for line in tally.failed]
    assert sum(tally.values for tally in tallies) >= 1000
    assert all("seen" in entry for entry in known)


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
