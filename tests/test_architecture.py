"""Rules about the source as a whole: layers, cheap imports, documentation, sizes, no local paths."""

from __future__ import annotations

import ast
import collections
import functools
import gc
import inspect
import io
import re
import shutil
import subprocess
import sys
import tokenize
import types
from pathlib import Path

import pytest

import stakes
from tools.imports import (
    SOURCES,
    circles,
    import_graph,
    importing,
    inner_imports,
    module_name,
    nodes,
    private_imports,
    read_sources,
    upward_imports,
)
from tools.layers import PICTURE, draw

ROOT = Path(__file__).resolve().parents[1]
MAX_CODE_LINES = 700
MAX_FUNCTION_LINES = 35  # of the body: twenty arguments by name are no idea of their own
MAX_NAMES_AT_THE_TOP = 45

# Slow or optional, so `import stakes` must not load them.
LAZY_LIBRARIES = [
    *["sklearn", "scipy.special", "scipy.stats", "pandas", "polars", "pyarrow", "duckdb", "dask", "pyspark"],
    *["matplotlib", "plotly", "click", "rich", "torch", "keras", "lightning", "xgboost", "lightgbm"],
]


@pytest.fixture(scope="module", autouse=True)
def forget():
    """Let go of the trees of all files in the end: whatever runs after would carry them along.

    Until then nothing of them is garbage, and to look for it takes three times as long as to parse.
    """
    gc.disable()
    yield
    gc.enable()
    nodes.cache_clear()
    importing.cache_clear()
    code_lines.cache_clear()


@functools.cache
def code_lines(source):
    """Return the numbers of the lines that hold code: no blank line, comment or docstring."""
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in nodes(source):
        is_string = isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
        if is_string and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return frozenset(lines)


def too_long(source):
    """List the functions whose bodies have more code lines than one can take in at a glance."""
    lines = code_lines(source)
    functions = [node for node in nodes(source) if isinstance(node, ast.FunctionDef)]
    sizes = [(f.name, len(lines.intersection(range(f.body[0].lineno, f.end_lineno + 1)))) for f in functions]
    return [f"{name}: {size}" for name, size in sizes if size > MAX_FUNCTION_LINES]


def public_objects():
    """Yield (dotted name, object) for everything public, inside public modules too."""
    rooms = [("stakes", stakes)]
    for prefix, room in rooms:
        for name in room.__all__:
            item = getattr(room, name)
            if isinstance(item, types.ModuleType):
                rooms.append((f"{prefix}.{name}", item))
            elif callable(item):
                yield f"{prefix}.{name}", item


def test_modules_import_only_their_layer_and_those_below():
    known = {module_name(other) for other in SOURCES}
    assert [found for name, text in read_sources().items() for found in upward_imports(name, text, known)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import stakes.report",
        "from stakes import report",
        "from stakes.report import write",
        "from . import report",
        "from .report import write",
        "def late():\n    from .report import write",
        "import importlib\nimportlib.import_module('stakes.report')",
        "from stakes import evaluate",
        "import stakes",
    ],
)
def test_every_form_of_upward_import_is_seen(source):
    known = {"stakes", "stakes.report", "stakes.costs", "stakes.curves"}
    assert len(upward_imports("stakes/curves.py", source, known)) == 1
    downward = source.replace("report", "costs").replace("evaluate", "costs")
    if downward != "import stakes":
        assert upward_imports("stakes/curves.py", downward, known) == []


def test_no_two_files_import_each_other():
    assert circles(import_graph(read_sources())) == []


@pytest.mark.parametrize(
    "back",
    [
        "import stakes.a._one",
        "from stakes.a import _one",
        "from ._one import f",
        "def late():\n    from stakes.a._one import f",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from stakes.a._one import F",
        "from stakes.a import F",
    ],
)
def test_every_form_of_circle_is_seen(back):
    sources = {
        "stakes/a/__init__.py": "from stakes.a._one import f",
        "stakes/a/_one.py": "from stakes.a._two import g",
        "stakes/a/_two.py": "x = 1",
    }
    assert circles(import_graph(sources)) == []
    (found,) = circles(import_graph({**sources, "stakes/a/_two.py": back}))
    assert {"stakes.a._one", "stakes.a._two"} <= set(found)


def test_picture_of_the_layers_is_that_of_the_imports():
    assert PICTURE.read_text(encoding="utf-8") == draw(import_graph(read_sources())), "run python -m tools.layers"


def test_no_private_name_leaves_its_room():
    assert [found for relative, text in read_sources().items() for found in private_imports(relative, text)] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from stakes.costs._base import _check", 1),
        ("def late():\n    from stakes.costs._base import _check as check", 1),
        ("from stakes.costs import _base", 1),
        ("from stakes.costs._base import check", 0),
        ("from stakes.curves._curve import _important", 0),
        ("from stakes.costs import __doc__", 0),
    ],
)
def test_private_names_of_other_rooms_are_seen(source, expected):
    assert len(private_imports("stakes/curves/_roc.py", source)) == expected


def test_no_file_is_read_past_the_front_of_its_room():
    assert [found for relative, text in read_sources().items() for found in inner_imports(relative, text)] == []


def test_imports_past_the_front_of_a_room_are_seen():
    here = "stakes/curves/_roc.py"
    assert inner_imports(here, "from stakes.costs._base import a, b") == ["curves < stakes.costs._base"]
    for harmless in ("from stakes.costs import Beta", "from stakes.curves._curve import Curve", "import stakes.core"):
        assert inner_imports(here, harmless) == []


def classes_defined_twice(sources):
    """List the names of classes that more than one file defines at its top level."""
    homes = collections.defaultdict(list)
    for relative, text in sources.items():
        for node in nodes(text)[0].body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(relative)
    return sorted(name for name, files in homes.items() if len(files) > 1)


def test_a_class_name_means_one_class():
    assert classes_defined_twice(read_sources()) == []


def test_a_class_defined_twice_is_seen():
    assert classes_defined_twice({"a.py": "class Sums: pass", "b.py": "class Sums: pass\nclass Other: pass"}) == [
        "Sums"
    ]


def hidden_arguments(files):
    """Calls of ``locals()``, which pass arguments on unseen by readers, type checkers and editors."""
    return [
        f"{path}:{node.lineno}"
        for path, source in files.items()
        for node in nodes(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "locals"
    ]


def test_arguments_are_passed_on_by_name():
    assert hidden_arguments(read_sources()) == []


def test_arguments_passed_on_unseen_are_found():
    assert hidden_arguments({"a.py": "def f(x):\n    return g(**locals())\n"}) == ["a.py:2"]


def test_import_loads_no_slow_or_optional_library():
    code = f"import stakes, sys; print([name for name in {LAZY_LIBRARIES!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


def test_narwhals_is_loaded_with_the_first_data_frame():
    code = """
import stakes.evaluation, stakes.tables, sys
print("narwhals" in sys.modules)
stakes.tables.as_lazy({"a": [1]})
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "False\n"
    assert "must be a data frame, got dict" in run.stderr


def test_evaluation_loads_no_slow_part_of_scipy():
    slow = ["scipy.stats", "scipy.optimize", "scipy.integrate", "sklearn"]
    code = f"""
import stakes, sys
stakes.evaluate([0, 1, 0, 1] * 30, {{"a": [0.1, 0.8, 0.3, 0.6] * 30}}, costs=(0.1, 0.4)).answer.sentences
print([name for name in {slow!r} if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_import_of_the_package_loads_no_room_until_a_name_is_asked_for():
    code = """
import sys, stakes
rooms = lambda: sorted({name.split(".")[1] for name in sys.modules if name.startswith("stakes.")})
print(rooms(), "numpy" in sys.modules)
stakes.costs
print("costs" in rooms(), "evaluation" in rooms())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["['_version', 'outputs'] False", "True False"]


def test_every_name_of_the_package_can_be_had_and_an_unknown_one_is_refused():
    code = "from stakes import *; import stakes; print(dir(stakes) == stakes.__all__ == sorted(stakes.__all__))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"
    for name in stakes.__all__:
        assert getattr(stakes, name) is not None
    with pytest.raises(AttributeError, match="module 'stakes' has no attribute 'evalaute'"):
        stakes.evalaute  # noqa: B018


def test_faces_arrive_when_the_first_result_is_shown():
    pytest.importorskip("matplotlib")
    code = """
import sys
from stakes.curves import roc_curve
curve = roc_curve([0, 1], [0.2, 0.8])
print("stakes.display" in sys.modules)
curve.plot()
print("stakes.display" in sys.modules, "stakes.report" in sys.modules)
from stakes.outputs.hooks import draw
try:
    draw(3)
except TypeError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["False", "True False", "no display is registered for int."]


def missing_sections(item):
    """List what the docstring of a public object lacks."""
    text = inspect.getdoc(item) or ""
    sections = re.findall(r"^([A-Z][A-Za-z ]+)\n-+$", text, flags=re.MULTILINE)
    needed = ["Parameters", "Returns", "Examples"] if inspect.isroutine(item) else ["Examples"]
    if inspect.isroutine(item) and not inspect.signature(item).parameters:
        needed.remove("Parameters")
    return [section for section in needed if section not in sections] + ([] if ">>> " in text else ["an example"])


def test_every_public_name_is_documented_with_an_example():
    assert {name: missing for name, item in public_objects() if (missing := missing_sections(item))} == {}


def test_modules_and_functions_are_short_enough_to_hold_one_idea():
    sources = read_sources()
    assert {name: size for name, text in sources.items() if (size := len(code_lines(text))) > MAX_CODE_LINES} == {}
    assert {name: found for name, text in sources.items() if (found := too_long(text))} == {}


def test_a_function_that_is_too_long_is_seen():
    body = "\n    # a remark\n    x = 1" * MAX_FUNCTION_LINES
    assert too_long(f"def f():{body}\n    y = 2\n") == [f"f: {MAX_FUNCTION_LINES + 1}"]
    assert too_long(f'def f(\n    a,\n    b,\n):\n    """Say."""{body}\n') == []


def test_only_code_counts_as_code_lines():
    source = '"""Docstring,\n\ntwo lines."""\n\n# comment\nx = [\n    1,  # one\n\n    2,\n]\n'
    assert len(code_lines(source)) == 4


def test_the_top_offers_few_names_and_shows_no_other():
    assert len(stakes.__all__) <= MAX_NAMES_AT_THE_TOP
    assert dir(stakes) == stakes.__all__


def local_paths(text):
    return re.findall(r"(?<![\w./~:-])/(?:work|tmp|root|home|opt|Users)/[\w.-]+", text)


def test_local_paths_are_recognised():
    # Written with another slash, so that this file does not hold what it forbids.
    assert local_paths("read '|home|ann|x.csv'".replace("|", "/"))
    assert not local_paths("https:||example.org|home|index.html, src|work|x and .|tmp|x".replace("|", "/"))


def test_no_tracked_file_names_a_local_path():
    git = shutil.which("git") or pytest.skip("needs git to know which files belong to the project.")
    listing = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("needs the git repository to know which files belong to the project.")
    offending = []
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            offending += [f"{name}: {found}" for found in local_paths(text)]
    assert offending == []
