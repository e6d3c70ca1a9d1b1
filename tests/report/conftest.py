"""Evaluations to report, pages read as a tree, and the browser that opens them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from stakes import evaluate
from stakes.report import render_report
from tests.report.chromium import Chromium
from tests.report.pages import Page
from tests.report.reader import Report

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    '<b>bold</b> & <a href="javascript:alert(2)">link</a>&lt;',
    "\u202egnp.exe\u2066",
    "x" * 10_000,
    "x" * 9_999 + "y",
    "' onmouseover='alert(3)\" \u2028 %{x} ${title}",
    "<!--<script>",
    "",
    "\ud800 a lone surrogate",
    "مرحبا",
    "</title><script>alert(4)</script>",
    "line\nbreak\x00null",
]


def simulated(names, *, n=400, seed=0):
    """Return labels and one noisy probability for each name."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(1.2, 4.0, size=n)
    y = rng.random(n) < risk
    scores = {name: np.clip(risk + (0.03 + 0.02 * k) * rng.normal(size=n), 0, 1) for k, name in enumerate(names)}
    return y, scores


@pytest.fixture(scope="session")
def example():
    """Return an evaluation of three models of different worth."""
    return evaluate(*simulated(["plain", "noisier", "noisiest"]), costs=(0.1, 0.3))


@pytest.fixture(scope="session")
def hostile():
    """Return an evaluation whose model names try to break out of the page."""
    return evaluate(*simulated(HOSTILE), costs=(0.1, 0.3))


@pytest.fixture(scope="session")
def page(example):
    """Return the report of the example, read as a tree."""
    return Page(render_report(example))


@pytest.fixture(scope="session")
def axe():
    """Return the text of axe-core's script."""
    path = os.environ.get("STAKES_AXE", "")
    if not Path(path).is_file():
        pytest.skip("STAKES_AXE does not name axe.min.js of axe-core.")
    return Path(path).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def chromium(browser):
    """Return a running headless Chromium."""
    running = Chromium(browser)
    yield running
    running.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for the reports of one file of tests."""
    return tmp_path_factory.mktemp("interactive")


@pytest.fixture(scope="module")
def small(example, folder):
    """Return the report of the example, to be opened."""
    return Report(example, folder / "small.html")
