"""The contents of a report, and a run as Markdown for a pull request.

What an agent wrote stands in code, or is escaped: it makes no link, no heading, and mentions no one.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ralph.decision.backing import grade
from ralph.records.projection import changes_text, describe, usage_text
from ralph.records.record import IterationRecord, RunRecord
from ralph.system.text import counted, duration, one_line, printable
from ralph.types.output import Usage
from ralph.watch.report_stats import sparkline
from ralph.watch.summary import summary_rows
from ralph.watch.terminal import STOP_SIGNS

_ROWS = 40
_FILES = 50
_OUTPUT = 3_000
_MARKS = re.compile(r"([\\`*_\[\]<>|~&$])")
_REFERS = re.compile(r"[@#]|:(?=//)")


class Point(NamedTuple):
    """The usage of an iteration, for plots; None for what was not measured."""

    number: int
    tokens: int | None
    cost: float | None
    duration: float
    score: float

    @classmethod
    def of(cls, iteration: IterationRecord) -> "Point":
        usage = iteration.usage
        score = iteration.analysis.metrics.completion_score
        return cls(iteration.number, usage.tokens, usage.cost, iteration.duration, score)


class Chain(NamedTuple):
    """A stage of the way from the signals to the decision: its name, its conclusion, and lines with their marks."""

    name: str
    conclusion: str
    lines: tuple[tuple[str, str], ...]


class Report(NamedTuple):
    """Everything that a report of a run shows.

    Attributes:
        state: why it stopped, or "running", "paused" or "crashed".
        points: of all iterations.
        shown: the iterations in the table, in order.
        last, verified: the last iteration, and the last one with verdicts; None without any.
        files: the changed files with added and removed lines, None for a binary file.
        unchanged: why `files` is empty.
    """

    run: RunRecord
    state: str
    points: Sequence[Point]
    shown: Sequence[IterationRecord]
    last: IterationRecord | None
    verified: IterationRecord | None
    chain: Sequence[Chain]
    files: Sequence[tuple[str, int | None, int | None]]
    unchanged: str
    made: datetime

    @property
    def headline(self) -> tuple[str, str]:
        """The sign and the words of the outcome."""
        run = self.run
        if self.state == "completed":
            return "✓", f"Completed, {grade(verified=run.verified, already_green=run.already_green)}"
        return STOP_SIGNS.get(self.state, "✗"), self.state.replace("_", " ").capitalize()

    @property
    def usage(self) -> Usage:
        """The usage of the whole run; of an unfinished one, of its finished iterations."""
        run, last = self.run, self.last
        return run.usage if run.finished_at or last is None else last.spent.usage

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The figures of the run, with their labels."""
        run, last = self.run, self.last
        taken = run.duration if run.finished_at or last is None else last.spent.duration
        facts = [("iterations", f"{len(self.points):,}"), ("time", duration(taken))]
        usage = self.usage
        facts += [("tokens", f"{usage.tokens:,}")] if usage.tokens is not None else []
        facts += [("cost", f"${usage.cost:,.2f}")] if usage.cost is not None else []
        if last and last.plan and last.plan.total:
            facts.append(("plan", f"{last.plan.done} of {last.plan.total}"))
        if last:
            facts.append(("breaker", last.breaker.state.replace("_", " ")))
        return [*facts, ("changed", self.changed)]

    @property
    def changed(self) -> str:
        """The sum of the changes, in words."""
        if not self.files:
            return "no file" if not self.unchanged else "unknown"
        added = sum(added or 0 for _, added, _ in self.files)
        removed = sum(removed or 0 for _, _, removed in self.files)
        return f"{counted(len(self.files), 'file')}, +{added:,} −{removed:,}"

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """Why it stopped, the evidence, and the next step, with their labels."""
        endpoint = bool(self.run.settings.get("executor", {}).get("base_url"))
        rows = summary_rows(self.run, self.last, endpoint=endpoint, store="", kept=True) if self.run.finished_at else []
        return [(label, text) for label, text in rows if label not in {"iterations", "used", "took"}]


def markdown_report(report: Report) -> str:
    """Return the report as Markdown with GitHub's tables."""
    run = report.run
    sign, outcome = report.headline
    lines = [f"## {sign} {outcome}", "", f"> {_escaped(run.task, 600)}", ""]
    lines += [" · ".join(f"**{label}** {text}" for label, text in report.facts), ""]
    lines += [f"- **{label or 'note'}** {_escaped(text, 700)}" for label, text in report.reasons]
    lines += ["", *_plots(report), *_iterations(report), *_checks(report), *_chain(report), *_files(report)]
    about = [f"run `{_code(run.id)}`", f"started {run.started_at:%Y-%m-%d %H:%M} UTC"]
    about += [f"by {', '.join(f'`{_code(name)}`' for name in run.executors)}"] if run.executors else []
    return "\n".join([*lines, f"<sub>{' · '.join(about)}</sub>", ""])


def _plots(report: Report) -> list[str]:
    points = report.points
    if len(points) < 2:
        return []
    shown = (
        ("tokens", [point.tokens for point in points]),
        ("cost", [point.cost for point in points]),
        ("time", [point.duration for point in points]),
        ("score", [point.score for point in points]),
    )
    drawn = [f"{name:<7} {sparkline(values)}" for name, values in shown if any(values)]
    return ["```text", *drawn, "```", ""] if drawn else []


def _iterations(report: Report) -> list[str]:
    rows = ["| # | agent | time | used | changes | decision |", "|--:|---|--:|---|---|---|"]
    shown = [*report.shown][-_ROWS:]
    for each in shown:
        facts = (duration(each.duration), usage_text(each.usage), changes_text(each))
        rows.append(
            f"| {each.number} | `{_code(each.executor or 'none')}` | {' | '.join(facts)} "
            f"| {_escaped(describe(each.decision), 160)} |"
        )
    if (more := len(report.points) - len(shown)) > 0:
        rows.append(f"| … | {more:,} before | | | | |")
    return _folded(f"{counted(len(report.points), 'iteration')}", rows) if shown else []


def _checks(report: Report) -> list[str]:
    found = report.verified.verification if report.verified else None
    lines: list[str] = []
    for verdict in found.verdicts if found else ():
        lines += [f"`{_code(verdict.verifier)}` {verdict.word} ({duration(verdict.duration)})", ""]
        lines += [*_fenced(verdict.output), ""] if verdict.output.strip() else []
    return _folded("checks", lines) if lines else []


def _chain(report: Report) -> list[str]:
    lines: list[str] = []
    for stage in report.chain:
        lines.append(f"- **{_escaped(stage.name)}** {_escaped(stage.conclusion, 400)}")
        lines += [f"  - {mark} {_escaped(text, 300)}" for mark, text in stage.lines]
    return _folded("from the signals to the decision", lines) if lines else []


def _files(report: Report) -> list[str]:
    rows = [f"| `{_code(path)}` | {_count(added)} | {_count(removed)} |" for path, added, removed in report.files]
    if len(rows) > _FILES:
        rows[_FILES:] = [f"| … {len(rows) - _FILES:,} more | | |"]
    head = ["| file | + | − |", "|---|--:|--:|"]
    return _folded(report.changed, [*head, *rows]) if rows else []


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _count(lines: int | None) -> str:
    return "binary" if lines is None else f"{lines:,}"


def _escaped(text: str, most: int = 200) -> str:
    """Return untrusted text as one line in which nothing is Markdown, HTML, a mention or a reference.

    The invisible character that parts a mention is spelt in ASCII: the filter of standard output would remove it.
    """
    return _REFERS.sub(r"\g<0>&#8288;", _MARKS.sub(r"\\\1", one_line(text, most)))


def _code(text: str, most: int = 200) -> str:
    """Return untrusted text for a code span, also in a table."""
    return one_line(text, most).replace("`", "'").replace("|", "\\|")


def _fenced(text: str) -> list[str]:
    """Return untrusted text as a block of code that it cannot end: the end of it, where programs report failures."""
    shown = printable(text[-_OUTPUT:], _OUTPUT).replace("```", "'''").strip("\n")
    return ["```text", *shown.split("\n"), "```"]
