"""`ralph watch`: the terminal app, which shows all runs of a store, and controls them."""

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.lookup import configured_store, find_run, opened_store, run_state, store_option
from ralph.cli.options import AnyFolder, StoreName
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.store.run_list import ListedRun
    from ralph.watch.tui.source import Kind

Run = Annotated[str, typer.Argument(metavar="[RUN]", help="Its id, the beginning of it, or last; all runs by default.")]
Theme = Annotated[str, typer.Option("--theme", metavar="NAME", help="The colours, such as textual-light or nord.")]


def watch(*, run: Run = "", any_folder: AnyFolder = False, theme: Theme = "", store: StoreName = None) -> int:
    """Watch all runs, or one, in a terminal app: messages, tools, diffs, evidence, plots; pause, tell, stop."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        logs = f"ralph logs{store_option(store)} -f {run or 'last'}"
        raise UsageError("`ralph watch` needs a terminal for input and output.", f"`{logs}` follows a run anywhere.")
    try:
        from ralph.watch.tui.app import THEME, WatchApp
    except ImportError as error:
        from ralph.system.install import extra_remedy

        problem = "`ralph watch` needs the package textual, which is not installed."
        raise UsageError(problem, extra_remedy("tui")) from error
    from ralph.cli.fleet_views import fleet_screen
    from ralph.watch.tui.source import Source

    source = Source(
        opened=partial(opened_store, store),
        quick=partial(_quick, store),
        find=partial(find_run, any_folder=any_folder),
        state_of=run_state,
        difference=_difference,
        ask=_ask,
        missing=partial(_is_missing, store),
        option=store_option(store),
        place=_place(store),
        fleet=fleet_screen(configured_store(store, Path.cwd())),
    )
    app = WatchApp(source, run=run, theme=theme or THEME)
    if app.get_theme(theme or THEME) is None:
        names = ", ".join(sorted(app.available_themes))
        raise UsageError(f"--theme {theme[:40]!r} is not a theme.", f"These exist: {names}.")
    app.run()
    if app.problem is not None:
        raise app.problem
    return app.return_code or 0


def _place(store: str | None) -> str:
    """Return the name of the store, without a password."""
    url = configured_store(store, Path.cwd())
    return store_option(url).removeprefix(" --store ") if url else "this machine's runs"


def _quick(store: str | None, limit: int) -> "list[ListedRun] | None":
    from ralph.store.run_list import listed_runs

    path = _file(store)
    return listed_runs(path, limit, active=True) if path else None


def _is_missing(store: str | None) -> bool:
    path = _file(store)
    return path is not None and not path.exists()


def _file(store: str | None) -> Path | None:
    """Return the file of the store; None for a server, and for what opening the store reports."""
    from ralph.store import file_of

    with suppress(UsageError):
        return file_of(configured_store(store, Path.cwd()))
    return None


async def _difference(store: "Store", run: "RunRecord", iteration: int, most: int) -> str:
    from ralph.cli.checkpoints import difference_of

    _, _, _, text, _ = await difference_of(store, run, iteration, limit=most)
    return text


async def _ask(store: "Store", run: "RunRecord", kind: "Kind", text: str = "") -> str:
    """Send a request to a run; return what happens next. Of "extend", the text is a limit and an amount."""
    from ralph.cli.serve import commands

    limit, _, amount = text.strip().removeprefix("--max-").partition(" ")
    return await commands().ask(store, run, kind, {limit: amount} if kind == "extend" else {"text": text})
