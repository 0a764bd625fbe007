"""In the tree, the actor behind each page is called what it is."""

from typing import cast

import pytest

from actors.console.viewer import Viewer
from actors.ipc.viewing import DeskViewer
from actors.kernel import Actor


@pytest.mark.parametrize("kind", [Viewer, DeskViewer])
def test_who_shows_a_page_is_called_a_page(kind: type[Actor[object]]) -> None:
    called = cast("property", kind.__dict__["called"])
    assert called.fget is not None
    assert called.fget(object.__new__(kind)) == "page"
