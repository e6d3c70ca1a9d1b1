"""Small changes to the code, each of which a test must notice: ``python -m tests.mutants --module costs --sample 40``.

A change swaps a comparison, an operator, `and` with `or`, a sign or a truth value, or moves a number. It is made
in memory, in a process of its own that runs the tests of the room until the first fails. Texts of errors and
annotations are left alone. The same sample and seed give the same
changes.
"""

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "stakes"
# the files of a room, and the tests that are asked, the quickest first
ROOMS = {
    "costs": (["costs/*.py"], ["tests/costs"]),
    "score_table": (
        ["core/score_table.py", "core/table_parts.py", "core/pav.py", "core/recalibration.py", "core/sums.py"],
        ["tests/core", "tests/test_decomposition.py", "tests/inference/test_calibration.py", "tests/correction"],
    ),
    "regret": (
        ["core/regret.py"],
        ["tests/core/test_regret.py", "tests/metrics/test_reference.py", "tests/metrics/test_common.py"],
    ),
    "decomposition": (["decomposition.py"], ["tests/test_decomposition.py", "tests/test_invariants.py"]),
    "correction": (
        ["correction/_weights.py", "correction/_shift.py", "correction/_statistics.py"],
        ["tests/correction"],
    ),
    "utility": (["utility/_fbeta.py", "utility/_exact.py", "utility/_linear.py"], ["tests/utility"]),
    "boundary": (
        ["boundary/_exact.py", "boundary/_knapsack_core.py", "boundary/_rules.py"],
        ["tests/boundary/test_choice.py", "tests/boundary/test_exact.py", "tests/boundary/test_fit.py"],
    ),
    "inference": (
        ["inference/_loss_moments.py", "inference/_moments.py", "inference/_student.py"],
        [
            *(f"tests/inference/test_{name}.py" for name in ("student", "one_pass", "intervals", "many_models")),
            *(f"tests/inference/test_{name}.py" for name in ("metric_interval", "pair_sums", "selection_rows")),
            *(f"tests/evaluation/test_{name}.py" for name in ("groups", "dependence", "tables", "true_answers")),
        ],
    ),
    "outcomes": (["outcomes/_censoring.py", "outcomes/_row_costs.py", "outcomes/_events.py"], ["tests/outcomes"]),
    "actions": (["actions/_pair.py", "actions/_zone.py", "actions/_dominance.py"], ["tests/actions"]),
    "files": (
        ["tables/_csv.py", "tables/_text.py", "tables/_content.py", "shown/files.py"],
        ["tests/tables", "tests/shown"],
    ),
}
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARISONS |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
OPERATORS |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult}


class _Places(ast.NodeVisitor):
    """Every place of a tree that can be changed, in order."""

    def __init__(self):
        self.found = []

    def visit(self, node):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)):
            return
        if changed(node) is not None:
            self.found.append(node)
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)


def changed(node):
    """Return what stands in the place of a node, or None where nothing does."""
    new = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_text(node):
        new.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        new = new.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        new.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        new.value = node.value + 1 if isinstance(node.value, int) else node.value * 1.5 + (node.value == 0.0)
    else:
        return None
    return new


def _is_text(node):
    return any(
        isinstance(each, (ast.JoinedStr, ast.Constant)) and not isinstance(getattr(each, "value", ""), (int, float))
        for each in ast.walk(node)
    )


class _Replace(ast.NodeTransformer):
    def __init__(self, node):
        self.node = node

    def visit(self, node):
        return changed(node) if node is self.node else self.generic_visit(node)


def mutants(path):
    """Yield each change of a file: its line, what stood there, what stands there now, and the code."""
    text = path.read_text(encoding="utf-8")
    for index in range(len(_places(ast.parse(text)))):
        tree = ast.parse(text)
        node = _places(tree)[index]
        was, now = ast.unparse(node), ast.unparse(changed(node))
        code = ast.fix_missing_locations(_Replace(node).visit(tree))
        yield node.lineno, was, now, code


def _places(tree):
    visitor = _Places()
    visitor.visit(tree)
    return visitor.found


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module its changed code."""

    def __init__(self, name, path, tree):
        self.name, self.path, self.code = name, path, compile(tree, str(path), "exec")

    def find_spec(self, name, _path=None, _target=None):
        if name != self.name:
            return None
        where = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=where)

    def exec_module(self, module):
        exec(self.code, module.__dict__)  # noqa: S102  (it is our own)


def survives(path, tree, tests, seconds):
    """Run the tests against a change in a process of its own; say whether none of them noticed."""
    child = os.fork()
    if child == 0:
        _run_tests(path, tree, tests)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False  # without end: a test would have waited


def _run_tests(path, tree, tests):
    import pytest

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    code = 2
    with contextlib.suppress(BaseException):
        if tree is not None:
            name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
            sys.meta_path.insert(0, _Loader(name, path, tree))
        options = ["-n", "0", "-x", "-q", "-p", "no:cacheprovider", "-m", "not simulation"]
        options += [
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
        ]  # for what was imported before the processes part
        code = int(pytest.main([*options, *tests]))
    os._exit(code)


def examine(room, sample, seed, seconds, places):
    """Try a sample of the changes of a room, or those of some lines; return how many were tried, and which survived."""
    patterns, tests = ROOMS[room]
    paths = sorted(path for pattern in patterns for path in SOURCE.glob(pattern) if path.name != "__init__.py")
    every = [
        (path, index) for path in paths for index in range(len(_places(ast.parse(path.read_text(encoding="utf-8")))))
    ]
    if places:
        at = {(path, index): line for path in paths for index, (line, *_) in enumerate(mutants(path))}
        every = [each for each in every if f"{each[0].relative_to(SOURCE)}:{at[each]}" in places]
    tried = every if sample is None else random.Random(seed).sample(every, min(sample, len(every)))  # noqa: S311
    if not survives(paths[0], None, tests, 10 * seconds):
        sys.exit(f"{room}: the tests fail as the code stands")
    left = []
    for path, index in sorted(tried):
        line, was, now, tree = next(each for at, each in enumerate(mutants(path)) if at == index)
        if survives(path, tree, tests, seconds):
            left.append(f"{path.relative_to(SOURCE)}:{line}: {was}  ->  {now}")
            sys.stdout.write(f"survived {left[-1]}\n")
            sys.stdout.flush()
    return len(tried), len(every), left


def run(argv=None):
    """Read the command line, try the changes, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--sample", type=int, help="how many changes of each; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300.0, help="after which a change counts as noticed")
    parser.add_argument("--at", nargs="+", metavar="FILE:LINE", help="only the changes of these lines")
    asked = parser.parse_args(argv)
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    os.environ.setdefault("STAKES_EXAMPLES", "few")
    for name in ("numpy", "scipy.stats", "scipy.special", "hypothesis.strategies", "pytest"):  # once, for all processes
        importlib.import_module(name)
    for room in asked.module:
        tried, every, left = examine(room, asked.sample, asked.seed, asked.seconds, asked.at)
        killed = tried - len(left)
        sys.stdout.write(f"{room:14} {every:5} changes, {tried:4} tried, {killed:4} noticed ({killed / tried:.1%})\n")
        sys.stdout.flush()


if __name__ == "__main__":
    run()
