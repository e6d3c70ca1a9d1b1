"""Results of long runs, kept setting by setting: what is there is not worked out again."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


def kept(
    path: Path, settings: Iterable[tuple[Any, ...]], work: Callable[..., dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the record of each setting, from the file where it is there; a new one is added to the file at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {tuple(record["setting"]): record for record in map(json.loads, lines)}
    for setting in settings:
        if setting not in known:
            start = time.process_time()
            record = {"setting": list(setting), **work(*setting), "cpu": time.process_time() - start}
            lines.append(json.dumps(record))
            beside = path.with_suffix(".new")
            beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
            beside.replace(path)
            known[setting] = json.loads(lines[-1])  # as it will be read again
        yield known[setting]


def markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spent(records: Iterable[dict[str, Any]]) -> str:
    """How long the settings took, whenever they were worked out."""
    records = list(records)
    return f"{len(records)} settings, {sum(record['cpu'] for record in records):.0f} CPU seconds"
