"""`ralph score label` and `ralph score agreement`: a user's own verdicts on claims, and how far others agree."""

import os
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ralph.errors import UsageError
from ralph_grounding.cli.options import AsJson, Store, open_store, run_named, store_option
from ralph_grounding.cli.printing import console, counted, one_line, print_json, print_rows

if TYPE_CHECKING:
    from ralph_grounding.judging.agreement import Agreement, AgreementReport
    from ralph_grounding.judging.labels import LabelFile
    from ralph_grounding.result import AnalysisResult, ClaimJudgement, Outcome
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun

__all__ = ["agreement", "label"]

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run with the answers: its id, or last.")]
Many = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many claims to label at most.")]
File = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="Keep the labels in this file, .csv or .jsonl, and not in the store."),
]

_KEYS: "Mapping[str, Outcome]" = {"p": "present", "a": "absent", "c": "contradicted"}
_HELP = "p present   a absent   c contradicted   s skip   u undo   q quit"
_SHOWN = 1_500
_SEQUENCE = 0.05
"""Seconds in which the rest of a key's escape sequence comes."""


class _Item(NamedTuple):
    """A claim to label: the key of its question, and where it is."""

    key: str
    analysis: str
    place: int


class _Labels:
    """The labels, in the store or in a file."""

    def __init__(self, store: "GroundingStore", file: "LabelFile | None") -> None:
        self._store, self._file = store, file

    async def all(self) -> "dict[str, Outcome]":
        return self._file.labels() if self._file else await self._store.labels()

    async def keep(self, key: str, outcome: "Outcome | None", about: Mapping[str, str]) -> None:
        if self._file:
            self._file.keep_label(key, outcome, about)
        else:
            await self._store.keep_label(key, outcome)


def label(
    context: typer.Context, *, run: RunId = "last", limit: Many = 100, file: File = None, store: Store = None
) -> None:
    """Label claims yourself: is each present in its answer, absent, or contradicted?

    The claims come in a fixed random order, without the verdicts on them. Each label is kept at once, and claims with a
    label are not shown again, so that you can stop at any time.
    """
    import anyio

    async def ask() -> None:
        async with open_store(context, store) as kept:
            found = await run_named(kept, run, store)
            labels = _Labels(kept, _file(file))
            known = await labels.all()
            items = await _items(kept, found)
            left = [item for item in items if item.key not in known]
            with _keyboard():
                given = await _labelled(kept, labels, left[:limit])
        at = store_option(store) + (f" --file {file}" if file else "")
        command = f"ralph score agreement {one_line(found.id)}{at}"
        typer.echo(f"{counted(given, 'label')} added; {len(left) - given} of {counted(len(items), 'claim')} are left.")
        typer.echo(f"How far the verdicts agree: {one_line(command, 1_000)}")

    anyio.run(ask)


def agreement(
    context: typer.Context, *, run: RunId = "last", file: File = None, store: Store = None, as_json: AsJson = False
) -> None:
    """Compare a run's verdicts, offline and of the judge, with your labels.

    Prints Cohen's kappa with its 95 % interval, and precision and recall of each kind of verdict. Warns if there are
    fewer than 50 labels, or if kappa is below 0.6.
    """
    import anyio

    async def compare() -> "AgreementReport":
        from ralph_grounding.judging.agreement import labelled, report_agreement

        async with open_store(context, store) as kept:
            found = await run_named(kept, run, store)
            known = await _Labels(kept, _file(file)).all()
            rows = [
                labelled(result.id, known[key], judged)
                async for key, result, judged in _claims(kept, found)
                if key in known
            ]
        if not rows:
            raise UsageError(
                f"No claim of run {one_line(found.id)} has a label.",
                f"Label some: `ralph score label {one_line(found.id)}{store_option(store)}`.",
            )
        return report_agreement(rows)

    found = anyio.run(compare)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(found)
    for warning in found.warnings:
        typer.echo(f"warning: {warning}", err=True)


def _file(path: Path | None) -> "LabelFile | None":
    from ralph_grounding.judging.labels import LabelFile

    return LabelFile(path) if path else None


async def _claims(
    store: "GroundingStore", run: "GroundingRun"
) -> "AsyncGenerator[tuple[str, AnalysisResult, ClaimJudgement]]":
    """Yield the claims of a run, each with the key of its question."""
    from ralph_grounding.filters import Condition

    async for kept in store.analyses([Condition("run", "=", run.id)], order="oldest"):
        for judged in kept.result.scores.completeness.matches if kept.result.scores.completeness else ():
            yield _key(kept.result, judged), kept.result, judged


def _key(result: "AnalysisResult", judged: "ClaimJudgement") -> str:
    from ralph_grounding.judging.base import JudgeQuestion

    return JudgeQuestion(result.query, judged.claim, result.response).key


async def _items(store: "GroundingStore", run: "GroundingRun") -> list[_Item]:
    """List the claims of a run, each once, in the order of their keys, which is random but does not change."""
    found: dict[str, _Item] = {}
    places: dict[str, int] = {}
    async for key, result, _ in _claims(store, run):
        place = places[result.id] = places.get(result.id, -1) + 1
        found.setdefault(key, _Item(key, result.id, place))
    return sorted(found.values())


async def _labelled(store: "GroundingStore", labels: _Labels, items: list[_Item]) -> int:
    """Ask for the labels of the items, and return how many were given."""
    given: list[int] = []
    at = 0
    while at < len(items):
        item = items[at]
        kept = await store.analysis(item.analysis)
        if kept is None or kept.result.scores.completeness is None:
            at += 1
            continue
        result, judged = kept.result, kept.result.scores.completeness.matches[item.place]
        _show(result, judged, f"{at + 1} of {len(items)}")
        pressed = _pressed()
        if pressed in {"q", ""}:
            break
        if pressed in _KEYS:
            about = {
                "query_id": result.query_id,
                "provider": result.ai_provider,
                "model": result.model,
                "claim": judged.claim,
            }
            await labels.keep(item.key, _KEYS[pressed], about)
            given.append(at)
        if pressed == "u" and given:
            at = given.pop()
            await labels.keep(items[at].key, None, {})
        elif pressed in {*_KEYS, "s"}:
            at += 1
    return len(given)


@contextmanager
def _keyboard() -> Generator[None]:
    """Let a terminal give each key at once, also those pressed before they are read."""
    if not sys.stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    now = termios.tcgetattr(sys.stdin)
    now[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
    termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def _pressed() -> str:
    """Return the key that the user presses; of a line if there is no terminal. Empty at the end of the input."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip()[:1].lower() or ("?" if line else "")
    key = os.read(sys.stdin.fileno(), 1).decode(errors="replace").lower()
    if key == "\x1b":
        return _rest_of_sequence()
    if key == "\x03":
        raise KeyboardInterrupt
    return "" if key == "\x04" else key


def _rest_of_sequence() -> str:
    """Read what an arrow or function key sends after Escape, so that its letters are no labels."""
    import select

    while select.select([sys.stdin], [], [], _SEQUENCE)[0]:
        byte = os.read(sys.stdin.fileno(), 1)
        if not byte or (byte.isalpha() and byte != b"O") or byte == b"~":
            break
    return "?"


def _show(result: "AnalysisResult", judged: "ClaimJudgement", progress: str) -> None:
    """Show a claim, and the answer around its most similar words, which stand out."""
    from rich.text import Text

    out = console()
    if out.is_terminal:
        out.clear()
    out.print(Text(progress, "dim"))
    print_rows(("", ""), [("question", one_line(result.query, 500)), ("claim", one_line(judged.claim, 1_000))])
    out.print()
    text, at = result.response, judged.position
    start = max(0, min((at.start + at.end - _SHOWN) // 2, len(text) - _SHOWN))
    end = min(len(text), start + _SHOWN)
    cuts = sorted({start, min(max(at.start, start), end), min(max(at.end, start), end), end})
    shown = Text("… " if start else "")
    for first, last in pairwise(cuts):
        style = "bold" if at.start <= first < at.end else ""
        shown.append("\n".join(_flat(line) for line in text[first:last].split("\n")), style)
    out.print(shown.append(" …" if end < len(text) else ""))
    out.print(Text(f"\n{_HELP}", "dim"))


def _flat(line: str) -> str:
    """Return a line without control characters, with one space where white space is at its ends."""
    said = one_line(line, _SHOWN + 1)
    return f"{' ' * line[:1].isspace()}{said}{' ' * line[-1:].isspace()}" if said else " " * bool(line)


def _print(found: "AgreementReport") -> None:
    named = {
        "offline": found.offline,
        "with the judge": found.final,
        "judge, where it decides": found.judge,
        "offline, there": found.offline_there,
    }
    columns = ("", "claims", "agree", "kappa", "95 %", "present", "absent", "contradicted")
    print_rows(columns, [(name, *_row(each)) for name, each in named.items() if each])
    typer.echo(f"{counted(found.labels, 'label')} of {counted(found.answers, 'answer')}; by kind: precision, recall.")


def _row(each: "Agreement") -> tuple[str, ...]:
    interval = "-" if each.low is None else f"{each.low:.2f} to {each.high:.2f}"
    kinds = [f"{_number(rates.precision)}, {_number(rates.recall)}" for rates in each.kinds.values()]
    return str(each.claims), f"{each.accuracy:.2f}", _number(each.kappa), interval, *kinds


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
