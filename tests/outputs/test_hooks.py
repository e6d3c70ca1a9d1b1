"""Displays and reports are imported when the first result is shown."""

import pytest

from stakes.outputs import hooks


@pytest.mark.parametrize(("name", "show"), [("draw", hooks.draw), ("report", hooks.report)])
def test_what_registers_itself_is_imported_once(name, show, monkeypatch):
    monkeypatch.setattr(hooks, "_deferred", {})  # other tests need what is registered there

    class Result:
        pass

    imported = []

    def load():
        imported.append(name)
        show.register(Result, lambda result: [result])

    hooks.defer_import(name, load)
    result = Result()
    assert show(result) == show(result) == [result]
    assert imported == [name]
    with pytest.raises(TypeError, match=rf"no {'display' if name == 'draw' else name} is registered for object\."):
        show(object())
