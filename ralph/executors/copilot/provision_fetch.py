"""Fetching the Copilot CLI into the user's cache: pinned, checked, without install scripts, by one process at a time.

npm's own client does the download, so that a person's registry, proxy and certificates apply; where there is no
npm, the SDK's own download of its runtime is tried. What comes is put in place by one rename: a cache holds a whole
CLI or none.
"""

import base64
import hashlib
import os
import platform
import shutil
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, NamedTuple

import anyio
import anyio.to_thread

from ralph.errors import ProvisionError, UsageError
from ralph.system.process import run

__all__ = ["PINNED", "PINS", "REMEDY", "Pin", "Progress", "fetch_cli", "platform_name", "program_name"]

PINNED = "1.0.102"
"""The version that is fetched; every release of Ralph is tested against exactly this one."""

Progress = Callable[[str, int, int | None], None]
"""Told `(step, done_bytes, total_bytes)`; a total of None is not known.

The steps, in their order: "wait" (another process is fetching), "download", "check", "unpack".
"""

REMEDY = (
    "Install it yourself with `npm install -g @github/copilot`, or name the program in the setting "
    "executor.cli_path or in the environment variable COPILOT_CLI_PATH."
)


class Pin(NamedTuple):
    """The package of one platform: its tarball's integrity as npm writes it, and its size in bytes."""

    integrity: str
    size: int


PINS: Mapping[str, Pin] = {
    "linux-x64": Pin(
        "sha512-eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==", 129_186_882
    ),
    "linux-arm64": Pin(
        "sha512-5rO0B2/AduCekrE+aUzipySKZxZY2b/tVRZ8Suy8ymPFNC0Q7HQiQ8DZhxj+3RhHR8rU2Z8KOJVAbtMlROX6+A==", 130_455_559
    ),
    "linuxmusl-x64": Pin(
        "sha512-laj1/lFWwkX7P1jAVm2DNNxRljLkhfKI4XDONIA5njiU+PPvWVH38gIvYU+lNTgJ0QT7CSV6Jj2fuqPx0Go+5Q==", 124_527_785
    ),
    "linuxmusl-arm64": Pin(
        "sha512-PyuqTcgTKd4XrtSRKAQgfIK41cVzHArSNM8f8XS39dQc75aUsKG+MPd5rLwmqqhtbWVFgI+PSS/X18/Qo4EDTg==", 121_055_770
    ),
    "darwin-x64": Pin(
        "sha512-n4jBdS+QxrXWiQ9v9tUBZUcJ0hlWVG75Qs3Gzo25BRzlWQSSd5eCNrfOVf4Cr95mAK/L54dne+8rSwASNRG7qA==", 125_830_835
    ),
    "darwin-arm64": Pin(
        "sha512-M4Jwxvw9CzxQUVoAz4UFbwFw9SpjUXbMzD481ifFJ+o/GXYJy5+sYxWRSfGhPA9e/w4DlWxdpkSQFnagl/AYbA==", 119_459_693
    ),
    "win32-x64": Pin(
        "sha512-ShdlICQu/Ei0mRX5J/ioaWUm7Kt6TpUvyQFuhFhS+Vb/7VVDi4/6pJAjcETeUJCHe9lkhF25swzcZXsun/i9Hg==", 112_606_801
    ),
    "win32-arm64": Pin(
        "sha512-QhbEEfrAri+TA/S+xpUbOpWrzxfmQj5Ncgn6YF6SoI9zLdF57yt6Bd9sVAxWfsmmI0F2wmlQOHQ+s+7EjXQWgQ==", 112_718_381
    ),
}

_CHUNK = 1 << 20
_LOOK_AGAIN = 0.1
_BOUND = 500


def platform_name() -> str:
    """This machine in npm's words, such as "linux-x64". Raises `ProvisionError` where there is no CLI for it."""
    system = "linuxmusl" if sys.platform == "linux" and _musl() else sys.platform
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"{system}-{machine}"
    if name not in PINS:
        raise ProvisionError(
            f"There is no Copilot CLI for this machine ({name}).", f"It is available for {', '.join(PINS)}."
        )
    return name


def program_name(stem: str = "copilot") -> str:
    return f"{stem}.exe" if sys.platform == "win32" else stem


async def fetch_cli(
    folder: Path, home: Path, env: Mapping[str, str], progress: Progress | None = None, limit: float = 900.0
) -> None:
    """Fills `folder` with the pinned CLI; a folder that is there already is left as it is.

    Args:
        folder: where the program is to lie: `copilot` fetched by npm, or `prebuilds/…/copilot-runtime` by the SDK.
        home: an ancestor of `folder`, where one process at a time works.
        env: for the programs that download.
        limit: seconds for everything, waiting for another process included.
    """
    report = progress or _unseen
    try:
        with anyio.fail_after(limit):
            async with _alone(home, report):
                if not await anyio.Path(folder).exists():
                    await _fill(folder, _fresh(home), env, report)
    except TimeoutError:
        raise ProvisionError(f"Fetching the Copilot CLI {PINNED} took longer than {limit:g} seconds.", REMEDY) from None
    except OSError as error:
        raise ProvisionError(f"The Copilot CLI cannot be installed in {folder}: {error}.", REMEDY) from error


async def _fill(folder: Path, staging: Path, env: Mapping[str, str], report: Progress) -> None:
    whole = staging / "whole"
    try:
        whole.mkdir()
        if npm := shutil.which("npm", path=env.get("PATH", "")):
            await _by_npm(npm, staging, whole, env, report)
        else:
            await _by_sdk(whole, env, report)
        folder.parent.mkdir(parents=True, exist_ok=True)
        whole.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _fresh(home: Path) -> Path:
    """A folder to fetch into. What killed ones left goes; an npm that outlived one must not write into the new one."""
    for left in home.glob("fetching-*"):
        shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="fetching-", dir=home))


async def _by_npm(npm: str, staging: Path, whole: Path, env: Mapping[str, str], report: Progress) -> None:
    name = platform_name()
    pin, package = PINS[name], f"@github/copilot-{name}@{PINNED}"
    # A cache of its own leaves nothing behind, and its growth is the progress.
    options = ["--ignore-scripts", "--loglevel=error", "--cache", str(staging / "npm"), "--pack-destination", "."]
    if said := await _download([npm, "pack", package, *options], staging, env, pin.size, report):
        raise ProvisionError(f"npm could not fetch {package}: {said}.", REMEDY)
    tarball = staging / f"github-copilot-{name}-{PINNED}.tgz"
    report("check", 0, pin.size)
    if await anyio.to_thread.run_sync(_integrity, tarball) != pin.integrity:
        raise ProvisionError(
            f"The package {package} that npm fetched is not the one that was published: its checksum differs from "
            "the one recorded in Ralph, so it was thrown away.",
            "Ask whoever runs your package registry or proxy. " + REMEDY,
        )
    report("unpack", 0, None)
    await anyio.to_thread.run_sync(_unpack, tarball, whole)


async def _by_sdk(whole: Path, env: Mapping[str, str], report: Progress) -> None:
    """The SDK checks what it downloads against the checksums of the release."""
    command = [sys.executable, "-m", "copilot", "download-runtime", "--version", PINNED]
    if said := await _download(command, whole, {**env, "COPILOT_CLI_EXTRACT_DIR": str(whole)}, None, report):
        problem = "There is no npm on PATH, and the Copilot SDK could not download its runtime"
        raise ProvisionError(f"{problem}: {said}.", REMEDY)


async def _download(
    command: Sequence[str], folder: Path, env: Mapping[str, str], total: int | None, report: Progress
) -> str:
    """Runs the command in the folder and reports how that grows. Returns the end of what a failed one said."""

    async def watch() -> None:
        while True:
            done = _size(folder)
            report("download", done if total is None else min(done, total), total)
            await anyio.sleep(_LOOK_AGAIN)

    said = ""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        said = await _complaint(command, folder, env)
        tasks.cancel_scope.cancel()
    return said


async def _complaint(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> str:
    try:
        done = await run(command, cwd=folder, env=env, timeout=None)
    except UsageError as error:
        return error.problem.rstrip(".")
    if not done.code:
        return ""
    said = " ".join((done.stderr or done.stdout).split()).rstrip(".")
    return said[-_BOUND:] or f"exit code {done.code}"


@asynccontextmanager
async def _alone(home: Path, report: Progress) -> AsyncGenerator[None]:
    """Waits until no other process works in `home`. The lock ends with the process, however that ends."""
    await anyio.Path(home).mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("a") as file:
        while not _locked(file):
            report("wait", 0, None)
            await anyio.sleep(_LOOK_AGAIN)
        yield


def _locked(file: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _integrity(path: Path) -> str:
    with path.open("rb") as file:
        return "sha512-" + base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()


def _unpack(tarball: Path, whole: Path) -> None:
    """Takes the program and its package.json out of the tarball, and nothing else."""
    with tarfile.open(tarball) as archive:
        for name in (program_name(), "package.json"):
            source = archive.extractfile(f"package/{name}")
            if source is None:
                raise ProvisionError(f"{name} in {tarball.name} is not a file.", REMEDY)
            with source, (whole / name).open("wb") as target:
                shutil.copyfileobj(source, target, _CHUNK)
    (whole / program_name()).chmod(0o755)


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


def _musl() -> bool:
    return platform.libc_ver()[0] != "glibc" and any(Path("/lib").glob("ld-musl-*"))


def _unseen(_step: str, _done: int, _total: int | None) -> None:
    """Nobody watches."""
