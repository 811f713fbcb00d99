"""Stores on a real database, and files that are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.errors import UsageError
from ralph.testing.postgres import own_postgres, postgres_server, postgres_url

__all__ = ["own_postgres", "postgres_server", "postgres_url", "refused", "store_url"]


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of the test's own that is not there yet: a file, and a schema on the server."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "grounding.db")
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[Callable[[Path], object], str, str, str], None]:
    """Reads a file of such a name and text, which has to be refused in words that name it and say what to do."""

    def refuse(read: Callable[[Path], object], name: str, text: str, said: str) -> None:
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(UsageError, match=said) as raised:
            read(path)
        assert str(path) in str(raised.value)
        assert raised.value.remedy

    return refuse
