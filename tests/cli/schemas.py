"""JSON schemas of what commands print with ``--json``, made from what they print on small data with each option.

``python -m tests.cli.schemas`` writes `docs/_static/schemas` anew. An entry that a command prints without its schema
naming it fails each test that sees it: the fixture ``cli`` holds every JSON that commands print against its schema.
"""

import contextlib
import csv
import io
import json
import os
import tempfile
from pathlib import Path

from stakes.cli import main
from tests.cli import kept_commands

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "_static" / "schemas"
# Entries whose keys are names of the data (models, columns, classes), or differ with what was found or asked.
NAMED = {"by_action", "by_class", "group", "harm", "over_fees", "taken", "tests"}
NAMED_OF = {"correct": {"columns"}, "update": {"models"}}
# Commands with answers of several kinds: the entry by which each is known.
KINDS = {
    "compare": ["records", "horizons", "changes"],
    "decide": ["measure", "deferral", "false_positive"],
    "evaluate": ["ranking", "records", "horizons", "by_class"],
}
OPEN = {"costs", "evidence"}
# Undefined numbers, such as the AUC of one class, are null, and infinite ones texts, since JSON has neither.
INFINITE = ["inf", "-inf"]
DEFINED = {"number": {"anyOf": [{"type": ["number", "null"]}, {"enum": INFINITE}]}}
NUMBER = {"$ref": "#/$defs/number"}
OUTCOME = "--label ill --models sharp,coarse --costs 0.05:0.4"
BOUNDARY = "rows.csv --label ill --score sharp --uncertainty doubt"
FURTHER = [
    f"evaluate rows.csv {OUTCOME} --keep kept.json",
    f"evaluate few.csv {OUTCOME} --keep few.json",
    f"evaluate rows.csv {OUTCOME} --groups ward --keep wards.json",
    f"evaluate few.csv {OUTCOME} --groups ward --keep few_wards.json",
    "evaluate rows.csv --models sharp,coarse --time time --event event --horizon 1,1.5 --costs 0.05:0.4",
    "evaluate rows.csv --models sharp,coarse --unlabelled --costs 0.05:0.4 --groups ward",
    "evaluate rows.csv --label ill --models sharp --costs 0.05:0.4 --clusters owner --groups ward",
    "evaluate rows.csv --label ill --models sharp --false-positive-cost fp --false-negative-cost 9 --groups ward",
    "compare rows.csv --models sharp,coarse --time time --event event --horizon 1,1.5 --costs 0.05:0.4",
    "compare rows.csv --label ill --models sharp,coarse --false-positive-cost fp --false-negative-cost fn",
    "compare kept.json few.json",
    "compare wards.json few_wards.json",
    "check rows.csv --models sharp,coarse --time time --event event --horizon 1.5 --costs 0.05:0.4",
    f"check few.csv {OUTCOME} --against kept.json",
    f"check few.csv {OUTCOME} --rule 0.3",
    f"boundary fit {BOUNDARY} --min-precision 0.4",
    f"boundary fit {BOUNDARY} --min-precision 0.4 --weight weight -o fitted.json",
    f"boundary certify {BOUNDARY} --min-precision 0.2 --confidence-level 0.8 -o boundary.json",
    f"boundary certify {BOUNDARY} --min-precision 0.999",
    "boundary apply boundary.json rows.csv",
    "boundary apply fitted.json rows.csv -o applied.csv",
    "boundary monitor boundary.json rows.csv --state state.json",
    "boundary monitor boundary.json few.csv --state state.json",
    "boundary monitor boundary.json rows.csv few.csv",
    "watch start wards.json --label ill --tolerance 0.1 --state wards_watch.json",
    "watch show --state wards_watch.json",
    "watch start kept.json --label ill --tolerance 0.1 --state watch.json",
    "watch start kept.json --label ill --tolerance 0.1 --state dated.json",
    "watch show --state watch.json",
    "watch add few.csv --day 1 --state watch.json",
    "watch show --state watch.json",
    "watch add rows.csv --day 2026-11-23 --state dated.json",
    "watch show --state dated.json",
    "plan gain --prevalence 0.1 --sensitivity 0.7 --specificity 0.8 --threshold 0.1 --power 0.8",
    "watch plan kept.json --rows-per-day 20",
    "correct rows.csv --models sharp --class-weights 0:1,1:4 --label ill",
    "update rows.csv --label ill --models inner,coarse --method isotonic",
    "decide rows.csv --models sharp,coarse --measure f1 --groups owner",
    "decide rows.csv --models sharp --costs 0.2 --deferral 0.02",
    "decide rows.csv --models sharp --false-positive-cost 4.5 --false-negative-cost fn",
    "decide rows.csv --models sharp --false-positive-cost fp --false-negative-cost 9.5",
]


def printed(folder):
    """Run the commands in a folder: what those with JSON print, one after another."""
    kept_commands.write_rows(folder)
    with (Path(folder) / "rows.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    with (Path(folder) / "few.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows[1::2]])
    for command in [*kept_commands.COMMANDS, *FURTHER]:
        asked = [] if command.startswith("watch start") else ["--json"]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*command.split(), *asked])
        if code not in {0, 4}:
            raise RuntimeError(f"{command}: exit code {code}, {err.getvalue()}")
        if asked:
            yield json.loads(out.getvalue())


def schemas():
    """Return the schema of each format."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for page in printed(folder):
            found.setdefault(page["format"], []).append(page)
    return {form: schema(form, pages) for form, pages in sorted(found.items())}


def schema(form, pages):
    command = form.removeprefix("stakes-").removesuffix("-output-1")
    named, found = NAMED | NAMED_OF.get(command, set()), []
    for key in KINDS.get(command, ["format"]):
        found.append(merged([page for page in pages if key in page], named))
        found[-1]["properties"]["format"] = {"const": form}
    whole = found[0] if len(found) == 1 else {"anyOf": found}
    title = f"What `stakes {command.replace('-', ' ')} --json` prints"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **whole, "$defs": DEFINED}


def merged(values, named, key=None):
    """Describe all values of an entry at once: their kinds, and what objects and lists hold."""
    kinds = {kind(value) for value in values}
    if kinds == {"null"}:
        return {}
    finite = {kind(value) for value in values if value not in INFINITE}
    if finite <= {"number", "integer", "null"} and (finite != kinds or "number" in kinds):
        return NUMBER
    found = {"type": kinds.pop() if len(kinds) == 1 else sorted(kinds)}
    lists = [item for value in values if isinstance(value, list) for item in value]
    if lists:
        found["items"] = merged(lists, named)
    objects = [value for value in values if isinstance(value, dict)]
    if objects and key in OPEN:
        return found
    if objects and key in named:
        inner = [item for each in objects for item in each.values()]
        found["additionalProperties"] = merged(inner, named) if inner else True
    elif objects:
        names = list(dict.fromkeys(name for each in objects for name in each))
        found["properties"] = {
            name: merged([each[name] for each in objects if name in each], named, name) for name in names
        }
        found["required"] = [name for name in names if all(name in each for each in objects)]
        found["additionalProperties"] = False
    return found


def kind(value):
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "null")


def problems(value, schema, place=""):
    """Yield what a value breaks of a schema, of whose words those stand here that `schema` writes."""
    if "anyOf" in schema:
        yield from min((list(problems(value, each)) for each in schema["anyOf"]), key=len)
        return
    found = kind(value)
    if "const" in schema:
        allowed = [found] if value == schema["const"] else [schema["const"]]
    elif schema == NUMBER:
        allowed = [found] if value in INFINITE else ["number", "integer", "null"]
    else:
        allowed = schema.get("type", found)
    if found not in allowed and not (found == "integer" and "number" in allowed):
        yield f"{place} is of kind {found}, not {allowed}"
    if isinstance(value, list) and "items" in schema:
        for item in value:
            yield from problems(item, schema["items"], f"{place}[]")
    if isinstance(value, dict):
        yield from problems_inside(value, schema, place)


def problems_inside(value, schema, place):
    """Yield what the entries of an object break."""
    yield from (f"{place}.{name} is absent" for name in schema.get("required", []) if name not in value)
    known, other = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, item in value.items():
        inside = known.get(name, other)
        if inside is False:
            yield f"{place}.{name} is in no schema"
        elif inside is not True:
            yield from problems(item, inside, f"{place}.{name}")


def check(text):
    """Raise where JSON that a command printed is not what its schema says."""
    page = json.loads(text)
    path = FOLDER / f"{page['format']}.json"
    broken = sorted(set(problems(page, json.loads(path.read_text(encoding="utf-8")))))
    assert not broken, f"{path.name}: {broken}; python -m tests.cli.schemas writes the schemas anew"


def text_of(schema):
    return json.dumps(schema, indent=1) + "\n"


def write():
    """Write the schema of every format."""
    os.environ.pop("COLUMNS", None)
    FOLDER.mkdir(exist_ok=True)
    found = schemas()
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for form, each in found.items():
        (FOLDER / f"{form}.json").write_text(text_of(each), encoding="utf-8")


if __name__ == "__main__":
    write()
