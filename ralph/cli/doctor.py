"""`ralph doctor`: whether a run can work here, and what to do where it cannot."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ralph.cli.options import AsJson, Folder, StoreName
from ralph.types import evolve

if TYPE_CHECKING:
    from ralph.executors.copilot.doctor import Finding
    from ralph.plugins import Plugins
    from ralph.settings import Settings

__all__ = ["app"]

app = typer.Typer(add_completion=False)


_OF_EXECUTOR = {"copilot", "endpoint", "executor"}
_NEEDED = {"store", "workspace", "settings", "sandbox", "conflict"}
_OF_COPILOT = {"copilot", "copilot-runtime", "github-copilot-sdk", "login"}
_PATIENCE = 20.0
_ENDPOINT_REMEDY = "Start the model's server, or correct executor.base_url: `ralph config show` says where it is set."
_STORE_REMEDY = "Save what can be read with `ralph export`, then move the store away: Ralph then begins a new one."
_UNSEEN_LOGIN = "A run can work here if the Copilot CLI has a login of its own, which Ralph cannot see."


@app.command()
def doctor(*, directory: Folder = Path(), as_json: AsJson = False, store: StoreName = None) -> int:
    """Check everything that a run needs.

    Ends with 0 if a run can work, 6 if no executor can, 2 if settings, folder,
    store or sandbox are in the way.
    """
    import anyio

    from ralph.cli.output import print_json
    from ralph.cli.settings import workspace_folder

    found = anyio.run(_all_findings, workspace_folder(directory), store)
    code = _exit_code(found)
    if as_json:
        print_json({"ok": code == 0, "findings": [asdict(finding) for finding in found]})
    else:
        _print(found, code)
    return code


def _exit_code(found: "Sequence[Finding]") -> int:
    from ralph.errors import UsageError

    failed = {finding.name for finding in found if not finding.ok}
    if failed & _OF_EXECUTOR:
        return 6
    return UsageError.exit_code if failed & _NEEDED else 0


async def _all_findings(folder: Path, store: str | None) -> "list[Finding]":
    from ralph.cli.plugin_loading import load_plugins
    from ralph.cli.settings import read_settings
    from ralph.errors import RalphError
    from ralph.executors.copilot.doctor import Finding, findings
    from ralph.plugins import Plugins
    from ralph.settings import Settings

    problems: list[Finding] = []
    try:
        found = read_settings(folder, {"--store": store}, own="trusted")
        settings, plugins = found.settings, load_plugins(found, folder)
    except RalphError as error:
        settings, plugins = Settings(), Plugins()
        problems.append(Finding("settings", ok=False, detail=error.problem, remedy=error.remedy))
    own = settings.executor
    named = Path(own.cli_path) if own.cli_path and own.cli_mode == "prompt" else None
    seen = await findings(named)
    if own.name in _plugged(plugins):
        seen = [finding for finding in seen if finding.name not in _OF_COPILOT]
    if own.base_url:
        seen = [finding for finding in seen if finding.name != "login"]  # an endpoint of one's own needs none
        seen.append(await _endpoint(own.base_url))
    return [
        *seen,
        *await _executors(settings, plugins),
        *_plugins(plugins),
        *await _sandbox(settings, folder),
        *await _store(settings, plugins),
        *_workspace(folder, settings),
        *problems,
    ]


async def _endpoint(url: str) -> "Finding":
    from ralph.errors import RalphError
    from ralph.executors.copilot.doctor import Finding
    from ralph.executors.endpoint import check_endpoint
    from ralph.system.redact import Redactor

    try:
        await check_endpoint(url)
    except RalphError as error:
        return Finding("endpoint", ok=False, detail=error.problem, remedy=_ENDPOINT_REMEDY)
    return Finding("endpoint", ok=True, detail=Redactor()(url))


def _plugged(plugins: "Plugins") -> list[str]:
    """The names of the executors that plug-ins bring."""
    from ralph.plugins.offers import name_of

    offers = plugins.offers("ralph_executors")
    return list(dict.fromkeys(name_of(offer.thing) for offer in offers if not offer.plugin.built_in))


async def _executors(settings: "Settings", plugins: "Plugins") -> "list[Finding]":
    """What the executor that the settings name finds here, which must be able to work, and what those of plug-ins do,
    which need not.
    """
    named = settings.executor.name
    found = [await _executor("executor", named, settings, plugins)]
    found += [await _executor(name, name, settings, plugins) for name in _plugged(plugins) if name != named]
    return [finding for finding in found if finding.detail]


async def _executor(title: str, name: str, settings: "Settings", plugins: "Plugins") -> "Finding":
    """Whether an executor can be put together from the settings, and what it says of itself; without a detail where it
    says nothing.
    """
    import anyio

    from ralph.cli.assemble import executor_for
    from ralph.errors import RalphError, in_words
    from ralph.executors.copilot.doctor import Finding

    try:
        executor = executor_for(evolve(settings.executor, name=name), plugins=plugins)
        with anyio.fail_after(_PATIENCE):
            said = await executor.check()
    except RalphError as error:
        return Finding(title, ok=False, detail=error.problem, remedy=error.remedy)
    except TimeoutError:
        return Finding(title, ok=False, detail=f"{name} did not answer within {_PATIENCE:g} s", remedy="Try it again.")
    except Exception as error:  # noqa: BLE001 - anything may come from foreign code
        return Finding(title, ok=False, detail=f"the check of {name} failed: {in_words(error)}", remedy="Mend it.")
    return Finding(title, ok=True, detail=f"{name}: {said}" if said and title != name else str(said))


def _plugins(plugins: "Plugins") -> "list[Finding]":
    """What is wrong with plug-ins; a run goes on without those that fail, but not where two are at odds."""
    from ralph.executors.copilot.doctor import Finding

    remedy = "`ralph plugins` lists them; RALPH_PLUGINS=off leaves them all out."
    found = [Finding("conflict", ok=False, detail=each.problem, remedy=each.remedy) for each in plugins.conflicts()]
    return [*found, *(Finding("plugins", ok=False, detail=text, remedy=remedy) for text in plugins.problems)]


async def _sandbox(settings: "Settings", folder: Path) -> "list[Finding]":
    """Whether the sandbox that the settings ask for works here."""
    from ralph.cli.assemble import confinement_for
    from ralph.errors import RalphError
    from ralph.executors.copilot.doctor import Finding

    if not settings.sandbox.used:
        return []
    try:
        await confinement_for(settings, folder).require()
    except RalphError as error:
        return [Finding("sandbox", ok=False, detail=error.problem, remedy=error.remedy)]
    return [Finding("sandbox", ok=True, detail=f"{settings.sandbox.kind}, network: {settings.sandbox.network}")]


async def _store(settings: "Settings", plugins: "Plugins") -> "list[Finding]":
    from ralph.cli.store_url import named
    from ralph.errors import RalphError, naming_store
    from ralph.executors.copilot.doctor import Finding
    from ralph.plugins.stores import open_store
    from ralph.store import default_path
    from ralph.system.redact import Redactor

    place = Redactor()(settings.store) if settings.store else str(default_path())
    try:
        async with open_store(settings.store, plugins) as store:
            health = await store.check()
    except RalphError as error:
        return [Finding("store", ok=False, detail=error.problem, remedy=error.remedy)]
    if health.problems:
        remedy = naming_store(_STORE_REMEDY, named(settings.store))
        return [Finding("store", ok=False, detail=f"{place}: {text}", remedy=remedy) for text in health.problems]
    return [Finding("store", ok=True, detail=f"{place}, {health.runs} runs" if health.runs != 1 else f"{place}, 1 run")]


def _workspace(folder: Path, settings: "Settings") -> "list[Finding]":
    from ralph.cli.settings import own_sources
    from ralph.cli.trust import is_trusted
    from ralph.errors import RalphError
    from ralph.executors.copilot.doctor import Finding
    from ralph.verifiers import detect_test_command
    from ralph.workspace import GitWorkspace, open_workspace

    try:
        opened = open_workspace(folder, noise=settings.noise)
        untrusted = [source.name for source in own_sources(folder) if not is_trusted(source)]
    except RalphError as error:
        return [Finding("workspace", ok=False, detail=error.problem, remedy=error.remedy)]
    kind = "under git" if isinstance(opened, GitWorkspace) else "a folder without git: commits are not seen"
    found = [Finding("workspace", ok=True, detail=f"{folder}, {kind}")]
    if untrusted:
        detail = f"{', '.join(untrusted)} can run programs or send data elsewhere, and you have not agreed to that yet"
        found.append(Finding("trust", ok=False, detail=detail, remedy="Read it, then run with --trust."))
    elif settings.verify in {(), ("none",)} and not settings.verify_shell and not settings.verifiers:
        detected = detect_test_command(folder)
        by = f"--verify '{detected.command}'" if detected else "--verify CMD"
        detail = "no program checks what the agent says, only a review by another session of it"
        if settings.verify:
            detail = "nothing checks what the agent says"
        remedy = f"Name a check with {by}, or set one up with `ralph init`."
        found.append(Finding("verify", ok=False, detail=detail, remedy=remedy))
    return found


def _print(found: "Sequence[Finding]", code: int) -> None:
    from rich.text import Text

    from ralph.cli.output import console
    from ralph.watch.terminal import one_line, sign

    out = console()
    for finding in found:
        grave = finding.name in _OF_EXECUTOR | _NEEDED
        mark, style = ("✓", "green") if finding.ok else ("✗", "red") if grave else ("!", "yellow")
        mark = mark if mark == "!" else sign(out, mark)
        out.print(Text.assemble((f"{mark} {finding.name:<19}", style), one_line(finding.detail, 400)))
        if finding.remedy:
            out.print(Text(f"{'':<21}{one_line(finding.remedy, 400)}", style="dim"))
    ends = {0: "A run can work here.", 2: "A run cannot work here yet.", 6: "No executor can work here yet."}
    ends |= {0: _UNSEEN_LOGIN} if any(finding.name == "login" and not finding.ok for finding in found) else {}
    out.print(Text(f"\n{ends[code]}", style="bold"))
