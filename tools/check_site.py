"""Is the built site whole? ``python -m tools.check_site build/site``: links, distance from the first page, consoles.

With ``STAKES_AXE=axe.min.js`` axe-core looks at the main pages too.
"""

import json
import os
import shutil
import sys
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

MAIN = [
    *("index", "start", "questions", "ideas", "howto", "ecosystem", "auto_gallery/index", "guides", "reference"),
    *("errata", "comparison", "conformance", "replications", "reliability", "glossary"),
    *("records/replications", "records/benchmarks"),
]
MOST_CLICKS = 2
NOT_READ = {"genindex.html", "search.html", "py-modindex.html"}
GRAVE = ("serious", "critical")
# All rules, in two calls, as one takes half a minute on a page of long tables; nothing is asked about what passes.
CONTRAST = "color-contrast"
AXE = [
    f"axe.run(document, {{resultTypes: ['violations'], {rules}}})"
    ".then(found => JSON.stringify(found.violations.map(r => [r.id, r.impact, r.nodes[0].html])))"
    for rules in (f"rules: {{'{CONTRAST}': {{enabled: false}}}}", f"runOnly: ['{CONTRAST}']")
]
STILL = """document.head.append(Object.assign(
    document.createElement("style"), {textContent: "* { transition: none !important }"}))"""


class Links(HTMLParser):
    """What a page links to, shows and can be linked to at."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.anchors.update(filter(None, (known.get("id"), known.get("name") if tag == "a" else None)))
        if link := known.get("href") if tag == "a" else known.get("src"):
            self.targets.append((tag, link))


def read_pages(site):
    return {page: Links(page) for page in sorted(site.rglob("*.html")) if "_static" not in page.parts}


def local(page, link):
    """Return the file and the anchor that a link leads to, or None if it leaves the site."""
    address, anchor = urldefrag(link)
    address = address.partition("?")[0]
    if ":" in address.split("/")[0]:
        return None
    return ((page.parent / unquote(address)).resolve() if address else page), unquote(anchor)


def broken_links(pages):
    found = []
    for page, links in pages.items():
        for _, link in links.targets:
            end = local(page, link)
            if end is None or page.name in NOT_READ:
                continue
            file, anchor = end
            if not file.exists():
                found.append(f"{page.name}: {link} leads nowhere")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                found.append(f"{page.name}: {link} has no such place")
    return found


def far_pages(site, pages):
    """List the pages that take more clicks from the first page than a reader has patience for."""
    first = (site / "index.html").resolve()
    reached, edge = {first}, {first}
    for _ in range(MOST_CLICKS):
        ends = {local(page, link) for page in edge for tag, link in pages[page].targets if tag == "a"}
        edge = {end[0] for end in ends if end and end[0] in pages} - reached
        reached |= edge
    return [page.name for page in pages if page not in reached and page.name not in NOT_READ]


@contextmanager
def started_browser():
    """Yield a browser, which is closed at the end."""
    from tests.report.chromium import Chromium

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("the check of the site needs Chromium: install the package chromium.")
    browser = Chromium(program)
    try:
        yield browser
    finally:
        browser.close()


def complaining_pages(site):
    """List what the main pages and their scripts write to the browser's console as errors and warnings."""
    found = []
    with started_browser() as browser:
        for name in MAIN:
            if (page := (site / f"{name}.html").resolve()).exists():
                browser.open(page)
                found += [f"{name}: the console says {words}" for words in browser.complaints() if not far_away(words)]
    return found


def far_away(words):
    """Whether what is complained of is that the network was not there."""
    return "net::ERR_" in words and "net::ERR_FILE_NOT_FOUND" not in words


def hard_to_use(site, axe):
    """List what axe-core finds grave on the main pages, wide and narrow, light and dark."""
    found = []
    with started_browser() as browser:
        for name in MAIN:
            for width, scheme in ((1280, "light"), (390, "dark")):
                browser.open((site / f"{name}.html").resolve(), width=width, scheme=scheme)
                browser.run(STILL)
                browser.run("document.querySelectorAll('iframe').forEach(frame => frame.remove())")  # has its own test
                browser.run(axe + "; 0")
                violations = [v for rules in AXE for v in json.loads(browser.run(rules))]
                found += [f"{name} ({width} px, {scheme}): {v}" for v in violations if v[1] in GRAVE]
                if browser.run("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"):
                    found.append(f"{name} ({width} px): wider than the window")
    return found


def main(folder):
    site = Path(folder).resolve()
    pages = read_pages(site)
    found = broken_links(pages) + [f"{name}: more than {MOST_CLICKS} clicks" for name in far_pages(site, pages)]
    found += complaining_pages(site)
    if axe := os.environ.get("STAKES_AXE"):
        found += hard_to_use(site, Path(axe).read_text(encoding="utf-8"))
    print(f"{len(pages)} pages, {len(found)} problems", *found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
