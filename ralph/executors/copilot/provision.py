"""Finding the Copilot CLI, or fetching it, before the SDK could do so behind a person's back.

It is looked for in the setting `executor.cli_path`, in `COPILOT_CLI_PATH`, on PATH and in Ralph's own cache, and
fetched into that cache when it is nowhere. Always the native program: the Node script that npm puts on PATH does not
pass signals on, so that its agent could not be stopped.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import anyio
from platformdirs import user_cache_path

from ralph.errors import ProvisionError, UsageError
from ralph.executors.copilot.provision_fetch import PINNED, REMEDY, Progress, fetch_cli, platform_name, program_name
from ralph.system.process import Finished, run

__all__ = ["Found", "Source", "find_cli", "present_cli", "provide_cli", "provide_runtime"]

Source = Literal["setting", "environment", "PATH", "cache", "fetched"]

_KNOWN_GOOD = (1, 0, 92), (1, 1)
_VERSION = re.compile(r"GitHub Copilot CLI (\d{1,6}(?:\.\d{1,6}){1,3})")
_NAMES = {
    "setting": "The setting executor.cli_path",
    "environment": "The environment variable COPILOT_CLI_PATH",
}
_REMOVE_IT = f"Name another, or remove it: Ralph then looks on PATH, and otherwise fetches version {PINNED} itself."
_LAUNCH = 60.0
_BOUND = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """A Copilot CLI.

    Attributes:
        path: the native program.
        version: such as "1.0.102"; None where only a launch, or for a runtime only the SDK, would tell.
        runtime: the lighter `copilot-runtime` for the SDK, where it is unpacked.
    """

    path: Path
    source: Source
    version: str | None = None
    runtime: Path | None = None

    @property
    def takes_prompts(self) -> bool:
        """Whether it can be called with a prompt; the runtime alone serves nobody but the SDK."""
        return self.path != self.runtime


def find_cli(
    setting: Path | None = None, env: Mapping[str, str] = os.environ, cache: Path | None = None
) -> Found | None:
    """The first Copilot CLI that there is, without launching anything, or None.

    Args:
        setting: the setting `executor.cli_path`.
        env: where `COPILOT_CLI_PATH`, `PATH` and the CLI's own cache are read from.
        cache: Ralph's cache folder; by default the user's.

    Raises:
        UsageError: the setting or the variable names a program that is missing, cannot be executed or is known not
            to work.
    """
    found = _candidates(setting, env, cache or user_cache_path("ralph"))
    return next((each for each in found if each.version is None or _suits(each)), None)


async def present_cli(
    setting: Path | None = None, *, env: Mapping[str, str] = os.environ, cache: Path | None = None
) -> Found | None:
    """As `find_cli`, but one whose version only a launch tells is launched: what is called copilot may be anything."""
    for found in _candidates(setting, env, cache or user_cache_path("ralph")):
        if _suits(known := await _with_version(found, env)):
            return known
    return None


async def provide_cli(
    setting: Path | None = None,
    *,
    env: Mapping[str, str] = os.environ,
    cache: Path | None = None,
    progress: Progress | None = None,
    limit: float = 900.0,
) -> Found:
    """Finds a Copilot CLI of a version known to work, or fetches the pinned one.

    Args:
        setting: as for `find_cli`; also `env` and `cache`.
        progress: told how the download goes.
        limit: seconds for the download.

    Raises:
        UsageError: as for `find_cli`.
        ProvisionError: there is none and none could be fetched.
    """
    cache = cache or user_cache_path("ralph")
    if found := await present_cli(setting, env=env, cache=cache):
        return found
    await fetch_cli(_folder(cache), cache / "copilot-cli", env, progress, limit)
    if fetched := _cached(env, cache):
        return replace(fetched, source="fetched")
    raise ProvisionError(f"The Copilot CLI was fetched into {_folder(cache)}, but it is not there.", REMEDY)


async def provide_runtime(found: Found, *, env: Mapping[str, str] = os.environ) -> Path | None:
    """The lighter runtime of this CLI for the SDK; None where there is none, and the CLI itself will do.

    The CLI unpacks it when it is first launched, which takes a second or two.

    Raises:
        ProvisionError: the CLI has nowhere to unpack itself, or does not answer.
    """
    if found.runtime or found.version is None:
        return found.runtime
    done = await _launch(found.path, env)
    if done.timed_out:
        raise ProvisionError(
            f"The Copilot CLI {str(found.path)!r} did not answer `--version` within {_LAUNCH:g} seconds.",
            f"Does it in a terminal? If not: {REMEDY}",
        )
    return _runtime(found.version, env)


def _candidates(setting: Path | None, env: Mapping[str, str], cache: Path) -> Iterator[Found]:
    """Every CLI there is, best first; what a person named comes alone."""
    if setting is not None:
        yield _named(setting, "setting", env)
    elif named := env.get("COPILOT_CLI_PATH"):
        yield _named(Path(named), "environment", env)
    else:
        for native in _on_path(env):
            yield _found(native, "PATH", env)
        if cached := _cached(env, cache):
            yield cached


def _on_path(env: Mapping[str, str]) -> Iterator[Path]:
    """Relative folders are left out: in them a workspace's own `copilot` would be found."""
    for folder in filter(os.path.isabs, env.get("PATH", "").split(os.pathsep)):
        if (program := shutil.which("copilot", path=folder)) and (native := _native(Path(program))):
            yield native


def _named(path: Path, source: Literal["setting", "environment"], env: Mapping[str, str]) -> Found:
    what = _NAMES[source]
    path = path.expanduser().absolute()
    if not path.is_file():
        raise UsageError(f"{what} names {str(path)!r}, which does not exist.", _REMOVE_IT)
    if not os.access(path, os.X_OK):
        raise UsageError(f"{what} names {str(path)!r}, which cannot be executed.", _REMOVE_IT)
    return _found(_native(path) or path, source, env)


def _found(path: Path, source: Source, env: Mapping[str, str]) -> Found:
    version = _packaged_version(path)
    headless = path.stem == "copilot-runtime"
    return Found(path, source, version, path if headless else _runtime(version, env))


def _folder(cache: Path) -> Path:
    return cache / "copilot-cli" / f"{PINNED}-{platform_name()}"


def _cached(env: Mapping[str, str], cache: Path) -> Found | None:
    """What `fetch_cli` left: the whole CLI, or where the SDK fetched it the runtime alone."""
    name = platform_name()
    program = _folder(cache) / program_name()
    if program.is_file():
        return Found(program, "cache", PINNED, _runtime(PINNED, env))
    runtime = _folder(cache) / "prebuilds" / name / program_name("copilot-runtime")
    return Found(runtime, "cache", PINNED, runtime) if runtime.is_file() else None


def _native(path: Path) -> Path | None:
    """The native program that a path on PATH stands for; None for a script that stands for none.

    npm's loader looks for the package of its platform as Node resolves modules: in `node_modules` of each folder
    upwards.
    """
    resolved = path.resolve()
    if not _is_script(resolved):
        return resolved
    for folder in (path.parent / "node_modules" / "@github" / "copilot", *resolved.parents):
        program = folder / "node_modules" / "@github" / f"copilot-{platform_name()}" / program_name()
        if program.is_file():
            return program
    return None


def _is_script(path: Path) -> bool:
    if path.suffix.lower() in {".js", ".cmd", ".bat", ".ps1"}:
        return True
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


def _packaged_version(path: Path) -> str | None:
    """The version that the package around the program states; the runtime lies two folders deeper than the CLI."""
    for folder in (path.parent, path.parent.parent.parent):
        try:
            with (folder / "package.json").open(encoding="utf-8") as file:
                package = json.loads(file.read(_BOUND))
        except (OSError, ValueError, RecursionError):
            continue
        match package:
            case {"name": str(name), "version": str(version)} if name.startswith("@github/copilot"):
                return version
            case _:
                continue
    return None


def _runtime(version: str | None, env: Mapping[str, str]) -> Path | None:
    if version is None:
        return None
    name = platform_name()
    for place in _unpacking_places(env):
        folder = place / "pkg" / name / version / "prebuilds" / name
        if (folder / "runtime.node").is_file() and (folder / program_name("copilot-runtime")).is_file():
            return folder / program_name("copilot-runtime")
    return None


def _unpacking_places(env: Mapping[str, str]) -> list[Path]:
    """Where the CLI unpacks itself: into the first of these. All are looked into for what is there."""
    named = [env[name] for name in ("COPILOT_PKG_CACHE_HOME", "COPILOT_CACHE_HOME") if env.get(name)]
    home = Path(env.get("HOME") or Path.home())
    if sys.platform == "darwin":
        usual = home / "Library" / "Caches"
    elif sys.platform == "win32":
        usual = Path(env.get("LOCALAPPDATA") or home / ".cache")
    else:
        usual = Path(env.get("XDG_CACHE_HOME") or home / ".cache")
    return [*map(Path, named), usual / "copilot"]


def _suits(found: Found) -> bool:
    """Whether its version is known to work; a runtime that states none is left to the SDK's own check.

    Raises:
        UsageError: it does not suit, and a person named it.
    """
    oldest, beyond = _KNOWN_GOOD
    numbers = tuple(int(digits) for digits in re.findall(r"\d{1,6}", (found.version or "").split("-")[0]))
    if oldest <= numbers < beyond or (found.version is None and not found.takes_prompts):
        return True
    if found.source in _NAMES:
        version = f"is version {found.version}" if found.version else "does not say that it is a Copilot CLI"
        raise UsageError(
            f"{_NAMES[found.source]} names {str(found.path)!r}, which {version}.",
            f"Ralph works with versions from {_dotted(oldest)} to below {_dotted(beyond)}. {_REMOVE_IT}",
        )
    return False


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


async def _with_version(found: Found, env: Mapping[str, str]) -> Found:
    """What its launch tells; the version stays None where it is another program of that name, or a broken one."""
    if found.version is not None or not found.takes_prompts:
        return found
    try:
        done = await _launch(found.path, env)
    except UsageError:
        return found
    match = _VERSION.search(done.stdout)
    version = match[1] if match else None
    return replace(found, version=version, runtime=_runtime(version, env))


async def _launch(program: Path, env: Mapping[str, str]) -> Finished:
    """The program's answer to `--version`; the first time, it unpacks itself before it gives one."""
    place = _unpacking_places(env)[0]
    try:
        await anyio.Path(place).mkdir(parents=True, exist_ok=True)
    except OSError as error:  # the CLI itself would wait for ever, without a word
        raise ProvisionError(
            f"The Copilot CLI unpacks itself into {str(place)!r}, which cannot be created: {error.strerror}.",
            "Name a writable folder in COPILOT_CACHE_HOME.",
        ) from error
    return await run(
        [str(program), "--no-auto-update", "--version"], cwd=program.parent, env=env, timeout=_LAUNCH, max_output=_BOUND
    )
