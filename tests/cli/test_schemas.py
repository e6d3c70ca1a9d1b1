"""Every JSON that a command prints names its format, of which there is a schema that is true of it."""

import json
import re

import numpy as np
import pytest

from tests.cli import schemas
from tests.cli.conftest import write_csv

for library in ("click", "rich", "polars"):
    pytest.importorskip(library)

RANGE = ["--label", "cancer", "--costs", "0.05:0.3", "--models", "sharp,blurred"]
PUBLISHED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in schemas.FOLDER.glob("*.json")}


def commands_with_json():
    from stakes.cli.program import PROGRAM

    return {name.replace(".", "-") for name, options in PROGRAM.options_of_all().items() if "json" in options}


def test_every_command_with_json_has_a_schema():
    assert set(PUBLISHED) == {f"stakes-{name}-output-1" for name in commands_with_json()}
    for form, schema in PUBLISHED.items():
        for each in schema.get("anyOf", [schema]):
            assert each["properties"]["format"] == {"const": form}
            assert "format" in each["required"]
            assert not each["additionalProperties"]


@pytest.mark.parametrize(("command", "entry"), [("evaluate", "scale"), ("compare", "records"), ("check", "source")])
def test_an_entry_that_no_schema_names_is_seen(cli, data, command, entry):
    page = json.loads(cli(command, data, *RANGE, "--json").out)
    assert next(iter(page)) == "format"
    schemas.check(json.dumps(page))
    for broken, message in [
        (page | {"more": 1}, ".more is in no schema"),
        ({name: value for name, value in page.items() if name != entry}, f".{entry} is absent"),
        (page | {entry: True}, f".{entry} is of kind boolean"),
    ]:
        with pytest.raises(AssertionError, match=re.escape(message)):
            schemas.check(json.dumps(broken))


def test_a_file_of_json_is_what_is_printed(cli, data, folder):
    printed = cli("compare", data, *RANGE, "--json").out
    assert cli("compare", data, *RANGE, "-o", "compared.json").code == 0
    assert (folder / "compared.json").read_text(encoding="utf-8") == printed


def test_names_and_rows_of_other_data_keep_to_the_schemas(cli, tmp_path):
    rng = np.random.default_rng(1)
    hostile = ["format", "records", "x y"]
    columns = {"required": [0, 1] * 100, "a": ["inf", "inf", "true", "true"] * 50} | {
        name: rng.random(200).round(2).tolist() for name in hostile
    }
    path = write_csv(tmp_path / "odd.csv", columns)
    for command in ("evaluate", "check"):
        asked = [path, "--label", "required", "--costs", "0.1", "--groups", "a", "--models", "format,records,x y"]
        found = cli(command, *asked, "--json", *(["--fail-on", "none"] * (command == "check")))
        assert found.code == 0, found.err
        assert json.loads(found.out)["data"]["rows"] == 200


def test_schemas_are_such(cli, data):
    library = pytest.importorskip("jsonschema")
    page = json.loads(cli("evaluate", data, *RANGE, "--json").out)
    for schema in PUBLISHED.values():
        library.Draft202012Validator.check_schema(schema)
    library.validate(page, PUBLISHED["stakes-evaluate-output-1"])
    with pytest.raises(library.ValidationError):
        library.validate(page | {"more": 1}, PUBLISHED["stakes-evaluate-output-1"])


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_schemas_are_those_of_what_commands_print_today():
    found = schemas.schemas()
    assert set(found) == set(PUBLISHED)
    for form, schema in found.items():
        assert (schemas.FOLDER / f"{form}.json").read_text(encoding="utf-8") == schemas.text_of(schema), (
            "run python -m tests.cli.schemas"
        )
