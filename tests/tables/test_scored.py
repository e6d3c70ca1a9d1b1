"""Files without labels, read whole and written again with new columns."""

import numpy as np
import pytest

from stakes.tables import DataError, read_scores

pl = pytest.importorskip("polars")


def test_quoted_line_ends_and_separators_survive(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text('p,note\n0.1,"two\nlines, and ""quotes"""\n\n0.2,\n', encoding="utf-8")
    scored = read_scores(path, models=["p"])
    assert scored.scores[0].tolist() == [0.1, 0.2]
    scored.write(tmp_path / "o.csv", {"new": np.array([1, 0])})
    written = pl.read_csv(tmp_path / "o.csv")
    assert written["note"].to_list() == ['two\nlines, and "quotes"', None]
    assert written["new"].to_list() == [1, 0]


def test_other_line_ends_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(b"\xef\xbb\xbfp;q\r\n0.1;x\r\n0.2;y\r\n")
    scored = read_scores(path, models=["p"], groups=["q"])
    assert (scored.names, scored.groups["q"].tolist()) == (["p", "q"], ["x", "y"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_groups_keep_their_kind(kind, tmp_path):
    frame = pl.DataFrame({"p": [0.1, 0.2, 0.3], "n": [10, 9, None], "s": ["a", None, "b"]})
    path = tmp_path / f"p.{kind}"
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[kind](path)
    scored = read_scores(path, models=["p"], groups=["n", "s"], on_missing="drop")
    assert (scored.groups["n"].tolist(), scored.groups["s"].tolist()) == ([10], ["a"])
    assert (scored.rows.tolist(), scored.n_dropped) == ([0], 2)


def test_missing_groups_of_a_csv_file_may_be_spelled_out(tmp_path):
    (tmp_path / "p.csv").write_text("p,g\n0.1,NA\n0.2,7\n0.3,null\n", encoding="utf-8")
    scored = read_scores(tmp_path / "p.csv", models=["p"], groups=["g"], on_missing="drop")
    assert (scored.groups["g"].tolist(), scored.rows.tolist()) == ([7], [1])


def test_arrow_stream_and_broken_files(tmp_path):
    frame = pl.DataFrame({"p": [0.1, 0.2]})
    frame.write_ipc_stream(tmp_path / "p.arrow")
    assert read_scores(tmp_path / "p.arrow", models=["p"]).scores[0].tolist() == [0.1, 0.2]
    (tmp_path / "b.parquet").write_bytes(b"PAR1 is all there is")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_scores(tmp_path / "b.parquet", models=["p"])


def test_one_column_has_one_role(tmp_path):
    pl.DataFrame({"p": [0.1]}).write_csv(tmp_path / "p.csv")
    for options in ({"models": ["p", "p"]}, {"models": ["p"], "groups": ["p"]}):
        with pytest.raises(DataError, match="column 'p': must be named once"):
            read_scores(tmp_path / "p.csv", **options)


def test_score_out_of_range_is_named_by_its_row_in_the_file(tmp_path):
    (tmp_path / "p.csv").write_text("p\nNA\n0.1\n7\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"column 'p', row 3 \(line 4\): must lie in \[0, 1\], got 7.0"):
        read_scores(tmp_path / "p.csv", models=["p"], on_missing="drop")
