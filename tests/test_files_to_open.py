"""The tool that counts the files that one must open to follow a call."""

import pytest

from tools import files_to_open


def test_files_of_a_job_are_those_whose_functions_it_calls(tmp_path):
    opened = files_to_open.files_of("bounded Brier loss", tmp_path)
    assert {"metrics/_losses.py", "costs/_distributions.py", "core/score_table.py"} <= set(opened)
    assert len(opened) <= files_to_open.JOBS["bounded Brier loss"][2]


def test_too_many_files_end_in_a_failure_that_names_the_job(monkeypatch, capsys):
    ready, job, _ = files_to_open.JOBS["bounded Brier loss"]
    monkeypatch.setattr(files_to_open, "JOBS", {"loss": (ready, job, 1)})
    assert files_to_open.main([]) == 1
    assert capsys.readouterr().out.split()[0] == "loss"


def test_a_job_that_fails_is_no_count(tmp_path, monkeypatch):
    monkeypatch.setattr(files_to_open, "JOBS", {"loss": ("", "raise SystemExit(3)", 1)})
    with pytest.raises(RuntimeError, match="loss failed"):
        files_to_open.files_of("loss", tmp_path)
