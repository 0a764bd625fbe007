"""A plugin for pytest under which a failing property fails at once: nobody reads the smallest example of a mutant."""

import pytest
from hypothesis import Phase, settings


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    settings.register_profile("mutants", deadline=None, database=None, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutants")
