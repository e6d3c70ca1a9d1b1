"""What docs/reliability.md and SECURITY.md say is held by tests that exist."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test_that_exists():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and line.endswith("` |")]
    assert len(rows) > 25
    for row in rows:
        path, name = re.search(r"`(tests/[\w/]+\.py)::(\w+)` \|$", row).groups()
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, row


def test_every_table_of_promises_names_a_test_in_each_row():
    promises = PAGE.partition("## How it was tried")[0]
    rows = [line for line in promises.splitlines() if line.startswith("| ") and "---" not in line]
    assert [row for row in rows if "`tests/" not in row and row != "| promise | held by |"] == []


def test_nothing_that_is_read_is_run():
    modules, calls = (
        {"pickle", "marshal", "shelve", "subprocess", "joblib", "dill"},
        {"eval", "exec", "system", "popen"},
    )
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {each.name for each in node.names} | {getattr(node, "module", None) or ""}
                assert not {name.partition(".")[0] for name in names} & modules, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in calls, f"{path}:{node.lineno}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in calls - {"eval"}, f"{path}:{node.lineno}"  # .eval() of PyTorch is a switch
                reader = ast.unparse(node.func) if node.func.attr == "load" else ""
                words = {word.arg: ast.unparse(word.value) for word in node.keywords}
                if reader == "_torch_that_reads().load":  # refuses versions whose weights_only=True runs code
                    assert words["weights_only"] == "True", path
                assert reader not in {"torch.load", "_torch().load"}, path
                assert all(word.arg != "allow_pickle" for word in node.keywords), path


@pytest.mark.thorough
def test_number_of_threads_changes_nothing_in_what_a_file_answers(tmp_path):
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(7)
    n = 40_000
    risk = rng.beta(1, 3, n)
    # more scores than rows of a block, weights that round: any other order of a sum would show
    columns = {"a": risk, "b": np.clip(risk + 0.1 * rng.normal(size=n), 0, 1), "w": rng.gamma(2.0, size=n)}
    polars.DataFrame({"y": rng.random(n) < risk, **columns}).write_parquet(tmp_path / "rows.parquet")
    command = [sys.executable, "-m", "stakes", "evaluate", "rows.parquet", "--label", "y", "--models", "a,b"]
    command += ["--weight", "w", "--costs", "0.1:0.4"]
    answers = []
    for threads in ("1", "4"):
        names = [f"{who}_NUM_THREADS" for who in ("OMP", "OPENBLAS", "MKL")]
        given = os.environ | dict.fromkeys([*names, "POLARS_MAX_THREADS"], threads)
        file = tmp_path / f"{threads}.json"
        subprocess.run([*command, "-o", file], cwd=tmp_path, env=given, capture_output=True, check=True)
        answers.append(file.read_bytes())
    assert answers[0] == answers[1]
    assert b'"rows": 40000' in answers[0]
