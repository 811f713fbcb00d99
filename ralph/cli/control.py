"""`ralph pause`, `stop`, `tell` and `extend`: requests to a run from another terminal, sent through the store."""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from ralph.cli.lookup import opened_run, run_state, store_option
from ralph.cli.options import AnyFolder, AsJson, RunId, StoreName
from ralph.cli.output import print_json, print_paragraph
from ralph.cli.settings import with_settings
from ralph.errors import UsageError
from ralph.settings import FLAGS, Setting, parse_duration
from ralph.system.secrets import Redactor, secret_values
from ralph.system.text import limits_text, plain

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store

_MOST_CHARACTERS = 8_000
_STOP_SECONDS = 10.0
_POLL_SECONDS = 0.1
_MASKED = (
    " What looks like a secret in it is masked, as messages are stored: the agent reads ***. Put it into a file of the "
    "workspace, and name the file in the message."
)

Kind = Literal["pause", "resume", "stop", "tell", "extend"]
Once = Annotated[bool, typer.Option("--once", help="For the next iteration only.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="The message; - reads it from standard input.")]


async def pause(*, run: RunId, any_folder: AnyFolder = False, as_json: AsJson = False, store: StoreName = None) -> None:
    """Pause a run at the end of the current iteration, until `ralph resume`."""
    record = await _request(run, store, "pause", any_folder=any_folder)
    when = "now" if record.state == "paused" else "at the end of the current iteration"
    _print(record, f"It pauses {when}; `ralph resume{store_option(store)} {record.id}` continues it.", as_json=as_json)


async def stop(*, run: RunId, any_folder: AnyFolder = False, as_json: AsJson = False, store: StoreName = None) -> None:
    """Stop a run: end its agent's turn at once, and store the output so far.

    `ralph resume` continues it.
    """
    record = await _request(run, store, "stop", any_folder=any_folder)
    ended = record.state == "finished"
    iterations = "an iteration" if record.iterations == 1 else f"{record.iterations} iterations"
    stopped = f"It is stopped, after {iterations}." if ended else "It is being stopped."
    _print(record, f"{stopped} `ralph resume{store_option(store)} {record.id}` continues it.", as_json=as_json)


async def tell(
    *,
    run: RunId,
    text: Text,
    once: Once = False,
    any_folder: AnyFolder = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Give the agent a message, in the prompts of the next iteration and all later ones.

    If the run has ended, the next one is the first iteration after `ralph resume`. `ralph show` lists the messages.
    """
    message, masked = message_of(sys.stdin.read(_MOST_CHARACTERS + 1) if text == "-" else text)
    record = await _request(run, store, "tell", any_folder=any_folder, text=message, once=once)
    when = "in" if once else "from"
    told = f"The agent reads the message {when} the next iteration{' on' * (not once)}{_when_resumed(record, store)}."
    told += _MASKED * masked
    _print(record, told, as_json=as_json)


@with_settings(lambda each: each.key.startswith("limits."), adding=True)
async def extend(
    *,
    run: RunId,
    any_folder: AnyFolder = False,
    flags: dict[str, str | None],
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Raise the limits of a run: +10 iterations, +1h, +5 dollars.

    If the run has ended, this takes effect when it is resumed.
    """
    limits = amounts({flag: text for flag, text in flags.items() if text is not None})
    record = await _request(run, store, "extend", any_folder=any_folder, limits=limits)
    _print(record, f"Extended: {limits_text(limits, ' by ')}{_when_resumed(record, store)}.", as_json=as_json)


def amounts(flags: Mapping[str, str]) -> dict[str, float]:
    """Return the amounts to add to limits, by the names of the limits. Raises `UsageError`."""
    if not flags:
        raise UsageError("There is no limit to extend.", "Name a limit, as in --max-iterations +10.")
    given = {FLAGS[flag]: text for flag, text in flags.items()}
    return {limit.key.removeprefix("limits."): _amount(limit, text) for limit, text in given.items()}


def _amount(limit: Setting, text: str) -> float:
    """Return the amount to add to a limit. Raises `UsageError`."""
    stripped = text.strip().removeprefix("+")
    parse: Any = parse_duration if limit.is_duration else int if limit.is_whole else float
    try:
        amount = float(parse(stripped))
    except ValueError:
        amount = 0.0
    if not 0 < amount <= 10**12:
        flag, example = limit.flag.name if limit.flag else limit.key, "+1h" if limit.is_duration else "+10"
        raise UsageError(f"{flag}: {text[:40]!r} is not an amount to add.", f"Write {flag} {example}.")
    return float(amount)


def message_of(text: str) -> tuple[str, bool]:
    """Return a message as it is stored, and whether a secret in it is masked. Raises `UsageError`."""
    if not text.strip():
        raise UsageError("The message is empty.", "Write it after the run's id.")
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(
            f"The message is longer than {_MOST_CHARACTERS:,} characters.",
            "Put it into a file of the workspace, and name the file in the message.",
        )
    message = Redactor(secret_values(os.environ))(text)
    return message, message != plain(text)


async def _request(name: str, store: str | None, kind: Kind, *, any_folder: bool, **what: Any) -> "RunRecord":
    async with opened_run(name, store, any_folder=any_folder) as (opened, run):
        require_possible(run, kind, what.get("limits", {}))
        await send_request(opened, run, kind, **what)
        return await wait_for_state(opened, run, "finished", _STOP_SECONDS) if kind == "stop" else run


def require_possible(run: "RunRecord", kind: str, limits: Mapping[str, float]) -> None:
    """Raise `UsageError` if a request would have no effect on a run."""
    if kind in {"pause", "stop"}:
        _require_active(run)
    elif run.stop_reason == "completed":  # it is not resumed, and would never read the request
        raise UsageError(f"Run {run.id} is completed.", "Start another one with `ralph run`.")
    _require_limited(run, limits)


async def send_request(store: "Store", run: "RunRecord", kind: Kind, **what: Any) -> None:
    """Put a request to a run's owner into the store."""
    from ralph.types.requests import Request

    await store.ask(run.id, Request(at=datetime.now(UTC), kind=kind, **what))


async def wait_for_state(store: "Store", run: "RunRecord", state: str, seconds: float) -> "RunRecord":
    """Wait until a run reaches a state, for at most some seconds; return its record."""
    import anyio

    with anyio.move_on_after(seconds):
        while run.state != state:
            await anyio.sleep(_POLL_SECONDS)
            run = await store.run(run.id) or run
    return run


def _require_active(run: "RunRecord") -> None:
    state = run_state(run)
    if state == "crashed":
        raise UsageError(f"Run {run.id} is not running: its process is gone.", f"`ralph resume {run.id}` continues it.")
    if state not in {"running", "paused"}:
        ended = f"it has ended ({state.replace('_', ' ')})"
        raise UsageError(f"Run {run.id} is not running: {ended}.", f"`ralph show {run.id}` shows what it did.")


def _require_limited(run: "RunRecord", limits: Mapping[str, float]) -> None:
    """Refuse to extend a limit that the run does not have; the limits of a program's run are not known."""
    own: object = run.settings.get("limits")
    for flag, limit in FLAGS.items() if isinstance(own, dict) else ():
        name = limit.key.removeprefix("limits.")
        if name in limits and cast("dict[str, Any]", own).get(name) is None:
            raise UsageError(f"Run {run.id} has no {flag}, so there is nothing to extend.")


def _when_resumed(run: "RunRecord", store: str | None) -> str:
    if run_state(run) in {"running", "paused"}:
        return ""
    return f", when the run is resumed (`ralph resume{store_option(store)} {run.id}`)"


def _print(run: "RunRecord", text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"run_id": run.id, "state": run_state(run), "text": text})
    else:
        print_paragraph(f"Run {run.id}: {text[0].lower()}{text[1:]}")
