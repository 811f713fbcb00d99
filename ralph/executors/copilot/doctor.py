"""The findings of `ralph doctor` about what the Copilot executors need on this machine. Nothing is fetched."""

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ralph.errors import RalphError
from ralph.executors.copilot.base import LOGINS
from ralph.executors.copilot.provision import PINNED, REMEDY, present_cli
from ralph.system.files import find_program
from ralph.system.process import run

_LOGINS = (*LOGINS, "COPILOT_PROVIDER_BASE_URL")
_VERSION = re.compile(r"\d{1,9}(\.\d{1,9})+")
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for, and whether Ralph can work with it; `remedy` is empty if nothing need be done."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


async def findings(
    setting: Path | None = None, *, env: Mapping[str, str] = os.environ, cache: Path | None = None
) -> list[Finding]:
    """Return all findings, the most important first; the arguments are those of `find_cli`. It takes a second."""
    npm = await _program("npm", env)
    return [
        *await _copilot(setting, env, cache, npm=npm),
        npm or Finding("npm", ok=True, detail="not on PATH; it is needed only to fetch the Copilot CLI"),
        await _program("node", env) or Finding("node", ok=True, detail="not on PATH; only npm needs it"),
        await _program("git", env)
        or Finding(
            "git",
            ok=False,
            detail="not on PATH; changes are then seen by comparing files, without commits or checkpoints",
            remedy="Install git.",
        ),
        Finding("python", ok=True, detail=platform.python_version()),
        Finding("github-copilot-sdk", ok=True, detail=metadata.version("github-copilot-sdk")),
        _login(env),
    ]


async def _copilot(
    setting: Path | None, env: Mapping[str, str], cache: Path | None, npm: Finding | None
) -> list[Finding]:
    try:
        found = await present_cli(setting, env=env, cache=cache)
    except RalphError as error:
        return [Finding("copilot", ok=False, detail=error.problem, remedy=error.remedy)]
    if found:
        runtime = str(found.runtime or "not unpacked yet; the CLI does so when it is first launched")
        return [
            Finding("copilot", ok=True, detail=f"{found.version or 'version unknown'}, {found.path} ({found.source})"),
            Finding("copilot-runtime", ok=True, detail=runtime),
        ]
    if npm:
        return [Finding("copilot", ok=True, detail=f"not here yet; the first run fetches version {PINNED} with npm")]
    return [Finding("copilot", ok=False, detail="not here, and there is no npm to fetch it with", remedy=REMEDY)]


async def _program(name: str, env: Mapping[str, str]) -> Finding | None:
    """Return the finding for a program, with its version; None if it is not on PATH."""
    path = find_program(name, env)
    if path is None:
        return None
    try:
        done = await run([path, "--version"], cwd=Path(path).parent, env=env, timeout=_PATIENCE, max_output=2_000)
    except RalphError as error:
        return Finding(name, ok=False, detail=error.problem, remedy=error.remedy)
    if done.code or done.timed_out:
        return Finding(name, ok=False, detail=f"{path} does not answer --version", remedy=f"Install {name} anew.")
    version = _VERSION.search(done.stdout)
    return Finding(name, ok=True, detail=f"{version[0] if version else 'version unknown'}, {path}")


def _login(env: Mapping[str, str]) -> Finding:
    # Only the names of the variables are shown, never their values.
    if names := [name for name in _LOGINS if env.get(name)]:
        return Finding("login", ok=True, detail=f"{', '.join(names)} in the environment")
    return Finding(
        "login",
        ok=False,
        detail="nothing in the environment; Ralph cannot see a login that the CLI keeps itself",
        remedy="Log in with `ralph login`, or set GH_TOKEN, or name a model of your own with --base-url.",
    )
