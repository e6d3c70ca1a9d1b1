"""What every public name takes, and its defaults, of which a list is kept.

``python -m tests.signatures`` writes the list anew; what then differs from the last commit was changed.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import stakes

KEPT = Path(__file__).with_name("signatures.txt")
LONGEST = 80


def signatures():
    """Return a line for each public function, class and method of the package, in order, under its own name."""
    names = [room.name for room in pkgutil.iter_modules(stakes.__path__) if not room.name.startswith("_")]
    rooms = [stakes, *(importlib.import_module(f"stakes.{name}") for name in names)]
    found = set()
    for room in rooms:
        for each in (getattr(room, name) for name in getattr(room, "__all__", [])):
            methods = [value for name, value in inspect.getmembers(each, inspect.isroutine) if not name.startswith("_")]
            of_class = methods if inspect.isclass(each) else []
            found |= {line_of(value) for value in (each, *of_class) if callable(value) and is_ours(value)}
    return sorted(found)


def is_ours(value):
    warned = inspect.isclass(value) and issubclass(value, Exception)  # takes what Exception does
    return not warned and str(getattr(inspect.unwrap(value), "__module__", "")).startswith("stakes.")


def line_of(value):
    named = inspect.unwrap(getattr(value, "__func__", value))
    name = getattr(named, "__qualname__", type(named).__qualname__)
    return f"{'.'.join(named.__module__.split('.')[:2])}.{name}{takes(value)}"


def takes(value):
    """Return parameters and defaults as they are written, without types; of a long table its kind."""
    signature = inspect.signature(value)
    shown = []
    for each in signature.parameters.values():
        default = type(each.default) if len(repr(each.default)) > LONGEST else each.default
        shown.append(each.replace(annotation=each.empty, default=default))
    text = str(signature.replace(parameters=shown, return_annotation=signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


if __name__ == "__main__":
    KEPT.write_text("\n".join(signatures()) + "\n", encoding="utf-8")
