"""Imports of libraries that need not be installed."""

from importlib import import_module
from typing import Any


def import_optional(name: str, remedy: str) -> Any:
    """Import a module, or raise an error that says what needs it and how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(remedy) from error
