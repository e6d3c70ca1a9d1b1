"""One small change to a file of the source: its place, its code, and how it gets into a process that runs tests."""

import ast
import builtins
import copy
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import types
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "stakes"
ALIKE = Path(__file__).with_name("mutants_alike.txt")
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARISONS |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
OPERATORS |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """A change: what stood there, what stands there now, and the statement as it now reads."""

    path: Path
    index: int
    was: str
    now: str
    statement: str
    line: int

    @classmethod
    def at_place(cls, path, index):
        """Return the change of a file at the place of that number."""
        return _mutant(path, index, *_places_of(path)[index])

    @property
    def at(self):
        return f"{self.path.relative_to(SOURCE)}:{self.line}"

    @property
    def alike(self):
        """Whether the change is listed as one that means the same."""
        return (str(self.path.relative_to(SOURCE)), self.statement) in _alike()

    def __str__(self):
        return f"{self.at}: {self.was}  ->  {self.now}   | {self.statement}"

    def tree(self, *, watched=False):
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node, _ = _places(tree)[self.index]
        marks = _marks(tree) if watched else {}  # before the change, which may be a statement's very value
        return ast.fix_missing_locations(_Mark(marks, self.path).visit(_Replace(node).visit(tree)))

    @functools.cached_property
    def mark(self):
        """The mark of the innermost statement or lambda of a function that holds the place; None outside of any."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node, _ = _places(tree)[self.index]
        holding = [at for each, at in _marks(tree).items() if any(inner is node for inner in ast.walk(each))]
        return (str(self.path), max(holding)) if holding else None

    @functools.cached_property
    def within(self):
        """The names of the functions and classes that hold the place."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node, _ = _places(tree)[self.index]
        kinds = (ast.FunctionDef, ast.ClassDef)
        return [e.name for e in ast.walk(tree) if isinstance(e, kinds) and any(i is node for i in ast.walk(e))]

    @functools.cached_property
    def using(self):
        """The marks where a change outside of any function may show: in the function of a default, beside a name."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        _, statement = _places(tree)[self.index]
        marks = _marks(tree)
        if isinstance(statement, ast.FunctionDef):
            return {(str(self.path), marks[each]) for each in ast.walk(statement) if each in marks}
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = {each.id for target in targets if target for each in ast.walk(target) if isinstance(each, ast.Name)}
        return {place for name in names for place in _naming(name)}


@functools.cache
def _alike():
    lines = [line for line in ALIKE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {tuple(part.strip() for part in line.split("  |  ")[:2]) for line in lines}


class _Places(ast.NodeVisitor):
    """Every place of a tree that can be changed, in order, each with its statement."""

    def __init__(self):
        self.found, self.statement = [], None

    def visit(self, node):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)):
            return
        if isinstance(node, ast.keyword) and node.arg == "strict":  # it asserts what is so
            return
        outer = self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        if changed(node) is not None:
            self.found.append((node, self.statement))
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)
        self.statement = outer


def changed(node):
    """Return what stands in the place of a node, or None where nothing does."""
    if not isinstance(node, (ast.Compare, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Constant)):
        return None
    new = copy.copy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new.ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
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
    """Return each change of a file, in order."""
    return [_mutant(path, index, *place) for index, place in enumerate(_places_of(path))]


def count(path):
    """How many changes a file has."""
    return len(_places_of(path))


@functools.cache
def _places_of(path):
    return _places(ast.parse(path.read_text(encoding="utf-8")))


def _mutant(path, index, node, statement):
    new, head, was = changed(node), _head(statement), ast.unparse(node)
    kind, fields = node.__class__, vars(node).copy()
    node.__class__ = new.__class__  # for a moment, in place of a copy of the statement
    vars(node).clear()
    vars(node).update(vars(new))
    text = ast.unparse(head).splitlines()
    node.__class__ = kind
    vars(node).clear()
    vars(node).update(fields)
    now = ast.unparse(new)
    return Mutant(path, index, was, now, text[0] if head is not statement else " ".join(text), node.lineno)


def _head(statement):
    """Return a statement without its body and branches, of which no line is shown."""
    if not hasattr(statement, "body"):
        return statement
    head = copy.copy(statement)
    head.body = [ast.Pass()]
    for branch in {"orelse", "handlers", "finalbody"}.intersection(head._fields):
        setattr(head, branch, [])
    return head


def _places(tree):
    visitor = _Places()
    visitor.visit(tree)
    return visitor.found


class _Marks(ast.NodeVisitor):
    """A number for each statement of a function, outer before inner, and for each lambda."""

    def __init__(self):
        self.found, self.inside = {}, False

    def visit(self, node):
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(node, ast.Lambda) or (self.inside and isinstance(node, ast.stmt) and not _is_first(node)):
            self.found[node] = len(self.found)
        outer = self.inside
        for name, value in ast.iter_fields(node):
            self.inside = (outer or (is_function and name == "body")) and not isinstance(node, ast.ClassDef)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)
        self.inside = outer


def _is_first(node):
    """Whether a statement has to stand first, or says nothing."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, (ast.Global, ast.Nonlocal))


def _marks(tree):
    visitor = _Marks()
    visitor.visit(tree)
    return visitor.found


class _Mark(ast.NodeTransformer):
    """Puts a call before each marked statement that says it was reached."""

    def __init__(self, marks, path):
        self.marks, self.path = marks, str(path)

    def visit(self, node):
        at = self.marks.get(node)
        node = self.generic_visit(node)
        if at is None:
            return node
        place = ast.Constant((self.path, at))
        call = ast.Call(ast.Name("_stakes_reached", ast.Load()), [place], [])
        if isinstance(node, ast.Lambda):
            node.body = ast.BoolOp(ast.Or(), [call, node.body])
            return node
        return [ast.copy_location(ast.Expr(call), node), node]


@functools.cache
def _naming(name):
    """Return the marks of all statements, of all files, that name something."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if name in text:
            for node, at in _marks(ast.parse(text)).items():
                if any(name in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in ast.walk(node)):
                    found.add((str(path), at))
    return found


class _Watching(importlib.machinery.SourceFileLoader):
    """Gives a module of the library with its marks."""

    def get_code(self, name):
        return compile(_watched(Path(self.path)), self.get_filename(name), "exec")


def _watched(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return ast.fix_missing_locations(_Mark(_marks(tree), path).visit(tree))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != SOURCE.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin and Path(spec.origin).is_relative_to(SOURCE):
            spec.loader = _Watching(name, spec.origin)
        return spec


def watch():
    """Have this process say which statements of functions it reaches; return the set that they are put into."""
    reached = set()
    builtins._stakes_reached = reached.add
    sys.meta_path.insert(0, _Finder())
    return reached


def put_in_place(mutant):
    """Give the functions of this process the code of a change; False where no function has it."""
    found = changing(mutant, functions())
    put(found)
    return bool(found)


def put(changes):
    """Give functions their new code."""
    for function, code in changes:
        function.__code__ = code


def functions():
    """Return the functions of the library that live in this process, by file."""
    gc.unfreeze()  # some library freezes what is there when it is imported
    found = {}
    for each in gc.get_objects():
        if type(each) is types.FunctionType:
            found.setdefault(each.__code__.co_filename, []).append(each)
    return found


def changing(mutant, living, *, watched=False):
    """Return the functions that a change is in, each with its new code."""
    tree = _watched(mutant.path) if watched else ast.parse(mutant.path.read_text(encoding="utf-8"))
    old = compile(tree, str(mutant.path), "exec")
    new = compile(mutant.tree(watched=watched), str(mutant.path), "exec")
    pairs, found = {}, []
    if _differing(old, new, pairs):
        for function in living.get(str(mutant.path), []):
            code = function.__code__
            changed_code = pairs.get((code.co_qualname, code.co_firstlineno, code.co_code))
            if changed_code is not None:
                found.append((function, changed_code))
    return found


def _differing(old, new, pairs):
    """Collect the functions whose code differs; False where a module or a class differs outside of its functions."""
    if old == new:
        return True
    if old.co_flags & inspect.CO_OPTIMIZED:
        pairs[old.co_qualname, old.co_firstlineno, old.co_code] = new
        # a function inside another may live already
        for mine, theirs in zip(*(_inner(code) for code in (old, new)), strict=True):
            _differing(mine, theirs, pairs)
        return True
    plain = [[each for each in code.co_consts if not isinstance(each, types.CodeType)] for code in (old, new)]
    if (old.co_code, repr(plain[0])) != (new.co_code, repr(plain[1])):
        return False
    found = [_differing(*pair, pairs) for pair in zip(_inner(old), _inner(new), strict=True)]
    return all(found)


def _inner(code):
    return [each for each in code.co_consts if isinstance(each, types.CodeType)]


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


def start_with(mutant):
    """Have this process, which has not imported the file yet, import the change."""
    name = ".".join(mutant.path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    sys.meta_path.insert(0, _Loader(name, mutant.path, mutant.tree()))
