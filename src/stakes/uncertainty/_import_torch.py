"""PyTorch where it is used, or an error that says how to install it."""

from __future__ import annotations

from typing import Any


def import_torch(purpose: str) -> Any:
    """The library, imported when it is first needed."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{purpose} needs PyTorch: pip install 'stakes[torch]'") from error
    return torch
