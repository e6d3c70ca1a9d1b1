"""Rules about the source as a whole: layers, cheap imports, documentation, sizes, no local paths."""

from __future__ import annotations

import ast
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

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "stakes"
SOURCES = {path.relative_to(PACKAGE.parent).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

# From the bottom up: a room may import its own layer and those before it.
LAYERS = {
    "core": ["costs", "score_table", "tables"],  # and every private module, such as _validation
    "methods": [
        "boundary",
        "correction",
        "curves",
        "decomposition",
        "inference",
        "metrics",
        "training",
        "uncertainty",
        "utility",
    ],
    "answers": ["evaluation"],
    "faces": ["cli", "display", "report"],
}
ORDER = {name: height for height, name in enumerate([*LAYERS, "the package"])}
LAZY_HOOK = "_faces"
MAX_CODE_LINES = 400

# Slow or optional, so `import stakes` must not load them.
LAZY_LIBRARIES = [
    *["sklearn", "scipy.special", "scipy.stats", "pandas", "polars", "pyarrow", "duckdb", "dask", "pyspark"],
    *["matplotlib", "plotly", "typer", "rich", "torch", "keras", "lightning", "xgboost", "lightgbm"],
]


def room_of(module):
    """Return the part of a dotted name that the layers speak of: `stakes.costs._base` is in `costs`."""
    return module.split(".")[1] if "." in module else ""


def layer_of(module):
    room = room_of(module)
    if room in {"", "__main__"}:
        return "the package"
    if room.startswith("_"):
        return "core"
    layer = next((name for name, rooms in LAYERS.items() if room in rooms), None)
    assert layer is not None, f"{module} is in no layer: name its room in LAYERS."
    return layer


def module_name(relative):
    parts = relative.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(module, source, *, is_package, known):
    """Yield (line, stakes module) for every import, at any depth of the code, by statement or by string."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parts, base] if base else parts)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                names.append(inner if inner in known else base)
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        for name in names:
            if name == "stakes" or name.startswith("stakes."):
                yield node.lineno, name


def upward_imports(relative, source, known):
    module = module_name(relative)
    if layer_of(module) == "the package" or room_of(module) == LAZY_HOOK:
        return []
    found = imported_modules(module, source, is_package=relative.endswith("/__init__.py"), known=known)
    return [
        f"{relative}:{line}: {layer_of(module)} imports {name} of {layer_of(name)}"
        for line, name in found
        if ORDER[layer_of(name)] > ORDER[layer_of(module)]
    ]


def code_lines(source):
    """Count the lines that hold code: no blank line, comment or docstring."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
        if token.type not in layout | {tokenize.ENDMARKER}:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        is_string = isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
        if is_string and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


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


PUBLIC = dict(public_objects())


@pytest.mark.parametrize("relative", SOURCES)
def test_module_imports_only_its_layer_and_those_below(relative):
    known = {module_name(other) for other in SOURCES}
    assert not upward_imports(relative, SOURCES[relative].read_text(encoding="utf-8"), known)


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
    assert upward_imports("stakes/_faces.py", source, known) == []
    downward = source.replace("report", "costs").replace("evaluate", "costs")
    if downward != "import stakes":
        assert upward_imports("stakes/curves.py", downward, known) == []


def test_lazy_hook_reaches_up_only_inside_functions():
    path = PACKAGE / f"{LAZY_HOOK}.py"
    if not path.exists():
        pytest.skip("there is no lazy hook yet.")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    known = {module_name(other) for other in SOURCES}
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found = imported_modules(f"stakes.{LAZY_HOOK}", ast.unparse(node), is_package=False, known=known)
            assert all(layer_of(name) == "core" for _, name in found), ast.unparse(node)


def test_import_loads_no_slow_or_optional_library():
    code = f"import stakes, sys; print([name for name in {LAZY_LIBRARIES!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_documented_with_an_example(name):
    item = PUBLIC[name]
    text = inspect.getdoc(item) or ""
    sections = re.findall(r"^([A-Z][A-Za-z ]+)\n-+$", text, flags=re.MULTILINE)
    needed = ["Parameters", "Returns", "Examples"] if inspect.isroutine(item) else ["Examples"]
    if inspect.isroutine(item) and not inspect.signature(item).parameters:
        needed.remove("Parameters")
    assert [section for section in needed if section not in sections] == [], name
    assert ">>> " in text, name


@pytest.mark.parametrize("relative", SOURCES)
def test_module_is_short_enough_to_hold_one_idea(relative):
    assert code_lines(SOURCES[relative].read_text(encoding="utf-8")) <= MAX_CODE_LINES


def test_only_code_counts_as_code_lines():
    source = '"""Docstring,\n\ntwo lines."""\n\n# comment\nx = [\n    1,  # one\n\n    2,\n]\n'
    assert code_lines(source) == 4


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
