"""`ralph pause`, `stop`, `tell` and `extend`: what is asked of a run from another terminal, through the store."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

import typer

from ralph.cli.options import AsJson, StoreName

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store

__all__ = ["ask", "extending", "pausing", "stopping", "telling", "until"]

pausing = typer.Typer(add_completion=False)
stopping = typer.Typer(add_completion=False)
telling = typer.Typer(add_completion=False)
extending = typer.Typer(add_completion=False)

_MOST_CHARACTERS = 8_000
_STOPS_WITHIN = 10.0
_LOOK = 0.1
_AMOUNT = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)

Run = Annotated[str, typer.Argument(metavar="RUN", help="Its id, the beginning of it, or last.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="What to tell the agent; - reads it from standard input.")]


def _more(flag: str, what: str, metavar: str = "+N") -> Any:
    return typer.Option(flag, metavar=metavar, show_default=False, help=what)


MoreIterations = Annotated[str | None, _more("--max-iterations", "Add this many iterations.")]
MoreTime = Annotated[str | None, _more("--max-duration", "Add this much time, pauses included.", "+TIME")]
MoreTokens = Annotated[str | None, _more("--max-tokens", "Add this many tokens, in and out.")]
MoreRequests = Annotated[str | None, _more("--max-requests", "Add this many premium requests.")]
MoreCost = Annotated[str | None, _more("--max-cost", "Add this many US dollars.", "+USD")]
MoreCalls = Annotated[str | None, _more("--max-calls-per-hour", "Add this many calls of the agent in any hour.")]


@pausing.command()
def pause(*, run: Run, as_json: AsJson = False, store: StoreName = None) -> None:
    """Pause a run at the end of the current iteration, until `ralph resume`."""
    from ralph.cli.store_url import named

    record = _asked(run, store, "pause")
    when = "now" if record.state == "paused" else "at the end of the iteration under way"
    _say(record, f"It pauses {when}; `ralph resume{named(store)} {record.id}` continues it.", as_json=as_json)


@stopping.command()
def stop(*, run: Run, as_json: AsJson = False, store: StoreName = None) -> None:
    """Stop a run: end its agent's turn at once, and store what there is so far.

    It can be resumed.
    """
    from ralph.cli.store_url import named

    record = _asked(run, store, "stop")
    ended = record.state == "finished"
    iterations = "an iteration" if record.iterations == 1 else f"{record.iterations} iterations"
    said = f"It is stopped, after {iterations}." if ended else "It is being stopped."
    _say(record, f"{said} `ralph resume{named(store)} {record.id}` continues it.", as_json=as_json)


@telling.command()
def tell(*, run: Run, text: Text, as_json: AsJson = False, store: StoreName = None) -> None:
    """Give the agent a message, in the prompt of the next iteration.

    If the run has ended, that is the first one after `ralph resume`.
    """
    record = _asked(run, store, "tell", text=_message(text))
    _say(record, f"The agent is told in the next iteration{_when_resumed(record, store)}.", as_json=as_json)


@extending.command()
def extend(
    *,
    run: Run,
    max_iterations: MoreIterations = None,
    max_duration: MoreTime = None,
    max_tokens: MoreTokens = None,
    max_requests: MoreRequests = None,
    max_cost: MoreCost = None,
    max_calls_per_hour: MoreCalls = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Raise the limits of a run: +10 iterations, +1h, +5 dollars.

    If the run has ended, this counts when it is resumed.
    """
    from ralph.errors import UsageError
    from ralph.system.text import additions

    given = (max_iterations, max_duration, max_tokens, max_requests, max_cost, max_calls_per_hour)
    limits = {kind.name: _amount(kind, text) for kind, text in zip(_KINDS, given, strict=True) if text is not None}
    if not limits:
        raise UsageError("There is no limit to extend.", "Name a limit, as in --max-iterations +10.")
    record = _asked(run, store, "extend", limits=limits)
    _say(record, f"Extended: {additions(limits)}{_when_resumed(record, store)}.", as_json=as_json)


class _Kind(NamedTuple):
    """A limit, as the command line and the settings call it, and how an amount of it is read."""

    flag: str
    name: str
    read: Callable[[str], float]


def _seconds(text: str) -> float:
    from ralph.settings import parse_duration

    return float(parse_duration(text))  # pyright: ignore[reportArgumentType] - it gives a number for a text, or raises


def _whole(text: str) -> float:
    return float(int(text))


def _number(text: str) -> float:
    if not _AMOUNT.fullmatch(text):
        raise ValueError(text)
    return float(text)


_KINDS = (
    _Kind("--max-iterations", "max_iterations", _whole),
    _Kind("--max-duration", "max_duration", _seconds),
    _Kind("--max-tokens", "max_tokens", _whole),
    _Kind("--max-requests", "max_requests", _number),
    _Kind("--max-cost", "max_cost", _number),
    _Kind("--max-calls-per-hour", "calls_per_hour", _whole),
)


def _amount(kind: _Kind, text: str) -> float:
    from ralph.errors import UsageError

    try:
        amount = kind.read(text.strip().removeprefix("+"))
    except ValueError:
        amount = 0.0
    if not 0 < amount <= 10**12:
        example = "+1h" if kind.name == "max_duration" else "+10"
        raise UsageError(f"{kind.flag}: {text[:40]!r} is not an amount to add.", f"Write {kind.flag} {example}.")
    return amount


def _message(text: str) -> str:
    import sys

    from ralph.errors import UsageError
    from ralph.system.redact import Redactor, secret_values

    if text == "-":
        text = sys.stdin.read(_MOST_CHARACTERS + 1)
    if not text.strip():
        raise UsageError("The message is empty.", "Write it after the run's id.")
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(
            f"The message is longer than {_MOST_CHARACTERS:,} characters.",
            "Put it into a file of the workspace, and name that in the message.",
        )
    import os

    return Redactor(secret_values(os.environ))(text)


def _asked(name: str, store: str | None, kind: Literal["pause", "stop", "tell", "extend"], **what: Any) -> "RunRecord":
    """Asks it of a run, and returns that as it is then."""
    import anyio

    async def whole() -> "RunRecord":
        from ralph.cli.lookup import find_run, opened_store

        async with opened_store(store) as opened:
            run = await find_run(opened, name)
            if kind in {"pause", "stop"}:
                _require_under_way(run)
            else:
                _require_not_completed(run)
            _require_limited(run, what.get("limits", {}))
            await ask(opened, run, kind, **what)
            return await until(opened, run, "finished", _STOPS_WITHIN) if kind == "stop" else run

    return anyio.run(whole)


async def ask(
    store: "Store", run: "RunRecord", kind: Literal["pause", "resume", "stop", "tell", "extend"], **what: Any
) -> None:
    """Puts a request to a run's owner into the store."""
    from ralph.types.requests import Request

    await store.ask(run.id, Request(at=datetime.now(UTC), kind=kind, **what))


async def until(store: "Store", run: "RunRecord", state: str, seconds: float) -> "RunRecord":
    """The run as soon as it has come to a state, or after some seconds as it is then."""
    import anyio

    with anyio.move_on_after(seconds):
        while run.state != state:
            await anyio.sleep(_LOOK)
            run = await store.run(run.id) or run
    return run


def _require_under_way(run: "RunRecord") -> None:
    from ralph.cli.lookup import state_of
    from ralph.errors import UsageError

    state = state_of(run)
    if state not in {"running", "paused"}:
        how = "its process is gone" if state == "crashed" else f"it has ended ({state.replace('_', ' ')})"
        more = f"`ralph show {run.id}` shows what it did."
        if state == "crashed":
            more = f"`ralph resume {run.id}` continues it."
        raise UsageError(f"Run {run.id} is not under way: {how}.", more)


def _require_not_completed(run: "RunRecord") -> None:
    """What is completed is not resumed, so nothing that is said to it would ever be heard."""
    from ralph.errors import UsageError

    if run.stop_reason == "completed":
        raise UsageError(f"Run {run.id} is completed.", "Start another one with `ralph run`.")


def _require_limited(run: "RunRecord", limits: dict[str, float]) -> None:
    """There is nothing to extend where a run has no limit. Of one that a program has begun, that is not known."""
    from ralph.errors import UsageError

    own: object = run.settings.get("limits")
    for kind in _KINDS if isinstance(own, dict) else ():
        if kind.name in limits and cast("dict[str, Any]", own).get(kind.name) is None:
            raise UsageError(f"Run {run.id} has no {kind.flag}, so there is nothing to extend.")


def _when_resumed(run: "RunRecord", store: str | None) -> str:
    from ralph.cli.lookup import state_of
    from ralph.cli.store_url import named

    if state_of(run) in {"running", "paused"}:
        return ""
    return f", when the run is resumed (`ralph resume{named(store)} {run.id}`)"


def _say(run: "RunRecord", text: str, *, as_json: bool) -> None:
    from ralph.cli.lookup import state_of
    from ralph.cli.output import console, print_json

    if as_json:
        print_json({"run_id": run.id, "state": state_of(run), "text": text})
    else:
        console().print(f"Run {run.id}: {text[0].lower()}{text[1:]}", soft_wrap=True)
