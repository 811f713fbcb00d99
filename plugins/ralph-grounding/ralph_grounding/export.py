"""Analyses as CSV, JSON and JSON lines, streamed in pieces.

Spreadsheets read a cell that begins with one of `= + - @`, a tab or a line end as a formula. So such texts get a
leading apostrophe in CSV, which spreadsheets do not show; numbers stay as they are. JSON has all texts unchanged.
"""

import csv
import io
import re
from collections.abc import AsyncGenerator, AsyncIterable

from ralph_grounding.claim_rates import ClaimRate, ClaimTally
from ralph_grounding.store.records import ScoreRow, StoredAnalysis
from ralph_grounding.store.rows import as_json

__all__ = ["COLUMNS", "claim_lines", "csv_lines", "json_array", "json_lines"]

COLUMNS = (
    "id",
    "run_id",
    "created_at",
    "query_id",
    "query",
    "domain",
    "provider",
    "model",
    "accuracy",
    "accuracy_tier",
    "completeness",
    "completeness_tier",
    "attribution",
    "attribution_tier",
    "combined",
    "flags",
    "support_rate",
    "contradiction_rate",
    "trial",
)
"""The columns of the CSV. A score that was not measured is empty; flags are separated by spaces."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_UNENCODABLE = re.compile("[\0\ud800-\udfff]")


async def csv_lines(scores: AsyncIterable[ScoreRow]) -> AsyncGenerator[str]:
    """Yield the lines of an RFC 4180 CSV file, each with its line end; the header comes first."""
    yield _line(*COLUMNS)
    async for row in scores:
        yield _line(
            row.id,
            row.run_id,
            row.created_at.isoformat(),
            row.query_id,
            row.query,
            row.domain,
            row.ai_provider,
            row.model,
            row.accuracy,
            row.accuracy_tier,
            row.completeness,
            row.completeness_tier,
            row.attribution,
            row.attribution_tier,
            row.combined,
            " ".join(row.flags),
            row.support,
            row.contradiction,
            row.trial,
        )


async def claim_lines(analyses: AsyncIterable[StoredAnalysis]) -> AsyncGenerator[str]:
    """Yield a CSV file with a line for each expected claim: how often it is made, and who misses it.

    Args:
        analyses: the newest first: of an answer that was scored again, only the last score counts.
    """
    tally = ClaimTally()
    replaced: set[str] = set()
    async for analysis in analyses:
        if analysis.result.id not in replaced:
            tally.add(analysis.result)
        replaced.add(analysis.result.previous_id)
    yield _line(*ClaimRate.model_fields)
    for rate in tally.rates():
        yield _line(*({**dict(rate), "missed_by": ", ".join(rate.missed_by)}).values())


async def json_lines(analyses: AsyncIterable[StoredAnalysis]) -> AsyncGenerator[str]:
    """Yield one JSON object per line, each with its line end."""
    async for analysis in analyses:
        yield as_json(analysis) + "\n"


async def json_array(analyses: AsyncIterable[StoredAnalysis]) -> AsyncGenerator[str]:
    """Yield the pieces of one JSON array of the same objects."""
    before = "[\n"
    async for analysis in analyses:
        yield before + as_json(analysis)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _line(*cells: str | float | None) -> str:
    line = io.StringIO()
    csv.writer(line).writerow([_inert(cell) if isinstance(cell, str) else cell for cell in cells])
    return line.getvalue()


def _inert(text: str) -> str:
    text = _UNENCODABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return f"'{text}" if text.startswith(_FORMULA) else text
