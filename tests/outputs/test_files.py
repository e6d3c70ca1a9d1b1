"""A file is the old or the new one, with the permissions it had, and nothing is left beside it."""

import os
import stat
import threading

import pytest

from stakes import ScoreTable, actions, boundary, evaluate, outcomes, utility
from stakes.outputs.files import beside, is_partial, replacing


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")

    def stopped_halfway():
        with replacing(target) as partial:
            partial.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stopped_halfway()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("report.html", "old")]


@pytest.mark.skipif(os.name == "nt", reason="Windows opens no folder")
def test_file_and_then_its_folder_are_written_to_the_disk(tmp_path, monkeypatch):
    written, fsync = [], os.fsync

    def noted(handle):
        written.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    with replacing(tmp_path / "a.txt") as partial:
        partial.write_text("new")
    assert written == ["file", "folder"]


def test_names_of_files_that_are_being_written_are_known(tmp_path):
    for name in ("a.csv", "a", "a.tar.gz", ".hidden"):
        assert is_partial(beside(tmp_path / name).name)
        assert not is_partial(name)
    assert not any(
        map(is_partial, [".stakes-0123456789abcde", "x.stakes-0123456789abcdef", ".stakes-0123456789abcdefg"])
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_permissions_of_the_replaced_file_stay(tmp_path):
    target = tmp_path / "secret.html"
    target.write_text("old")
    target.chmod(0o600)
    with replacing(target) as partial:
        partial.write_text("new")
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o600)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.txt", tmp_path / "a.txt"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as partial:
        partial.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_writers_at_the_same_time_never_mix(tmp_path):
    target = tmp_path / "a.txt"
    barrier = threading.Barrier(8)

    def write(text):
        with replacing(target) as partial:
            partial.write_text(text[:5000])
            barrier.wait()
            with partial.open("a") as file:
                file.write(text[5000:])

    writers = [threading.Thread(target=write, args=(str(i) * 10_000,)) for i in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    content = target.read_text()
    assert len(content) == 10_000
    assert len(set(content)) == 1
    assert len(list(tmp_path.iterdir())) == 1


RESULTS = {
    "table": lambda: ScoreTable.from_predictions([0, 1], [0.1, 0.8]),
    "evaluation": lambda: evaluate([0, 1] * 20, [0.1, 0.8] * 20, costs=0.2),
    "pair of thresholds": lambda: actions.fit_deferral([0, 1], [0.1, 0.8], costs=0.5, deferral=0.1),
    "threshold": lambda: utility.population_threshold([0, 1], [0.2, 0.6], "f1", n_resamples=0),
    "rows": lambda: outcomes.decide_rows([0.5, 0.1], false_positive=5, false_negative=9),
    "boundary": lambda: boundary.fit_boundary([0, 1], [0.2, 0.7], [1, 2], capacity=1),
}
ASKED = {("rows", "to_sql"): ("p", 5, 9), ("boundary", "to_sql"): ("p", "u")}


@pytest.mark.parametrize("form", ["to_json", "to_markdown", "to_latex", "to_html", "to_parquet", "to_sql"])
@pytest.mark.parametrize("name", RESULTS)
def test_every_export_returns_what_it_writes(name, form, tmp_path):
    result = RESULTS[name]()
    if not hasattr(result, form):
        pytest.skip("no such form")
    if form == "to_parquet":
        pytest.importorskip("pyarrow")
    asked = ASKED.get((name, form), ("p",) if form == "to_sql" else ())
    path = tmp_path / ("a.html" if form == "to_html" else "a.txt")
    returned, written = getattr(result, form)(*asked), getattr(result, form)(*asked, path=path)
    assert returned == written
    assert path.read_bytes() == (written if isinstance(written, bytes) else written.encode())


NEEDED = {"to_parquet": "pyarrow", "to_word": "docx"}
FORMS = ["to_json", "to_markdown", "to_latex", "to_html", "to_word", "to_parquet", "to_sql"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_path_that_cannot_be_written_is_named_and_nothing_is_written(name, form, tmp_path):
    result = RESULTS[name]()
    if not hasattr(result, form):
        pytest.skip("no such form")
    if form in NEEDED:
        pytest.importorskip(NEEDED[form])
    asked = ASKED.get((name, form), ("p",) if form == "to_sql" else ())
    ending = "html" if form == "to_html" else "txt"
    missing, folder = tmp_path / "none" / f"a.{ending}", tmp_path / f"folder.{ending}"
    folder.mkdir()
    with pytest.raises(
        FileNotFoundError, match=r"^path must lie in a folder that exists, got .*none.*: there is no "
    ) as none:
        getattr(result, form)(*asked, path=missing)
    with pytest.raises(ValueError, match=r"^path must name the file to write, got the folder ") as over:
        getattr(result, form)(*asked, path=folder)
    assert (str(missing) in str(none.value), str(folder) in str(over.value)) == (True, True)
    assert [(file.name, file.is_dir()) for file in tmp_path.iterdir()] == [(folder.name, True)]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_or_a_folder_without_permission_is_named(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"^path must name an ordinary file, got .*pipe"):
        RESULTS["table"]().to_json(tmp_path / "pipe")
    monkeypatch.setattr(os, "access", lambda path, mode: (str(path), mode) != (str(tmp_path), os.W_OK))
    with pytest.raises(PermissionError, match=r"^path must lie in a folder that can be written to, got .*a\.txt"):
        RESULTS["table"]().to_json(tmp_path / "a.txt")
