"""The plug-ins that belong to Ralph, what each adds, and the command that installs one beside this Ralph."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

RUNTIME = "ralph-runtime"

PARTS_ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "ralph_executors": {"acp": "ralph-acp", "claude": "ralph-claude", "codex": "ralph-codex"},
    "ralph_commands": {"notify": "ralph-notify", "score": "ralph-grounding"},
    "ralph_verifiers": {"grounding": "ralph-grounding"},
    "ralph_analyzers": {"grounding": "ralph-grounding"},
    "ralph_task_sources": {"github": "ralph-github"},
}
"""Parts that come with a plug-in: for each hook the names of the parts, with the distribution that has each."""

KNOWN: tuple[str, ...] = tuple(sorted({each for parts in PARTS_ELSEWHERE.values() for each in parts.values()}))
"""The distributions of Ralph's plug-ins."""


def missing_plugin(hook: str, name: str) -> str:
    """Return the remedy for a part that a plug-in of Ralph's has which is not installed; else empty."""
    found = PARTS_ELSEWHERE.get(hook, {}).get(name, "")
    if not found or is_installed(found):
        return ""
    return f"It comes with the plug-in {found}, which is not installed: `{shlex.join(install_command([found]))}`."


def extra_remedy(name: str) -> str:
    """Return the remedy for an extra of Ralph that is not installed; what is installed beside it stays."""
    return f"Install the extra `{name}`: `{shlex.join(install_command([f'{RUNTIME}[{name}]']))}`."


def is_installed(name: str) -> bool:
    """Return whether a distribution is installed beside Ralph."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def install_command(names: Sequence[str], prefix: Path | None = None) -> list[str]:
    """Return the command that installs distributions beside this Ralph, by the way in which it was installed itself.

    Args:
        names: the distributions. One that lies beside the clone or the wheel that Ralph was installed from is taken
            from there.
        prefix: the environment that Ralph is in; None for this one.
    """
    prefix = prefix or Path(sys.prefix)
    wanted = _tool_requirements(prefix)
    origin = _source(wanted[0]) if wanted else _origin()
    places = [_place(name, origin) for name in names]
    if wanted:
        ways = ("--with-editable" if "editable" in each else "--with" for each in wanted)
        words = [word for pair in zip(ways, map(_requirement, wanted), strict=True) for word in pair]
        own = ["--editable"] * ("editable" in wanted[0])
        return ["uv", "tool", "install", *own, *words[1:], *_each("--with", places)]
    if (prefix / "pipx_metadata.json").exists():
        return ["pipx", "inject", RUNTIME, *places]
    if is_temporary(prefix):
        return ["uvx", "--from", origin or RUNTIME, *_each("--with", places), "ralph"]
    if find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "install", *places]
    return ["uv", "pip", "install", "--python", sys.executable, *places]


def is_temporary(prefix: Path | None = None) -> bool:
    """Return whether Ralph runs in an environment that `uvx` made, where nothing can be added."""
    return bool({"archive-v0", "environments-v2"} & {*(prefix or Path(sys.prefix)).parts})


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in dict.fromkeys(values) for word in (option, value)]


def _origin() -> str:
    """Return what Ralph was installed from, as an installer takes it; empty for an index."""
    try:
        said: Any = json.loads(distribution(RUNTIME).read_text("direct_url.json") or "{}")
        url, git = str(said.get("url", "")), said.get("vcs_info")
        if not git:
            return unquote(urlsplit(url).path) if url.startswith("file:") else url
        return _from_git(url, git.get("requested_revision") or git["commit_id"], said.get("subdirectory"))
    except (PackageNotFoundError, ValueError, LookupError, AttributeError):
        return ""


def _from_git(url: str, revision: str | None, folder: str | None) -> str:
    return f"git+{url}{f'@{revision}' if revision else ''}{f'#subdirectory={folder}' if folder else ''}"


def _place(name: str, origin: str) -> str:
    """Return a distribution from where Ralph came from; by its name, which may be a stranger's, only from an index."""
    if not origin or name.startswith(RUNTIME):
        return _named(name, origin)
    if origin.endswith(".whl"):
        file = origin.replace(RUNTIME.replace("-", "_"), name.replace("-", "_"))
        beside = sorted(Path(file).parent.glob(f"{name.replace('-', '_')}-*.whl"))
        return str(beside[-1]) if beside else file
    root, _, folder = origin.partition("#subdirectory=")
    inner = f"plugins/{name}"
    return f"{root}#subdirectory={folder and f'{folder}/'}{inner}" if "://" in root else f"{root}/{inner}"


def _tool_requirements(prefix: Path) -> list[Mapping[str, Any]]:
    """Return what `uv tool install` was given, Ralph first: installing anew must not lose the other plug-ins."""
    import tomllib

    try:
        with (prefix / "uv-receipt.toml").open("rb") as file:
            listed: Any = tomllib.load(file)["tool"]["requirements"]
        return sorted(listed, key=lambda each: each["name"] != RUNTIME)
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _source(said: Mapping[str, Any]) -> str:
    """Return where a requirement of a receipt comes from; empty for an index."""
    if "git" not in said:
        return next((said[kind] for kind in ("editable", "directory", "path", "url") if kind in said), "")
    parts = urlsplit(str(said["git"]))
    asked = dict(parse_qsl(parts.query))
    revision = next((asked[kind] for kind in ("rev", "tag", "branch") if kind in asked), None)
    return _from_git(parts._replace(query="", fragment="").geturl(), revision, asked.get("subdirectory"))


def _requirement(said: Mapping[str, Any]) -> str:
    extras = f"[{','.join(said['extras'])}]" if said.get("extras") else ""
    return _named(f"{said['name']}{extras}", _source(said)) + said.get("specifier", "")


def _named(name: str, place: str) -> str:
    return f"{name} @ {place}" if "://" in place else f"{place}{''.join(name.partition('[')[1:])}" if place else name
