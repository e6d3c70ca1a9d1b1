"""Draw the figures of the pages into a folder: `python docs/figures.py FOLDER`; the site does so when it is built.

A page shows `_static/figures/PAGE_1.png`, `PAGE_2.png` and so on. Each is the picture that the last code block above it
left open; the examples of a page are run in their order, in one namespace, up to its last figure.
"""

import doctest
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
BLOCK_OR_FIGURE = re.compile(
    r"^```python\n(?P<code>.*?)^```$|_static/figures/(?P<name>\w+)\.png", re.MULTILINE | re.DOTALL
)
DOTS_PER_INCH = 110


def pages():
    """Return the pages that show figures."""
    return [path for path in sorted(HERE.glob("*.md")) if "_static/figures/" in path.read_text(encoding="utf-8")]


def draw(page):
    """Run the examples of a page and yield the name of each of its figures with the figure."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    found = list(BLOCK_OR_FIGURE.finditer(page.read_text(encoding="utf-8")))
    last = max(number for number, each in enumerate(found) if each["name"])
    namespace = {}
    for each in found[: last + 1]:
        if each["name"]:
            yield each["name"], plt.gcf()
            plt.close("all")
            continue
        source = "".join(example.source for example in doctest.DocTestParser().get_examples(each["code"]))
        exec(compile(source, str(page), "exec"), namespace)  # noqa: S102  (the examples of our own page)


def write(folder):
    """Draw all figures of all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages():
        for name, figure in draw(page):
            figure.savefig(folder / f"{name}.png", dpi=DOTS_PER_INCH, bbox_inches="tight")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
