"""Having the Codex CLI: the native program out of npm's package, pinned, checked, fetched once into the user's cache.

npm's own client does the download, so that a person's registry, proxy and certificates apply. What comes is put in
place by one rename: a cache holds a whole Codex or none.
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio
import anyio.to_thread
from platformdirs import user_cache_path

from ralph.errors import ProvisionError, UsageError
from ralph.executors import spawn

if TYPE_CHECKING:
    from ralph.executors import Progress

__all__ = ["PINNED", "Answer", "ask", "cache_folder", "present_codex", "provide_codex", "require_version"]

PINNED = "0.169.0"
"""The version that is fetched, and the one that the tests run."""

_REMEDY = "Install Codex yourself and name its native program in the setting plugins.codex.program."
_OLDEST, _BEYOND = (0, 169), (1, 0)
_VERSION = re.compile(r"codex-cli (\d{1,6})\.(\d{1,6})")
_LOOK_AGAIN = 0.1
_BOUND = 20_000
_NEEDLESS = "codex-resources/voice/"


class _Build(NamedTuple):
    """The package of one platform: the name of its folder within, and its tarball's integrity as npm writes it."""

    target: str
    integrity: str


_BUILDS: Mapping[str, _Build] = {
    "linux-x64": _Build(
        "x86_64-unknown-linux-musl",
        "sha512-o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==",
    ),
    "linux-arm64": _Build(
        "aarch64-unknown-linux-musl",
        "sha512-NZ/DaQUpcQmxmqee7Z9uC1rzw3GhSbooawcaTe1LN5Yk+WlinUKGdTXJgClRT/9ogQEEM9TWxYzvxPfj5G/xFg==",
    ),
    "darwin-x64": _Build(
        "x86_64-apple-darwin",
        "sha512-K1FKSsSLl9v3z5TeagBQXyQRDBIGB5Jncy5dxsRxwT3aaTqN3AI8VrCfoxBxKMOOU9O2QX1vg7WkBwNVth/s9A==",
    ),
    "darwin-arm64": _Build(
        "aarch64-apple-darwin",
        "sha512-5WsWFBbVP78D+6FvNo1MMVxLPZdmcoQlqVJFrF4qx/TmvneLnMQKtLyXkUo54XOTDfoYKpNouTJ/F7gTVA8FnQ==",
    ),
}


class Answer(NamedTuple):
    """What a short-lived program gave: its status, None where it did not end in time, and all that it wrote."""

    code: int | None
    said: str


def cache_folder() -> Path:
    """Where everything of Codex's is kept that can be had again."""
    return user_cache_path("ralph") / "codex-cli"


async def ask(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float) -> Answer:
    """Runs a program to its end, for at most `limit` seconds; what it started ends with it.

    Raises:
        UsageError: it cannot be started.
    """
    said, code = b"", None
    with anyio.move_on_after(limit):
        async with spawn(argv, cwd=cwd, env=env) as program, anyio.create_task_group() as reading:
            program.close_stdin()

            async def errors() -> None:
                nonlocal said
                async for chunk in program.stderr:
                    said = (said + chunk)[-_BOUND:]

            reading.start_soon(errors)
            async for chunk in program.stdout:
                said = (said + chunk)[-_BOUND:]
            code = await program.wait()
    return Answer(code, said.decode("utf-8", "replace").strip())


async def require_version(program: Path) -> None:
    """Raises `UsageError` where a program that a person named is no Codex that the plug-in works with."""
    named = f"The setting plugins.codex.program names {str(program)!r}"
    remedy = f"Name another, or remove it: version {PINNED} is then fetched from npm."
    try:
        answer = await ask([str(program), "--version"], cwd=Path.home(), env=os.environ, limit=30)
    except UsageError as error:
        raise UsageError(f"{named}: {error.problem}", remedy) from error
    found = _VERSION.search(answer.said)
    if not found:
        raise UsageError(f"{named}, which does not say that it is Codex.", remedy)
    if not _OLDEST <= (int(found[1]), int(found[2])) < _BEYOND:
        raise UsageError(f"{named}, which is {found[0]}; the plug-in works with 0.169 to below 1.0.", remedy)


def present_codex(cache: Path | None = None) -> Path | None:
    """The pinned Codex out of the cache; None where it is not there yet.

    Raises:
        ProvisionError: there is no npm to fetch it with, or no Codex for this machine.
    """
    program = _folder(cache or cache_folder()) / "bin" / "codex"
    if program.is_file():
        return program
    if not shutil.which("npm"):
        raise ProvisionError("Codex is not installed, and there is no npm to fetch it with.", _REMEDY)
    return None


async def provide_codex(*, progress: "Progress | None" = None, cache: Path | None = None, limit: float = 900.0) -> Path:
    """The pinned Codex out of the cache, or fetched into it.

    Args:
        progress: told how the download goes.
        cache: a folder of Ralph's own; by default the user's.
        limit: seconds for everything, waiting for another process included.

    Raises:
        ProvisionError: it is not there and cannot be fetched.
    """
    name, home = _platform_name(), cache or cache_folder()
    folder = _folder(home)
    program = folder / "bin" / "codex"
    if program.is_file():
        return program
    report = progress or _unseen
    try:
        with anyio.fail_after(limit):
            async with _alone(home, report):
                if not program.is_file():
                    await _fetch(name, home, folder, report)
    except TimeoutError:
        raise ProvisionError(f"Fetching Codex {PINNED} took longer than {limit:g} seconds.", _REMEDY) from None
    except OSError as error:
        raise ProvisionError(f"Codex cannot be installed in {folder}: {error}.", _REMEDY) from error
    return program


def _folder(home: Path) -> Path:
    return home / f"{PINNED}-{_platform_name()}"


async def _fetch(name: str, home: Path, folder: Path, report: "Progress") -> None:
    await anyio.to_thread.run_sync(_sweep, home)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=home, ignore_cleanup_errors=True) as made:
        staging = Path(made)
        tarball = await _download(name, staging, report)
        report("check", 0, None)
        if await anyio.to_thread.run_sync(_integrity, tarball) != _BUILDS[name].integrity:
            raise ProvisionError(
                f"The package of Codex {PINNED} that npm fetched is not the one that was published: its checksum "
                "differs from the one recorded in the plug-in, so it was thrown away.",
                "Ask whoever runs your package registry or proxy. " + _REMEDY,
            )
        report("unpack", 0, None)
        await anyio.to_thread.run_sync(_unpack, tarball, _BUILDS[name].target, staging)
        (staging / "package" / "vendor" / _BUILDS[name].target).rename(folder)


def _sweep(home: Path) -> None:
    """What a fetching process left that was killed goes."""
    for left in home.glob("fetching-*"):
        shutil.rmtree(left, ignore_errors=True)


async def _download(name: str, staging: Path, report: "Progress") -> Path:
    package = f"@openai/codex@{PINNED}-{name}"
    npm = shutil.which("npm")
    if npm is None:
        raise ProvisionError(f"{package} is fetched with npm, which is not on PATH.", _REMEDY)
    # A cache of its own leaves nothing behind, and its growth is the progress.
    argv = [npm, "pack", package, "--ignore-scripts", "--loglevel=error", "--cache", str(staging / "npm")]

    async def watch() -> None:
        while True:
            report("download", await anyio.to_thread.run_sync(_size, staging), None)
            await anyio.sleep(_LOOK_AGAIN)

    answer = Answer(None, "")
    async with anyio.create_task_group() as watching:
        watching.start_soon(watch)
        answer = await ask(argv, cwd=staging, env=os.environ, limit=3600)
        watching.cancel_scope.cancel()
    tarball = staging / f"openai-codex-{PINNED}-{name}.tgz"
    if answer.code != 0 or not tarball.is_file():
        raise ProvisionError(f"npm could not fetch {package}: {' '.join(answer.said.split())[-500:]}.", _REMEDY)
    return tarball


def _size(folder: Path) -> int:
    """In bytes; files that come and go meanwhile do not matter."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total


def _integrity(path: Path) -> str:
    with path.open("rb") as file:
        return "sha512-" + base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()


def _unpack(tarball: Path, target: str, staging: Path) -> None:
    """Everything of the program but what it speaks and hears with."""
    inside = f"package/vendor/{target}/"
    with tarfile.open(tarball) as archive:
        wanted = [
            each for each in archive if each.name.startswith(inside) and not each.name.startswith(inside + _NEEDLESS)
        ]
        archive.extractall(staging, wanted, filter="data")


@asynccontextmanager
async def _alone(home: Path, report: "Progress") -> AsyncGenerator[None]:
    """Waits until no other process works in `home`. The lock ends with the process, however that ends."""
    import fcntl

    await anyio.Path(home).mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                report("wait", 0, None)
                await anyio.sleep(_LOOK_AGAIN)
        yield


def _platform_name() -> str:
    """This machine in npm's words, such as "linux-x64". Raises `ProvisionError` where there is no Codex for it."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"{sys.platform}-{machine}"
    if name not in _BUILDS:
        raise ProvisionError(f"There is no Codex for this machine ({name}).", _REMEDY)
    return name


def _unseen(_step: str, _done: int, _total: int | None) -> None:
    """Nobody watches."""
