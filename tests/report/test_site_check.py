"""The check of the built site reads what its pages write to the browser's console."""

import pytest

from tools.check_site import complaining_pages, far_away

PAGE = "<!doctype html><html><body><p>a page</p><script>{script}</script></body></html>"


@pytest.mark.usefixtures("browser")
def test_what_pages_of_the_site_complain_of_is_a_problem(tmp_path):
    for name, script in {
        "index": "console.error('Got invalid theme mode: .')",
        "start": "console.log('drawn')",
        "ideas": "throw new Error('no such thing')",
    }.items():
        (tmp_path / f"{name}.html").write_text(PAGE.format(script=script), encoding="utf-8")
    first, second = complaining_pages(tmp_path)
    assert first.startswith("index: the console says")
    assert "Got invalid theme mode" in first
    assert second.startswith("ideas: the console says")
    assert "no such thing" in second


def test_a_machine_without_a_network_is_no_problem_of_the_site():
    assert far_away("Failed to load resource: net::ERR_NAME_NOT_RESOLVED")
    assert not far_away("Failed to load resource: net::ERR_FILE_NOT_FOUND")
