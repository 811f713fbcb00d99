"""The Copilot CLI: found on this machine, or fetched before the SDK downloads one without asking.

It is looked for in the setting `executor.cli_path`, in `COPILOT_CLI_PATH`, on PATH and in Ralph's own cache, and
fetched into that cache if it is in none of them. Always the native program: the Node script that npm puts on PATH does
not forward signals, so its agent could not be stopped.
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
from ralph.executors.integrity import record, require_private, require_unchanged
from ralph.executors.npm import NpmPackage, NpmProgram, Progress, download
from ralph.system.process import Finished, run

Source = Literal["setting", "environment", "PATH", "cache", "fetched"]

PINNED = "1.0.102"
"""The version that is fetched; every release of Ralph is tested against exactly this one."""

REMEDY = (
    "Install it yourself with `npm install -g @github/copilot`, or name the program in the setting "
    "executor.cli_path or in the environment variable COPILOT_CLI_PATH."
)

_PINS = {
    "linux-x64": (
        "sha512-eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==",
        129_186_882,
    ),
    "linux-arm64": (
        "sha512-5rO0B2/AduCekrE+aUzipySKZxZY2b/tVRZ8Suy8ymPFNC0Q7HQiQ8DZhxj+3RhHR8rU2Z8KOJVAbtMlROX6+A==",
        130_455_559,
    ),
    "linuxmusl-x64": (
        "sha512-laj1/lFWwkX7P1jAVm2DNNxRljLkhfKI4XDONIA5njiU+PPvWVH38gIvYU+lNTgJ0QT7CSV6Jj2fuqPx0Go+5Q==",
        124_527_785,
    ),
    "linuxmusl-arm64": (
        "sha512-PyuqTcgTKd4XrtSRKAQgfIK41cVzHArSNM8f8XS39dQc75aUsKG+MPd5rLwmqqhtbWVFgI+PSS/X18/Qo4EDTg==",
        121_055_770,
    ),
    "darwin-x64": (
        "sha512-n4jBdS+QxrXWiQ9v9tUBZUcJ0hlWVG75Qs3Gzo25BRzlWQSSd5eCNrfOVf4Cr95mAK/L54dne+8rSwASNRG7qA==",
        125_830_835,
    ),
    "darwin-arm64": (
        "sha512-M4Jwxvw9CzxQUVoAz4UFbwFw9SpjUXbMzD481ifFJ+o/GXYJy5+sYxWRSfGhPA9e/w4DlWxdpkSQFnagl/AYbA==",
        119_459_693,
    ),
    "win32-x64": (
        "sha512-ShdlICQu/Ei0mRX5J/ioaWUm7Kt6TpUvyQFuhFhS+Vb/7VVDi4/6pJAjcETeUJCHe9lkhF25swzcZXsun/i9Hg==",
        112_606_801,
    ),
    "win32-arm64": (
        "sha512-QhbEEfrAri+TA/S+xpUbOpWrzxfmQj5Ncgn6YF6SoI9zLdF57yt6Bd9sVAxWfsmmI0F2wmlQOHQ+s+7EjXQWgQ==",
        112_718_381,
    ),
}
"""The integrity and the size in bytes of each platform's package."""


def program_name(stem: str = "copilot") -> str:
    """Return the name of a program's file on this platform."""
    return f"{stem}.exe" if sys.platform == "win32" else stem


CLI = NpmProgram(
    label="Copilot CLI",
    version=PINNED,
    packages={
        platform: NpmPackage(f"@github/copilot-{platform}@{PINNED}", integrity, size)
        for platform, (integrity, size) in _PINS.items()
    },
    program=program_name(),
    place={f"package/{name}": name for name in (program_name(), "package.json")}.get,
    remedy=REMEDY,
)

_OLDEST, _BEYOND = (1, 0, 92), (1, 1)
SUPPORTED = f"from {'.'.join(map(str, _OLDEST))} to below {'.'.join(map(str, _BEYOND))}"
"""The versions that are known to work, in words."""

_VERSION = re.compile(r"GitHub Copilot CLI (\d{1,6}(?:\.\d{1,6}){1,3})")
_NAMES = {"setting": "The setting executor.cli_path", "environment": "The environment variable COPILOT_CLI_PATH"}
_REMOVE_IT = f"Name another, or remove it: Ralph then looks on PATH, and otherwise fetches version {PINNED} itself."
_LAUNCH = 60.0
_BOUND = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """A Copilot CLI.

    Attributes:
        path: the native program.
        version: such as "1.0.102"; None if only a launch would show it, or for a runtime only the SDK.
        runtime: the lighter `copilot-runtime` for the SDK, if it is unpacked.
    """

    path: Path
    source: Source
    version: str | None = None
    runtime: Path | None = None

    @property
    def takes_prompts(self) -> bool:
        """True if it can be called with a prompt; the runtime alone serves only the SDK."""
        return self.path != self.runtime


def find_cli(
    setting: Path | None = None, env: Mapping[str, str] = os.environ, cache: Path | None = None
) -> Found | None:
    """Return the first Copilot CLI on this machine, or None; nothing is launched.

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
    """Return what `find_cli` does, but launch a program of unknown version: anything may be called copilot."""
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
    """Return a Copilot CLI of a version known to work, and fetch the pinned one if none exists.

    Args:
        setting, env, cache: as for `find_cli`.
        progress: called as the download proceeds.
        limit: seconds for the download.

    Raises:
        UsageError: as for `find_cli`.
        ProvisionError: there is no CLI, and it could not be fetched.
    """
    cache = cache or user_cache_path("ralph")
    if found := await present_cli(setting, env=env, cache=cache):
        return found
    folder = await CLI.fetch(
        cache / "copilot-cli", env=env, progress=progress, limit=limit, without_npm=_download_runtime
    )
    if fetched := _cached(env, cache):
        return replace(fetched, source="fetched")
    raise ProvisionError(f"The Copilot CLI was fetched into {folder}, but it is not there.", REMEDY)


async def provide_runtime(found: Found, *, env: Mapping[str, str] = os.environ) -> Path | None:
    """Return the lighter runtime of this CLI for the SDK; None if it has none: the CLI itself then serves the SDK.

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
    return _runtime(found.version, env, fresh=True)


def _candidates(setting: Path | None, env: Mapping[str, str], cache: Path) -> Iterator[Found]:
    """Yield every CLI, best first; one that the user named is the only one."""
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
    # A relative folder could hold a workspace's own `copilot`.
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


async def _download_runtime(folder: Path, env: Mapping[str, str], report: Progress) -> None:
    """Have the SDK download its runtime; it checks the download against the checksums of the release."""
    command = [sys.executable, "-P", "-m", "copilot", "download-runtime", "--version", PINNED]
    if complaint := await download(command, folder, {**env, "COPILOT_CLI_EXTRACT_DIR": str(folder)}, None, report):
        problem = "There is no npm on PATH, and the Copilot SDK could not download its runtime"
        raise ProvisionError(f"{problem}: {complaint}.", REMEDY)


def _cached(env: Mapping[str, str], cache: Path) -> Found | None:
    """Return what was fetched: the whole CLI, or only the runtime if the SDK downloaded it."""
    cache /= "copilot-cli"
    if program := CLI.present(cache):
        return Found(program, "cache", PINNED, _runtime(PINNED, env))
    runtime = CLI.present(cache, program=f"prebuilds/{CLI.platform()}/{program_name('copilot-runtime')}")
    return Found(runtime, "cache", PINNED, runtime) if runtime else None


def _native(path: Path) -> Path | None:
    """Return the native program behind a path on PATH; None for a script that has none.

    npm's loader looks for the package of its platform as Node resolves modules: in `node_modules` of each folder
    upwards.
    """
    resolved = path.resolve()
    if not _is_script(resolved):
        return resolved
    for folder in (path.parent / "node_modules" / "@github" / "copilot", *resolved.parents):
        program = folder / "node_modules" / "@github" / f"copilot-{CLI.platform()}" / program_name()
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
    """Return the version in the program's package; the runtime lies two folders deeper than the CLI."""
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


def _runtime(version: str | None, env: Mapping[str, str], *, fresh: bool = False) -> Path | None:
    """Return the checked runtime of a version; None if it is not there. `fresh` says that it was just unpacked."""
    if version is None:
        return None
    name = CLI.platform()
    for place in _unpacking_places(env):
        whole, label = place / "pkg" / name / version, f"The runtime of the Copilot CLI {version}"
        folder = whole / "prebuilds" / name
        if (folder / "runtime.node").is_file() and (folder / program_name("copilot-runtime")).is_file():
            require_private(folder, label)
            if (whole / ".extraction-complete").is_file():
                if fresh:
                    record(folder, folder)
                require_unchanged(folder, label, unpacked=whole)
            return folder / program_name("copilot-runtime")
    return None


def _unpacking_places(env: Mapping[str, str]) -> list[Path]:
    """Return the folders that may hold an unpacked CLI; it unpacks itself into the first."""
    named = [env[name] for name in ("COPILOT_PKG_CACHE_HOME", "COPILOT_CACHE_HOME") if env.get(name)]
    home = Path(env.get("HOME") or Path.home())
    if sys.platform == "darwin":
        usual = home / "Library" / "Caches"
    elif sys.platform == "win32":
        usual = Path(env.get("LOCALAPPDATA") or home / ".cache")
    else:
        usual = Path(env.get("XDG_CACHE_HOME") or home / ".cache")
    return [*map(Path, named), usual / "copilot"]


def is_supported(version: str) -> bool:
    """Return True for a version of the CLI, or of its runtime, that is known to work."""
    return _OLDEST <= tuple(int(digits) for digits in re.findall(r"\d{1,6}", version.partition("-")[0])) < _BEYOND


def _suits(found: Found) -> bool:
    """Return True for a version known to work; a runtime without a version is left to the SDK's own check.

    Raises `UsageError` for another version of a program that the user named.
    """
    if is_supported(found.version or "") or (found.version is None and not found.takes_prompts):
        return True
    if found.source in _NAMES:
        version = f"is version {found.version}" if found.version else "does not say that it is a Copilot CLI"
        raise UsageError(
            f"{_NAMES[found.source]} names {str(found.path)!r}, which {version}.",
            f"Ralph works with versions {SUPPORTED}. {_REMOVE_IT}",
        )
    return False


async def _with_version(found: Found, env: Mapping[str, str]) -> Found:
    """Launch the program for its version, which stays None for another program of that name, or a broken one."""
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
    """Run the program with `--version`; the first time, it unpacks itself before it answers."""
    place = _unpacking_places(env)[0]
    try:
        await anyio.Path(place).mkdir(parents=True, exist_ok=True)
    except OSError as error:  # the CLI itself would wait forever, without a message
        raise ProvisionError(
            f"The Copilot CLI unpacks itself into {str(place)!r}, which cannot be created: {error.strerror}.",
            "Name a writable folder in COPILOT_CACHE_HOME.",
        ) from error
    return await run(
        [str(program), "--no-auto-update", "--version"], cwd=program.parent, env=env, timeout=_LAUNCH, max_output=_BOUND
    )
