"""A real PostgreSQL server for the tests of the store."""

from pathlib import Path

import pytest

from ralph.testing.postgres import own_postgres, postgres_server, postgres_url

__all__ = ["own_postgres", "postgres_server", "postgres_url", "store_url"]


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of the test's own that is not there yet: a file, and a schema on the server."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "grounding.db")
    return request.getfixturevalue("postgres_url")
