"""The house as its imports make it: rooms, layers, who imports whom, and where that runs upwards or in a circle."""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "stakes"
SOURCES = {path.relative_to(PACKAGE.parent).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

# From the bottom up: a room may import its own layer and those before it.
LAYERS = {
    "base": ["base", "outputs", "_version"],
    "inputs": ["costs", "outcomes", "uncertainty"],
    "data": ["tables", "boundary"],
    "core": ["core"],
    "measures": ["metrics", "curves", "variance"],
    "methods": ["inference", "information", "correction", "utility", "training"],
    "actions": ["actions"],
    "answers": ["evaluation", "monitoring"],
    "faces": ["cli", "report", "display", "_load"],
}
THE_PACKAGE = "the package"
ORDER = {name: height for height, name in enumerate([*LAYERS, THE_PACKAGE])}


def room_of(module):
    """Return the part of a dotted name that the layers speak of: `stakes.costs._base` is in `costs`."""
    return module.split(".")[1] if "." in module else ""


def layer_of(module):
    room = room_of(module)
    if room in {"", "__main__"}:
        return THE_PACKAGE
    layer = next((name for name, rooms in LAYERS.items() if room in rooms), None)
    assert layer is not None, f"{module} is in no layer: name its room in LAYERS."
    return layer


def module_name(relative):
    parts = relative.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes(source):
    """Return every node of a file, parsed once for all rules."""
    return tuple(ast.walk(ast.parse(source)))


@cache
def importing(source):
    """Return the nodes of a file that may import."""
    return tuple(node for node in nodes(source) if isinstance(node, (ast.Import, ast.ImportFrom, ast.Call)))


def imported_modules(module, source, *, is_package, known):
    """Yield (line, stakes module) for every import, at any depth of the code, by statement or by string."""
    for node in importing(source):
        for name in _named(node, module, is_package=is_package, known=known):
            if name == "stakes" or name.startswith("stakes."):
                yield node.lineno, name


def _named(node, module, *, is_package, known):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parts = module.split(".")
            parts = parts[: len(parts) - node.level + is_package]
            base = ".".join([*parts, base] if base else parts)
        inner = [f"{base}.{alias.name}" for alias in node.names]
        return [name if name in known else base for name in inner]
    if isinstance(node, ast.Call) and "import" in _dotted(node.func):
        return [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return []


def _dotted(node):
    """Return the dotted name of what is called, as far as it is one."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def upward_imports(relative, source, known):
    """List the imports of a file that climb to a higher layer."""
    module = module_name(relative)
    if layer_of(module) == THE_PACKAGE:
        return []
    found = imported_modules(module, source, is_package=relative.endswith("/__init__.py"), known=known)
    return [
        f"{relative}:{line}: {layer_of(module)} imports {name} of {layer_of(name)}"
        for line, name in found
        if ORDER[layer_of(name)] > ORDER[layer_of(module)]
    ]


def import_graph(sources):
    """Map every module to the modules that it imports, wherever in its code; ``sources`` maps files to texts."""
    known = {module_name(relative) for relative in sources}
    graph = {}
    for relative, text in sources.items():
        module = module_name(relative)
        found = imported_modules(module, text, is_package=relative.endswith("/__init__.py"), known=known)
        graph[module] = {name for _, name in found if name in known and name != module}
    return graph


def circles(graph):
    """List the groups of modules that import each other in a circle (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            at = stack.index(module)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return sorted(found)


def read_sources():
    return {relative: path.read_text(encoding="utf-8") for relative, path in SOURCES.items()}


def private_imports(relative, source):
    """List the names with a leading underscore that a file takes from another room's files."""
    module = module_name(relative)
    return [
        f"{relative}:{node.lineno}: {alias.name} of {node.module}"
        for node in importing(source)
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "stakes"
        for alias in node.names
        if _is_private(alias.name) and room_of(node.module) not in {room_of(module), ""}
    ]


def inner_imports(relative, source):
    """List the files inside another room, ``_file``, whose names a file imports past that room's ``__init__``."""
    module = module_name(relative)
    found = imported_modules(module, source, is_package=relative.endswith("/__init__.py"), known=())
    return sorted(
        {
            f"{room_of(module) or 'stakes'} < {name}"
            for _, name in found
            if room_of(name) != room_of(module) and any(map(_is_private, name.split(".")[2:]))
        }
    )


def _is_private(name):
    return name.startswith("_") and not name.startswith("__")
