"""`ralph doctor`: checks of everything that a run needs, with a remedy for each failure."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.cli.lookup import store_option
from ralph.cli.options import AsJson, Folder, StoreName
from ralph.cli.output import console, print_json
from ralph.errors import RalphError, UsageError, in_words, naming_store
from ralph.system.secrets import Redactor
from ralph.system.text import one_line
from ralph.watch.terminal import print_rows, print_text, sign

if TYPE_CHECKING:
    from ralph.executors.copilot.doctor import Finding
    from ralph.plugins import Plugins
    from ralph.settings import Settings
    from ralph.system.sandbox import Confinement

_EXECUTOR_CHECKS = {"copilot", "endpoint", "executor"}
_REQUIRED_CHECKS = {"store", "workspace", "settings", "sandbox", "conflict", "verify program", "trust"}
_COPILOT_CHECKS = {"copilot", "copilot-runtime", "github-copilot-sdk", "login"}
_TIMEOUT = 20.0
_ENDPOINT_REMEDY = "Start the model's server, or correct executor.base_url: `ralph config show` says where it is set."
_STORE_REMEDY = "Save the readable runs with `ralph export`, then move the store away: Ralph makes a new one."
_UNWRITABLE = "Give yourself permission to write in it, or name another folder with -C."
_UNSEEN_LOGIN = "A run can work here if the Copilot CLI has its own login, which Ralph cannot see."


async def doctor(*, directory: Folder = Path(), as_json: AsJson = False, store: StoreName = None) -> int:
    """Check everything that a run needs.

    Exits with 0 if a run can work, 6 if no executor can, 2 if settings, folder,
    store or sandbox prevent it, or the folder's settings lack your consent.
    """
    from ralph.settings import workspace_folder

    folder, path = workspace_folder(directory), os.environ.get("PATH", "")
    with _without_programs_of(folder):
        found = await _all_findings(folder, store, path)
    failed = {finding.name for finding in found if not finding.ok}
    code = 6 if failed & _EXECUTOR_CHECKS else UsageError.exit_code if failed & _REQUIRED_CHECKS else 0
    if as_json:
        print_json({"ok": code == 0, "findings": [asdict(finding) for finding in found]})
    else:
        _print(found, code)
    return code


async def _all_findings(folder: Path, store: str | None, path: str) -> "list[Finding]":
    from ralph.executors.copilot.doctor import findings
    from ralph.plugins import Plugins
    from ralph.plugins.loading import load_plugins
    from ralph.settings import Settings, read_settings

    problems: list[Finding] = []
    try:
        found = read_settings(folder, {"--store": store}, own="trusted")
        settings, plugins = found.settings, load_plugins(found, folder)
    except RalphError as error:
        settings, plugins = Settings(), Plugins()
        problems.append(_failed("settings", error))
    own = settings.executor
    named = Path(own.cli_path) if own.cli_path and own.cli_mode == "prompt" else None
    seen = await findings(named)
    if own.name in _plugin_executors(plugins):
        seen = [finding for finding in seen if finding.name not in _COPILOT_CHECKS]
    if own.base_url:
        seen = [finding for finding in seen if finding.name != "login"]  # the user's own endpoint needs no GitHub login
        seen.append(await _endpoint(own.base_url))
    withheld = settings.environment.withheld(os.environ)
    every = [
        *seen,
        *await _executors(settings, plugins),
        *_plugins(plugins),
        *await _sandbox(settings, folder, path),
        *([_finding("environment", ok=True, detail=withheld)] if withheld else []),
        *await _store(settings, plugins),
        *_workspace(folder, settings),
        *problems,
    ]
    known = {finding.detail for finding in every}
    return [*every, *(each for each in _settings(folder, settings, plugins) if each.detail not in known)]


@contextmanager
def _without_programs_of(folder: Path) -> Generator[None]:
    """Leave the folders of the workspace out of PATH in the block, so that nothing of the workspace is run."""
    before = os.environ.get("PATH", "")
    outside = [
        place for place in before.split(os.pathsep) if not Path(place).resolve().is_relative_to(folder.resolve())
    ]
    os.environ["PATH"] = os.pathsep.join(outside)
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _settings(folder: Path, settings: "Settings", plugins: "Plugins") -> "list[Finding]":
    """Return why a run would refuse the settings, those without consent included; it builds what a run would."""
    from ralph.loop.assembly import runner_arguments
    from ralph.loop.runner import Runner
    from ralph.plugins import BuildContext
    from ralph.settings import read_settings

    try:
        read_settings(folder, own="shown")
        plugins.display(settings.display, BuildContext())
        Runner(**runner_arguments(settings, workspace=folder, plugins=plugins))
    except RalphError as error:
        return [_failed("settings", error)]
    return []


def _finding(name: str, *, ok: bool, detail: str, remedy: str = "") -> "Finding":
    from ralph.executors.copilot.doctor import Finding

    return Finding(name, ok=ok, detail=detail, remedy=remedy)


def _failed(name: str, error: RalphError) -> "Finding":
    return _finding(name, ok=False, detail=error.problem, remedy=error.remedy)


async def _endpoint(url: str) -> "Finding":
    from ralph.executors.endpoint import check_endpoint

    try:
        await check_endpoint(url)
    except RalphError as error:
        return _finding("endpoint", ok=False, detail=error.problem, remedy=_ENDPOINT_REMEDY)
    return _finding("endpoint", ok=True, detail=Redactor()(url))


def _plugin_executors(plugins: "Plugins") -> list[str]:
    from ralph.plugins.discovery import name_of

    offers = plugins.offers("ralph_executors")
    return list(dict.fromkeys(name_of(offer.thing) for offer in offers if not offer.plugin.built_in))


async def _executors(settings: "Settings", plugins: "Plugins") -> "list[Finding]":
    """Check the executor that the settings name, which must work, and those of plug-ins, which need not."""
    named = settings.executor.name
    found = [await _executor("executor", named, settings, plugins)]
    found += [await _executor(name, name, settings, plugins) for name in _plugin_executors(plugins) if name != named]
    return [finding for finding in found if finding.detail]


async def _executor(title: str, name: str, settings: "Settings", plugins: "Plugins") -> "Finding":
    """Build an executor from the settings and run its own check; the detail is empty if it has nothing to report."""
    import anyio

    from ralph.loop.assembly import executor_for
    from ralph.types import evolve

    try:
        executor = executor_for(evolve(settings.executor, name=name), plugins=plugins)
        with anyio.fail_after(_TIMEOUT):
            report = await executor.check()
    except RalphError as error:
        return _failed(title, error)
    except TimeoutError:
        return _finding(title, ok=False, detail=f"{name} did not answer within {_TIMEOUT:g} s", remedy="Try it again.")
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        return _finding(title, ok=False, detail=f"the check of {name} failed: {in_words(error)}", remedy="Fix it.")
    return _finding(title, ok=True, detail=f"{name}: {report}" if report and title != name else str(report))


def _plugins(plugins: "Plugins") -> "list[Finding]":
    """Return the problems of plug-ins: a conflict prevents a run, a plug-in that fails is left out."""
    remedy = "`ralph plugins` lists them; RALPH_PLUGINS=off turns all of them off."
    found = [_failed("conflict", each) for each in plugins.conflicts()]
    return [*found, *(_finding("plugins", ok=False, detail=text, remedy=remedy) for text in plugins.problems)]


async def _sandbox(settings: "Settings", folder: Path, path: str) -> "list[Finding]":
    from ralph.loop.assembly import confinement_for

    confinement = confinement_for(settings, folder)
    try:
        await confinement.require()
        missing = await _unseen_programs(settings, confinement, folder, path)
    except RalphError as error:
        return [_failed("sandbox", error)]
    if missing or not settings.sandbox.used:
        return missing
    return [_finding("sandbox", ok=True, detail=settings.sandbox.summary)]


async def _unseen_programs(
    settings: "Settings", confinement: "Confinement", folder: Path, path: str
) -> "list[Finding]":
    """Look for the programs of the verify commands; with the sandbox in it, and those outside by `--version`."""
    from ralph.system.process import find_program, require_program, run
    from ralph.verifiers.command import UNSEEN_REMEDY, not_started, parse_command

    found: list[Finding] = []
    for program in dict.fromkeys(parse_command(text)[0] for text in settings.verify if text != "none"):
        only_seen = "/" in program or not find_program(program)
        place = program if "/" in program else find_program(program, {"PATH": path}) or program
        try:
            require_program(place, folder)
        except RalphError as error:
            found.append(_failed("verify program", error))
            continue
        if not settings.sandbox.used:
            continue
        script = '[ -x "$0" ]' if only_seen else 'cd / && exec "$0" --version'
        argv = confinement.command(["/bin/sh", "-c", script, place if only_seen else program], cwd=folder)
        tried = await run(argv, cwd=folder, env=confinement.environment(), timeout=_TIMEOUT)
        if not_started(tried) or (only_seen and tried.code):
            said = " ".join(tried.stderr.split())[-200:] or "it is not there"
            detail = f"the verify command's program {program!r} cannot start in it: {said}"
            found.append(_finding("sandbox", ok=False, detail=detail, remedy=UNSEEN_REMEDY))
    return found


async def _store(settings: "Settings", plugins: "Plugins") -> "list[Finding]":
    from ralph.plugins.registry import open_store
    from ralph.store import default_path

    place = Redactor()(settings.store) if settings.store else str(default_path())
    try:
        async with open_store(settings.store, plugins) as store:
            health = await store.check()
    except RalphError as error:
        return [_failed("store", error)]
    if health.problems:
        remedy = naming_store(_STORE_REMEDY, store_option(settings.store))
        return [_finding("store", ok=False, detail=f"{place}: {text}", remedy=remedy) for text in health.problems]
    return [_finding("store", ok=True, detail=f"{place}, {health.runs} run{'s' * (health.runs != 1)}")]


def _workspace(folder: Path, settings: "Settings") -> "list[Finding]":
    from ralph.settings import is_trusted, own_sources
    from ralph.verifiers import detect_test_command
    from ralph.workspace import GitWorkspace, open_workspace

    try:
        opened = open_workspace(folder, noise=settings.noise)
        untrusted = [source.name for source in own_sources(folder) if not is_trusted(source)]
    except RalphError as error:
        return [_failed("workspace", error)]
    if not os.access(folder, os.W_OK | os.X_OK):
        return [_finding("workspace", ok=False, detail=f"{folder} cannot be written", remedy=_UNWRITABLE)]
    kind = "under git" if isinstance(opened, GitWorkspace) else "a folder without git: commits are not seen"
    found = [_finding("workspace", ok=True, detail=f"{folder}, {kind}")]
    if untrusted:
        detail = f"{', '.join(untrusted)} sets what needs your consent, and you have not given it yet"
        found.append(_finding("trust", ok=False, detail=detail, remedy="Read it, then run with --trust."))
    elif settings.verify in {(), ("none",)} and not settings.verify_shell and not settings.verifiers:
        detected = detect_test_command(folder)
        by = f"--verify '{detected.command}'" if detected else "--verify CMD"
        reviewed = "no program checks the agent's claims, only a review by another session of it"
        detail = "nothing checks the agent's claims" if settings.verify else reviewed
        remedy = f"Name a check with {by}, or set one up with `ralph init`."
        found.append(_finding("verify", ok=False, detail=detail, remedy=remedy))
    return found


def _print(found: "Sequence[Finding]", code: int) -> None:
    from rich.text import Text

    out = console()
    rows: list[tuple[Text | str, Text | str]] = []
    for finding in found:
        required = finding.name in _EXECUTOR_CHECKS | _REQUIRED_CHECKS
        mark, style = ("✓", "green") if finding.ok else ("✗", "red") if required else ("!", "yellow")
        mark = mark if mark == "!" else sign(out, mark)
        rows.append((Text(f"{mark} {finding.name}", style=style), one_line(finding.detail, 1_000)))
        rows += [("", Text(one_line(finding.remedy, 1_000), style="dim"))] if finding.remedy else []
    print_rows(out, rows, width=20)
    ends = {0: "A run can work here.", 2: "A run cannot work here yet.", 6: "No executor can work here yet."}
    ends |= {0: _UNSEEN_LOGIN} if any(finding.name == "login" and not finding.ok for finding in found) else {}
    print_text(out, f"\n{ends[code]}", style="bold")
