"""Print the oldest supported version of each core dependency, as requirements for pip.

Extras named on the command line add theirs: `python .ci/minimum_versions.py cli plot`.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
LOWER_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<version>[0-9.]+)")


def minimum_versions(project: dict, extras: list[str]) -> list[str]:
    requirements = list(project["dependencies"])
    for extra in extras:
        requirements += project["optional-dependencies"][extra]
    pins = set()
    for requirement in requirements:
        bound = LOWER_BOUND.fullmatch(requirement)
        if bound is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} must have the form name>=version.")
        pins.add(f"{bound['name']}=={bound['version']}")
    return sorted(pins)


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(minimum_versions(project, sys.argv[1:])))
