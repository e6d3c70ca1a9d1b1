"""A pytest plugin: one share of the tests that are collected.

``SHARE=2/3`` runs the second of three shares, ``1/1`` all of them. A test belongs to a share by the checksum of
its name, so that a share is the same in every process and every run.
"""

from __future__ import annotations

import os
import re
import zlib

import pytest


def share_of(said: str) -> tuple[int, int]:
    """Return which share runs, from 1, and of how many."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", said, re.ASCII)
    if not found or int(found[1]) > int(found[2]):
        raise ValueError(f"SHARE must name a share as 2/3 does, the second of three, got {said!r}.")
    return int(found[1]), int(found[2])


EMPTY = pytest.StashKey[bool]()  # whether all the tests there are belong to other shares
WHICH, OF = share_of(os.environ["SHARE"])


def in_share(name: str, which: int, of: int) -> bool:
    """Say whether a test belongs to a share."""
    return zlib.crc32(name.encode()) % of == which - 1


@pytest.hookimpl(trylast=True)  # after -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what belongs to the other shares."""
    some = bool(items)
    config.hook.pytest_deselected(items=[item for item in items if not in_share(item.nodeid, WHICH, OF)])
    items[:] = [item for item in items if in_share(item.nodeid, WHICH, OF)]
    config.stash[EMPTY] = some and not items


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Let a share end well in which none of a few tests lies; no test at all is an error still."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(EMPTY, False):
        session.exitstatus = pytest.ExitCode.OK
