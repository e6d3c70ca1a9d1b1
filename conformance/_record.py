"""Write the values of a package, one line for each question; runs in the package's own environment."""

import json
from importlib.metadata import version as version_of
from pathlib import Path

import numpy as np

VALUES = Path(__file__).parent / "values"
# at most so many points of one curve: a finer grid would only repeat them
THRESHOLDS = [round(0.03 * k, 2) for k in range(1, 31)]
# between scores: what a tie counts as is a convention
BETWEEN = [cut + 1e-9 for cut in THRESHOLDS[:20]]
DAY = "2026-11-26"


class Record:
    """Values of one package, with where they come from."""

    def __init__(self, package, *, version=None, source="computed", language="Python", file=None):
        self.head = {
            "package": package,
            "version": version or version_of(package),
            "language": language,
            "source": source,
            "written": DAY,
        }
        self.name = file or package.lower()
        self.cases = []

    def add(self, function, data, question, values, /, *, arguments=None, tolerance=1e-10, **options):
        """Add the values of one call, and the question to stakes that they answer; a value that is none is an error."""
        found = [float(value) for value in np.ravel(values)]
        if not found:
            raise ValueError(f"{function} on {data} gave no value.")
        self.cases.append(
            {
                "function": function,
                **({"arguments": arguments} if arguments else {}),
                "input": data,
                "question": question,
                **({"options": options} if options else {}),
                "tolerance": tolerance,
                "values": found,
            }
        )

    def write(self):
        """Write the file, and say how many values are in it."""
        VALUES.mkdir(exist_ok=True)
        lines = ",\n".join("  " + json.dumps(case) for case in self.cases)
        head = json.dumps(self.head)[:-1]
        path = VALUES / f"{self.name}.json"
        path.write_text(f'{head}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")
        json.loads(path.read_text(encoding="utf-8"))
        print(f"{path.name}: {sum(len(case['values']) for case in self.cases)} values in {len(self.cases)} cases")
