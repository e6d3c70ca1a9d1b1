"""``stakes watch``: has the cost risen since a model was taken into use? The group, and the file of its state."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from stakes.cli.console import UsageError
from stakes.cli.program import Group
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from stakes.monitoring import CostMonitors

FORMAT = "stakes-watch-1"
_KEPT_FILES = 730
_DAY = re.compile(r"(?:^|[/\\])day=([^/\\*?\[\]]+)")
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_ABOUT = "Has the cost risen since a model was taken into use? Evidence that is valid at every look."


class _Watch(Group):
    about: ClassVar = {
        "start": ("watch_run", "Begin to watch the models of a kept evaluation: its cost becomes the budget."),
        "add": ("watch_run", "Take in the files of further days; the exit code is 4 from an alarm on."),
        "show": ("watch_run", "Say what is known: the running cost, its limits, the evidence, what changed."),
        "plan": ("watch_run", "Say how many days a rise of the cost would take to be seen."),
    }


GROUP = _Watch(name="watch", help=_ABOUT, rich_markup_mode=None)

StateFile = Annotated[
    str, typer.Option("--state", metavar="STATE.json", help="The file that holds what is known.", show_default=False)
]
Tolerance = Annotated[
    str,
    typer.Option(
        "--tolerance", metavar="SHARE", help="How much dearer than the reference the model may become: 0.1 is a tenth."
    ),
]
Alpha = Annotated[
    str, typer.Option("--alpha", metavar="SHARE", help="Probability of ever raising a false alarm, of all together.")
]


@dataclass(frozen=True)
class State:
    """The monitors, the column of labels that every file must have, and the digests of the files by their days."""

    watch: "CostMonitors"
    label: str
    files: dict[str, list[str]] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return everything as JSON; of the files, those of the latest days."""
        files = dict(list(self.files.items())[-_KEPT_FILES:])
        content = {"format": FORMAT, "label": self.label, "files": files, "watch": self.watch._content()}
        return json.dumps(content) + "\n"

    @classmethod
    def read(cls, path: str) -> "State":
        """Read the state that an earlier run left."""
        from stakes.monitoring import CostMonitors
        from stakes.outputs.serialization import JsonReader
        from stakes.tables import DataError

        try:
            entries = JsonReader.read(Path(path).read_text(encoding="utf-8"), "state", FORMAT)
            watch = CostMonitors._from_entries(entries.inside("watch", form="stakes-cost-monitors-1"))
            files = entries.at("files")
            if not isinstance(files, dict) or not all(_is_list_of_texts(each) for each in files.values()):
                raise entries.broken("files", "lists of digests by day")
            return cls(watch, entries.text("label"), files)
        except FileNotFoundError:
            raise UsageError(
                f"--state {name(path, 200)!r}: there is no such file; stakes watch start makes it"
            ) from None
        except ValueError as error:
            reason = str(error).removesuffix(".")
            raise DataError(f"is no state of `stakes watch`: {reason}", file=path) from None


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def day_of(file: str, stated: str | None) -> int | str:
    """Return the day of a file: what is stated, its folder day=..., or the only date in its name."""
    found = {stated} if stated is not None else set(_DAY.findall(file)) or set(_DATE.findall(file))
    if len(found) != 1:
        many = "names several days" if found else "names no day"
        raise UsageError(f"{name(file, 200)!r} {many}: give --day, or a name with one date such as day=2026-11-23")
    day = found.pop()
    return int(day) if day.isdecimal() else day


def digest_of(file: str) -> str:
    """Tell a file, or those of a pattern, by their bytes."""
    import glob

    from stakes.tables import file_digest

    found = [file] if Path(file).exists() else sorted(glob.glob(file, recursive=True))  # noqa: PTH207  (of any root)
    each = "".join(sorted(map(file_digest, found or [file])))
    return hashlib.sha256(each.encode()).hexdigest()[:16]
