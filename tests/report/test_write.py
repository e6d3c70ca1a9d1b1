"""The file is there whole or not at all."""

from __future__ import annotations

import os

import pytest

from stakes.report import _report as _write, write_report


@pytest.fixture
def quick(monkeypatch):
    """Write a short page: what is on it does not matter here."""
    monkeypatch.setattr(_write, "render_report", lambda evaluation, *, title: f"<p>{evaluation} {title}</p>")


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.usefixtures("quick")
def test_file_is_written_and_returned(tmp_path):
    path = write_report("page", str(tmp_path / "report.html"), title="é")
    assert path == tmp_path / "report.html"
    assert path.read_bytes() == "<p>page é</p>".encode()
    assert names_in(tmp_path) == ["report.html"]


@pytest.mark.usefixtures("quick")
def test_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "other").write_text("")
    written = write_report("page", tmp_path / "report.html")
    assert written.stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.usefixtures("quick")
def test_link_keeps_pointing_to_the_file(tmp_path):
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    write_report("page", tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert "page" in (tmp_path / "real.html").read_text()


@pytest.mark.parametrize("trouble", [ValueError, KeyboardInterrupt])
def test_trouble_while_rendering_leaves_the_old_file(tmp_path, monkeypatch, trouble):
    def fail(*_args, **_options):
        raise trouble

    monkeypatch.setattr(_write, "render_report", fail)
    target = tmp_path / "report.html"
    target.write_text("old")
    with pytest.raises(trouble):
        write_report("page", target)
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["report.html"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("trouble", [OSError("disk full"), KeyboardInterrupt()])
def test_trouble_while_writing_leaves_the_old_file(tmp_path, monkeypatch, trouble):
    def fail(_descriptor):
        raise trouble

    monkeypatch.setattr(os, "fsync", fail)
    target = tmp_path / "report.html"
    target.write_text("old")
    with pytest.raises(type(trouble)):
        write_report("page", target)
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["report.html"]


def test_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must name the file to write, got the folder"):
        write_report("page", tmp_path)


def test_device_is_refused():
    with pytest.raises(ValueError, match="must name an ordinary file"):
        write_report("page", os.devnull)


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must lie in a folder that exists.*there is no .*absent"):
        write_report("page", tmp_path / "absent" / "report.html")
