"""The tables of analyses, for SQLite and PostgreSQL, and their migrations.

They stand next to Ralph's own tables and touch none of them. Search and sort keys have their own columns; the rest is
JSON in text columns. Moments are UTC in ISO format, which sorts as text. The result is the last column, so that a scan
of scores reads little of it.
"""

from collections.abc import Callable

from sqlalchemy import (
    Column,
    Connection,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    inspect,
)

from ralph.store import Migration

__all__ = ["MIGRATION", "analyses", "failures", "labels", "queries", "query_sets", "runs", "verdicts"]

_METADATA = MetaData()
_Text = Text().with_variant(Text(collation="C"), "postgresql")
"""A collation that sorts by code points everywhere."""

query_sets = Table(
    "grounding_query_sets",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("created_at", _Text, nullable=False),
)

queries = Table(
    "grounding_queries",
    _METADATA,
    Column("query_set_id", _Text, ForeignKey("grounding_query_sets.id"), primary_key=True),
    Column("id", _Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("body", Text, nullable=False),
)
"""`place` is the position in the set."""

runs = Table(
    "grounding_runs",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("domain", _Text, nullable=False),
    Column("query_set_id", _Text, ForeignKey("grounding_query_sets.id"), nullable=False),
    Column("status", _Text, nullable=False),
    Column("total", Integer, nullable=False),
    Column("succeeded", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("options", Text, nullable=False),
    Column("summary", Text),
    Column("started_at", _Text, nullable=False),
    Column("completed_at", _Text),
    Column("owner", Text),
    Index("grounding_runs_by_start", "started_at"),
)
"""`owner` is the process of the run's last attempt; runs from before this column have none."""

analyses = Table(
    "grounding_analyses",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("query_id", _Text, nullable=False),
    Column("query_set_id", _Text, ForeignKey("grounding_query_sets.id"), nullable=False),
    Column("run_id", _Text, ForeignKey("grounding_runs.id"), nullable=False),
    Column("asked", _Text, nullable=False),
    Column("domain", _Text, nullable=False),
    Column("ai_provider", _Text, nullable=False),
    Column("model", _Text, nullable=False),
    Column("accuracy_score", Double[float]()),
    Column("accuracy_tier", _Text),
    Column("completeness_score", Double[float]()),
    Column("completeness_tier", _Text),
    Column("attribution_score", Double[float]()),
    Column("attribution_tier", _Text),
    Column("combined_score", Double[float]()),
    Column("support_rate", Double[float]()),
    Column("contradiction_rate", Double[float]()),
    Column("trial", Integer),
    Column("flags", _Text, nullable=False),
    Column("created_at", _Text, nullable=False),
    Column("result", Text, nullable=False),
    ForeignKeyConstraint(["query_set_id", "query_id"], ["grounding_queries.query_set_id", "grounding_queries.id"]),
    UniqueConstraint("run_id", "asked"),
    Index("grounding_analyses_by_time", "created_at", "id"),
    Index("grounding_analyses_by_query", "query_set_id", "query_id"),
)
"""`asked` is a hash of query, provider, model and trial, some of which may be too long for an index: a run has one
analysis per hash. `flags` are lines, the first and the last empty. Analyses from before the column `trial` have none.
"""

failures = Table(
    "grounding_failures",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("run_id", _Text, ForeignKey("grounding_runs.id"), nullable=False),
    Column("query_id", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("error", Text, nullable=False),
    Column("created_at", _Text, nullable=False),
    Index("grounding_failures_by_run", "run_id"),
)
"""The failures of a run's last attempt; continuing it deletes them."""


verdicts = Table(
    "grounding_verdicts",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("judge", _Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", _Text, nullable=False),
)
"""The verdicts of judges, by a hash of the judge, its version, and what it was asked."""

labels = Table(
    "grounding_labels",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("outcome", _Text, nullable=False),
    Column("created_at", _Text, nullable=False),
)
"""The labels that a user gave, by a hash of question, claim and answer: they outlast the scoring."""


def _create(connection: Connection) -> None:
    _METADATA.create_all(connection, checkfirst=False)


def _adding(table: Table, **columns: str) -> Callable[[Connection], None]:
    """Return the step that adds columns to tables of a version without them; `_create` makes them at once."""

    def add(connection: Connection) -> None:
        known = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for name in columns.keys() - known:
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {name} {columns[name]}")

    return add


def _add_judging(connection: Connection) -> None:
    """Add the tables of verdicts and labels to a store of a version without them."""
    for table in (verdicts, labels):
        table.create(connection, checkfirst=True)


_STEPS = (
    _create,
    _adding(runs, owner="TEXT"),
    _adding(analyses, support_rate="DOUBLE PRECISION", contradiction_rate="DOUBLE PRECISION"),
    _add_judging,
    _adding(analyses, trial="INTEGER"),
)
MIGRATION = Migration("ralph-grounding", "grounding_schema_version", _STEPS, guest=True)
