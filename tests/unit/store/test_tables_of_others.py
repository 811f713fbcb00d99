"""Tables that a plug-in keeps in the place where Ralph keeps runs, with nothing but what is documented."""

from contextlib import closing

import pytest
from sqlalchemy import text

from ralph.errors import StoreError, UsageError
from ralph.store import Database, Migration, database_named, open_store
from ralph.testing.store_conformance import sample_run


def make(connection):
    connection.execute(text("CREATE TABLE notes (id TEXT PRIMARY KEY)"))
    connection.execute(text("CREATE TABLE remarks (note TEXT NOT NULL REFERENCES notes (id))"))


def add(connection):
    connection.execute(text("CREATE TABLE tags (note TEXT)"))


NOTES = Migration("ralph-notes", "notes_version", (make,), guest=True)
LATER = NOTES._replace(steps=(make, add))


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return str(tmp_path / "ralph.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def noted(database: Database, *statements, migration=NOTES):
    """How many notes there are after the statements, which are one transaction."""
    with closing(database.open(migration)) as connection:
        try:
            with database.transaction(connection):
                for statement in statements:
                    connection.execute(text(statement))
        except database.errors as error:
            raise database.explain(error) from error
        with connection.begin():
            return connection.scalar(text("SELECT count(*) FROM notes"))


async def test_they_stand_beside_the_runs(url):
    async with open_store(url) as store:
        await store.create(sample_run())
    assert noted(database_named(url), "INSERT INTO notes VALUES ('a')") == 1
    async with open_store(url) as store:
        assert await store.check() == (1, ())


def test_a_transaction_is_kept_as_a_whole_or_not_at_all(url):
    database = database_named(url)
    with pytest.raises(StoreError, match="already holds"):
        noted(database, "INSERT INTO notes VALUES ('a')", "INSERT INTO notes VALUES ('a')")
    assert noted(database) == 0
    with pytest.raises(StoreError, match="cannot add this entry"):
        noted(database, "INSERT INTO notes VALUES ('a')", "INSERT INTO remarks VALUES ('b')")
    assert noted(database) == 0


def test_the_steps_that_are_missing_are_taken_once(url):
    database = database_named(url)
    assert noted(database, "INSERT INTO notes VALUES ('a')") == 1
    for _ in range(2):
        assert noted(database, "INSERT INTO tags VALUES ('a')", migration=LATER) == 1
    with pytest.raises(StoreError, match=r"newer ralph-notes .*version 2.*Upgrade ralph-notes"):
        noted(database)


def test_what_is_no_database_is_told_of():
    for name in ("memory:", "mysql://host/x", ""):
        with pytest.raises(UsageError, match="Give the path of a file"):
            database_named(name)
