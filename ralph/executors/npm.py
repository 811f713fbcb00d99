"""A pinned program from an npm package: fetched once into a cache, checked, and shared by all processes.

npm's own client downloads the package, so that the user's registry, proxy and certificates apply; no install script
runs. The program is moved into place by one rename: a cache holds the whole program or nothing.
"""

import base64
import hashlib
import os
import platform
import shutil
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from ralph.errors import ProvisionError, UsageError
from ralph.executors.integrity import record, require_unchanged
from ralph.system.files import find_program, lock
from ralph.system.process import run

Progress = Callable[[str, int, int | None], None]
"""Called with `(step, done_bytes, total_bytes)`; a total of None is not known.

The steps, in their order: "wait" (another process is fetching), "download", "check", "unpack".
"""

Download = Callable[[Path, Mapping[str, str], Progress], Awaitable[None]]
"""Fills a folder in another way; called with the folder, the environment and the progress report."""

_POLL = 0.1
_BOUND = 500


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """The package for one platform.

    Attributes:
        spec: name and version, as in "@scope/name@1.2.3".
        integrity: of the tarball, as npm writes it: "sha512-…".
        size: of the tarball in bytes, for the progress report; None where it is not known.
    """

    spec: str
    integrity: str
    size: int | None = None

    @property
    def tarball(self) -> str:
        """The name that `npm pack` gives the file."""
        return f"{self.spec.removeprefix('@').replace('/', '-').replace('@', '-')}.tgz"


@dataclass(frozen=True, slots=True)
class NpmProgram:
    """A program of one version, with a package for each platform.

    Attributes:
        label: the program's name in messages.
        version: the pinned one.
        packages: by platform, such as "linux-x64" or "linuxmusl-arm64".
        program: the path of the program in its folder.
        place: maps the name of a file in the tarball to its path in the folder, or to None to leave it out.
        remedy: what the user can do if the program cannot be fetched.
    """

    label: str
    version: str
    packages: Mapping[str, NpmPackage]
    program: str
    place: Callable[[str], str | None]
    remedy: str

    def platform(self) -> str:
        """Return this machine's platform in npm's words. Raises `ProvisionError` if no package is for it."""
        musl, name = platform_name(), platform_name(musl=False)
        for known in (musl, name):
            if known in self.packages:
                return known
        raise ProvisionError(
            f"There is no {self.label} for this machine ({musl}).", f"It is available for {', '.join(self.packages)}."
        )

    def folder(self, cache: Path) -> Path:
        """Return the program's folder in a cache, whether it is there or not. Raises as `platform` does."""
        return cache / f"{self.version}-{self.platform()}"

    def present(self, cache: Path, *, program: str | None = None) -> Path | None:
        """Return the program in a cache, checked, or None if it was not fetched yet. Blocks.

        Args:
            cache: as for `fetch`.
            program: the path in the program's folder of another program than the package's own.

        Raises:
            ProvisionError: it is not as it was fetched, others may write it, or there is none for this machine.
        """
        folder = self.folder(cache)
        found = folder / (program or self.program)
        if not found.is_file():
            return None
        require_unchanged(folder, f"{self.label} {self.version}")
        return found

    async def fetch(
        self,
        cache: Path,
        *,
        env: Mapping[str, str] = os.environ,
        progress: Progress | None = None,
        limit: float = 900.0,
        without_npm: Download | None = None,
    ) -> Path:
        """Return the program's folder, and fetch it first if it is not there.

        Args:
            cache: the folder for all versions of this program; one process at a time works in it.
            env: the environment of npm.
            limit: seconds for everything, waiting for another process included.
            without_npm: what to do if there is no npm on PATH; None for an error.
            progress: called as the download proceeds.

        Raises:
            ProvisionError: the program cannot be fetched, or is not the one that was published.
        """
        report: Progress = progress or (lambda _step, _done, _total: None)
        folder = self.folder(cache)
        try:
            with anyio.fail_after(limit):
                async with _alone(cache, report):
                    if not await anyio.Path(folder).exists():
                        await self._fill(folder, env, report, without_npm)
        except TimeoutError:
            problem = f"Fetching {self.label} {self.version} took longer than {limit:g} seconds."
            raise ProvisionError(problem, self.remedy) from None
        except OSError as error:
            problem = f"{self.label} {self.version} cannot be installed in {folder}: {error}."
            raise ProvisionError(problem, self.remedy) from error
        return folder

    async def _fill(self, folder: Path, env: Mapping[str, str], report: Progress, without_npm: Download | None) -> None:
        staging = await anyio.to_thread.run_sync(_staging, folder.parent)
        whole = staging / "whole"
        try:
            whole.mkdir()
            npm = find_program("npm", env)
            if npm:
                tarball = await self._packed(npm, staging, env, report)
                report("unpack", 0, None)
                await anyio.to_thread.run_sync(self._unpack, tarball, whole)
            elif without_npm:
                await without_npm(whole, env, report)
            else:
                problem = f"{self.label} {self.version} is fetched with npm, which is not on PATH."
                raise ProvisionError(problem, self.remedy)
            await anyio.to_thread.run_sync(record, whole, folder)
            whole.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    async def _packed(self, npm: str, staging: Path, env: Mapping[str, str], report: Progress) -> Path:
        package = self.packages[self.platform()]
        # A cache of its own leaves nothing behind, and its growth is the progress.
        options = ["--ignore-scripts", "--loglevel=error", "--cache", str(staging / "npm"), "--pack-destination", "."]
        tarball = staging / package.tarball
        complaint = await download([npm, "pack", package.spec, *options], staging, env, package.size, report)
        if complaint or not tarball.is_file():
            reason = complaint or "it left no package"
            raise ProvisionError(f"npm could not fetch {package.spec}: {reason}.", self.remedy)
        report("check", 0, package.size)
        if await anyio.to_thread.run_sync(_integrity, tarball) != package.integrity:
            raise ProvisionError(
                f"The package {package.spec} that npm fetched is not the one that was published: its checksum differs "
                "from the one recorded in Ralph, so it was thrown away.",
                "Ask the operators of your package registry or proxy. " + self.remedy,
            )
        return tarball

    def _unpack(self, tarball: Path, folder: Path) -> None:
        try:
            with tarfile.open(tarball) as archive:
                archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python before 3.11.4 has none
                for member in archive:
                    if (path := self.place(member.name)) and ".." not in Path(path).parts:
                        member.name = path
                        archive.extract(member, folder)
        except tarfile.TarError as error:
            raise ProvisionError(f"{tarball.name} cannot be unpacked: {error}.", self.remedy) from error
        program = folder / self.program
        if not program.is_file():
            raise ProvisionError(f"{tarball.name} does not contain {self.program}.", self.remedy)
        program.chmod(0o755)


def platform_name(*, musl: bool = True) -> str:
    """Return this machine in npm's words, such as "linux-x64"; with `musl`, "linuxmusl-x64" with musl's C library."""
    system = "linuxmusl" if musl and sys.platform == "linux" and _has_musl() else sys.platform
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    return f"{system}-{machine}"


async def download(
    command: Sequence[str], folder: Path, env: Mapping[str, str], total: int | None, report: Progress
) -> str:
    """Run a command that downloads into a folder, and report how the folder grows.

    Returns:
        The end of what a command that failed has printed; empty for success.
    """

    async def watch() -> None:
        while True:
            done = await anyio.to_thread.run_sync(_size, folder)
            report("download", done if total is None else min(done, total), total)
            await anyio.sleep(_POLL)

    complaint = ""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        complaint = await _complaint(command, folder, env)
        tasks.cancel_scope.cancel()
    return complaint


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
async def _alone(cache: Path, report: Progress) -> AsyncGenerator[None]:
    """Wait until no other process works in `cache`. The lock ends with the process, however that ends."""
    await anyio.Path(cache).mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("a") as file:
        while not lock(file.fileno()):
            report("wait", 0, None)
            await anyio.sleep(_POLL)
        yield


def _staging(cache: Path) -> Path:
    """Make a folder to fetch into. Those of killed processes go; an npm that outlived one must not write here."""
    for left in cache.glob("fetching-*"):
        shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="fetching-", dir=cache))


def _integrity(path: Path) -> str:
    with path.open("rb") as file:
        return "sha512-" + base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()


def _size(folder: Path) -> int:
    """Return the size in bytes; files that come and go meanwhile do not matter."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total


def _has_musl() -> bool:
    return platform.libc_ver()[0] != "glibc" and any(Path("/lib").glob("ld-musl-*"))
