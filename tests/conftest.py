"""What every test may use: the real documents beside the checkout, where they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test is timed: a busy machine must not turn a property into a failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real documents, review histories and decks; the test is skipped where it isn't there."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("RETAIN_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip("the real documents are not beside this checkout (set RETAIN_TEST_DATA to their folder)")
    return folder
